//! Folders against the records: what is found again after a loss, what is finished after a crash, and what
//! `audit` says of that which is not so.

use std::path::PathBuf;

use mailchute::domain::drop::Undecided;
use mailchute::domain::letter::Number;
use mailchute::loops::originals::audit;
use mailchute::outside::spool::{Line, Ulid};
use mailchute::outside::store::Desk;

use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};

fn database(room: &Mailroom) -> PathBuf {
    room.dir.path().join("state/mailchute.db")
}

fn problems(room: &Mailroom) -> Vec<String> {
    let config = room.config();
    audit(&room.desk(), &config.folders[0], room.clock.now()).unwrap().problems
}

async fn until_it_has_shipped(room: &mut Mailroom) {
    for _look in 0..6 {
        room.pass(26 * 3600).await;
    }
}

/// A letter is posted; and the database as it is then.
async fn posted_and_copied() -> (Mailroom, Vec<u8>) {
    let mut room = Mailroom::open().await;
    room.drop("INV-000123 a.pdf", 1);
    room.settled().await;
    room.stop();
    let database = std::fs::read(database(&room)).unwrap();
    room.start();
    (room, database)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_lost_database_an_original_is_found_on_its_shelf_and_its_text_goes_on() {
    let mut room = Mailroom::open().await;
    room.drop("INV-000123 a.pdf", 1);
    room.settled().await;
    room.stop();
    std::fs::remove_file(database(&room)).unwrap();
    room.start();
    room.settle().await;
    let shelf = room.sent();
    assert!(room.path(&format!("{shelf}/INV-000123 a.pdf")).exists(), "{:?}", room.tree());
    until_it_has_shipped(&mut room).await;
    let tracking = room.drops()["INV-000123 a.pdf"].tracking.clone().unwrap();
    let text = room.note(&format!("{shelf}/INV-000123 a.txt"));
    assert!(text.contains(&tracking), "{text}");
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_database_makes_no_original_lie_where_its_letter_was() {
    let (mut room, old) = posted_and_copied().await;
    let original = room.path(&format!("{}/INV-000123 a.pdf", room.sent()));
    std::fs::rename(original, room.path("Cancel/INV-000123 a.pdf")).unwrap();
    room.settled().await;
    room.pass(10).await;
    assert!(room.path("Cancelled/INV-000123 a.pdf").exists(), "{:?}", room.tree());
    let told = room.note("Cancelled/INV-000123 a.txt");
    room.stop();
    std::fs::write(database(&room), old).unwrap();
    room.start();
    room.settle().await;
    assert!(room.path("Cancelled/INV-000123 a.pdf").exists(), "{:?}", room.tree());
    assert_eq!(room.note("Cancelled/INV-000123 a.txt"), told);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_approved_when_the_daemon_died_is_posted_with_its_sidecar() {
    let mut room = Mailroom::closed(RULES).await;
    room.drop("side.pdf", 1);
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.start();
    room.settled().await;
    assert!(
        room.path("Held/side.pdf").exists() && room.path("Held/side.pdf.yaml").exists(),
        "{:?}",
        room.tree()
    );
    let ulid = room.drops()["side.pdf"].ulid.clone();
    // It died after it had taken the file back, and before its sidecar came along.
    room.stop();
    let accepted = serde_json::to_string(&Undecided::Accepted { doubts: Vec::new() }).unwrap();
    let db = rusqlite::Connection::open(database(&room)).unwrap();
    db.execute("UPDATE original SET undecided = ?1, due_at = NULL", [accepted]).unwrap();
    drop(db);
    let claim = room.path(&format!(".mailchute/claim/{ulid}"));
    std::fs::create_dir(&claim).unwrap();
    std::fs::rename(room.path("Held/side.pdf"), claim.join("side.pdf")).unwrap();
    room.start();
    room.settled().await;
    room.settled().await;
    assert_eq!(room.state("side.pdf"), "confirmed", "{:?}", room.tree());
    let sent = room.sent();
    assert_eq!(
        room.tree(),
        ["side.pdf", "side.pdf.yaml", "side.txt"].map(|name| format!("{sent}/{name}")),
        "each in one place"
    );
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn audit_says_what_is_not_where_it_should_be() {
    let mut room = Mailroom::open().await;
    room.drop("INV-000123 a.pdf", 1);
    room.settled().await;
    assert_eq!(problems(&room), Vec::<String>::new());
    let ulid = room.drops()["INV-000123 a.pdf"].ulid.clone();
    let claims = room.path(".mailchute/claim");

    std::fs::create_dir(claims.join(&ulid)).unwrap();
    std::fs::write(claims.join(&ulid).join("x.pdf"), "x").unwrap();
    std::fs::create_dir(claims.join("nonsense")).unwrap();
    let said = problems(&room).join("\n");
    assert!(
        said.contains(&format!("{ulid} in folder letters: a part of it was left in the claims")),
        "{said}"
    );
    assert!(said.contains("`.mailchute/claim` contains an entry that is not a claim"), "{said}");
    std::fs::remove_dir_all(claims.join(&ulid)).unwrap();
    std::fs::remove_dir(claims.join("nonsense")).unwrap();

    let unknown = Ulid::new(room.clock.now()).unwrap().to_string();
    std::fs::create_dir(claims.join(&unknown)).unwrap();
    std::fs::write(claims.join(&unknown).join("x.pdf"), "x").unwrap();
    assert_eq!(problems(&room), Vec::<String>::new(), "it was claimed just now");
    room.clock.move_by(chrono::TimeDelta::hours(2)).unwrap();
    let said = problems(&room).join("\n");
    assert!(said.contains(&format!("{unknown} was claimed at")), "{said}");
    std::fs::remove_dir_all(claims.join(&unknown)).unwrap();

    room.stop();
    let db = rusqlite::Connection::open(database(&room)).unwrap();
    db.execute("UPDATE original SET place = 'claim', due_at = NULL", []).unwrap();
    let said = problems(&room).join("\n");
    assert!(said.contains("it lies in Claim but belongs in Sent, and no move is pending (I16)"), "{said}");

    let spool = room.dir.path().join("state/spool/letters").join(&unknown);
    std::fs::write(spool, "").unwrap();
    let findings = Desk::open(&room.dir.path().join("state")).unwrap().audit().unwrap();
    assert_eq!(findings.problems, [format!("{unknown} is in the spool without a record (I13)")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn audit_says_where_ledger_and_database_part() {
    let (mut room, old) = posted_and_copied().await;
    room.drop("INV-000456 b.pdf", 1);
    room.settled().await;
    // Each has one more fact.
    until_it_has_shipped(&mut room).await;
    room.stop();
    let (now, state) = (std::fs::read(database(&room)).unwrap(), room.dir.path().join("state"));
    let problems = || Desk::open(&state).unwrap().audit().unwrap().problems;
    let [one, two] =
        [1, 2].map(|n| format!("letter #{n}: database and ledger do not have the same facts (I5)"));
    assert_eq!(problems(), Vec::<String>::new());

    std::fs::write(database(&room), old).unwrap();
    let said = problems();
    assert_eq!(said.len(), 3, "the third is of its documents: {said:#?}");
    assert!(said.contains(&one), "{said:#?}");
    assert!(said.contains(&"letter #2 is in the ledger and not in the database".to_owned()), "{said:#?}");
    std::fs::write(database(&room), &now).unwrap();
    assert_eq!(problems(), Vec::<String>::new());

    // Facts without their letter, and facts of a letter that it does not know of.
    let broken = |sql: &str| {
        let db = rusqlite::Connection::open(database(&room)).unwrap();
        db.execute_batch(&format!("PRAGMA foreign_keys = OFF; DROP TRIGGER facts_never_change; {sql}"))
            .unwrap();
        drop(db);
        let said = problems();
        std::fs::write(database(&room), &now).unwrap();
        said
    };
    let said = broken("DELETE FROM letter WHERE number = 2");
    assert!(said.contains(&"letter #2 is in the ledger and not in the database".to_owned()), "{said:#?}");
    let last = "(SELECT max(seq) FROM fact WHERE letter = 2)";
    let said = broken(&format!("UPDATE fact SET letter = 9 WHERE seq = {last}"));
    assert!(said.contains(&two), "{said:#?}");
    assert!(said.contains(&"letter #2: the number of its facts differs from the recorded one".to_owned()));

    let name = "000000000001.log";
    let ledger = state.join("spool/ledger").join(name);
    let text = std::fs::read_to_string(&ledger).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let with = |lines: &[&str]| std::fs::write(&ledger, lines.join("\n") + "\n").unwrap();
    // Without its last line it is what a writer at work has not written yet.
    with(&lines[..lines.len() - 1]);
    assert_eq!(problems(), Vec::<String>::new());
    with(&[&lines[..1], &lines[2..]].concat());
    assert_eq!(problems(), [format!("the ledger: {name} is damaged after its line 1"), one.clone()]);

    // Its last line tells another time, and is whole.
    let (check, json) = lines.last().unwrap().split_once(' ').unwrap();
    let mut line = Line::read(json, check).unwrap();
    line.at += chrono::TimeDelta::seconds(1);
    let with_last = |line: &Line| {
        let written = line.written().unwrap();
        let other = format!("{} {}", written.check, written.json);
        with(&[&lines[..lines.len() - 1], &[other.as_str()]].concat());
    };
    let whose = if line.letter.0 == 1 { one } else { two };
    with_last(&line);
    assert_eq!(problems(), [whose.as_str()]);

    // It is another letter's: both are told.
    line.letter = Number(7);
    with_last(&line);
    assert_eq!(problems(), [whose.as_str(), "letter #7 is in the ledger and not in the database"]);
}
