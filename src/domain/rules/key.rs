//! The key under which a rule looks for the receiver in the address book: what its expressions match, if that is beyond
//! doubt.

use std::collections::BTreeMap;

use regex::{Captures, Regex};
use unicode_normalization::UnicodeNormalization as _;

use super::{DropFacts, Rule, Verdict};
use crate::domain::drop::{KeyDoubt, Refusal, Waiting};

/// What a named group of an expression matched.
struct Caught {
    group: String,
    value: String,
    /// A digit follows, or is before it, that no part of the expression matched.
    is_cut: bool,
}

impl Rule {
    /// The key by a template such as `{customer}`.
    pub(super) fn key(&self, template: &str, facts: &DropFacts<'_>) -> Result<String, Verdict> {
        let unclear = |doubt| Err(Verdict::Refuse(Refusal::KeyUnclear(doubt)));
        let mut groups: BTreeMap<String, String> = BTreeMap::new();
        for Caught { group, value, is_cut } in self.caught(facts) {
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
    fn caught(&self, facts: &DropFacts<'_>) -> Vec<Caught> {
        let mut caught = Vec::new();
        let mut catch = |regex: &Regex, text: &str| {
            let Some(captures) = regex.captures(text) else { return };
            for group in regex.capture_names().flatten() {
                caught.extend(captures.name(group).map(|found| Caught {
                    group: group.to_owned(),
                    value: found.as_str().to_owned(),
                    is_cut: is_cut(text, &captures, group),
                }));
            }
        };
        if let Some(regex) = &self.when.file_name {
            catch(regex, facts.name);
        }
        if let Some(page) = &self.when.page {
            catch(&page.text, &page.text_in(facts));
        }
        if let (Some(regex), Some(mailed)) = (&self.when.subject, facts.mailed) {
            catch(regex, &mailed.subject);
        }
        if let (Some(regex), Some(mailed)) = (&self.when.to, facts.mailed) {
            mailed.to.iter().find(|to| regex.is_match(to)).into_iter().for_each(|to| catch(regex, to));
        }
        caught
    }
}

/// Whether a number goes on beyond what the expression matches. `INV-(?<customer>\d{6})` finds 000123 in
/// `INV-0001234`, which is another customer's number.
fn is_cut(text: &str, captures: &Captures<'_>, group: &str) -> bool {
    let (Some(whole), Some(found)) = (captures.get(0), captures.name(group)) else { return false };
    let both =
        |one: Option<char>, other: Option<char>| [one, other].iter().all(|c| c.is_some_and(char::is_numeric));
    let (before, value, after) = (&text[..found.start()], found.as_str(), &text[found.end()..]);
    let goes_on = found.end() == whole.end() && both(value.chars().last(), after.chars().next());
    let began = found.start() == whole.start() && both(before.chars().last(), value.chars().next());
    goes_on || began
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
            // What the expression matches on purpose is no accident.
            (r"^INV-(?<customer>\d{6})\d*", "INV-0001234.pdf", false),
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
            assert_eq!(is_cut(text, &captures, "customer"), cut, "{regex} {text}");
        }
    }
}
