//! The address-book key that a rule's expressions find in a drop, or why it may be another receiver's key.

use std::collections::BTreeMap;

use regex::{Captures, Regex};
use regex_syntax::hir::{Class, Hir, HirKind};
use unicode_normalization::UnicodeNormalization as _;

use super::{DropFacts, Rule, Verdict};
use crate::domain::drop::{KeyDoubt, Refusal, Waiting};

/// What a named group of an expression matched.
struct GroupMatch {
    group: String,
    value: String,
    /// A digit is next to it that the expression does not count.
    is_cut: bool,
}

impl Rule {
    /// The key by a template such as `{customer}`.
    pub(super) fn key(&self, template: &str, facts: &DropFacts<'_>) -> Result<String, Verdict> {
        let unclear = |doubt| Err(Verdict::Refuse(Refusal::KeyUnclear(doubt)));
        let mut groups: BTreeMap<String, String> = BTreeMap::new();
        for GroupMatch { group, value, is_cut } in self.group_matches(facts) {
            if !template.contains(&format!("{{{group}}}")) {
                continue;
            }
            if is_cut {
                return unclear(KeyDoubt::Cut { key: value });
            }
            match groups.get(&group) {
                Some(other) if !other.nfkc().eq(value.nfkc()) => {
                    return unclear(KeyDoubt::Differs { keys: [other.clone(), value] });
                }
                Some(_) | None => groups.insert(group, value),
            };
        }
        fill(template, &groups).map_err(|why| Verdict::Hold(Waiting::Book(why)))
    }

    /// What the named groups matched in the file name, on the page and in the mail.
    fn group_matches(&self, facts: &DropFacts<'_>) -> Vec<GroupMatch> {
        let mut matches = Vec::new();
        let mut search = |regex: &Regex, text: &str| {
            let Some(captures) = regex.captures(text) else { return };
            for group in regex.capture_names().flatten() {
                matches.extend(captures.name(group).map(|found| GroupMatch {
                    group: group.to_owned(),
                    value: found.as_str().to_owned(),
                    is_cut: is_cut(regex, text, &captures, group),
                }));
            }
        };
        if let Some(regex) = &self.when.file_name {
            search(regex, facts.name);
        }
        if let Some(page) = &self.when.page {
            search(&page.text, &page.text_in(facts));
        }
        if let (Some(regex), Some(mailed)) = (&self.when.subject, facts.mailed) {
            search(regex, &mailed.subject);
        }
        if let (Some(regex), Some(mailed)) = (&self.when.to, facts.mailed) {
            mailed.to.iter().for_each(|to| search(regex, to));
        }
        matches
    }
}

/// Whether a group matches only a part of a number. `INV-(?<customer>\d{6})` finds 000123 in `INV-0001234`, which is
/// another customer's number. Digits next to the group are allowed if the expression has a fixed number of them there,
/// and there are no more.
fn is_cut(regex: &Regex, text: &str, captures: &Captures<'_>, group: &str) -> bool {
    let Some(found) = captures.name(group) else { return false };
    // `①` after a number is a mark, not another digit of it.
    let is_digit = |c: &char| c.is_ascii_digit() || ('０'..='９').contains(c);
    let (before, value, after) = (&text[..found.start()], found.as_str(), &text[found.end()..]);
    let is_last_digit = value.chars().next_back().is_some_and(|c| is_digit(&c));
    let is_first_digit = value.chars().next().is_some_and(|c| is_digit(&c));
    let more = if is_last_digit { after.chars().take_while(is_digit).count() } else { 0 };
    let earlier = if is_first_digit { before.chars().rev().take_while(is_digit).count() } else { 0 };
    if more == 0 && earlier == 0 {
        return false;
    }
    let parsed = regex_syntax::parse(regex.as_str()).ok();
    let Some((left, right)) = parsed.and_then(|parsed| digits_beside(&parsed, group)) else { return true };
    more > 0 && more != right.count || earlier > 0 && earlier != left.count
}

/// How many digits a part of an expression matches at one of its ends.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FixedDigits {
    count: usize,
    /// It matches nothing else, so what is beyond it counts too.
    is_all: bool,
}

impl FixedDigits {
    const NOTHING: Self = Self { count: 0, is_all: true };
    const OTHER: Self = Self { count: 0, is_all: false };

    fn and(self, beyond: impl FnOnce() -> Self) -> Self {
        if !self.is_all {
            return self;
        }
        let beyond = beyond();
        Self { count: self.count.saturating_add(beyond.count), is_all: beyond.is_all }
    }
}

/// The fixed number of digits that an expression has right before and right behind a group.
fn digits_beside(part: &Hir, group: &str) -> Option<(FixedDigits, FixedDigits)> {
    match part.kind() {
        HirKind::Capture(inner) if inner.name.as_deref() == Some(group) => {
            Some((FixedDigits::NOTHING, FixedDigits::NOTHING))
        }
        HirKind::Capture(inner) => digits_beside(&inner.sub, group),
        HirKind::Concat(parts) => parts.iter().enumerate().find_map(|(at, part)| {
            let (mut left, mut right) = digits_beside(part, group)?;
            for before in parts[..at].iter().rev() {
                left = left.and(|| fixed_digits(before, Edge::Last));
            }
            for behind in &parts[at + 1..] {
                right = right.and(|| fixed_digits(behind, Edge::First));
            }
            Some((left, right))
        }),
        HirKind::Alternation(parts) => parts.iter().find_map(|part| digits_beside(part, group)),
        HirKind::Repetition(inner) => {
            let (left, right) = digits_beside(&inner.sub, group)?;
            // It may stand beside itself.
            let is_one = inner.max == Some(1);
            let within = |digits: FixedDigits| FixedDigits { is_all: digits.is_all && is_one, ..digits };
            Some((within(left), within(right)))
        }
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => None,
    }
}

/// The end of a part that is next to the group.
#[derive(Clone, Copy)]
enum Edge {
    First,
    Last,
}

/// The fixed number of digits that a part matches at an edge.
fn fixed_digits(part: &Hir, edge: Edge) -> FixedDigits {
    match part.kind() {
        HirKind::Literal(literal) => {
            let count = match edge {
                Edge::First => literal.0.iter().take_while(|byte| byte.is_ascii_digit()).count(),
                Edge::Last => literal.0.iter().rev().take_while(|byte| byte.is_ascii_digit()).count(),
            };
            FixedDigits { count, is_all: count == literal.0.len() }
        }
        HirKind::Class(class) => {
            let is_digit = match class {
                Class::Unicode(class) => {
                    class.iter().all(|range| range.start().is_numeric() && range.end().is_numeric())
                }
                Class::Bytes(class) => {
                    class.iter().all(|range| range.start().is_ascii_digit() && range.end().is_ascii_digit())
                }
            };
            FixedDigits { count: usize::from(is_digit), is_all: is_digit }
        }
        HirKind::Repetition(inner) if inner.max == Some(inner.min) => {
            let once = fixed_digits(&inner.sub, edge);
            let times = if once.is_all { usize::try_from(inner.min).unwrap_or(usize::MAX) } else { 1 };
            FixedDigits { count: once.count.saturating_mul(times), ..once }
        }
        HirKind::Capture(inner) => fixed_digits(&inner.sub, edge),
        HirKind::Concat(parts) => {
            let each = |digits: FixedDigits, part| digits.and(|| fixed_digits(part, edge));
            match edge {
                Edge::First => parts.iter().fold(FixedDigits::NOTHING, each),
                Edge::Last => parts.iter().rev().fold(FixedDigits::NOTHING, each),
            }
        }
        HirKind::Alternation(parts) => {
            let mut each = parts.iter().map(|part| fixed_digits(part, edge));
            let first = each.next().unwrap_or(FixedDigits::OTHER);
            if each.all(|digits| digits == first) { first } else { FixedDigits::OTHER }
        }
        HirKind::Empty | HirKind::Look(_) => FixedDigits::NOTHING,
        HirKind::Repetition(_) => FixedDigits::OTHER,
    }
}

/// Replaces `{group}`s in a template such as `{customer}` by what they matched.
pub fn fill(template: &str, groups: &BTreeMap<String, String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or_else(|| "a `{` has no `}`".to_owned())?;
        let value = groups.get(name).ok_or_else(|| format!("there is no group `(?<{name}>…)`"))?;
        filled.push_str(before);
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_goes_on_where_the_expression_ends_is_cut() {
        for (regex, text, cut) in [
            (r"^INV-(?<customer>\d{6})", "INV-000123.pdf", false),
            (r"^INV-(?<customer>\d{6})", "INV-000123-7.pdf", false),
            (r"^INV-(?<customer>\d{6})", "INV-000123", false),
            (r"^INV-(?<customer>\d{6})", "INV-0001234.pdf", true),
            (r"^INV-(?<customer>\d{6})", "INV-000123\u{ff14}.pdf", true),
            (r"^INV-(?<customer>\d{6})", "INV-000123①.pdf", false),
            (r"^INV-(?<customer>\d{6}).*\.pdf$", "INV-0001234.pdf", true),
            (r"^INV-(?<customer>\d{6})\d*", "INV-0001234.pdf", true),
            (r"^INV-(?<customer>\d{6})\d{1,8}", "INV-0001234.pdf", true),
            (r".*(?<customer>\d{6})\.pdf$", "INV-1000123.pdf", true),
            (r"^(INV-(?<customer>\d{6}))", "INV-0001234.pdf", true),
            (r"^(?<customer>\d{6}|x)", "0001234.pdf", true),
            // A fixed number of digits is intended.
            (r"^INV-(?<customer>\d{6})(?<date>[0-9]{8})", "INV-00012320261129.pdf", false),
            (r"^INV-2026(?<customer>\d{6})", "INV-2026000123.pdf", false),
            (r"^INV-\d(?<customer>\d{6})\d", "INV-10001239.pdf", false),
            (r"^(?:A|B\d{2}(?<customer>\d{6}))", "B99000123.pdf", false),
            (r"^(?<customer>\d{6})\d{8}", "00012320261129.pdf", false),
            (r"^\d{8}(?<customer>\d{6})", "20261129000123.pdf", false),
            (r"^(?<customer>\d{6})(?<date>20\d{6})", "00012320261129.pdf", false),
            (r"^(?<customer>\d{6})(?<date>\d{4}\d{2}\d{2})", "00012320261129.pdf", false),
            (r"^(?<customer>\d{6})(?:2025|1999)", "0001231999.pdf", false),
            (r"^(INV-(?<customer>\d{6}))\d{8}$", "INV-00012320261129", false),
            // More digits than that are not.
            (r"^(?<customer>\d{6})\d{8}", "000123420261129.pdf", true),
            (r"\d{8}(?<customer>\d{6})\.pdf$", "202611291000123.pdf", true),
            (r"^(?<customer>\d{6})\d\d*", "00012345.pdf", true),
            (r"^(?<customer>\d{6})20\d{6}", "000123202611291.pdf", true),
            (r"^(?<customer>\d{6})(?:20251|1999)", "00012320251.pdf", true),
            (r"^(?:(?<customer>\d{6})\d)+", "0001231000456.pdf", true),
            (r"(?<customer>\d{6})", "1000123.pdf", true),
            (r"(?<customer>\d{6})$", "1000123", true),
            (r"(?<customer>\d{6})", "No 000123.pdf", false),
            (r"(?<customer>[A-Z]{3})", "ABCD.pdf", false),
            (r"(?<customer>[A-Z]{3})", "ABC1.pdf", false),
            (r"INV(?<customer>\d*)", "INV", false),
        ] {
            let regex = Regex::new(regex).unwrap();
            let captures = regex.captures(text).unwrap();
            assert_eq!(is_cut(&regex, text, &captures, "customer"), cut, "{regex} {text}");
        }
    }
}
