//! Habits that a machine can hold: sizes, headers, words that must not appear.
//!
//! The length of functions is clippy's to watch (`clippy.toml`).

use crate::house::architecture::sources;

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

/// Phrases of a dialect that these documents and comments once had. What to write instead is beside each. Only exact
/// phrases are refused, because each of their words has proper uses.
fn dialect() -> Vec<(String, &'static str)> {
    [
        (["how ", "manieth"], "the ordinal of …"),
        (["made to", " last"], "durable, synced to disk"),
        (["make it", " last"], "make it durable"),
        (["gone on", " with"], "continued, resumed"),
        (["goes on", " with it"], "continues, resumes"),
        (["is not", " the weather"], "the failure is not transient"),
        (["person or", " nobody"], "only a command"),
        (["of so", " many"], "the maximum number of …"),
        (["so many", " may"], "up to N"),
        (["so many", " at a time"], "the number of … at a time"),
        (["what is", " owed"], "pending notifications and moves"),
        (["how things", " stand"], "the status"),
        (["how everything", " stands"], "the status"),
        (["goes its", " way"], "continues"),
        (["lets it", " go on"], "resumes it"),
        (["looked through", " now and then"], "polled at intervals"),
        (["stands in", " no "], "is not in …"),
        (["whose id is", " none"], "whose id is not valid"),
        (["claims is", " none"], "contains an entry that is not a claim"),
        (["when what is", " due"], "when … is due"),
        (["by turns,", " in one run"], "alternating, in the same run"),
        (["is what", " there is"], "matches …"),
        (["of the day", " before"], "at commit …"),
    ]
    .map(|(parts, instead)| (parts.concat(), instead))
    .to_vec()
}

#[test]
fn the_dialect_does_not_come_back() {
    let mut texts: Vec<(String, String)> = crate::house::documents::documents("docs");
    for place in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md"] {
        texts.extend(crate::house::documents::documents(place));
    }
    for example in ["config/mailchute.yaml", "config/folders/invoices.yaml", "config/receiver.yaml"] {
        texts.push((example.to_owned(), std::fs::read_to_string(example).unwrap()));
    }
    let sources = sources("src").into_iter().chain(sources("tests"));
    texts.extend(sources.map(|(path, text)| (path.display().to_string(), text)));
    assert!(texts.len() > 400, "{}", texts.len());
    for (path, text) in texts {
        // A phrase may be cut by the end of a line.
        let words: Vec<&str> = text.split_whitespace().filter(|word| !word.starts_with("//")).collect();
        let text = words.join(" ").to_lowercase();
        for (phrase, instead) in dialect() {
            assert!(!text.contains(&phrase), "{path} says `{phrase}`: write \"{instead}\"");
        }
    }
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

/// What a clone has to carry for ever.
const LARGEST_FILE: u64 = 256 << 10;

#[test]
fn no_file_is_large() {
    let mut dirs = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR"))];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name());
            if path.is_dir() {
                if name != "target" && name != ".git" {
                    dirs.push(path);
                }
                continue;
            }
            let size = entry.metadata().unwrap().len();
            assert!(size <= LARGEST_FILE, "{} has {size} bytes", path.display());
        }
    }
}
