//! Reads a tree into a type and finds every mistake: a wrong part is removed, and the rest is read again.

use std::fmt;

use serde::de::{self, DeserializeOwned, Unexpected};

use super::problem::Mistake;
use super::reader::Reader;
use super::tree::{Node, Spot, Value};

/// The maximum number of mistakes reported. Nobody mends more in one go.
const MOST_MISTAKES: usize = 50;

/// The value that remains when all wrong parts are removed, if one remains. A key that was removed is not
/// reported as missing.
pub(super) fn read<T: DeserializeOwned>(root: &Node, mistakes: &mut Vec<Mistake>) -> Option<T> {
    let mut root = root.clone();
    let before = mistakes.len();
    while mistakes.len() < before + MOST_MISTAKES {
        let error = match T::deserialize(Reader(&root)) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let place = error.place.unwrap_or_else(|| root.place.clone());
        if !error.follows {
            let told = Mistake { place: Some(place.clone()), what: error.what, help: error.help };
            mistakes.push(told);
        }
        if !strike(&mut root, &place, error.follows || error.missing.is_some(), error.meant.as_deref()) {
            return None;
        }
    }
    None
}

/// Removes what is at a place. `whole` removes the mapping that lacks something.
fn strike(node: &mut Node, place: &Spot, whole: bool, meant: Option<&str>) -> bool {
    match &mut node.value {
        Value::Scalar { .. } => false,
        Value::List(items) => {
            let before = items.len();
            items.retain(|item| item.place != *place);
            items.len() < before || items.iter_mut().any(|item| strike(item, place, whole, meant))
        }
        Value::Map { entries, struck } => {
            let hit = |key: &super::tree::KeySpot, value: &Node| {
                value.place == *place || (!whole && key.place == *place)
            };
            if let Some(index) = entries.iter().position(|(key, value)| hit(key, value)) {
                struck.push(entries.remove(index).0.text);
                struck.extend(meant.map(str::to_owned));
                return true;
            }
            entries.iter_mut().any(|(_, value)| strike(value, place, whole, meant))
        }
    }
}

#[derive(Debug)]
pub(super) struct Error {
    pub(super) place: Option<Spot>,
    pub(super) what: String,
    pub(super) help: Option<String>,
    /// The first key that is missing.
    pub(super) missing: Option<&'static str>,
    /// It is missing only because it was removed.
    pub(super) follows: bool,
    /// The key that an unknown one was probably meant to be. It does not count as missing then.
    pub(super) meant: Option<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}

impl Error {
    pub(super) fn at(mut self, place: &Spot) -> Self {
        self.place.get_or_insert_with(|| place.clone());
        self
    }

    /// Adds more keys that a mapping lacks. What was removed from it is not reported again.
    pub(super) fn lacking(self, others: Vec<&str>, struck: &[String]) -> Self {
        let mut keys: Vec<&str> = self.missing.into_iter().collect();
        keys.extend(others.into_iter().filter(|key| Some(*key) != self.missing));
        keys.retain(|key| !struck.iter().any(|struck| struck == key));
        let what = match keys.as_slice() {
            [] => return Self { follows: true, ..self },
            [key] => format!("the key `{key}` is missing"),
            [keys @ .., last] => format!("the keys `{}` and `{last}` are missing", keys.join("`, `")),
        };
        Self { what, ..self }
    }
}

impl de::Error for Error {
    fn custom<T: fmt::Display>(said: T) -> Self {
        // The remedy follows a line break.
        let said = said.to_string();
        let (what, help) = match said.split_once('\n') {
            Some((what, help)) => (what.to_owned(), Some(help.to_owned())),
            None => (said, None),
        };
        Self { place: None, what, help, missing: None, follows: false, meant: None }
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format!("expected {expected}"))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format!("expected {expected}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let error = Self::custom(format!("`{variant}` is not known here"));
        Self { help: Some(instead(variant, expected)), ..error }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let error = Self::custom(format!("there is no key `{field}` here"));
        let meant = nearest(field, expected).map(str::to_owned);
        Self { help: Some(instead(field, expected)), meant, ..error }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { missing: Some(field), ..Self::custom(format!("the key `{field}` is missing")) }
    }
}

/// What was probably meant, or the list of what exists.
fn instead(word: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("there is: {}", known.join(", ")),
    }
}

fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let (distance, nearest) = known.iter().map(|known| (distance(word, known), *known)).min()?;
    (distance <= 2.max(nearest.len() / 3)).then_some(nearest)
}

/// The number of letters that must be changed, added or removed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let change = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
