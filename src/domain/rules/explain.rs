//! Which rule decides, with the verdict of each condition.

use std::collections::BTreeMap;

use chrono::{Datelike as _, Timelike as _, Weekday};

use super::{DropFacts, Rule, Rules, Verdict, When};
use crate::domain::drop::Refusal;

/// How a drop was decided.
#[derive(Debug)]
pub struct Explanation {
    /// The rules that were tried, in their order. The last one decided, if any did.
    pub tried: Vec<Tried>,
    /// The index of the rule that decided.
    pub rule: Option<usize>,
    /// Where the receiver came from, in words.
    pub receiver_from: Option<String>,
    pub verdict: Verdict,
}

#[derive(Debug)]
pub struct Tried {
    pub rule: String,
    pub line: usize,
    pub conditions: Vec<Checked>,
}

/// A condition, the value found, and whether the condition holds.
#[derive(Debug)]
pub struct Checked {
    pub condition: String,
    pub found: String,
    pub holds: bool,
}

impl Rules {
    /// Decides a drop, and gives the reasons.
    pub fn explain(&self, facts: &DropFacts<'_>) -> Explanation {
        let mut tried = Vec::new();
        for (index, rule) in self.rules.iter().enumerate() {
            let conditions = rule.when.check(facts);
            let holds = conditions.iter().all(|checked| checked.holds);
            tried.push(Tried { rule: rule.name.clone(), line: rule.line, conditions });
            if holds {
                let (receiver_from, verdict) = self.apply(rule, facts);
                return Explanation { tried, rule: Some(index), receiver_from, verdict };
            }
        }
        Explanation { tried, rule: None, receiver_from: None, verdict: Verdict::Refuse(Refusal::NoRule) }
    }
}

impl Rule {
    /// What the named groups matched in the file name.
    pub(super) fn groups(&self, name: &str) -> BTreeMap<String, String> {
        let Some(regex) = &self.when.file_name else { return BTreeMap::new() };
        let Some(captures) = regex.captures(name) else { return BTreeMap::new() };
        let caught =
            |group: &str| captures.name(group).map(|found| (group.to_owned(), found.as_str().to_owned()));
        regex.capture_names().flatten().filter_map(caught).collect()
    }
}

impl When {
    fn check(&self, facts: &DropFacts<'_>) -> Vec<Checked> {
        let mut checked = Vec::new();
        let mut add = |condition: String, found: String, holds| {
            checked.push(Checked { condition, found, holds });
        };
        if let Some(regex) = &self.file_name {
            add(format!("file_name {regex}"), facts.name.to_owned(), regex.is_match(facts.name));
        }
        if let Some((from, to)) = self.pages {
            let pages = facts.documents.iter().map(|document| document.pages).fold(0, u32::saturating_add);
            add(format!("pages {}", span(from, to)), pages.to_string(), within(&pages, from, to));
        }
        if let Some((from, to)) = self.size {
            let size = facts.documents.iter().map(|document| document.size).fold(0, u64::saturating_add);
            add(format!("size {}", span(from, to)), size.to_string(), within(&size, from, to));
        }
        if let Some(days) = &self.weekday {
            let words: Vec<&str> = days.iter().map(|day| word(*day)).collect();
            let today = facts.arrived.weekday();
            add(format!("weekday {}", words.join(", ")), word(today).to_owned(), days.contains(&today));
        }
        if let Some((from, to)) = self.time {
            // To the minute, so that 17:30 lasts until 17:31.
            let now = facts.arrived.time();
            let minute = now.with_second(0).and_then(|time| time.with_nanosecond(0)).unwrap_or(now);
            let inside =
                if from <= to { (from..=to).contains(&minute) } else { minute >= from || minute <= to };
            let condition = format!("time {}..{}", from.format("%H:%M"), to.format("%H:%M"));
            add(condition, now.format("%H:%M").to_string(), inside);
        }
        checked
    }
}

fn within<T: PartialOrd>(found: &T, from: Option<T>, to: Option<T>) -> bool {
    from.is_none_or(|from| *found >= from) && to.is_none_or(|to| *found <= to)
}

fn span<T: ToString + PartialEq>(from: Option<T>, to: Option<T>) -> String {
    if from == to && from.is_some() {
        return from.map_or_else(String::new, |one| one.to_string());
    }
    let side = |side: Option<T>| side.map_or_else(String::new, |side| side.to_string());
    format!("{}..{}", side(from), side(to))
}

fn word(day: Weekday) -> &'static str {
    match day {
        Weekday::Mon => "mon",
        Weekday::Tue => "tue",
        Weekday::Wed => "wed",
        Weekday::Thu => "thu",
        Weekday::Fri => "fri",
        Weekday::Sat => "sat",
        Weekday::Sun => "sun",
    }
}
