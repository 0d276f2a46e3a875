//! Habits that a machine can hold: sizes, headers, words that must not appear.
//!
//! The length of functions is clippy's to watch (`clippy.toml`).

use crate::architecture::sources;

/// A hint to look for two things in a file, not a reason to cut one.
const LONGEST_SOURCE: usize = 400;
const LONGEST_TEST: usize = 450;
const LONGEST_HEADER: usize = 10;

/// Words and why they may not appear, written apart so that this file does not trip over itself.
fn forbidden() -> Vec<(String, &'static str)> {
    [
        (["todo", "!"], "a stub"),
        (["unimplemented", "!"], "a stub"),
        (["dbg", "!"], "a leftover"),
        (["#[", "allow("], "say #[expect(…, reason = \"…\")]"),
        (["#[", "ignore"], "a test that does not run is none"),
        (["thread::", "sleep("], "drive ticks and clocks"),
        (["/", "work/"], "a path of one machine"),
        (["/", "root/"], "a path of one machine"),
        (["mod ", "util"], "name the room by what it is for"),
        (["mod ", "helpers"], "name the room by what it is for"),
        (["mod ", "common"], "name the room by what it is for"),
    ]
    .map(|(parts, why)| (parts.concat(), why))
    .to_vec()
}

#[test]
fn files_are_short() {
    for (dir, longest) in [("src", LONGEST_SOURCE), ("tests", LONGEST_TEST)] {
        for (path, text) in sources(dir) {
            let lines = text.lines().count();
            assert!(lines <= longest, "{} has {lines} lines: look for the two things in it", path.display());
        }
    }
}

#[test]
fn every_module_says_in_a_few_lines_what_it_is_for() {
    for (path, text) in sources("src").into_iter().chain(sources("tests")) {
        let header = text.lines().take_while(|line| line.starts_with("//!")).count();
        assert!(header > 0, "{} has no header", path.display());
        assert!(header <= LONGEST_HEADER, "{}: the header has {header} lines", path.display());
    }
}

#[test]
fn some_words_do_not_appear() {
    for (path, text) in sources("src").into_iter().chain(sources("tests")) {
        for (word, why) in forbidden() {
            assert!(!text.contains(&word), "{} says `{word}`: {why}", path.display());
        }
        if path.starts_with("src/sandbox/world") {
            let arm = ["_ ", "=>"].concat();
            assert!(!text.contains(&format!(" {arm}")), "{}: name every case of a rule", path.display());
        }
    }
}
