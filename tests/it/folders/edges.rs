//! Moments and names that a reviewer found: what lies under a numbered name, waits in a hand, was there
//! before, or outlived its records.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use mailchute::domain::letter::{LARGEST_DOCUMENT, Number};
use mailchute::outside::spool::Ulid;

use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::service::pdf;
use crate::rigs::typeset::with_contents;

fn approval() -> String {
    RULES.replace("path:", "release: approval\npath:")
}

#[tokio::test]
async fn a_text_that_was_dropped_is_kept_beside_its_own_text() {
    let mut room = Mailroom::open().await;
    std::fs::write(room.path("notes.txt"), b"my own words").unwrap();
    room.settled().await;
    assert_eq!(room.tree(), ["Rejected/notes.txt", "Rejected/notes.txt.txt"]);
    assert_eq!(std::fs::read(room.path("Rejected/notes.txt")).unwrap(), b"my own words");
    // A stranger's text among the approved is handed back, not thrown away.
    std::fs::write(room.path("Approve/mine.txt"), b"more of them").unwrap();
    room.settled().await;
    room.pass(120).await;
    assert_eq!(std::fs::read(room.path("Rejected/mine.txt")).unwrap(), b"more of them");
}

#[tokio::test]
async fn what_lies_under_a_numbered_name_goes_its_way_too() {
    let mut room = Mailroom::with(&approval()).await;
    for pages in 1..=2 {
        room.drop("x.pdf", pages);
        room.settled().await;
    }
    assert!(room.tree().contains(&"Held/x (2).pdf".to_owned()), "{:?}", room.tree());
    std::fs::rename(room.path("Held/x (2).pdf"), room.path("Approve/x (2).pdf")).unwrap();
    room.settled().await;
    let sent = room.sent();
    assert!(room.tree().contains(&format!("{sent}/x.pdf")), "{:?}", room.tree());
    // The other one by the command.
    room.desk()
        .order(
            mailchute::domain::letter::Number(1),
            mailchute::domain::letter::Command::Release,
            room.clock.now(),
        )
        .unwrap();
    room.settled().await;
    assert!(room.tree().contains(&format!("{sent}/x (2).pdf")), "{:?}", room.tree());
    assert_eq!(room.tree().len(), 4, "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn a_wish_waits_in_the_hand_while_its_letter_changes() {
    let mut room = Mailroom::open().await;
    room.drop("x.pdf", 1);
    room.settled().await;
    let sent = format!("{}/x.pdf", room.sent());
    room.stop();
    std::fs::rename(room.path(&sent), room.path("Cancel/x.pdf")).unwrap();
    // The letter is read in the meantime, so its original is due before the hand is looked at.
    room.start();
    room.pass(61).await;
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.state("x.pdf"), "cancelled", "{:?}", room.tree());
    assert_eq!(room.tree(), ["Cancelled/x.pdf", "Cancelled/x.txt"]);
    room.check().await;
}

#[tokio::test]
async fn a_hand_says_nothing_about_a_letter_of_the_same_name_or_with_other_bytes() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    // The clerk corrects the PDF and approves that: what was taken in is not what lies here.
    std::fs::remove_file(room.path("Held/x.pdf")).unwrap();
    std::fs::write(room.path("Approve/x.pdf"), pdf(9)).unwrap();
    room.settled().await;
    room.pass(120).await;
    assert_eq!(room.row_states(), ["held"], "the old bytes are not posted");
    assert!(room.tree().contains(&"Rejected/x.pdf".to_owned()), "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn what_was_there_before_stays_so_when_its_rights_are_mended() {
    let mut room = Mailroom::closed(RULES).await;
    for n in 1..=3 {
        room.drop(&format!("x{n}.pdf"), n);
    }
    room.start();
    room.settle().await;
    for n in 1..=3 {
        let rights = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(room.path(&format!("x{n}.pdf")), rights).unwrap();
    }
    room.settled().await;
    assert_eq!(room.row_states(), [""; 0], "{:?}", room.drops());
    assert_eq!(room.drops().len(), 3);
    room.check().await;
}

#[tokio::test]
async fn claims_that_outlived_their_records_are_held_and_not_posted_again() {
    let mut room = Mailroom::open().await;
    room.drop("x.pdf", 1);
    room.settled().await;
    room.stop();
    back_into_its_claim(&room, "x.pdf", "01M7ZVST76BKZVCKECWA2B9HN2");
    std::fs::remove_dir_all(room.dir.path().join("state")).unwrap();
    found_at_the_start_and_held(&mut room).await;
}

/// As it was while its letter was on its way: in its claim.
fn back_into_its_claim(room: &Mailroom, name: &str, ulid: &str) {
    let claim = room.path(&format!(".mailchute/claim/{ulid}"));
    std::fs::create_dir(&claim).unwrap();
    std::fs::rename(room.path(&format!("{}/{name}", room.sent())), claim.join(name)).unwrap();
}

/// A claim of records that are not ours is held, and nothing of it is posted.
async fn found_at_the_start_and_held(room: &mut Mailroom) {
    room.start();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!((room.state("x.pdf").as_str(), room.why("x.pdf").as_str()), ("held", "it was there before"));
    assert_eq!(room.row_states(), [""; 0]);
}

#[tokio::test]
async fn what_other_records_left_in_the_folder_is_held() {
    let mut room = Mailroom::open().await;
    room.settled().await;
    room.stop();
    let (state, aside) = (room.dir.path().join("state"), room.dir.path().join("aside"));
    std::fs::rename(&state, &aside).unwrap();
    room.start();
    room.settled().await;
    room.drop("x.pdf", 1);
    room.settled().await;
    let ulid = room.drops()["x.pdf"].ulid.clone();
    assert_eq!(room.row_states(), ["confirmed"]);
    room.stop();
    back_into_its_claim(&room, "x.pdf", &ulid);
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::rename(&aside, &state).unwrap();
    found_at_the_start_and_held(&mut room).await;
}

#[tokio::test]
async fn a_claim_that_comes_back_from_before_our_records_is_held() {
    let mut room = Mailroom::open().await;
    room.drop("x.pdf", 1);
    room.settled().await;
    let ulid = room.drops()["x.pdf"].ulid.clone();
    room.stop();
    std::fs::remove_dir_all(room.dir.path().join("state")).unwrap();
    room.start();
    room.settled().await;
    room.stop();
    // The share's server was cut off, and had not written down what we did before.
    back_into_its_claim(&room, "x.pdf", &ulid);
    found_at_the_start_and_held(&mut room).await;
}

#[tokio::test]
async fn another_column_of_the_same_book_is_read_anew() {
    let mut room = Mailroom::open().await;
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    assert_eq!(room.state("INV-000123.pdf"), "confirmed");
    let rules = room.dir.path().join("folders/letters.yaml");
    std::fs::write(&rules, RULES.replace("key: customer", "key: postal_code")).unwrap();
    room.reload();
    room.drop("INV-000456.pdf", 2);
    room.settled().await;
    assert_eq!(room.why("INV-000456.pdf"), "not in the address book");
}

#[tokio::test]
async fn a_folder_that_moves_with_a_backlog_goes_on_at_its_new_place() {
    let mut room = Mailroom::open().await;
    for n in 1..=20 {
        room.drop(&format!("x{n}.pdf"), n);
    }
    room.pass(1).await;
    let elsewhere = room.dir.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let rules = room.dir.path().join("folders/letters.yaml");
    std::fs::write(&rules, RULES.replace("../letters", "../elsewhere")).unwrap();
    room.reload();
    room.pass(5).await;
    std::fs::write(elsewhere.join("x99.pdf"), pdf(1)).unwrap();
    room.settled().await;
    assert_eq!(room.state("x99.pdf"), "confirmed", "{:?}", room.drops());
}

#[tokio::test]
async fn an_original_in_a_hand_when_the_daemon_died_goes_back_to_its_shelf() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    let ulid = room.drops()["x.pdf"].ulid.clone();
    room.stop();
    // Taken from a hand into its claim, and nothing of it recorded.
    let claim = room.path(&format!(".mailchute/claim/{ulid}"));
    std::fs::create_dir_all(&claim).unwrap();
    std::fs::rename(room.path("Held/x.pdf"), claim.join("x.pdf")).unwrap();
    room.start();
    room.settled().await;
    assert_eq!(room.tree(), ["Held/x.pdf", "Held/x.txt"]);
    assert_eq!(room.row_states(), ["held"], "nothing was said");
    std::fs::rename(room.path("Held/x.pdf"), room.path("Approve/x.pdf")).unwrap();
    room.settled().await;
    assert_eq!(room.state("x.pdf"), "confirmed");
    room.check().await;
}

#[tokio::test]
async fn while_the_service_is_down_drops_are_taken_in_and_wait() {
    let mut room = Mailroom::open().await;
    let down = serde_json::json!({"endpoint": "create", "fault": "cut", "times": 100_000});
    room.service.order(down).await;
    room.drop("x1.pdf", 1);
    room.drop("torn.pdf", 2);
    std::fs::write(room.path("torn.pdf"), &pdf(2)[..200]).unwrap();
    room.settled().await;
    room.pass(600).await;
    // They are safe from people's hands, and what needs no service is answered at once.
    assert_eq!(room.state("x1.pdf"), "admitted");
    let ulid = &room.drops()["x1.pdf"].ulid;
    let tree =
        [format!(".mailchute/claim/{ulid}-x1.pdf"), "Rejected/torn.pdf".into(), "Rejected/torn.txt".into()];
    assert_eq!(room.tree(), tree);
    room.service.control(reqwest::Method::DELETE, "faults", serde_json::json!({})).await;
    room.pass(3600).await;
    assert_eq!(room.state("x1.pdf"), "confirmed");
    assert!(room.tree().contains(&format!("{}/x1.pdf", room.sent())), "{:?}", room.tree());
    room.check().await;
}

/// A drop that goes without a sidecar too, and the address that was dropped with it.
fn drop_with_sidecar(room: &Mailroom) {
    room.drop("x.pdf", 1);
    std::fs::write(room.path("x.pdf.yaml"), SIDECAR).unwrap();
}

/// A claim that this folder's daemon has made.
fn claim(room: &Mailroom) -> PathBuf {
    let claim = room.path(&format!(".mailchute/claim/{}", Ulid::after(None, room.clock.now()).unwrap()));
    std::fs::create_dir_all(&claim).unwrap();
    claim
}

#[tokio::test]
async fn a_drop_does_not_go_without_its_sidecar_when_the_daemon_died_between_the_two() {
    // Killed when the sidecar alone was claimed; a power cut that brought the sidecar back.
    for claimed in ["x.pdf.yaml", "x.pdf"] {
        let mut room = Mailroom::open().await;
        room.pass(60).await;
        room.crash().await;
        drop_with_sidecar(&room);
        std::fs::rename(room.path(claimed), claim(&room).join(claimed)).unwrap();
        room.start();
        for _ in 0..4 {
            room.settled().await;
        }
        // Its rules have a receiver already, so a person must say which one is meant.
        assert_eq!(room.row_states(), [""; 0], "{claimed}: it was posted without what was dropped with it");
        assert_eq!(
            room.tree(),
            ["Rejected/x.pdf", "Rejected/x.pdf.yaml", "Rejected/x.txt"],
            "{claimed}: {:?}",
            room.drops()
        );
    }
}

#[tokio::test]
async fn a_sidecar_that_a_power_cut_left_in_the_folder_comes_to_its_claimed_drop() {
    let mut room = Mailroom::with(&RULES.replace("{book: '000123'}", "sidecar")).await;
    room.pass(60).await;
    room.crash().await;
    drop_with_sidecar(&room);
    std::fs::rename(room.path("x.pdf"), claim(&room).join("x.pdf")).unwrap();
    // This one lies beside its own drop.
    std::fs::rename(room.path("x.pdf.yaml"), room.path("x1.pdf.yaml")).unwrap();
    room.drop("x1.pdf", 1);
    std::fs::write(room.path("x.pdf.yaml"), SIDECAR.replace("1-1", "2-2")).unwrap();
    room.start();
    for _ in 0..4 {
        room.settled().await;
    }
    let letters = [1, 2].map(|number| room.desk().letter(Number(number)).unwrap().unwrap());
    let mut went: Vec<_> = letters.iter().map(|one| one.order.receiver.address.address1.as_str()).collect();
    went.sort_unstable();
    assert_eq!(went, ["1-1", "2-2"]);
    assert_eq!(room.row_states(), ["confirmed", "confirmed"]);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_of_exactly_the_largest_size_is_posted_and_a_larger_one_is_not() {
    let mut room = Mailroom::open().await;
    for (name, more) in [("x largest.pdf", 0), ("x larger.pdf", 1)] {
        let wanted = usize::try_from(LARGEST_DOCUMENT).unwrap() + more;
        // The content of its page is spaces. The length of its numbers depends on their number.
        let of = |spaces: usize| with_contents(&[" ".repeat(spaces)]);
        let spaces = wanted - of(wanted - 2000).len() + wanted - 2000;
        let bytes = of(spaces);
        assert_eq!(bytes.len(), wanted);
        std::fs::write(room.path(name), bytes).unwrap();
        room.settled().await;
    }
    assert_eq!(
        (room.state("x largest.pdf"), room.state("x larger.pdf")),
        ("confirmed".to_owned(), "rejected".to_owned())
    );
}

/// After a first letter, a claim as a worker leaves it that ends without a word.
async fn claim_of_nobody(room: &mut Mailroom, name: &str) {
    room.drop("x first.pdf", 1);
    room.settled().await;
    let ulid = Ulid::new(room.clock.now()).unwrap();
    let claim = room.hot().join(format!(".mailchute/claim/{ulid}"));
    std::fs::create_dir(&claim).unwrap();
    std::fs::write(claim.join(name), pdf(2)).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_on_which_nobody_works_is_taken_up_again() {
    let mut room = Mailroom::open().await;
    claim_of_nobody(&mut room, "x forgotten.pdf").await;
    room.pass(300).await;
    assert_eq!(room.row_states(), ["confirmed"], "somebody may be working on it");
    for _ in 0..3 {
        room.pass(600).await;
    }
    assert_eq!(room.row_states(), ["confirmed", "confirmed"]);
    assert_eq!(room.state("x forgotten.pdf"), "confirmed");
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_settles_although_its_folder_is_opened_again_and_again() {
    let mut room = Mailroom::open().await;
    claim_of_nobody(&mut room, "x settling.pdf").await;
    for _ in 0..4 {
        // As a share does that comes and goes between two looks.
        room.registry().set("letters", None);
        room.pass(700).await;
    }
    assert_eq!(room.row_states(), ["confirmed", "confirmed"]);
    room.check().await;
}
