//! Reads one file that people write, from its bytes to a value with places.
//!
//! serde-saphyr reads the value. It counts only if `serde_yaml` reads the same value. If something is wrong,
//! the tree reports all mistakes.

use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use fs_err as fs;
use serde::de::DeserializeOwned;

use super::problem::{Mistake, Page, Problem, Weight};
use super::tree::{Node, Value};
use super::{strike, text, tree};
use crate::outside::disk::Mounts;

const LARGEST_FILE: u64 = 1 << 20;
/// Lines that contain these words are never shown, because a secret may be written there by mistake.
const SECRETIVE: [&str; 5] = ["accounts", "password", "hook", "secret", "token"];

/// Whether it has such a word outside of comments on lines of their own.
fn is_secretive(text: &str) -> bool {
    let lines = || text.lines().filter(|line| !line.trim_start().starts_with('#'));
    SECRETIVE.iter().any(|key| lines().any(|line| line.contains(key)))
}

/// A value, and the place of each part of it.
#[derive(Debug)]
pub(super) struct ReadFile<T> {
    pub(super) value: T,
    page: Arc<Page>,
    root: Node,
}

impl<T> ReadFile<T> {
    /// A mistake at a path, or at the nearest part above it that exists.
    pub(super) fn wrong(&self, path: &[&str], what: impl Into<String>, help: &str) -> Problem {
        self.problem(Weight::Error, path, what, help)
    }

    pub(super) fn doubtful(&self, path: &[&str], what: impl Into<String>, help: &str) -> Problem {
        self.problem(Weight::Warning, path, what, help)
    }

    fn problem(&self, weight: Weight, path: &[&str], what: impl Into<String>, help: &str) -> Problem {
        let mut found = None;
        for length in (0..=path.len()).rev() {
            found = found.or_else(|| self.root.at(&path[..length]));
        }
        let place = found.map(|node| first_line(node, &self.page.text));
        let help = (!help.is_empty()).then(|| help.to_owned());
        Problem::new(&self.page, weight, Mistake { place, what: what.into(), help })
    }

    /// The keys at a path, whether their values are right or wrong.
    pub(super) fn keys(&self, path: &[&str]) -> Vec<String> {
        match self.root.at(path).map(|node| &node.value) {
            Some(Value::Map { entries, .. }) => entries.iter().map(|(key, _)| key.text.clone()).collect(),
            Some(Value::Scalar { .. } | Value::List(_)) | None => Vec::new(),
        }
    }

    /// Whether there is a list with items, right or wrong.
    pub(super) fn has_items(&self, path: &[&str]) -> bool {
        matches!(self.root.at(path).map(|node| &node.value), Some(Value::List(items)) if !items.is_empty())
    }

    pub(super) fn has(&self, path: &[&str]) -> bool {
        self.root.at(path).is_some()
    }

    /// The line of a path.
    pub(super) fn line(&self, path: &[&str]) -> usize {
        self.wrong(path, "", "").line_and_column().map_or(0, |(line, _)| line)
    }
}

fn first_line(node: &Node, text: &str) -> tree::Spot {
    let place = node.place.clone();
    let end = text[place.start..place.end].find('\n').map_or(place.end, |more| place.start + more);
    place.start..end
}

/// Reads a file. Mistakes go into `problems`; the parts without mistakes are read all the same.
pub(super) fn read<T: DeserializeOwned + PartialEq>(
    file: &Path,
    problems: &mut Vec<Problem>,
) -> Option<ReadFile<T>> {
    match bytes(file) {
        Ok(bytes) => {
            guarded(file, problems);
            read_bytes(file, bytes, problems)
        }
        Err(error) => {
            problems.push(Problem::of_file(file, format!("it can't be read: {error}")));
            None
        }
    }
}

/// A mistake if everybody may write what decides where letters go. A file system that may not answer is not
/// asked.
pub(super) fn guarded(path: &Path, problems: &mut Vec<Problem>) {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if Mounts::now().resolve(&absolute).1 {
        return;
    }
    if fs::metadata(path).is_ok_and(|of| of.mode() & 0o002 != 0) {
        let help = "whoever writes it can have letters posted: `chmod o-w` it";
        problems.push(Problem::doubt_of_file(path, "anybody on this machine can write it", help));
    }
}

pub(super) fn bytes(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    let fits = bytes.len() as u64 <= LARGEST_FILE;
    if fits { Ok(bytes) } else { Err(io::Error::other(format!("it is larger than {LARGEST_FILE} bytes"))) }
}

pub(super) fn read_bytes<T: DeserializeOwned + PartialEq>(
    file: &Path,
    bytes: Vec<u8>,
    problems: &mut Vec<Problem>,
) -> Option<ReadFile<T>> {
    let is_json = file.extension().is_some_and(|extension| extension == "json");
    let (text, mut mistakes) = text::check(bytes, is_json);
    let mut root = None;
    if mistakes.is_empty() {
        root = tree::read(&text, &mut mistakes);
        if root.is_none() && mistakes.is_empty() {
            mistakes.push(Mistake { place: None, what: "it is empty".to_owned(), help: None });
        }
    }
    let mut hidden = Vec::new();
    match &root {
        Some(root) => SECRETIVE.iter().for_each(|key| root.values_of(key, &mut hidden)),
        // A file that is not YAML may have a secret anywhere.
        None if is_secretive(&text) => hidden.push(0..text.len()),
        None => {}
    }
    let sound = mistakes.is_empty();
    let mut value: Option<T> = None;
    if let Some(root) = &root {
        value = strike::read(root, &mut mistakes);
        if sound && mistakes.is_empty() {
            mistakes.extend(second_opinion(&text, value.as_ref()));
        }
    }
    mistakes.sort_by_key(|mistake| mistake.place.as_ref().map(|place| place.start));
    let page = Arc::new(Page { file: file.to_owned(), text, hidden });
    problems.extend(mistakes.into_iter().map(|mistake| Problem::new(&page, Weight::Error, mistake)));
    let (Some(value), Some(root)) = (value, root) else { return None };
    Some(ReadFile { value, page, root })
}

/// Whether a second reader of YAML reads the same value.
fn second_opinion<T: DeserializeOwned + PartialEq>(text: &str, ours: Option<&T>) -> Option<Mistake> {
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::Error,
        merge_keys: serde_saphyr::options::MergeKeyPolicy::Error,
        strict_booleans: true,
        with_snippet: false,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 0 },
    };
    let saphyr = serde_saphyr::from_str_with_options::<T>(text, options).ok();
    let yaml = serde_yaml::from_str::<T>(text).ok();
    let agreed = saphyr.as_ref() == ours && yaml.as_ref() == ours && ours.is_some();
    let what = "two YAML readers understand this file differently".to_owned();
    let help = Some("put texts and numbers that look like something else into quotes".to_owned());
    (!agreed).then_some(Mistake { place: None, what, help })
}
