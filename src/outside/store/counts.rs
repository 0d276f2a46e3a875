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

/// Letters and sheets that count for the limits of a folder under one name, between two times.
const SENT: &str = "SELECT count(*), coalesce(sum(sheets), 0) FROM letter INDEXED BY letter_counted
    WHERE source = ?1 AND admitted_at >= ?2 AND admitted_at < ?3 AND counted = 1";

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

    /// Counts the letters of a folder since each of two times. Those since the later time are read once for both.
    fn sent(
        &self,
        source: &str,
        today: Option<Time>,
        lately: Option<Time>,
        counts: &mut Counts,
    ) -> Result<(), RecordError> {
        let from = |time: Option<Time>| time.map_or(i64::MAX, millis);
        let (today, lately) = (from(today), from(lately));
        let (first, second) = (today.min(lately), today.max(lately));
        if first == i64::MAX {
            return Ok(());
        }
        for name in every_name(self.db, source)? {
            let (letters_before, sheets_before) = sent_between(self.db, &name, first, second)?;
            let (letters, sheets) = sent_between(self.db, &name, second, i64::MAX)?;
            let since = |time, before, after| if time == first { before + after } else { after };
            counts.letters_today += since(today, letters_before, letters);
            counts.sheets_today += since(today, sheets_before, sheets);
            counts.letters_lately += since(lately, letters_before, letters);
        }
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
    every_name(db, source)?.iter().try_fold((0, 0), |(letters, sheets), name| {
        let more = sent_between(db, name, millis(since), i64::MAX)?;
        Ok((letters + more.0, sheets + more.1))
    })
}

fn sent_between(db: &Connection, name: &str, from: i64, until: i64) -> rusqlite::Result<(u32, u32)> {
    db.prepare_cached(SENT)?.query_row(params![name, from, until], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// A folder's name, and those that it had.
fn every_name(db: &Connection, source: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare_cached("SELECT old FROM renamed WHERE name = ?1 AND old <> ?1")?;
    let former = statement.query_map([source], |row| row.get(0))?;
    std::iter::once(Ok(source.to_owned())).chain(former).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::store::moves::Gathered;
    use crate::outside::store::schema;

    /// When letters were taken in under each name of a folder, and whether they count.
    const LETTERS: [(&str, i64, bool); 7] = [
        ("now", 1000, true),
        ("now", 2000, true),
        ("now", 2000, false),
        ("now", 3000, true),
        ("former", 1000, true),
        ("former", 3000, true),
        ("other", 2000, true),
    ];

    #[test]
    fn letters_are_counted_since_each_of_two_times_under_every_name_of_their_folder() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        db.execute("INSERT INTO renamed VALUES ('former', 'now'), ('now', 'now')", []).unwrap();
        for (number, (source, at, counted)) in (1..).zip(LETTERS) {
            let sql = "INSERT INTO letter (number, ulid, account, source, admitted_at, state, facts, changed_at, urgency, sheets, counted)
                       VALUES (?1, ?1, 'a', ?2, ?3, 'admitted', 1, 0, 1, 1 << ?1, ?4)";
            db.execute(sql, params![number, source, at, counted]).unwrap();
        }
        let expected = |since: Option<i64>| {
            let ours = (1_u32..).zip(LETTERS).filter(|(_, (source, at, counted))| {
                *source != "other" && *counted && since.is_some_and(|since| *at >= since)
            });
            ours.fold((0, 0), |(letters, sheets), (number, _)| (letters + 1, sheets + (1 << number)))
        };
        let times = [None, Some(0), Some(1000), Some(1001), Some(2000), Some(3000), Some(3001)];
        for (today, lately) in times.iter().flat_map(|today| times.map(|lately| (*today, lately))) {
            let (mut gathered, mut counts) = (Gathered::default(), Counts::default());
            let batch = gathered.batch(&db, 1);
            let at = |time: Option<i64>| time.map(crate::outside::store::time);
            batch.sent("now", at(today), at(lately), &mut counts).unwrap();
            assert_eq!((counts.letters_today, counts.sheets_today), expected(today), "{today:?}, {lately:?}");
            assert_eq!(counts.letters_lately, expected(lately).0, "{today:?}, {lately:?}");
            if let Some(since) = today {
                let since = crate::outside::store::time(since);
                assert_eq!(sent_since(&db, "now", since).unwrap(), expected(today));
            }
        }
    }

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

    #[test]
    fn letters_that_count_for_limits_are_read_from_their_index_only() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        let plan = format!("EXPLAIN QUERY PLAN {SENT}");
        let step: String = db.query_row(&plan, params!["f", 0, 1], |row| row.get("detail")).unwrap();
        assert!(
            step.contains(
                "USING COVERING INDEX letter_counted (source=? AND admitted_at>? AND admitted_at<?)"
            ),
            "{step}"
        );
    }
}
