//! Address blocks on a page: the lines up to a name with an honorific.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Area, PrintedLine, PrintedPage};

/// What follows a name, longest first.
const HONORIFICS: [&str; 6] = ["御中", "先生", "さま", "様", "殿", "宛"];
/// Names of nobody in particular, as a salutation or a form has them.
const NOBODY: [&str; 19] = [
    "お客",
    "皆",
    "みな",
    "各",
    "担当",
    "担当者",
    "ご担当",
    "ご担当者",
    "御担当",
    "御担当者",
    "お取引先",
    "関係者",
    "ご本人",
    "ご家族",
    "世帯主",
    "保護者",
    "株主",
    "会員",
    "オーナー",
];
/// A block has at most this many lines.
const LINES: usize = 8;
/// A name is at most this long, so that a sentence is not one.
const LONGEST_NAME: usize = 50;

/// Whom a page is for.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Addressee {
    /// Seven digits, if the block has a postal code.
    pub postal_code: Option<String>,
    /// The name as it is printed, with what follows it.
    pub name: String,
}

impl fmt::Debug for Addressee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Addressee(…)")
    }
}

/// An address block, and where it is.
#[derive(Clone, PartialEq)]
pub struct Block {
    pub addressee: Addressee,
    /// Its lines, one after the other.
    pub text: String,
    pub area: Area,
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("area", &self.area).finish_non_exhaustive()
    }
}

/// The blocks of a page, from top to bottom.
pub fn blocks(page: &PrintedPage) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    for (index, line) in page.lines.iter().enumerate() {
        let Some((name, beside)) = named(line, &page.lines) else { continue };
        let index = beside.unwrap_or(index);
        let Some(line) = page.lines.get(index) else { continue };
        let above = lines_above(&page.lines, index);
        let mut lines: Vec<&PrintedLine> = above.iter().rev().copied().chain([line]).collect();
        if !lines.iter().any(|line| code_of(&line.text).is_some()) {
            lines.extend(code_below(&page.lines, index));
        }
        let block = block_of(&lines, name);
        // A company's name and a person's in one block: the last of them ends it.
        let is_within = |before: &Block| {
            let (top, bottom) = (before.area.top, before.area.top + before.area.height);
            lines.iter().any(|line| {
                line.top < bottom && line.bottom > top && line.left < before.area.left + before.area.width
            })
        };
        if let Some(last) = found.last_mut().filter(|last| is_within(last)) {
            let text = format!("{}\n{}", last.text, block.text);
            let postal_code = block.addressee.postal_code.or_else(|| last.addressee.postal_code.take());
            let name = format!("{} {}", last.addressee.name, block.addressee.name);
            *last = Block {
                addressee: Addressee { postal_code, name },
                text,
                area: union(last.area, block.area),
            };
        } else {
            found.push(block);
        }
    }
    found.sort_by(|a, b| a.area.top.total_cmp(&b.area.top));
    found
}

/// The block in an area, whatever its lines say. `None` if nothing is printed there.
pub fn block_in(page: &PrintedPage, area: &Area) -> Option<Block> {
    let lines: Vec<&PrintedLine> = page.lines.iter().filter(|line| area.holds(line)).collect();
    let mut named = lines.iter().enumerate().rev();
    let name = named.find_map(|(at, line)| Some((at, named_of(line, &page.lines)?)));
    // A sender's line may stand above the receiver's: the code nearest to the name counts.
    let begin = name.as_ref().and_then(|(at, _)| {
        let before = lines.get(..=*at).unwrap_or_default();
        before.iter().rposition(|line| code_of(&line.text).is_some())
    });
    let lines = lines.get(begin.unwrap_or_default()..).unwrap_or_default();
    let last = lines.iter().rev().find(|line| code_of(&line.text).is_none())?;
    let name = name.map_or_else(|| last.text.trim().to_owned(), |(_, name)| name);
    Some(block_of(lines, name))
}

fn named_of(line: &PrintedLine, all: &[PrintedLine]) -> Option<String> {
    named(line, all).map(|(name, _)| name)
}

fn block_of(lines: &[&PrintedLine], name: String) -> Block {
    let text = lines.iter().map(|line| line.text.trim()).collect::<Vec<_>>().join("\n");
    let postal_code = lines.iter().find_map(|line| code_of(&line.text));
    let areas = lines.iter().map(|line| Area {
        left: line.left,
        top: line.top,
        width: line.right - line.left,
        height: line.bottom - line.top,
    });
    let area = areas.reduce(union).unwrap_or(Area { left: 0.0, top: 0.0, width: 0.0, height: 0.0 });
    Block { addressee: Addressee { postal_code, name }, text, area }
}

fn union(a: Area, b: Area) -> Area {
    let (left, top) = (a.left.min(b.left), a.top.min(b.top));
    let right = (a.left + a.width).max(b.left + b.width);
    let bottom = (a.top + a.height).max(b.top + b.height);
    Area { left, top, width: right - left, height: bottom - top }
}

/// The name with its honorific, if the line ends with one or has one before a space. A line of an honorific
/// alone belongs to the line left of it, whose index is given too.
fn named(line: &PrintedLine, all: &[PrintedLine]) -> Option<(String, Option<usize>)> {
    let text = line.text.trim();
    if HONORIFICS.contains(&text) {
        let height = line.bottom - line.top;
        let is_left = |other: &PrintedLine| {
            other.right <= line.left + 1.0 && (other.top - line.top).abs() < height / 2.0
        };
        let left = all.iter().enumerate().filter(|(_, other)| is_left(other));
        let (index, name) = left.max_by(|(_, a), (_, b)| a.right.total_cmp(&b.right))?;
        return of_somebody(name.text.trim()).map(|name| (format!("{name} {text}"), Some(index)));
    }
    HONORIFICS.into_iter().find_map(|honorific| {
        let mut at = text.match_indices(honorific);
        at.find_map(|(at, _)| {
            let (name, rest) = (text.get(..at)?, text.get(at + honorific.len()..)?);
            let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
            let name = of_somebody(name.trim())?;
            ends.then(|| (format!("{name} {honorific}"), None))
        })
    })
}

/// A name and the honorific with which its line ends.
pub(super) fn honorific_of(line: &str) -> Option<(&str, &'static str)> {
    let line = line.trim();
    let (name, honorific) =
        HONORIFICS.into_iter().find_map(|honorific| Some((line.strip_suffix(honorific)?, honorific)))?;
    of_somebody(name.trim()).map(|name| (name, honorific))
}

/// The text, if it can be somebody's name.
fn of_somebody(name: &str) -> Option<&str> {
    // A postal code and an address may stand on the same line before it.
    let characters = name.chars().count();
    let is_nobody = NOBODY.iter().any(|nobody| name.ends_with(nobody));
    let is_sentence = name.contains(['。', '、', '「', '」', '(', ')', ':', '?', '!', '※', '・'])
        && !name.contains("(株)")
        && !name.contains("(有)");
    ((2..=LONGEST_NAME).contains(&characters) && !is_nobody && !is_sentence).then_some(name)
}

/// The lines above one that belong to its block, nearest first.
fn lines_above(all: &[PrintedLine], index: usize) -> Vec<&PrintedLine> {
    let mut found: Vec<&PrintedLine> = Vec::new();
    let Some(mut below) = all.get(index) else { return found };
    while found.len() + 1 < LINES {
        let height = (below.bottom - below.top).max(2.0);
        let near = |line: &&PrintedLine| {
            let gap = below.top - line.bottom;
            gap > -height / 2.0
                && gap < (2.2 * height).max(7.0)
                && line.top < below.top
                && is_in_column(line, below)
        };
        let Some(next) = all.iter().filter(near).max_by(|a, b| a.bottom.total_cmp(&b.bottom)) else { break };
        if found.iter().any(|line| std::ptr::eq(*line, next)) {
            break;
        }
        found.push(next);
        if begins_with_code(&next.text) {
            break;
        }
        below = next;
    }
    // Without a code above, lines that are far from an address are not part of it.
    if !found.iter().any(|line| code_of(&line.text).is_some()) {
        found.truncate(3);
    }
    found
}

/// A line with a postal code right below a name, and the lines after it.
fn code_below(all: &[PrintedLine], index: usize) -> Vec<&PrintedLine> {
    let Some(name) = all.get(index) else { return Vec::new() };
    let height = (name.bottom - name.top).max(2.0);
    let near = |line: &&PrintedLine| {
        let gap = line.top - name.bottom;
        gap > -height / 2.0 && gap < 3.0 * height && line.top > name.top && is_in_column(line, name)
    };
    let mut below: Vec<&PrintedLine> = all.iter().filter(near).collect();
    below.sort_by(|a, b| a.top.total_cmp(&b.top));
    match below.iter().position(|line| begins_with_code(&line.text)) {
        Some(at) => below.split_off(at).into_iter().take(3).collect(),
        None => Vec::new(),
    }
}

fn is_in_column(line: &PrintedLine, other: &PrintedLine) -> bool {
    let overlap = line.right.min(other.right) - line.left.max(other.left);
    (line.left - other.left).abs() < 25.0 && overlap > -5.0
}

fn begins_with_code(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('〒') || (code_of(text).is_some() && text.starts_with(|c: char| c.is_ascii_digit()))
}

/// The first postal code in a text, as seven digits: 060-0001, or 〒0600001. Not a part of a telephone number.
pub fn code_of(text: &str) -> Option<String> {
    codes_of(text).into_iter().next()
}

/// All postal codes in a text.
pub fn codes_of(text: &str) -> Vec<String> {
    code_places(text).into_iter().map(|(_, code)| code).collect()
}

/// The same, with the characters that each stands for.
pub(super) fn code_places(text: &str) -> Vec<(Range<usize>, String)> {
    let characters: Vec<char> = text.chars().collect();
    let at = |index: usize| characters.get(index).copied().unwrap_or(' ');
    let digits = |from: usize, count: usize| (from..from + count).all(|index| at(index).is_ascii_digit());
    let mut found = Vec::new();
    for start in 0..characters.len() {
        let before = if start == 0 { ' ' } else { at(start - 1) };
        let begins = digits(start, 3) && !before.is_ascii_digit() && !is_hyphen(before) && before != '.';
        if !begins {
            continue;
        }
        let is_marked = characters[..start].iter().rev().find(|c| !c.is_whitespace()) == Some(&'〒');
        let rest = if is_hyphen(at(start + 3)) { Some(start + 4) } else { is_marked.then_some(start + 3) };
        let Some(rest) = rest.filter(|rest| digits(*rest, 4)) else { continue };
        let after = at(rest + 4);
        if after.is_ascii_digit() || is_hyphen(after) {
            continue;
        }
        let all = characters[start..start + 3].iter().chain(&characters[rest..rest + 4]);
        found.push((start..rest + 4, all.collect()));
    }
    found
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | 'ー' | '─')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_postal_code_is_told_from_other_numbers() {
        for (text, codes) in [
            ("〒060-0001", &["0600001"][..]),
            ("〒 0600001 札幌市", &["0600001"]),
            ("060-0001 と 〒530‐0001", &["0600001", "5300001"]),
            ("電話 03-1234-5678", &[]),
            ("090-1234-5678", &[]),
            ("0120-123-4567", &[]),
            ("0600001", &[]),
            ("2026-1125", &[]),
            ("T123-45678", &[]),
        ] {
            assert_eq!(codes_of(text), codes, "{text}");
        }
    }

    #[test]
    fn debug_shows_nothing_of_a_person() {
        let addressee =
            Addressee { postal_code: Some("0600001".to_owned()), name: "山田 太郎 様".to_owned() };
        assert_eq!(addressee.to_string(), "〒060-0001 … 山田 太郎 様");
        assert_eq!(format!("{addressee:?}"), "Addressee(…)");
        let line = PrintedLine { text: "山田".to_owned(), left: 0.0, top: 0.0, right: 9.0, bottom: 4.0 };
        let page = PrintedPage { width: 210.0, height: 297.0, lines: vec![line], ..PrintedPage::default() };
        assert!(!format!("{page:?} {:?}", page.lines).contains('山'));
    }
}
