//! When what is due is due: put off, or brought forward with the clock.

use chrono::TimeDelta;

use super::moves::RecordError;
use super::{Store, millis, signed};
use crate::clock::Time;
use crate::letter::Number;

impl Store {
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
