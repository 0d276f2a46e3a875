//! `mailchute check --against-history`: which letters of the past the rules of today treat otherwise.

use std::collections::{BTreeMap, HashMap};
use std::mem::discriminant;
use std::time::Duration;

use chrono::TimeDelta;

use crate::clock::{Clock, Time};
use crate::config::{Config, Folder};
use crate::guard::{Counts, Weighed};
use crate::letter::{Fact, Letter, Number, Order, Reason};
use crate::rules::Again;
use crate::store::Desk;

/// Says what would be another. What differs is no mistake: it may be what was meant.
pub(super) fn against_history(config: &Config, span: Duration) -> anyhow::Result<()> {
    let desk = Desk::open(&config.state)?;
    let now = Clock::system().now();
    let since = now - TimeDelta::from_std(span)?;
    let (mut looked, mut nameless, mut others, mut differ) = (0, 0, 0, 0);
    let mut folders: BTreeMap<&str, Past<'_>> = BTreeMap::new();
    // What counts for the first of them came before.
    let mut begin = since - TimeDelta::days(1);
    for folder in &config.folders {
        begin = folder.terms(begin).duplicates_since.map_or(begin, |since| since.min(begin));
        folders.insert(&folder.name, Past::of(folder));
    }
    for row in desk.letters(None, Some(begin), u64::MAX)? {
        let Some(past) = folders.get_mut(row.source.as_str()) else {
            others += u32::from(row.admitted_at >= since);
            continue;
        };
        let Some(letter) = desk.letter(row.letter)? else { continue };
        let name = desk.known_as(row.letter, false)?.map(|known| known.file).unwrap_or_default();
        let was = held_at_first(&desk.history(row.letter)?);
        let differs = past.again(&letter, &name, was.as_ref());
        if row.admitted_at < since {
            continue;
        }
        looked += 1;
        if letter.order.is_struck() {
            nameless += 1;
        } else if !differs.is_empty() {
            differ += 1;
            super::say(&format!("letter {} ({name}): {}", row.letter, differs.join("; ")))?;
        }
    }
    let span = humantime::format_duration(span);
    super::say(&format!("letters of the last {span}: {looked}; {differ} would be treated otherwise"))?;
    for (count, what) in [
        (nameless, "can't be told: their names are no longer kept"),
        (others, "came from no folder of this configuration"),
    ] {
        if count > 0 {
            super::say(&format!("  {count} {what}"))?;
        }
    }
    Ok(())
}

/// Why a letter waited when it was taken in, as its folder's terms had it.
fn held_at_first(history: &[(Time, Fact)]) -> Option<Reason> {
    match history.get(1) {
        Some((
            _,
            Fact::Held(
                reason @ (Reason::Approval | Reason::Duplicate(_) | Reason::Limit(_) | Reason::Elsewhere(_)),
            ),
        )) => Some(reason.clone()),
        Some(_) | None => None,
    }
}

/// What went from a folder, as its terms of today would have had it.
struct Past<'a> {
    folder: &'a Folder,
    book: Result<Option<crate::address_book::AddressBook>, String>,
    sent: Vec<(Time, u32)>,
    /// By documents and receiver.
    orders: HashMap<Vec<String>, (Number, Time)>,
}

impl<'a> Past<'a> {
    fn of(folder: &'a Folder) -> Self {
        let book = folder.book.as_ref().map(crate::config::Book::read).transpose();
        let book = book.map(|read| read.map(|(book, _)| book));
        Self { folder, book, sent: Vec::new(), orders: HashMap::new() }
    }

    /// In what a letter would be treated otherwise.
    fn again(&mut self, letter: &Letter, name: &str, was: Option<&Reason>) -> Vec<String> {
        let at = letter.admitted_at;
        let arrived = at.with_timezone(&self.folder.zone).naive_local();
        let book = self.book.as_ref().map(Option::as_ref).map_err(String::as_str);
        let (order, mut differs) = match self.folder.rules.again(name, arrived, &letter.order, book) {
            Again::Sent(order, differs) => (order, differs),
            Again::Refused(refusal) => {
                return vec![format!("would be rejected: {}", self.folder.language.refusal(&refusal).cause)];
            }
            Again::Waits(waiting) => {
                let said = self.folder.language.waiting(&waiting, &self.folder.names);
                return vec![format!("would wait before it is a letter: {}", said.cause)];
            }
        };
        let waits = self.folder.waits_until(at).is_some();
        if waits != letter.order.not_before.is_some() {
            let how =
                if waits { "would wait for a posting time" } else { "would not wait for a posting time" };
            differs.push(how.to_owned());
        }
        let is = self.hold(letter.number, &order, at);
        match (was, &is) {
            (None, Some(reason)) => differs.push(format!("would wait for a person: {reason}")),
            (Some(reason), None) => differs.push(format!("would not wait for a person; it did: {reason}")),
            (Some(was), Some(is)) if discriminant(was) != discriminant(is) => {
                differs.push(format!("would wait for another reason: {is}"));
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
        differs
    }

    fn hold(&mut self, number: Number, order: &Order, at: Time) -> Option<Reason> {
        let terms = self.folder.terms(at);
        let count = |since: Time| {
            let counted = self.sent.iter().rev().take_while(|(sent, _)| *sent >= since);
            counted.fold((0, 0), |(letters, sheets), (_, of)| (letters + 1, sheets + of))
        };
        let mut key: Vec<String> = order.documents.iter().map(|document| document.sha256.clone()).collect();
        key.push(serde_json::to_string(&order.receiver).unwrap_or_default());
        let earlier = self.orders.get(&key).copied();
        let duplicate =
            earlier.filter(|(_, sent)| terms.duplicates_since.is_some_and(|since| *sent >= since));
        let (letters_today, sheets_today) = count(terms.day_began);
        let counts = Counts {
            duplicate_of: duplicate.map(|(number, _)| number),
            letters_today,
            sheets_today,
            letters_lately: terms.lately(at).map_or(0, |since| count(since).0),
            usually: None,
        };
        let elsewhere = order.receiver.address.elsewhere();
        let reason = terms.hold(&counts, &Weighed { sheets: order.sheets(), elsewhere });
        // One that waits counts for nothing before a person lets it go.
        if reason.is_none() {
            self.sent.push((at, order.sheets()));
        }
        if duplicate.is_none() {
            self.orders.insert(key, (number, at));
        }
        reason
    }
}
