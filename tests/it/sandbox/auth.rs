//! The authorization server: tokens, scopes, revocation, and what every operation demands of a token.

use reqwest::Method;
use serde_json::{Value, json};

use crate::rigs::service::{ALL_SCOPES, Service, letter, unauthorized};
use mailchute::base::secret::Secret;
use mailchute::sandbox::Options;

#[tokio::test]
async fn a_token_is_issued_as_the_document_says() {
    let service = Service::start().await;
    let id = service.welcome.client_id.to_string();
    let answer = service.ask_token(&id, service.secret(), ALL_SCOPES).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body["token_type"], "Bearer");
    assert_eq!(body["expires_in"], 3600);
    assert_eq!(body["scope"], ALL_SCOPES);
    assert!(body.get("refresh_token").is_none());
}

#[tokio::test]
async fn scopes_are_those_asked_for_and_known_the_rest_is_dropped_silently() {
    let service = Service::start().await;
    let id = service.welcome.client_id.to_string();
    for (asked, granted) in [
        ("mails:read", "mails:read"),
        ("mails:write mails:delete everything", "mails:write"),
        ("nothing:known", ""),
        ("", ""),
        ("mails:read mails:read", "mails:read"),
    ] {
        let answer = service.ask_token(&id, service.secret(), asked).await;
        assert_eq!(answer.status(), 200, "{asked}");
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["scope"], granted, "asked for `{asked}`");
    }
}

#[tokio::test]
async fn each_operation_wants_its_scope() {
    let service = Service::start().await;
    let id = service.welcome.client_id.to_string();
    let mail = service.confirmed(&letter()).await;
    let path = format!("/v1/mails/{}", mail.id);
    let pdf = format!("{path}/contents/{}/pdf", mail.contents[0].id);
    for (method, path, scope, status) in [
        (Method::GET, "/v1/account", "account:read", 200),
        (Method::GET, path.as_str(), "mails:read", 200),
        (Method::GET, pdf.as_str(), "mails:read", 200),
        (Method::POST, "/v1/mails", "mails:write", 400),
        (Method::POST, &format!("{path}/confirm"), "mails:write", 409),
        (Method::POST, &format!("{path}/cancel"), "mails:write", 204),
    ] {
        let others: Vec<&str> = ALL_SCOPES.split(' ').filter(|other| *other != scope).collect();
        let lacking = service.token_for(&id, service.secret(), &others.join(" ")).await;
        let refused = service.plain(method.clone(), path).bearer_auth(lacking).send().await.unwrap();
        unauthorized(refused, 403).await;
        let having = service.token_for(&id, service.secret(), scope).await;
        let answer = service.plain(method, path).bearer_auth(having).send().await.unwrap();
        assert_eq!(answer.status(), status, "{path}");
    }
}

#[tokio::test]
async fn without_a_valid_token_nothing_reaches_the_api() {
    let service = Service::start().await;
    for (method, path) in [
        (Method::GET, "/v1/account"),
        (Method::POST, "/v1/mails"),
        (Method::GET, "/v1/mails/m1"),
        (Method::POST, "/v1/mails/m1/confirm"),
        (Method::POST, "/v1/mails/m1/cancel"),
        (Method::GET, "/v1/mails/m1/contents/c1/pdf"),
        (Method::GET, "/v1/nothing"),
        (Method::DELETE, "/v1/account"),
    ] {
        let ask = || service.plain(method.clone(), path);
        unauthorized(ask().send().await.unwrap(), 401).await;
        unauthorized(ask().bearer_auth("made-up").send().await.unwrap(), 401).await;
        unauthorized(ask().basic_auth("id", Some("secret")).send().await.unwrap(), 401).await;
        unauthorized(ask().header("authorization", "Bearer").send().await.unwrap(), 401).await;
    }
    // Two headers are no choice.
    let twice = service.api(Method::GET, "/v1/account").header("authorization", "Bearer other");
    unauthorized(twice.send().await.unwrap(), 401).await;
}

#[tokio::test]
async fn a_token_ends_after_an_hour() {
    let service = Service::start().await;
    service.advance("3599s").await;
    assert_eq!(service.get("/v1/account").await.status(), 200);
    service.advance("1s").await;
    unauthorized(service.get("/v1/account").await, 401).await;
}

#[tokio::test]
async fn token_requests_are_refused_in_the_words_of_rfc_6749() {
    let service = Service::start().await;
    let (id, secret) = (service.welcome.client_id.to_string(), service.secret().to_owned());
    let url = format!("{}/token", service.welcome.places.auth_url);
    let form = "application/x-www-form-urlencoded";
    let grant = [("grant_type", "client_credentials")];
    let by = |id: &str, secret: &str| service.http.post(&url).basic_auth(id, Some(secret));
    let basic = |body: &'static str| by(&id, &secret).header("content-type", form).body(body);
    let bare = |body: String| service.http.post(&url).header("content-type", form).body(body);
    let in_body = format!("grant_type=client_credentials&client_id={id}&client_secret=x");
    for (request, status, error) in [
        (basic("scope=mails%3Aread"), 400, "invalid_request"),
        (basic("grant_type=password"), 400, "unsupported_grant_type"),
        (basic("grant_type=client_credentials&grant_type=client_credentials"), 400, "invalid_request"),
        (basic("grant_type=client_credentials&client_secret=x"), 400, "invalid_request"),
        (basic("grant_type=client_credentials&client_id=other"), 400, "invalid_request"),
        (bare("grant_type=client_credentials".into()), 401, "invalid_client"),
        (bare(in_body), 401, "invalid_client"),
        (by(&id, "wrong").form(&grant), 401, "invalid_client"),
        (by("nobody", &secret).form(&grant), 401, "invalid_client"),
        (by(&id, &secret).json(&json!({"grant_type": "client_credentials"})), 400, "invalid_request"),
    ] {
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), status, "{error}");
        assert_eq!(answer.headers()["cache-control"], "no-store");
        assert_eq!(answer.headers().contains_key("www-authenticate"), status == 401);
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["error"], error);
    }
    assert_eq!(service.http.get(&url).send().await.unwrap().status(), 405);
}

#[tokio::test]
async fn credentials_are_read_raw_and_form_encoded() {
    let awkward = "p:a+s%s w/ö=&?";
    let client = Some(("team one+two%".to_owned(), Secret::new(awkward)));
    let service = Service::with(Options { client, ..Options::default() }).await;
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let raw = service.ask_token("team one+two%", awkward, "mails:read").await;
    assert_eq!(raw.status(), 200);
    let encoded = service.ask_token(&encode("team one+two%"), &encode(awkward), "mails:read").await;
    assert_eq!(encoded.status(), 200);
    let wrong = service.ask_token(&encode("team one+two%"), &encode("p:a"), "mails:read").await;
    assert_eq!(wrong.status(), 401);
}

#[tokio::test]
async fn revocation_follows_rfc_7009() {
    let service = Service::start().await;
    let id = service.welcome.client_id.to_string();
    let url = format!("{}/token/revocation", service.welcome.places.auth_url);
    let revoke = |id: &str, secret: &str, token: &str| {
        let form = [("token", token.to_owned()), ("token_type_hint", "access_token".to_owned())];
        service.http.post(&url).basic_auth(id, Some(secret)).form(&form).send()
    };
    // Not without authentication, and not another client's.
    assert_eq!(revoke(&id, "wrong", &service.token).await.unwrap().status(), 401);
    let body = json!({"name": "other", "agree_to_terms": true, "client_id": "other", "client_secret": "s"});
    assert_eq!(service.control(Method::POST, "clients", body).await.status(), 201);
    let refused = revoke("other", "s", &service.token).await.unwrap();
    assert_eq!(refused.status(), 400);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"], "invalid_grant");
    assert_eq!(service.get("/v1/account").await.status(), 200);
    // Unknown tokens are as good as revoked.
    assert_eq!(revoke(&id, service.secret(), "never-issued").await.unwrap().status(), 200);
    assert_eq!(revoke(&id, service.secret(), &service.token).await.unwrap().status(), 200);
    unauthorized(service.get("/v1/account").await, 401).await;
    assert_eq!(revoke(&id, service.secret(), &service.token).await.unwrap().status(), 200);
    let form = [("token", "t"), ("client_secret", "s")];
    let two_ways = service.http.post(&url).basic_auth(&id, Some(service.secret())).form(&form);
    assert_eq!(two_ways.send().await.unwrap().status(), 400);
    let nothing = service.http.post(&url).basic_auth(&id, Some(service.secret())).form(&[("a", "b")]);
    assert_eq!(nothing.send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn the_discovery_document_names_what_libraries_ask_for() {
    let service = Service::start().await;
    let auth = &service.welcome.places.auth_url;
    let url = format!("{auth}/.well-known/openid-configuration");
    let document: Value = service.http.get(url).send().await.unwrap().json().await.unwrap();
    assert_eq!(document["issuer"], **auth);
    assert_eq!(document["token_endpoint"], format!("{auth}/token"));
    assert_eq!(document["revocation_endpoint"], format!("{auth}/token/revocation"));
    assert_eq!(document["token_endpoint_auth_methods_supported"], json!(["client_secret_basic"]));
    assert_eq!(document["grant_types_supported"], json!(["client_credentials"]));
    assert_eq!(document["scopes_supported"], json!(["account:read", "mails:read", "mails:write"]));
    for key in
        ["response_types_supported", "subject_types_supported", "id_token_signing_alg_values_supported"]
    {
        assert!(!document[key].as_array().unwrap().is_empty(), "{key}");
    }
    let keys = service.http.get(document["jwks_uri"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(keys.headers()["content-type"], "application/json");
    assert_eq!(keys.json::<Value>().await.unwrap(), json!({"keys": []}));
}
