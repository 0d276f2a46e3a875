//! Everything that happened, in memory, with an index by mail.

use std::collections::{BTreeMap, HashMap};

use super::world::{Entry, MailId};

/// Everything that happened, with an index by mail.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    entries: BTreeMap<u64, Entry>,
    /// How many were ever entered.
    pub(super) count: u64,
    by_mail: HashMap<MailId, Vec<u64>>,
}

impl Ledger {
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let mut ledger = Self::default();
        for entry in entries {
            ledger.push(entry);
        }
        ledger
    }

    pub(super) fn push(&mut self, entry: Entry) {
        if let Some(mail) = &entry.mail {
            self.by_mail.entry(mail.clone()).or_default().push(self.count);
        }
        self.entries.insert(self.count, entry);
        self.count += 1;
    }

    /// Those after so many, with their places among all.
    pub(super) fn after(&self, count: u64) -> impl Iterator<Item = (u64, &Entry)> {
        self.entries.range(count..).map(|(number, entry)| (*number, entry))
    }

    pub(super) fn of_mail(&self, mail: &MailId) -> impl Iterator<Item = &Entry> {
        self.by_mail.get(mail).into_iter().flatten().filter_map(|number| self.entries.get(number))
    }

    pub(super) fn keep_newest(&mut self, most: usize) {
        while self.entries.len() > most {
            let Some((number, oldest)) = self.entries.pop_first() else { return };
            let Some(mail) = oldest.mail else { continue };
            if let Some(numbers) = self.by_mail.get_mut(&mail) {
                numbers.retain(|one| *one != number);
                if numbers.is_empty() {
                    self.by_mail.remove(&mail);
                }
            }
        }
    }

    pub(super) fn forget(&mut self, mail: &MailId) {
        for number in self.by_mail.remove(mail).into_iter().flatten() {
            self.entries.remove(&number);
        }
    }
}
