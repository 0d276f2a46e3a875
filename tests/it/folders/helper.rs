//! Folders that a helper process reaches, because a call on their file system may never return (I25).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mailchute::outside::hot::{Hot, Keeper, Reach};

use crate::rigs::files::{helpers_below, kill};
use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::service::pdf;

fn reach() -> Reach {
    Reach::of(Path::new(env!("CARGO_BIN_EXE_mailchute"))).always_apart()
}

/// With three folders, each reached by a helper of its own.
async fn room(rules: &str) -> Mailroom {
    let mut room = Mailroom::closed(rules).await;
    room.reach = Arc::new(reach().with_patience(Duration::from_secs(2)));
    for name in ["second", "third"] {
        std::fs::create_dir(room.dir.path().join(name)).unwrap();
        let rules = RULES.replace("../letters", &format!("../{name}"));
        std::fs::write(room.dir.path().join(format!("folders/{name}.yaml")), rules).unwrap();
    }
    room.start();
    room.settle().await;
    room
}

/// The process that reaches a folder.
fn helper_of(folder: &Path) -> rustix::process::Pid {
    *helpers_below(folder).first().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_go_their_whole_way_in_a_folder_that_a_helper_reaches() {
    let mut room = room(&RULES.replace("rules:", "limits: {letters_per_day: 3}\nrules:")).await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.drop("side.pdf", 1);
    room.drop("INV-000123.pdf", 2);
    room.drop("x3.pdf", 3);
    std::fs::write(room.path("torn.pdf"), "no PDF").unwrap();
    room.settled().await;
    room.drop("x late.pdf", 4);
    room.settled().await;
    room.pass(130).await;
    assert_eq!(room.row_states(), ["confirmed", "confirmed", "confirmed", "held"]);
    assert_eq!(room.state("torn.pdf"), "rejected");
    std::fs::rename(room.path("Held/x late.pdf"), room.path("Approve/x late.pdf")).unwrap();
    let sent = room.path(&format!("{}/INV-000123.pdf", room.sent()));
    std::fs::rename(sent, room.path("Cancel/INV-000123.pdf")).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(
        (room.state("INV-000123.pdf").as_str(), room.state("x late.pdf").as_str()),
        ("cancelled", "confirmed")
    );
    assert!(room.path("Cancelled/INV-000123.txt").exists() && room.path("Rejected/torn.txt").exists());
    assert!(room.path(&format!("{}/side.pdf.yaml", room.sent())).exists());
    // As the daemon ends: the next start finds the folders free.
    room.stop();
    room.start();
    room.drop("x again.pdf", 5);
    room.pass(86_400).await;
    room.settled().await;
    assert_eq!(room.state("x again.pdf"), "confirmed");
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_does_not_answer_holds_up_no_other_and_is_back_when_it_does() {
    let mut room = room(RULES).await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
    rustix::process::kill_process(helper_of(&room.hot()), rustix::process::Signal::STOP).unwrap();
    room.drop("x2.pdf", 2);
    std::fs::write(room.dir.path().join("second/x3.pdf"), pdf(3)).unwrap();
    std::fs::write(room.dir.path().join("third/x4.pdf"), pdf(4)).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    // One that is killed is replaced as well.
    kill(helper_of(&room.hot()));
    room.drop("x5.pdf", 5);
    for _ in 0..3 {
        room.settled().await;
    }
    // Given up, it ends, and another one is started: nothing is held, for the folder was there all the time.
    let folders = room.desk().folders().unwrap();
    assert_eq!(folders.iter().map(|folder| folder.trouble.clone()).collect::<Vec<_>>(), [None, None, None]);
    assert_eq!(room.row_states(), ["confirmed"; 5]);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_helper_that_does_not_answer_is_waited_for_no_longer_than_the_patience() {
    let dir = tempfile::tempdir().unwrap();
    let reach = reach().with_patience(Duration::from_millis(300));
    let hot = reach.open(dir.path(), false, &Keeper::default()).unwrap();
    assert!(hot.is_apart() && hot.is_locked());
    assert_eq!(hot.list(None).unwrap().len(), 1);
    let helper = helper_of(dir.path());
    rustix::process::kill_process(helper, rustix::process::Signal::STOP).unwrap();
    for _ in 0..3 {
        let begun = std::time::Instant::now();
        assert_eq!(hot.list(None).unwrap_err().kind(), std::io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
    // Another one is started only when it has ended, and then the folder's lock is free.
    let until = std::time::Instant::now() + Duration::from_secs(30);
    let again = loop {
        match reach.open(dir.path(), true, &Keeper::default()) {
            Ok(again) => break again,
            Err(away) => assert!(std::time::Instant::now() < until, "{away}"),
        }
        std::thread::yield_now();
    };
    assert!(again.is_locked() && helper_of(dir.path()) != helper);
    drop(again);
    // One that is let go frees the lock before the next one is opened, here or by another helper.
    let again = reach.open(dir.path(), true, &Keeper::default()).unwrap();
    assert!(again.is_locked());
}

#[test]
fn a_mount_that_does_not_answer_holds_up_no_question_about_another() {
    let reach = reach().with_patience(Duration::from_secs(20));
    let (dir, other) = (tempfile::tempdir().unwrap(), Path::new("/proc"));
    reach.stat(dir.path()).unwrap();
    reach.stat(other).unwrap();
    let helper = helper_of(other);
    rustix::process::kill_process(helper, rustix::process::Signal::STOP).unwrap();
    std::thread::scope(|scope| {
        let hang = [(); 2].map(|()| scope.spawn(|| reach.stat(other)));
        let begun = std::time::Instant::now();
        for _ in 0..2000 {
            reach.stat(dir.path()).unwrap();
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        rustix::process::kill_process(helper, rustix::process::Signal::CONT).unwrap();
        for hangs in hang {
            hangs.join().unwrap().unwrap();
        }
    });
}

#[test]
fn what_a_helper_finds_is_what_this_process_finds() {
    let dir = tempfile::tempdir().unwrap();
    let keeper =
        Keeper { records: "A".to_owned(), run: "1".to_owned(), state: "/state".into(), ..Keeper::default() };
    std::fs::write(dir.path().join("x.pdf"), pdf(1)).unwrap();
    // A name in CP932.
    let odd = OsStr::from_bytes(b"\x90\xbf\x8b\x81.pdf");
    std::fs::write(dir.path().join(odd), pdf(2)).unwrap();
    std::os::unix::fs::symlink("x.pdf", dir.path().join("link.pdf")).unwrap();
    // Debug output shows kinds, numbers and words of errors.
    let look = |hot: &Hot| -> Vec<String> {
        let mut list = hot.list(None).unwrap();
        list.sort_by(|one, other| one.name.cmp(&other.name));
        let file = list.iter().find(|one| one.name == b"x.pdf").map(|one| (one.stat, one.readable));
        let names: Vec<_> = list.into_iter().map(|one| one.name).collect();
        vec![
            format!("{names:?} {file:?}"),
            format!("{:?} {:?}", hot.peek(b"x.pdf", 10_000_000), hot.peek(b"x.pdf", 10)),
            format!("{:?} {:?}", hot.peek(b"link.pdf", 10), hot.peek(b".mailchute", 10)),
            format!("{:?} {:?}", hot.peek(b"nothing", 10), hot.inside(b"x.pdf")),
            format!("{:?} {:?}", hot.put_back("nothing", b"x"), hot.read("nothing", None, b"x", 1)),
            format!("{:?} {:?}", hot.is_there(Path::new(odd)), hot.is_directory("x.pdf")),
            format!("{:?} {:?} {:?}", hot.directory(), hot.epoch(), hot.find_claimed("nothing", b"x")),
            format!("{:?}", hot.shelve(Path::new("x.pdf"), Path::new("link.pdf"))),
        ]
    };
    let here = Hot::open(dir.path(), false, &keeper).unwrap();
    let by_us = look(&here);
    let reach = reach();
    // Its lock is held, and by whom is said by the helper too.
    let taken = reach.open(dir.path(), true, &Keeper { run: "2".to_owned(), ..keeper.clone() }).unwrap_err();
    assert!(taken.to_string().contains("with a copy of these records, in /state"), "{taken}");
    drop(here);
    let by_helper = look(&reach.open(dir.path(), true, &keeper).unwrap());
    assert!(by_us[7].contains("AlreadyExists"), "{}", by_us[7]);
    assert_eq!(by_helper, by_us);
    assert!(
        reach
            .open(&dir.path().join("nothing"), false, &keeper)
            .unwrap_err()
            .to_string()
            .contains("No such file")
    );
    let other = tempfile::tempdir().unwrap();
    assert!(reach.open(other.path(), true, &keeper).unwrap_err().to_string().contains(".mailchute is gone"));
}
