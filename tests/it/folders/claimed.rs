//! A drop in its claim: a file that was dropped alone, or a directory with what belongs together.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use mailchute::outside::spool::Ulid;

use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::service::pdf;

/// As an older program left it, and as this one does.
const FORMS: [&str; 2] = ["{ulid}/x.pdf", "{ulid}-x.pdf"];

/// A PDF in its claim, as a run that was killed left it.
fn claimed(room: &Mailroom, form: &str, ulid: &str) -> PathBuf {
    let claim = room.path(&format!(".mailchute/claim/{}", form.replace("{ulid}", ulid)));
    std::fs::create_dir_all(claim.parent().unwrap()).unwrap();
    std::fs::write(&claim, pdf(1)).unwrap();
    claim
}

#[tokio::test]
async fn a_claim_of_either_form_is_continued() {
    for form in FORMS {
        let mut room = Mailroom::open().await;
        room.settled().await;
        room.stop();
        let ulid = Ulid::new(room.clock.now()).unwrap().to_string();
        claimed(&room, form, &ulid);
        room.start();
        room.settled().await;
        room.settled().await;
        assert_eq!(
            (room.row_states().join(" ").as_str(), room.drops()["x.pdf"].ulid.as_str()),
            ("confirmed", ulid.as_str())
        );
        assert_eq!(
            room.tree(),
            [format!("{}/x.pdf", room.sent()), format!("{}/x.txt", room.sent())],
            "{form}"
        );
        room.check().await;
    }
}

#[tokio::test]
async fn a_claim_of_either_form_that_our_records_do_not_know_is_held() {
    for form in FORMS {
        let mut room = Mailroom::open().await;
        room.settled().await;
        room.stop();
        // From before our marker.
        claimed(&room, form, "01M7ZVST76BKZVCKECWA2B9HN2");
        room.start();
        for _ in 0..3 {
            room.settled().await;
        }
        assert_eq!(room.why("x.pdf"), "it was there before", "{form}");
        assert_eq!(room.tree(), ["Held/x.pdf", "Held/x.txt"], "{form}");
        room.check().await;
    }
}

#[tokio::test]
async fn an_address_that_comes_while_a_drop_settles_in_its_claim_belongs_to_it() {
    for form in FORMS {
        let mut room = Mailroom::open().await;
        room.settled().await;
        room.stop();
        claimed(&room, form, Ulid::new(room.clock.now()).unwrap().as_str());
        std::fs::write(room.path("x.pdf.yaml"), SIDECAR).unwrap();
        room.start();
        for _ in 0..4 {
            room.settled().await;
        }
        // Its rule has a receiver, so only a person knows which of the two counts.
        assert_eq!((room.row_states().len(), room.state("x.pdf").as_str()), (0, "rejected"), "{form}");
        assert!(!room.tree().iter().any(|path| path.starts_with(".mailchute")), "{:?}", room.tree());
    }
}

#[tokio::test]
async fn a_file_that_grows_in_its_claim_settles_again() {
    let mut room = Mailroom::open().await;
    room.settled().await;
    room.stop();
    let claim = claimed(&room, FORMS[1], Ulid::new(room.clock.now()).unwrap().as_str());
    std::fs::write(&claim, &pdf(1)[..100]).unwrap();
    room.start();
    room.pass(3).await;
    std::fs::write(&claim, pdf(1)).unwrap();
    room.pass(3).await;
    assert_eq!(room.row_states(), [""; 0], "it was still being written");
    room.settled().await;
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
}

/// Which drops are claimed as files, seen while no letter can be posted.
#[tokio::test]
async fn only_a_file_that_came_alone_under_a_short_name_is_a_claim_itself() {
    let mut room = Mailroom::with(&RULES.replace("'^x'", "'^x|there'")).await;
    let down = serde_json::json!({"endpoint": "create", "fault": "cut", "times": 100_000});
    room.service.order(down).await;
    let long = |length: usize| format!("x{}.pdf", "1".repeat(length - 5));
    let names = ["x.pdf".to_owned(), long(228), long(229), "x.there.pdf".to_owned()];
    for (n, name) in names.iter().enumerate() {
        room.drop(name, n + 1);
    }
    std::fs::write(room.hot().join(OsStr::from_bytes(b"x\xff.pdf")), pdf(6)).unwrap();
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.drop("side.pdf", 7);
    room.settled().await;
    let claims = std::fs::read_dir(room.path(".mailchute/claim")).unwrap();
    let mut files: Vec<String> = claims
        .map(|claim| claim.unwrap())
        .filter(|claim| claim.file_type().unwrap().is_file())
        .map(|claim| claim.file_name().into_string().unwrap()[27..].to_owned())
        .collect();
    files.sort();
    let mut expected = vec!["x.pdf".to_owned(), "x.there.pdf".to_owned(), long(228)];
    expected.sort();
    assert_eq!(files, expected);
    assert_eq!(room.row_states().len(), 6);
    room.service.control(reqwest::Method::DELETE, "faults", serde_json::json!({})).await;
    room.pass(3600).await;
    assert_eq!(room.row_states(), ["confirmed"; 6]);
    assert_eq!(std::fs::read_dir(room.path(".mailchute/claim")).unwrap().count(), 0);
    // The rig compares names that are text.
    for name in [&b"x\xff.pdf"[..], b"x\xff.txt"] {
        std::fs::remove_file(room.hot().join(room.sent()).join(OsStr::from_bytes(name))).unwrap();
    }
    room.check().await;
}

#[tokio::test]
async fn what_a_claim_of_either_form_holds_is_counted() {
    for form in FORMS {
        let room = Mailroom::open().await;
        let claim = claimed(&room, form, Ulid::new(room.clock.now()).unwrap().as_str());
        let at = mailchute::outside::hot::claims_at(&room.hot()).unwrap();
        let [name] = at.as_slice() else { panic!("{at:?}") };
        assert_eq!(mailchute::outside::hot::claimed_at(&room.hot(), name), 1);
        std::fs::remove_file(claim).unwrap();
        assert_eq!(mailchute::outside::hot::claimed_at(&room.hot(), name), 0);
    }
}
