//! Files of one name, addresses that come to a drop later, subfolders that are copied, and moves that a crash cut off:
//! each letter goes to the address that came with it, and each person is heard.

use std::path::Path;

use mailchute::domain::letter::{Number, State};

use super::two_of_a_name::two_that_wait;
use crate::rigs::files::copy_tree;
use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::service::pdf;

pub fn approval() -> String {
    RULES.replace("rules:", "release: approval\nrules:")
}

pub async fn again(room: &mut Mailroom) {
    for _ in 0..3 {
        room.settled().await;
    }
}

pub fn moves(room: &Mailroom, from: &str, to: &str) {
    std::fs::rename(room.path(from), room.path(to)).unwrap();
}

/// The receivers and page counts of the letters that were confirmed.
pub fn posted(room: &Mailroom) -> Vec<(String, u32)> {
    let desk = room.desk();
    let letters = (1..).map_while(|number| desk.letter(Number(number)).unwrap());
    let confirmed = letters.filter(|letter| matches!(letter.state, State::Confirmed { .. }));
    confirmed
        .map(|letter| (letter.order.receiver.address.name.clone(), letter.order.documents[0].pages))
        .collect()
}

pub fn sidecar(receiver: &str) -> String {
    SIDECAR.replace("佐藤", receiver)
}

/// The daemon was killed after the original was moved to its shelf and before that was recorded.
fn forget_the_move(room: &mut Mailroom, name: &str) {
    room.stop();
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    let sql =
        "UPDATE original SET place = 'claim', moving = shelved, shelved = NULL, inode = NULL, told = NULL,
               due_at = 1, changes = changes + 1 WHERE name = ?1";
    assert_eq!(db.execute(sql, [name.as_bytes()]).unwrap(), 1);
}

#[tokio::test]
async fn an_order_about_a_move_that_was_not_recorded_is_obeyed() {
    for (to, state) in [("Cancel", "withdrawn"), ("Approve", "confirmed")] {
        let mut room = Mailroom::with(&approval()).await;
        room.drop("x.pdf", 1);
        room.settled().await;
        forget_the_move(&mut room, "x.pdf");
        moves(&room, "Held/x.pdf", &format!("{to}/x.pdf"));
        room.start();
        again(&mut room).await;
        assert_eq!(room.row_states(), [state], "{:?}", room.tree());
        room.check().await;
    }
    // Taken away altogether, it is known by its place when it is brought back.
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    forget_the_move(&mut room, "x.pdf");
    moves(&room, "Held/x.pdf", "../aside.pdf");
    room.start();
    again(&mut room).await;
    moves(&room, "../aside.pdf", "Cancel/x.pdf");
    again(&mut room).await;
    assert_eq!(room.row_states(), ["withdrawn"], "{:?}", room.tree());
}

#[tokio::test]
async fn of_two_with_the_same_bytes_the_one_that_was_moved_on_is_meant() {
    let mut room = Mailroom::with(&approval()).await;
    for (name, receiver) in [("side1.pdf", "佐藤"), ("side2.pdf", "鈴木")] {
        std::fs::write(room.path(&format!("{name}.yaml")), sidecar(receiver)).unwrap();
        room.drop(name, 1);
        room.settled().await;
    }
    forget_the_move(&mut room, "side2.pdf");
    moves(&room, "Held/side2.pdf", "Approve/side2.pdf");
    room.start();
    again(&mut room).await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 1)], "{:?}", room.tree());
    assert!(room.path("Held/side1.pdf").exists());
    room.check().await;
}

#[tokio::test]
async fn an_address_that_may_be_for_two_drops_of_a_name_decides_about_neither() {
    let mut room = Mailroom::with(RULES).await;
    room.drop("side.pdf", 1);
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    assert_eq!(room.why("side.pdf"), "no sidecar came");
    assert!(room.note("Held/side.txt").contains("Put the address here, beside the PDF"));
    // A person gives the address for the first, and the next of its name comes without its own.
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.drop("side.pdf", 2);
    again(&mut room).await;
    assert_eq!(posted(&room), [], "{:?}", room.tree());
    assert!(room.note("Held/side (2).txt").contains("nobody knows for which of them it is"));
    moves(&room, "Held/side.pdf", "Approve/side.pdf");
    again(&mut room).await;
    assert_eq!(posted(&room), [], "{:?}", room.tree());
    // A person who approves the second says that the address beside it is right.
    moves(&room, "Held/side (2).pdf", "Approve/side (2).pdf");
    again(&mut room).await;
    assert_eq!(posted(&room), [("佐藤".to_owned(), 2)], "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn an_address_beside_its_pdf_on_the_shelf_or_in_approve_is_that_pdfs() {
    let mut room = two_that_wait().await;
    std::fs::write(room.path("Held/side (2).pdf.yaml"), sidecar("鈴木")).unwrap();
    moves(&room, "Held/side (2).pdf", "Approve/side (2).pdf");
    // Alone in `Approve`, it waits beside its PDF and never goes into the folder.
    std::fs::write(room.path("Approve/side.pdf.yaml"), sidecar("佐藤")).unwrap();
    again(&mut room).await;
    assert!(
        room.path("Held/side.pdf.yaml").exists() && !room.path("side.pdf.yaml").exists(),
        "{:?}",
        room.tree()
    );
    moves(&room, "Held/side.pdf", "Approve/side.pdf");
    again(&mut room).await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 2), ("佐藤".to_owned(), 1)], "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn a_sidecar_that_is_copied_along_strays_to_no_other_drop() {
    let padded = [pdf(1), vec![0x1a]].concat();
    let mut room = Mailroom::with(RULES).await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    std::fs::write(room.path("side.pdf"), &padded).unwrap();
    room.settled().await;
    for name in ["side.pdf", "side.pdf.yaml"] {
        std::fs::copy(room.path("Held").join(name), room.path("Approve").join(name)).unwrap();
    }
    again(&mut room).await;
    assert_eq!(posted(&room), [("佐藤".to_owned(), 1)], "{:?}", room.tree());
    assert!(
        !room.path("side.pdf.yaml").exists() && !room.path("Approve/side.pdf.yaml").exists(),
        "{:?}",
        room.tree()
    );
    // One that belongs to nothing is handed back, and not put into the folder.
    std::fs::write(room.path("Approve/other.pdf.yaml"), SIDECAR).unwrap();
    again(&mut room).await;
    assert!(room.path("Rejected/other.pdf.yaml").exists(), "{:?}", room.tree());
    // Two addresses for one drop are refused, wherever they lay.
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    std::fs::write(room.path("side.pdf"), [pdf(3), vec![0x1a]].concat()).unwrap();
    room.settled().await;
    std::fs::write(room.path("Approve/side.pdf.yaml"), sidecar("鈴木")).unwrap();
    moves(&room, "Held/side.pdf", "Approve/side.pdf");
    again(&mut room).await;
    assert_eq!(posted(&room).len(), 1, "{:?}", room.tree());
    assert_eq!(room.why("side.pdf"), "several sidecars");
    room.check().await;
}

#[tokio::test]
async fn a_sidecar_that_was_saved_again_after_a_crash_stops_no_folder() {
    let mut room = Mailroom::with(RULES).await;
    // Claimed after the folder was marked, so it is ours.
    room.pass(60).await;
    let claim = room
        .path(".mailchute/claim")
        .join(mailchute::outside::spool::Ulid::after(None, room.clock.now()).unwrap().to_string());
    room.stop();
    std::fs::create_dir(&claim).unwrap();
    std::fs::write(claim.join("side.pdf.yaml"), SIDECAR).unwrap();
    std::fs::write(room.path("side.pdf.yaml"), sidecar("鈴木")).unwrap();
    room.drop("side.pdf", 1);
    room.drop("x.pdf", 2);
    room.start();
    again(&mut room).await;
    let mut all = posted(&room);
    all.sort();
    assert_eq!(
        all.iter().filter(|(_, pages)| *pages == 1).collect::<Vec<_>>(),
        [&("鈴木".to_owned(), 1)],
        "{:?}",
        room.tree()
    );
    assert_eq!(all.len(), 2);
    assert!(room.note("Rejected/side.pdf.txt").contains("saved again later"), "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn an_approval_by_copy_that_a_crash_cut_off_is_carried_out_by_the_next_copy() {
    let padded = [pdf(1), vec![0x1a]].concat();
    let mut room = Mailroom::with(RULES).await;
    std::fs::write(room.path("x.pdf"), &padded).unwrap();
    room.settled().await;
    room.stop();
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    let accepted =
        format!(r#"{{"accepted":{{"doubts":["{}"]}}}}"#, mailchute::outside::spool::sha256_of(&padded));
    db.execute("UPDATE original SET undecided = ?1", [accepted]).unwrap();
    std::fs::copy(room.path("Held/x.pdf"), room.path("Approve/x.pdf")).unwrap();
    room.start();
    again(&mut room).await;
    assert_eq!(posted(&room).len(), 1, "{:?}", room.tree());
    assert!(!room.tree().iter().any(|path| path.starts_with("Rejected")), "{:?}", room.tree());
    room.check().await;
}

fn subfolder(dir: &Path, pages: &[usize]) {
    std::fs::create_dir_all(dir).unwrap();
    for (index, pages) in pages.iter().enumerate() {
        std::fs::write(dir.join(format!("{}.pdf", index + 1)), pdf(*pages)).unwrap();
    }
}

#[tokio::test]
async fn a_copied_subfolder_is_an_order_and_one_with_other_contents_is_not() {
    let rules = approval().replace("path:", "letter: subfolder\npath:");
    for (to, state) in [("Cancel", "withdrawn"), ("Approve", "confirmed")] {
        let mut room = Mailroom::with(&rules).await;
        subfolder(&room.path("x"), &[1, 2]);
        again(&mut room).await;
        assert_eq!(room.row_states(), ["held"], "{:?}", room.tree());
        // Other contents under its name.
        subfolder(&room.path(to).join("x"), &[1, 3]);
        room.settled().await;
        room.pass(180).await;
        again(&mut room).await;
        assert_eq!(room.row_states(), ["held"], "{:?}", room.tree());
        assert!(room.note("Rejected/x.txt").contains("other contents"), "{}", room.note("Rejected/x.txt"));
        copy_tree(&room.path("Held/x"), &room.path(to).join("x"));
        again(&mut room).await;
        assert_eq!(room.row_states(), [state], "{:?}", room.tree());
    }
    // Taken away and replaced by another: the other is not posted in its place.
    let mut room = Mailroom::with(&rules).await;
    subfolder(&room.path("x"), &[1, 2]);
    again(&mut room).await;
    moves(&room, "Held/x", "../aside");
    subfolder(&room.path("Approve/x"), &[4]);
    room.settled().await;
    room.pass(180).await;
    again(&mut room).await;
    assert_eq!(room.row_states(), ["held"], "{:?}", room.tree());
}

#[tokio::test]
async fn an_address_whose_name_has_no_room_beside_its_pdf_comes_back_with_it() {
    let mut room = Mailroom::open().await;
    let pdf = String::from_utf8_lossy(&pdf(1)).replace("/Type /Catalog", "/Type /Catalog /Dummy");
    let name = format!("side{}.pdf", "x".repeat(243));
    // Another file has its name on the shelf, so it gets a longer one.
    std::fs::create_dir_all(room.path("Held")).unwrap();
    std::fs::write(room.path(&format!("Held/{name}")), "a person's own").unwrap();
    std::fs::write(room.path(&format!("{name}.yml")), sidecar("鈴木")).unwrap();
    std::fs::write(room.path(&name), pdf.replace("%%EOF", "%%EOF\0\0\0\0")).unwrap();
    room.settled().await;
    let held = format!("Held/{} (2).pdf", &name[..name.len() - 4]);
    assert_eq!(room.state(&name), "held", "{:?}", room.tree());
    moves(&room, &held, &held.replace("Held/", "Approve/"));
    again(&mut room).await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 1)], "{:?}", room.tree());
}

#[tokio::test]
async fn what_cannot_be_compared_is_not_called_other_contents() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    std::fs::hard_link(room.path("Held/x.pdf"), room.path("Cancel/x.pdf")).unwrap();
    // It may be a program's that writes by linking; then it may still be being copied.
    for seconds in [1, 90, 150] {
        room.settled().await;
        room.pass(seconds).await;
    }
    again(&mut room).await;
    let note = room.note("Rejected/x.txt");
    assert!(note.contains("second name") && note.contains("MOVE the file that is held"), "{note}");
    assert_eq!(room.row_states(), ["held"]);
}
