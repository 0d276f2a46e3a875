//! What the database refuses whoever asks.

use chrono::TimeDelta;
use mailchute::domain::letter::{Change, Due, Fact, Number};
use mailchute::outside::store::{Record, RecordError, Store};

use crate::rigs::office::Office;

fn change(facts: Vec<Fact>) -> Change {
    Change { facts, due: Due::Never, attempts: 0, trouble: None, owed: vec![], account: None, answer: None }
}

#[tokio::test]
async fn facts_are_final_and_a_second_live_intent_is_refused_by_the_database_itself() {
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    let db = rusqlite::Connection::open(office.dir.path().join("mailchute.db")).unwrap();
    for (sql, why) in [
        ("UPDATE fact SET line = '{}' WHERE seq = 1", "a fact never changes"),
        // Struck it may be, and altered under that pretext not.
        (
            "UPDATE fact SET line = json_set(line, '$.fact.admitted.order.receiver.address.city', 'x')
             WHERE seq = 1",
            "a fact never changes",
        ),
        (
            "UPDATE fact SET line = json_set(line, '$.fact.admitted.order.receiver.address.name', '',
                 '$.fact.admitted.order.documents[0].sha256', 'x') WHERE seq = 1",
            "a fact never changes",
        ),
        (
            "UPDATE fact SET line = json_set(line, '$.fact.admitted.order.receiver.address.name', '',
                 '$.fact.admitted.order.account', 'x') WHERE seq = 1",
            "a fact never changes",
        ),
        ("DELETE FROM fact WHERE seq = 1", "a fact is never deleted"),
        ("UPDATE mail SET intent_at = 5 WHERE intent_at IS NOT NULL", "an intent is final"),
        ("UPDATE mail SET intent_at = NULL", "an intent is final"),
        (
            "INSERT INTO mail (letter, k, id, realm, confirm_by, intent_at) VALUES (1, 2, 'x', 'x', 0, 0)",
            "UNIQUE constraint failed: mail.letter",
        ),
        ("UPDATE letter SET state = 'posted'", "CHECK constraint failed"),
        (
            "INSERT INTO fact (seq, letter, n, line, line_check) VALUES (99, 1, 0, '{}', '')",
            "UNIQUE constraint",
        ),
    ] {
        let error = db.execute(sql, []).unwrap_err().to_string();
        assert!(error.contains(why), "{sql}: {error}");
    }
    office.check().await;
}

#[tokio::test]
async fn whoever_has_not_seen_every_fact_writes_none() {
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    office.stop();
    let now = office.clock.now();
    let (store, _) = Store::open(office.dir.path(), now, false).unwrap();
    let letter = store.letter(Number(1)).unwrap().unwrap();
    let record = |facts| Record { letter: letter.clone(), change: change(facts), at: now, order: None };
    store.record(record(vec![Fact::WithdrawalAsked])).await.unwrap();
    let late = store.record(record(vec![Fact::WithdrawalAsked])).await.unwrap_err();
    assert!(matches!(late, RecordError::Stale(Number(1))), "{late}");
    // Nor does a fact that can't follow get in, whole or in part.
    let letter = store.letter(Number(1)).unwrap().unwrap();
    let facts = vec![Fact::NotWithdrawn { mail: 1, why: "x".into() }, Fact::Released];
    let record = Record { letter: letter.clone(), change: change(facts), at: now, order: None };
    assert!(matches!(store.record(record).await.unwrap_err(), RecordError::Contradiction(..)));
    assert_eq!(store.letter(Number(1)).unwrap().unwrap(), letter);
}

/// While another program holds the database, changes gather for one commit.
#[tokio::test]
async fn of_changes_that_are_written_together_only_those_that_fail_are_left_out() {
    let mut office = Office::open().await;
    for pages in 1..=4 {
        office.submit(&[pages]);
    }
    office.settle().await;
    office.stop();
    let now = office.clock.now();
    let (store, _) = Store::open(office.dir.path(), now, false).unwrap();
    let asked = |number, facts| {
        let letter = store.letter(Number(number)).unwrap().unwrap();
        store.record(Record { letter, change: change(facts), at: now, order: None })
    };
    // They leave their state, so what is left out must not count either.
    let fine = || vec![Fact::Cancelled { mail: 1, by_us: true }];
    let wrong = vec![Fact::WithdrawalAsked, Fact::NotWithdrawn { mail: 7, why: "x".into() }];
    let holder = rusqlite::Connection::open(office.dir.path().join("mailchute.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (first, stale, second, contradiction, third, ()) = tokio::join!(
        asked(1, fine()),
        asked(1, fine()),
        asked(2, fine()),
        asked(3, wrong),
        asked(4, fine()),
        async { holder.execute_batch("COMMIT").unwrap() }
    );
    assert!(first.is_ok() && second.is_ok() && third.is_ok());
    assert!(matches!(stale.unwrap_err(), RecordError::Stale(Number(1))));
    assert!(matches!(contradiction.unwrap_err(), RecordError::Contradiction(Number(3), _)));
    let facts = |number| store.letter(Number(number)).unwrap().unwrap().facts;
    let counts = [1, 2, 3, 4].map(facts);
    assert_eq!(counts, [counts[2] + 1, counts[2] + 1, counts[2], counts[2] + 1]);
    store.close();
    drop(store);
    let problems = office.desk().audit().unwrap().problems;
    assert!(!problems.iter().any(|problem| problem.contains("count")), "{problems:?}");
    let (_store, report) = Store::open(office.dir.path(), now, false).unwrap();
    assert_eq!((report.from_ledger, report.from_database, report.damage), (0, 0, None), "they agree");
    assert_eq!(report.held, []);
}

#[tokio::test]
async fn what_is_due_comes_earlier_when_the_clock_was_set_back() {
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    let due = office.row(1).due_at.unwrap();
    office.stop();
    let now = office.clock.now();
    let (store, _) = Store::open(office.dir.path(), now, false).unwrap();
    store.bring_forward(TimeDelta::seconds(20), now).await.unwrap();
    assert_eq!(office.row(1).due_at, Some(due - TimeDelta::seconds(20)));
    store.bring_forward(TimeDelta::days(3), now).await.unwrap();
    assert_eq!(office.row(1).due_at.map(|due| due.timestamp_millis()), Some(now.timestamp_millis()));
}

#[tokio::test]
async fn a_clock_that_was_set_back_is_noticed_at_one_start_only() {
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    office.stop();
    let now = office.clock.now();
    let (store, _) = Store::open(office.dir.path(), now, false).unwrap();
    let seen = || store.last_recorded().unwrap().map(|at| at.timestamp_millis());
    let earlier = now - TimeDelta::days(3);
    assert!(seen().unwrap() > earlier.timestamp_millis());
    store.bring_forward(TimeDelta::days(3), earlier).await.unwrap();
    assert_eq!(seen(), Some(earlier.timestamp_millis()), "the next start finds it set back again");
    // What is recorded from then on counts.
    let letter = store.letter(Number(1)).unwrap().unwrap();
    let later = earlier + TimeDelta::minutes(5);
    let change = change(vec![Fact::WithdrawalAsked]);
    store.record(Record { letter, change, at: later, order: None }).await.unwrap();
    assert_eq!(seen(), Some(later.timestamp_millis()));
}
