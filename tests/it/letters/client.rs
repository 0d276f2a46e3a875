//! The API client by itself: tokens, bounds, uploads, and the rows a letter does not ask for.

use std::os::unix::fs::FileExt as _;

use chrono::TimeDelta;
use mailchute::base::clock::Clock;
use mailchute::base::secret::Secret;
use mailchute::domain::letter::{AccountProblem, Mail, Number, ReadAnswer, Realm};
use mailchute::outside::api::{Client, Credentials, Failure, KnownMail, Patience, Places};
use serde_json::{Value, json};

use crate::proofs::model::order;
use crate::rigs::office::Office;
use crate::rigs::service::pdf;

/// The names of what happened at the service, tokens only.
async fn tokens(office: &Office) -> Vec<String> {
    let url = format!("{}/ledger", office.service.welcome.places.control_url);
    let ledger: Value = office.service.http.get(url).send().await.unwrap().json().await.unwrap();
    let names = ledger["entries"].as_array().unwrap().iter().map(|entry| entry["event"].as_str().unwrap());
    names.filter(|name| name.starts_with("token")).map(str::to_owned).collect()
}

fn status(endpoint: &str, status: u16, times: u32) -> Value {
    json!({
        "endpoint": endpoint, "fault": "status", "status": status, "times": times,
        "body": "{\"message\":\"Unauthorized\"}", "content_type": "application/json",
    })
}

#[tokio::test]
async fn one_token_serves_all_callers_and_is_renewed_before_it_expires_and_once_when_refused() {
    let office = Office::open().await;
    let before = tokens(&office).await.len();
    let client = office.client();
    let (one, other, third) = tokio::join!(client.account(), client.account(), client.account());
    assert_eq!((one.clone().unwrap(), one.unwrap()), (other.unwrap(), third.unwrap()));
    assert_eq!(tokens(&office).await.len(), before + 1);
    // A minute before its end there is a new one, though the service would still take the old.
    office.clock.move_by(TimeDelta::seconds(3541)).unwrap();
    client.account().await.unwrap();
    assert_eq!(tokens(&office).await.len(), before + 2);
    // Refused once: a new one is fetched and the call made again. Refused again: the account's trouble.
    for code in [401, 403] {
        office.service.order(status("account", code, 1)).await;
        client.account().await.unwrap();
        office.service.order(status("account", code, 2)).await;
        let refused = client.account().await.unwrap_err();
        assert!(matches!(&refused, Failure::Account(AccountProblem::NotAllowed(_))), "{refused:?}");
    }
    client.revoke().await;
    assert_eq!(tokens(&office).await.last().unwrap(), "token_revoked");
}

#[tokio::test]
async fn callers_that_wait_for_a_token_share_its_failure() {
    let office = Office::open().await;
    let client = office.client();
    // One that answers with an error, and one that does not answer while anybody waits.
    for fault in [status("token", 500, 1), json!({"endpoint": "token", "fault": "delay", "delay_ms": 60_000})]
    {
        office.service.order(fault).await;
        let (one, other, third) = tokio::join!(client.account(), client.account(), client.account());
        for failure in [one, other, third] {
            assert!(matches!(failure.unwrap_err(), Failure::Later { .. }));
        }
    }
    client.account().await.unwrap();
}

#[tokio::test]
async fn what_the_token_endpoint_refuses_is_the_account_s_trouble_and_what_it_can_not_is_not() {
    let mut office = Office::open().await;
    office.credentials.1 = "wrong".to_owned();
    let refused = office.client().account().await.unwrap_err();
    let Failure::Account(AccountProblem::NotAllowed(why)) = &refused else { panic!("{refused:?}") };
    assert!(why.contains("invalid_client") && !why.contains("wrong"), "{why}");
    office.credentials.1 = office.service.secret().to_owned();
    for fault in
        [status("token", 500, 1), status("token", 429, 1), json!({"endpoint": "token", "fault": "cut"})]
    {
        office.service.order(fault).await;
        let failure = office.client().account().await.unwrap_err();
        assert!(matches!(failure, Failure::Later { .. }), "{failure:?}");
    }
    // Without discovery the documented places are used.
    office.service.order(status("discovery", 404, 1)).await;
    office.client().account().await.unwrap();
    let granted =
        json!({"access_token": "x", "token_type": "Bearer", "expires_in": 3600, "scope": "mails:read"});
    let mut fault = status("token", 200, 1);
    fault["body"] = json!(granted.to_string());
    office.service.order(fault).await;
    let refused = office.client().account().await.unwrap_err();
    let Failure::Account(AccountProblem::NotAllowed(why)) = &refused else { panic!("{refused:?}") };
    assert!(why.contains("account:read, mails:write"), "{why}");
}

#[tokio::test]
async fn an_answer_of_no_use_ends_the_silence_and_the_account_rests_all_the_same() {
    let mut office = Office::open().await;
    office.service.order(status("account", 503, 1)).await;
    office.restart();
    office.settle().await;
    assert!(office.account().silent_since().is_some(), "it did not answer");
    office.service.order(status("account", 403, 1)).await;
    office.go_on_for(TimeDelta::minutes(5)).await;
    assert_eq!(office.account().silent_since(), None, "it answered, though not what was asked");
}

fn stranger() -> Mail {
    let soon = "2026-11-20T12:00:00Z".parse().unwrap();
    Mail {
        k: 1,
        id: "none".into(),
        realm: Realm(String::new()),
        contents: vec!["none".into()],
        ships_at: soon,
        confirm_by: soon,
        upload_until: soon,
        confirm_until: soon,
    }
}

#[tokio::test]
async fn answers_that_make_no_sense_or_have_no_end_decide_nothing() {
    let office = Office::open().await;
    let (client, mail) = (office.client(), stranger());
    let known = KnownMail { mail: &mail, watched: TimeDelta::zero() };
    let found = client.read(known).await.unwrap();
    assert!(matches!(found, ReadAnswer::NotFound(evidence) if evidence.server.is_some()));
    for body in ["", "{}", "null", "["] {
        let mut fault = status("read", 200, 1);
        fault["body"] = json!(body);
        office.service.order(fault).await;
        let failure = client.read(known).await.unwrap_err();
        assert!(matches!(failure, Failure::Unknown(_)), "{failure:?}");
        let mut fault = status("create", 201, 1);
        fault["body"] = json!(body);
        office.service.order(fault).await;
        let failure = client.create(Number(1), 1, &order(1), &Realm(String::new())).await.unwrap_err();
        assert!(matches!(failure, Failure::Unknown(_)), "{failure:?}");
    }
}

/// A service that takes id and secret only raw, and whose account has no end.
async fn odd_service() -> String {
    use axum::http::{HeaderMap, StatusCode};
    use axum::routing::{get, post};
    let token = |headers: HeaderMap| async move {
        let raw = headers["authorization"] == "Basic aTpzJTo=";
        let token = json!({"access_token": "opaque", "token_type": "Bearer"}).to_string();
        if raw { (StatusCode::OK, token) } else { (StatusCode::UNAUTHORIZED, "{}".to_owned()) }
    };
    let app = axum::Router::new()
        .route("/auth/token", post(token))
        .route("/v1/account", get(|| async { "{".repeat((1 << 20) + 1) }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

#[tokio::test]
async fn raw_credentials_are_tried_once_and_an_answer_has_an_end() {
    let base = odd_service().await;
    let places = Places::new(&base, &format!("{base}/auth")).unwrap();
    let credentials = Credentials { client_id: "i".into(), client_secret: Secret::new("s%:") };
    let client = Client::new(places, credentials, Patience::default(), Clock::system()).unwrap();
    let failure = client.account().await.unwrap_err();
    assert_eq!(failure, Failure::Unknown("the answer is longer than 1048576 bytes".to_owned()));
}

#[tokio::test]
async fn an_upload_has_its_fields_in_order_a_length_and_no_token() {
    use axum::body::Bytes;
    use axum::http::{HeaderMap, StatusCode};
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let target = move |headers: HeaderMap, body: Bytes| async move {
        tell.send((headers, String::from_utf8(body.to_vec()).unwrap())).unwrap();
        StatusCode::NO_CONTENT
    };
    let app = axum::Router::new().route("/target", axum::routing::post(target));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/target", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let office = Office::open().await;
    let client = office.client();
    client.account().await.unwrap();
    let names = ["z", "Content-Type", "a", "policy"];
    let fields = names.iter().map(|name| ((*name).to_owned(), format!("value of {name}"))).collect();
    let target = mailchute::outside::api::wire::UploadTarget { url, fields, expires_at: office.clock.now() };
    client.upload(&target, Number(7), 1, b"%PDF-".to_vec()).await.unwrap();
    let (headers, body) = told.recv().await.unwrap();
    assert!(!headers.contains_key("authorization") && !headers.contains_key("transfer-encoding"));
    assert_eq!(headers["content-length"], body.len().to_string().as_str());
    let places = names.map(|name| body.find(&format!("name=\"{name}\"")).unwrap());
    let file = body.find("name=\"file\"; filename=\"7-2.pdf\"").unwrap();
    assert!(places.is_sorted() && places[3] < file, "{body}");
    assert!(body.contains("Content-Type: application/pdf"));
}

#[tokio::test]
async fn the_rows_of_the_pdf_operation() {
    let mut office = Office::open().await;
    office.submit(&[3]);
    office.service.order(json!({"endpoint": "confirm", "fault": "cut"})).await;
    office.settle().await;
    let (client, mail) = (office.client(), office.letter(1).state.mail().unwrap().clone());
    let refused =
        |failure: &Failure, what: &str| matches!(failure, Failure::Refused(why) if why.contains(what));
    let failure = client.pdf(&mail, 0).await.unwrap_err();
    assert!(refused(&failure, "not confirmed"), "{failure:?}");
    office.go_on_for(TimeDelta::seconds(10)).await;
    assert_eq!(client.pdf(&mail, 0).await.unwrap(), pdf(3));
    let other = Mail { contents: vec!["c-unknown".into()], ..mail.clone() };
    let failure = client.pdf(&other, 0).await.unwrap_err();
    assert!(refused(&failure, "does not know"), "{failure:?}");
    assert!(refused(&client.pdf(&mail, 1).await.unwrap_err(), "no such document"));
    let failure = client.pdf(&stranger(), 0).await.unwrap_err();
    assert!(refused(&failure, "does not know"), "{failure:?}");
    office.service.order(status("download", 403, 1)).await;
    assert!(matches!(client.pdf(&mail, 0).await.unwrap_err(), Failure::Unknown(_)));
}

#[tokio::test]
async fn what_an_upload_that_fails_does() {
    // Refused by the target: another mail, with a target of its own.
    let xml =
        "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>policy: [secret]</Message></Error>";
    for code in [400, 403, 412] {
        let mut office = Office::open().await;
        office.settle().await;
        let mut fault = status("upload", code, 1);
        fault["body"] = json!(xml);
        office.service.order(fault).await;
        office.submit(&[1]);
        office.settle().await;
        let note = office.row(1).note.unwrap();
        assert!(note.contains(&format!("{code} AccessDenied")) && !note.contains("secret"), "{note}");
        assert_eq!(office.facts(1), ["admitted", "created", "abandoned"]);
        office.go_on_for(TimeDelta::minutes(1)).await;
        assert_eq!(office.facts(1)[3..], ["created", "uploaded", "intended", "confirmed"]);
        office.check().await;
    }
    // No answer, or a store that is busy: the same target once more.
    for fault in [json!({"endpoint": "upload", "fault": "lose_reply"}), status("upload", 503, 1)] {
        let mut office = Office::open().await;
        office.service.order(fault).await;
        office.submit(&[1, 1]);
        office.go_on_for(TimeDelta::minutes(1)).await;
        assert_eq!(
            office.facts(1),
            ["admitted", "created", "uploaded", "uploaded", "intended", "confirmed", "seen"][..6]
        );
        office.check().await;
    }
    // Always refused: held, and nothing was posted.
    let mut office = Office::open().await;
    office.service.order(status("upload", 403, 50)).await;
    office.submit(&[1]);
    office.go_on_for(TimeDelta::hours(1)).await;
    assert!(office.row(1).note.unwrap().contains("cancel it before it is sent again"));
    assert_eq!(office.facts(1).iter().filter(|fact| **fact == "created").count(), 6);
    office.check().await;
}

#[tokio::test]
async fn targets_that_expire_and_targets_lost_in_a_crash_lead_to_a_new_mail() {
    let mut office = Office::open().await;
    office.service.order(status("upload", 503, 1)).await;
    office.submit(&[1]);
    office.settle().await;
    assert_eq!(office.facts(1), ["admitted", "created"]);
    office.pass(6).await;
    // Not at once: if targets were always too short-lived, mails must not be made at full speed.
    assert_eq!(office.facts(1)[2..], ["abandoned"]);
    office.go_on_for(TimeDelta::seconds(20)).await;
    assert_eq!(office.facts(1)[3..], ["created", "uploaded", "intended", "confirmed"]);
    let mut office = Office::open().await;
    office.service.order(status("upload", 503, 1)).await;
    office.submit(&[1]);
    office.settle().await;
    office.restart();
    office.pass(1).await;
    assert_eq!(office.facts(1)[2..], ["abandoned", "created", "uploaded", "intended", "confirmed"]);
    office.check().await;
}

#[tokio::test]
async fn a_document_that_changed_in_the_spool_is_not_uploaded() {
    let mut office = Office::open().await;
    let ulid = office.submit(&[1]);
    let entry =
        std::fs::File::options().write(true).open(office.dir.path().join(format!("spool/new/{ulid}")));
    entry.unwrap().write_at(b"%pdf", 0).unwrap();
    office.settle().await;
    assert_eq!(office.facts(1), ["admitted", "created", "abandoned", "held"]);
    assert!(office.row(1).note.unwrap().contains("not what was taken in"));
    let uploads =
        office.mails().await.into_values().filter(|(_, events)| events.contains_key("uploaded")).count();
    assert_eq!(uploads, 0);
}
