//! What people ask, what accounts suffer, and credentials that change.

use chrono::TimeDelta;
use mailchute::domain::letter::{Command, Fact, Number, Reason};
use mailchute::outside::store::AccountCommand;
use serde_json::json;

use crate::rigs::office::Office;

#[tokio::test]
async fn hold_release_retry_and_cancel_before_anything_is_posted() {
    let mut office = Office::open().await;
    office.settle().await;
    office.service.order(json!({"endpoint": "create", "fault": "cut", "times": 2})).await;
    office.submit(&[1]);
    office.submit(&[1]);
    office.settle().await;
    assert!(office.ask(1, Command::Hold).await.starts_with("held"));
    assert!(office.ask(1, Command::Retry).await.starts_with("no: it is held"));
    assert!(office.ask(2, Command::Cancel).await.starts_with("cancelled: nothing was"));
    office.go_on_for(TimeDelta::hours(1)).await;
    assert_eq!((office.state(1), office.state(2)), ("held", "withdrawn"));
    assert_eq!(office.letter(1).state.hold(), Some(&Reason::ByPerson));
    assert!(office.ask(1, Command::Release).await.starts_with("released"));
    assert_eq!(office.state(1), "confirmed");
    assert!(office.ask(1, Command::Hold).await.starts_with("no: it is posted"));
    assert!(office.ask(2, Command::Retry).await.starts_with("no: it has ended"));
    office.check().await;
}

#[tokio::test]
async fn a_command_during_a_call_is_obeyed_before_the_next_one() {
    for (endpoint, never) in
        [("create", "uploaded"), ("upload", "confirm_attempted"), ("read", "confirm_attempted")]
    {
        let mut office = Office::open().await;
        office.settle().await;
        office.service.order(json!({"endpoint": endpoint, "fault": "delay", "delay_ms": 2_000})).await;
        office.submit(&[1]);
        let (desk, now) = (office.desk(), office.clock.now());
        let faults = format!("{}/faults", office.service.welcome.places.control_url);
        let faults = office.service.http.get(faults);
        let during_the_call = async {
            while faults.try_clone().unwrap().send().await.unwrap().text().await.unwrap().contains("delay") {}
            desk.order(Number(1), Command::Cancel, now).unwrap()
        };
        let (_, order) = tokio::join!(office.settle(), during_the_call);
        let answer = desk.answer(order).unwrap().unwrap();
        assert!(answer.text.starts_with("cancelled: nothing was"), "{endpoint}: {}", answer.text);
        office.go_on_for(TimeDelta::hours(1)).await;
        assert_eq!(office.state(1), "withdrawn", "{endpoint}");
        let mails = office.mails().await;
        assert_eq!(mails.len(), 1, "{endpoint}");
        assert!(mails.values().all(|(_, events)| !events.contains_key(never)), "{endpoint}: {mails:?}");
        office.check().await;
    }
}

#[tokio::test]
async fn a_cancel_while_nobody_knows_whether_it_is_posted_never_confirms_again() {
    // Was the lost confirm carried out or not? Cancelled if it was, withdrawn if not.
    for (fault, end) in [("lose_reply", "cancelled"), ("cut", "withdrawn")] {
        let mut office = Office::open().await;
        office.service.order(json!({"endpoint": "confirm", "fault": fault})).await;
        office.submit(&[1]);
        office.settle().await;
        assert!(office.ask(1, Command::Cancel).await.contains("asked to cancel"));
        office.go_on_for(TimeDelta::hours(1)).await;
        assert_eq!(office.state(1), end, "{fault}");
        let attempts = office
            .mails()
            .await
            .into_values()
            .map(|(_, events)| events.get("confirm_attempted").copied().unwrap_or_default());
        assert_eq!(attempts.sum::<usize>(), usize::from(fault == "lose_reply"), "{fault}");
        office.check().await;
    }
}

#[tokio::test]
async fn an_intent_without_an_answer_alarms_after_a_quarter_of_an_hour_and_is_held_after_a_day() {
    let mut office = Office::open().await;
    let fault = json!({"endpoint": "confirm", "fault": "status", "status": 500, "times": 100_000});
    office.service.order(fault).await;
    let reading = json!({"endpoint": "read", "fault": "status", "status": 500, "times": 100_000, "skip": 1});
    office.service.order(reading).await;
    office.submit(&[1]);
    let db = rusqlite::Connection::open(office.dir.path().join("mailchute.db")).unwrap();
    let told = |notice: &str| -> i64 {
        let sql = "SELECT count(*) FROM owed WHERE notice = ?1";
        db.query_row(sql, [notice], |row| row.get(0)).unwrap()
    };
    office.go_on_for(TimeDelta::minutes(14)).await;
    assert_eq!(told("stuck"), 0);
    office.go_on_for(TimeDelta::minutes(10)).await;
    assert_eq!((told("stuck"), office.state(1)), (1, "confirming"));
    office.go_on_for(TimeDelta::hours(25)).await;
    assert_eq!((told("stuck"), told("held"), office.state(1)), (1, 1, "held"));
    assert!(office.row(1).note.unwrap().contains("do not send it again"));
    // Still asked, and once the service answers, it is proved and said.
    office.service.control(reqwest::Method::DELETE, "faults", json!({})).await;
    office.go_on_for(TimeDelta::hours(3)).await;
    assert!(office.row(1).note.unwrap().contains("cancel it before it is sent again"));
    assert!(office.ask(1, Command::Release).await.starts_with("released"));
    assert_eq!(office.state(1), "confirmed");
    office.check().await;
}

/// A service may forget what it posted long ago; the letter here was posted, and its answer was lost.
#[tokio::test]
async fn two_times_not_found_months_later_prove_nothing() {
    for (days, is_proof) in [(3, true), (60, false)] {
        let mut office = Office::open().await;
        let lost = if is_proof { "cut" } else { "lose_reply" };
        office.service.order(json!({"endpoint": "confirm", "fault": lost})).await;
        office.submit(&[1]);
        office.settle().await;
        assert_eq!(office.state(1), "confirming");
        office.stop();
        // Nobody was there until the service had forgotten it.
        let away = TimeDelta::days(days);
        office.clock.move_by(away).unwrap();
        office.service.advance(&format!("{days}days")).await;
        let gone = json!({
            "type": "https://x/problems/mail_not_found", "title": "x", "status": 404, "code": "mail_not_found",
        });
        for endpoint in ["confirm", "read", "cancel"] {
            let fault = json!({
                "endpoint": endpoint, "fault": "status", "status": 404, "times": if is_proof { 1 } else { 100_000 },
                "body": gone.to_string(), "content_type": "application/problem+json",
            });
            office.service.order(fault).await;
        }
        office.start();
        office.go_on_for(TimeDelta::days(2)).await;
        if is_proof {
            assert!(office.facts(1).contains(&"dead"), "{:?}", office.facts(1));
            continue;
        }
        assert!(!office.facts(1).contains(&"dead"), "{:?}", office.facts(1));
        assert_eq!(office.state(1), "held");
        assert!(office.row(1).note.unwrap().contains("do not send it again"));
        assert_eq!(office.history(1).iter().filter(|fact| matches!(fact, Fact::Intended { .. })).count(), 1);
        office.service.control(reqwest::Method::DELETE, "faults", json!({})).await;
        office.check().await;
    }
}

#[tokio::test]
async fn a_paused_account_begins_nothing_and_finishes_what_may_be_posted() {
    let mut office = Office::open().await;
    office.service.order(json!({"endpoint": "confirm", "fault": "cut"})).await;
    office.submit(&[1]);
    office.settle().await;
    let pause = office.desk().order_account("main", AccountCommand::Pause, office.clock.now()).unwrap();
    office.submit(&[1]);
    office.go_on_for(TimeDelta::hours(5)).await;
    assert_eq!((office.state(1), office.state(2)), ("confirmed", "admitted"));
    assert!(!office.desk().answer(pause).unwrap().unwrap().refused);
    office.desk().order_account("main", AccountCommand::Resume, office.clock.now()).unwrap();
    office.settle().await;
    assert_eq!(office.state(2), "confirmed");
    office.check().await;
}

#[tokio::test]
async fn a_pause_also_stops_what_is_uploaded_and_not_intended_yet() {
    let mut office = Office::open().await;
    office.settle().await;
    office.service.order(json!({"endpoint": "read", "fault": "cut"})).await;
    office.submit(&[1]);
    office.settle().await;
    assert_eq!(office.state(1), "uploaded");
    office.desk().order_account("main", AccountCommand::Pause, office.clock.now()).unwrap();
    office.go_on_for(TimeDelta::minutes(10)).await;
    assert_eq!(office.state(1), "uploaded");
    // In the end its time is over; nothing was intended, so nothing is lost.
    office.go_on_for(TimeDelta::hours(1)).await;
    assert_eq!((office.state(1), office.letter(1).intents), ("admitted", 0));
    office.desk().order_account("main", AccountCommand::Resume, office.clock.now()).unwrap();
    office.settle().await;
    assert_eq!(office.state(1), "confirmed");
    office.check().await;
}

#[tokio::test]
async fn another_account_s_credentials_decide_nothing_about_an_open_intent() {
    let mut office = Office::open().await;
    office.service.order(json!({"endpoint": "confirm", "fault": "lose_reply"})).await;
    office.submit(&[1]);
    office.settle().await;
    assert_eq!(office.state(1), "confirming");
    let own = office.credentials.clone();
    office.credentials = office.other_account().await;
    office.restart();
    office.submit(&[1]);
    office.go_on_for(TimeDelta::hours(3)).await;
    assert_eq!(office.letter(1).state.hold(), Some(&Reason::OtherAccount));
    assert!(office.row(1).note.unwrap().contains("do not send it again"));
    // Letters that begin now go by the new account.
    assert_eq!(office.state(2), "confirmed");
    // What was posted by the other one can't be followed, and that is said.
    office.credentials = own.clone();
    office.restart();
    office.go_on_for(TimeDelta::days(5)).await;
    assert!(office.row(2).note.unwrap().contains("another account's credentials"));
    assert!(office.ask(2, Command::Cancel).await.contains("another account's credentials"));
    office.credentials = own;
    office.restart();
    office.go_on_for(TimeDelta::hours(3)).await;
    assert_eq!(office.facts(1)[4..6], ["held", "confirmed"]);
}

#[tokio::test]
async fn a_service_that_is_down_is_asked_seldom_and_everything_goes_on_when_it_is_back() {
    let mut office = Office::open().await;
    office.settle().await;
    let down = json!({"endpoint": "create", "fault": "cut", "times": 100_000});
    office.service.order(down).await;
    for _letter in 0..30 {
        office.submit(&[1]);
    }
    office.go_on_for(TimeDelta::hours(6)).await;
    let faults = office.service.control(reqwest::Method::GET, "faults", json!({})).await;
    let left: serde_json::Value = faults.json().await.unwrap();
    let asked = 100_000 - left["waiting"][0]["times"].as_u64().unwrap();
    assert!(asked < 1000, "{asked} requests in six hours");
    office.service.control(reqwest::Method::DELETE, "faults", json!({})).await;
    office.go_on_for(TimeDelta::minutes(40)).await;
    assert_eq!(office.states(), [("confirmed".to_owned(), 30)].into());
    office.check().await;
}

#[tokio::test]
async fn a_letter_costs_few_requests_and_one_that_never_leaves_is_told() {
    let mut office = Office::open().await;
    // Faults that never hit count the calls that pass before them.
    for endpoint in ["create", "upload", "read", "confirm"] {
        office.service.order(json!({"endpoint": endpoint, "fault": "cut", "skip": 1000})).await;
    }
    office.submit(&[1]);
    office.go_on_for(TimeDelta::days(12)).await;
    assert_eq!(office.state(1), "shipped");
    let waiting = office.service.control(reqwest::Method::GET, "faults", json!({})).await;
    let waiting: serde_json::Value = waiting.json().await.unwrap();
    let calls = waiting["waiting"].as_array().unwrap().iter();
    let calls: u64 = calls.map(|order| 1000 - order["skip"].as_u64().unwrap()).sum();
    assert!(calls <= 6, "{calls} calls for one letter");
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    office.service.order(json!({"endpoint": "read", "fault": "stale", "times": 1000})).await;
    office.go_on_for(TimeDelta::days(8)).await;
    assert!(office.row(1).note.unwrap().contains("should have shipped"));
    office.check().await;
}
