//! Twenty letters from the spool to their tracking numbers, with everything going wrong on the way.

use chrono::TimeDelta;
use serde_json::json;

use crate::rigs::office::Office;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_letters_are_posted_once_each_whatever_goes_wrong() {
    let mut office = Office::open().await;
    for _letter in 0..20 {
        office.submit(&[2, 1]);
    }
    let fault = |endpoint: &str, fault: &str, times: u32, skip: u32| {
        json!({
            "endpoint": endpoint, "fault": fault, "times": times, "skip": skip,
        })
    };
    for order in [
        fault("create", "lose_reply", 2, 1),
        fault("create", "cut", 2, 2),
        fault("upload", "lose_reply", 3, 5),
        fault("read", "truncate_reply", 2, 3),
        fault("confirm", "payment_in_progress", 5, 0),
        fault("confirm", "lose_reply", 4, 1),
        fault("confirm", "cut", 3, 1),
        json!({"endpoint": "confirm", "fault": "status", "status": 500, "after_work": true, "times": 3}),
        json!({"endpoint": "confirm", "fault": "status", "status": 500, "times": 2}),
        json!({"endpoint": "create", "fault": "status", "status": 503, "retry_after": 7, "times": 2}),
        json!({"endpoint": "upload", "fault": "status", "status": 503, "times": 2}),
        json!({"endpoint": "account", "fault": "status", "status": 500, "times": 1}),
        json!({"endpoint": "token", "fault": "status", "status": 500, "times": 1}),
        json!({"endpoint": "read", "fault": "delay", "delay_ms": 2500, "times": 1}),
    ] {
        office.service.order(order).await;
    }
    office.go_on_for(TimeDelta::minutes(20)).await;
    assert_eq!(office.states(), [("confirmed".to_owned(), 20)].into());
    // Tokens live an hour: they are long expired when the letters are followed.
    office.go_on_for(TimeDelta::days(12)).await;
    assert_eq!(office.states(), [("shipped".to_owned(), 20)].into());
    for number in 1..=20 {
        assert!(office.row(number).tracking.is_some(), "letter {number} has no tracking number");
    }
    // Billed after shipment.
    office.service.advance("5d").await;
    let posted = office.mails().await.into_values().filter(|(_, events)| events.contains_key("authorized"));
    let mut posted: Vec<_> =
        posted.map(|(letter, events)| (letter, events["authorized"], events["charged"])).collect();
    posted.sort_unstable();
    assert_eq!(posted, (1..=20).map(|letter| (letter, 1, 1)).collect::<Vec<_>>());
    office.check().await;
}
