//! What is handed back takes its address along, and an address that lies alone decides about no other drop.

use super::mails::ship;
use super::namesakes::{again, moves, posted, sidecar};
use crate::rigs::mailroom::{Mailroom, RULES};
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
        // Nothing waits for it now, and the letter that is on its way has it.
        std::fs::write(room.path("Approve/side.pdf.yaml"), sidecar("鈴木")).unwrap();
        again(&mut room).await;
        assert!(!room.path("Approve/side.pdf.yaml").exists(), "{:?}", room.tree());
        assert!(!room.path("Rejected/side.pdf.yaml").exists(), "it is a copy: {:?}", room.tree());
        room.check().await;
    }
}
