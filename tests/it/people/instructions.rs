//! What people say by moving and by copying files, and what they are told if it can't be done.

use mailchute::domain::letter::{Command, Number};
use mailchute::outside::store::Store;

use crate::rigs::journal;
use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::service::pdf;

fn approval() -> String {
    RULES.replace("rules:", "release: approval\nrules:")
}

pub async fn copies(room: &mut Mailroom, from: &str, to: &str) {
    std::fs::copy(room.path(from), room.path(to)).unwrap();
    for _ in 0..2 {
        room.settled().await;
    }
}

#[tokio::test]
async fn a_copy_says_what_a_move_says_and_is_taken_away() {
    let mut room = Mailroom::with(&approval()).await;
    for n in 1..=2 {
        room.drop(&format!("x{n}.pdf"), n);
    }
    room.settled().await;
    copies(&mut room, "Held/x1.pdf", "Approve/x1.pdf").await;
    copies(&mut room, "Held/x2.pdf", "Cancel/x2.pdf").await;
    assert_eq!(room.row_states(), ["confirmed", "withdrawn"]);
    let sent = room.sent();
    let expected =
        ["Cancelled/x2.pdf", "Cancelled/x2.txt", &format!("{sent}/x1.pdf"), &format!("{sent}/x1.txt")];
    assert_eq!(room.tree(), expected);
    // What was sent is called back by a copy as well.
    copies(&mut room, &format!("{sent}/x1.pdf"), "Cancel/x1.pdf").await;
    assert_eq!(room.row_states(), ["cancelled", "withdrawn"]);
    assert!(!room.path("Cancel/x1.pdf").exists() && room.path("Cancelled/x1.pdf").exists());
    // And so is what waits before it is a letter.
    room.stop();
    room.drop("x3.pdf", 3);
    room.drop("x4.pdf", 4);
    let marker = room.path(".mailchute/folder");
    let id = std::fs::read_to_string(&marker).unwrap();
    std::fs::remove_file(&marker).unwrap();
    assert!(!id.is_empty());
    room.start();
    for _ in 0..2 {
        room.settled().await;
    }
    assert_eq!(room.why("x3.pdf"), "it was there before");
    copies(&mut room, "Held/x3.pdf", "Approve/x3.pdf").await;
    copies(&mut room, "Held/x4.pdf", "Cancel/x4.pdf").await;
    assert_eq!(room.row_states(), ["cancelled", "withdrawn", "held"]);
    assert!(room.path("Cancelled/x4.pdf").exists() && !room.path("Cancel/x4.pdf").exists());
    room.check().await;
}

#[tokio::test]
async fn a_copy_that_fits_two_open_letters_does_nothing_and_lists_both_by_number_and_receiver() {
    let rules = approval().replace("rules:", "duplicates: {action: allow}\nrules:");
    let mut room = Mailroom::with(&rules).await;
    for _ in 0..2 {
        room.drop("x.pdf", 1);
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["held", "held"]);
    copies(&mut room, "Held/x.pdf", "Approve/x.pdf").await;
    assert_eq!(room.row_states(), ["held", "held"]);
    let note = room.note("Rejected/x.txt");
    assert!(note.contains("#2 to 山田 太郎; #1 to 山田 太郎"), "{note}");
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    let sql = "SELECT undecided FROM original WHERE undecided LIKE '%several%'";
    let kept: String = db.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(kept, r#"{"refused":{"wish":{"several":{"letters":[2,1]}}}}"#, "without receivers");
    // The one that is moved is meant.
    std::fs::rename(room.path("Held/x.pdf"), room.path("Approve/x.pdf")).unwrap();
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed", "held"]);
    room.check().await;
}

#[tokio::test]
async fn who_says_something_that_can_not_be_done_is_told_of_the_letter_and_never_to_send_it_again() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x1.pdf", 1);
    room.drop("x2.pdf", 2);
    room.settled().await;
    // Under another name it may be anything: the text says which letter it is.
    copies(&mut room, "Held/x1.pdf", "Approve/x1 - Copy.pdf").await;
    let note = room.note("Rejected/x1 - Copy.txt");
    assert!(note.contains("This is letter #1, which waits for a person.") && note.contains("do not send it"));
    assert_eq!(room.row_states(), ["held", "held"]);
    copies(&mut room, "Held/x1.pdf", "Approve/x1.pdf").await;
    assert_eq!(room.row_states(), ["confirmed", "held"]);
    // Posted already.
    let sent = room.sent();
    copies(&mut room, &format!("{sent}/x1.pdf"), "Approve/x1.pdf").await;
    let note = room.note("Rejected/x1.txt");
    assert!(
        note.contains("This is letter #1, which is posted.") && note.contains("Do not send it again"),
        "{note}"
    );
    // Altered by whoever looked at it, and moved: nothing is done for two minutes, in which it may be written.
    std::fs::remove_file(room.path("Held/x2.pdf")).unwrap();
    std::fs::write(room.path("Cancel/x2.pdf"), pdf(9)).unwrap();
    room.pass(60).await;
    assert!(room.path("Cancel/x2.pdf").exists());
    for _ in 0..2 {
        room.pass(70).await;
    }
    let note = room.note("Rejected/x2.txt");
    assert!(note.contains("Letter #2 has this name and other contents; it waits for a person."), "{note}");
    assert!(!note.contains("put it into the folder"), "{note}");
    // And what nobody knows may be posted.
    std::fs::write(room.path("Cancel/unknown.pdf"), pdf(8)).unwrap();
    for _ in 0..3 {
        room.pass(70).await;
    }
    let note = room.note("Rejected/unknown.txt");
    assert!(note.contains("Nothing waits under this name.") && note.contains("NOTHING WAS DONE"), "{note}");
    assert!(!note.contains("NOT POSTED"), "the letter that is meant may be posted: {note}");
    assert_eq!(room.row_states(), ["confirmed", "held"]);
    room.check().await;
}

#[tokio::test]
async fn a_copy_that_is_being_written_is_waited_for_and_one_that_can_not_be_removed_speaks_once() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x.pdf", 3);
    room.settled().await;
    let whole = std::fs::read(room.path("Held/x.pdf")).unwrap();
    std::fs::write(room.path("Cancel/x.pdf"), &whole[..whole.len() / 2]).unwrap();
    for _ in 0..3 {
        room.pass(30).await;
    }
    assert!(room.path("Cancel/x.pdf").exists(), "{:?}", room.tree());
    assert_eq!(room.row_states(), ["held"]);
    std::fs::write(room.path("Cancel/x.pdf"), &whole).unwrap();
    room.settled().await;
    assert_eq!(room.row_states(), ["withdrawn"]);

    // One that can't be removed is there at every look: it is heard once, whatever became of what it said.
    room.stop();
    let (store, _) = Store::open(&room.dir.path().join("state"), room.clock.now(), false).unwrap();
    let orders = || {
        let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
        db.query_row("SELECT count(*) FROM orders", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let before = orders();
    let says = async |file: &str| {
        store.said_in_folder(Number(1), Command::Release, file.to_owned(), room.clock.now()).await.unwrap();
        let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
        db.execute("UPDATE orders SET done_at = 1", []).unwrap();
    };
    says("7 8").await;
    says("7 8").await;
    assert_eq!(orders(), before + 1);
    says("7 9").await;
    assert_eq!(orders(), before + 2, "laid there once more it says it once more");
}

#[tokio::test]
async fn a_name_of_eighty_three_characters_is_approved_and_cancelled_like_any_other() {
    let mut room = Mailroom::with(&approval()).await;
    // 255 bytes: no sidecar could have a longer name.
    let [one, other] = ["x1", "x2"].map(|first| format!("{first}{}.pdf", "請".repeat(83)));
    assert_eq!(one.len(), 255);
    for (n, name) in [&one, &other].into_iter().enumerate() {
        room.drop(name, n + 1);
    }
    room.settled().await;
    assert_eq!(room.row_states(), ["held", "held"]);
    std::fs::rename(room.path(&format!("Held/{one}")), room.path(&format!("Approve/{one}"))).unwrap();
    std::fs::rename(room.path(&format!("Held/{other}")), room.path(&format!("Cancel/{other}"))).unwrap();
    for _ in 0..2 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed", "withdrawn"]);
    // One that needs a sidecar which can't be is not asked for it.
    let needs = format!("side{}.pdf", "x".repeat(247));
    room.drop(&needs, 3);
    room.settled().await;
    assert_eq!(
        (room.state(&needs).as_str(), room.why(&needs).as_str()),
        ("rejected", "no room for a sidecar's name")
    );
    room.check().await;
}

#[tokio::test]
async fn a_file_that_can_not_be_taken_up_is_obeyed_seen_and_reported_once() {
    journal::keep();
    let mut room = Mailroom::with(&approval()).await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.drop("side.pdf", 1);
    room.settled().await;
    let ulid = room.drops()["side.pdf"].ulid.clone();
    // What was moved along has its name taken where it would be taken back to.
    let in_the_way = room.path(&format!(".mailchute/claim/{ulid}"));
    std::fs::create_dir(&in_the_way).unwrap();
    for ending in ["yaml", "yml", "json"] {
        let json = r#"{"receiver": {"postal_code": "0600001", "state": "北海道", "city": "札幌市", "address1": "1-1", "name": "佐藤"}}"#;
        let same = if ending == "json" { json } else { SIDECAR };
        std::fs::write(in_the_way.join(format!("side.pdf.{ending}")), same).unwrap();
    }
    std::fs::write(room.path("Approve/side.pdf.yaml"), SIDECAR).unwrap();
    std::fs::rename(room.path("Held/side.pdf"), room.path("Approve/side.pdf")).unwrap();
    for _ in 0..10 {
        room.pass(1).await;
    }
    assert_eq!(room.row_states(), ["confirmed"], "what was said is done, whatever becomes of the file");
    assert!(room.path("Approve/side.pdf").exists());
    let text = room.note("THESE FILES WAIT.txt");
    assert!(text.contains("Approve/side.pdf: it can't be processed"), "{text}");
    for _ in 0..60 {
        room.pass(9).await;
    }
    let journal = journal::written();
    let count = |words: &str| journal.lines().filter(|line| line.contains(words)).count();
    assert_eq!(
        (count("can't be processed and is tried again"), count("a person ordered `release` with its file")),
        (1, 1),
        "{journal}"
    );
    assert!(journal.contains("file=\"side.pdf\""), "{journal}");
    std::fs::remove_dir_all(&in_the_way).unwrap();
    for _ in 0..60 {
        room.pass(9).await;
    }
    assert!(room.path(&format!("{}/side.pdf", room.sent())).exists(), "{:?}", room.tree());
    assert!(!room.path("THESE FILES WAIT.txt").exists());
    room.check().await;
}

#[tokio::test]
async fn the_sidecar_goes_along_when_only_the_pdf_is_moved_from_its_shelf() {
    let mut room = Mailroom::with(&approval()).await;
    for name in ["side1.pdf", "side2.pdf"] {
        std::fs::write(room.path(&format!("{name}.yaml")), SIDECAR).unwrap();
    }
    room.drop("side1.pdf", 1);
    room.drop("side2.pdf", 2);
    room.settled().await;
    assert_eq!(room.row_states(), ["held", "held"]);
    // One for a later drop of that name lies in the folder itself: it is not this letter's.
    std::fs::write(room.path("side1.pdf.json"), "{}").unwrap();
    std::fs::rename(room.path("Held/side1.pdf"), room.path("Approve/side1.pdf")).unwrap();
    std::fs::rename(room.path("Held/side2.pdf"), room.path("Cancel/side2.pdf")).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed", "withdrawn"]);
    let sent = room.sent();
    assert_eq!(
        room.tree(),
        [
            "Cancelled/side2.pdf".to_owned(),
            "Cancelled/side2.pdf.yaml".to_owned(),
            "Cancelled/side2.txt".to_owned(),
            format!("{sent}/side1.pdf"),
            format!("{sent}/side1.pdf.yaml"),
            format!("{sent}/side1.txt"),
            "side1.pdf.json".to_owned(),
        ]
    );
    room.check().await;
}
