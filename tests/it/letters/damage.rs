//! Records lost, broken or put back in the middle of posting: nothing is posted twice, and whoever
//! asks about a letter of which nothing is certain is told not to send it again.

use std::path::PathBuf;

use chrono::TimeDelta;
use mailchute::outside::store::{AccountCommand, Desk, Elsewhere, Store, StoreError};
use serde_json::json;

use crate::rigs::files::{copy_tree, stands_here};
use crate::rigs::office::Office;

const DO_NOT: &str = "do not send it again";

/// Letters in every stage: shipped soon, answer to confirm unknown, cancelled, uploaded, admitted.
async fn in_the_middle() -> Office {
    let mut office = Office::open().await;
    office.submit(&[1]);
    office.settle().await;
    office.submit(&[1]);
    office.settle().await;
    office.ask(2, mailchute::domain::letter::Command::Cancel).await;
    // The third is confirmed, and nobody here knows.
    office.service.order(json!({"endpoint": "confirm", "fault": "lose_reply"})).await;
    office.submit(&[1]);
    office.settle().await;
    office.service.order(json!({"endpoint": "read", "fault": "cut"})).await;
    office.submit(&[1]);
    office.settle().await;
    office.service.order(json!({"endpoint": "create", "fault": "lose_reply"})).await;
    office.submit(&[1]);
    office.settle().await;
    let states: Vec<_> = (1..=5).map(|number| office.state(number)).collect();
    assert_eq!(states, ["confirmed", "cancelled", "confirming", "uploaded", "admitted"]);
    office
}

fn database(office: &Office) -> PathBuf {
    office.dir.path().join("mailchute.db")
}

/// The state directory as a power cut at this moment leaves it.
fn power_cut(office: &mut Office) {
    let left = tempfile::tempdir().unwrap();
    copy_tree(office.dir.path(), left.path());
    office.stop();
    stands_here(left.path());
    office.dir = left;
}

/// Goes on to the end; all that is known of every letter is true.
async fn goes_on(office: &mut Office) {
    office.go_on_for(TimeDelta::hours(2)).await;
    office.check().await;
}

#[tokio::test]
async fn a_lost_database_is_made_anew_from_the_ledger() {
    for size in [None, Some(0), Some(100), Some(5000), Some(20_000)] {
        let mut office = in_the_middle().await;
        power_cut(&mut office);
        match size {
            None => {
                for ending in ["", "-wal", "-shm"] {
                    std::fs::remove_file(format!("{}{ending}", database(&office).display())).unwrap();
                }
            }
            Some(size) => {
                let wal = office.dir.path().join("mailchute.db-wal");
                std::fs::remove_file(wal).unwrap();
                std::fs::OpenOptions::new()
                    .write(true)
                    .open(database(&office))
                    .unwrap()
                    .set_len(size)
                    .unwrap();
            }
        }
        let report = office.start();
        assert!(report.from_ledger > 15 && report.held.is_empty(), "{size:?}: {report:?}");
        goes_on(&mut office).await;
        let states: Vec<_> = (1..=5).map(|number| office.state(number)).collect();
        assert_eq!(states, ["confirmed", "cancelled", "confirmed", "confirmed", "confirmed"], "{size:?}");
    }
}

#[tokio::test]
async fn one_flipped_byte_anywhere_in_the_database_posts_nothing_twice_and_loses_nothing() {
    const PLACES: usize = 41;
    let mut damaged = 0;
    for place in 0..PLACES {
        let mut office = in_the_middle().await;
        office.stop();
        let mut bytes = std::fs::read(database(&office)).unwrap();
        let at = bytes.len() * place / PLACES + place;
        bytes[at] ^= 0x10;
        std::fs::write(database(&office), bytes).unwrap();
        damaged += usize::from(office.start().put_aside.is_some());
        goes_on(&mut office).await;
        for number in [1, 3, 4, 5] {
            assert_eq!(office.state(number), "confirmed", "letter {number}, byte {at}");
        }
    }
    assert!((3..PLACES).contains(&damaged), "{damaged} times the database was seen to be damaged");
}

/// A large database is not read whole at each start. After an end in error it is, or letters that have ended could end
/// the daemon again and again.
#[tokio::test]
async fn a_large_database_with_a_damaged_letter_is_made_anew_after_an_end_in_error() {
    let mut office = in_the_middle().await;
    power_cut(&mut office);
    let damage = "CREATE TABLE padding (bytes BLOB); INSERT INTO padding VALUES (zeroblob(68000000));
        DROP TRIGGER facts_never_change; UPDATE fact SET line_check = 'x' WHERE letter = 2 AND n = 1;
        PRAGMA wal_checkpoint(TRUNCATE)";
    let db = rusqlite::Connection::open(database(&office)).unwrap();
    db.execute_batch(damage).unwrap();
    // Only the ledger's last file is read at each start.
    let next: i64 = db.query_row("SELECT max(seq) + 1 FROM fact", [], |row| row.get(0)).unwrap();
    drop(db);
    std::fs::write(office.dir.path().join(format!("spool/ledger/{next:012}.log")), "").unwrap();
    assert_eq!(office.start().put_aside, None, "it has ended, so no start reads it");
    office.stop();
    std::fs::write(office.dir.path().join("mailchute.db.doubted"), "").unwrap();
    assert!(office.start().put_aside.is_some());
    goes_on(&mut office).await;
    let states: Vec<_> = (1..=5).map(|number| office.state(number)).collect();
    assert_eq!(states, ["confirmed", "cancelled", "confirmed", "confirmed", "confirmed"]);
}

/// A newer program updates the tables, and one row can't be taken over.
#[tokio::test]
async fn an_older_database_with_a_damaged_row_is_made_anew() {
    let mut office = in_the_middle().await;
    let before = office.states();
    office.stop();
    let db = rusqlite::Connection::open(database(&office)).unwrap();
    // As version 18 was, as far as its last step is concerned.
    let older = "DROP INDEX letter_counted; DROP INDEX letter_rested;
        ALTER TABLE letter DROP COLUMN counted;
        CREATE INDEX letter_counted ON letter (source); CREATE INDEX letter_changed ON letter (changed_at);
        CREATE TRIGGER letter_is_new AFTER INSERT ON letter BEGIN SELECT 1; END;
        CREATE TRIGGER letter_is_another AFTER UPDATE ON letter BEGIN SELECT 1; END;
        CREATE TRIGGER letter_is_gone AFTER DELETE ON letter BEGIN SELECT 1; END;
        PRAGMA user_version = 18;
        PRAGMA ignore_check_constraints = ON; UPDATE letter SET urgency = 7 WHERE number = 2";
    db.execute_batch(older).unwrap();
    drop(db);
    let report = office.start();
    assert!(report.put_aside.is_some() && !report.commands_lost, "{report:?}");
    assert_eq!(office.states(), before);
    goes_on(&mut office).await;
    let states: Vec<_> = (1..=5).map(|number| office.state(number)).collect();
    assert_eq!(states, ["confirmed", "cancelled", "confirmed", "confirmed", "confirmed"]);
}

/// A start that makes the database anew is killed in its middle: the next one does it wholly, and what only the
/// damaged database had is not forgotten.
#[tokio::test]
async fn a_rebuild_that_was_cut_short_is_begun_anew() {
    for moved in [false, true] {
        let mut office = in_the_middle().await;
        let before = office.states();
        let desk = Desk::open(office.dir.path()).unwrap();
        desk.order_account("main", AccountCommand::Pause, office.clock.now()).unwrap();
        drop(desk);
        office.stop();
        let aside = office.dir.path().join("mailchute.db.damaged-20261120T000000");
        std::fs::write(
            office.dir.path().join("mailchute.db.rebuilding"),
            "mailchute.db.damaged-20261120T000000",
        )
        .unwrap();
        if moved {
            std::fs::rename(database(&office), &aside).unwrap();
            // Tables, and nothing in them yet.
            let old = rusqlite::Connection::open(&aside).unwrap();
            let new = rusqlite::Connection::open(database(&office)).unwrap();
            let mut tables = old.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").unwrap();
            let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
            for sql in tables.map(Result::unwrap) {
                new.execute_batch(&sql).unwrap();
            }
            let version: i64 = old.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
            new.pragma_update(None, "user_version", version).unwrap();
        }
        let report = office.start();
        assert_eq!(report.put_aside.as_deref(), Some(aside.as_path()), "moved: {moved}");
        assert!(!report.commands_lost && report.from_ledger > 15 && report.held.is_empty(), "{report:?}");
        assert_eq!(office.states(), before);
        let open = Desk::open(office.dir.path()).unwrap().totals(office.clock.now()).unwrap().orders;
        assert_eq!(open, 1, "the pause is still to be carried out");
        assert!(!office.dir.path().join("mailchute.db.rebuilding").exists());
        assert_eq!(office.restart().put_aside, None);
    }
}

#[tokio::test]
async fn an_older_copy_of_the_database_is_brought_up_to_date() {
    for with_wal in [false, true] {
        let mut office = Office::open().await;
        office.submit(&[1]);
        office.settle().await;
        office.restart();
        let old = std::fs::read(database(&office)).unwrap();
        office.stop();
        // The rest happens after the copy was made.
        office.start();
        office.service.order(json!({"endpoint": "confirm", "fault": "lose_reply", "skip": 1})).await;
        for _letter in 0..3 {
            office.submit(&[1]);
        }
        office.settle().await;
        power_cut(&mut office);
        std::fs::write(database(&office), &old).unwrap();
        if !with_wal {
            std::fs::remove_file(office.dir.path().join("mailchute.db-wal")).unwrap();
            std::fs::remove_file(office.dir.path().join("mailchute.db-shm")).unwrap();
        }
        let report = office.start();
        assert!(with_wal || report.from_ledger >= 3 * 4, "{report:?}");
        assert!(report.held.is_empty());
        for n in 1..=4 {
            let (row, state) = (office.row(n), office.state(n));
            let is_followed = ["confirming", "confirmed"].contains(&state);
            assert_eq!((row.state.as_str(), row.due_at.is_some()), (state, is_followed), "letter {n}");
        }
        goes_on(&mut office).await;
        assert_eq!(office.states()["confirmed"], 4, "with -wal: {with_wal}");
    }
}

#[tokio::test]
async fn a_lost_or_damaged_ledger_alone_holds_nobody_up() {
    for how in ["deleted", "cut", "flipped", "empty"] {
        let mut office = in_the_middle().await;
        office.stop();
        let file = office.dir.path().join("spool/ledger/000000000001.log");
        let mut bytes = std::fs::read(&file).unwrap();
        match how {
            "deleted" => std::fs::remove_file(&file).unwrap(),
            "cut" => std::fs::write(&file, &bytes[..bytes.len() * 2 / 3]).unwrap(),
            "empty" => std::fs::write(&file, b"").unwrap(),
            _flipped => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                std::fs::write(&file, &bytes).unwrap();
            }
        }
        let report = office.start();
        assert!(report.held.is_empty(), "{how}: {report:?}");
        assert_eq!(report.damage.is_some(), how == "flipped");
        office.go_on_for(TimeDelta::hours(2)).await;
        assert_eq!(office.states()["confirmed"], 4, "{how}");
        if how != "flipped" {
            office.check().await;
            // And the ledger has it all again.
            office.stop();
            std::fs::remove_file(database(&office)).unwrap();
            assert!(office.start().held.is_empty());
            assert_eq!(office.states()["confirmed"], 4, "{how}");
        }
    }
}

#[tokio::test]
async fn when_both_records_lack_something_what_is_unfinished_is_held_as_uncertain() {
    for how in ["database lost, ledger flipped", "both lost"] {
        let mut office = in_the_middle().await;
        office.stop();
        std::fs::remove_file(database(&office)).unwrap();
        let file = office.dir.path().join("spool/ledger/000000000001.log");
        if how == "both lost" {
            std::fs::remove_file(&file).unwrap();
        } else {
            let mut bytes = std::fs::read(&file).unwrap();
            let end = bytes.len() * 3 / 4;
            bytes[end] ^= 1;
            std::fs::write(&file, &bytes).unwrap();
        }
        let report = office.start();
        assert!(!report.held.is_empty());
        office.go_on_for(TimeDelta::hours(2)).await;
        let rows = office.desk().letters(None, None, 100).unwrap();
        assert_eq!(rows.len(), 5, "{how}");
        for row in rows {
            if row.state == "held" {
                assert!(row.note.as_ref().unwrap().contains(DO_NOT), "{how}: {row:?}");
                let answer = office.ask(row.letter.0, mailchute::domain::letter::Command::Release).await;
                assert!(answer.starts_with("no:"), "{how}: {answer}");
            } else {
                assert!(
                    ["confirmed", "cancelled", "shipped"].contains(&row.state.as_str()),
                    "{how}: {row:?}"
                );
            }
        }
        // What the service posted before stays the only thing that was posted.
        let posted =
            office.mails().await.into_values().filter(|(_, events)| events.contains_key("authorized"));
        assert_eq!(posted.count(), 3, "{how}");
    }
}

#[tokio::test]
async fn records_put_back_from_a_backup_need_to_be_told_and_then_touch_nothing_unfinished() {
    let mut office = in_the_middle().await;
    office.restart();
    let backup = tempfile::tempdir().unwrap();
    office.stop();
    copy_tree(office.dir.path(), backup.path());
    office.start();
    goes_on(&mut office).await;
    office.stop();
    office.dir = backup;
    let report = office.start_after(true);
    assert_eq!(report.held.iter().map(|number| number.0).collect::<Vec<_>>(), [3, 4, 5]);
    office.go_on_for(TimeDelta::hours(2)).await;
    for number in [3, 4, 5] {
        assert!(office.row(number).note.unwrap().contains(DO_NOT));
    }
    let posted = office.mails().await.into_values().filter(|(_, events)| events.contains_key("authorized"));
    assert_eq!(posted.count(), 5);
}

#[tokio::test]
async fn what_was_submitted_before_the_backup_is_not_posted_again_after_it() {
    let mut office = Office::open().await;
    office.stop();
    office.submit(&[1]);
    let backup = tempfile::tempdir().unwrap();
    copy_tree(office.dir.path(), backup.path());
    office.start();
    goes_on(&mut office).await;
    office.stop();
    office.dir = backup;
    office.start_after(true);
    office.go_on_for(TimeDelta::hours(2)).await;
    assert!(office.row(1).note.unwrap().contains(DO_NOT));
    let posted = office.mails().await.into_values().filter(|(_, events)| events.contains_key("authorized"));
    assert_eq!(posted.count(), 1);
}

#[tokio::test]
async fn people_s_orders_and_pauses_outlive_a_crash_and_a_damaged_database() {
    for how in ["ledger ahead", "one fact damaged"] {
        let mut office = in_the_middle().await;
        let sql = |office: &Office, sql: &str| {
            rusqlite::Connection::open(database(office)).unwrap().execute_batch(sql).unwrap();
        };
        if how == "ledger ahead" {
            let old = std::fs::read(database(&office)).unwrap();
            assert!(!old.is_empty());
            power_cut(&mut office);
            // The last commit is gone; the ledger has its facts.
            sql(
                &office,
                "PRAGMA wal_checkpoint(TRUNCATE); DROP TRIGGER facts_are_never_deleted;
                 DELETE FROM fact WHERE letter = 4 AND n = 2;
                 UPDATE letter SET facts = 2, state = 'created' WHERE number = 4",
            );
        } else {
            power_cut(&mut office);
            sql(
                &office,
                "DROP TRIGGER facts_never_change; UPDATE fact SET line_check = 'x' WHERE letter = 4 AND n = 1",
            );
        }
        let cancel = office.order(5, mailchute::domain::letter::Command::Cancel);
        let now = office.clock.now();
        office.desk().order_account("main", mailchute::outside::store::AccountCommand::Pause, now).unwrap();
        let report = office.start();
        assert_eq!((report.dropped, report.commands_lost), (0, false), "{how}");
        office.go_on_for(TimeDelta::minutes(2)).await;
        assert_eq!(office.state(5), "withdrawn", "{how}: order {cancel}");
        assert_eq!(office.desk().paused().unwrap().len(), 1, "{how}");
        office.check().await;
    }
}

#[tokio::test]
async fn records_of_another_place_a_newer_program_or_in_use_are_refused() {
    let mut office = Office::open().await;
    let now = office.clock.now();
    let refused = |office: &Office| Store::open(office.dir.path(), now, false).map(drop).unwrap_err();
    assert!(matches!(refused(&office), StoreError::InUse(_)));
    office.stop();
    let db = rusqlite::Connection::open(database(&office)).unwrap();
    std::fs::write(office.dir.path().join("spool/ledger/place"), "inode 1\n").unwrap();
    let error = refused(&office);
    let is_expected = matches!(error, StoreError::Copied { what: Elsewhere::Copy, .. });
    assert!(is_expected && error.to_string().contains("--after-restore"), "{error}");
    drop(Store::open(office.dir.path(), now, true).unwrap());
    drop(Store::open(office.dir.path(), now, false).unwrap());
    db.pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(refused(&office), StoreError::Newer { found: 99, .. }));
}
