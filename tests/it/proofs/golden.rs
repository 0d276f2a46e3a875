//! The table State × Outcome, as the shipped decisions make it: the documentation of the letter's
//! machine. After a deliberate change, put the new text into `tests/it/proofs/golden.txt` and read the diff.

use std::fmt::Write as _;
use std::sync::Arc;

use chrono::TimeDelta;
use mailchute::domain::letter::{
    Abandonment, AccountProblem, CancelAnswer, Command, ConfirmAnswer, CreateAnswer, Due, Evidence, Fact,
    GoneAnswer, Letter, Mail, Moment, Notice, Number, Outcome, ReadAnswer, Reading, Realm, Reason, Retry,
    Shown, Start, Status, Trouble, UploadAnswer,
};

use crate::proofs::model::{noon, order};

fn mail() -> Mail {
    Mail {
        k: 1,
        id: "m1".into(),
        realm: Realm("one".into()),
        contents: vec!["c1".into()],
        ships_at: noon() + TimeDelta::days(3),
        confirm_by: noon() + TimeDelta::minutes(30),
        upload_until: noon() + TimeDelta::minutes(5),
        confirm_until: noon() + TimeDelta::minutes(30),
    }
}

const POSTING_TIME: &str = "admitted, waits for others";

/// Every state by the facts that lead to it.
fn states() -> Vec<(&'static str, Vec<Fact>)> {
    let created = vec![Fact::Created(Box::new(mail()))];
    let with = |before: &[Fact], fact: Fact| [before, &[fact]].concat();
    let uploaded = with(&created, Fact::Uploaded { mail: 1, document: 0 });
    let confirming = with(&uploaded, Fact::Intended { mail: 1, window: 1800 });
    let gone = |late| Fact::Gone { mail: 1, answer: GoneAnswer::NotFound, late };
    let withdrawing = with(&confirming, Fact::WithdrawalAsked);
    let confirmed = with(&confirming, Fact::Confirmed { mail: 1 });
    let never = Fact::NeverPostable { mail: 1, why: "why".into() };
    let shipped = Fact::Shipped { mail: 1, at: noon(), tracking: None };
    vec![
        ("admitted", vec![]),
        (POSTING_TIME, vec![]),
        ("created", created),
        ("uploaded", uploaded),
        ("confirming, files missing", with(&confirming, Fact::FilesMissing { mail: 1 })),
        ("confirming, early key", with(&confirming, gone(false))),
        ("confirming, late key", with(&confirming, gone(true))),
        ("confirming, held", with(&confirming, Fact::Held(Reason::NoAnswer))),
        ("never postable", with(&confirming, never)),
        ("confirming", confirming),
        ("withdrawing, late key", with(&withdrawing, gone(true))),
        ("withdrawing", withdrawing),
        ("confirmed, cancel asked", with(&confirmed, Fact::WithdrawalAsked)),
        ("shipped, no number yet", with(&confirmed, shipped)),
        ("cancelled", with(&confirmed, Fact::Cancelled { mail: 1, by_us: true })),
        ("confirmed", confirmed),
        ("withdrawn", vec![Fact::Withdrawn]),
        ("held (safe)", vec![Fact::Held(Reason::ByPerson)]),
        ("held (unknown)", vec![Fact::Held(Reason::Restored)]),
        ("closed", vec![Fact::Held(Reason::Restored), Fact::Closed]),
    ]
}

fn reading(status: Status, as_meant: bool) -> Outcome {
    Outcome::Read(ReadAnswer::Found(Box::new(Reading {
        status,
        cancellable: status == Status::Confirmed,
        created_at: noon(),
        confirm_by: noon() + TimeDelta::minutes(30),
        ships_at: noon() + TimeDelta::days(3),
        shipped_at: None,
        tracking: (status == Status::Shipped).then(|| "1234".to_owned()),
        shown: Shown { method: (!as_meant).then(|| "letterpack-plus".to_owned()), ..Shown::default() },
    })))
}

fn outcomes() -> Vec<(&'static str, Outcome)> {
    let early = Evidence { server: Some(noon() + TimeDelta::minutes(34)), watched: TimeDelta::days(9) };
    let late = Evidence { server: Some(noon() + TimeDelta::minutes(35)), watched: TimeDelta::zero() };
    let three_days = TimeDelta::days(3) + TimeDelta::minutes(30);
    let days_late = Evidence {
        server: Some(noon() + three_days + TimeDelta::milliseconds(1)),
        watched: TimeDelta::zero(),
    };
    let unwatched = Evidence { server: None, watched: TimeDelta::minutes(35) };
    let watched = Evidence { server: None, watched: TimeDelta::minutes(36) };
    let confirm = Outcome::Confirm;
    let cancel = Outcome::Cancel;
    let trouble = Outcome::Trouble;
    let later = Trouble::Later { soonest: Some(noon() + TimeDelta::hours(2)), why: "busy".into() };
    let mut outcomes = vec![
        ("create: made", Outcome::Create(CreateAnswer::Made(Box::new(mail())))),
        ("create: refused", Outcome::Create(CreateAnswer::Refused("why".into()))),
        ("upload: taken", Outcome::Upload(UploadAnswer::Taken { document: 0 })),
        ("upload: targets lost", Outcome::Upload(UploadAnswer::TargetsLost)),
        ("upload: refused", Outcome::Upload(UploadAnswer::Refused("why".into()))),
        ("upload: spool damaged", Outcome::Upload(UploadAnswer::Damaged { document: 0 })),
        ("upload again: taken", Outcome::UploadAgain(UploadAnswer::Taken { document: 0 })),
        ("read: pending, as meant", reading(Status::Pending, true)),
        ("read: pending, another", reading(Status::Pending, false)),
        ("read: confirmed", reading(Status::Confirmed, true)),
        ("read: confirmed, another", reading(Status::Confirmed, false)),
        ("read: cancelled", reading(Status::Cancelled, true)),
        ("read: shipped", reading(Status::Shipped, true)),
        ("read: 404 early", Outcome::Read(ReadAnswer::NotFound(early))),
        ("read: 404 late", Outcome::Read(ReadAnswer::NotFound(late))),
        ("read: 404 days late", Outcome::Read(ReadAnswer::NotFound(days_late))),
        ("confirm: 204 or already", confirm(ConfirmAnswer::Confirmed)),
        ("confirm: payment in progress", confirm(ConfirmAnswer::PaymentInProgress)),
        ("confirm: declined", confirm(ConfirmAnswer::Declined(early))),
        ("confirm: 404 early", confirm(ConfirmAnswer::NotFound(early))),
        ("confirm: 404 late", confirm(ConfirmAnswer::NotFound(late))),
        ("confirm: 404 days late", confirm(ConfirmAnswer::NotFound(days_late))),
        ("confirm: 404, no Date, 35 min", confirm(ConfirmAnswer::NotFound(unwatched))),
        ("confirm: 404, no Date, 36 min", confirm(ConfirmAnswer::NotFound(watched))),
        ("confirm: files missing", confirm(ConfirmAnswer::FilesMissing)),
        ("confirm: never postable", confirm(ConfirmAnswer::NeverPostable("why".into()))),
        ("cancel: 204 or already", cancel(CancelAnswer::Cancelled)),
        ("cancel: not cancellable", cancel(CancelAnswer::NotCancellable)),
        ("cancel: window expired", cancel(CancelAnswer::WindowExpired)),
        ("cancel: 404 late", cancel(CancelAnswer::NotFound(late))),
        ("unknown", trouble(Trouble::Unknown("why".into()))),
        ("later", trouble(later)),
        ("account trouble", trouble(Trouble::Account(AccountProblem::AccountNotFound))),
        ("abandon", Outcome::Abandon(Abandonment::TargetsExpired)),
        ("hold: other account", Outcome::Hold(Reason::OtherAccount)),
        ("wait", Outcome::Wait(noon() + TimeDelta::hours(1))),
        ("nothing", Outcome::Nothing),
        ("restored", Outcome::Restored),
    ];
    outcomes.extend(Command::ALL.map(|command| (command.word(), Outcome::Asked(command))));
    outcomes
}

fn table() -> String {
    let mut table = String::new();
    let moment = Moment {
        now: noon() + TimeDelta::minutes(1),
        jitter: 127,
        realm: Realm("one".into()),
        start: Start::Go,
        retry: Retry::default(),
    };
    for (name, facts) in states() {
        let mut letter = Letter::admitted(Number(1), String::new(), Arc::new(order(1)), noon());
        for fact in facts {
            letter.apply(&fact, noon()).unwrap();
        }
        letter.not_before = (name == POSTING_TIME).then(|| noon() + TimeDelta::hours(2));
        writeln!(table, "{name}: next {:?}", letter.next_step(&moment)).unwrap();
        for (what, outcome) in outcomes() {
            let change = letter.after(&outcome, &moment);
            let mut then = letter.clone();
            for fact in &change.facts {
                then.apply(fact, moment.now).unwrap_or_else(|error| panic!("{name}, {what}: {error}"));
            }
            let facts: Vec<&str> = change.facts.iter().map(Fact::word).collect();
            let due = match change.due {
                Due::Now => "now".to_owned(),
                Due::At(time) => format!("in {} s", (time - moment.now).num_seconds()),
                Due::Never => "never".to_owned(),
            };
            let owed = &change.owed;
            writeln!(
                table,
                "  {what:<30} {:<34} -> {:<12} {due:<11} {}",
                facts.join(" "),
                then.state.word(),
                if owed.is_empty() { String::new() } else { format!("owes {owed:?}") },
            )
            .unwrap();
        }
    }
    table.lines().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

#[test]
fn the_table_of_states_and_outcomes_is_as_it_is_kept() {
    let made = table();
    let kept = include_str!("golden.txt");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden.txt");
    std::fs::write(&path, &made).unwrap();
    for (number, (made, kept)) in made.lines().zip(kept.lines()).enumerate() {
        assert_eq!(made, kept, "line {} of golden.txt", number + 1);
    }
    assert_eq!(made.lines().count(), kept.lines().count(), "the whole table is in {}", path.display());
}

#[test]
fn what_is_not_posted_for_an_hour_although_it_was_tried_is_owed_to_operators() {
    let later = TimeDelta::hours(2);
    let unread = || Outcome::Trouble(Trouble::Later { soonest: None, why: "x".into() });
    let late = || Outcome::Abandon(Abandonment::TargetsExpired);
    let created = Fact::Created(Box::new(mail()));
    for (facts, not_before, attempts, minutes, outcome, is_owed) in [
        (vec![], None, 8, 60, unread(), true),
        (vec![], None, 7, 60, unread(), false),
        (vec![], None, 8, 59, unread(), false),
        (vec![], Some(later), 8, 179, unread(), false),
        (vec![], Some(later), 8, 180, unread(), true),
        (vec![created.clone()], None, 8, 60, unread(), true),
        (vec![created.clone()], None, 8, 60, late(), true),
        (vec![created], None, 7, 60, late(), false),
    ] {
        let mut order = order(1);
        order.not_before = not_before.map(|wait| noon() + wait);
        let mut letter = Letter::admitted(Number(1), "E".into(), Arc::new(order), noon());
        for fact in facts {
            letter.apply(&fact, noon()).unwrap();
        }
        letter.attempts = attempts;
        let now = noon() + TimeDelta::minutes(minutes);
        let realm = Realm("one".into());
        let moment = Moment { now, jitter: 0, realm, start: Start::Go, retry: Retry::default() };
        let owed = letter.after(&outcome, &moment).owed;
        assert_eq!(owed.contains(&Notice::Delayed), is_owed, "{attempts} {minutes} {outcome:?}");
    }
}

#[test]
fn a_letter_that_should_have_shipped_is_reported_also_while_it_is_being_cancelled() {
    let late = Evidence { server: Some(noon() + TimeDelta::days(7)), watched: TimeDelta::zero() };
    let answers = [reading(Status::Confirmed, true), Outcome::Read(ReadAnswer::NotFound(late))];
    for (name, facts) in states().into_iter().filter(|(name, _)| name.starts_with("confirmed")) {
        let mut letter = Letter::admitted(Number(1), String::new(), Arc::new(order(1)), noon());
        for fact in facts {
            letter.apply(&fact, noon()).unwrap();
        }
        // It ships after three days, and is reported after three more.
        for (hours, is_owed) in [(6 * 24 - 1, false), (6 * 24 + 1, true)] {
            let moment = Moment {
                now: noon() + TimeDelta::hours(hours),
                jitter: 127,
                realm: Realm("one".into()),
                start: Start::Go,
                retry: Retry::default(),
            };
            for answer in &answers {
                let owed = letter.after(answer, &moment).owed;
                assert_eq!(owed.contains(&Notice::Overdue), is_owed, "{name}, {hours} h, {answer:?}");
            }
        }
    }
}
