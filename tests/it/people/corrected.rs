//! An address that a person corrects after its letter was taken in: the letter is not posted to the old one.

use super::instructions::copies;
use super::namesakes::{again, approval, moves, posted, sidecar};
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::service::pdf;

/// A letter to 佐藤 that waits for approval, of a drop with one page and a sidecar.
async fn held() -> Mailroom {
    let mut room = Mailroom::with(&approval()).await;
    writes(&room, "side.pdf.yaml", "佐藤");
    room.drop("side.pdf", 1);
    room.settled().await;
    assert!(room.path("Held/side.pdf.yaml").exists(), "{:?}", room.tree());
    assert!(!room.note("Held/side.txt").contains("asks for something else than this letter"));
    room
}

fn writes(room: &Mailroom, path: &str, receiver: &str) {
    std::fs::write(room.path(path), sidecar(receiver)).unwrap();
}

/// Nothing was posted, and the letter waits with a text that says why.
fn is_held(room: &Mailroom) {
    assert_eq!((posted(room), room.row_states()), (vec![], vec!["held".to_owned()]), "{:?}", room.tree());
    assert!(room.path("Held/side.pdf").exists(), "{:?}", room.tree());
    assert!(!room.path("Approve/side.pdf.yaml").exists(), "{:?}", room.tree());
}

#[tokio::test]
async fn a_letter_is_not_approved_with_another_address_beside_it() {
    // Corrected in place; put beside the PDF where it is approved; of another kind.
    for path in ["Held/side.pdf.yaml", "Approve/side.pdf.yaml", "Approve/side.pdf.json"] {
        let mut room = held().await;
        if path.ends_with("json") {
            let json = r#"{"receiver": {"postal_code": "0600001", "state": "北海道", "city": "札幌市", "address1": "1-1", "name": "鈴木"}}"#;
            std::fs::write(room.path(path), json).unwrap();
        } else {
            writes(&room, path, "鈴木");
        }
        for _ in 0..2 {
            moves(&room, "Held/side.pdf", "Approve/side.pdf");
            again(&mut room).await;
            is_held(&room);
            let note = room.note("Held/side.txt");
            let (said, todo) = ("asks for something else than this letter", "To post it, move it into");
            assert!(
                note.find(said).is_some_and(|at| note.find(todo).is_some_and(|then| at < then)),
                "{note}"
            );
        }
        // The letter is right.
        for ending in ["yaml", "yml", "json"] {
            std::fs::remove_file(room.path(&format!("Held/side.pdf.{ending}"))).unwrap_or_default();
        }
        moves(&room, "Held/side.pdf", "Approve/side.pdf");
        again(&mut room).await;
        assert_eq!(posted(&room), [("佐藤".to_owned(), 1)], "{:?}", room.tree());
        room.check().await;
    }
}

/// A person saves the address where the letter is approved, and moves the letter later.
#[tokio::test]
async fn an_address_that_is_alone_in_approve_is_put_beside_the_letter_that_waits() {
    for receiver in ["鈴木", "佐藤"] {
        let mut room = held().await;
        writes(&room, "Approve/side.pdf.yaml", receiver);
        again(&mut room).await;
        let is_another = receiver != "佐藤";
        assert_eq!(room.path("Held/side.pdf.yml").exists(), is_another, "{:?}", room.tree());
        moves(&room, "Held/side.pdf", "Approve/side.pdf");
        again(&mut room).await;
        if is_another {
            is_held(&room);
        } else {
            assert_eq!(posted(&room), [("佐藤".to_owned(), 1)], "{:?}", room.tree());
        }
        room.check().await;
    }
}

/// A run was killed between taking back the address and its PDF.
#[tokio::test]
async fn an_address_that_was_taken_back_without_its_pdf_counts() {
    let mut room = held().await;
    let ulid = room.drops()["side.pdf"].ulid.clone();
    let claim = format!(".mailchute/claim/{ulid}");
    std::fs::create_dir(room.path(&claim)).unwrap();
    writes(&room, &format!("{claim}/side.pdf.yaml"), "鈴木");
    moves(&room, "Held/side.pdf", "Approve/side.pdf");
    again(&mut room).await;
    is_held(&room);
    room.check().await;
}

/// At its time it would be posted to its own address, whatever was asked.
#[tokio::test]
async fn a_letter_that_waits_for_its_posting_time_is_held_by_another_address() {
    for how in ["moved", "copied", "alone"] {
        let rules = RULES.replace("rules:", "release: '0 16 * * *'\nrules:");
        let mut room = Mailroom::with(&rules).await;
        writes(&room, "side.pdf.yaml", "佐藤");
        room.drop("side.pdf", 1);
        again(&mut room).await;
        assert_eq!(room.row_states(), ["admitted"], "{:?}", room.tree());
        if how == "alone" {
            writes(&room, "Approve/side.pdf.yaml", "鈴木");
        } else {
            writes(&room, "Held/side.pdf.yaml", "鈴木");
        }
        if how == "copied" {
            copies(&mut room, "Held/side.pdf", "Approve/side.pdf").await;
        } else if how == "moved" {
            moves(&room, "Held/side.pdf", "Approve/side.pdf");
        }
        again(&mut room).await;
        room.pass(25 * 3600).await;
        again(&mut room).await;
        is_held(&room);
        room.check().await;
    }
}

#[tokio::test]
async fn a_letter_is_approved_though_its_folder_takes_subfolders_now() {
    let mut room = held().await;
    let rules = approval().replace("watch:", "letter: subfolder\nwatch:");
    std::fs::write(room.dir.path().join("folders/letters.yaml"), rules).unwrap();
    room.reload();
    again(&mut room).await;
    moves(&room, "Held/side.pdf", "Approve/side.pdf");
    again(&mut room).await;
    assert_eq!(posted(&room), [("佐藤".to_owned(), 1)], "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn a_letter_with_a_corrected_address_is_cancelled_and_dropped_again() {
    let mut room = held().await;
    writes(&room, "Held/side.pdf.yaml", "鈴木");
    moves(&room, "Held/side.pdf", "Cancel/side.pdf");
    again(&mut room).await;
    assert_eq!(room.row_states(), ["withdrawn"]);
    for name in ["side.pdf.yaml", "side.pdf"] {
        moves(&room, &format!("Cancelled/{name}"), name);
    }
    again(&mut room).await;
    moves(&room, "Held/side.pdf", "Approve/side.pdf");
    again(&mut room).await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 1)], "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn a_copy_with_another_address_is_handed_back_along_with_it() {
    for by_copy in [false, true] {
        let mut room = held().await;
        if by_copy {
            let rules =
                approval().replace("release: approval", "release: approval\napproval: {not_by_owner: true}");
            std::fs::write(room.dir.path().join("folders/letters.yaml"), rules).unwrap();
            room.reload();
            let database = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
            database.execute("UPDATE original SET owner = 4242 WHERE letter = 1", []).unwrap();
        }
        writes(&room, "Approve/side.pdf.yaml", "鈴木");
        copies(&mut room, "Held/side.pdf", "Approve/side.pdf").await;
        again(&mut room).await;
        is_held(&room);
        let note = room.note("Rejected/side.txt");
        assert!(note.contains("lies beside it or beside letter #1, and asks for something else"), "{note}");
        assert!(room.path("Rejected/side.pdf.yaml").exists(), "{:?}", room.tree());
        // A copy without one, of a letter beside which the address was corrected.
        writes(&room, "Held/side.pdf.yaml", "鈴木");
        copies(&mut room, "Held/side.pdf", "Approve/side.pdf").await;
        again(&mut room).await;
        is_held(&room);
        writes(&room, "Held/side.pdf.yaml", "佐藤");
        copies(&mut room, "Held/side.pdf", "Approve/side.pdf").await;
        again(&mut room).await;
        assert_eq!(posted(&room), [("佐藤".to_owned(), 1)], "{:?}", room.tree());
        room.check().await;
    }
}

/// The address beside a copy was left alone, and then put beside another held PDF of the name.
#[tokio::test]
async fn an_address_beside_a_copy_is_given_to_no_other_drop() {
    // Another one than the letter has, with a copy of the letter's PDF or alone; the same, written differently.
    for (place, address, is_alone) in [
        ("Approve", sidecar("鈴木"), false),
        ("Cancel", sidecar("鈴木"), false),
        ("Approve", sidecar("鈴木"), true),
        ("Approve", format!("# 2\n{}", sidecar("佐藤")), false),
    ] {
        let mut room = Mailroom::with(&approval()).await;
        room.drop("side.pdf", 2);
        again(&mut room).await;
        room.pass(600).await;
        again(&mut room).await;
        assert!(room.path("Held/side.pdf").exists(), "{:?}", room.tree());
        writes(&room, "side.pdf.yaml", "佐藤");
        room.drop("side.pdf", 1);
        again(&mut room).await;
        moves(&room, "Held/side (2).pdf", "Approve/side (2).pdf");
        again(&mut room).await;
        assert_eq!(room.row_states(), ["held"], "{:?}", room.tree());
        std::fs::write(room.path(&format!("{place}/side.pdf.yaml")), &address).unwrap();
        if !is_alone {
            std::fs::write(room.path(&format!("{place}/side.pdf")), pdf(1)).unwrap();
        }
        again(&mut room).await;
        assert!(!room.path("Held/side.pdf.yaml").exists(), "{:?}", room.tree());
        let is_the_letters = address.contains("佐藤");
        assert_eq!(room.path("Rejected/side.pdf.yaml").exists(), !is_the_letters, "{:?}", room.tree());
        assert_eq!(posted(&room).len(), usize::from(is_the_letters), "{:?}", room.tree());
        room.check().await;
    }
}

#[tokio::test]
async fn a_subfolder_is_not_approved_with_another_address_in_it() {
    let rules = approval().replace("watch:", "letter: subfolder\nwatch:");
    let mut room = Mailroom::with(&rules).await;
    std::fs::create_dir(room.path("side")).unwrap();
    std::fs::write(room.path("side/1.pdf"), pdf(1)).unwrap();
    writes(&room, "side/letter.yaml", "佐藤");
    again(&mut room).await;
    assert_eq!(room.row_states(), ["held"], "{:?}", room.tree());
    writes(&room, "Held/side/letter.yaml", "鈴木");
    moves(&room, "Held/side", "Approve/side");
    again(&mut room).await;
    assert_eq!(room.row_states(), ["held"], "{:?}", room.tree());
    assert!(
        room.note("Held/side.txt").contains("asks for something else than this letter"),
        "{:?}",
        room.tree()
    );
    writes(&room, "Held/side/letter.yaml", "佐藤");
    moves(&room, "Held/side", "Approve/side");
    again(&mut room).await;
    assert_eq!(posted(&room), [("佐藤".to_owned(), 1)], "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn what_is_named_as_a_subfolder_is_no_address_of_it() {
    let rules = RULES.replace("watch:", "letter: subfolder\nwatch:");
    let mut room = Mailroom::with(&rules).await;
    std::fs::create_dir(room.path("side")).unwrap();
    std::fs::write(room.path("side/1.pdf"), pdf(1)).unwrap();
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    writes(&room, "Held/side/letter.yaml", "佐藤");
    moves(&room, "Held/side", "Approve/side");
    std::fs::write(room.path("Approve/side.json"), "{}").unwrap();
    again(&mut room).await;
    room.pass(150).await;
    again(&mut room).await;
    assert_eq!(posted(&room), [("佐藤".to_owned(), 1)], "{:?}", room.tree());
    assert!(room.path("Rejected/side.json").exists(), "{:?}", room.tree());
    room.check().await;
}

/// Whichever is meant, it is not put beside the other without a word.
#[tokio::test]
async fn an_address_alone_in_approve_that_may_correct_two_letters_is_handed_back() {
    let mut room = held().await;
    writes(&room, "side.pdf.yaml", "田中");
    room.drop("side.pdf", 2);
    again(&mut room).await;
    assert!(room.path("Held/side (2).pdf").exists(), "{:?}", room.tree());
    writes(&room, "Approve/side.pdf.yaml", "鈴木");
    again(&mut room).await;
    assert!(room.path("Rejected/side.pdf.yaml").exists(), "{:?}", room.tree());
    assert!(!room.path("Held/side.pdf.yml").exists(), "{:?}", room.tree());
    room.check().await;
}

/// Another drop has got its place there, with an address of its own.
#[tokio::test]
async fn a_letter_is_approved_though_another_pdf_lies_where_it_was() {
    let mut room = held().await;
    for name in ["side.pdf", "side.pdf.yaml"] {
        moves(&room, &format!("Held/{name}"), &format!("../{name}"));
    }
    std::fs::remove_file(room.path("Held/side.txt")).unwrap();
    writes(&room, "side.pdf.yaml", "鈴木");
    room.drop("side.pdf", 2);
    again(&mut room).await;
    assert!(room.path("Held/side.pdf.yaml").exists(), "{:?}", room.tree());
    for name in ["side.pdf.yaml", "side.pdf"] {
        moves(&room, &format!("../{name}"), &format!("Approve/{name}"));
    }
    again(&mut room).await;
    assert_eq!(posted(&room), [("佐藤".to_owned(), 1)], "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn an_address_counts_if_it_has_a_name_of_its_own_or_cannot_be_read() {
    for is_too_large in [false, true] {
        let mut room = held().await;
        if is_too_large {
            std::fs::File::create(room.path("Held/side.pdf.json")).unwrap().set_len(20_000_000).unwrap();
        } else {
            std::fs::remove_file(room.path("Held/side.pdf.yaml")).unwrap();
            let ulid = room.drops()["side.pdf"].ulid.clone();
            writes(&room, &format!("Held/{ulid}.yaml"), "鈴木");
        }
        moves(&room, "Held/side.pdf", "Approve/side.pdf");
        again(&mut room).await;
        is_held(&room);
        room.check().await;
    }
}

/// It waits for another reason, and its address may be the right one.
#[tokio::test]
async fn an_address_alone_in_approve_is_not_given_to_a_drop_that_has_one() {
    let mut room = Mailroom::with(RULES).await;
    writes(&room, "side.pdf.yaml", "佐藤");
    std::fs::write(room.path("side.pdf"), [pdf(1), vec![0; 3]].concat()).unwrap();
    again(&mut room).await;
    assert_eq!((room.state("side.pdf").as_str(), room.row_states()), ("held", vec![]), "{:?}", room.tree());
    writes(&room, "Approve/side.pdf.yaml", "鈴木");
    again(&mut room).await;
    assert!(room.path("Rejected/side.pdf.yaml").exists(), "{:?}", room.tree());
    moves(&room, "Held/side.pdf", "Approve/side.pdf");
    again(&mut room).await;
    assert_eq!(posted(&room), [("佐藤".to_owned(), 1)], "{:?}", room.tree());
    room.check().await;
}
