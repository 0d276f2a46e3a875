//! `GET /v1/mails/{mailId}` and `GET /v1/account`.

use serde_json::{Value, json};

use crate::rigs::service::{Service, file, letter, letter_of, problem};

#[tokio::test]
async fn a_mail_shows_every_field_of_the_document() {
    let service = Service::start().await;
    let mut body = letter_of(&[file("a.pdf", 3), file("b.pdf", 2)]);
    body["files"][0]["staple"] = json!("top-left");
    body["files"][1]["bind"] = json!(true);
    let mail = service.create(&body).await;
    let shown: Value = service.get(&format!("/v1/mails/{}", mail.id)).await.json().await.unwrap();
    for key in ["shipping_method", "shipping_options", "sender_address", "receiver_address"] {
        assert_eq!(shown[key], body[key], "{key}");
    }
    for key in ["id", "status", "cancellable", "created_at", "scheduled_to_ship_at", "confirm_by"] {
        assert!(!shown[key].is_null(), "{key}");
    }
    assert_eq!(shown["reply_letterpack"], Value::Null);
    assert!(shown.get("shipped_at").is_none() && shown.get("tracking_number").is_none());
    for (index, content) in shown["contents"].as_array().unwrap().iter().enumerate() {
        let mut expected = body["files"][index].clone();
        expected["id"] = json!(mail.contents[index].id);
        expected["paper_size"] = json!("a4");
        assert_eq!(*content, expected);
    }
}

#[tokio::test]
async fn a_mail_that_does_not_exist_is_not_found() {
    let service = Service::start().await;
    problem(service.get("/v1/mails/nothing").await, 404, "mail_not_found").await;
    problem(service.get("/v1/mails/%ff").await, 404, "mail_not_found").await;
}

#[tokio::test]
async fn the_account_can_be_read() {
    let service = Service::start().await;
    let account: Value = service.get("/v1/account").await.json().await.unwrap();
    assert!(account["id"].is_string());
    assert_eq!(account["card_registered"], true);
}

#[tokio::test]
async fn a_stale_read_shows_the_mail_as_it_was_before_its_last_change() {
    let service = Service::start().await;
    let stale = async |mail: &str| {
        service.order(json!({"endpoint": "read", "fault": "stale"})).await;
        let answer = service.get(&format!("/v1/mails/{mail}")).await;
        let body: Value = answer.json().await.unwrap();
        let shown = body["status"].as_str().or(body["code"].as_str());
        shown.unwrap().to_owned()
    };
    let mail = service.uploaded(&letter()).await;
    assert_eq!(stale(&mail.id).await, "mail_not_found");
    assert_eq!(service.confirm(&mail.id).await.status(), 204);
    assert_eq!(stale(&mail.id).await, "pending");
    assert_eq!(service.cancel(&mail.id).await.status(), 204);
    assert_eq!(stale(&mail.id).await, "confirmed");
    // A deleted one still looks pending to a reader behind the times.
    let lost = service.create(&letter()).await;
    service.advance("30m").await;
    assert_eq!(stale(&lost.id).await, "pending");
    problem(service.get(&format!("/v1/mails/{}", lost.id)).await, 404, "mail_not_found").await;
}

#[tokio::test]
async fn unknown_operations_and_methods_are_told_apart() {
    let service = Service::start().await;
    problem(service.get("/v1/letters").await, 404, "not_found").await;
    problem(service.get("/v1").await, 404, "not_found").await;
    problem(service.get("/v1/").await, 404, "not_found").await;
    crate::rigs::service::unauthorized(
        service.plain(reqwest::Method::GET, "/v1/").send().await.unwrap(),
        401,
    )
    .await;
    let answer = service.post("/v1/account").await;
    assert_eq!(answer.headers()["allow"], "GET,HEAD");
    problem(answer, 405, "method_not_allowed").await;
    let answer = service.get("/v1/mails").await;
    assert_eq!(answer.headers()["allow"], "POST");
    problem(answer, 405, "method_not_allowed").await;
}
