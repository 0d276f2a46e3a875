//! When what is due is due: put off, or brought forward with the clock.

use chrono::TimeDelta;

use super::moves::RecordError;
use super::{Store, StoreError, millis, signed, time};
use crate::clock::Time;
use crate::letter::Number;

impl Store {
    /// The latest time that anything was recorded at.
    pub fn last_recorded(&self) -> Result<Option<Time>, StoreError> {
        let sql = "SELECT max(at) FROM (SELECT max(changed_at) AS at FROM letter
                   UNION ALL SELECT arrived_at FROM (SELECT arrived_at FROM original ORDER BY ulid DESC LIMIT 1))";
        let at: Option<i64> = self.reader().prepare_cached(sql)?.query_row([], |row| row.get(0))?;
        Ok(at.map(time))
    }

    /// The wall clock was set back: what is due later is due earlier by as much.
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
            Ok(batch.db.prepare_cached(accounts)?.execute(values).map(drop)?)
        })
        .await
    }

    /// Puts off a letter whose change could not be recorded.
    pub async fn put_off(&self, number: Number, until: Time, why: String) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE letter SET due_at = ?2, trouble = ?3 WHERE number = ?1";
            let values = rusqlite::params![signed(number.0), millis(until), why];
            Ok(batch.db.prepare_cached(sql)?.execute(values).map(drop)?)
        })
        .await
    }
}
