//! Many originals put away at once, and what goes wrong among them.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use mailchute::domain::letter::{Command, Number};
use mailchute::outside::hot::{Hot, Keeper, MoveWithText};
use unicode_normalization::UnicodeNormalization as _;

use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::service::pdf;

#[tokio::test]
async fn what_is_put_away_together_has_each_its_own_name_and_text() {
    let mut room = Mailroom::open().await;
    // Their texts would have one name; and a text of this name lies there already.
    std::fs::create_dir_all(room.path("Rejected")).unwrap();
    std::fs::write(room.path("Rejected/e.txt"), b"a person's").unwrap();
    let names = ["a.doc", "a.DOC", "a.xls", "b.doc", "c.doc", "d.doc", "e.doc"];
    for name in names {
        std::fs::write(room.path(name), name).unwrap();
    }
    room.settled().await;
    let mut dropped: Vec<String> = names.map(str::to_owned).to_vec();
    let mut originals = room.tree();
    originals.retain(|path| path.rsplit_once('.').is_none_or(|(_, ending)| ending != "txt"));
    for original in &originals {
        let content = std::fs::read_to_string(room.path(original)).unwrap();
        let text =
            String::from_utf8_lossy(&mailchute::domain::drop::text_name(original.as_bytes())).into_owned();
        assert!(room.note(&text).contains(&content), "{original}: {:?}", room.tree());
        dropped.retain(|name| *name != content);
    }
    assert_eq!((originals.len(), dropped), (names.len(), vec![]), "{:?}", room.tree());
    assert_eq!(room.tree().len(), 2 * names.len() + 1);
    assert_eq!(std::fs::read(room.path("Rejected/e.txt")).unwrap(), b"a person's");
    assert!(room.tree().contains(&"Rejected/e (2).doc".to_owned()), "{:?}", room.tree());
    room.check().await;
}

/// More than are put away together: plans for the next ones are made while the first are moved.
#[tokio::test]
async fn a_name_that_is_about_to_be_taken_is_free_for_no_other() {
    // Those of one form come before all of the other.
    let (composed, decomposed) = ("請求が", "請求か\u{3099}");
    let names = [decomposed, composed].map(|form| (0..40).map(move |n| format!("{form}{n:02}.doc")));
    let mut names: Vec<String> = names.into_iter().flatten().collect();
    all_have_their_names(&names, &[]).await;
    // The first one finds its text's name taken. What it gets instead is the name of a later one.
    names.push(format!("{composed}00 (2).doc"));
    all_have_their_names(&names, &[&format!("{decomposed}00.txt")]).await;
}

/// Drops that are rejected, while this lies on their shelf.
async fn all_have_their_names(names: &[String], there: &[&str]) {
    let mut room = Mailroom::open().await;
    room.stop();
    room.at_once = Some(1);
    room.start();
    std::fs::create_dir_all(room.path("Rejected")).unwrap();
    for name in there {
        std::fs::write(room.path(&format!("Rejected/{name}")), b"a person's").unwrap();
    }
    for name in names {
        std::fs::write(room.path(name), name).unwrap();
    }
    room.settled().await;
    let tree = room.tree();
    let shelf: Vec<&str> = tree.iter().filter_map(|path| path.strip_prefix("Rejected/")).collect();
    assert_eq!(shelf.len(), 2 * names.len() + there.len(), "each has its text: {shelf:?}");
    let forms: BTreeSet<String> = shelf.iter().map(|name| name.nfc().collect()).collect();
    assert_eq!(forms.len(), shelf.len(), "two look the same to people: {shelf:?}");
    let documents = shelf.iter().filter(|name| Path::new(name).extension() == Some("doc".as_ref()));
    let content = |name: &&str| std::fs::read_to_string(room.path(&format!("Rejected/{name}"))).unwrap();
    assert_eq!(documents.map(content).collect::<BTreeSet<_>>(), names.iter().cloned().collect());
    room.check().await;
}

/// Moves that failed leave the names they were about to have in the records.
#[tokio::test]
async fn a_name_that_a_failed_move_was_about_to_have_is_no_proof() {
    let mut room = Mailroom::with(&RULES.replace("path:", "release: approval\npath:")).await;
    // Where texts are written first there is no place.
    let part = room.path(".mailchute/text.part");
    std::fs::create_dir(&part).unwrap();
    for pages in 1..=2 {
        room.drop("x.pdf", pages);
        room.settled().await;
    }
    assert!(!room.tree().iter().any(|path| path.starts_with("Held/")), "{:?}", room.tree());
    std::fs::remove_dir(&part).unwrap();
    room.pass(600).await;
    let held = ["Held/x (2).pdf", "Held/x (2).txt", "Held/x.pdf", "Held/x.txt"];
    assert_eq!(room.tree(), held);
    for name in ["x.pdf", "x (2).pdf"] {
        std::fs::rename(room.path(&format!("Held/{name}")), room.path(&format!("Approve/{name}"))).unwrap();
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed", "confirmed"], "{:?}", room.tree());
    room.check().await;
}

/// Where an original lay when an older database was written says nothing of where it lies.
#[tokio::test]
async fn after_an_older_database_an_original_on_its_way_is_taken_out_of_sight() {
    let mut room = Mailroom::open().await;
    let down = serde_json::json!({"endpoint": "create", "fault": "cut", "times": 100_000});
    room.service.order(down).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    room.stop();
    let database = room.dir.path().join("state/mailchute.db");
    let old = std::fs::read(&database).unwrap();
    room.start();
    let order = |room: &Mailroom, command| room.desk().order(Number(1), command, room.clock.now()).unwrap();
    order(&room, Command::Hold);
    room.settled().await;
    assert_eq!(room.tree(), ["Held/x.pdf", "Held/x.txt"]);
    order(&room, Command::Release);
    room.turn(Loop::Letters).await;
    assert_eq!(room.row_states(), ["admitted"]);
    room.stop();
    std::fs::write(&database, old).unwrap();
    room.start();
    room.settled().await;
    assert_eq!(room.row_states(), ["admitted"]);
    let ulid = &room.drops()["x.pdf"].ulid;
    assert_eq!(room.tree(), [format!(".mailchute/claim/{ulid}/x.pdf")]);
    room.service.control(reqwest::Method::DELETE, "faults", serde_json::json!({})).await;
    room.pass(3600).await;
    assert_eq!(room.row_states(), ["confirmed"]);
    room.check().await;
}

#[test]
fn what_goes_wrong_with_one_keeps_no_other_from_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let hot = Hot::open(dir.path(), false, &Keeper::default()).unwrap();
    let names = ["fine.pdf", "taken.pdf", "told.pdf", "gone.pdf", "accompanied.pdf"];
    for (n, name) in names.iter().enumerate() {
        std::fs::write(dir.path().join(name), pdf(n + 1)).unwrap();
        hot.claim(&format!("C{n}"), None, &[name.as_bytes()]).unwrap();
    }
    let claim = |n: usize| hot.claims_path().join(format!("C{n}"));
    std::fs::remove_file(dir.path().join(claim(3)).join("gone.pdf")).unwrap();
    std::fs::write(dir.path().join(claim(4)).join("accompanied.pdf.yaml"), "").unwrap();
    hot.make_shelves(&["Held"]).unwrap();
    for there in ["taken.pdf", "told.txt"] {
        std::fs::write(dir.path().join("Held").join(there), "a person's").unwrap();
    }
    let paths = [0, 1, 2, 3, 4].map(|n| (claim(n).join(names[n]), Path::new("Held").join(names[n])));
    let texts = names.map(|name| name.replace(".pdf", ".txt"));
    let told: Vec<MoveWithText<'_>> = (paths.iter().zip(&texts))
        .map(|((from, to), text)| MoveWithText { from, to, text: (text.as_bytes(), "words") })
        .collect();
    let moved: Vec<_> =
        hot.shelve_all(&told).unwrap().into_iter().map(|moved| moved.map_err(|e| e.kind())).collect();
    let taken = Err(ErrorKind::AlreadyExists);
    assert_eq!(moved, [Ok(()), taken, taken, Err(ErrorKind::NotFound), Ok(())]);
    let read = |path: &str| std::fs::read(dir.path().join("Held").join(path)).unwrap();
    assert_eq!((read("fine.pdf"), read("fine.txt")), (pdf(1), b"words".to_vec()));
    assert_eq!((read("accompanied.pdf"), read("accompanied.txt")), (pdf(5), b"words".to_vec()));
    assert_eq!((read("taken.pdf"), read("told.txt")), (b"a person's".to_vec(), b"a person's".to_vec()));
    // What was not moved is where it was, and only a claim that holds nothing is over.
    assert!(hot.is_there(&paths[1].0).unwrap() && hot.is_there(&paths[2].0).unwrap());
    let mut claims = hot.claims().unwrap();
    claims.sort();
    assert_eq!(claims, ["C1", "C2", "C3", "C4"]);
}

#[test]
fn texts_that_are_written_at_the_same_time_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let hot = Hot::open(dir.path(), false, &Keeper::default()).unwrap();
    let write = &|name: &str| {
        for n in 0..50 {
            let text = format!("{name} {n}");
            hot.write_text(Path::new(name), &text).unwrap();
            assert_eq!(std::fs::read_to_string(dir.path().join(name)).unwrap(), text);
        }
    };
    std::thread::scope(|scope| {
        for name in ["a.txt", "b.txt", "c.txt"] {
            scope.spawn(move || write(name));
        }
    });
}

#[tokio::test]
async fn texts_that_a_killed_run_left_half_written_are_removed() {
    let mut room = Mailroom::open().await;
    room.settled().await;
    room.stop();
    let parts = ["text.part", "text-3.part"].map(|part| room.path(&format!(".mailchute/{part}")));
    for part in &parts {
        std::fs::write(part, "a receiver's name").unwrap();
    }
    room.start();
    room.settled().await;
    assert!(!parts.iter().any(|part| part.exists()), "they contain names");
}
