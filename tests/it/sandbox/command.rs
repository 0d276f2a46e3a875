//! `mailchute sandbox` and `mailchute demo` as programs: first line, signals, refusals, exit status.

use std::io::{BufRead, Read};
use std::process::Output;

use regex::Regex;

use crate::rigs::program::{Program, mailchute};

fn output(arguments: &[&str]) -> Output {
    mailchute(arguments).output().unwrap()
}

#[test]
fn the_first_line_tells_everything_and_a_signal_ends_it_cleanly() {
    for name in ["TERM", "INT"] {
        let (mut program, welcome) = Program::sandbox(&["--clock", "manual"]);
        let keys =
            ["base_url", "auth_url", "docs_url", "control_url", "inbox_url", "client_id", "client_secret"];
        for key in keys {
            assert!(!welcome[key].as_str().unwrap().is_empty(), "{key}");
        }
        // It listens by now.
        let address = welcome["base_url"].as_str().unwrap().trim_start_matches("http://").to_owned();
        std::net::TcpStream::connect(address).unwrap();
        program.signal(name);
        assert!(program.wait().success());
        let mut rest = String::new();
        program.output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
    }
}

#[test]
fn given_credentials_and_origin_are_used_as_they_are() {
    let (_program, welcome) = Program::sandbox(&["--client", "me:a:b", "--origin", "https://print.test"]);
    assert_eq!((&welcome["client_id"], &welcome["client_secret"]), (&"me".into(), &"a:b".into()));
    assert_eq!(welcome["auth_url"], "https://print.test/auth");
}

#[test]
fn wrong_words_end_with_2_and_say_what_is_right() {
    for (arguments, said) in [
        (vec!["sandbox", "--listen", "0.0.0.0:0"], "--i-know-this-is-not-a-real-service"),
        (vec!["sandbox", "--clock", "slow"], "write `real`, `manual`, or a factor"),
        (vec!["sandbox", "--client", "id"], "write ID:SECRET"),
        (vec!["sandbox", "--origin", "sandbox:8460"], "write http://HOST:PORT"),
        (vec!["sandbox", "--card", "gold"], "write ok, declining or none"),
        (vec!["sandbox", "--lisen", "x"], "--listen"),
        (vec!["teleport"], "unrecognized subcommand"),
    ] {
        let output = output(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(said), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn what_cannot_be_done_ends_with_1_and_says_the_remedy() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = output(&["sandbox", "--listen", &address]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains(&address) && error.contains("127.0.0.1:0` picks a free one"), "{error}");
    assert_eq!(error.lines().count(), 1, "one line: {error}");
}

/// What a picture of the demo shows, without what differs from run to run: states on the way, numbers and paths.
fn story(svg: &str) -> Vec<String> {
    let text = Regex::new(r#"<text class="line [a-z]*"[^>]*>([^<]*)</text>"#).unwrap();
    let number = Regex::new("[0-9]+").unwrap();
    let lines = text.captures_iter(svg).map(|line| line[1].to_owned());
    let is_story = |line: &String| {
        (!line.starts_with("  ") || line.starts_with("  |"))
            && !["mailchute-demo-", "http"].iter().any(|way| line.contains(way))
    };
    lines.filter(is_story).map(|line| number.replace_all(&line, "0").into_owned()).collect()
}

#[test]
fn the_demo_takes_letters_from_a_folder_to_their_tracking_numbers_as_the_picture_shows() {
    let dir = tempfile::tempdir().unwrap();
    let picture = dir.path().join("demo.svg");
    let output = output(&["demo", "--record", picture.to_str().unwrap()]);
    let recorded = story(&std::fs::read_to_string(&picture).unwrap_or_default());
    // `tests/pictures` makes it anew.
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/pictures/demo.svg");
    assert_eq!(story(&std::fs::read_to_string(kept).unwrap()), recorded);
    assert!(recorded.len() > 40, "{recorded:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    for word in [
        "It was not copied completely",
        "had the same documents and the same receiver",
        "The days until they ship go by in a moment:",
        "shipped, tracking number ",
        "| Tracking number: ",
        "3 letters posted, each once; 1 rejected; 1 held before it went to the wrong person.",
    ] {
        assert!(said.contains(word), "{word} is not in {said}");
    }
}

#[test]
fn without_once_the_demo_serves_until_it_is_stopped() {
    let mut program = Program::start(&["demo"]);
    let mut lines = program.output.by_ref().lines().map(Result::unwrap);
    let mut after =
        |label: &str| lines.find_map(|line| Some(line.strip_prefix(label)?.trim().to_owned())).unwrap();
    let folder = after("Your turn. Drop a PDF of your own into");
    let (inbox, page) =
        (after("The letters as they would be posted"), after("What mailchute says about itself"));
    for place in [inbox.trim_end_matches("/inbox"), page.trim_end_matches('/')] {
        std::net::TcpStream::connect(place.trim_start_matches("http://")).unwrap();
    }
    std::fs::write(std::path::Path::new(&folder).join("mine.pdf"), crate::rigs::service::pdf(2)).unwrap();
    assert!(lines.any(|line| line.contains("mine.pdf") && line.contains("shipped, tracking number")));
    program.signal("INT");
    assert!(program.wait().success());
    assert!(!std::path::Path::new(&folder).exists(), "nothing is left behind");
}
