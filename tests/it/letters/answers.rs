//! Every error of the service and every row of the confirm table, over HTTP: what the daemon does.
//! docs/design/exactly-once.md has the same as a table.

use chrono::TimeDelta;
use mailchute::domain::letter::{AccountProblem, Command, Fact, Reason};
use mailchute::outside::store::Desk;
use serde_json::{Value, json};

use crate::rigs::office::Office;

/// An answer to the next call of an endpoint: a problem with this code, or a bare status.
fn answer(endpoint: &str, status: u16, code: &str) -> Value {
    let problem =
        json!({"type": format!("https://x/problems/{code}"), "title": "x", "status": status, "code": code});
    json!({
        "endpoint": endpoint, "fault": "status", "status": status,
        "body": if code.is_empty() { "<html>".to_owned() } else { problem.to_string() },
        "content_type": if code.is_empty() { "text/html" } else { "application/problem+json" },
    })
}

fn paused(desk: &Desk) -> Option<String> {
    desk.paused().unwrap().first().map(|row| row.pause.cause.to_string())
}

const POSTED: [&str; 5] = ["admitted", "created", "uploaded", "intended", "confirmed"];

async fn office_with(fault: Value) -> Office {
    let mut office = Office::open().await;
    office.settle().await;
    office.service.order(fault).await;
    office.submit(&[1]);
    office.settle().await;
    office
}

#[tokio::test]
async fn what_a_create_that_fails_does() {
    let held = "Nothing was posted; cancel it before it is sent again";
    // status, code, state, note has, account paused
    let rows = [
        (400, "invalid_request", "held", held, None),
        (422, "over_weight", "held", held, None),
        (422, "something_new", "held", held, None),
        (402, "card_not_registered", "admitted", "no card", Some(AccountProblem::CardNotRegistered)),
        (
            402,
            "something_new",
            "admitted",
            "payment",
            Some(AccountProblem::OtherPayment("something_new".into())),
        ),
        (404, "account_not_found", "admitted", "exist", Some(AccountProblem::AccountNotFound)),
        (404, "", "admitted", "answered 404", None),
        (429, "", "admitted", "answered 429", None),
        (500, "internal_server_error", "admitted", "answered 500 internal_server_error", None),
        (503, "", "admitted", "answered 503", None),
        (418, "", "admitted", "answered 418", None),
        (200, "", "admitted", "answered 200", None),
        (301, "", "admitted", "answered 301", None),
    ];
    for (status, code, state, note, problem) in rows {
        let mut office = office_with(answer("create", status, code)).await;
        let row = office.row(1);
        assert_eq!(row.state, state, "{status} {code}");
        assert!(
            row.note.as_ref().is_some_and(|found| found.contains(note)),
            "{status} {code}: {:?}",
            row.note
        );
        assert_eq!(paused(&office.desk()), problem.map(|problem| problem.to_string()), "{status} {code}");
        // The next answer is a good one: what waits goes on by itself, what is held waits for a person.
        if state == "held" {
            assert!(office.ask(1, Command::Release).await.starts_with("released"));
        } else {
            office.go_on_for(TimeDelta::minutes(15)).await;
        }
        assert_eq!(&office.facts(1)[..1], &POSTED[..1], "{status} {code}");
        assert_eq!(office.state(1), "confirmed", "{status} {code}");
        assert_eq!(paused(&office.desk()), None, "{status} {code}");
        office.check().await;
    }
}

/// What is recorded of a confirm that got this answer once, and what is noted.
async fn confirm_answered(fault: Value) -> (Office, Vec<&'static str>) {
    let office = office_with(fault).await;
    let facts = office.facts(1).split_off(4);
    (office, facts)
}

#[tokio::test]
async fn what_an_answer_to_confirm_does() {
    // status, code, facts at once, facts until it is posted, account paused
    type Row = (u16, &'static str, &'static [&'static str], &'static [&'static str], Option<AccountProblem>);
    let rows: [Row; 15] = [
        (409, "mail_already_confirmed", &["confirmed"], &["confirmed"], None),
        (409, "payment_in_progress", &[], &["confirmed"], None),
        (404, "mail_not_found", &["gone"], &["gone", "confirmed"], None),
        (404, "account_not_found", &[], &["confirmed"], Some(AccountProblem::AccountNotFound)),
        (
            402,
            "something_new",
            &[],
            &["confirmed"],
            Some(AccountProblem::OtherPayment("something_new".into())),
        ),
        (
            422,
            "file_not_uploaded",
            &["files_missing"],
            &["files_missing", "uploaded_again", "confirmed"],
            None,
        ),
        (500, "internal_server_error", &[], &["confirmed"], None),
        (502, "", &[], &["confirmed"], None),
        (503, "", &[], &["confirmed"], None),
        (429, "", &[], &["confirmed"], None),
        (400, "something_new", &[], &["confirmed"], None),
        (404, "", &[], &["confirmed"], None),
        (200, "", &[], &["confirmed"], None),
        (302, "", &[], &["confirmed"], None),
        (409, "something_new", &[], &["confirmed"], None),
    ];
    for (status, code, at_once, whole, problem) in rows {
        let mut fault = answer("confirm", status, code);
        // This one is no lie.
        fault["after_work"] = json!(code == "mail_already_confirmed");
        let (mut office, facts) = confirm_answered(fault).await;
        assert_eq!(facts, at_once, "{status} {code}");
        assert_eq!(paused(&office.desk()), problem.map(|problem| problem.to_string()), "{status} {code}");
        office.go_on_for(TimeDelta::seconds(40)).await;
        assert_eq!(&office.facts(1)[4..], whole, "{status} {code}");
        // Only ever the one mail.
        assert_eq!(office.mails().await.len(), 1);
        office.check().await;
    }
}

#[tokio::test]
async fn a_confirm_without_an_answer_is_sent_again_on_the_same_id() {
    for fault in ["lose_reply", "cut", "truncate_reply"] {
        let fault = json!({"endpoint": "confirm", "fault": fault});
        let (mut office, facts) = confirm_answered(fault).await;
        assert!(facts.is_empty());
        office.go_on_for(TimeDelta::seconds(10)).await;
        assert_eq!(office.facts(1), POSTED);
        office.check().await;
    }
}

#[tokio::test]
async fn waits_between_confirms_are_those_of_the_table() {
    let mut fault = answer("confirm", 500, "internal_server_error");
    fault["times"] = json!(6);
    let (mut office, _) = confirm_answered(fault).await;
    let mut waits = Vec::new();
    while office.state(1) == "confirming" {
        let next = office.row(1).due_at.unwrap();
        waits.push((next - office.clock.now()).num_milliseconds());
        let step = (next - office.clock.now()).num_milliseconds();
        office.clock.move_by(TimeDelta::milliseconds(step)).unwrap();
        office.service.advance(&format!("{step}ms")).await;
        office.settle().await;
    }
    let around = [2000, 5000, 15_000, 30_000, 60_000, 60_000];
    assert_eq!(waits.len(), around.len());
    for (wait, around) in waits.into_iter().zip(around) {
        assert!(
            (around * 79 / 100..=around * 121 / 100).contains(&wait),
            "{wait} ms instead of about {around}"
        );
    }
    let fault = json!({"endpoint": "confirm", "fault": "payment_in_progress"});
    let (office, _) = confirm_answered(fault).await;
    let wait = (office.row(1).due_at.unwrap() - office.clock.now()).num_milliseconds();
    assert!((3000..=10_000).contains(&wait), "{wait} ms");
    let mut fault = answer("confirm", 503, "");
    fault["retry_after"] = json!(90);
    let (office, _) = confirm_answered(fault).await;
    let wait = (office.row(1).due_at.unwrap() - office.clock.now()).num_seconds();
    assert_eq!(wait, 90);
}

#[tokio::test]
async fn the_service_gets_no_more_simultaneous_calls_than_configured() {
    let mut office = Office::open().await;
    for _letter in 0..6 {
        office.submit(&[1]);
    }
    office.at_once = 2;
    office.restart();
    office.service.order(json!({"endpoint": "create", "fault": "delay", "delay_ms": 1000, "times": 6})).await;
    let begun = std::time::Instant::now();
    office.settle().await;
    assert!(begun.elapsed().as_secs() >= 3, "three times two calls of a second: {:?}", begun.elapsed());
    assert_eq!(office.states(), [("confirmed".to_owned(), 6)].into());
    office.check().await;
}

#[tokio::test]
async fn a_declined_card_pauses_the_account_once_and_the_letter_waits_for_proof() {
    let mut office = Office::open().await;
    office.service.set_card("declining").await;
    for _letter in 0..3 {
        office.submit(&[1]);
    }
    office.at_once = 1;
    office.restart();
    office.settle().await;
    assert_eq!(paused(&office.desk()), Some(AccountProblem::CardDeclined.to_string()));
    assert_eq!(office.states(), [("confirming".to_owned(), 1), ("admitted".to_owned(), 2)].into());
    // A probe after ten minutes is declined too; nobody is told again.
    office.go_on_for(TimeDelta::minutes(11)).await;
    assert_eq!(office.states()["confirming"], 2);
    let alerts = "SELECT count(*) FROM owed WHERE notice = 'account_paused'";
    let db = rusqlite::Connection::open(office.dir.path().join("mailchute.db")).unwrap();
    assert_eq!(db.query_row(alerts, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    office.service.set_card("ok").await;
    office.go_on_for(TimeDelta::hours(2)).await;
    assert_eq!(office.states(), [("confirmed".to_owned(), 3)].into());
    assert_eq!(paused(&office.desk()), None);
    assert_eq!(
        office.facts(1)[3..],
        ["intended", "gone", "gone", "gone", "dead", "created", "uploaded", "intended", "confirmed", "seen"],
        "it is looked at once more as soon as the card is good"
    );
    office.check().await;
}

#[tokio::test]
async fn documents_the_service_will_not_take_are_held_once_that_is_proved() {
    for (name, spoil) in [("page_count_mismatch", 7), ("invalid_file", 0)] {
        let mut office = Office::open().await;
        if spoil > 0 {
            office.submit_as(&[1], |order| order.documents[0].pages = spoil);
        } else {
            office.submit_bytes(b"no PDF at all");
        }
        office.settle().await;
        assert_eq!(office.facts(1)[4..], ["never_postable"], "{name}");
        assert_eq!(office.state(1), "withdrawing");
        office.go_on_for(TimeDelta::hours(1)).await;
        let proof = office.facts(1).split_off(5);
        assert!(proof.iter().filter(|fact| **fact != "gone").eq(["dead"].iter()), "{name}: {proof:?}");
        let held = office.letter(1).state.hold().cloned();
        assert!(matches!(&held, Some(Reason::NeverPostable(why)) if why.contains(name)), "{held:?}");
        assert!(office.row(1).note.unwrap().contains("cancel it before it is sent again"));
        office.check().await;
    }
}

#[tokio::test]
async fn a_mail_that_can_not_be_read_before_its_confirmation_is_read_again() {
    let mut office = office_with(answer("read", 404, "mail_not_found")).await;
    assert_eq!(office.facts(1).len(), 3);
    office.go_on_for(TimeDelta::seconds(10)).await;
    assert_eq!(office.facts(1), POSTED);
    office.check().await;
}

#[tokio::test]
async fn what_an_answer_to_cancel_does() {
    // Stopped in time.
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    assert!(office.ask(1, Command::Cancel).await.contains("asked to cancel"));
    assert_eq!(office.facts(1)[5..], ["withdrawal_asked", "cancelled"]);
    // 500 and a lost answer: asked again until it is definite, "already cancelled" too.
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    office.service.order(answer("cancel", 500, "internal_server_error")).await;
    office.service.order(json!({"endpoint": "cancel", "fault": "lose_reply"})).await;
    office.ask(1, Command::Cancel).await;
    assert_eq!(office.state(1), "confirmed");
    office.go_on_for(TimeDelta::minutes(1)).await;
    assert_eq!(office.facts(1)[5..], ["withdrawal_asked", "seen", "cancelled"]);
    office.check().await;
    // Too late, in both ways.
    for (minutes, code) in [(31, "the time for cancelling is over"), (0, "being packed")] {
        let mut office = Office::open().await;
        office.submit(&[1]);
        office.settle().await;
        office.pass(minutes).await;
        if minutes == 0 {
            office.service.order(answer("cancel", 409, "mail_not_cancellable")).await;
        }
        office.ask(1, Command::Cancel).await;
        let last = office.history(1).into_iter().rfind(|fact| matches!(fact, Fact::NotWithdrawn { .. }));
        assert!(last.unwrap().to_string().contains(code));
        assert_eq!(office.state(1), "confirmed");
        office.check().await;
    }
}

#[tokio::test]
async fn a_letter_whose_cancel_is_never_answered_is_followed_all_the_same() {
    let never = || {
        let mut fault = answer("cancel", 500, "internal_server_error");
        fault["times"] = json!(100_000);
        fault
    };
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    office.service.order(never()).await;
    office.ask(1, Command::Cancel).await;
    office.go_on_for(TimeDelta::days(10)).await;
    assert_eq!(office.facts(1)[5..7], ["withdrawal_asked", "seen"]);
    assert!(office.facts(1).contains(&"not_withdrawn"));
    assert_eq!(office.state(1), "shipped");
    office.check().await;
    // The reads between delay no cancel: it is repeated after 2, 6 and 14 s.
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    let mut thrice = answer("cancel", 500, "internal_server_error");
    thrice["times"] = json!(3);
    office.service.order(thrice).await;
    office.ask(1, Command::Cancel).await;
    office.go_on_for(TimeDelta::seconds(30)).await;
    assert_eq!(office.state(1), "cancelled");
    office.check().await;
    // The first one was carried out.
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    office.service.order(json!({"endpoint": "cancel", "fault": "lose_reply"})).await;
    office.service.order(never()).await;
    office.ask(1, Command::Cancel).await;
    office.go_on_for(TimeDelta::minutes(1)).await;
    assert_eq!(office.facts(1)[5..], ["withdrawal_asked", "cancelled"]);
    office.check().await;
}
