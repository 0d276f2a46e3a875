//! Two drops of one name: a file means the one whose original it is, and an address only the drop it came with.

use mailchute::domain::letter::Number;

use super::instructions::copies;
use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::service::pdf;

fn approval() -> String {
    RULES.replace("rules:", "release: approval\nrules:")
}

/// Two PDFs with the same name and the same bytes, each with an address of its own, both held.
async fn two_namesakes(rules: &str, bytes: &[u8]) -> Mailroom {
    let mut room = Mailroom::with(rules).await;
    for receiver in ["佐藤", "鈴木"] {
        std::fs::write(room.path("side.pdf.yaml"), SIDECAR.replace("佐藤", receiver)).unwrap();
        std::fs::write(room.path("side.pdf"), bytes).unwrap();
        room.settled().await;
    }
    for name in ["side.pdf", "side.pdf.yaml", "side (2).pdf", "side (2).pdf.yaml"] {
        assert!(room.path("Held").join(name).exists(), "{name}: {:?}", room.tree());
    }
    room
}

/// Two PDFs with the same name, of one page and of two, for which no address came.
pub async fn two_that_wait() -> Mailroom {
    let mut room = Mailroom::with(RULES).await;
    for pages in 1..=2 {
        room.drop("side.pdf", pages);
        room.settled().await;
        room.pass(600).await;
        again(&mut room).await;
    }
    room
}

/// What was accepted is decided anew.
async fn again(room: &mut Mailroom) {
    for _ in 0..3 {
        room.settled().await;
    }
}

fn moves(room: &Mailroom, from: &str, to: &str) {
    std::fs::rename(room.path(from), room.path(to)).unwrap();
}

/// The receivers of the letters that were confirmed, by the sandbox's own account.
fn receivers(room: &Mailroom) -> Vec<String> {
    let posted = |letter: &mailchute::domain::letter::Letter| {
        matches!(letter.state, mailchute::domain::letter::State::Confirmed { .. })
    };
    let desk = room.desk();
    let letters = (1..).map_while(|number| desk.letter(Number(number)).unwrap());
    letters.filter(posted).map(|letter| letter.order.receiver.address.name.clone()).collect()
}

#[tokio::test]
async fn of_two_letters_with_one_name_and_one_content_the_one_whose_file_is_moved_is_meant() {
    let rules = approval().replace("rules:", "duplicates: {action: allow}\nrules:");
    // The side one was taken from its shelf by a person.
    for (taken, moved, expected) in
        [("side (2).pdf", "side.pdf", "佐藤"), ("side.pdf", "side (2).pdf", "鈴木")]
    {
        let mut room = two_namesakes(&rules, &pdf(1)).await;
        let desk = tempfile::tempdir_in(room.dir.path()).unwrap();
        std::fs::rename(room.path("Held").join(taken), desk.path().join(taken)).unwrap();
        moves(&room, &format!("Held/{moved}"), &format!("Approve/{moved}"));
        room.settled().await;
        assert_eq!(receivers(&room), [expected], "{moved}");
        std::fs::rename(desk.path().join(taken), room.path("Cancel").join(taken)).unwrap();
        room.settled().await;
        assert_eq!(receivers(&room), [expected], "{moved}");
        assert!(room.row_states().contains(&"withdrawn".to_owned()), "{:?}", room.row_states());
        room.check().await;
    }
}

#[tokio::test]
async fn a_drop_that_waits_goes_to_the_address_that_came_with_it() {
    // A doubt holds it before it is a letter.
    let padded = [pdf(1), vec![0x1a]].concat();
    for (name, other, expected) in
        [("side.pdf", "side (2).pdf", "佐藤"), ("side (2).pdf", "side.pdf", "鈴木")]
    {
        for by_copy in [false, true] {
            let mut room = two_namesakes(RULES, &padded).await;
            if by_copy {
                // A copy may be of either, unless there is only one.
                moves(&room, &format!("Held/{other}"), &format!("Cancel/{other}"));
                room.settled().await;
                copies(&mut room, &format!("Held/{name}"), &format!("Approve/{name}")).await;
            } else {
                moves(&room, &format!("Held/{name}"), &format!("Approve/{name}"));
                room.settled().await;
            }
            again(&mut room).await;
            assert_eq!(receivers(&room), [expected], "{name}, by copy: {by_copy}: {:?}", room.tree());
            room.check().await;
        }
    }
}

#[tokio::test]
async fn an_address_that_was_left_on_a_shelf_decides_nothing_about_another_drop() {
    let padded = [pdf(1), vec![0x1a]].concat();
    let mut room = Mailroom::with(RULES).await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    std::fs::write(room.path("side.pdf"), &padded).unwrap();
    room.settled().await;
    // Its PDF alone is taken away; then another of its name comes, and its address with it.
    std::fs::remove_file(room.path("Held/side.pdf")).unwrap();
    std::fs::remove_file(room.path("Held/side.txt")).unwrap();
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR.replace("佐藤", "鈴木")).unwrap();
    std::fs::write(room.path("side.pdf"), [pdf(2), vec![0x1a]].concat()).unwrap();
    room.settled().await;
    assert!(room.path("Held/side (2).pdf").exists(), "{:?}", room.tree());
    moves(&room, "Held/side (2).pdf", "Approve/side (2).pdf");
    again(&mut room).await;
    assert_eq!(receivers(&room), ["鈴木"]);
}

#[tokio::test]
async fn a_copy_of_a_duplicate_says_nothing_of_the_letter_whose_file_was_taken_away() {
    let mut room = Mailroom::open().await;
    room.drop("x.pdf", 1);
    room.settled().await;
    let sent = room.sent();
    std::fs::remove_file(room.path(&format!("{sent}/x.pdf"))).unwrap();
    room.drop("x.pdf", 1);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed", "held"]);
    // It may as well be meant for the first: nothing is done, and both are listed.
    copies(&mut room, "Held/x.pdf", "Cancel/x.pdf").await;
    assert_eq!(room.row_states(), ["confirmed", "held"]);
    assert!(room.note("Rejected/x.txt").contains("Several letters"), "{}", room.note("Rejected/x.txt"));
    // The file itself is not in doubt.
    moves(&room, "Held/x.pdf", "Cancel/x.pdf");
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed", "withdrawn"]);
}

#[tokio::test]
async fn an_address_in_the_folder_is_used_for_no_drop_on_a_shelf() {
    let mut room = two_that_wait().await;
    assert_eq!(room.why("side.pdf"), "no sidecar came");
    assert!(room.path("Held/side (2).pdf").exists(), "{:?}", room.tree());
    // An address there may be that of a PDF that is still to come.
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    for name in ["side (2).pdf", "side.pdf"] {
        moves(&room, &format!("Held/{name}"), &format!("Approve/{name}"));
        again(&mut room).await;
        assert!(receivers(&room).is_empty(), "{:?}", room.tree());
    }
    // Beside one of them on the shelf there is no doubt, as its text says.
    assert!(room.note("Held/side.txt").contains("Put the address here, beside the PDF"));
    std::fs::rename(room.path("side.pdf.yaml"), room.path("Held/side.pdf.yaml")).unwrap();
    moves(&room, "Held/side.pdf", "Approve/side.pdf");
    again(&mut room).await;
    assert_eq!(receivers(&room), ["佐藤"]);
    let desk = room.desk();
    assert_eq!(desk.letter(Number(1)).unwrap().unwrap().order.documents[0].pages, 1);
}

#[tokio::test]
async fn an_address_that_may_be_for_a_held_drop_is_used_for_no_other_whatever_that_waits_for() {
    let mut room = Mailroom::with(RULES).await;
    // Held for its padding, without having waited for an address.
    std::fs::write(room.path("side.pdf"), [pdf(1), vec![0x1a]].concat()).unwrap();
    room.settled().await;
    assert!(room.path("Held/side.pdf").exists(), "{:?}", room.tree());
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.settled().await;
    room.drop("side.pdf", 2);
    again(&mut room).await;
    assert!(receivers(&room).is_empty(), "{:?}", room.tree());
    assert!(room.path("Held/side (2).pdf.yaml").exists(), "{:?}", room.tree());
}

#[tokio::test]
async fn another_address_beside_a_copy_in_approve_is_not_left_out() {
    let mut room = Mailroom::with(RULES).await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    std::fs::write(room.path("side.pdf"), [pdf(1), vec![0x1a]].concat()).unwrap();
    room.settled().await;
    std::fs::write(room.path("Approve/side.pdf.yaml"), SIDECAR.replace("佐藤", "鈴木")).unwrap();
    std::fs::copy(room.path("Held/side.pdf"), room.path("Approve/side.pdf")).unwrap();
    again(&mut room).await;
    assert!(receivers(&room).is_empty(), "{:?}", room.tree());
    assert_eq!(room.why("side.pdf"), "several sidecars");
}

#[tokio::test]
async fn two_addresses_are_refused_before_anybody_is_asked_about_the_pdf() {
    let mut room = Mailroom::with(RULES).await;
    for (ending, receiver) in [("yaml", "佐藤"), ("yml", "鈴木")] {
        let address = room.path(&format!("side.pdf.{ending}"));
        std::fs::write(address, SIDECAR.replace("佐藤", receiver)).unwrap();
    }
    // Its padding alone would hold it.
    std::fs::write(room.path("side.pdf"), [pdf(1), vec![0x1a]].concat()).unwrap();
    room.settled().await;
    assert_eq!(
        (room.state("side.pdf").as_str(), room.why("side.pdf").as_str()),
        ("rejected", "several sidecars")
    );
}

#[tokio::test]
async fn of_two_addresses_for_a_claim_that_is_continued_none_is_left_out() {
    for first in [".mailchute/claim/ULID/side.pdf.yml", "side.pdf.yml", ".mailchute/claim/ULID/side.pdf.yaml"]
    {
        let mut room = Mailroom::with(RULES).await;
        // Claimed after the folder was marked, so it is ours.
        room.pass(60).await;
        let ulid = mailchute::outside::spool::Ulid::after(None, room.clock.now()).unwrap().to_string();
        let claim = room.path(".mailchute/claim").join(&ulid);
        room.stop();
        std::fs::create_dir(&claim).unwrap();
        std::fs::write(claim.join("side.pdf"), pdf(1)).unwrap();
        std::fs::write(room.path(&first.replace("ULID", &ulid)), SIDECAR).unwrap();
        std::fs::write(room.path("side.pdf.yaml"), SIDECAR.replace("佐藤", "鈴木")).unwrap();
        room.start();
        again(&mut room).await;
        assert!(receivers(&room).is_empty(), "{first}: {:?}", room.tree());
        assert_eq!(room.why("side.pdf"), "several sidecars", "{first}");
    }
}

#[tokio::test]
async fn an_address_inside_a_subfolder_is_its_own_while_another_of_the_name_is_held() {
    let mut room = Mailroom::with(&RULES.replace("path:", "letter: subfolder\npath:")).await;
    for (bytes, receiver) in [([pdf(1), vec![0x1a]].concat(), "佐藤"), (pdf(2), "鈴木")] {
        std::fs::create_dir(room.path("side")).unwrap();
        std::fs::write(room.path("side/letter.yaml"), SIDECAR.replace("佐藤", receiver)).unwrap();
        std::fs::write(room.path("side/1.pdf"), bytes).unwrap();
        again(&mut room).await;
    }
    assert!(room.path("Held/side").is_dir(), "{:?}", room.tree());
    assert_eq!(receivers(&room), ["鈴木"], "{:?}", room.tree());
}

/// Nobody can know for which of the two it is.
#[tokio::test]
async fn an_address_alone_in_approve_is_put_beside_neither_of_two_that_wait() {
    let mut room = two_that_wait().await;
    std::fs::write(room.path("Approve/side.pdf.yaml"), SIDECAR).unwrap();
    again(&mut room).await;
    let tree = room.tree();
    assert!(!tree.iter().any(|path| path.starts_with("Held/") && path.contains(".yaml")), "{tree:?}");
    assert!(tree.contains(&"Rejected/side.pdf.yaml".to_owned()), "{tree:?}");
    // It has its name still if another of it is handed back.
    std::fs::write(room.path("Approve/side.pdf.yaml"), SIDECAR).unwrap();
    again(&mut room).await;
    assert!(room.path("Rejected/side (2).pdf.yaml").exists(), "{:?}", room.tree());
    assert!(room.path("Rejected/side (2).pdf.txt").exists(), "{:?}", room.tree());
    room.check().await;
}

/// A person deleted the first, instead of moving it to `Cancel`.
#[tokio::test]
async fn a_held_drop_that_is_missing_makes_one_of_its_name_wait_and_not_each() {
    let mut room = two_that_wait().await;
    for name in ["side.pdf", "side (2).pdf"] {
        std::fs::remove_file(room.path("Held").join(name)).unwrap();
    }
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.drop("side.pdf", 3);
    again(&mut room).await;
    assert_eq!(room.why("side.pdf"), "a sidecar that may be another PDF's");
    let held = room.tree().into_iter().find(|path| path.starts_with("Held/") && path.ends_with("pdf"));
    let held = held.unwrap();
    moves(&room, &held, &held.replace("Held", "Approve"));
    again(&mut room).await;
    assert_eq!(receivers(&room), ["佐藤"], "{:?}", room.tree());
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR.replace("佐藤", "鈴木")).unwrap();
    room.drop("side.pdf", 4);
    again(&mut room).await;
    assert_eq!(receivers(&room), ["佐藤", "鈴木"], "{:?}", room.tree());
    room.check().await;
}

/// What its text says is true: nothing waits under that name.
#[tokio::test]
async fn a_held_drop_that_was_renamed_is_not_said_to_have_other_contents() {
    let mut room = two_that_wait().await;
    moves(&room, "Held/side.pdf", "Approve/other.pdf");
    again(&mut room).await;
    room.pass(150).await;
    again(&mut room).await;
    let note = room.note("Rejected/other.txt");
    assert!(note.contains("Nothing waits under this name"), "{note}");
    room.check().await;
}

/// Its rejected row has the name and the bytes, too.
#[tokio::test]
async fn a_copy_approves_what_was_rejected_once_and_dropped_again() {
    let mut room = Mailroom::with(&approval()).await;
    std::fs::write(room.path("side.pdf.yaml"), "receiver: {}\n").unwrap();
    room.drop("side.pdf", 1);
    again(&mut room).await;
    assert_eq!(room.state("side.pdf"), "rejected");
    std::fs::remove_file(room.path("Rejected/side.pdf.yaml")).unwrap();
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    moves(&room, "Rejected/side.pdf", "side.pdf");
    again(&mut room).await;
    copies(&mut room, "Held/side.pdf", "Approve/side.pdf").await;
    again(&mut room).await;
    assert_eq!(receivers(&room), ["佐藤"], "{:?}", room.tree());
    room.check().await;
}

/// On some shares a move makes a new file and removes the old one.
#[tokio::test]
async fn a_drop_that_is_approved_along_with_a_namesake_is_not_taken_for_missing() {
    let mut room = two_that_wait().await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.drop("side.pdf", 3);
    again(&mut room).await;
    assert!(room.path("Held/side (3).pdf").exists(), "{:?}", room.tree());
    std::fs::copy(room.path("Held/side.pdf"), room.path("Approve/side.pdf")).unwrap();
    std::fs::remove_file(room.path("Held/side.pdf")).unwrap();
    moves(&room, "Held/side (3).pdf", "Approve/side (3).pdf");
    again(&mut room).await;
    assert_eq!(receivers(&room), ["佐藤"], "{:?}", room.tree());
    assert!(room.path("Held/side.pdf").exists(), "{:?}", room.tree());
    room.check().await;
}

/// It may come back, and the next address may be meant for it.
#[tokio::test]
async fn a_held_drop_that_is_missing_counts_though_a_namesake_got_its_own_address() {
    let mut room = two_that_wait().await;
    std::fs::remove_file(room.path("Held/side.pdf")).unwrap();
    std::fs::write(room.path("Held/side (2).pdf.yaml"), SIDECAR).unwrap();
    moves(&room, "Held/side (2).pdf", "Approve/side (2).pdf");
    again(&mut room).await;
    assert_eq!(receivers(&room), ["佐藤"], "{:?}", room.tree());
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR.replace("佐藤", "鈴木")).unwrap();
    room.drop("side.pdf", 3);
    again(&mut room).await;
    assert_eq!(receivers(&room), ["佐藤"], "{:?}", room.tree());
    assert_eq!(room.why("side.pdf"), "a sidecar that may be another PDF's");
    room.check().await;
}
