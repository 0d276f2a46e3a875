//! Commands for the administrator: they work while the configuration has a mistake, show names only where they may,
//! and end quietly when nobody reads on.

use std::process::{Output, Stdio};

use serde_json::Value;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;

fn run(room: &Mailroom, words: &[&str]) -> Output {
    mailchute(words).current_dir(room.dir.path()).output().unwrap()
}

fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

async fn two_letters() -> Mailroom {
    let mut room = Mailroom::with(RULES).await;
    room.drop("INV-000123.pdf", 2);
    room.drop("x other.pdf", 1);
    room.settled().await;
    room
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_needs_only_the_records_works_while_the_configuration_has_a_mistake() {
    let room = two_letters().await;
    room.add_to_main("time_zone: Europe/Rome\nnetwork: {letters_at_once: [\n");
    for words in [
        vec!["status"],
        vec!["list"],
        vec!["show", "1"],
        vec!["account"],
        vec!["report"],
        vec!["audit"],
        vec!["hold", "1"],
    ] {
        let output = run(&room, &words);
        let (out, err) = said(&output);
        assert!(output.status.success() && !out.is_empty(), "{words:?}: {out}{err}");
        let first = err.lines().next().unwrap_or_default();
        assert!(first.contains("the configuration can't be used (1 mistake(s)"), "{words:?}: {err}");
        assert!(first.contains("this is from the records in "), "{words:?}: {err}");
    }
    let (out, _) = said(&run(&room, &["list"]));
    assert!(out.contains("since (Europe/Rome)"), "{out}");
    assert!(said(&run(&room, &["audit"])).0.contains("no folder was checked"));
    assert!(said(&run(&room, &["account"])).0.contains("main"));
    // Where not even the place of the records can be read, it is given.
    std::fs::write(room.dir.path().join("mailchute.yaml"), "\tstate\n").unwrap();
    assert_eq!(run(&room, &["list"]).status.code(), Some(2));
    assert!(run(&room, &["list", "--state-dir", "state"]).status.success());
    for words in [vec!["status"], vec!["show", "2"], vec!["account"], vec!["audit"]] {
        let output = run(&room, &[words.as_slice(), &["--state", "state"]].concat());
        assert!(output.status.success(), "{words:?}: {:?}", said(&output));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_shown_where_a_person_reads_and_letters_are_found_by_them() {
    let room = two_letters().await;
    let list = |words: &[&str]| said(&run(&room, &[&["list"], words].concat())).0;
    // Standard output is no terminal here, as it is none in a timer's journal.
    for hidden in [list(&[]), said(&run(&room, &["show", "1"])).0, list(&["--json"])] {
        assert!(!hidden.contains("INV-") && !hidden.contains("山田"), "{hidden}");
    }
    let all = list(&["--names"]);
    assert!(all.contains("INV-000123.pdf") && all.contains("x other.pdf"), "{all}");
    let shown = said(&run(&room, &["show", "1", "--names"])).0;
    assert!(shown.starts_with("letter #1: confirmed\n"), "{shown}");
    assert!(shown.contains("  to ") && shown.contains("document 1: INV-000123.pdf, 2 page(s)"), "{shown}");
    let receiver =
        room.desk().letter(mailchute::domain::letter::Number(2)).unwrap().unwrap().order.receiver.clone();
    for (text, found) in
        [("inv-0001", "#1"), ("OTHER", "#2"), ("#2", "#2"), (receiver.address.name.as_str(), "#2")]
    {
        let rows = list(&[text, "--names"]);
        assert!(rows.contains(&format!("\n{found} ")), "{text}: {rows}");
    }
    assert_eq!(list(&["nothing like it"]).lines().count(), 1, "only the header");
    let json: Value = serde_json::from_str(list(&["inv", "--json", "--names"]).trim()).unwrap();
    assert_eq!((json["file"].as_str(), json["letter"].as_u64()), (Some("INV-000123.pdf"), Some(1)));
    assert!(json["admitted_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(list(&["--limit", "1", "--state", "confirmed"]).lines().count(), 2);
    assert_eq!(list(&["--since", "2999-01-01"]).lines().count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_read_enough_is_no_error() {
    let room = two_letters().await;
    for words in [vec!["list"], vec!["list", "--json"], vec!["show", "1"], vec!["status"]] {
        let mut command = mailchute(&words);
        command.current_dir(room.dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), said(&output).1), (Some(0), String::new()), "{words:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_fits_a_terminal_and_never_says_two_things_of_an_account() {
    let mut room = two_letters().await;
    room.service.set_card("declining").await;
    room.drop("x third.pdf", 3);
    room.settled().await;
    let (out, _) = said(&run(&room, &["status"]));
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let of_account: Vec<&str> = out.lines().filter(|line| line.starts_with("account main")).collect();
    assert!(of_account.len() == 1 && of_account[0].contains("PAUSED since"), "{out}");
    assert!(out.contains("JST"), "{out}");
    // What stands in a letter's way is said of the letter itself.
    let (out, _) = said(&run(&room, &["show", "3"]));
    assert!(out.contains("  waits: account main is paused since "), "{out}");
    let (out, _) = said(&run(&room, &["show", "1"]));
    assert!(
        out.contains("  waits: account main is paused") || out.contains("  waits: the daemon does not run"),
        "{out}"
    );
}
