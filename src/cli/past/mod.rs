//! `mailchute check --against-history`: which past letters the current rules would treat differently.

mod counted;

use std::collections::BTreeMap;
use std::mem::discriminant;
use std::time::Duration;

use chrono::TimeDelta;

use super::table;
use crate::base::clock::{Clock, Time};
use crate::config::{Book, Config, Folder};
use crate::domain::address_book::AddressBook;
use crate::domain::letter::{Fact, Letter, Reason};
use crate::domain::limits::Weighed;
use crate::domain::rules::Again;
use crate::outside::spool::Ulid;
use crate::outside::store::{Desk, StoreError};
use counted::{Earlier, Past};

/// What was compared, and what could not be.
#[derive(Default)]
struct Tally {
    looked: u32,
    differ: u32,
    nameless: u32,
    sidecars: u32,
    pages: u32,
    damaged: u32,
    others: u32,
}

/// Shows what would be different. A difference is not a mistake: it may be intended.
pub(super) fn against_history(config: &Config, span: Duration) -> anyhow::Result<()> {
    let desk = Desk::open(&config.state)?;
    let since = Clock::system().now() - TimeDelta::from_std(span)?;
    // What counts for the first of them came before.
    let mut begin = since - TimeDelta::days(1);
    let mut folders: BTreeMap<&str, CurrentFolder<'_>> = BTreeMap::new();
    for folder in &config.folders {
        begin = folder.terms(since).duplicates_since.map_or(begin, |since| since.min(begin));
        folders.insert(&folder.name, CurrentFolder::of(folder));
    }
    let (mut past, mut tally) = (Past::default(), Tally::default());
    for row in desk.letters(None, Some(begin), u64::MAX)? {
        let asked = row.admitted_at >= since;
        let (letter, history) = match (desk.letter(row.letter), desk.history(row.letter)) {
            (Ok(Some(letter)), Ok(history)) => (letter, history),
            (Ok(None) | Err(StoreError::Damaged(_)), _) | (_, Err(StoreError::Damaged(_))) => {
                tally.damaged += u32::from(asked);
                continue;
            }
            (Err(error), _) | (_, Err(error)) => return Err(error.into()),
        };
        let was = held_at_first(&history);
        let mut earlier = Earlier::of(&letter, &history, was.is_some());
        if let Some(now) = folders.get(row.source.as_str()) {
            let name = desk.known_as(row.letter, false)?.map(|known| known.file).unwrap_or_default();
            let (differs, told) = now.again(&letter, &name, was.as_ref(), &past, &mut earlier);
            if asked {
                tally.looked += 1;
                tally.sidecars += u32::from(matches!(told, Comparison::NotItsSidecar));
                tally.pages += u32::from(matches!(told, Comparison::NotItsPages));
                tally.nameless += u32::from(matches!(told, Comparison::Nothing));
                if !differs.is_empty() {
                    tally.differ += 1;
                    super::say(&format!("letter {} ({name}): {}", row.letter, differs.join("; ")))?;
                }
            }
        } else {
            tally.others += u32::from(asked);
        }
        past.add(earlier);
    }
    say(&tally, span)
}

fn say(tally: &Tally, span: Duration) -> anyhow::Result<()> {
    let Tally { looked, differ, nameless, sidecars, pages, damaged, others } = *tally;
    let span = humantime::format_duration(span);
    super::say(&format!("letters of the last {span}: {looked}; {differ} would be treated differently"))?;
    for (count, what) in [
        (
            sidecars,
            "need a sidecar by these rules; whether they had one is not recorded, so only the rest was compared",
        ),
        (pages, "can't be compared: a rule depends on the text of their pages, which is not recorded"),
        (nameless, "can't be compared: their names are no longer kept"),
        (damaged, "can't be read; `mailchute audit` says more"),
        (others, "came from no folder of this configuration"),
    ] {
        if count > 0 {
            super::say(&format!("  {count} {what}"))?;
        }
    }
    Ok(())
}

/// Why a letter waited when it was taken in, under its folder's terms then.
fn held_at_first(history: &[(Time, Fact)]) -> Option<Reason> {
    let Some((_, Fact::Held(reason))) = history.get(1) else { return None };
    let by_terms = matches!(
        reason,
        Reason::Approval
            | Reason::OwnerNotProved
            | Reason::Duplicate(_)
            | Reason::Limit(_)
            | Reason::Elsewhere(_)
            | Reason::Misplaced(_)
    );
    by_terms.then(|| reason.clone())
}

/// How much is known of what a letter would be.
enum Comparison {
    Wholly,
    NotItsSidecar,
    /// A rule depends on the text of its pages.
    NotItsPages,
    Nothing,
}

/// A folder as it is configured now.
struct CurrentFolder<'a> {
    folder: &'a Folder,
    book: Result<Option<AddressBook>, String>,
}

impl<'a> CurrentFolder<'a> {
    fn of(folder: &'a Folder) -> Self {
        let book = folder.book.as_ref().map(Book::read).transpose();
        Self { folder, book: book.map(|read| read.map(|(book, _)| book)) }
    }

    /// What would be treated differently of a letter. What the letter would be is noted in `earlier`.
    fn again(
        &self,
        letter: &Letter,
        name: &str,
        was: Option<&Reason>,
        past: &Past,
        earlier: &mut Earlier,
    ) -> (Vec<String>, Comparison) {
        if letter.order.is_anonymous() {
            return (Vec::new(), Comparison::Nothing);
        }
        let folder = self.folder;
        let at = letter.admitted_at;
        // The time of arrival decides, which may be long before it became a letter.
        let arrived = letter.entry.parse::<Ulid>().map_or(at, |ulid| ulid.time());
        let arrived = arrived.with_timezone(&folder.zone).naive_local();
        let book = self.book.as_ref().map(Option::as_ref).map_err(String::as_str);
        let (order, mut differs, told) = match folder.rules.again(name, arrived, &letter.order, book) {
            Again::Sent { order, differs, untold: false } => (order, differs, Comparison::Wholly),
            Again::Sent { order, differs, untold: true } => (order, differs, Comparison::NotItsSidecar),
            Again::ByItsPages => return (Vec::new(), Comparison::NotItsPages),
            Again::Refused(refusal) => {
                let cause = folder.language.refusal(&refusal).cause;
                return (vec![format!("would be rejected: {cause}")], Comparison::Wholly);
            }
            Again::Waits(waiting) => {
                let cause = folder.language.waiting(&waiting, &folder.names).cause;
                return (vec![format!("would wait before it is a letter: {cause}")], Comparison::Wholly);
            }
        };
        differs.extend(self.posting_time(letter, at));
        let weighed = Weighed {
            sheets: order.sheets(),
            elsewhere: order.receiver.address.elsewhere(),
            // Lists of postal codes of the past are not kept.
            misplaced: letter.order.misplaced().cloned(),
        };
        let terms = folder.terms(at);
        let is = terms.hold(&past.counts(&order, &terms, at), &weighed);
        earlier.would_be(&order, is.is_some());
        differs.extend(waits_otherwise(was, is.as_ref()));
        (differs, told)
    }

    fn posting_time(&self, letter: &Letter, at: Time) -> Option<String> {
        let zone = self.folder.zone;
        let told = |time: Option<Time>| {
            time.map_or_else(|| "immediately".to_owned(), |time| table::time(time, zone))
        };
        let (was, is) = (letter.order.not_before, self.folder.waits_until(at));
        (was != is).then(|| format!("would be posted {} instead of {}", told(is), told(was)))
    }
}

fn waits_otherwise(was: Option<&Reason>, is: Option<&Reason>) -> Option<String> {
    match (was, is) {
        (None, Some(reason)) => Some(format!("would wait for a person: {reason}")),
        (Some(reason), None) => Some(format!("would not wait for a person; it did: {reason}")),
        (Some(was), Some(is)) if discriminant(was) != discriminant(is) => {
            Some(format!("would wait for another reason: {is}"))
        }
        (Some(_), Some(_)) | (None, None) => None,
    }
}
