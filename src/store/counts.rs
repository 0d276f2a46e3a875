//! What there was before a letter that is taken in: earlier ones like it, and how many today.

use rusqlite::params;

use super::millis;
use super::moves::{Batch, RecordError};
use super::read::{self, number};
use crate::clock::Time;
use crate::guard::{Counts, Terms};
use crate::letter::{Number, Order};

impl Batch<'_> {
    /// What there was before a letter, as far as its terms ask.
    pub(super) fn counts(&self, order: &Order, terms: &Terms, now: Time) -> Result<Counts, RecordError> {
        let mut counts = Counts::default();
        if let Some(since) = terms.duplicates_since {
            counts.duplicate_of = self.duplicate(order, since)?;
        }
        if terms.letters_per_day.is_some() || terms.sheets_per_day.is_some() {
            (counts.letters_today, counts.sheets_today) = self.sent_since(&order.source, terms.day_began)?;
        }
        if let Some(since) = terms.lately(now) {
            (counts.letters_lately, _) = self.sent_since(&order.source, since)?;
        }
        Ok(counts)
    }

    fn sent_since(&self, source: &str, since: Time) -> Result<(u32, u32), RecordError> {
        let sql = "SELECT count(*), coalesce(sum(sheets), 0) FROM letter WHERE source = ?1
                   AND admitted_at >= ?2 AND state NOT IN ('held', 'withdrawn', 'cancelled')";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.db.prepare_cached(sql)?.query_row(params![source, millis(since)], row)?)
    }

    /// A letter with the same documents and receiver that is or may be posted.
    fn duplicate(&self, order: &Order, since: Time) -> Result<Option<Number>, RecordError> {
        let Some(first) = order.documents.first() else { return Ok(None) };
        let sql = "SELECT letter FROM document JOIN letter ON letter.number = document.letter
                   WHERE sha256 = ?1 AND n = 0 AND admitted_at >= ?2
                   AND state NOT IN ('withdrawn', 'cancelled') ORDER BY letter";
        let mut statement = self.db.prepare_cached(sql)?;
        let found = statement.query_map(params![first.sha256, millis(since)], |row| number(row, 0))?;
        for number in found {
            let Some(letter) = read::letter(self.db, number?)? else { continue };
            let documents = |order: &Order| -> Vec<String> {
                order.documents.iter().map(|document| document.sha256.clone()).collect()
            };
            if letter.order.receiver == order.receiver && documents(&letter.order) == documents(order) {
                return Ok(Some(letter.number));
            }
        }
        Ok(None)
    }
}
