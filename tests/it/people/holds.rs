//! Holds that a person lifts in the folder: approval by another, posting times, doubts, limits, addresses.

use chrono::{Datelike as _, TimeDelta, Timelike as _};

use serde_json::json;

use std::os::unix::fs::PermissionsExt;

use mailchute::domain::letter::{Command, Number};

use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::service::pdf;

fn with(more: &str) -> String {
    RULES.replace("rules:", &format!("{more}\nrules:"))
}

async fn moved(room: &mut Mailroom, from: &str, to: &str) {
    std::fs::rename(room.path(from), room.path(to)).unwrap();
    room.settled().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_dropped_a_letter_cant_approve_it() {
    let mut room = Mailroom::with(&with("release: approval\napproval: {not_by_owner: true}")).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    assert!(room.note("Held/x.txt").contains("COPIES it into `Approve`"));
    // Moved, it comes back: a move does not tell whose hand it was.
    moved(&mut room, "Held/x.pdf", "Approve/x.pdf").await;
    assert_eq!((room.state("x.pdf").as_str(), room.path("Held/x.pdf").exists()), ("held", true));
    // A copy of one's own.
    std::fs::copy(room.path("Held/x.pdf"), room.path("Approve/x.pdf")).unwrap();
    room.settled().await;
    assert!(room.note("Rejected/x.txt").contains("The person who dropped a letter can't approve it"));
    assert!(room.path("Held/x.pdf").exists() && !room.path("Approve/x.pdf").exists());
    assert_eq!(room.row_states(), ["held"]);
    // Some other PDF under its name approves nothing, whosoever it is.
    let database = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    database.execute("UPDATE original SET owner = 4242 WHERE letter = 1", []).unwrap();
    std::fs::write(room.path("Approve/x.pdf"), pdf(7)).unwrap();
    room.settled().await;
    assert_eq!(room.row_states(), ["held"]);
    // A copy that is not the owner's.
    std::fs::copy(room.path("Held/x.pdf"), room.path("Approve/x.pdf")).unwrap();
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
    assert!(room.path(&format!("{}/x.pdf", room.sent())).exists() && !room.path("Approve/x.pdf").exists());
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_one_form_of_a_name_approves_the_letter_of_that_form() {
    let mut room = Mailroom::with(&with("release: approval\napproval: {not_by_owner: true}")).await;
    // Composed, then decomposed; both are the same to people.
    for name in ["xが.pdf", "xか\u{3099}.pdf"] {
        room.drop(name, 1);
        room.settled().await;
    }
    let database = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    database.execute("UPDATE original SET owner = 4242", []).unwrap();
    std::fs::copy(room.path("Held/xが.pdf"), room.path("Approve/xが.pdf")).unwrap();
    room.settled().await;
    let state = |number| room.desk().row(Number(number)).unwrap().unwrap().state;
    assert_eq!((state(1).as_str(), state(2).as_str()), ("confirmed", "held"), "{:?}", room.tree());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_original_whose_place_another_has_got_is_no_copy_of_that() {
    let mut room = Mailroom::with(&with("release: approval\napproval: {not_by_owner: true}")).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    room.drop("x.pdf", 1);
    room.pass_only(Loop::Intake, 7).await;
    room.turn(Loop::Letters).await;
    std::fs::rename(room.path("Held/x.pdf"), room.path("Approve/x.pdf")).unwrap();
    std::fs::remove_file(room.path("Held/x.txt")).unwrap();
    room.turn(Loop::Shelves).await;
    assert!(room.path("Held/x.pdf").exists(), "{:?}", room.tree());
    let database = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    database.execute("UPDATE original SET owner = 4242", []).unwrap();
    room.settled().await;
    assert_eq!(room.row_states(), ["held", "held"], "{:?}", room.tree());
    assert!(room.path("Rejected/x.pdf").exists(), "{:?}", room.tree());
}

/// A file that others than its owner may write, or nobody.
fn mode(room: &Mailroom, name: &str, mode: u32) {
    std::fs::set_permissions(room.path(name), PermissionsExt::from_mode(mode)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_proves_nothing_if_others_may_write_the_file() {
    let mut room = Mailroom::with(&with("release: approval\napproval: {not_by_owner: true}")).await;
    // What somebody wrote into a colleague's file would seem to be dropped by the colleague.
    for (name, pages, rights) in [("x1.pdf", 1, 0o660), ("x2.pdf", 2, 0o606), ("x3.pdf", 3, 0o640)] {
        room.drop(name, pages);
        mode(&room, name, rights);
    }
    room.settled().await;
    assert_eq!(room.row_states(), ["held"; 3]);
    for name in ["x1", "x2"] {
        let note = room.note(&format!("Held/{name}.txt"));
        assert!(note.contains("The owner is not proved"), "{note}");
        // A colleague approves it.
        std::fs::copy(room.path(&format!("Held/{name}.pdf")), room.path(&format!("Approve/{name}.pdf")))
            .unwrap();
        mode(&room, &format!("Approve/{name}.pdf"), 0o640);
        room.settled().await;
        let note = room.note(&format!("Rejected/{name}.txt"));
        assert!(note.contains("create mask = 0640") && note.contains("mailchute release"), "{note}");
    }
    let database = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    database.execute("UPDATE original SET owner = 4242 WHERE letter = 3", []).unwrap();
    // A copy that others may write is nobody's approval either, nor is such a file that was moved.
    for copied in [true, false] {
        if copied {
            std::fs::copy(room.path("Held/x3.pdf"), room.path("Approve/x3.pdf")).unwrap();
        } else {
            std::fs::rename(room.path("Held/x3.pdf"), room.path("Approve/x3.pdf")).unwrap();
        }
        mode(&room, "Approve/x3.pdf", 0o660);
        room.settled().await;
        assert_eq!(
            (room.row_states(), room.path("Held/x3.pdf").exists()),
            (vec!["held".to_owned(); 3], true)
        );
    }
    std::fs::copy(room.path("Held/x3.pdf"), room.path("Approve/x3.pdf")).unwrap();
    mode(&room, "Approve/x3.pdf", 0o640);
    room.settled().await;
    assert_eq!(room.row_states(), ["held", "held", "confirmed"]);
    // The administrator still can.
    room.desk().order(Number(1), Command::Release, room.clock.now()).unwrap();
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed", "held", "confirmed"]);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_wait_for_their_posting_time_and_go_together() {
    let mut room = Mailroom::with(&with("release: '0 15 * * *'")).await;
    for n in 0..4 {
        room.drop(&format!("x{n}.pdf"), n + 1);
    }
    room.settled().await;
    assert_eq!(room.row_states(), ["admitted"; 4]);
    let note = room.note("Held/x1.txt");
    assert!(note.contains("WAITS FOR ITS POSTING TIME") && note.contains("15:00"), "{note}");
    moved(&mut room, "Held/x0.pdf", "Approve/x0.pdf").await;
    moved(&mut room, "Held/x1.pdf", "Cancel/x1.pdf").await;
    assert_eq!(["x0.pdf", "x1.pdf"].map(|name| room.state(name)), ["confirmed", "withdrawn"]);
    // A restart does not let them go.
    room.stop();
    room.start();
    room.settle().await;
    let now = room.clock.now().with_timezone(&chrono_tz::Asia::Tokyo);
    let due = now.with_hour(15).unwrap().with_minute(0).unwrap().with_second(0).unwrap();
    let due = if due > now { due } else { due + TimeDelta::days(1) };
    room.pass((due - now).num_seconds() - 60).await;
    assert_eq!(["x2.pdf", "x3.pdf"].map(|name| room.state(name)), ["admitted"; 2]);
    room.pass(61).await;
    assert_eq!(["x2.pdf", "x3.pdf"].map(|name| room.state(name)), ["confirmed"; 2]);
    assert!(room.path(&format!("{}/x2.pdf", room.sent())).exists());
    assert!(due.weekday().number_from_monday() <= 7);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_withdrawn_in_the_moment_of_its_posting_time_is_withdrawn() {
    let mut room = Mailroom::with(&with("release: '0 * * * *'")).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    assert_eq!(room.row_states(), ["admitted"]);
    // In the clerk's hand, and not looked at twice yet, when the hour strikes; the card company is slow.
    let busy = json!({"endpoint": "confirm", "fault": "payment_in_progress", "times": 2});
    room.service.order(busy).await;
    std::fs::rename(room.path("Held/x.pdf"), room.path("Cancel/x.pdf")).unwrap();
    room.pass(3600).await;
    for _second in 0..60 {
        room.pass(1).await;
    }
    // Whether the first try of the confirmation counts is known for certain only when its hour is over.
    for _hour in 0..4 {
        room.pass(3600).await;
    }
    let state = room.state("x.pdf");
    assert!(state == "cancelled" || state == "withdrawn", "{state}: {:?}", room.tree());
    assert_eq!(room.tree(), ["Cancelled/x.pdf", "Cancelled/x.txt"]);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pdf_in_doubt_goes_once_a_person_has_looked_at_it() {
    let mut room = Mailroom::open().await;
    let whole = String::from_utf8(pdf(1)).unwrap();
    // The table of contents lies elsewhere than the file says: every reader has to search for it.
    let at = whole.rfind("startxref\n").unwrap() + "startxref\n".len();
    let end = at + whole[at..].find('\n').unwrap();
    let repaired = format!("{}{}{}", &whole[..at], "1", &whole[end..]);
    std::fs::write(room.path("x doubt.pdf"), &repaired).unwrap();
    room.settled().await;
    let note = room.note("Held/x doubt.txt");
    assert!(note.contains("damaged or incomplete") && note.contains("`Approve`"), "{note}");
    assert_eq!(room.row_states(), Vec::<String>::new());
    // The daemon ends in between.
    std::fs::rename(room.path("Held/x doubt.pdf"), room.path("Approve/x doubt.pdf")).unwrap();
    room.settled().await;
    room.stop();
    room.start();
    room.settled().await;
    // The service judges for itself; nothing is posted that it counts otherwise.
    for _hour in 0..3 {
        room.pass(3600).await;
    }
    let (state, why) = (room.state("x doubt.pdf"), room.why("x doubt.pdf"));
    assert!(state == "held" && why.contains("can't post its documents"), "{state} {why}");
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_of_something_else_does_not_accept_a_doubt() {
    let mut room = Mailroom::closed(RULES).await;
    let padded = |pages| [pdf(pages), vec![0x1a]].concat();
    std::fs::write(room.path("x.pdf"), padded(1)).unwrap();
    room.start();
    room.settled().await;

    assert!(room.note("Held/x.txt").contains("before the folder was watched"));
    moved(&mut room, "Held/x.pdf", "Approve/x.pdf").await;
    room.settled().await;
    let note = room.note("Held/x.txt");
    assert!(note.contains("follows the end of the PDF") && note.contains("1 page(s)"), "{note}");
    assert_eq!(room.row_states(), Vec::<String>::new());
    // Nor does it accept another PDF under the same name.
    std::fs::remove_file(room.path("Held/x.pdf")).unwrap();
    std::fs::write(room.path("Approve/x.pdf"), padded(2)).unwrap();
    room.settled().await;
    room.pass(120).await;
    room.settled().await;
    assert_eq!(room.row_states(), Vec::<String>::new());
    assert_eq!(std::fs::read(room.path("Rejected/x.pdf")).unwrap(), padded(2), "{:?}", room.tree());
    assert!(room.note("Rejected/x.txt").contains("has other contents"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postal_code_of_another_prefecture_waits_for_a_look() {
    let mut room = Mailroom::open().await;
    let sidecar =
        "receiver: {postal_code: '1000001', state: 北海道, city: 札幌市, address1: 1-1, name: 佐藤}\n";
    std::fs::write(room.path("side.pdf.yaml"), sidecar).unwrap();
    room.drop("side.pdf", 1);
    room.settled().await;
    let note = room.note("Held/side.txt");
    assert!(note.contains("belongs to 東京都"), "{note}");
    let why = room.why("side.pdf");
    assert!(why.contains("another prefecture") && !why.contains("東京都"), "{why}");
    moved(&mut room, "Held/side.pdf", "Approve/side.pdf").await;
    assert_eq!(room.state("side.pdf"), "confirmed");
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_says_what_is_usual() {
    let mut room = Mailroom::with(&with("limits: {burst: 10 in 1h}\nduplicates: {action: allow}")).await;
    for day in 0..3 {
        for n in 0..5 {
            room.drop(&format!("x{day}-{n}.pdf"), n + 1);
        }
        room.settled().await;
        room.pass(86_400).await;
    }
    for n in 0..14 {
        room.drop(&format!("x{n:02}.pdf"), n + 1);
    }
    room.settled().await;
    let held: Vec<_> = room.drops().into_values().filter(|drop| drop.state == "held").collect();
    assert_eq!(held.len(), 4);
    let why = held.iter().filter_map(|drop| drop.why.clone()).max().unwrap();
    assert!(why.contains("usually 5 a day, now 14"), "{why}");
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_duplicate_names_the_earlier_letter_and_can_be_sent_anyway() {
    for is_recorded_by_an_older_program in [false, true] {
        let mut room = Mailroom::open().await;
        room.drop("INV-000123.pdf", 1);
        room.settled().await;
        if is_recorded_by_an_older_program {
            let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
            assert_eq!(db.execute("UPDATE document SET receiver = ''", []).unwrap(), 1);
        }
        room.drop("INV-000123 again.pdf", 1);
        room.drop("INV-000456.pdf", 1);
        room.settled().await;
        let note = room.note("Held/INV-000123 again.txt");
        assert!(note.contains("#1") && note.contains("move it into `Approve`"), "{note}");
        assert_eq!(room.state("INV-000456.pdf"), "confirmed", "it goes to another receiver");
        moved(&mut room, "Held/INV-000123 again.pdf", "Approve/INV-000123 again.pdf").await;
        assert_eq!(room.row_states(), ["confirmed", "confirmed", "confirmed"]);
        room.check().await;
    }
}

/// It waits under that name, so the text must not say that nothing does.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_a_drop_that_waits_approves_nothing_where_copies_are_asked_for() {
    let mut room = Mailroom::with(&with("release: approval\napproval: {not_by_owner: true}")).await;
    room.drop("side.pdf", 1);
    room.settled().await;
    room.pass(600).await;
    room.settled().await;
    room.settled().await;
    std::fs::copy(room.path("Held/side.pdf"), room.path("Approve/side.pdf")).unwrap();
    room.settled().await;
    room.pass(150).await;
    room.settled().await;
    let note = room.note("Rejected/side.txt");
    assert!(note.contains("This is a copy of a PDF that is held."), "{note}");
    room.check().await;
}
