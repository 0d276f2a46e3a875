//! What time alone does: deletion at `confirm_by`, shipping, billing; and the clock itself.

use reqwest::Method;
use serde_json::{Value, json};

use crate::rigs::service::{Service, letter, pdf, problem};
use mailchute::outside::api::wire::Status;

#[tokio::test]
async fn an_unconfirmed_mail_is_deleted_with_its_pdfs_when_its_time_is_over() {
    let service = Service::start().await;
    let mail = service.uploaded(&letter()).await;
    service.advance("1799s").await;
    assert_eq!(service.read(&mail.id).await.status, Status::Pending);
    let pdf = format!("/inbox/{}/1", mail.id);
    assert_eq!(service.plain(Method::GET, &pdf).send().await.unwrap().status(), 200);
    service.advance("1s").await;
    problem(service.get(&format!("/v1/mails/{}", mail.id)).await, 404, "mail_not_found").await;
    assert_eq!(service.plain(Method::GET, &pdf).send().await.unwrap().status(), 404);
    assert_eq!(service.events(&mail.id).await, ["created", "uploaded", "deleted"]);
}

#[tokio::test]
async fn a_confirmed_mail_ships_on_its_date_and_is_charged_afterwards() {
    let mut service = Service::start().await;
    let mail = service.confirmed(&letter()).await;
    let set = |to: String| service.control(Method::POST, "clock", json!({"set": to}));
    let before = (mail.scheduled_to_ship_at - chrono::TimeDelta::milliseconds(1)).to_rfc3339();
    assert_eq!(set(before).await.status(), 200);
    service.log_in().await;
    assert_eq!(service.read(&mail.id).await.status, Status::Confirmed);
    let set = |to: String| service.control(Method::POST, "clock", json!({"set": to}));
    assert_eq!(set(mail.scheduled_to_ship_at.to_rfc3339()).await.status(), 200);
    let read = service.read(&mail.id).await;
    assert_eq!((read.status, read.cancellable), (Status::Shipped, false));
    assert_eq!(read.shipped_at, Some(mail.scheduled_to_ship_at));
    assert_eq!(read.tracking_number.unwrap().len(), 12);
    assert!(!service.events(&mail.id).await.contains(&"charged".to_owned()));
    service.advance("1h").await;
    assert_eq!(service.events(&mail.id).await[4..], ["shipped", "charged"]);
}

#[tokio::test]
async fn a_tracking_number_is_there_when_the_method_is_trackable() {
    let mut service = Service::start().await;
    let mut ids = Vec::new();
    for (method, options, trackable) in [
        ("normal", Some(json!([])), false),
        ("normal", Some(json!(["express"])), false),
        ("normal", Some(json!(["express", "trackable"])), true),
        ("normal", Some(json!(["simple-registered"])), true),
        ("normal", Some(json!(["normal-registered"])), true),
        ("letterpack-lite", None, true),
        ("letterpack-plus", None, true),
    ] {
        let mut body = letter();
        body["shipping_method"] = json!(method);
        match &options {
            Some(options) => body["shipping_options"] = options.clone(),
            None => drop(body.as_object_mut().unwrap().remove("shipping_options")),
        }
        ids.push((service.confirmed(&body).await.id, trackable, format!("{method} {options:?}")));
    }
    service.advance("10days").await;
    service.log_in().await;
    for (id, trackable, what) in ids {
        let read = service.read(&id).await;
        assert_eq!((read.status, read.tracking_number.is_some()), (Status::Shipped, trackable), "{what}");
    }
}

#[tokio::test]
async fn what_was_authorized_is_what_is_charged() {
    let service = Service::start().await;
    let mail = service.confirmed(&letter()).await;
    service.advance("10days").await;
    let url = format!("ledger?mail={}", mail.id);
    let ledger: Value = service.control(Method::GET, &url, Value::Null).await.json().await.unwrap();
    let amount = |event: &str| {
        let entries = ledger["entries"].as_array().unwrap();
        entries.iter().find(|entry| entry["event"] == event).unwrap()["amount"].as_u64().unwrap()
    };
    assert!(amount("authorized") > 0);
    assert_eq!(amount("authorized"), amount("charged"));
}

#[tokio::test]
async fn answers_are_dated_by_the_sandboxs_clock() {
    let service = Service::start().await;
    let date = async || service.get("/v1/account").await.headers()["date"].to_str().unwrap().to_owned();
    let before = chrono::DateTime::parse_from_rfc2822(&date().await).unwrap();
    service.advance("30m").await;
    let after = chrono::DateTime::parse_from_rfc2822(&date().await).unwrap();
    assert_eq!(after - before, chrono::TimeDelta::minutes(30));
}

#[tokio::test]
async fn a_deleted_mail_is_forgotten_after_a_day() {
    let service = Service::start().await;
    let mail = service.create(&letter()).await;
    assert_eq!(service.upload(&mail.contents[0].upload, pdf(1)).await.status(), 204);
    service.advance("30m").await;
    let page = format!("/inbox/{}", mail.id);
    assert_eq!(service.plain(Method::GET, &page).send().await.unwrap().status(), 200);
    service.advance("1day").await;
    assert_eq!(service.plain(Method::GET, &page).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_fast_clock_does_its_work_without_being_asked() {
    use mailchute::base::clock::Pace;
    use mailchute::sandbox::Options;
    // Half an hour goes by in half a second.
    let service = Service::with_own_pace(Options { pace: Pace::Times(3600), ..Options::default() }).await;
    let mail = service.create(&letter()).await;
    let deleted = async {
        // The ledger only looks; it does not make time pass.
        while service.events(&mail.id).await != ["created", "deleted"] {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), deleted).await.unwrap();
}
