//! PDFs whose names differ in their form of Unicode only (NFC, NFD): each keeps its own address.

use std::path::Path;

use mailchute::domain::letter::{Command, Number};
use mailchute::outside::hot::{Hot, Keeper};
use unicode_normalization::UnicodeNormalization as _;

use super::namesakes::{again, approval, moves, posted, sidecar};
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::service::pdf;

/// A PDF of one page is held, because no address came.
async fn lacking_its_address(name: &str) -> Mailroom {
    let mut room = Mailroom::with(RULES).await;
    room.drop(name, 1);
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    assert_eq!(room.why(&name.nfc().collect::<String>()), "no sidecar came");
    room
}

#[tokio::test]
async fn a_copy_of_an_address_is_not_put_where_another_pdf_of_the_name_was_held() {
    let (composed, decomposed) = ("side請求が.pdf", "side請求か\u{3099}.pdf");
    let mut room = lacking_its_address(composed).await;
    moves(&room, &format!("Held/{composed}"), "../aside.pdf");
    let address = format!("{decomposed}.yaml");
    std::fs::write(room.path(&address), sidecar("鈴木")).unwrap();
    std::fs::write(room.path(decomposed), [pdf(2), vec![0x1a]].concat()).unwrap();
    again(&mut room).await;
    for name in ["side請求か\u{3099} (2).pdf", "side請求か\u{3099} (2).pdf.yaml"] {
        std::fs::copy(room.path("Held").join(name), room.path("Approve").join(name)).unwrap();
    }
    again(&mut room).await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 2)], "{:?}", room.tree());
    moves(&room, "../aside.pdf", &format!("Approve/{composed}"));
    again(&mut room).await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 2)], "{:?}", room.tree());
}

#[tokio::test]
async fn a_sidecar_and_its_pdf_from_different_systems_belong_together() {
    let mut room = Mailroom::open().await;
    // One program writes the marks of kana apart, the other does not.
    let (composed, decomposed) = ("side請求が.pdf", "side請求か\u{3099}.pdf");
    let address = |room: &Mailroom, name: &str, receiver: &str| {
        std::fs::write(room.path(&format!("{name}.yaml")), sidecar(receiver)).unwrap();
    };
    address(&room, decomposed, "鈴木");
    room.drop(composed, 1);
    room.settled().await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 1)]);
    assert!(!room.path(&format!("{decomposed}.yaml")).exists(), "it is not left over for the next drop");
    // Both names exist: each sidecar belongs to the PDF with exactly its name.
    for (pages, name, receiver) in [(2, composed, "佐藤"), (3, decomposed, "高橋")] {
        address(&room, name, receiver);
        room.drop(name, pages);
    }
    again(&mut room).await;
    let mut posted = posted(&room);
    posted.sort_by_key(|(_, pages)| *pages);
    assert_eq!(posted[1..], [("佐藤".to_owned(), 2), ("高橋".to_owned(), 3)]);
    // One that waits for its address gets it, and a move may change the form of its name.
    room.drop("side受が.pdf", 4);
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    assert_eq!(room.why("side受が.pdf"), "no sidecar came");
    address(&room, "Held/side受か\u{3099}.pdf", "田中");
    moves(&room, "Held/side受が.pdf", "Approve/side受か\u{3099}.pdf");
    again(&mut room).await;
    assert!(self::posted(&room).contains(&("田中".to_owned(), 4)), "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn the_sidecar_of_a_pdf_that_still_grows_is_not_given_to_one_of_another_form() {
    let mut room = Mailroom::open().await;
    let (composed, decomposed) = ("side請求が.pdf", "side請求か\u{3099}.pdf");
    std::fs::write(room.path(&format!("{decomposed}.yaml")), sidecar("鈴木")).unwrap();
    let whole = pdf(3);
    std::fs::write(room.path(decomposed), &whole[..whole.len() - 20]).unwrap();
    room.drop(composed, 1);
    room.settled().await;
    assert_eq!(posted(&room), [], "the other PDF is still there, and the sidecar is its own");
    std::fs::write(room.path(decomposed), whole).unwrap();
    room.settled().await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 3)]);
    room.pass(600).await;
    again(&mut room).await;
    assert_eq!(room.why(composed), "no sidecar came");
}

#[tokio::test]
async fn on_a_shelf_each_form_of_a_name_keeps_its_own_address() {
    let (composed, decomposed) = ("side請求が.pdf", "side請求か\u{3099}.pdf");
    let padded = |pages| [pdf(pages), vec![0x1a]].concat();
    let address = |room: &Mailroom, name: &str, receiver: &str| {
        std::fs::write(room.path(&format!("{name}.yaml")), sidecar(receiver)).unwrap();
    };
    // One waits for an address, the other has one, and only the PDFs are moved.
    let mut room = lacking_its_address(decomposed).await;
    address(&room, composed, "鈴木");
    std::fs::write(room.path(composed), padded(2)).unwrap();
    again(&mut room).await;
    for name in ["side請求が (2).pdf", decomposed] {
        moves(&room, &format!("Held/{name}"), &format!("Approve/{name}"));
    }
    again(&mut room).await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 2)], "{:?}", room.tree());
    // A letter leaves its shelf, and the address of a drop of the other form stays there.
    let mut room = Mailroom::with(&approval()).await;
    address(&room, composed, "鈴木");
    room.drop(composed, 1);
    again(&mut room).await;
    address(&room, decomposed, "高橋");
    std::fs::write(room.path(decomposed), padded(2)).unwrap();
    again(&mut room).await;
    room.desk().order(Number(1), Command::Release, room.clock.now()).unwrap();
    again(&mut room).await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 1)], "{:?}", room.tree());
    let (sent, at) = (room.sent(), format!("{composed}.yaml"));
    assert!(room.path(&format!("{sent}/{at}")).exists(), "{:?}", room.tree());
    assert!(!room.path(&format!("Held/{at}")).exists(), "{:?}", room.tree());
    let address = room.path("Held/side請求か\u{3099} (2).pdf.yaml");
    assert!(address.exists() && address.with_extension("").exists(), "{:?}", room.tree());
}

/// They look the same to people.
#[tokio::test]
async fn no_shelf_has_two_forms_of_a_name_even_if_they_come_together() {
    let (composed, decomposed) = ("side請求が.pdf", "side請求か\u{3099}.pdf");
    let mut room = Mailroom::with(RULES).await;
    room.drop(composed, 1);
    room.drop(decomposed, 2);
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    let held = std::fs::read_dir(room.path("Held")).unwrap();
    let mut held: Vec<String> =
        held.map(|entry| entry.unwrap().file_name().to_str().unwrap().nfc().collect()).collect();
    held.sort();
    let both = ["side請求が (2).pdf", "side請求が (2).txt", "side請求が.pdf", "side請求が.txt"];
    assert_eq!(held, both, "{:?}", room.tree());
}

#[tokio::test]
async fn an_address_alone_in_approve_is_handed_back_unless_one_pdf_only_can_be_meant() {
    let (composed, decomposed) = ("side請求が.pdf", "side請求か\u{3099}.pdf");
    let mut room = lacking_its_address(composed).await;
    // A person has the PDF, and may bring it back.
    moves(&room, &format!("Held/{composed}"), "../aside.pdf");
    std::fs::remove_file(room.path("Held/side請求が.txt")).unwrap();
    let alone = async |room: &mut Mailroom, name: &str| {
        std::fs::write(room.path(&format!("Approve/{name}.yaml")), sidecar("鈴木")).unwrap();
        again(room).await;
        assert!(!room.path(&format!("Approve/{name}.yaml")).exists(), "{:?}", room.tree());
        room.path(&format!("Held/{name}.yaml")).exists()
    };
    assert!(!alone(&mut room, composed).await, "nothing lies there");
    room.drop(decomposed, 2);
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    assert!(room.path(&format!("Held/{decomposed}")).exists(), "{:?}", room.tree());
    assert!(!alone(&mut room, decomposed).await, "either may be meant: {:?}", room.tree());
}

#[test]
fn a_sidecar_of_another_form_belongs_to_a_pdf_unless_that_form_of_it_lies_there() {
    let (composed, decomposed) = ("請求が.pdf", "請求か\u{3099}.pdf");
    let dir = tempfile::tempdir().unwrap();
    let hot = Hot::open(dir.path(), false, &Keeper::default()).unwrap();
    let writes = |name: &str| std::fs::write(dir.path().join(name), b"x").unwrap();
    let beside = |name: &str| hot.sidecars_beside(Path::new(""), name.as_bytes()).unwrap();
    let sidecars = [composed, decomposed].map(|name| format!("{name}.yml"));
    writes(composed);
    writes(&sidecars[1]);
    assert_eq!(beside(composed), [sidecars[1].as_bytes()]);
    writes(&sidecars[0]);
    assert_eq!(beside(composed), [sidecars[0].as_bytes(), sidecars[1].as_bytes()], "nobody knows which");
    writes(decomposed);
    assert_eq!(
        (beside(composed), beside(decomposed)),
        (vec![sidecars[0].clone().into()], vec![sidecars[1].clone().into()])
    );
}

/// The PDF of one form is in a person's hands, and its address has stayed on the shelf.
#[tokio::test]
async fn an_address_that_was_left_for_one_form_is_not_taken_for_the_other() {
    let (composed, decomposed) = ("side請求が.pdf", "side請求か\u{3099}.pdf");
    let mut room = Mailroom::with(RULES).await;
    std::fs::write(room.path(&format!("{decomposed}.yaml")), sidecar("鈴木")).unwrap();
    std::fs::write(room.path(decomposed), [pdf(2), vec![0x1a]].concat()).unwrap();
    again(&mut room).await;
    let text = "side請求か\u{3099}.txt".to_owned();
    let others = [decomposed.to_owned(), format!("{decomposed}.yaml"), text];
    let aside: Vec<_> = (0..3).map(|n| format!("../aside{n}")).collect();
    for (name, aside) in others.iter().zip(&aside) {
        moves(&room, &format!("Held/{name}"), aside);
    }
    room.drop(composed, 1);
    room.settled().await;
    room.pass(600).await;
    again(&mut room).await;
    moves(&room, &aside[1], &format!("Held/{decomposed}.yaml"));
    moves(&room, &format!("Held/{composed}"), &format!("Approve/{composed}"));
    again(&mut room).await;
    assert_eq!(posted(&room), [], "{:?}", room.tree());
    moves(&room, &aside[0], &format!("Approve/{decomposed}"));
    again(&mut room).await;
    assert_eq!(posted(&room), [("鈴木".to_owned(), 2)], "{:?}", room.tree());
}

/// Composed it has room in a name, decomposed it has none.
#[tokio::test]
async fn a_name_whose_other_form_is_too_long_lies_on_shelves_like_any_other() {
    let name = format!("x{}.pdf", "が".repeat(70));
    let mut room = Mailroom::with(&approval()).await;
    room.drop(&name, 1);
    again(&mut room).await;
    assert!(room.path(&format!("Held/{name}")).exists(), "{:?}", room.tree());
    moves(&room, &format!("Held/{name}"), &format!("Approve/{name}"));
    again(&mut room).await;
    assert!(room.path(&format!("{}/{name}", room.sent())).exists(), "{:?}", room.tree());
}
