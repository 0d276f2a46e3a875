//! The documents as data: tables, links, headings, citations; and what must hold of them.

use std::path::{Path, PathBuf};

/// A table of a document, with its cells as plain text.
pub struct Table {
    /// The document's path, from the top of the repository.
    pub document: String,
    pub heading: String,
    pub rows: Vec<Vec<String>>,
}

/// The directory that holds the package.
fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every document below `place`, which may be one document itself, with its text.
pub fn documents(place: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = vec![top().join(place)];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.strip_prefix(top()).unwrap().to_str().unwrap().to_owned();
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(!found.is_empty(), "there is no document in {place}");
    found.sort();
    found
}

/// Every document of the repository.
fn all() -> Vec<(String, String)> {
    let mut found = documents("docs");
    found.extend(documents("tests"));
    for entry in std::fs::read_dir(top()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && path.extension().is_some_and(|extension| extension == "md") {
            found.extend(documents(path.file_name().unwrap().to_str().unwrap()));
        }
    }
    found
}

/// The cells of a row, without the marks of code and emphasis.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{1}");
    inner.split('|').map(|cell| cell.trim().replace('\u{1}', "|").replace(['`', '*'], "")).collect()
}

/// Every table below `place`, without its head.
pub fn tables(place: &str) -> Vec<Table> {
    let mut found: Vec<Table> = Vec::new();
    for (document, text) in documents(place) {
        let mut heading = String::new();
        let mut inside = false;
        for line in text.lines() {
            if let Some(title) = line.strip_prefix('#') {
                title.trim_start_matches('#').trim().clone_into(&mut heading);
            }
            if !line.starts_with('|') {
                inside = false;
            } else if line.starts_with("|---") {
                inside = true;
                found.push(Table { document: document.clone(), heading: heading.clone(), rows: Vec::new() });
            } else if inside {
                found.last_mut().unwrap().rows.push(cells(line));
            }
        }
    }
    found
}

/// Lines outside fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// What a heading is linked by, as forges make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

#[test]
fn every_relative_link_leads_somewhere() {
    let link = regex::Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let documents = all();
    let mut tried = 0;
    for (document, text) in &documents {
        for found in prose(text).flat_map(|line| link.captures_iter(line)) {
            let target = &found[1];
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, part) = target.split_once('#').unwrap_or((target, ""));
            let full = if path.is_empty() {
                top().join(document)
            } else {
                top().join(Path::new(document).parent().unwrap()).join(path)
            };
            assert!(full.exists(), "{document} links to {target}, which is not there");
            assert!(full.canonicalize().unwrap().starts_with(top()), "{document}: {target} is outside");
            if !part.is_empty() {
                let text = std::fs::read_to_string(&full).unwrap();
                assert!(anchors(&text).iter().any(|known| known == part), "{document}: no heading {target}");
            }
            tried += 1;
        }
    }
    assert!(tried > 20, "only {tried} links were found");
}

/// The most that two lines of a rendered table hold.
const LONGEST_CELL: usize = 220;

#[test]
fn no_cell_of_a_table_is_longer_than_two_lines() {
    for (document, text) in all() {
        for line in prose(&text).filter(|line| line.starts_with('|')) {
            for cell in cells(line) {
                let wide = cell.chars().map(|letter| if letter.is_ascii() { 1 } else { 2 }).sum::<usize>();
                assert!(wide <= LONGEST_CELL, "{document}: {wide} columns: {cell}");
            }
        }
    }
}

#[test]
fn every_document_that_is_cited_exists() {
    let cited = regex::Regex::new(r"\b(?:docs/[a-z_/]+\.md|[A-Z]{4,}\.md)").unwrap();
    for (path, text) in crate::house::architecture::sources("src")
        .into_iter()
        .chain(crate::house::architecture::sources("tests"))
    {
        for found in cited.find_iter(&text) {
            assert!(
                top().join(found.as_str()).exists(),
                "{}: there is no {}",
                path.display(),
                found.as_str()
            );
        }
    }
}

#[test]
fn every_source_that_a_document_cites_exists() {
    let cited = regex::Regex::new(r"`((?:src|tests)/[a-z0-9_/]+(?:\.rs)?)`").unwrap();
    for (document, text) in all() {
        for found in cited.captures_iter(&text) {
            let path = top().join(&found[1]);
            assert!(
                path.exists() || path.with_extension("rs").exists(),
                "{document}: there is no {}",
                &found[1]
            );
        }
    }
}
