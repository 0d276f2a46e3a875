//! What counts for a letter's limits and duplicates, as it was and as it would have been. Pure. The same that
//! `store::counts` reads at admission.

use std::collections::HashMap;

use crate::base::clock::Time;
use crate::domain::address::Receiver;
use crate::domain::letter::{Fact, Letter, Number, Order};
use crate::domain::limits::{Counts, Terms};

/// A past letter, as it counts for later ones.
pub(super) struct Earlier {
    number: Number,
    source: String,
    at: Time,
    documents: Vec<String>,
    /// `None` if it is no longer known: perhaps the same.
    receiver: Option<Receiver>,
    sheets: u32,
    /// The states it went through, each with its beginning.
    states: Vec<(Time, &'static str)>,
    was_held: bool,
    would_be_held: bool,
}

fn documents(order: &Order) -> Vec<String> {
    order.documents.iter().map(|document| document.sha256.clone()).collect()
}

impl Earlier {
    pub(super) fn of(letter: &Letter, history: &[(Time, Fact)], was_held: bool) -> Self {
        let order = &letter.order;
        let mut then =
            Letter::admitted(letter.number, letter.entry.clone(), order.clone(), letter.admitted_at);
        let mut states = vec![(letter.admitted_at, then.state.word())];
        for (at, fact) in history.iter().skip(1) {
            if then.apply(fact, *at).is_ok() {
                states.push((*at, then.state.word()));
            }
        }
        Self {
            number: letter.number,
            source: order.source.clone(),
            at: letter.admitted_at,
            documents: documents(order),
            receiver: Some(order.receiver.clone()).filter(|_| !order.is_anonymous()),
            sheets: order.sheets(),
            states,
            was_held,
            would_be_held: was_held,
        }
    }

    /// What it would be under the current rules.
    pub(super) fn would_be(&mut self, order: &Order, held: bool) {
        self.receiver = Some(order.receiver.clone());
        self.sheets = order.sheets();
        self.would_be_held = held;
    }

    /// Whether it had ended by then without being posted.
    fn is_over(&self, then: Time) -> bool {
        let state = self.states.iter().rev().find(|(at, _)| *at <= then).map(|(_, state)| *state);
        matches!(state, Some("withdrawn" | "cancelled"))
    }

    fn counts(&self, then: Time) -> bool {
        let state = self.states.iter().rev().find(|(at, _)| *at <= then).map(|(_, state)| *state);
        match (self.was_held, self.would_be_held) {
            // As far as is known, it would still wait.
            (false, true) => false,
            (true, false) => !self.is_over(then),
            (false, false) | (true, true) => !matches!(state, Some("held" | "withdrawn" | "cancelled")),
        }
    }
}

/// Letters in the order in which they were taken in.
#[derive(Default)]
pub(super) struct Past {
    letters: Vec<Earlier>,
    by_folder: HashMap<String, Vec<usize>>,
    by_documents: HashMap<Vec<String>, Vec<usize>>,
}

impl Past {
    pub(super) fn add(&mut self, earlier: Earlier) {
        let index = self.letters.len();
        self.by_folder.entry(earlier.source.clone()).or_default().push(index);
        self.by_documents.entry(earlier.documents.clone()).or_default().push(index);
        self.letters.push(earlier);
    }

    pub(super) fn counts(&self, order: &Order, terms: &Terms, now: Time) -> Counts {
        let (letters_today, sheets_today) = self.sent_since(&order.source, terms.day_began, now);
        let lately = terms.lately(now).map(|since| self.sent_since(&order.source, since, now).0);
        Counts {
            duplicate_of: terms.duplicates_since.and_then(|since| self.duplicate(order, since, now)),
            letters_today,
            sheets_today,
            letters_lately: lately.unwrap_or_default(),
            usually: None,
        }
    }

    fn sent_since(&self, folder: &str, since: Time, now: Time) -> (u32, u32) {
        let folder = self.by_folder.get(folder).into_iter().flatten().rev();
        let letters = folder.map(|index| &self.letters[*index]).take_while(|letter| letter.at >= since);
        let counted = letters.filter(|letter| letter.counts(now));
        counted.fold((0, 0), |(letters, sheets), letter| (letters + 1, sheets + letter.sheets))
    }

    /// In any folder.
    fn duplicate(&self, order: &Order, since: Time, now: Time) -> Option<Number> {
        let same = self.by_documents.get(&documents(order)).into_iter().flatten();
        let mut same = same.map(|index| &self.letters[*index]);
        let found = same.find(|letter| {
            let to_the_same = letter.receiver.as_ref().is_none_or(|receiver| *receiver == order.receiver);
            letter.at >= since && to_the_same && !letter.is_over(now)
        });
        found.map(|letter| letter.number)
    }
}
