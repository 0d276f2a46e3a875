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
/// another customer's number. Digits next to the group are allowed if the expression has a fixed number of them there.
fn is_cut(regex: &Regex, text: &str, captures: &Captures<'_>, group: &str) -> bool {
    let Some(found) = captures.name(group) else { return false };
    // `①` after a number is a mark, not another digit of it.
    let is_digit = |c: char| c.is_ascii_digit() || ('０'..='９').contains(&c);
    let both = |one: Option<char>, other: Option<char>| [one, other].iter().all(|c| c.is_some_and(is_digit));
    let (before, value, after) = (&text[..found.start()], found.as_str(), &text[found.end()..]);
    let goes_on = both(value.chars().last(), after.chars().next());
    let began = both(before.chars().last(), value.chars().next());
    if !goes_on && !began {
        return false;
    }
    let parsed = regex_syntax::parse(regex.as_str()).ok();
    let (left, right) = parsed.as_ref().and_then(|parsed| parts_beside(parsed, group)).unwrap_or_default();
    let is_counted = |part: Option<&Hir>, edge: Edge| part.is_some_and(|part| is_counted_digits(part, edge));
    goes_on && !is_counted(right, Edge::First) || began && !is_counted(left, Edge::Last)
}

/// The parts of an expression before and behind a group.
fn parts_beside<'a>(part: &'a Hir, group: &str) -> Option<(Option<&'a Hir>, Option<&'a Hir>)> {
    let is_it =
        |part: &Hir| matches!(part.kind(), HirKind::Capture(inner) if inner.name.as_deref() == Some(group));
    match part.kind() {
        HirKind::Concat(parts) => match parts.iter().position(is_it) {
            Some(at) => Some((at.checked_sub(1).and_then(|at| parts.get(at)), parts.get(at + 1))),
            None => parts.iter().find_map(|part| parts_beside(part, group)),
        },
        HirKind::Alternation(parts) => parts.iter().find_map(|part| parts_beside(part, group)),
        HirKind::Capture(inner) => parts_beside(&inner.sub, group),
        HirKind::Repetition(inner) => parts_beside(&inner.sub, group),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => None,
    }
}

/// The end of a part that is next to the group.
#[derive(Clone, Copy)]
enum Edge {
    First,
    Last,
}

/// Whether it matches a fixed number of digits at this edge.
fn is_counted_digits(part: &Hir, edge: Edge) -> bool {
    match part.kind() {
        HirKind::Literal(literal) => {
            let byte = match edge {
                Edge::First => literal.0.first(),
                Edge::Last => literal.0.last(),
            };
            byte.is_some_and(u8::is_ascii_digit)
        }
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().all(|range| range.start().is_numeric() && range.end().is_numeric())
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().all(|range| range.start().is_ascii_digit() && range.end().is_ascii_digit())
        }
        HirKind::Repetition(inner) => inner.max == Some(inner.min) && is_counted_digits(&inner.sub, edge),
        HirKind::Capture(inner) => is_counted_digits(&inner.sub, edge),
        HirKind::Concat(_) | HirKind::Alternation(_) | HirKind::Empty | HirKind::Look(_) => false,
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
