//! `POST /v1/mails/{mailId}/cancel`: each row of its error table.

use reqwest::Method;
use serde_json::json;

use crate::rigs::service::{Service, letter, problem};
use mailchute::outside::api::wire::Status;

#[tokio::test]
async fn a_cancelled_mail_costs_nothing_and_never_ships() {
    let mut service = Service::start().await;
    let mail = service.confirmed(&letter()).await;
    service.advance("29m").await;
    assert!(service.read(&mail.id).await.cancellable);
    assert_eq!(service.cancel(&mail.id).await.status(), 204);
    let read = service.read(&mail.id).await;
    assert_eq!((read.status, read.cancellable), (Status::Cancelled, false));
    problem(service.cancel(&mail.id).await, 409, "mail_already_cancelled").await;
    problem(service.confirm(&mail.id).await, 409, "mail_already_confirmed").await;
    service.advance("10days").await;
    service.log_in().await;
    assert_eq!(service.read(&mail.id).await.status, Status::Cancelled);
    let events = service.events(&mail.id).await;
    assert!(events.contains(&"released".to_owned()));
    assert!(!events.contains(&"shipped".to_owned()) && !events.contains(&"charged".to_owned()));
}

#[tokio::test]
async fn the_window_ends_thirty_minutes_after_creation() {
    let service = Service::start().await;
    let mail = service.uploaded(&letter()).await;
    service.advance("20m").await;
    assert_eq!(service.confirm(&mail.id).await.status(), 204);
    service.advance("599s").await;
    assert!(service.read(&mail.id).await.cancellable);
    service.advance("1s").await;
    assert!(!service.read(&mail.id).await.cancellable);
    problem(service.cancel(&mail.id).await, 409, "cancellation_window_expired").await;
    assert_eq!(service.read(&mail.id).await.status, Status::Confirmed);
}

#[tokio::test]
async fn what_is_not_confirmed_or_already_packed_or_shipped_is_not_cancellable() {
    let mut service = Service::start().await;
    let pending = service.create(&letter()).await;
    problem(service.cancel(&pending.id).await, 409, "mail_not_cancellable").await;
    let packed = service.confirmed(&letter()).await;
    let answer = service.control(Method::POST, "packing", json!({"mail": packed.id})).await;
    assert_eq!(answer.status(), 204);
    assert!(!service.read(&packed.id).await.cancellable);
    problem(service.cancel(&packed.id).await, 409, "mail_not_cancellable").await;
    service.advance("10days").await;
    service.log_in().await;
    problem(service.cancel(&packed.id).await, 409, "mail_not_cancellable").await;
    assert_eq!(service.read(&packed.id).await.status, Status::Shipped);
}

#[tokio::test]
async fn a_mail_unknown_or_deleted_is_not_found() {
    let service = Service::start().await;
    problem(service.cancel("nothing").await, 404, "mail_not_found").await;
    let mail = service.create(&letter()).await;
    service.advance("30m").await;
    problem(service.cancel(&mail.id).await, 404, "mail_not_found").await;
}
