//! Which rule decides, with the verdict of each condition.

use std::ops::ControlFlow::{self, Break, Continue};

use chrono::{Datelike as _, Timelike as _, Weekday};

use super::{DropFacts, OnPage, Rules, Verdict, When};
use crate::domain::drop::Refusal;
use crate::domain::letter::Order;
use crate::domain::printed::PageFinding;

/// How a drop was decided.
#[derive(Debug)]
pub struct Explanation {
    /// The rules that were tried, in their order. The last one decided, if any did.
    pub tried: Vec<Tried>,
    /// The index of the rule that decided.
    pub rule: Option<usize>,
    /// Where the receiver came from, in words.
    pub receiver_from: Option<String>,
    /// For each document, whether what is printed agrees with the envelope. Empty if it was not asked.
    pub pages: Vec<PageFinding>,
    /// What would be posted if nothing had to be asked of the pages or of a person.
    pub order: Option<Box<Order>>,
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

/// Makes the words for a condition and for what was found.
type Words<'a> = &'a dyn Fn() -> (String, String);

impl Rules {
    /// Decides a drop, and gives the reasons.
    pub fn explain(&self, facts: &DropFacts<'_>) -> Explanation {
        let mut tried = Vec::new();
        for (index, rule) in self.rules.iter().enumerate() {
            let conditions = rule.when.check(facts);
            let holds = conditions.iter().all(|checked| checked.holds);
            tried.push(Tried { rule: rule.name.clone(), line: rule.line, conditions });
            if holds {
                let (receiver_from, pages, mut verdict) = self.apply(rule, facts);
                if let Verdict::Send(order, doubts) = &mut verdict {
                    doubts.extend(order.doubts());
                }
                let order = self.before_checks(rule, facts);
                return Explanation { tried, rule: Some(index), receiver_from, pages, order, verdict };
            }
        }
        let verdict = Verdict::Refuse(Refusal::NoRule);
        Explanation { tried, rule: None, receiver_from: None, pages: Vec::new(), order: None, verdict }
    }
}

impl OnPage {
    /// The text of page 1 of the first document, or of the area in it. Empty if it cannot be read.
    pub(super) fn text_in(&self, facts: &DropFacts<'_>) -> String {
        let printed = facts.documents.first().and_then(|found| found.printed.as_ref());
        let Some(page) = printed.and_then(|printed| printed.pages.first()) else { return String::new() };
        let lines = page.lines.iter().filter(|line| self.area.is_none_or(|area| area.holds(line)));
        lines.map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

impl When {
    /// Whether all conditions hold. Nothing is put into words, because this is asked about each drop.
    pub(super) fn holds(&self, facts: &DropFacts<'_>) -> bool {
        let stop_at_first = |holds, _: Words<'_>| if holds { Continue(()) } else { Break(()) };
        self.each(facts, stop_at_first).is_continue()
    }

    /// Whether all conditions hold but perhaps those for what is not recorded: the page, and the mail.
    pub(super) fn may_be(&self, facts: &DropFacts<'_>) -> bool {
        let Self { file_name, pages, size, weekday, time, page: _, subject: _, to: _ } = self;
        let others = Self {
            file_name: file_name.clone(),
            pages: *pages,
            size: *size,
            weekday: weekday.clone(),
            time: *time,
            page: None,
            subject: None,
            to: None,
        };
        others.holds(facts)
    }

    fn check(&self, facts: &DropFacts<'_>) -> Vec<Checked> {
        let mut checked = Vec::new();
        let add = |holds, words: Words<'_>| {
            let (condition, found) = words();
            checked.push(Checked { condition, found, holds });
            Continue(())
        };
        let _all = self.each(facts, add);
        checked
    }

    /// Gives each condition to `add`, until that breaks off: whether it holds, and the words for a person.
    fn each(
        &self,
        facts: &DropFacts<'_>,
        mut add: impl FnMut(bool, Words<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if let Some(regex) = &self.file_name {
            let words = || (format!("file_name {regex}"), facts.name.to_owned());
            add(regex.is_match(facts.name), &words)?;
        }
        if let Some((from, to)) = self.pages {
            let pages = facts.documents.iter().map(|document| document.pages).fold(0, u32::saturating_add);
            let words = || (format!("pages {}", span(from, to)), pages.to_string());
            add(within(&pages, from, to), &words)?;
        }
        if let Some((from, to)) = self.size {
            let size = facts.documents.iter().map(|document| document.size).fold(0, u64::saturating_add);
            let words = || (format!("size {}", span(from, to)), size.to_string());
            add(within(&size, from, to), &words)?;
        }
        if let Some(days) = &self.weekday {
            let today = facts.arrived.weekday();
            let words = || {
                let days: Vec<&str> = days.iter().map(|day| word(*day)).collect();
                (format!("weekday {}", days.join(", ")), word(today).to_owned())
            };
            add(days.contains(&today), &words)?;
        }
        if let Some((from, to)) = self.time {
            // To the minute, so that 17:30 lasts until 17:31.
            let now = facts.arrived.time();
            let minute = now.with_second(0).and_then(|time| time.with_nanosecond(0)).unwrap_or(now);
            let inside =
                if from <= to { (from..=to).contains(&minute) } else { minute >= from || minute <= to };
            let condition = || format!("time {}..{}", from.format("%H:%M"), to.format("%H:%M"));
            add(inside, &|| (condition(), now.format("%H:%M").to_string()))?;
        }
        self.each_of_page_and_mail(facts, add)
    }

    fn each_of_page_and_mail(
        &self,
        facts: &DropFacts<'_>,
        mut add: impl FnMut(bool, Words<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if let Some(page) = &self.page {
            // What is printed is not repeated: it may be somebody's name.
            let text = page.text_in(facts);
            let found = || match (text.is_empty(), page.text.find(&text)) {
                (true, _) => "nothing can be read".to_owned(),
                (false, None) => "not on page 1".to_owned(),
                (false, Some(found)) => format!("on page 1, {} characters", found.as_str().chars().count()),
            };
            add(page.text.is_match(&text), &|| (format!("page {}", page.text), found()))?;
        }
        let mailed = facts.mailed;
        if let Some(regex) = &self.subject {
            let subject = mailed.map(|mailed| mailed.subject.as_str());
            let holds = subject.is_some_and(|subject| regex.is_match(subject));
            // What a person wrote there may be a name.
            let found = subject.map(|_| if holds { "matches" } else { "does not match" });
            let found = found.unwrap_or("it came without a mail");
            add(holds, &|| (format!("subject {regex}"), found.to_owned()))?;
        }
        if let Some(regex) = &self.to {
            let to = mailed.map(|mailed| mailed.to.as_slice());
            let holds = to.unwrap_or_default().iter().any(|to| regex.is_match(to));
            let found = || to.map_or_else(|| "it came without a mail".to_owned(), |to| to.join(", "));
            add(holds, &|| (format!("to {regex}"), found()))?;
        }
        Continue(())
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
