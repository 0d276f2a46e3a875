//! What is kept: sealed PDFs beside their originals, and what is removed once its time is over.

use std::path::PathBuf;
use std::process::Stdio;

use chrono::TimeDelta;
use mailchute::outside::store::OriginalPlace;
use serde_json::{Value, json};

use super::mails::{room_with, ship};
use crate::letters::spool::opened;
use crate::rigs::mailroom::{Loop, Mailroom, RULES, SIDECAR};
use crate::rigs::postbox::Security;
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

fn with(more: &str) -> String {
    RULES.replace("rules:", &format!("{more}\nrules:"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sealed_pdf_lies_beside_its_original_wherever_that_goes() {
    let mut room = Mailroom::with(&with("keep: {sealed_pdf: true}")).await;
    room.drop("x 請求.pdf", 3);
    room.settled().await;
    room.pass(60).await;
    let sealed = format!("{}/x 請求.sealed.pdf", room.sent());
    assert_eq!(std::fs::read(room.path(&sealed)).unwrap(), pdf(3));
    let note = room.note(&format!("{}/x 請求.txt", room.sent()));
    assert!(note.contains("Sealed PDF: beside it; the same as was dropped"), "{note}");
    std::fs::rename(room.path(&format!("{}/x 請求.pdf", room.sent())), room.path("Cancel/x 請求.pdf"))
        .unwrap();
    room.settled().await;
    room.pass(60).await;
    assert_eq!(room.tree(), ["Cancelled/x 請求.pdf", "Cancelled/x 請求.sealed.pdf", "Cancelled/x 請求.txt"]);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_document_of_a_subfolder_has_its_sealed_pdf() {
    let rules = with("letter: subfolder\nkeep: {sealed_pdf: true}");
    let mut room = Mailroom::with(&rules).await;
    let made = room.dir.path().join("made");
    std::fs::create_dir(&made).unwrap();
    std::fs::write(made.join("1.pdf"), pdf(1)).unwrap();
    std::fs::write(made.join("2.pdf"), pdf(2)).unwrap();
    std::fs::rename(&made, room.path("x")).unwrap();
    room.settled().await;
    room.pass(60).await;
    for n in [1, 2] {
        let sealed = std::fs::read(room.path(&format!("{}/x.{n}.sealed.pdf", room.sent()))).unwrap();
        assert_eq!(sealed, pdf(n), "document {n}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_sealed_pdf_is_cut_at_the_end_of_a_character() {
    let mut room = Mailroom::with(&with("keep: {sealed_pdf: true}")).await;
    // 255 bytes, so the longer name of the sealed PDF has no room for all of it.
    room.drop(&format!("x1{}.pdf", "請".repeat(83)), 1);
    room.settled().await;
    room.pass(60).await;
    let sealed = format!("{}/x1{}.sealed.pdf", room.sent(), "請".repeat(75));
    assert!(room.tree().contains(&sealed), "{:?}", room.tree());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_pdf_that_is_another_is_told() {
    let (mut room, postbox) = room_with(Security::Plain, &with("keep: {sealed_pdf: true}"), "").await;
    let fault = json!({"endpoint": "download", "fault": "status", "status": 200, "body": "another",
        "content_type": "application/pdf"});
    room.service.order(fault).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    room.pass(60).await;
    room.pass(600).await;
    let note = room.note(&format!("{}/x.txt", room.sent()));
    assert!(note.contains("NOT the same as was dropped"), "{note}");
    assert_eq!(postbox.subjects("admin@example.jp"), ["[mailchute] 1 letter(s) need to be looked at"]);
    let alert = postbox.got().pop().unwrap();
    assert!(alert.text.contains("is not the one that was uploaded") && !alert.text.contains("山田"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_long_enough_is_removed_and_the_history_says_so() {
    let rules = with("keep: {sealed_pdf: true, spool: 10d, originals: 40d}");
    let mut room = Mailroom::with(&rules).await;
    room.drop("x.pdf", 1);
    room.drop("x person.pdf", 2);
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.drop("side.pdf", 3);
    std::fs::write(room.path("broken.pdf"), "no PDF").unwrap();
    room.settled().await;
    ship(&mut room).await;
    let spooled = || std::fs::read_dir(room.dir.path().join("state/spool/letters")).unwrap().count();
    assert_eq!(spooled(), 3);
    let sent = room.sent();
    assert!(room.tree().iter().any(|name| name.ends_with("/side.pdf.yaml")), "{:?}", room.tree());
    // A person has put another file in the place of an original.
    let taken: Vec<String> = room.tree().into_iter().filter(|name| name.contains("x person.pdf")).collect();
    std::fs::write(room.path(&taken[0]), "mine").unwrap();
    room.pass(11 * 86_400).await;
    let spooled = std::fs::read_dir(room.dir.path().join("state/spool/letters")).unwrap().count();
    assert_eq!(spooled, 0);
    assert!(room.tree().iter().any(|name| name.ends_with("/x.pdf")), "{sent}: {:?}", room.tree());
    room.pass(31 * 86_400).await;
    let left = ["Rejected/broken.pdf", "Rejected/broken.txt", taken[0].as_str()];
    assert_eq!(room.tree(), left, "what is a person's stays, and what became no letter");
    // The file system may give its inode to another file.
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    let sql = "SELECT place, inode FROM original WHERE name = CAST('x.pdf' AS BLOB)";
    let removed: (String, Option<i64>) = db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(removed, ("gone".to_owned(), None));
    let history: Vec<String> = room
        .desk()
        .history(mailchute::domain::letter::Number(1))
        .unwrap()
        .iter()
        .map(|(_, fact)| fact.to_string())
        .collect();
    for said in ["own copies of its documents were removed", "original was removed from the folder"] {
        assert!(history.iter().any(|fact| fact.contains(said)), "{history:?}");
    }
    // A new start finds nothing wrong, with the database and without it.
    room.stop();
    room.start();
    room.settle().await;
    room.check().await;
    room.stop();
    std::fs::remove_file(room.dir.path().join("state/mailchute.db")).unwrap();
    room.start();
    room.settle().await;
    room.pass(3600).await;
    assert_eq!(room.row_states(), ["shipped", "shipped", "shipped"]);
    room.check().await;
}

/// Files below the state directory that hold a word.
fn telling(room: &Mailroom, word: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![room.dir.path().join("state")];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if std::fs::read(&path).unwrap().windows(word.len()).any(|here| here == word.as_bytes()) {
                found.push(path);
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_a_letter_went_to_is_struck_from_every_record() {
    let mut room = Mailroom::with(&with(
        "keep: {sealed_pdf: true, spool: 5d, originals: 10d, history: 20d}\nduplicates: {within: 400d}",
    ))
    .await;
    room.drop("x 山田様.pdf", 1);
    room.settled().await;
    ship(&mut room).await;
    room.stop();
    let database = room.dir.path().join("state/mailchute.db");
    let with_names = std::fs::read(&database).unwrap();
    assert!(!telling(&room, "山田 太郎").is_empty() && !telling(&room, "x 山田様").is_empty());
    // A crash once struck in the ledger, before the database has it: no contradiction.
    let (mut ledger, held, _) = opened(&room.dir.path().join("state/spool/ledger"));
    let struck = held.iter().map(|line| (line.seq, line.struck().written().unwrap()));
    ledger.rewrite(&struck.collect()).unwrap();
    drop(ledger);
    room.start();
    room.settle().await;
    room.check().await;
    assert_eq!(room.row_states(), ["shipped"]);
    room.pass(11 * 86_400).await;
    room.drop("x young.pdf", 2);
    room.settled().await;
    room.pass(4 * 86_400).await;
    room.pass(6 * 86_400).await;
    for word in ["山田様", "young"] {
        assert_eq!(telling(&room, word).is_empty(), word == "山田様", "{word}: {:?}", telling(&room, word));
    }
    let last = room.desk().history(mailchute::domain::letter::Number(1)).unwrap().pop().unwrap().1;
    assert_eq!(last.to_string(), "the receiver and the names of files were removed");
    room.stop();
    room.start();
    room.settle().await;
    room.check().await;
    // Whom it went to nobody knows any more, so the same once more may be meant for the same.
    room.drop("x again.pdf", 1);
    room.settled().await;
    assert_eq!(room.state("x again.pdf"), "held");
    // An older copy of the database gets no names back in.
    room.stop();
    std::fs::write(&database, with_names).unwrap();
    room.start();
    room.settle().await;
    room.stop();
    assert_eq!(telling(&room, "山田様"), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_month_is_reported_by_folder_method_and_cost_centre() {
    let mut room = Mailroom::with(&with("cost_centre: '=4711'")).await;
    room.drop("x1.pdf", 3);
    room.drop("x2.pdf", 4);
    room.drop("INV-000123.pdf", 2);
    room.settled().await;
    std::fs::rename(room.path(&format!("{}/x2.pdf", room.sent())), room.path("Cancel/x2.pdf")).unwrap();
    room.settled().await;
    let month = room.clock.now().with_timezone(&chrono_tz::Asia::Tokyo).format("%Y-%m").to_string();
    let config = room.dir.path().join("mailchute.yaml");
    let report = |more: &str| {
        let mut command =
            mailchute(&["report", "--config", config.to_str().unwrap(), "--month", &month, more]);
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let rows: Vec<Value> = report("--json").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let row = |method: &str, sheets: u64| {
        json!({"month": month, "folder": "letters", "method": method, "cost_centre": "=4711",
            "letters": 1, "sheets": sheets})
    };
    assert_eq!(rows, [row("normal", 2), row("normal trackable", 1)], "what was cancelled costs nothing");
    let csv = report("--csv");
    assert!(csv.starts_with('\u{feff}') && csv.contains("letters,normal,'=4711,1,2"), "{csv}");
    let other =
        mailchute(&["report", "--config", config.to_str().unwrap(), "--month", "2020-01", "--json"]).output();
    assert!(other.unwrap().stdout.is_empty());

    // One that can't be read is named, and the others are reported.
    let number = room.drops()["x1.pdf"].letter.unwrap().0;
    room.stop();
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    let damage = format!("UPDATE fact SET line_check = 'x' WHERE letter = {number} AND n = 0");
    db.execute_batch(&format!("DROP TRIGGER facts_never_change; {damage}")).unwrap();
    let mut command =
        mailchute(&["report", "--config", config.to_str().unwrap(), "--month", &month, "--json"]);
    let output = command.output().unwrap();
    let (rows, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        output.status.success()
            && rows.lines().count() == 1
            && said.contains(&format!("#{number} can't be read")),
        "{rows} {said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn records_made_anew_take_no_strangers_file_for_an_original() {
    for is_same in [true, false] {
        let mut room = Mailroom::with(RULES).await;
        room.drop("x.pdf", 1);
        room.settled().await;
        let ulid = room.drops()["x.pdf"].ulid.clone();
        let lies = room.path(&format!("{}/x.pdf", room.sent()));
        room.stop();
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(room.dir.path().join(format!("state/mailchute.db{ending}")));
        }
        if !is_same {
            std::fs::write(&lies, pdf(2)).unwrap();
        }
        room.start();
        room.settled().await;
        let original = room.desk().original(&ulid.parse().unwrap()).unwrap().unwrap().0;
        assert_eq!(original.place == OriginalPlace::Sent, is_same, "{:?}", original.place);
        assert!(lies.exists());
    }
}

/// Each is searched for, except where another is recorded. So one must be recorded before the next is searched for.
#[tokio::test(flavor = "multi_thread")]
async fn records_made_anew_give_each_of_several_equal_originals_its_own_place() {
    let mut room = Mailroom::with(&with("duplicates: {within: 30d, action: allow}")).await;
    for _drop in 0..4 {
        room.drop("x.pdf", 1);
        room.settled().await;
    }
    let before = room.tree();
    assert_eq!(before.len(), 8, "each with its text: {before:?}");
    room.stop();
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(room.dir.path().join(format!("state/mailchute.db{ending}")));
    }
    room.start();
    room.settled().await;
    let records = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    let places = "SELECT count(DISTINCT shelved) FROM original";
    let places: i64 = records.query_row(places, [], |row| row.get(0)).unwrap();
    assert_eq!((places, room.tree()), (4, before));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_due_is_removed_at_the_next_hourly_look() {
    let mut room = Mailroom::with(&with("keep: {spool: 10d}")).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    while room.row_states() != ["shipped"] {
        room.pass(3600).await;
    }
    let letters = room.dir.path().join("state/spool/letters");
    let spooled = || std::fs::read_dir(&letters).unwrap().count();
    let (ended, _) = room.desk().history(mailchute::domain::letter::Number(1)).unwrap().pop().unwrap();
    room.pass((ended - room.clock.now()).num_seconds() + 10 * 86_400 - 1800).await;
    let before = spooled();
    room.pass(2400).await;
    let between = spooled();
    room.pass(3600).await;
    assert_eq!((before, between, spooled()), (1, 1, 0));
}

/// A move that was done and not recorded is not taken for a person's.
#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_pdf_that_was_moved_before_a_crash_is_known_at_its_new_place() {
    let mut room = Mailroom::with(&with("keep: {sealed_pdf: true}")).await;
    room.drop("x.pdf", 3);
    room.settled().await;
    room.pass(60).await;
    let sealed = format!("{}/x.sealed.pdf", room.sent());
    std::fs::rename(room.path(&format!("{}/x.pdf", room.sent())), room.path("Cancel/x.pdf")).unwrap();
    while !room.path("Cancelled/x.pdf").exists() {
        room.clock.move_by(TimeDelta::seconds(2)).unwrap();
        for which in [Loop::Intake, Loop::Letters, Loop::Shelves] {
            room.turn(which).await;
        }
    }
    std::fs::rename(room.path(&sealed), room.path("Cancelled/x.sealed.pdf")).unwrap();
    room.settled().await;
    let sql = "SELECT CAST(path AS TEXT), trouble FROM sealed";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let known: (String, Option<String>) = database(&room).query_row(sql, [], row).unwrap();
    assert_eq!(known, ("Cancelled/x.sealed.pdf".to_owned(), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_original_is_removed_after_what_contains_names_beside_it() {
    let mut room = Mailroom::with(&with("keep: {originals: 40d}")).await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.drop("side.pdf", 3);
    room.settled().await;
    let sidecar = room.path(&format!("{}/side.pdf.yaml", room.sent()));
    ship(&mut room).await;
    // What can't be removed, even by root.
    std::fs::remove_file(&sidecar).unwrap();
    std::fs::create_dir(&sidecar).unwrap();
    room.pass(41 * 86_400).await;
    assert!(
        sidecar.with_extension("").exists(),
        "nothing would look at the sidecar again: {:?}",
        room.tree()
    );
    std::fs::remove_dir(&sidecar).unwrap();
    std::fs::write(&sidecar, SIDECAR).unwrap();
    room.pass(7200).await;
    assert_eq!(room.tree(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn originals_that_cannot_be_removed_or_are_not_known_hold_up_no_others() {
    const BEFORE: usize = 100;
    for change in [
        "UPDATE original SET shelved = CAST('wall/x.pdf' AS BLOB) WHERE letter <= 100",
        "DELETE FROM original WHERE letter <= 100",
    ] {
        let mut room = Mailroom::with(&with("keep: {originals: 40d}\nduplicates: {action: allow}")).await;
        for n in 0..BEFORE {
            room.drop(&format!("x{n}.pdf"), 1);
        }
        room.settled().await;
        room.drop("x last.pdf", 2);
        room.settled().await;
        let last = room.path(&format!("{}/x last.pdf", room.sent()));
        ship(&mut room).await;
        assert!(last.exists() && room.row_states().len() == BEFORE + 1);
        // A file where a directory is expected: nobody can remove anything there, not even root.
        std::fs::write(room.path("wall"), "").unwrap();
        assert_eq!(database(&room).execute(change, []).unwrap(), BEFORE);
        room.pass(41 * 86_400).await;
        assert!(!last.exists(), "{change}");
    }
}

fn database(room: &Mailroom) -> rusqlite::Connection {
    rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap()
}
