//! `POST /v1/mails`: every field, every rule, every refusal.

use chrono::TimeDelta;
use reqwest::Method;
use serde_json::{Value, json};

use crate::rigs::service::{Service, address, file, letter, letter_of, problem};
use mailchute::outside::api::wire::Status;

#[tokio::test]
async fn a_mail_is_created_as_the_document_says() {
    let service = Service::start().await;
    let mail = service.create(&letter_of(&[file("a.pdf", 3), file("b.pdf", 2)])).await;
    let read = service.read(&mail.id).await;
    assert_eq!(mail.confirm_by - read.created_at, TimeDelta::minutes(30));
    assert_eq!(mail.scheduled_to_ship_at, read.scheduled_to_ship_at);
    let names: Vec<&str> = mail.contents.iter().map(|content| content.file_name.as_str()).collect();
    assert_eq!(names, ["a.pdf", "b.pdf"]);
    assert_ne!(mail.contents[0].id, mail.contents[1].id);
    for content in &mail.contents {
        assert_eq!(content.upload.expires_at - read.created_at, TimeDelta::minutes(5));
        assert_eq!(content.upload.fields["Content-Type"], "application/pdf");
    }
    assert_eq!((read.status, read.cancellable), (Status::Pending, false));
    assert_eq!(service.events(&mail.id).await, ["created"]);
}

#[tokio::test]
async fn timestamps_are_utc_with_milliseconds() {
    let service = Service::start().await;
    let body: Value = service.try_create(&letter()).await.json().await.unwrap();
    for text in
        [&body["confirm_by"], &body["scheduled_to_ship_at"], &body["contents"][0]["upload"]["expires_at"]]
    {
        let text = text.as_str().unwrap();
        assert!(text.len() == 24 && text.ends_with('Z') && text.as_bytes()[19] == b'.', "{text}");
    }
}

/// What is done to a valid body, and the path that must be named.
fn mistakes() -> Vec<(&'static str, Value, &'static str)> {
    let missing = Value::Null;
    let mut rows = vec![
        ("/shipping_method", json!("pigeon"), "shipping_method"),
        ("/shipping_method", json!("letterpack-lite"), "shipping_options"),
        ("/shipping_options", json!("express"), "shipping_options"),
        ("/shipping_options", json!(["express", "fast"]), "shipping_options.1"),
        ("/shipping_options", json!(["express", "express"]), "shipping_options.1"),
        ("/shipping_options", json!(["simple-registered", "normal-registered"]), "shipping_options"),
        ("/sender_address", json!("Tokyo"), "sender_address"),
        ("/sender_address/postal_code", json!("100-0001"), "sender_address.postal_code"),
        ("/sender_address/postal_code", json!("１０００００１"), "sender_address.postal_code"),
        ("/receiver_address/postal_code", json!("060001"), "receiver_address.postal_code"),
        ("/receiver_address/postal_code", json!(1_000_001), "receiver_address.postal_code"),
        ("/receiver_address/state", json!("かごしま県"), "receiver_address.state"),
        ("/receiver_address/city", json!("  "), "receiver_address.city"),
        ("/receiver_address/name", json!("a\u{7}b"), "receiver_address.name"),
        ("/receiver_address/address1", json!("長".repeat(256)), "receiver_address.address1"),
        ("/sender_address/honorific", json!("様"), "sender_address.honorific"),
        ("/receiver_address/nickname", json!("たろう"), "receiver_address.nickname"),
        ("/colour", json!("red"), "colour"),
        ("/reply_letterpack", json!([]), "reply_letterpack"),
        ("/reply_letterpack", json!({"size": "big"}), "reply_letterpack.size"),
        ("/reply_letterpack", json!({"address": {"name": "x"}}), "reply_letterpack.address.postal_code"),
        ("/files", json!([]), "files"),
        ("/files", json!({}), "files"),
        ("/files", Value::from(vec![file("x.pdf", 1); 11]), "files"),
        ("/files", json!([file("x.pdf", 1), file("x.pdf", 1)]), "files.1.file_name"),
        ("/files/0", json!("letter.pdf"), "files.0"),
        ("/files/0/file_name", json!(""), "files.0.file_name"),
        ("/files/0/file_name", json!("../letter.pdf"), "files.0.file_name"),
        ("/files/0/page_count", json!(0), "files.0.page_count"),
        ("/files/0/page_count", json!(2001), "files.0.page_count"),
        ("/files/0/page_count", json!(1.0), "files.0.page_count"),
        ("/files/0/page_count", json!("1"), "files.0.page_count"),
        ("/files/0/page_count", json!(-1), "files.0.page_count"),
        ("/files/0/paper_size", json!("a3"), "files.0.paper_size"),
        ("/files/0/color", json!("sepia"), "files.0.color"),
        ("/files/0/duplex", json!(true), "files.0.duplex"),
        ("/files/0/staple", json!("everywhere"), "files.0.staple"),
        ("/files/0/bind", json!("yes"), "files.0.bind"),
        ("/files/0/margin", json!(3), "files.0.margin"),
    ];
    let required = [
        ("/shipping_method", "shipping_method"),
        ("/sender_address", "sender_address"),
        ("/receiver_address", "receiver_address"),
        ("/files", "files"),
        ("/sender_address/postal_code", "sender_address.postal_code"),
        ("/sender_address/name", "sender_address.name"),
        ("/receiver_address/state", "receiver_address.state"),
        ("/receiver_address/city", "receiver_address.city"),
        ("/receiver_address/address1", "receiver_address.address1"),
        ("/receiver_address/honorific", "receiver_address.honorific"),
        ("/files/0/file_name", "files.0.file_name"),
        ("/files/0/page_count", "files.0.page_count"),
        ("/files/0/color", "files.0.color"),
        ("/files/0/duplex", "files.0.duplex"),
    ];
    rows.extend(required.map(|(pointer, path)| (pointer, missing.clone(), path)));
    rows
}

/// Sets what a pointer names; null removes it.
fn spoil(body: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = body.pointer_mut(parent).unwrap();
    if let Value::Array(items) = parent {
        items[key.parse::<usize>().unwrap()] = value;
    } else if value.is_null() {
        parent.as_object_mut().unwrap().remove(key);
    } else {
        parent[key] = value;
    }
}

#[tokio::test]
async fn each_mistake_is_named_by_its_path() {
    let service = Service::start().await;
    for (pointer, value, path) in mistakes() {
        let mut body = letter();
        spoil(&mut body, pointer, value.clone());
        let found = problem(service.try_create(&body).await, 400, "invalid_request").await;
        let paths: Vec<&str> = found.errors.iter().map(|error| error.path.as_str()).collect();
        // An address with nothing but a name lacks more than one thing; every other row is one mistake.
        let alone = paths.len() == 1 || path.starts_with("reply_letterpack.address");
        assert!(paths.contains(&path) && alone, "{pointer} = {value}: {path} was expected, not {paths:?}");
        assert!(found.errors.iter().all(|error| !error.message.is_empty()));
    }
}

#[tokio::test]
async fn all_mistakes_are_told_at_once() {
    let service = Service::start().await;
    let mut body = letter();
    for (pointer, value) in [
        ("/shipping_method", json!("pigeon")),
        ("/sender_address/postal_code", json!("x")),
        ("/files/0/page_count", json!(0)),
        ("/extra", json!(1)),
    ] {
        spoil(&mut body, pointer, value);
    }
    let found = problem(service.try_create(&body).await, 400, "invalid_request").await;
    let mut paths: Vec<String> = found.errors.into_iter().map(|error| error.path).collect();
    paths.sort();
    assert_eq!(paths, ["extra", "files.0.page_count", "sender_address.postal_code", "shipping_method"]);
}

#[tokio::test]
async fn staple_and_bind_exclude_each_other_and_defaults_are_shown() {
    let service = Service::start().await;
    let mut body = letter();
    body["files"][0]["bind"] = json!(true);
    let mail = service.create(&body).await;
    let file = &service.read(&mail.id).await.contents.unwrap()[0];
    assert_eq!((file.paper_size.as_deref(), file.staple.as_ref(), file.bind), (Some("a4"), None, Some(true)));
    body["files"][0]["staple"] = json!("top-left");
    let found = problem(service.try_create(&body).await, 400, "invalid_request").await;
    assert_eq!(found.errors[0].path, "files.0.bind");
}

#[tokio::test]
async fn every_method_and_option_is_taken() {
    let service = Service::start().await;
    for method in ["letterpack-lite", "letterpack-plus"] {
        let mut body = letter();
        body["shipping_method"] = json!(method);
        body.as_object_mut().unwrap().remove("shipping_options");
        service.create(&body).await;
    }
    for option in ["express", "trackable", "simple-registered", "normal-registered"] {
        let mut body = letter();
        body["shipping_options"] = json!([option]);
        service.create(&body).await;
    }
}

#[tokio::test]
async fn a_reply_letterpack_is_enclosed_with_and_without_address() {
    let service = Service::start().await;
    let mut body = letter();
    let none = service.create(&body).await;
    let shown: Value = service.get(&format!("/v1/mails/{}", none.id)).await.json().await.unwrap();
    assert_eq!(shown.get("reply_letterpack"), Some(&Value::Null));
    for given in [json!({}), json!({"address": address("返送 係")})] {
        body["reply_letterpack"] = given.clone();
        let mail = service.create(&body).await;
        let shown: Value = service.get(&format!("/v1/mails/{}", mail.id)).await.json().await.unwrap();
        assert_eq!(shown["reply_letterpack"], given);
    }
}

#[tokio::test]
async fn the_largest_mail_is_taken_and_one_sheet_more_is_over_weight() {
    let service = Service::start().await;
    let files = |pages: usize, duplex: &str| {
        let mut file = file("a.pdf", pages);
        file["duplex"] = json!(duplex);
        file
    };
    service.create(&letter_of(&[files(1990, "double")])).await;
    service.create(&letter_of(&[files(995, "single")])).await;
    let mut ten: Vec<Value> = (0..10).map(|n| file(&format!("{n}.pdf"), 199)).collect();
    // Ten files of 199 pages are 1,990 pages, as one file would be.
    service.create(&letter_of(&ten)).await;
    ten[9] = file("9.pdf", 200);
    let over = service.try_create(&letter_of(&ten)).await;
    problem(over, 422, "over_weight").await;
    problem(service.try_create(&letter_of(&[files(1991, "double")])).await, 422, "over_weight").await;
    problem(service.try_create(&letter_of(&[files(996, "single")])).await, 422, "over_weight").await;
}

#[tokio::test]
async fn without_a_card_nothing_is_created() {
    let service = Service::start().await;
    service.set_card("none").await;
    problem(service.try_create(&letter()).await, 402, "card_not_registered").await;
    // The body is looked at first.
    problem(service.try_create(&json!({})).await, 400, "invalid_request").await;
    service.set_card("declining").await;
    service.create(&letter()).await;
}

#[tokio::test]
async fn bodies_that_are_no_json_object_are_refused() {
    let service = Service::start().await;
    let twice = letter().to_string().replacen("\"shipping_method\"", "\"files\":[],\"shipping_method\"", 1);
    for body in ["", "{", "[]", "null", "\"text\"", "{\"a\":1,}", "\u{feff}{}", &twice] {
        let request = service.api(Method::POST, "/v1/mails").header("content-type", "application/json");
        let answer = request.body(body.to_owned()).send().await.unwrap();
        problem(answer, 400, "invalid_request").await;
    }
    let untyped = service.api(Method::POST, "/v1/mails").body(letter().to_string()).send().await.unwrap();
    problem(untyped, 400, "invalid_request").await;
}
