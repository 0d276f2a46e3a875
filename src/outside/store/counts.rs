//! What came before a letter that is taken in: earlier letters like it, and today's number.

use rusqlite::{Connection, params};

use super::moves::{Batch, RecordError};
use super::read::{self, number};
use super::{StoreError, millis, rows};
use crate::base::clock::Time;
use crate::domain::letter::{Number, Order};
use crate::domain::limits::{Counts, Terms};

/// Letters with the same first document that may have the same receiver, the oldest first. Each half has the order of
/// the index, so the first is found without reading the others, of which a flood makes thousands.
const SENT_BEFORE: &str = "SELECT letter FROM document JOIN letter ON letter.number = document.letter
        WHERE sha256 = ?1 AND receiver = ?2 AND n = 0 AND admitted_at >= ?3
        AND state NOT IN ('withdrawn', 'cancelled')
    UNION ALL SELECT letter FROM document JOIN letter ON letter.number = document.letter
        WHERE sha256 = ?1 AND receiver = '' AND n = 0 AND admitted_at >= ?3
        AND state NOT IN ('withdrawn', 'cancelled')
    ORDER BY letter";

/// The letters of a folder, under each of its names, since then that count for its limits.
const COUNTED: &str = "FROM letter INDEXED BY letter_counted
    WHERE source IN (SELECT ?1 UNION SELECT old FROM renamed WHERE name = ?1) AND admitted_at >= ?2
    AND state <> 'held' AND state <> 'withdrawn' AND state <> 'cancelled'";

impl Batch<'_> {
    /// What came before a letter, as far as its terms need it.
    pub(super) fn counts(&self, order: &Order, terms: &Terms, now: Time) -> Result<Counts, RecordError> {
        let mut counts = Counts::default();
        if let Some(since) = terms.duplicates_since {
            counts.duplicate_of = self.duplicate(order, since)?;
        }
        let is_counted_by_day = terms.letters_per_day.is_some() || terms.sheets_per_day.is_some();
        let (today, lately) = (is_counted_by_day.then_some(terms.day_began), terms.lately(now));
        self.sent(&order.source, today, lately, &mut counts)?;
        let is_burst = |(letters, _)| counts.letters_lately >= letters;
        if lately.is_some() && terms.burst.is_some_and(is_burst) {
            counts.usually = self.usually(&order.source, now)?;
        }
        Ok(counts)
    }

    /// Counts the letters of a folder since each of two times. Both counts read the same rows, so they are read once.
    fn sent(
        &self,
        source: &str,
        today: Option<Time>,
        lately: Option<Time>,
        counts: &mut Counts,
    ) -> Result<(), RecordError> {
        let Some(since) = today.into_iter().chain(lately).min() else { return Ok(()) };
        let sql = format!(
            "SELECT coalesce(sum(admitted_at >= ?3), 0), coalesce(sum(iif(admitted_at >= ?3, sheets, 0)), 0),
             coalesce(sum(admitted_at >= ?4), 0) {COUNTED}"
        );
        let from = |time: Option<Time>| time.map_or(i64::MAX, millis);
        let values = params![source, millis(since), from(today), from(lately)];
        (counts.letters_today, counts.sheets_today, counts.letters_lately) = self
            .db
            .prepare_cached(&sql)?
            .query_row(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(())
    }

    /// The number of letters on a day with letters, over the last four weeks, and the number in the last day
    /// including this one.
    fn usually(&self, source: &str, now: Time) -> Result<Option<(u32, u32)>, RecordError> {
        const DAY: i64 = 86_400_000;
        // At most this many rows are read.
        let sql = "SELECT count(*), count(DISTINCT (?2 - admitted_at) / ?4) FROM
                   (SELECT admitted_at FROM letter WHERE source = ?1 AND admitted_at > ?3
                    AND admitted_at <= ?2 - ?4 ORDER BY admitted_at DESC LIMIT 1000)";
        let values = params![source, millis(now), millis(now) - 28 * DAY, DAY];
        let (before, days): (u32, u32) =
            self.db.prepare_cached(sql)?.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let sql =
            "SELECT count(*) FROM (SELECT 1 FROM letter WHERE source = ?1 AND admitted_at > ?2 LIMIT 1000)";
        let today: u32 =
            self.db.prepare_cached(sql)?.query_row(params![source, millis(now) - DAY], |row| row.get(0))?;
        Ok(before.checked_div(days).map(|usually| (usually, today.saturating_add(1))))
    }

    /// A letter with the same documents and receiver that is or may be posted.
    fn duplicate(&self, order: &Order, since: Time) -> Result<Option<Number>, RecordError> {
        let Some(first) = order.documents.first() else { return Ok(None) };
        let mut statement = self.db.prepare_cached(SENT_BEFORE)?;
        let values = params![first.sha256, rows::receiver_mark(order), millis(since)];
        let found = statement.query_map(values, |row| number(row, 0))?;
        for number in found {
            let number = number?;
            let letter = match read::letter(self.db, number) {
                Ok(Some(letter)) => letter,
                Ok(None) => continue,
                // Nobody knows to whom it went.
                Err(StoreError::Damaged(_)) => return Ok(Some(number)),
                Err(error) => return Err(error.into()),
            };
            let documents = |order: &Order| -> Vec<String> {
                order.documents.iter().map(|document| document.sha256.clone()).collect()
            };
            // A letter whose names were removed may have gone to the same receiver.
            let to_the_same = letter.order.receiver == order.receiver || letter.order.is_anonymous();
            if to_the_same && documents(&letter.order) == documents(order) {
                return Ok(Some(letter.number));
            }
        }
        Ok(None)
    }
}

/// Letters and sheets of a folder since then that count for its limits.
pub(super) fn sent_since(db: &Connection, source: &str, since: Time) -> rusqlite::Result<(u32, u32)> {
    let sql = format!("SELECT count(*), coalesce(sum(sheets), 0) {COUNTED}");
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    db.prepare_cached(&sql)?.query_row(params![source, millis(since)], row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::store::schema;

    #[test]
    fn only_the_oldest_letter_of_one_document_to_one_receiver_is_read() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {SENT_BEFORE}")).unwrap();
        let steps = plan.query_map(["a", "b", "0"], |row| row.get("detail")).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        let of_documents =
            steps.iter().filter(|step| step.contains("document_sent (sha256=? AND receiver=?)"));
        assert_eq!(of_documents.count(), 2, "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("SCAN") || step.contains("TEMP")), "{steps:?}");
    }
}
