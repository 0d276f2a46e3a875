//! A sidecar whose PDF does not come is handed back, and decides over no later PDF of that name.

use mailchute::domain::drop::shown;

use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::service::pdf;

/// The sidecar alone, until it is handed back.
async fn handed_back(room: &mut Mailroom, sidecar: &str) {
    std::fs::write(room.path(sidecar), SIDECAR).unwrap();
    room.settled().await;
    room.pass(580).await;
    let sidecar = &shown(sidecar.as_bytes());
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

/// A PDF of one page needs no address of its own.
fn mixed() -> String {
    format!(
        "{RULES}  - name: one page
    when: {{file_name: '^mix', pages: ..1}}
    receiver: {{book: '000123'}}
    shipping: {{method: normal}}
  - name: more
    when: {{file_name: '^mix'}}
    receiver: sidecar
    shipping: {{method: normal}}
"
    )
}

/// The first PDF was held when its address was saved, and then approved without it.
#[tokio::test]
async fn an_address_that_waits_is_given_to_no_other_once_its_pdf_was_taken_in() {
    let mut room = Mailroom::with(&mixed()).await;
    let padded = [pdf(1), vec![0; 3]].concat();
    std::fs::write(room.path("mix.pdf"), padded).unwrap();
    room.settled().await;
    assert_eq!(room.state("mix.pdf"), "held", "{:?}", room.tree());
    std::fs::write(room.path("mix.pdf.yaml"), SIDECAR).unwrap();
    room.settled().await;
    std::fs::rename(room.path("Held/mix.pdf"), room.path("Approve/mix.pdf")).unwrap();
    room.settled().await;
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"], "{:?}", room.tree());
    assert!(room.path("mix.pdf.yaml").exists());
    room.drop("mix.pdf", 2);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"], "{:?}", room.tree());
    assert_eq!(room.why("mix.pdf"), "a sidecar that may be another PDF's");
    room.check().await;
}

/// Its rule needed no address, so the PDF was posted. An address that is saved only then is for that one, if for any.
#[tokio::test]
async fn an_address_that_comes_after_its_pdf_was_taken_in_is_given_to_no_other() {
    for (first, address) in [("mix.pdf", "mix.pdf.yaml"), ("mixが.pdf", "mixか\u{3099}.pdf.yaml")] {
        let mut room = Mailroom::with(&mixed()).await;
        room.drop(first, 1);
        room.settled().await;
        assert_eq!(room.state(first), "confirmed", "{:?}", room.tree());
        room.pass(580).await;
        std::fs::write(room.path(address), SIDECAR).unwrap();
        room.settled().await;
        room.settled().await;
        assert_eq!(room.state(&shown(address.as_bytes())), "rejected", "{:?}", room.tree());
        let note = room.note(&format!("Rejected/{}.txt", address.trim_end_matches(".yaml")));
        assert!(note.contains("which is letter #1. That letter does not use this address"), "{note}");
        // Whoever drops another PDF of the name has not seen that address.
        room.drop(first, 2);
        room.settled().await;
        room.pass(600).await;
        room.settled().await;
        assert_eq!(room.why(first), "no sidecar came");
        assert_eq!(room.row_states().len(), 1, "{:?}", room.tree());
        room.check().await;
    }
}

#[tokio::test]
async fn an_address_waits_if_the_last_pdf_of_the_name_came_long_ago_had_its_own_or_was_cancelled() {
    let mut room = Mailroom::with(&RULES.replace("rules:", "release: approval\nrules:")).await;
    // It came long ago.
    room.drop("xa.pdf", 1);
    room.settled().await;
    room.pass(610).await;
    // It had its own.
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.drop("side.pdf", 1);
    // It was cancelled.
    room.drop("xc.pdf", 1);
    room.settled().await;
    room.settled().await;
    std::fs::rename(room.path("Held/xc.pdf"), room.path("Cancel/xc.pdf")).unwrap();
    room.settled().await;
    room.settled().await;
    for name in ["side.pdf.yaml", "xa.pdf.yaml", "xc.pdf.yaml"] {
        std::fs::write(room.path(name), SIDECAR).unwrap();
    }
    room.settled().await;
    room.pass(580).await;
    for name in ["side.pdf.yaml", "xa.pdf.yaml", "xc.pdf.yaml"] {
        assert_eq!(room.state(name), "not taken", "{name}: {:?}", room.tree());
    }
    // The wait ends as ever.
    room.pass(30).await;
    room.settled().await;
    assert_eq!(room.state("xc.pdf.yaml"), "rejected", "{:?}", room.tree());
    assert!(room.note("Rejected/xc.pdf.txt").contains("No `xc.pdf` came with it."));
    room.check().await;
}

/// Nobody needs to guess whose the address is: it came with its PDF.
#[tokio::test]
async fn a_pair_that_comes_together_is_posted_though_one_of_its_name_had_no_address() {
    let mut room = Mailroom::with(&mixed()).await;
    // An address that was taken away again counts no more.
    std::fs::write(room.path("mix.pdf.yaml"), SIDECAR).unwrap();
    room.pass(1).await;
    std::fs::remove_file(room.path("mix.pdf.yaml")).unwrap();
    room.drop("mix.pdf", 1);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"], "{:?}", room.tree());
    std::fs::write(room.path("mix.pdf.yaml"), SIDECAR).unwrap();
    room.drop("mix.pdf", 2);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"; 2], "{:?}", room.tree());
    room.check().await;
}

/// What lies in the folder at the start, or in a claim, may have come in any order.
#[tokio::test]
async fn a_pair_that_came_while_nobody_looked_is_held_if_one_of_its_name_had_no_address() {
    for is_claimed in [false, true] {
        let mut room = Mailroom::with(&mixed()).await;
        room.drop("mix.pdf", 1);
        room.settled().await;
        assert_eq!(room.row_states(), ["confirmed"], "{:?}", room.tree());
        let ulid = room.drops()["mix.pdf"].ulid.as_str().to_owned();
        room.stop();
        let dir = if is_claimed {
            let claim =
                format!(".mailchute/claim/{}{}", &ulid[..25], if ulid.ends_with('7') { "8" } else { "7" });
            std::fs::create_dir(room.path(&claim)).unwrap();
            claim + "/"
        } else {
            String::new()
        };
        std::fs::write(room.path(&format!("{dir}mix.pdf.yaml")), SIDECAR).unwrap();
        std::fs::write(room.path(&format!("{dir}mix.pdf")), pdf(2)).unwrap();
        room.start();
        room.settled().await;
        room.settled().await;
        assert_eq!(room.row_states(), ["confirmed"], "{:?}", room.tree());
        assert!(room.path("Held/mix.pdf.yaml").exists(), "{:?}", room.tree());
        room.check().await;
    }
}
