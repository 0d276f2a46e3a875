//! What is handed back takes its address along, and an address that lies alone decides about no other drop.

use chrono::TimeDelta;

use super::mails::ship;
use super::namesakes::{again, approval, moves, posted, sidecar};
use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::service::pdf;

/// A drop that is held because no address came.
async fn without_an_address() -> Mailroom {
    let mut room = Mailroom::with(RULES).await;
    room.drop("side.pdf", 1);
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    assert!(room.path("Held/side.pdf").exists(), "{:?}", room.tree());
    room
}

#[tokio::test]
async fn a_pdf_that_is_handed_back_takes_its_address_along() {
    for (place, name) in [("Approve", "side.pdf"), ("Cancel", "side.pdf"), ("Approve", "SIDE.pdf")] {
        let mut room = without_an_address().await;
        std::fs::write(room.path(&format!("{place}/{name}")), pdf(3)).unwrap();
        std::fs::write(room.path(&format!("{place}/{name}.yaml")), sidecar("鈴木")).unwrap();
        room.settled().await;
        room.pass(150).await;
        again(&mut room).await;
        let tree = room.tree();
        assert!(tree.contains(&format!("Rejected/{name}")), "{tree:?}");
        assert!(tree.contains(&format!("Rejected/{name}.yaml")), "{tree:?}");
        assert!(!room.path("Held/side.pdf.yaml").exists(), "{tree:?}");
        // Neither that address nor another is known for the one that waits.
        moves(&room, "Held/side.pdf", "Approve/side.pdf");
        again(&mut room).await;
        assert_eq!(posted(&room), [], "{:?}", room.tree());
        room.check().await;
    }
}

#[tokio::test]
async fn an_address_alone_in_cancel_is_given_to_no_drop() {
    let mut room = without_an_address().await;
    std::fs::write(room.path("Cancel/side.pdf.yaml"), sidecar("鈴木")).unwrap();
    again(&mut room).await;
    assert!(room.path("Rejected/side.pdf.yaml").exists(), "{:?}", room.tree());
    assert!(!room.path("Held/side.pdf.yaml").exists(), "{:?}", room.tree());
    // What its text says of a PDF that comes alone, in a folder whose sidecars were asked for before.
    room.drop("xa.pdf", 1);
    room.settled().await;
    std::fs::write(room.path("Cancel/xa.pdf.yaml"), sidecar("鈴木")).unwrap();
    again(&mut room).await;
    std::fs::write(room.path("xa.pdf"), pdf(2)).unwrap();
    again(&mut room).await;
    assert_eq!(room.why("xa.pdf"), "its sidecar was handed back");
}

#[tokio::test]
async fn an_address_for_a_drop_that_waits_is_kept_though_an_earlier_letter_had_the_same() {
    for has_shipped in [false, true] {
        let mut room = Mailroom::with(RULES).await;
        std::fs::write(room.path("side.pdf.yaml"), sidecar("鈴木")).unwrap();
        room.drop("side.pdf", 1);
        room.settled().await;
        assert_eq!(posted(&room), [("鈴木".to_owned(), 1)], "{:?}", room.tree());
        if has_shipped {
            ship(&mut room).await;
        }
        room.drop("side.pdf", 2);
        room.settled().await;
        room.pass(600).await;
        again(&mut room).await;
        std::fs::write(room.path("Approve/side.pdf.yaml"), sidecar("鈴木")).unwrap();
        again(&mut room).await;
        assert!(room.path("Held/side.pdf.yaml").exists(), "{:?}", room.tree());
        moves(&room, "Held/side.pdf", "Approve/side.pdf");
        again(&mut room).await;
        assert_eq!(posted(&room).last(), Some(&("鈴木".to_owned(), 2)), "{:?}", room.tree());
        // Nothing waits for it now. If a letter that lies under this name and is on its way has it, it is a copy.
        std::fs::write(room.path("Approve/side.pdf.yaml"), sidecar("鈴木")).unwrap();
        again(&mut room).await;
        assert!(!room.path("Approve/side.pdf.yaml").exists(), "{:?}", room.tree());
        assert_eq!(room.path("Rejected/side.pdf.yaml").exists(), has_shipped, "{:?}", room.tree());
        room.check().await;
    }
}

/// A person corrects the address of one that waits. That another of the name has this address already must not hide it.
#[tokio::test]
async fn an_address_that_corrects_one_that_waits_is_no_copy_of_anothers() {
    let mut room = Mailroom::closed(RULES).await;
    for (receiver, pages) in [("佐藤", 1), ("鈴木", 2)] {
        std::fs::write(room.path("side.pdf.yaml"), sidecar(receiver)).unwrap();
        room.drop("side.pdf", pages);
        if pages == 1 {
            room.start();
        }
        again(&mut room).await;
    }
    assert!(room.path("Held/side.pdf.yaml").exists(), "{:?}", room.tree());
    let of_the_second = [("鈴木".to_owned(), 2)];
    assert_eq!(posted(&room), of_the_second, "{:?}", room.tree());
    std::fs::write(room.path("Approve/side.pdf.yaml"), sidecar("鈴木")).unwrap();
    again(&mut room).await;
    assert!(room.path("Rejected/side.pdf.yaml").exists(), "{:?}", room.tree());
    assert_eq!(posted(&room), of_the_second, "{:?}", room.tree());
    room.check().await;
}

/// It may be meant for the next PDF of the name, so it is not lost.
#[tokio::test]
async fn an_address_that_only_an_ended_letter_had_is_handed_back() {
    let mut room = Mailroom::with(RULES).await;
    std::fs::write(room.path("side.pdf.yaml"), sidecar("鈴木")).unwrap();
    room.drop("side.pdf", 1);
    room.settled().await;
    ship(&mut room).await;
    assert_eq!(room.row_states(), ["shipped"]);
    std::fs::write(room.path("Approve/side.pdf.yaml"), sidecar("鈴木")).unwrap();
    again(&mut room).await;
    assert!(room.path("Rejected/side.pdf.yaml").exists(), "{:?}", room.tree());
    room.check().await;
}

/// The two would look as if they belonged together, and whoever drops them again would post to a stranger.
#[tokio::test]
async fn an_address_that_is_handed_back_does_not_lie_beside_the_pdf_of_another() {
    let mut room = Mailroom::with(RULES).await;
    std::fs::write(room.path("side.pdf"), "no PDF").unwrap();
    room.settled().await;
    assert!(room.path("Rejected/side.pdf").exists(), "{:?}", room.tree());
    std::fs::write(room.path("side.pdf.yaml"), sidecar("鈴木")).unwrap();
    room.settled().await;
    room.pass(700).await;
    again(&mut room).await;
    let tree = room.tree();
    assert!(
        !room.path("side.pdf.yaml").exists() && !room.path("Rejected/side.pdf.yaml").exists(),
        "{tree:?}"
    );
    assert!(room.path("Rejected/side (2).pdf.yaml").exists(), "{tree:?}");
}

/// They are put there in one look.
#[tokio::test]
async fn neither_do_those_that_are_handed_back_at_the_same_time() {
    let mut room = Mailroom::with(RULES).await;
    std::fs::write(room.path("Approve/side.pdf.yaml"), sidecar("鈴木")).unwrap();
    std::fs::write(room.path("side.pdf"), "no PDF").unwrap();
    room.pass_only(Loop::Intake, 10).await;
    room.turn(Loop::Shelves).await;
    let rejected: Vec<String> = room
        .tree()
        .into_iter()
        .filter(|name| name.starts_with("Rejected/") && !name.contains(".txt"))
        .collect();
    assert_eq!(rejected.len(), 2, "{:?}", room.tree());
    assert_ne!(rejected, ["Rejected/side.pdf", "Rejected/side.pdf.yaml"]);
}

#[tokio::test]
async fn a_letter_is_not_laid_beside_the_address_of_another() {
    let mut room = Mailroom::with(&approval()).await;
    std::fs::create_dir_all(room.path("Held")).unwrap();
    std::fs::write(room.path("Held/side.pdf.yaml"), sidecar("佐藤")).unwrap();
    std::fs::write(room.path("side.pdf.yaml"), sidecar("鈴木")).unwrap();
    room.drop("side.pdf", 1);
    room.settled().await;
    assert!(!room.path("Held/side.pdf").exists(), "{:?}", room.tree());
    moves(&room, "Held/side (2).pdf", "Cancel/side (2).pdf");
    again(&mut room).await;
    let tree = room.tree();
    assert!(tree.contains(&"Cancelled/side.pdf.yaml".to_owned()), "{tree:?}");
    let address = std::fs::read_to_string(room.path("Cancelled/side.pdf.yaml")).unwrap();
    assert!(address.contains("鈴木"), "{address}");
    assert!(room.path("Held/side.pdf.yaml").exists(), "{:?}", room.tree());
    room.check().await;
}

/// The record of its refusal can't be written, and the daemon ends.
#[tokio::test]
async fn an_address_alone_in_approve_comes_into_no_folder_after_a_crash() {
    let mut room = without_an_address().await;
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    let refuse = "CREATE TRIGGER refused BEFORE INSERT ON original BEGIN SELECT RAISE(ABORT, 'refused'); END";
    db.execute_batch(refuse).unwrap();
    std::fs::write(room.path("Approve/other.pdf.yaml"), sidecar("鈴木")).unwrap();
    room.pass_only(Loop::Intake, 1).await;
    room.clock.move_by(TimeDelta::seconds(1)).unwrap();
    room.refused().await;
    room.stop();
    db.execute_batch("DROP TRIGGER refused").unwrap();
    room.start();
    room.settled().await;
    again(&mut room).await;
    // It is held as something whose name is not known any more.
    assert!(!room.path("other.pdf.yaml").exists(), "{:?}", room.tree());
    assert_eq!(
        std::fs::read_to_string(room.path("Held/address")).unwrap(),
        sidecar("鈴木"),
        "{:?}",
        room.tree()
    );
}

/// A person has the PDF for which it is.
#[tokio::test]
async fn an_address_alone_is_not_given_to_a_pdf_that_has_the_place_of_another() {
    let mut room = without_an_address().await;
    moves(&room, "Held/side.pdf", "../aside.pdf");
    std::fs::remove_file(room.path("Held/side.txt")).unwrap();
    room.drop("side.pdf", 2);
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    assert!(room.path("Held/side.pdf").exists(), "{:?}", room.tree());
    std::fs::write(room.path("Approve/side.pdf.yaml"), sidecar("鈴木")).unwrap();
    again(&mut room).await;
    assert!(!room.path("Held/side.pdf.yaml").exists(), "{:?}", room.tree());
    assert!(!room.path("Approve/side.pdf.yaml").exists(), "{:?}", room.tree());
}

#[tokio::test]
async fn what_is_no_pdf_has_no_address_beside_it() {
    let mut room = Mailroom::with(RULES).await;
    let names = ["side.tif", "side.tif.json", "Approve/other.png", "Approve/other.png.yaml"];
    for name in names {
        std::fs::write(room.path(name), name).unwrap();
    }
    room.settled().await;
    room.pass(150).await;
    again(&mut room).await;
    let rejected = room.tree().into_iter().filter(|name| !name.contains(".txt"));
    let mut rejected: Vec<String> =
        rejected.map(|name| std::fs::read_to_string(room.path(&name)).unwrap()).collect();
    rejected.sort();
    let mut expected = names.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(rejected, expected, "{:?}", room.tree());
    assert_eq!(room.drops().len(), 4, "each was judged by itself");
}
