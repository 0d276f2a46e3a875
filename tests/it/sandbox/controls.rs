//! `/_sandbox/`: the clock, faults on order, the ledger.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::rigs::service::{Service, letter, problem, unauthorized};
use mailchute::outside::api::wire::Status;

#[tokio::test]
async fn the_clock_moves_only_forward_and_says_where_it_is() {
    let service = Service::start().await;
    let clock: Value = service.control(Method::GET, "clock", Value::Null).await.json().await.unwrap();
    assert_eq!(clock["clock"], "manual");
    for body in [
        json!({"set": "2001-01-01T00:00:00Z"}),
        json!({"set": "+262142-12-31T23:59:59.999Z"}),
        json!({"set": "9999-12-31T00:00:00Z"}),
        json!({"advance": "9000years"}),
        json!({"advance": "soon"}),
        json!({"advance": "-5m"}),
        json!({"advance": "9999999999y"}),
        json!({"forward": "5m"}),
        json!({}),
        json!([]),
    ] {
        let answer = service.control(Method::POST, "clock", body.clone()).await;
        assert_eq!(answer.status(), 400, "{body}");
        assert!(answer.json::<Value>().await.unwrap()["error"].is_string());
    }
    let moved: Value =
        service.control(Method::POST, "clock", json!({"advance": "1h 30m"})).await.json().await.unwrap();
    let time = |clock: &Value| chrono::DateTime::parse_from_rfc3339(clock["now"].as_str().unwrap()).unwrap();
    assert_eq!(time(&moved) - time(&clock), chrono::TimeDelta::minutes(90));
}

#[tokio::test]
async fn a_lost_reply_leaves_the_work_done() {
    let service = Service::start().await;
    let mail = service.uploaded(&letter()).await;
    service.order(json!({"endpoint": "confirm", "fault": "lose_reply"})).await;
    let path = format!("/v1/mails/{}/confirm", mail.id);
    assert!(service.api(Method::POST, &path).send().await.is_err());
    problem(service.confirm(&mail.id).await, 409, "mail_already_confirmed").await;
    let events = service.events(&mail.id).await;
    assert_eq!(events.iter().filter(|event| *event == "authorized").count(), 1);
}

#[tokio::test]
async fn a_cut_connection_leaves_the_work_undone() {
    let service = Service::start().await;
    let mail = service.uploaded(&letter()).await;
    service.order(json!({"endpoint": "confirm", "fault": "cut"})).await;
    assert!(service.api(Method::POST, &format!("/v1/mails/{}/confirm", mail.id)).send().await.is_err());
    assert_eq!(service.read(&mail.id).await.status, Status::Pending);
}

#[tokio::test]
async fn a_truncated_reply_breaks_off_in_its_body() {
    let service = Service::start().await;
    service.order(json!({"endpoint": "create", "fault": "truncate_reply"})).await;
    let answer = service.try_create(&letter()).await;
    assert_eq!(answer.status(), 201);
    assert!(answer.bytes().await.is_err());
}

#[tokio::test]
async fn a_status_is_answered_with_or_without_the_work() {
    let service = Service::start().await;
    let mail = service.uploaded(&letter()).await;
    service.order(json!({"endpoint": "confirm", "fault": "status", "status": 500})).await;
    problem(service.confirm(&mail.id).await, 500, "internal_server_error").await;
    assert_eq!(service.read(&mail.id).await.status, Status::Pending);
    let order = json!({"endpoint": "confirm", "fault": "status", "status": 503, "retry_after": 7, "after_work": true});
    service.order(order).await;
    let answer = service.confirm(&mail.id).await;
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.headers()["retry-after"], "7");
    assert_eq!(service.read(&mail.id).await.status, Status::Confirmed);
    service.order(json!({"endpoint": "read", "fault": "status", "status": 401})).await;
    unauthorized(service.get(&format!("/v1/mails/{}", mail.id)).await, 401).await;
    let order = json!({"endpoint": "read", "fault": "status", "status": 200, "body": "{", "content_type": "application/json"});
    service.order(order).await;
    let answer = service.get(&format!("/v1/mails/{}", mail.id)).await;
    assert_eq!((answer.status().as_u16(), answer.text().await.unwrap().as_str()), (200, "{"));
}

#[tokio::test]
async fn a_delay_delays() {
    let service = Service::start().await;
    service.order(json!({"endpoint": "account", "fault": "delay", "delay_ms": 120})).await;
    let begun = Instant::now();
    assert_eq!(service.get("/v1/account").await.status(), 200);
    assert!(begun.elapsed() >= Duration::from_millis(120));
}

#[tokio::test]
async fn a_card_can_be_declined_just_once() {
    let service = Service::start().await;
    service.order(json!({"endpoint": "confirm", "fault": "decline"})).await;
    let (one, two) = (service.uploaded(&letter()).await, service.uploaded(&letter()).await);
    problem(service.confirm(&one.id).await, 402, "card_declined").await;
    assert_eq!(service.confirm(&two.id).await.status(), 204);
}

#[tokio::test]
async fn every_endpoint_can_be_made_to_fail() {
    let mut service = Service::start().await;
    let mail = service.confirmed(&letter()).await;
    let endpoints = [
        "token",
        "revocation",
        "discovery",
        "account",
        "create",
        "read",
        "confirm",
        "cancel",
        "pdf",
        "upload",
        "download",
    ];
    for endpoint in endpoints {
        service.order(json!({"endpoint": endpoint, "fault": "status", "status": 418})).await;
    }
    let id = service.welcome.client_id.to_string();
    let auth = service.welcome.places.auth_url.clone();
    let statuses = [
        service.ask_token(&id, service.secret(), "").await.status(),
        service.http.post(format!("{auth}/token/revocation")).send().await.unwrap().status(),
        service.http.get(format!("{auth}/.well-known/openid-configuration")).send().await.unwrap().status(),
        service.get("/v1/account").await.status(),
        service.try_create(&letter()).await.status(),
        service.get(&format!("/v1/mails/{}", mail.id)).await.status(),
        service.confirm(&mail.id).await.status(),
        service.cancel(&mail.id).await.status(),
        service.get(&format!("/v1/mails/{}/contents/{}/pdf", mail.id, mail.contents[0].id)).await.status(),
        service.upload(&mail.contents[0].upload, vec![1]).await.status(),
        service.plain(Method::GET, "/download/m/c").send().await.unwrap().status(),
    ];
    for (status, endpoint) in statuses.iter().zip(endpoints) {
        assert_eq!(*status, 418, "{endpoint}");
    }
    let waiting: Value = service.control(Method::GET, "faults", Value::Null).await.json().await.unwrap();
    assert_eq!(waiting, json!({"waiting": []}));
    service.log_in().await;
}

#[tokio::test]
async fn orders_can_be_taken_back_and_bad_ones_are_refused() {
    let service = Service::start().await;
    service.order(json!({"endpoint": "account", "fault": "cut", "times": 9})).await;
    assert_eq!(service.control(Method::DELETE, "faults", Value::Null).await.status(), 204);
    assert_eq!(service.get("/v1/account").await.status(), 200);
    for order in [
        json!({"endpoint": "nowhere", "fault": "cut"}),
        json!({"endpoint": "read", "fault": "explode"}),
        json!({"endpoint": "read", "fault": "cut", "color": "red"}),
        json!({"endpoint": "read", "fault": "decline"}),
        json!({"endpoint": "read", "fault": "cut", "times": 0}),
    ] {
        let answer = service.control(Method::POST, "faults", order.clone()).await;
        assert_eq!(answer.status(), 400, "{order}");
    }
}

#[tokio::test]
async fn the_ledger_can_be_narrowed() {
    let service = Service::start().await;
    let (one, two) = (service.confirmed(&letter()).await, service.confirmed(&letter()).await);
    let ask = async |query: String| -> Vec<Value> {
        let answer = service.control(Method::GET, &format!("ledger?{query}"), Value::Null).await;
        let ledger: Value = answer.json().await.unwrap();
        ledger["entries"].as_array().unwrap().clone()
    };
    assert_eq!(ask("event=authorized".into()).await.len(), 2);
    assert_eq!(ask(format!("event=authorized&mail={}", two.id)).await.len(), 1);
    let last = ask(format!("mail={}", one.id)).await.pop().unwrap()["seq"].as_u64().unwrap();
    let after = ask(format!("after={last}")).await;
    assert!(!after.is_empty() && after.iter().all(|entry| entry["mail"] == *two.id));
    assert!(ask("account=nobody".into()).await.is_empty());
    let unknown = service.control(Method::GET, "nothing", Value::Null).await;
    assert_eq!(unknown.status(), 404);
    let packing = service.control(Method::POST, "packing", json!({"mail": "nothing"})).await;
    assert_eq!(packing.status(), 404);
}

#[tokio::test]
async fn a_failure_on_order_looks_like_the_endpoints_own() {
    let mut service = Service::start().await;
    let fail = async |endpoint: &str, status: u16| {
        service.order(json!({"endpoint": endpoint, "fault": "status", "status": status})).await;
    };
    let mail = service.create(&letter()).await;
    for (status, code) in [(403, "AccessDenied"), (500, "InternalError"), (503, "SlowDown")] {
        fail("upload", status).await;
        let answer = service.upload(&mail.contents[0].upload, vec![1]).await;
        assert_eq!(answer.status(), status);
        assert!(answer.text().await.unwrap().contains(&format!("<Code>{code}</Code>")));
    }
    fail("token", 401).await;
    let id = service.welcome.client_id.to_string();
    let answer = service.ask_token(&id, service.secret(), "").await;
    assert_eq!(answer.json::<Value>().await.unwrap()["error"], "invalid_client");
    fail("read", 403).await;
    unauthorized(service.get("/v1/mails/m1").await, 403).await;
    fail("read", 204).await;
    let answer = service.get("/v1/mails/m1").await;
    assert!(!answer.headers().contains_key("content-type"));
    service.log_in().await;
}

#[tokio::test]
async fn a_control_that_is_not_understood_says_so_in_json() {
    let service = Service::start().await;
    for (method, path, status) in [
        (Method::GET, "ledger?foo=1", 400),
        (Method::GET, "ledger?after=x", 400),
        (Method::GET, "ledger?event=charge", 400),
        (Method::DELETE, "accounts/%ff", 400),
        (Method::PUT, "clock", 405),
        (Method::GET, "", 404),
    ] {
        let answer = service.control(method, path, Value::Null).await;
        assert_eq!(answer.status(), status, "{path}");
        assert!(answer.json::<Value>().await.unwrap()["error"].is_string(), "{path}");
    }
    for name in mailchute::sandbox::world::Event::NAMES {
        let answer = service.control(Method::GET, &format!("ledger?event={name}"), Value::Null).await;
        assert_eq!(answer.status(), 200, "{name}");
    }
}
