//! The real daemon and its configuration: read again when saved and on SIGHUP, all or nothing.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

/// What the daemon says, line by line.
fn start(room: &Mailroom) -> (Child, Receiver<String>) {
    let config = room.dir.path().join("mailchute.yaml");
    let mut command = mailchute(&["run", "--config", config.to_str().unwrap()]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (tell, told) = channel();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| tell.send(line)));
    (child, told)
}

/// Waits for a line with these words.
fn says(told: &Receiver<String>, words: &str) -> String {
    loop {
        let line =
            told.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("it never said: {words}"));
        if line.contains(words) {
            return line;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_saved_configuration_is_in_force_and_a_bad_one_is_kept_out() {
    let quick = RULES.replace("{poll: 1s}", "{settle: 100ms, poll: 1s}");
    let room = Mailroom::of_today(&quick).await;
    let rules = room.dir.path().join("folders/letters.yaml");
    let (mut daemon, told) = start(&room);
    says(&told, "is watched; what was already in it is held");
    // It was saved just before the start, so it is read twice.
    says(&told, "is in force");
    std::fs::write(&rules, quick.replace("pages: ..8", "pages: 8..1")).unwrap();
    let line = says(&told, "the old one stays in force");
    assert!(line.contains("letters.yaml:7:") && line.contains("is not a valid number of pages"), "{line}");
    std::fs::write(room.path("x1.pdf"), pdf(1)).unwrap();
    says(&told, "confirmed: it is posted");
    // Its text says by which rules.
    let mut said = false;
    let begun = std::time::Instant::now();
    while !said && begun.elapsed() < Duration::from_secs(20) {
        let text = room.in_sent("x1.txt").and_then(|text| std::fs::read_to_string(room.path(&text)).ok());
        said = text.is_some_and(|text| text.contains("not in force, because it has a mistake"));
    }
    assert!(said);

    std::fs::write(&rules, quick.replace("'^x'", "'^y'")).unwrap();
    says(&told, "is in force");
    std::fs::write(room.path("x2.pdf"), pdf(2)).unwrap();
    says(&told, "no rule fits");
    std::fs::write(room.path("y3.pdf"), pdf(3)).unwrap();
    says(&told, "confirmed: it is posted");

    // Without its file nobody could call back what is not finished.
    std::fs::write(&rules, quick.replace("rules:", "release: approval\nrules:")).unwrap();
    says(&told, "is in force");
    std::fs::write(room.path("x4.pdf"), pdf(4)).unwrap();
    says(&told, "held");
    std::fs::rename(&rules, room.dir.path().join("aside")).unwrap();
    let line = says(&told, "the old one stays in force");
    assert!(line.contains("no folder is left"), "{line}");
    std::fs::write(room.dir.path().join("folders/z.yaml"), quick.replace("../letters", "../state/../z"))
        .unwrap();
    std::fs::create_dir(room.dir.path().join("z")).unwrap();
    let line = says(&told, "the old one stays in force");
    assert!(
        line.contains("the folder `letters` is left out, and not finished of it: letter(s) #3"),
        "{line}"
    );
    std::fs::remove_file(room.dir.path().join("folders/z.yaml")).unwrap();
    std::fs::rename(room.dir.path().join("aside"), &rules).unwrap();
    says(&told, "is in force");

    // What asks for less is waited for longer, unless a person asks for it.
    std::fs::write(&rules, &quick).unwrap();
    let line = says(&told, "asks for less than before");
    assert!(line.contains("letters: no approval"), "{line}");

    let pid = daemon.id().to_string();
    let signal = |name: &str| {
        assert!(std::process::Command::new("kill").args([name, &pid]).status().unwrap().success());
    };
    signal("-HUP");
    says(&told, "is in force");
    signal("-TERM");
    says(&told, "stopped");
    assert!(daemon.wait().unwrap().success());
    room.check().await;
}

/// How many directories a process watches.
fn watches(pid: u32) -> usize {
    let open = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap();
    let texts = open.flatten().filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    texts.map(|text| text.lines().filter(|line| line.starts_with("inotify ")).count()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_not_configured_any_more_is_not_watched_any_more() {
    let room = Mailroom::of_today(RULES).await;
    let (mut daemon, told) = start(&room);
    says(&told, "is watched; what was already in it is held");
    // It was saved just before the start, so it is read twice.
    says(&told, "is in force");
    let until = |so: &dyn Fn(usize) -> bool| {
        let begun = std::time::Instant::now();
        while !so(watches(daemon.id())) {
            assert!(begun.elapsed() < Duration::from_secs(20), "{}", watches(daemon.id()));
            std::thread::yield_now();
        }
    };
    let alone = watches(daemon.id());
    let second = room.dir.path().join("folders/second.yaml");
    std::fs::create_dir(room.dir.path().join("second")).unwrap();
    std::fs::write(&second, RULES.replace("../letters", "../second")).unwrap();
    says(&told, "is in force");
    until(&|now| now > alone);
    std::fs::remove_file(&second).unwrap();
    says(&told, "is in force");
    until(&|now| now == alone);
    assert!(
        std::process::Command::new("kill")
            .args(["-TERM", &daemon.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert!(daemon.wait().unwrap().success());
}
