//! Every invariant has tests that exist, and so has every claim of security.

use std::collections::BTreeMap;

use crate::house::architecture::sources;
use crate::house::documents::documents;

/// Whether a file of this name has a function of this name.
fn is_there(tests: &[(std::path::PathBuf, String)], full: &str) -> bool {
    let (module, name) = full.split_once("::").unwrap();
    tests.iter().any(|(path, text)| {
        path.file_stem().is_some_and(|stem| stem == module) && text.contains(&format!("fn {name}("))
    })
}

/// The sections of a document that name tests: heading, and the tests and scripts named in its list.
fn sections(document: &str) -> BTreeMap<String, Vec<String>> {
    let (_, text) = documents(document).remove(0);
    let item = regex::Regex::new("^- `([a-z_0-9:/-]+)`").unwrap();
    let mut found = BTreeMap::new();
    for section in text.split("\n## ").skip(1) {
        let (heading, body) = section.split_once('\n').unwrap();
        let names = body.lines().filter_map(|line| item.captures(line)).map(|name| name[1].to_owned());
        found.insert(heading.to_owned(), names.collect());
    }
    found
}

fn every_name_is_there(document: &str) {
    let tests = [sources("tests"), sources("src")].concat();
    for (heading, names) in sections(document) {
        assert!(!names.is_empty(), "{document}: nothing holds {heading}");
        for name in names {
            if name.contains("::") {
                assert!(is_there(&tests, &name), "{document}, {heading}: there is no {name}");
            } else {
                let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&name);
                assert!(script.is_file(), "{document}, {heading}: there is no {name}");
            }
        }
    }
}

#[test]
fn every_invariant_names_tests_that_exist() {
    every_name_is_there("docs/design/invariants.md");
}

#[test]
fn every_claim_of_security_names_tests_that_exist() {
    every_name_is_there("docs/design/security.md");
}

#[test]
fn every_invariant_that_is_cited_exists() {
    let headings = sections("docs/design/invariants.md");
    let known: Vec<&str> =
        headings.keys().filter_map(|heading| heading.split_once(':')).map(|(i, _)| i).collect();
    for number in 1..=28 {
        assert!(known.contains(&format!("I{number}").as_str()), "I{number} is missing");
    }
    let cited = regex::Regex::new(r"\bI[0-9]{1,2}\b").unwrap();
    let code = [sources("src"), sources("tests")].concat();
    let code = code.into_iter().map(|(path, text)| (path.display().to_string(), text));
    let texts = documents("docs").into_iter().chain(documents("ARCHITECTURE.md"));
    for (path, text) in code.chain(texts) {
        for found in cited.find_iter(&text) {
            assert!(known.contains(&found.as_str()), "{path}: there is no invariant {}", found.as_str());
        }
    }
}
