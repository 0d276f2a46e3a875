//! Searching with the index of names finds what searching without it finds, and nothing depends on the index.

use std::path::PathBuf;
use std::time::Instant;

use mailchute::domain::letter::Number;
use mailchute::outside::store::Sought;

use super::mails::{room_with, ship};
use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::past::copies;
use crate::rigs::postbox::Security;

const NAMES: [&str; 7] = [
    "x 請求書（再送）山田商事.pdf",
    "x か\u{3099}くせい.pdf",
    "x \"quotes\" 'and' 100%_.pdf",
    "x-1-2-3.pdf",
    "X ＡＢＣ ｶﾞﾗｽ.PDF",
    "x AND OR NOT NEAR(a b).pdf",
    "x INV-000123.pdf",
];

/// Letters with odd names that have shipped, and many others before them in the records.
async fn room_of_many() -> Mailroom {
    let rules = RULES.replace("when: {file_name: '^x'}", "when: {file_name: '(?i)^x'}");
    let (mut room, _postbox) = room_with(Security::Plain, &rules, "").await;
    for (n, name) in NAMES.iter().enumerate() {
        room.drop(name, n + 1);
    }
    room.settled().await;
    ship(&mut room).await;
    room.stop();
    copies(&room.dir.path().join("state"), 200);
    room.start();
    room.settled().await;
    room
}

fn index(room: &Mailroom) -> PathBuf {
    room.dir.path().join("state/search.db")
}

/// Every part of these names, of one to four characters, and whole ones.
fn texts() -> Vec<String> {
    let mut texts = Vec::new();
    for name in NAMES.into_iter().chain(["past-17.pdf", "山田 太郎", "1234-5678-9012"]) {
        let chars: Vec<char> = name.chars().collect();
        for length in (1..=4).chain([chars.len()]) {
            texts.extend(chars.windows(length).map(|part| part.iter().collect::<String>()));
        }
    }
    texts.extend(
        ["1-2-", "----", "past-1", "past-59", "nobody", "#3", "3", "123", "#123", "\0\0\0"]
            .map(str::to_owned),
    );
    texts
}

fn forget(room: &Mailroom, letter: Number) {
    let db = rusqlite::Connection::open(index(room)).unwrap();
    db.execute("DELETE FROM known WHERE rowid = ?1", [i64::try_from(letter.0).unwrap()]).unwrap();
}

/// The numbers found, over all pages.
fn found(room: &Mailroom, sought: &Sought, most: usize) -> Vec<Number> {
    let (mut numbers, mut sought) = (Vec::new(), sought.clone());
    loop {
        let found = room.desk().search(&sought, most, Instant::now()).unwrap();
        numbers.extend(found.letters.iter().map(|listed| listed.row.letter));
        let Some(further) = found.further else { return numbers };
        sought.before = Some(further);
    }
}

fn all_found(room: &Mailroom) -> Vec<(Sought, Vec<Number>)> {
    let mut all = Vec::new();
    for text in texts() {
        for (state, names) in [(None, true), (None, false), (Some("shipped".to_owned()), true)] {
            let sought = Sought { text: text.clone(), state, names, ..Sought::default() };
            all.push((sought.clone(), found(room, &sought, 50)));
            if text.chars().any(|c| c.is_ascii_digit()) {
                // Page by page, with the letter of that number on the first one.
                all.push((sought.clone(), found(room, &sought, 3)));
            }
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_index_finds_what_is_found_without_it() {
    let room = room_of_many().await;
    let with = all_found(&room);
    let aside = room.dir.path().join("search.db");
    std::fs::rename(index(&room), &aside).unwrap();
    let without = all_found(&room);
    for ((sought, found), (_, expected)) in with.iter().zip(&without) {
        assert_eq!(found, expected, "{sought:?}");
    }
    let of = |text: &str| with.iter().find(|(sought, _)| sought.text == text).unwrap().1.len();
    assert_eq!((of("past-17.pdf"), of("山田 太郎"), of("nobody")), (1, 207, 0), "it is something");
    // Both ways were tried: what the index lacks is not found with it.
    std::fs::rename(&aside, index(&room)).unwrap();
    let sought = Sought { text: "山田商事".to_owned(), ..Sought::default() };
    let number = found(&room, &sought, 50)[0];
    forget(&room, number);
    assert_eq!(found(&room, &sought, 50), [], "the index is asked");
    for short in ["商", "田商"] {
        let sought = Sought { text: short.to_owned(), names: true, ..Sought::default() };
        assert_eq!(found(&room, &sought, 50), [], "for {short} too");
    }
    // Others have it too.
    let sought = Sought { text: "pd".to_owned(), ..Sought::default() };
    let others = found(&room, &sought, 50);
    assert!(others.len() > 200 && !others.contains(&number), "{others:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_that_is_missing_behind_damaged_or_of_other_records_is_made_anew() {
    let mut room = room_of_many().await;
    let sought = |text: &str| Sought { text: text.to_owned(), ..Sought::default() };
    let is_known = |room: &Mailroom| found(room, &sought("山田商事"), 50).len() == 1;
    // Behind: a letter that it does not have yet.
    let behind = std::fs::read(index(&room)).unwrap();
    room.drop("x later.pdf", 20);
    for which in [Loop::Intake, Loop::Letters, Loop::Shelves] {
        room.pass_only(which, 7).await;
    }
    assert_eq!(found(&room, &sought("later"), 50).len(), 1);
    room.stop();
    for content in [None, Some(b"no database".repeat(1000)), Some(behind)] {
        match &content {
            Some(content) => std::fs::write(index(&room), content).unwrap(),
            None => std::fs::remove_file(index(&room)).unwrap(),
        }
        assert!(is_known(&room), "found without it");
        room.start();
        room.turn(Loop::Names).await;
        room.stop();
        assert!(is_known(&room) && found(&room, &sought("later"), 50).len() == 1);
        let db = rusqlite::Connection::open(index(&room)).unwrap();
        let count: i64 = db.query_row("SELECT count(*) FROM known", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 208);
    }
    // Of other records: the last fact that it has is another there.
    let number = found(&room, &sought("山田商事"), 50)[0];
    forget(&room, number);
    let db = rusqlite::Connection::open(index(&room)).unwrap();
    db.execute("UPDATE followed SET line_check = 'other'", []).unwrap();
    drop(db);
    assert!(is_known(&room), "it is not asked");
    room.start();
    room.turn(Loop::Names).await;
    assert!(is_known(&room));
    room.stop();
    // Of another program.
    forget(&room, number);
    rusqlite::Connection::open(index(&room)).unwrap().pragma_update(None, "user_version", 7).unwrap();
    room.start();
    room.turn(Loop::Names).await;
    assert!(is_known(&room));
    room.stop();
    // Copied at another moment than the records.
    forget(&room, number);
    room.start_with(true);
    room.turn(Loop::Names).await;
    assert!(is_known(&room));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_the_index_is_emptied_when_nobody_searches() {
    let mut room = room_of_many().await;
    room.turn(Loop::Names).await;
    let log = room.dir.path().join("state/search.db-wal");
    let size = || log.metadata().map_or(0, |log| log.len());
    let reader = rusqlite::Connection::open(index(&room)).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM known;").unwrap();
    room.drop("x later.pdf", 20);
    room.settled().await;
    room.turn(Loop::Names).await;
    assert!(size() > 0, "somebody is reading");
    reader.execute_batch("COMMIT").unwrap();
    room.drop("x last.pdf", 21);
    room.settled().await;
    room.turn(Loop::Names).await;
    assert_eq!(size(), 0);
}
