//! Folders that are new, go away and come back, or can't be used; configurations that change.

use chrono::TimeDelta;
use mailchute::base::clock::{Clock, Pace};
use mailchute::outside::hot::{Hot, Keeper};

use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::service::pdf;

#[tokio::test]
async fn what_lies_in_a_new_folder_is_held_and_what_comes_later_is_not() {
    let mut room = Mailroom::closed(RULES).await;
    room.drop("x1.pdf", 1);
    room.start();
    room.settle().await;
    room.drop("x2.pdf", 2);
    room.settled().await;
    assert_eq!((room.state("x1.pdf").as_str(), room.why("x1.pdf").as_str()), ("held", "it was there before"));
    assert_eq!(room.state("x2.pdf"), "confirmed");
    assert!(room.note("Held/x1.txt").contains("before the folder was watched"));
    std::fs::rename(room.path("Held/x1.pdf"), room.path("Approve/x1.pdf")).unwrap();
    room.settled().await;
    room.settled().await;
    assert_eq!(room.state("x1.pdf"), "confirmed");
    // While the daemon is down people go on: that is no first start.
    room.stop();
    room.drop("x3.pdf", 3);
    room.start();
    room.settled().await;
    assert_eq!(room.state("x3.pdf"), "confirmed");
    room.check().await;
}

#[tokio::test]
async fn what_is_to_be_taken_at_the_first_start_is() {
    let mut room = Mailroom::closed(&RULES.replace("path:", "first_start: take\npath:")).await;
    room.drop("x1.pdf", 1);
    room.start();
    room.settled().await;
    assert_eq!(room.state("x1.pdf"), "confirmed");
}

#[tokio::test]
async fn a_share_that_vanishes_pauses_its_folder_and_what_is_there_when_it_returns_is_held() {
    let mut room = Mailroom::open().await;
    let (hot, parked) = (room.hot(), room.dir.path().join("parked"));
    room.drop("x1.pdf", 1);
    room.pass(1).await;
    // It goes: the mount point is an empty directory.
    std::fs::rename(&hot, &parked).unwrap();
    std::fs::create_dir(&hot).unwrap();
    room.settled().await;
    let trouble = room.desk().folders().unwrap().remove(0).trouble.unwrap();
    assert!(trouble.contains("not mounted"), "{trouble}");
    std::fs::write(hot.join("stray.pdf"), pdf(9)).unwrap();
    room.settled().await;
    assert_eq!(room.state("stray.pdf"), "not taken", "the mount point is not the folder");
    assert!(!hot.join(".mailchute").exists());
    // Somebody writes to the server meanwhile; then it is back.
    std::fs::write(parked.join("x2.pdf"), pdf(2)).unwrap();
    std::fs::remove_dir_all(&hot).unwrap();
    std::fs::rename(&parked, &hot).unwrap();
    room.pass(6).await;
    room.settled().await;
    assert_eq!(room.desk().folders().unwrap().remove(0).trouble, None);
    assert_eq!(room.state("x1.pdf"), "confirmed", "it was seen before the share went");
    assert_eq!((room.state("x2.pdf").as_str(), room.why("x2.pdf").as_str()), ("held", "it was there before"));
    room.drop("x3.pdf", 3);
    room.settled().await;
    assert_eq!(room.state("x3.pdf"), "confirmed");
    room.check().await;
}

#[tokio::test]
async fn a_move_that_can_t_be_made_stays_owed_and_posts_nothing_again() {
    let mut room = Mailroom::open().await;
    let (hot, parked) = (room.hot(), room.dir.path().join("parked"));
    room.drop("x.pdf", 1);
    // Where it is to go, somebody has put a file in the way of the directory.
    std::fs::write(room.path("Sent"), b"in the way").unwrap();
    room.settled().await;
    assert_eq!(room.state("x.pdf"), "confirmed");
    assert!(room.drops()["x.pdf"].moving);
    std::fs::rename(&hot, &parked).unwrap();
    room.settled().await;
    std::fs::rename(&parked, &hot).unwrap();
    std::fs::remove_file(room.path("Sent")).unwrap();
    room.pass(20).await;
    room.pass(300).await;
    assert!(room.tree().contains(&format!("{}/x.pdf", room.sent())), "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn new_rules_are_in_force_at_once_and_what_was_decided_stays_decided() {
    let mut room = Mailroom::open().await;
    room.drop("x1.pdf", 1);
    room.drop("y1.pdf", 1);
    room.settled().await;
    assert_eq!((room.state("x1.pdf").as_str(), room.state("y1.pdf").as_str()), ("confirmed", "rejected"));
    assert!(room.note("Rejected/y1.txt").contains("No rule of this folder fits it"));
    let rules = room.dir.path().join("folders/letters.yaml");
    std::fs::write(&rules, RULES.replace("'^x'", "'^[xy]'").replace("path:", "release: approval\npath:"))
        .unwrap();
    room.reload();
    std::fs::rename(room.path("Rejected/y1.pdf"), room.path("y1.pdf")).unwrap();
    room.settled().await;
    let states: Vec<_> =
        room.desk().letters(None, None, 10).unwrap().into_iter().map(|row| row.state).collect();
    assert_eq!(states, ["confirmed", "held"]);
    room.check().await;
}

#[tokio::test]
async fn a_second_daemon_on_a_folder_takes_nothing_from_it() {
    let mut room = Mailroom::open().await;
    let mut other = Mailroom::closed(&RULES.replace("../letters", room.hot().to_str().unwrap())).await;
    other.start();
    other.settle().await;
    let folders = |room: &Mailroom| room.desk().folders().unwrap();
    assert!(folders(&other).is_empty(), "it was never enabled");
    room.drop("x.pdf", 1);
    other.settled().await;
    assert_eq!(room.desk().drops(10).unwrap().len() + other.desk().drops(10).unwrap().len(), 0);
    room.settled().await;
    assert_eq!(room.state("x.pdf"), "confirmed");
}

#[test]
fn what_comes_right_after_a_folder_is_enabled_is_younger_than_its_marker() {
    let dir = tempfile::tempdir().unwrap();
    let hot = Hot::open(dir.path(), false, &Keeper::default()).unwrap();
    for n in 0..30 {
        let since = hot.mark("id").unwrap();
        std::fs::write(dir.path().join(n.to_string()), b"x").unwrap();
        let listed = hot.list(None).unwrap();
        let seen = listed.iter().find(|seen| seen.name == n.to_string().as_bytes()).unwrap();
        assert!(seen.stat.changed > since, "in round {n}");
    }
}

/// A second folder beside the first, with the same rules.
fn second(room: &Mailroom) -> std::path::PathBuf {
    let folder = room.dir.path().join("second");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(room.dir.path().join("folders/second.yaml"), RULES.replace("../letters", "../second"))
        .unwrap();
    folder
}

#[tokio::test]
async fn a_corner_that_somebody_swapped_holds_up_no_other_folder() {
    let mut room = Mailroom::closed(RULES).await;
    let folder = second(&room);
    room.start();
    room.settle().await;
    for n in 0..3 {
        room.stop();
        let ours = room.path(".mailchute");
        std::fs::rename(&ours, room.dir.path().join(format!("aside {n}"))).unwrap();
        std::fs::create_dir(&ours).unwrap();
        let rights = if n == 0 { 0o770 } else { 0o700 };
        std::fs::set_permissions(&ours, std::os::unix::fs::PermissionsExt::from_mode(rights)).unwrap();
        for name in ["folder", "lock", "epoch", "epoch.new", "text.part", "claim"]
            .iter()
            .take(6 * usize::from(n == 1))
        {
            let fifo = ours.join(name);
            assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
        }
        if n == 2 {
            // Only the marker is one.
            let fifo = ours.join("folder");
            assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
        }
        room.start();
        // As soon as the folders are looked at.
        std::fs::write(folder.join(format!("x{n}.pdf")), pdf(n + 1)).unwrap();
        room.settled().await;
        assert_eq!(room.row_states().len(), n + 1, "the other folder goes on: {:?}", room.drops());
        let folders = room.desk().folders().unwrap();
        let trouble = folders[0].trouble.clone().unwrap();
        // All of them are FIFOs in the second turn: what is needed first is a directory.
        let why =
            ["belongs to another user, or others may write in it", "(os error 20)", "folder is not a file"]
                [n];
        assert!(trouble.contains(why), "{n}: {trouble}");
        room.stop();
        std::fs::remove_dir_all(&ours).unwrap();
        std::fs::rename(room.dir.path().join(format!("aside {n}")), &ours).unwrap();
        room.start();
        room.settled().await;
        assert_eq!(room.desk().folders().unwrap()[0].trouble, None);
    }
    room.check().await;
}

#[tokio::test]
async fn what_a_clock_that_was_ahead_has_left_behind_does_not_wait_until_then() {
    let mut room = Mailroom::open().await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
    // Nine hours ahead, something is rejected, and the daemon ends before it is put away and told.
    let right = room.clock.now();
    room.clock.move_by(TimeDelta::hours(9)).unwrap();
    std::fs::write(room.path("notes.doc"), "no PDF").unwrap();
    for seconds in [1, 5, 1] {
        room.turn(Loop::Intake).await;
        room.clock.move_by(TimeDelta::seconds(seconds)).unwrap();
    }
    assert_eq!(room.state("notes.doc"), "rejected");
    room.stop();
    room.clock = Clock::starting_at(right + TimeDelta::seconds(10), Pace::ByHand);
    room.start();
    room.settle().await;
    assert!(room.path("Rejected/notes.doc").exists(), "it would wait for nine hours: {:?}", room.tree());
    // The folder was marked by such a clock too.
    room.stop();
    let database = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    database.execute("UPDATE folder SET since = since + 9 * 3600000000000", []).unwrap();
    drop(database);
    room.drop("x2.pdf", 2);
    room.start();
    room.settled().await;
    assert_eq!((room.state("x2.pdf").as_str(), room.why("x2.pdf").as_str()), ("held", "it was there before"));
    room.drop("x3.pdf", 3);
    room.settled().await;
    assert_eq!(room.state("x3.pdf"), "confirmed", "what comes now is new");
    room.check().await;
}
