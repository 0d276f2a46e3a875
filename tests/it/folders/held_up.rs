//! What lies in a folder and can't be taken in says so where people look, and goes on by itself.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mailchute::loops::folders::Registry;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

const TEXT: &str = "THESE FILES WAIT.txt";

#[tokio::test]
async fn rules_that_keep_changing_are_told_in_the_folder_and_after_ten_minutes_the_drop_is_held() {
    let mut room = Mailroom::open().await;
    let rules = room.dir.path().join("folders/letters.yaml");
    std::fs::write(&rules, &RULES[..RULES.len() / 2]).unwrap();
    room.drop("x.pdf", 1);
    room.settled().await;
    assert_eq!(room.tree(), ["x.pdf"], "most changes end by themselves");
    for _ in 0..3 {
        room.settled().await;
    }
    let text = room.note(TEXT);
    assert!(text.contains("x.pdf: the rules of this folder are being changed."), "{text}");
    for _ in 0..60 {
        room.pass(9).await;
    }
    assert_eq!(room.state("x.pdf"), "not taken");
    for _ in 0..10 {
        room.pass(9).await;
    }
    assert_eq!(
        (room.state("x.pdf").as_str(), room.why("x.pdf").as_str()),
        ("held", "the rules kept changing")
    );
    assert!(!room.path(TEXT).exists(), "nothing waits there any more");
    // What its text says.
    std::fs::write(&rules, RULES).unwrap();
    room.reload();
    std::fs::rename(room.path("Held/x.pdf"), room.path("Approve/x.pdf")).unwrap();
    room.settled().await;
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
    // A later change is waited for anew.
    std::fs::write(&rules, &RULES[..RULES.len() / 2]).unwrap();
    room.drop("x2.pdf", 2);
    room.settled().await;
    assert_eq!(room.state("x2.pdf"), "not taken");
    std::fs::write(&rules, RULES).unwrap();
    room.reload();
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed", "confirmed"]);
    room.check().await;
}

#[tokio::test]
async fn a_long_settle_time_is_no_reason_to_count_anew_and_rules_that_settled_meanwhile_are() {
    let slow = RULES.replace("{poll: 1s}", "{settle: 50s, poll: 1s}");
    let mut room = Mailroom::with(&slow).await;
    let rules = room.dir.path().join("folders/letters.yaml");
    std::fs::write(&rules, &slow[..slow.len() / 2]).unwrap();
    room.drop("x.pdf", 1);
    for _ in 0..75 {
        room.pass(10).await;
    }
    assert_eq!(room.why("x.pdf"), "the rules kept changing");
    std::fs::write(&rules, &slow).unwrap();
    room.reload();
    // Each of these changes was in force soon.
    for n in 0..4 {
        std::fs::write(&rules, &slow[..slow.len() / 2]).unwrap();
        room.drop(&format!("x{n}.pdf"), n + 2);
        for _ in 0..12 {
            room.pass(10).await;
        }
        assert_eq!(room.state(&format!("x{n}.pdf")), "not taken");
        std::fs::write(&rules, &slow).unwrap();
        room.reload();
        for _ in 0..12 {
            room.pass(10).await;
        }
        assert_eq!(room.state(&format!("x{n}.pdf")), "confirmed");
    }
}

#[tokio::test]
async fn a_claim_whose_rules_keep_changing_is_held_after_ten_minutes() {
    let mut room = Mailroom::open().await;
    let child = room.dir.path().join("child");
    let rules = room.dir.path().join("folders/letters.yaml");
    let script = format!(
        "#!/bin/sh\necho '# half' >> {}\nexec {} \"$@\"\n",
        rules.display(),
        room.counts_pages.display()
    );
    std::fs::write(&child, script).unwrap();
    std::fs::set_permissions(&child, PermissionsExt::from_mode(0o755)).unwrap();
    room.counts_pages = child;
    room.stop();
    room.start();
    room.drop("x.pdf", 1);
    for _ in 0..80 {
        room.pass(9).await;
    }
    assert_eq!(
        (room.state("x.pdf").as_str(), room.why("x.pdf").as_str()),
        ("held", "the rules kept changing")
    );
}

#[tokio::test]
async fn a_book_that_does_not_settle_is_told_in_the_folder_after_five_minutes() {
    let mut room = Mailroom::with(&RULES.replace("settle: 2s", "settle: 6m")).await;
    std::fs::write(room.dir.path().join("folders/customers.csv"), "customer,name\n").unwrap();
    room.drop("x.pdf", 1);
    for _ in 0..28 {
        room.pass(9).await;
    }
    assert_eq!(room.tree(), ["x.pdf"]);
    for _ in 0..9 {
        room.pass(9).await;
    }
    let text = room.note(TEXT);
    assert!(text.contains("x.pdf: the address book is missing, does not answer, keeps changing"), "{text}");
    for _ in 0..10 {
        room.pass(9).await;
    }
    assert!(!room.path(TEXT).exists());
    assert_ne!(room.state("x.pdf"), "not taken");
}

#[tokio::test]
async fn files_that_may_be_half_saved_at_a_start_decide_nothing_until_they_are_read_again() {
    let mut room = Mailroom::closed(RULES).await;
    room.start();
    room.registry().decided_by_unfinished();
    room.settle().await;
    room.drop("x.pdf", 1);
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.state("x.pdf"), "not taken");
    // The loop that reads the configuration is woken.
    tokio::time::timeout(Duration::from_secs(5), Registry::changed(&room.registry())).await.unwrap();
    room.reload();
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
}

/// Waits until it is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain: {what}");
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drop_that_cannot_be_moved_is_told_in_the_folder_with_an_alarm_and_by_name() {
    const NOBODY: u32 = 65_534;
    let rules = RULES
        .replace("{poll: 1s}", "{settle: 100ms, poll: 1s}")
        .replace("watch:", "letter: subfolder\nwatch:");
    let room = Mailroom::of_today(&rules).await;
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        // Root may move whatever it likes.
        let status =
            std::process::Command::new("chown").args(["-R", "65534:65534"]).arg(room.dir.path()).status();
        assert!(status.unwrap().success());
    }
    let config = room.dir.path().join("mailchute.yaml");
    let mut command = mailchute(&["run", "--config", config.to_str().unwrap()]);
    if is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut daemon = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(daemon.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("is watched; what was already in it is held")));
    // Everybody may read it, and nobody may write: to move a directory one must write in it.
    let made = room.dir.path().join("x 1");
    std::fs::create_dir(&made).unwrap();
    std::fs::write(made.join("a.pdf"), pdf(1)).unwrap();
    std::fs::set_permissions(&made, PermissionsExt::from_mode(0o555)).unwrap();
    std::fs::rename(&made, room.path("x 1")).unwrap();
    let line = lines.find(|line| line.contains("x 1 can't be moved")).unwrap();
    assert!(line.contains("folder letters: x 1 can't be moved") && !line.contains("drop="), "{line}");
    until("the text", || {
        std::fs::read_to_string(room.path(TEXT))
            .is_ok_and(|text| text.contains("x 1: mailchute has no permission"))
    });
    until("the alarm", || {
        room.desk()
            .alarms()
            .unwrap()
            .iter()
            .any(|raised| raised.alarm.to_string() == "stuck letters" && raised.detail == "x 1")
    });
    std::thread::spawn(move || lines.for_each(drop));
    // Once it may be moved, all of that is over; without its right being seen, it is tried within a minute.
    std::fs::rename(room.path("x 1"), room.dir.path().join("aside")).unwrap();
    until("the end of the text", || !room.path(TEXT).exists());
    until("the end of the alarm", || room.desk().alarms().unwrap().is_empty());
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}
