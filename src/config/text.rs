//! A file's text before it is read as YAML: what editors and Japanese keyboards put into it.

use std::sync::LazyLock;

use regex::Regex;

use super::problem::Mistake;

/// A key followed by the full-width colon of a Japanese keyboard.
static WIDE_COLON: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^[ \t\u{3000}]*(?:- +)?[A-Za-z_][A-Za-z0-9_]*[ ]*(：)").ok());

/// The text of the bytes, and the mistakes in it that would mislead a reader of YAML.
pub(super) fn check(bytes: Vec<u8>, is_json: bool) -> (String, Vec<Mistake>) {
    let text = match String::from_utf8(bytes) {
        // Some editors on Windows begin every file with a byte order mark.
        Ok(text) => text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let what = "here it is not UTF-8";
            return (text, vec![Mistake::at(at..at + 1, what).help("save the file as UTF-8")]);
        }
    };
    let mut mistakes = Vec::new();
    if let Some(colon) = WIDE_COLON.as_ref().and_then(|regex| regex.captures(&text)?.get(1)) {
        let what = "a full-width colon does not end a key";
        mistakes.push(Mistake::at(colon.range(), what).help("write `: ` in half width"));
    }
    mistakes.extend(lines(&text).find_map(|(start, line)| indented(start, line, is_json)));
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if let Some((at, c)) = text.char_indices().find(|(_, c)| control(*c)) {
        let what = format!("there is an invisible character (U+{:04X}) here", u32::from(c));
        mistakes.push(Mistake::at(at..at + c.len_utf8(), what).help("delete it"));
    }
    (text, mistakes)
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// A line that is indented with something other than spaces.
fn indented(start: usize, line: &str, is_json: bool) -> Option<Mistake> {
    let white = line.len() - line.trim_start_matches([' ', '\t', '\u{3000}']).len();
    let (indent, rest) = line.split_at(white);
    if rest.trim().is_empty() || rest.starts_with('#') {
        return None;
    }
    let (at, c) = indent.char_indices().find(|(_, c)| *c != ' ')?;
    let place = start + at..start + at + c.len_utf8();
    match c {
        '\t' if is_json => None,
        '\t' => Some(Mistake::at(place, "the line is indented with a tab").help("YAML requires spaces")),
        _wide => Some(
            Mistake::at(place, "the line is indented with a full-width space")
                .help("write half-width spaces"),
        ),
    }
}
