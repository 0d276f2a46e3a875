//! The real daemon, killed with SIGKILL at every moment between a drop and its shelf: each drop is one
//! letter, each original lies in one place.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use mailchute::domain::alarm::Alarm;
use mailchute::outside::store::{BegunMarker, Store};

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

fn start(room: &Mailroom) -> Child {
    let config = room.dir.path().join("mailchute.yaml");
    let mut command = mailchute(&["run", "--config", config.to_str().unwrap()]);
    command.env("RUST_LOG", "error").stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap()
}

/// Looks until it is so; a minute is more than it ever needs.
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "waited in vain: {what}");
        std::thread::yield_now();
    }
}

fn busy_wait(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn is_in_folder(hot: &Path, name: &str) -> bool {
    hot.join(name).exists()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_killed_anywhere_between_drop_and_shelf_makes_each_drop_one_letter() {
    let kills: usize = std::env::var("MAILCHUTE_KILLS").map_or(110, |kills| kills.parse().unwrap());
    let rules = RULES
        .replace("{poll: 1s}", "{settle: 100ms, incomplete: 200ms, poll: 1s}")
        .replace("path:", "first_start: take\npath:");
    let room = Mailroom::of_today(&rules).await;
    let hot = room.hot();
    let mut alive = start(&room);
    until("the folder is watched", || hot.join("Approve").is_dir());
    for round in 0..kills {
        // One is dropped as it is seen to be claimed by the time, and one is torn.
        let name = format!("x{round}.pdf");
        std::fs::write(hot.join(format!(".{name}")), pdf(1 + round)).unwrap();
        std::fs::rename(hot.join(format!(".{name}")), hot.join(&name)).unwrap();
        if round % 5 == 0 {
            std::fs::write(hot.join(format!("torn{round}.pdf")), &pdf(1)[..200]).unwrap();
        }
        until("it is claimed", || !is_in_folder(&hot, &name));
        // Further on each time: from the claim over copy, admission and posting to the shelf and its text.
        busy_wait(Duration::from_micros(250) * u32::try_from(round % 110).unwrap());
        alive.kill().unwrap();
        alive.wait().unwrap();
        alive = start(&room);
    }
    let torn = kills.div_ceil(5);
    let done = || {
        let drops = room.desk().drops(1000).unwrap();
        drops.len() == kills + torn && drops.iter().all(|drop| !drop.moving && drop.is_still_or_posted())
    };
    until("everything is put away", || {
        std::thread::yield_now();
        done()
    });
    let id = alive.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(alive.wait().unwrap().success());

    let drops = room.drops();
    for round in 0..kills {
        assert_eq!(drops[&format!("x{round}.pdf")].state, "confirmed", "round {round}");
    }
    let tree = room.tree();
    let originals = tree.iter().filter(|path| Path::new(path).extension() != Some("txt".as_ref())).count();
    assert_eq!(originals, kills + torn, "each original in one place: {tree:?}");
    let odd: Vec<_> =
        tree.iter().filter(|path| !path.starts_with("Sent/") && !path.starts_with("Rejected/")).collect();
    assert!(
        odd.is_empty() && tree.len() == 2 * originals,
        "each with its text, and nothing else: {odd:?} {tree:?}"
    );
    room.check().await;
    println!(
        "{kills} daemons killed between drop and shelf; {kills} letters posted once each, {torn} torn ones handed back"
    );
}

#[tokio::test]
async fn a_first_start_that_was_ended_while_it_marked_its_folder_takes_what_lies_there() {
    // Which marker was begun, which lies there, and what becomes of the drop.
    let of_new = |id: &str| Some(BegunMarker { id: id.to_owned(), is_copy: false });
    let of_copy = |id: &str| Some(BegunMarker { id: id.to_owned(), is_copy: true });
    for (begun, lies, expected) in [
        (None, None, "confirmed"),
        (of_new("01"), None, "confirmed"),
        (of_new("01"), Some("01"), "confirmed"),
        (of_new("01"), Some("02"), "held"),
        (None, Some("02"), "held"),
        (of_copy("01"), Some("01"), "held"),
        (of_copy("01"), None, "held"),
    ] {
        let mut room = Mailroom::closed(&RULES.replace("path:", "first_start: take\npath:")).await;
        let records = |room: &Mailroom| Store::open(&room.config().state, room.clock.now(), false).unwrap().0;
        let store = records(&room);
        if let Some(begun) = &begun {
            store.begin_marking(room.hot().to_str().unwrap(), begun).await.unwrap();
        }
        store.close();
        drop(store);
        if let Some(lies) = lies {
            std::fs::create_dir(room.path(".mailchute")).unwrap();
            std::fs::write(room.path(".mailchute/folder"), lies).unwrap();
        }
        room.drop("x.pdf", 1);
        room.start();
        room.settled().await;
        assert_eq!(room.state("x.pdf"), expected, "{begun:?} {lies:?}");
        room.stop();
        let store = records(&room);
        let folder = store.known_folder("letters").unwrap().unwrap();
        let goes_on = expected == "confirmed" && begun.is_some() || lies == Some("01");
        assert_eq!(folder.id == "01", goes_on, "{begun:?} {lies:?}");
        let is_copy = store.alarms().unwrap().iter().any(|raised| matches!(raised.alarm, Alarm::Copied(_)));
        assert_eq!(is_copy, lies == Some("01") && expected == "held", "{begun:?} {lies:?}");
        assert!(store.marking_begun(&folder.path).unwrap().is_none());
    }
}

#[tokio::test]
async fn records_that_were_put_back_do_not_know_whether_they_took_from_a_folder_they_marked() {
    let mut room = Mailroom::closed(&RULES.replace("path:", "first_start: take\npath:")).await;
    let (store, _) = Store::open(&room.config().state, room.clock.now(), false).unwrap();
    let begun = BegunMarker { id: "01".to_owned(), is_copy: false };
    store.begin_marking(room.hot().to_str().unwrap(), &begun).await.unwrap();
    store.close();
    drop(store);
    // Since the backup, what lay there was posted.
    std::fs::create_dir(room.path(".mailchute")).unwrap();
    std::fs::write(room.path(".mailchute/folder"), "01").unwrap();
    room.drop("x.pdf", 1);
    room.start_with(true);
    room.settled().await;
    assert_eq!(room.state("x.pdf"), "held");
}
