//! Accounts and clients: who sees what, how many there may be, and what ends with a secret.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::rigs::service::{ALL_SCOPES, Service, letter, pdf, problem, unauthorized};

/// Opens a second account with a client; gives the account's id and a token.
async fn second_account(service: &Service) -> (String, String) {
    let opened: Value =
        service.control(Method::POST, "accounts", json!({"name": "Second"})).await.json().await.unwrap();
    let account = opened["account"].as_str().unwrap().to_owned();
    let body = json!({"account": account, "name": "its client", "agree_to_terms": true});
    let issued: Value = service.control(Method::POST, "clients", body).await.json().await.unwrap();
    let (id, secret) = (issued["client_id"].as_str().unwrap(), issued["client_secret"].as_str().unwrap());
    let token = service.token_for(id, secret, ALL_SCOPES).await;
    (account, token)
}

#[tokio::test]
async fn each_account_sees_404_for_the_others_mails() {
    let mut service = Service::start().await;
    let (_, other) = second_account(&service).await;
    let mine = service.confirmed(&letter()).await;
    let draft = service.uploaded(&letter()).await;
    service.token = other;
    for mail in [&mine, &draft] {
        problem(service.get(&format!("/v1/mails/{}", mail.id)).await, 404, "mail_not_found").await;
        problem(service.confirm(&mail.id).await, 404, "mail_not_found").await;
        problem(service.cancel(&mail.id).await, 404, "mail_not_found").await;
        let pdf = format!("/v1/mails/{}/contents/{}/pdf", mail.id, mail.contents[0].id);
        problem(service.get(&pdf).await, 404, "mail_not_found").await;
    }
    // What the stranger tried left no trace in the mail's own history.
    assert_eq!(service.events(&draft.id).await, ["created", "uploaded"]);
    let theirs = service.confirmed(&letter()).await;
    service.log_in().await;
    problem(service.get(&format!("/v1/mails/{}", theirs.id)).await, 404, "mail_not_found").await;
}

#[tokio::test]
async fn an_account_that_is_opened_without_a_name_has_one() {
    let service = Service::start().await;
    service.control(Method::POST, "accounts", json!({})).await;
    let shown = service.control(Method::GET, "accounts", json!({})).await.text().await.unwrap();
    assert!(shown.contains("Another account"), "{shown}");
}

#[tokio::test]
async fn cards_are_each_accounts_own() {
    let mut service = Service::start().await;
    let (account, other) = second_account(&service).await;
    let body = json!({"account": account, "card": "none"});
    assert_eq!(service.control(Method::POST, "card", body).await.status(), 204);
    service.create(&letter()).await;
    service.token = other;
    problem(service.try_create(&letter()).await, 402, "card_not_registered").await;
}

#[tokio::test]
async fn a_closed_account_is_not_found_and_gets_no_tokens() {
    let mut service = Service::start().await;
    let (account, other) = second_account(&service).await;
    service.token = other;
    let mail = service.uploaded(&letter()).await;
    let answer = service.control(Method::DELETE, &format!("accounts/{account}"), json!({})).await;
    assert_eq!(answer.status(), 204);
    problem(service.get("/v1/account").await, 404, "account_not_found").await;
    problem(service.try_create(&letter()).await, 404, "account_not_found").await;
    problem(service.try_create(&json!("not even a body")).await, 404, "account_not_found").await;
    problem(service.confirm(&mail.id).await, 404, "account_not_found").await;
    problem(service.cancel(&mail.id).await, 404, "account_not_found").await;
    problem(service.get(&format!("/v1/mails/{}", mail.id)).await, 404, "account_not_found").await;
    let again = service.control(Method::DELETE, &format!("accounts/{account}"), json!({})).await;
    assert_eq!(again.status(), 404);
    let accounts: Value = service.control(Method::GET, "accounts", Value::Null).await.json().await.unwrap();
    let nameless = service.control(Method::POST, "accounts", json!({"name": " "})).await;
    assert_eq!(nameless.status(), 400);
    assert_eq!(accounts["accounts"][1]["closed"], true);
    let client = accounts["accounts"][1]["clients"][0].as_str().unwrap();
    let secret: Value = service
        .control(Method::POST, &format!("clients/{client}/secret"), json!({}))
        .await
        .json()
        .await
        .unwrap();
    let answer = service.ask_token(client, secret["client_secret"].as_str().unwrap(), "").await;
    assert_eq!(answer.status(), 401);
}

#[tokio::test]
async fn a_sixth_client_is_refused() {
    let service = Service::start().await;
    let issue = async |name: &str| {
        service.control(Method::POST, "clients", json!({"name": name, "agree_to_terms": true})).await
    };
    let mut ids = BTreeSet::from([service.welcome.client_id.to_string()]);
    for name in ["two", "three", "four", "five"] {
        let issued: Value = issue(name).await.json().await.unwrap();
        assert!(ids.insert(issued["client_id"].as_str().unwrap().to_owned()));
    }
    let refused = issue("six").await;
    assert_eq!(refused.status(), 409);
    let body: Value = refused.json().await.unwrap();
    assert_eq!(body["error"], "an account has at most 5 clients");
}

#[tokio::test]
async fn a_client_needs_agreement_to_the_terms_a_name_and_an_id_of_its_own() {
    let service = Service::start().await;
    let taken = service.welcome.client_id.to_string();
    for (body, status) in [
        (json!({"name": "x"}), 409),
        (json!({"name": "x", "agree_to_terms": false}), 409),
        (json!({"name": " ", "agree_to_terms": true}), 400),
        (json!({"name": "n".repeat(101), "agree_to_terms": true}), 400),
        (json!({"name": "x", "agree_to_terms": true, "account": "acct_none"}), 404),
        (json!({"name": "x", "agree_to_terms": true, "client_id": taken, "client_secret": "s"}), 409),
        (json!({"name": "x", "agree_to_terms": true, "client_id": "only"}), 400),
        (json!({"name": "x", "agree_to_terms": true, "client_id": "", "client_secret": "s"}), 400),
        (json!({"name": "x", "agree_to_terms": true, "client_id": "a:b", "client_secret": "s"}), 400),
        (json!({"name": "x", "agree_to_terms": true, "client_id": "x", "client_secret": ""}), 400),
        (json!({"name": "x", "agree_to_terms": true, "colour": "red"}), 400),
    ] {
        let answer = service.control(Method::POST, "clients", body.clone()).await;
        assert_eq!(answer.status(), status, "{body}");
        let said: Value = answer.json().await.unwrap();
        assert!(!said["error"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_reissued_secret_stops_the_old_one_at_once() {
    let service = Service::start().await;
    let id = service.welcome.client_id.to_string();
    let answer = service.control(Method::POST, &format!("clients/{id}/secret"), json!({})).await;
    assert_eq!(answer.status(), 201);
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let issued: Value = answer.json().await.unwrap();
    let new = issued["client_secret"].as_str().unwrap();
    assert_eq!(service.ask_token(&id, service.secret(), ALL_SCOPES).await.status(), 401);
    assert_eq!(service.ask_token(&id, new, ALL_SCOPES).await.status(), 200);
    // What the old secret bought lives on until it expires.
    assert_eq!(service.get("/v1/account").await.status(), 200);
    service.advance("1h").await;
    unauthorized(service.get("/v1/account").await, 401).await;
}

#[tokio::test]
async fn an_upload_target_is_the_mails_whoever_holds_it() {
    let mut service = Service::start().await;
    let (_, other) = second_account(&service).await;
    let mail = service.create(&letter()).await;
    service.token = other;
    assert_eq!(service.upload(&mail.contents[0].upload, pdf(1)).await.status(), 204);
    assert_eq!(service.events(&mail.id).await, ["created", "uploaded"]);
}
