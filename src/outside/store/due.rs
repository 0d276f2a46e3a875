//! Due times: postponed, or brought forward when the clock was set back.

use chrono::TimeDelta;
use rusqlite::{Connection, OptionalExtension as _};

use super::moves::RecordError;
use super::{Store, StoreError, millis, signed, time};
use crate::base::clock::Time;
use crate::domain::letter::Number;

impl Store {
    /// The latest recorded time: of a fact, an arrival, or a clock that was set back. What was recorded
    /// before a noticed set-back is no evidence for later starts.
    pub fn last_recorded(&self) -> Result<Option<Time>, StoreError> {
        let db = self.reader();
        let noticed = noticed(&db)?;
        let (fact, original) = last_rows(&db)?;
        let (fact, original) = (
            fact.filter(|(seq, _)| *seq > noticed.fact).map(|(_, at)| at),
            original.filter(|(row, _)| *row > noticed.original).map(|(_, at)| at),
        );
        Ok([fact, original, noticed.at].into_iter().flatten().max().map(time))
    }

    /// The wall clock was set back by this amount: later due times become earlier by as much.
    pub async fn bring_forward(&self, by: TimeDelta, now: Time) -> Result<(), RecordError> {
        self.write(move |batch| {
            let values = rusqlite::params![by.num_milliseconds(), millis(now)];
            let letters = "UPDATE letter SET due_at = max(due_at - ?1, ?2) WHERE due_at > ?2";
            batch.db.prepare_cached(letters)?.execute(values)?;
            let originals = "UPDATE original SET due_at = max(due_at - ?1, ?2) WHERE due_at > ?2";
            batch.db.prepare_cached(originals)?.execute(values)?;
            let emails = "UPDATE email SET due_at = max(due_at - ?1, ?2) WHERE due_at > ?2";
            batch.db.prepare_cached(emails)?.execute(values)?;
            let sealed = "UPDATE sealed SET due_at = max(due_at - ?1, ?2) WHERE due_at > ?2";
            batch.db.prepare_cached(sealed)?.execute(values)?;
            let accounts = "UPDATE account SET probe_at = max(probe_at - ?1, ?2) WHERE probe_at > ?2";
            batch.db.prepare_cached(accounts)?.execute(values)?;
            let (fact, original) = last_rows(batch.db)?;
            let row = |last: Row| last.map_or(0, |(row, _)| row);
            let text = format!("{} {} {}", row(fact), row(original), millis(now));
            let noticed = "INSERT INTO meta VALUES ('clock set back', ?1)
                           ON CONFLICT (key) DO UPDATE SET value = ?1";
            Ok(batch.db.prepare_cached(noticed)?.execute([text]).map(drop)?)
        })
        .await
    }

    /// Postpones a letter whose change could not be recorded.
    pub async fn put_off(&self, number: Number, until: Time, why: String) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE letter SET due_at = ?2, trouble = ?3 WHERE number = ?1";
            let values = rusqlite::params![signed(number.0), millis(until), why];
            Ok(batch.db.prepare_cached(sql)?.execute(values).map(drop)?)
        })
        .await
    }
}

/// The last rows at the moment when the clock was found set back, and the time it showed then.
#[derive(Debug, Default)]
struct Noticed {
    fact: i64,
    original: i64,
    at: Option<i64>,
}

fn noticed(db: &Connection) -> rusqlite::Result<Noticed> {
    let sql = "SELECT value FROM meta WHERE key = 'clock set back'";
    let text: Option<String> = db.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    let numbers: Vec<i64> =
        text.iter().flat_map(|text| text.split(' ')).filter_map(|number| number.parse().ok()).collect();
    let [fact, original, at] = numbers[..] else { return Ok(Noticed::default()) };
    Ok(Noticed { fact, original, at: Some(at) })
}

/// The position of a row in the order of writing, and its time in milliseconds.
type Row = Option<(i64, i64)>;

/// The last fact and the last arrival.
fn last_rows(db: &Connection) -> rusqlite::Result<(Row, Row)> {
    let row = |sql: &str| -> rusqlite::Result<Row> {
        db.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()
    };
    let fact = "SELECT seq, changed_at FROM fact JOIN letter ON letter.number = fact.letter
                ORDER BY seq DESC LIMIT 1";
    let original = "SELECT rowid, arrived_at FROM original ORDER BY rowid DESC LIMIT 1";
    Ok((row(fact)?, row(original)?))
}
