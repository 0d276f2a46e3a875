//! Files that are finished at the same time are claimed together, and each is decided for itself.

use std::io::ErrorKind;

use chrono::TimeDelta;
use mailchute::outside::hot::{Hot, Keeper, claim_of_file, is_file_claim};
use mailchute::outside::spool::Ulid;

use crate::rigs::mailroom::{Loop, Mailroom, RULES, SIDECAR};
use crate::rigs::service::{pdf, unique};

#[test]
fn what_goes_wrong_with_one_keeps_no_other_from_its_claim() {
    let dir = tempfile::tempdir().unwrap();
    let hot = Hot::open(dir.path(), false, &Keeper::default()).unwrap();
    let names = ["fine.pdf", "gone.pdf", "there.pdf", "other.pdf"];
    let mut claims = Vec::new();
    for (n, name) in names.into_iter().enumerate() {
        std::fs::write(dir.path().join(name), pdf(n + 1)).unwrap();
        let ulid = Ulid::new(mailchute::base::clock::Clock::system().now()).unwrap();
        claims.push(claim_of_file(&ulid, name.as_bytes()).unwrap());
    }
    std::fs::remove_file(dir.path().join("gone.pdf")).unwrap();
    let path = |claim: &str| dir.path().join(hot.claims_path()).join(claim);
    std::fs::write(path(&claims[2]), "another").unwrap();
    let names: Vec<&str> = claims.iter().map(String::as_str).chain(["no-claim-of-a-file"]).collect();
    let claimed = hot.claim_all(&names).unwrap();
    let claimed: Vec<_> = claimed.into_iter().map(|claimed| claimed.map_err(|error| error.kind())).collect();
    let [gone, there, none] =
        [ErrorKind::NotFound, ErrorKind::AlreadyExists, ErrorKind::InvalidInput].map(Err);
    assert_eq!(claimed, [Ok(()), gone, there, Ok(()), none]);
    assert_eq!(std::fs::read(path(&claims[0])).unwrap(), pdf(1));
    assert_eq!(std::fs::read(path(&claims[2])).unwrap(), b"another", "nothing is replaced");
    assert_eq!(std::fs::read(dir.path().join("there.pdf")).unwrap(), pdf(3), "it stays where it was");
    assert_eq!(std::fs::read(path(&claims[3])).unwrap(), pdf(4));
}

/// So many drops that have settled, one worker, and intake has not had its turn.
async fn finished(rules: &str, drops: usize) -> Mailroom {
    let mut room = Mailroom::with(rules).await;
    room.stop();
    room.at_once = Some(1);
    room.start();
    for n in 0..drops {
        std::fs::write(room.path(&format!("INV-000123 {n:02}.pdf")), unique(n, 1)).unwrap();
    }
    room.turn(Loop::Intake).await;
    room.clock.move_by(TimeDelta::seconds(6)).unwrap();
    room
}

fn claims(room: &Mailroom) -> usize {
    let claims = std::fs::read_dir(room.path(".mailchute/claim")).unwrap();
    claims.filter(|claim| is_file_claim(claim.as_ref().unwrap().file_name().to_str().unwrap())).count()
}

async fn all_are_posted(room: &mut Mailroom, drops: usize) {
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), vec!["confirmed"; drops], "{:?}", room.tree());
    assert_eq!(room.tree().len(), 2 * drops, "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn what_was_claimed_together_is_decided_after_a_crash_too() {
    for turns in 1..=4 {
        let mut room = finished(RULES, 20).await;
        for _turn in 0..turns {
            room.takes_one().await;
        }
        assert_eq!(claims(&room), 16, "{:?}", room.tree());
        room.crash().await;
        room.start();
        all_are_posted(&mut room, 20).await;
    }
}

/// A rule that matches by the number of pages: whether a sidecar is needed is seen before anything is claimed.
fn peeking() -> String {
    format!("{RULES}  - name: others\n    receiver: sidecar\n    shipping: {{method: normal}}\n")
}

#[tokio::test]
async fn what_is_looked_into_before_its_claim_is_claimed_together_too() {
    let mut room = finished(&peeking(), 12).await;
    for _looked_into in 0..8 {
        room.takes_one().await;
        assert_eq!(claims(&room), 0, "{:?}", room.tree());
    }
    // One that was looked into is not what lies there any more.
    std::fs::write(room.path("INV-000123 07.pdf"), unique(7, 2)).unwrap();
    room.takes_one().await;
    assert_eq!(claims(&room), 8, "{:?}", room.tree());
    all_are_posted(&mut room, 12).await;
    let desk = room.desk();
    let letters = desk.numbers().unwrap().into_iter().map(|number| desk.letter(number).unwrap().unwrap());
    assert_eq!(letters.map(|letter| letter.order.documents[0].pages).sum::<u32>(), 13);
}

#[tokio::test]
async fn what_lacks_its_sidecar_or_has_no_end_stays_when_others_are_claimed() {
    let mut room = finished(&peeking(), 6).await;
    std::fs::write(room.path("INV-000123 03.pdf"), pdf(9)).unwrap();
    std::fs::write(room.path("INV-000123 04.pdf"), &pdf(1)[..150]).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), vec!["confirmed"; 4], "{:?}", room.tree());
    assert!(room.path("INV-000123 03.pdf").exists() && room.path("INV-000123 04.pdf").exists());
}

#[tokio::test]
async fn what_was_claimed_in_a_folder_that_went_away_is_decided_when_it_is_back() {
    let mut room = finished(RULES, 10).await;
    room.takes_one().await;
    assert_eq!(claims(&room), 10, "{:?}", room.tree());
    let (hot, aside) = (room.hot(), room.dir.path().join("aside"));
    std::fs::rename(&hot, &aside).unwrap();
    room.pass(70).await;
    assert_eq!(room.row_states(), [""; 0]);
    std::fs::rename(&aside, &hot).unwrap();
    room.pass(70).await;
    all_are_posted(&mut room, 10).await;
}

/// As after a restore: the same marker in another directory.
#[tokio::test]
async fn what_was_looked_into_in_another_directory_is_not_claimed_in_this_one() {
    let mut room = finished(&peeking(), 3).await;
    for _looked_into in 0..3 {
        room.takes_one().await;
    }
    let (hot, aside) = (room.hot(), room.dir.path().join("aside"));
    std::fs::rename(&hot, &aside).unwrap();
    let copied = std::process::Command::new("cp").arg("-r").args([&aside, &hot]).status().unwrap();
    assert!(copied.success());
    room.pass(70).await;
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), [""; 0], "{:?}", room.tree());
    for n in 0..3 {
        assert_eq!(room.why(&format!("INV-000123 0{n}.pdf")), "it was there before", "{:?}", room.tree());
    }
}

#[tokio::test]
async fn what_is_written_on_after_it_was_looked_into_stays_in_its_folder() {
    let mut room = finished(&peeking(), 3).await;
    for _looked_into in 0..3 {
        room.takes_one().await;
    }
    let (growing, whole) = (room.path("INV-000123 01.pdf"), unique(1, 4));
    std::fs::write(&growing, &whole[..whole.len() / 2]).unwrap();
    for _ in 0..2 {
        room.settled().await;
    }
    assert!(growing.exists(), "{:?}", room.tree());
    std::fs::write(&growing, &whole).unwrap();
    all_are_posted(&mut room, 3).await;
}

/// What needs no others goes first; those that do not make a group are not left behind.
#[tokio::test]
async fn what_was_looked_into_does_not_wait_for_what_can_t_be_claimed_with_it() {
    let mut room = Mailroom::with(&peeking()).await;
    room.stop();
    room.at_once = Some(1);
    room.start();
    for n in 0..2 {
        std::fs::write(room.path(&format!("INV-000123 {n:02}.pdf")), unique(n, 1)).unwrap();
    }
    for n in 0..6 {
        let name = format!("side{n}.pdf");
        std::fs::write(room.path(&name), unique(n + 9, 1)).unwrap();
        std::fs::write(room.path(&format!("{name}.yaml")), SIDECAR).unwrap();
    }
    room.turn(Loop::Intake).await;
    room.clock.move_by(TimeDelta::seconds(6)).unwrap();
    for _turn in 0..3 {
        room.takes_one().await;
    }
    assert_eq!(claims(&room), 2, "{:?}", room.tree());
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), vec!["confirmed"; 8], "{:?}", room.tree());
    room.check().await;
}
