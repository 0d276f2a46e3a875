//! A person took a drop or a letter from its shelf, and another has got its place there: neither is taken for the other.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use mailchute::domain::drop::Undecided;
use mailchute::outside::hot::{Hot, Keeper};

use super::namesakes::{again, approval, moves, posted, sidecar};
use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::service::pdf;

/// The first of two PDFs with one content was moved to `Approve`, and the second, with its address, has its place.
async fn the_second_at_the_place_of_the_first() -> Mailroom {
    let mut room = Mailroom::with(RULES).await;
    let padded = [pdf(1), vec![0x1a]].concat();
    std::fs::write(room.path("side.pdf"), &padded).unwrap();
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    std::fs::write(room.path("side.pdf.yaml"), sidecar("鈴木")).unwrap();
    std::fs::write(room.path("side.pdf"), padded).unwrap();
    room.pass_only(Loop::Intake, 7).await;
    assert_eq!(room.desk().drops(10).unwrap().len(), 2, "{:?}", room.tree());
    moves(&room, "Held/side.pdf", "Approve/side.pdf");
    std::fs::remove_file(room.path("Held/side.txt")).unwrap();
    room.turn(Loop::Shelves).await;
    assert!(room.path("Held/side.pdf.yaml").exists(), "{:?}", room.tree());
    room
}

fn records(room: &Mailroom) -> rusqlite::Connection {
    rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap()
}

fn sql(room: &Mailroom, sql: &str) {
    records(room).execute_batch(sql).unwrap();
}

/// The place of the second is not recorded yet.
fn before_the_record(room: &Mailroom) {
    sql(
        room,
        "UPDATE original SET place = 'claim', moving = shelved, shelved = NULL, due_at = 1 WHERE shelved IS NOT NULL;
         UPDATE original SET shelved = (SELECT moving FROM original WHERE moving IS NOT NULL) WHERE place = 'held';",
    );
}

#[tokio::test]
async fn a_drop_that_was_moved_is_not_taken_for_a_copy_of_another_that_has_just_got_its_place() {
    for is_recorded in [true, false] {
        let mut room = the_second_at_the_place_of_the_first().await;
        if !is_recorded {
            before_the_record(&room);
            room.pass_only(Loop::Intake, 7).await;
            assert!(room.path("Approve/side.pdf").exists(), "nothing is decided until it is recorded");
        }
        again(&mut room).await;
        assert_eq!(posted(&room), [], "{:?}", room.tree());
        for name in ["Held/side.pdf", "Held/side.pdf.yaml", "Held/side.txt", "Rejected/side.pdf"] {
            assert!(room.path(name).exists(), "{name}: {:?}", room.tree());
        }
        let note = room.note("Rejected/side.txt");
        assert!(note.contains("Several PDFs with this name and these contents are held"), "{note}");
        moves(&room, "Held/side.pdf", "Approve/side.pdf");
        again(&mut room).await;
        assert_eq!(posted(&room), [("鈴木".to_owned(), 1)], "{:?}", room.tree());
        // What was handed back can be approved now, and waits for its own address.
        moves(&room, "Rejected/side.pdf", "Approve/side.pdf");
        again(&mut room).await;
        assert!(room.path("Held/side.pdf").exists(), "{:?}", room.tree());
        assert_eq!(posted(&room).len(), 1);
    }
}

#[tokio::test]
async fn if_the_record_is_late_the_one_that_was_moved_is_known_by_its_inode() {
    let mut room = the_second_at_the_place_of_the_first().await;
    before_the_record(&room);
    room.pass_only(Loop::Intake, 200).await;
    assert!(!room.path("Approve/side.pdf").exists(), "{:?}", room.tree());
    for name in ["Held/side.pdf", "Held/side.pdf.yaml", "Held/side.txt"] {
        assert!(room.path(name).exists(), "{name}: {:?}", room.tree());
    }
    again(&mut room).await;
    assert_eq!(posted(&room), [], "{:?}", room.tree());
    moves(&room, "Held/side.pdf", "Approve/side.pdf");
    again(&mut room).await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 1)], "{:?}", room.tree());
}

#[tokio::test]
async fn a_drop_that_is_brought_back_is_known_although_another_has_its_place() {
    let mut room = Mailroom::with(RULES).await;
    let pages = |room: &Mailroom| posted(room).iter().map(|(_, pages)| *pages).collect::<Vec<_>>();
    for (number, name) in [(1, "x"), (2, "x (2)"), (3, "x (2)")] {
        std::fs::write(room.path("x.pdf"), [pdf(number), vec![0x1a]].concat()).unwrap();
        again(&mut room).await;
        assert!(room.path(&format!("Held/{name}.pdf")).exists(), "{:?}", room.tree());
        if number == 2 {
            moves(&room, "Held/x (2).pdf", "../aside.pdf");
            std::fs::remove_file(room.path("Held/x (2).txt")).unwrap();
        }
    }
    moves(&room, "../aside.pdf", "Approve/x (2).pdf");
    again(&mut room).await;
    assert_eq!(pages(&room), [2], "{:?}", room.tree());
    moves(&room, "Held/x (2).pdf", "Approve/x (2).pdf");
    again(&mut room).await;
    assert_eq!(pages(&room), [2, 3], "{:?}", room.tree());
}

/// A drop without an address is in its claim, and the second, with one, is at its place. Returns the ULID of the first.
async fn the_first_in_its_claim() -> (Mailroom, String) {
    let mut room = Mailroom::with(RULES).await;
    room.drop("side.pdf", 1);
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    let first = room.drops()["side.pdf"].ulid.clone();
    std::fs::write(room.path("side.pdf.yaml"), sidecar("鈴木")).unwrap();
    std::fs::write(room.path("side.pdf"), [pdf(2), vec![0x1a]].concat()).unwrap();
    room.pass_only(Loop::Intake, 7).await;
    let claim = room.path(".mailchute/claim").join(&first);
    std::fs::create_dir(&claim).unwrap();
    std::fs::rename(room.path("Held/side.pdf"), claim.join("side.pdf")).unwrap();
    std::fs::remove_file(room.path("Held/side.txt")).unwrap();
    room.turn(Loop::Shelves).await;
    assert!(room.path("Held/side.pdf.yaml").exists(), "{:?}", room.tree());
    (room, first)
}

/// The daemon was killed when the first was in its claim. The second is at its place, which is not recorded yet.
#[tokio::test]
async fn a_drop_whose_place_another_is_moved_to_takes_no_address_along_from_there() {
    let (mut room, first) = the_first_in_its_claim().await;
    room.stop();
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    let accepted = serde_json::to_string(&Undecided::Accepted { doubts: Vec::new() }).unwrap();
    let second =
        "UPDATE original SET place = 'claim', moving = shelved, shelved = NULL, due_at = 1 WHERE ulid <> ?1";
    assert_eq!(db.execute(second, [&first]).unwrap(), 1);
    let sql = "UPDATE original SET shelved = CAST('Held/side.pdf' AS BLOB), undecided = ?2 WHERE ulid = ?1";
    assert_eq!(db.execute(sql, [&first, &accepted]).unwrap(), 1);
    room.start();
    room.pass_only(Loop::Intake, 7).await;
    for name in ["Held/side.pdf", "Held/side.pdf.yaml", "Held/side.txt"] {
        assert!(room.path(name).exists(), "{name}: {:?}", room.tree());
    }
    again(&mut room).await;
    assert_eq!(posted(&room), [], "{:?}", room.tree());
}

/// Their names on the shelf have a number.
#[tokio::test]
async fn a_letter_that_is_brought_back_is_not_taken_for_a_copy_of_one_that_has_its_place() {
    let mut room = Mailroom::with(&approval()).await;
    for n in 0..3 {
        room.drop("x.pdf", 1);
        again(&mut room).await;
        if n == 1 {
            moves(&room, "Held/x (2).pdf", "../aside.pdf");
            std::fs::remove_file(room.path("Held/x (2).txt")).unwrap();
        }
    }
    assert!(room.path("Held/x (2).pdf").exists(), "{:?}", room.tree());
    moves(&room, "../aside.pdf", "Approve/x (2).pdf");
    again(&mut room).await;
    assert_eq!(posted(&room), [], "{:?}", room.tree());
    assert!(room.path("Rejected/x (2).pdf").exists(), "{:?}", room.tree());
    // The one that lies there is posted; then the other can be.
    moves(&room, "Held/x (2).pdf", "Approve/x (2).pdf");
    again(&mut room).await;
    assert_eq!(posted(&room).len(), 1, "{:?}", room.tree());
    moves(&room, "Rejected/x (2).pdf", "Approve/x (2).pdf");
    again(&mut room).await;
    assert_eq!(posted(&room).len(), 2, "{:?}", room.tree());
}

/// A person has it while its text is written anew.
#[tokio::test]
async fn a_drop_that_was_taken_away_is_approved_when_it_is_brought_back() {
    let mut room = Mailroom::with(RULES).await;
    std::fs::write(room.path("x.pdf"), [pdf(2), vec![0x1a]].concat()).unwrap();
    room.settled().await;
    moves(&room, "Held/x.pdf", "../aside.pdf");
    sql(&room, "UPDATE original SET due_at = 1");
    again(&mut room).await;
    let place = records(&room).query_row("SELECT place FROM original", [], |row| row.get::<_, String>(0));
    assert_eq!(place.unwrap(), "gone", "{:?}", room.tree());
    moves(&room, "../aside.pdf", "Approve/x.pdf");
    again(&mut room).await;
    assert_eq!(posted(&room), [("山田 太郎".to_owned(), 2)], "{:?}", room.tree());
}

/// Nobody knows where it is. A copy of a letter with the same contents says nothing about it.
#[tokio::test]
async fn a_drop_that_was_taken_away_is_not_approved_by_a_copy_of_another() {
    let mut room = Mailroom::with(RULES).await;
    let padded = [pdf(2), vec![0x1a]].concat();
    std::fs::write(room.path("x.pdf"), &padded).unwrap();
    room.settled().await;
    moves(&room, "Held/x.pdf", "../aside.pdf");
    sql(&room, "UPDATE original SET due_at = 1");
    again(&mut room).await;
    std::fs::write(room.path("Approve/x.pdf"), &padded).unwrap();
    again(&mut room).await;
    assert_eq!(posted(&room), [], "{:?}", room.tree());
    moves(&room, "../aside.pdf", "Approve/x.pdf");
    again(&mut room).await;
    assert_eq!(posted(&room).len(), 1, "{:?}", room.tree());
}

/// The file system gives it to the next file.
#[tokio::test]
async fn the_inode_of_an_original_that_was_deleted_decides_about_no_other() {
    let rules = RULES.replace("rules:", "duplicates: {action: hold, within: 30d}\nrules:");
    let mut room = Mailroom::with(&rules).await;
    for _ in 0..2 {
        room.drop("x.pdf", 1);
        again(&mut room).await;
    }
    assert_eq!(room.row_states(), ["confirmed", "held"], "{:?}", room.tree());
    std::fs::remove_file(room.path(&format!("{}/x.pdf", room.sent()))).unwrap();
    std::fs::copy(room.path("Held/x.pdf"), room.path("Approve/x.pdf")).unwrap();
    let inode = std::fs::metadata(room.path("Approve/x.pdf")).unwrap().ino();
    sql(&room, &format!("UPDATE original SET shelved = NULL, inode = {inode} WHERE place = 'sent'"));
    again(&mut room).await;
    assert_eq!(room.row_states(), ["confirmed", "confirmed"], "{:?}", room.tree());
    room.check().await;
}

/// The daemon was killed when the first was cancelled and in its claim. The second is at its place, which is not recorded
/// yet.
#[tokio::test]
async fn a_drop_that_leaves_its_place_takes_nothing_of_another_along() {
    let (mut room, first) = the_first_in_its_claim().await;
    sql(&room, &format!(
        "UPDATE original SET place = 'claim', moving = shelved, shelved = NULL, due_at = 2 WHERE ulid <> '{first}';
         UPDATE original SET shelved = CAST('Held/side.pdf' AS BLOB), undecided = '\"cancelled\"', due_at = 1
         WHERE ulid = '{first}'"
    ));
    room.turn(Loop::Shelves).await;
    for name in ["Held/side.pdf", "Held/side.pdf.yaml", "Held/side.txt", "Cancelled/side.pdf"] {
        assert!(room.path(name).exists(), "{name}: {:?}", room.tree());
    }
    assert!(!room.path("Cancelled/side.pdf.yaml").exists(), "{:?}", room.tree());
}

/// A person moves it to `Approve` while its text on the shelf is written anew.
#[test]
fn what_is_in_its_claim_again_is_not_put_to_the_shelf_as_left_over() {
    let dir = tempfile::tempdir().unwrap();
    let hot = Hot::open(dir.path(), false, &Keeper::default()).unwrap();
    let claim = dir.path().join(".mailchute/claim/01M8GTM7JVATQYE3WCDPTM29NX");
    std::fs::create_dir_all(&claim).unwrap();
    std::fs::create_dir(dir.path().join("Held")).unwrap();
    for name in ["x.pdf", "x.pdf.yaml"] {
        std::fs::write(claim.join(name), name).unwrap();
    }
    let rest = || hot.shelve_rest("01M8GTM7JVATQYE3WCDPTM29NX", Path::new("Held/x.pdf"));
    assert_eq!(rest().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    assert!(claim.join("x.pdf").exists() && claim.join("x.pdf.yaml").exists());
    std::fs::rename(claim.join("x.pdf"), dir.path().join("Held/x.pdf")).unwrap();
    rest().unwrap();
    assert!(dir.path().join("Held/x.pdf.yaml").exists() && !claim.exists());
}
