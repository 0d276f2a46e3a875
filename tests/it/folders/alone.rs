//! A sidecar whose PDF does not come is handed back, and decides over no later PDF of that name.

use crate::rigs::mailroom::{Mailroom, SIDECAR};

/// The sidecar alone, until it is handed back.
async fn handed_back(room: &mut Mailroom, sidecar: &str) {
    std::fs::write(room.path(sidecar), SIDECAR).unwrap();
    room.settled().await;
    room.pass(580).await;
    let sidecar = &mailchute::domain::drop::shown(sidecar.as_bytes());
    assert_eq!(room.state(sidecar), "not taken", "it is waited for");
    room.pass(30).await;
    room.settled().await;
    assert_eq!(
        (room.state(sidecar).as_str(), room.why(sidecar).as_str()),
        ("rejected", "a sidecar without its PDF")
    );
}

#[tokio::test]
async fn a_sidecar_whose_pdf_does_not_come_is_handed_back_and_a_pdf_of_that_name_is_held() {
    let mut room = Mailroom::open().await;
    handed_back(&mut room, "xa.pdf.yaml").await;
    assert_eq!(room.tree(), ["Rejected/xa.pdf.txt", "Rejected/xa.pdf.yaml"]);
    let note = room.note("Rejected/xa.pdf.txt");
    assert!(note.contains("No `xa.pdf` came with it.") && note.contains("together"), "{note}");
    // Also after a start.
    room.stop();
    room.start();
    room.pass(23 * 3600).await;
    room.drop("xa.pdf", 1);
    room.drop("xb.pdf", 3);
    room.settled().await;
    assert_eq!((room.state("xa.pdf").as_str(), room.state("xb.pdf").as_str()), ("held", "confirmed"));
    assert_eq!(room.why("xa.pdf"), "its sidecar was handed back");
    let note = room.note("Held/xa.txt");
    assert!(note.contains("`xa.pdf.yaml`"), "{note}");
    // What the text says: approved, it goes by the rules of the folder.
    std::fs::rename(room.path("Held/xa.pdf"), room.path("Approve/xa.pdf")).unwrap();
    room.settled().await;
    room.settled().await;
    assert_eq!(room.state("xa.pdf"), "confirmed");
    // A day later the name counts like any other.
    room.pass(2 * 3600).await;
    std::fs::write(room.path("xa.pdf"), crate::rigs::service::pdf(2)).unwrap();
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"; 3]);
    room.check().await;
}

#[tokio::test]
async fn the_sidecar_that_was_handed_back_is_put_into_the_folder_with_its_pdf() {
    let mut room = Mailroom::open().await;
    handed_back(&mut room, "side.pdf.yaml").await;
    std::fs::rename(room.path("Rejected/side.pdf.yaml"), room.path("side.pdf.yaml")).unwrap();
    room.drop("side.pdf", 1);
    room.settled().await;
    assert_eq!(room.state("side.pdf"), "confirmed");
    room.check().await;
}

/// An address in the folder may be that of the next PDF of the name.
#[tokio::test]
async fn a_held_pdf_gets_the_sidecar_that_was_put_beside_it_and_none_from_the_folder() {
    let mut room = Mailroom::open().await;
    room.drop("side.pdf", 1);
    room.settled().await;
    room.pass(590).await;
    room.settled().await;
    room.settled().await;
    assert_eq!(room.why("side.pdf"), "no sidecar came");
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    let approve = |room: &Mailroom| {
        std::fs::rename(room.path("Held/side.pdf"), room.path("Approve/side.pdf")).unwrap();
    };
    approve(&room);
    room.settled().await;
    room.settled().await;
    assert_eq!(room.why("side.pdf"), "no sidecar came");
    assert!(room.note("Held/side.txt").contains("and not where the PDF was dropped"));
    // Nobody drops a PDF with it.
    room.pass(600).await;
    room.settled().await;
    assert_eq!(room.state("side.pdf.yaml"), "rejected");
    assert!(room.note("Rejected/side.pdf.txt").contains("put this beside it there"));
    std::fs::rename(room.path("Rejected/side.pdf.yaml"), room.path("Held/side.pdf.yaml")).unwrap();
    approve(&room);
    room.settled().await;
    room.settled().await;
    assert_eq!(room.state("side.pdf"), "confirmed");
    room.check().await;
}

#[tokio::test]
async fn a_sidecar_is_not_handed_back_while_its_pdf_is_growing() {
    let mut room = Mailroom::open().await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.settled().await;
    for growing in 0..100 {
        std::fs::write(room.path("side.pdf"), [&b"%PDF-1.4 "[..], &vec![b'x'; growing]].concat()).unwrap();
        room.pass(4).await;
    }
    room.drop("side.pdf", 1);
    room.settled().await;
    assert_eq!(room.drops().len(), 1);
    assert_eq!(room.state("side.pdf"), "confirmed");
    // Taken away by who dropped it, the PDF is waited for from that moment on.
    std::fs::write(room.path("c.pdf.yaml"), SIDECAR).unwrap();
    std::fs::write(room.path("c.pdf"), "").unwrap();
    room.pass(1).await;
    room.pass(590).await;
    std::fs::remove_file(room.path("c.pdf")).unwrap();
    room.pass(20).await;
    assert_eq!(room.state("c.pdf.yaml"), "not taken");
    room.pass(600).await;
    room.settled().await;
    assert_eq!(room.state("c.pdf.yaml"), "rejected");
    room.check().await;
}

#[tokio::test]
async fn the_name_of_a_sidecar_counts_however_its_letters_are_composed() {
    let mut room = Mailroom::open().await;
    handed_back(&mut room, "xか\u{3099}.pdf.yaml").await;
    room.drop("xが.pdf", 1);
    room.settled().await;
    assert_eq!(room.why("xが.pdf"), "its sidecar was handed back", "{:?}", room.drops());
}

#[tokio::test]
async fn a_sidecar_that_was_handed_back_counts_in_a_folder_whose_file_was_renamed() {
    let mut room = Mailroom::open().await;
    handed_back(&mut room, "x.pdf.yaml").await;
    let file = |name: &str| room.dir.path().join(format!("folders/{name}.yaml"));
    std::fs::rename(file("letters"), file("office")).unwrap();
    room.reload();
    room.settled().await;
    room.drop("x.pdf", 1);
    room.settled().await;
    assert_eq!(
        (room.state("x.pdf").as_str(), room.why("x.pdf").as_str()),
        ("held", "its sidecar was handed back")
    );
    room.check().await;
}
