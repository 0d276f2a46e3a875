//! `POST /v1/mails/{mailId}/confirm`: each row of its error table, and what it changes.

use serde_json::json;

use crate::rigs::service::{Service, file, letter, letter_of, pdf, problem};
use mailchute::outside::api::wire::Status;

#[tokio::test]
async fn confirmation_authorizes_and_opens_the_cancellation_period() {
    let service = Service::start().await;
    let mail = service.uploaded(&letter()).await;
    let answer = service.confirm(&mail.id).await;
    assert_eq!(answer.status(), 204);
    assert!(answer.bytes().await.unwrap().is_empty());
    let read = service.read(&mail.id).await;
    assert_eq!((read.status, read.cancellable), (Status::Confirmed, true));
    assert_eq!((read.shipped_at, read.tracking_number), (None, None));
    let events = service.events(&mail.id).await;
    assert_eq!(events, ["created", "uploaded", "confirm_attempted:confirmed", "authorized"]);
}

#[tokio::test]
async fn a_second_confirmation_changes_nothing() {
    let service = Service::start().await;
    let mail = service.confirmed(&letter()).await;
    problem(service.confirm(&mail.id).await, 409, "mail_already_confirmed").await;
    service.advance("10days").await;
    let mut service = service;
    service.log_in().await;
    problem(service.confirm(&mail.id).await, 409, "mail_already_confirmed").await;
    let events = service.events(&mail.id).await;
    assert_eq!(events.iter().filter(|event| *event == "authorized").count(), 1);
    assert_eq!(events.iter().filter(|event| *event == "charged").count(), 1);
}

#[tokio::test]
async fn files_that_are_missing_are_all_named() {
    let service = Service::start().await;
    let mail = service.create(&letter_of(&[file("a.pdf", 1), file("b.pdf", 1), file("c.pdf", 1)])).await;
    assert_eq!(service.upload(&mail.contents[1].upload, pdf(1)).await.status(), 204);
    let found = problem(service.confirm(&mail.id).await, 422, "file_not_uploaded").await;
    let named: Vec<_> =
        found.errors.iter().map(|error| (error.path.as_str(), error.content_id.as_deref())).collect();
    let id = |index: usize| Some(mail.contents[index].id.as_str());
    assert_eq!(named, [("contents.0", id(0)), ("contents.2", id(2))]);
    assert!(found.errors.iter().all(|error| !error.message.is_empty()));
    assert_eq!(service.read(&mail.id).await.status, Status::Pending);
}

#[tokio::test]
async fn files_that_are_no_readable_pdf_are_all_named() {
    let service = Service::start().await;
    let mut torn = pdf(3);
    torn.truncate(torn.len() - 40);
    let mut miscounting = pdf(2);
    let at = miscounting.windows(8).position(|bytes| bytes == b"/Count 2").unwrap();
    miscounting[at + 7] = b'3';
    let bad = [b"hello".to_vec(), torn, miscounting, b"%PDF-1.7\n%%EOF\n".to_vec(), pdf(0)];
    let files: Vec<_> = (0..=bad.len()).map(|n| file(&format!("{n}.pdf"), 1)).collect();
    let mail = service.create(&letter_of(&files)).await;
    for (content, bytes) in mail.contents.iter().zip(bad.iter().cloned().chain([pdf(1)])) {
        assert_eq!(service.upload(&content.upload, bytes).await.status(), 204);
    }
    let found = problem(service.confirm(&mail.id).await, 422, "invalid_file").await;
    let paths: Vec<&str> = found.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["contents.0", "contents.1", "contents.2", "contents.3", "contents.4"]);
}

#[tokio::test]
async fn page_counts_that_differ_are_all_named_at_once() {
    let service = Service::start().await;
    let mail = service.create(&letter_of(&[file("a.pdf", 2), file("b.pdf", 1), file("c.pdf", 3)])).await;
    for content in &mail.contents {
        assert_eq!(service.upload(&content.upload, pdf(1)).await.status(), 204);
    }
    let found = problem(service.confirm(&mail.id).await, 422, "page_count_mismatch").await;
    let named: Vec<_> =
        found.errors.iter().map(|error| (error.path.as_str(), error.content_id.as_deref())).collect();
    let id = |index: usize| Some(mail.contents[index].id.as_str());
    assert_eq!(named, [("contents.0", id(0)), ("contents.2", id(2))]);
    // The request remains; the right file still saves it.
    assert_eq!(service.upload(&mail.contents[0].upload, pdf(2)).await.status(), 204);
    assert_eq!(service.upload(&mail.contents[2].upload, pdf(3)).await.status(), 204);
    assert_eq!(service.confirm(&mail.id).await.status(), 204);
}

#[tokio::test]
async fn a_declined_card_deletes_the_request() {
    let service = Service::start().await;
    for card in ["declining", "none"] {
        let mail = service.uploaded(&letter()).await;
        service.set_card(card).await;
        problem(service.confirm(&mail.id).await, 402, "card_declined").await;
        service.set_card("ok").await;
        problem(service.confirm(&mail.id).await, 404, "mail_not_found").await;
        problem(service.get(&format!("/v1/mails/{}", mail.id)).await, 404, "mail_not_found").await;
        let events = service.events(&mail.id).await;
        assert!(events.contains(&"deleted".to_owned()) && !events.contains(&"authorized".to_owned()));
    }
}

#[tokio::test]
async fn a_payment_in_progress_leaves_the_request_as_it_is() {
    let service = Service::start().await;
    let mail = service.uploaded(&letter()).await;
    service.order(json!({"endpoint": "confirm", "fault": "payment_in_progress", "times": 2})).await;
    for _ in 0..2 {
        problem(service.confirm(&mail.id).await, 409, "payment_in_progress").await;
        assert_eq!(service.read(&mail.id).await.status, Status::Pending);
    }
    assert_eq!(service.confirm(&mail.id).await.status(), 204);
}

#[tokio::test]
async fn a_request_unknown_or_gone_is_not_found() {
    let service = Service::start().await;
    for name in ["nothing", "%ff", "m1%00", "%e3%81%82"] {
        problem(service.confirm(name).await, 404, "mail_not_found").await;
    }
    let mail = service.uploaded(&letter()).await;
    service.advance("30m").await;
    problem(service.confirm(&mail.id).await, 404, "mail_not_found").await;
}
