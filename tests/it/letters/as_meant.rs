//! I15: what is confirmed is what was meant, by every field that the service shows.

use std::sync::Arc;

use chrono::TimeDelta;
use mailchute::domain::letter::{
    Color, Command, Duplex, Fact, Letter, Method, Number, Order, Reading, Reason, ReplyLetterpack,
    ShippingOption, Shown, ShownAddress, Staple, Status,
};
use mailchute::sandbox::Options;
use serde_json::{Value, json};

use crate::proofs::model::{noon, order};
use crate::rigs::office::Office;

/// A letter that says something of everything a letter can say.
fn rich(order: &mut Order) {
    order.shipping.method = Method::Normal;
    order.receiver.address.name = "山田 太郎".into();
    order.receiver.address.address1 = "千代田1-1-1204".into();
    order.shipping.options = vec![ShippingOption::Express, ShippingOption::Trackable];
    order.reply_letterpack = Some(ReplyLetterpack { address: Some(order.sender.clone()) });
    let [one, two] = order.documents.as_mut_slice() else { panic!("two documents") };
    (one.print.color, one.print.staple) = (Color::Color, Some(Staple::TopLeft));
    (two.print.duplex, two.print.bind) = (Duplex::Single, true);
}

/// An office whose letter is at the service, not yet compared; and the mail as the service shows it.
async fn created(alter: impl FnOnce(&mut Order)) -> (Office, Value) {
    let mut office = Office::open().await;
    office.settle().await;
    office.service.order(json!({"endpoint": "read", "fault": "cut"})).await;
    office.submit_as(&[1, 3], alter);
    office.settle().await;
    let letter = office.letter(1);
    let id = letter.state.mail().unwrap_or_else(|| panic!("{:?}", letter.state)).id.clone();
    let shown = office.service.get(&format!("/v1/mails/{id}")).await.json().await.unwrap();
    (office, shown)
}

async fn answer_once(office: &Office, shown: &Value) {
    let fault = json!({
        "endpoint": "read", "fault": "status", "status": 200, "body": shown.to_string(),
        "content_type": "application/json",
    });
    office.service.order(fault).await;
}

/// What is said of a letter that the service shows so.
async fn said_of(office: &mut Office, shown: &Value, place: &str) -> String {
    answer_once(office, shown).await;
    office.go_on_for(TimeDelta::minutes(5)).await;
    let facts = office.facts(1);
    assert_eq!(facts[4..], ["abandoned", "held"], "{place}: {facts:?}");
    let letter = office.letter(1);
    let Some(Reason::NotAsMeant(what)) = letter.state.hold() else { panic!("{place}: {:?}", letter.state) };
    what.clone()
}

/// Where the service shows something else, and what is said of it.
fn alterations() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("/receiver_address/name", json!("鈴木 花子"), "the receiver's name differs"),
        ("/receiver_address/postal_code", json!("1000009"), "the receiver's postal code differs"),
        ("/receiver_address/state", json!("大阪府"), "the receiver's state differs"),
        ("/receiver_address/city", json!("x"), "the receiver's city differs"),
        ("/receiver_address/address1", json!("1-1"), "the receiver's address line differs"),
        ("/receiver_address/honorific", json!("殿"), "the receiver's honorific differs"),
        ("/sender_address/name", json!("Other"), "the sender's name is Other there, "),
        ("/sender_address/city", json!("x"), "the sender's city is x there, "),
        ("/reply_letterpack/address/name", json!("x"), "the reply letter pack's name is x there, "),
        ("/reply_letterpack", Value::Null, "it has no reply letter pack there, one here"),
        ("/shipping_method", json!("letterpack-lite"), "the method is letterpack-lite there, normal here"),
        ("/shipping_method", json!("pigeon"), "the method is pigeon there, normal here"),
        (
            "/shipping_options",
            json!(["trackable"]),
            "the options are trackable there, express, trackable here",
        ),
        ("/shipping_options", json!([]), "the options are none there, express, trackable here"),
        (
            "/shipping_options",
            json!(["express", "simple-registered"]),
            "the options are express, simple-registered there, express, trackable here",
        ),
        ("/contents", json!([]), "it has 0 documents there, 2 here"),
        ("/contents/0/page_count", json!(2), "of document 1 the number of pages is 2 there, 1 here"),
        (
            "/contents/1/file_name",
            json!("2-1.pdf"),
            "of document 2 the file name is 2-1.pdf there, 1-2.pdf here",
        ),
        ("/contents/0/paper_size", json!("a3"), "of document 1 the paper is a3 there, a4 here"),
        ("/contents/0/color", json!("grayscale"), "of document 1 the colour is grayscale there, color here"),
        ("/contents/1/color", json!("color"), "of document 2 the colour is color there, grayscale here"),
        (
            "/contents/0/duplex",
            json!("single"),
            "of document 1 the printing of sides is single there, double here",
        ),
        (
            "/contents/1/duplex",
            json!("double"),
            "of document 2 the printing of sides is double there, single here",
        ),
        (
            "/contents/0/staple",
            json!("top-right"),
            "of document 1 the staple is top-right there, top-left here",
        ),
        ("/contents/1/staple", json!("top-left"), "of document 2 the staple is top-left there, none here"),
        ("/contents/1/bind", json!(false), "of document 2 the binding is false there, true here"),
    ]
}

#[tokio::test]
async fn a_mail_that_is_not_as_meant_is_never_confirmed() {
    for (place, value, expected) in alterations() {
        let (mut office, mut shown) = created(rich).await;
        match shown.pointer_mut(place) {
            Some(old) => *old = value,
            // Not stapled or not bound: the field is not there.
            None => shown["contents"][1][place.rsplit('/').next().unwrap()] = value,
        }
        let what = said_of(&mut office, &shown, place).await;
        assert!(what.starts_with(expected), "{place}: {what}");
        assert!(!what.contains("山田") && !what.contains("花子") && !what.contains("1204"), "{what}");
        office.check().await;
    }
    // What was not ordered and is there is a difference as well.
    for (place, value, expected) in [
        ("reply_letterpack", json!({}), "it has a reply letter pack there, none here"),
        ("shipping_options", json!(["express"]), "the options are express there, none here"),
    ] {
        let (mut office, mut shown) = created(|_| {}).await;
        shown[place] = value;
        assert_eq!(said_of(&mut office, &shown, place).await, expected);
        office.check().await;
    }
}

#[tokio::test]
async fn what_is_not_shown_is_no_difference_nor_is_another_order_of_options() {
    let order_of_options = |shown: &mut Value| shown["shipping_options"] = json!(["trackable", "express"]);
    let (mut office, mut shown) = created(rich).await;
    order_of_options(&mut shown);
    answer_once(&office, &shown).await;
    office.go_on_for(TimeDelta::minutes(5)).await;
    assert_eq!(office.state(1), "confirmed");
    for is_null in [false, true] {
        let (mut office, mut shown) = created(rich).await;
        let decides = ["id", "status", "cancellable", "created_at", "scheduled_to_ship_at", "confirm_by"];
        let mut leave_out = |at: &str, keep: &[&str]| {
            let fields = shown.pointer_mut(at).unwrap().as_object_mut().unwrap();
            if is_null {
                fields.iter_mut().filter(|(key, _)| !keep.contains(&key.as_str())).for_each(|(_, value)| {
                    *value = Value::Null;
                });
            } else {
                fields.retain(|key, _| keep.contains(&key.as_str()));
            }
        };
        leave_out("/contents/0", &["id"]);
        leave_out("/contents/1", &["id"]);
        leave_out("/sender_address", &[]);
        leave_out("/receiver_address", &[]);
        answer_once(&office, &shown).await;
        office.go_on_for(TimeDelta::minutes(5)).await;
        assert_eq!(office.state(1), "confirmed", "null: {is_null}");
        let (mut office, mut shown) = created(|_| {}).await;
        shown.as_object_mut().unwrap().retain(|key, _| is_null || decides.contains(&key.as_str()));
        for (_, value) in
            shown.as_object_mut().unwrap().iter_mut().filter(|(key, _)| !decides.contains(&key.as_str()))
        {
            *value = Value::Null;
        }
        answer_once(&office, &shown).await;
        office.go_on_for(TimeDelta::minutes(5)).await;
        assert_eq!(office.state(1), "confirmed", "null: {is_null}, {:?}", office.letter(1).state);
        office.check().await;
    }
}

#[tokio::test]
async fn a_service_that_shows_no_more_than_it_promises_posts_cancels_and_ships() {
    let mut office = Office::with_service(Options { is_sparse: true, ..Options::default() }).await;
    office.submit_as(&[1, 3], rich);
    office.submit(&[1]);
    office.settle().await;
    assert_eq!([office.state(1), office.state(2)], ["confirmed"; 2]);
    let id = office.letter(1).state.mail().unwrap().id.clone();
    let shown: Value = office.service.get(&format!("/v1/mails/{id}")).await.json().await.unwrap();
    assert_eq!(shown["receiver_address"], json!({}));
    assert_eq!(shown["contents"][0].as_object().unwrap().keys().collect::<Vec<_>>(), ["id"]);
    office.ask(2, Command::Cancel).await;
    office.go_on_for(TimeDelta::days(5)).await;
    assert_eq!([office.state(1), office.state(2)], ["shipped", "cancelled"]);
    let events = office.service.events(&id).await;
    assert_eq!(events.iter().filter(|event| *event == "authorized").count(), 1, "{events:?}");
}

#[test]
fn a_receiver_that_is_struck_from_the_records_is_not_compared() {
    let letter = |order: Order| {
        let admitted = Fact::Admitted { entry: "e".to_owned(), order: Arc::new(order), queued: None };
        Letter::fold(Number(1), [(admitted, noon())]).unwrap().unwrap()
    };
    let receiver = ShownAddress { name: Some("鈴木 花子".to_owned()), ..ShownAddress::default() };
    let shown = Shown { receiver, method: Some("pigeon".to_owned()), ..Shown::default() };
    let reading = Reading {
        status: Status::Shipped,
        cancellable: false,
        created_at: noon(),
        confirm_by: noon(),
        ships_at: noon(),
        shipped_at: None,
        tracking: None,
        shown,
    };
    assert!(letter(order(1)).difference(&reading).unwrap().starts_with("the receiver's name"));
    // Everything else still is.
    assert!(letter(order(1).struck()).difference(&reading).unwrap().starts_with("the method is pigeon"));
}
