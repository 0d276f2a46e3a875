//! Recurring times: when each was last and is next. A time that was missed is made up for once.

use rusqlite::{OptionalExtension as _, params};

use super::moves::RecordError;
use super::news::{DIGEST, owe};
use super::{Store, StoreError, millis, time};
use crate::base::clock::Time;

/// A recurring time, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduled {
    /// As it is configured. A changed line begins anew.
    pub line: String,
    pub last_at: Time,
    pub due_at: Time,
}

impl Store {
    pub fn scheduled(&self, name: &str) -> Result<Option<Scheduled>, StoreError> {
        let sql = "SELECT line, last_at, due_at FROM schedule WHERE name = ?1";
        let row = |row: &rusqlite::Row<'_>| {
            Ok(Scheduled { line: row.get(0)?, last_at: time(row.get(1)?), due_at: time(row.get(2)?) })
        };
        Ok(self.reader().prepare_cached(sql)?.query_row([name], row).optional()?)
    }

    pub async fn schedule(&self, name: &'static str, scheduled: Scheduled) -> Result<(), RecordError> {
        self.write(move |batch| put(batch.db, name, &scheduled)).await
    }

    /// The digest since `last_at` becomes owed, and its next time is stored. Both or neither.
    pub async fn owe_digest(&self, since: Time, now: Time, next: Scheduled) -> Result<(), RecordError> {
        self.write(move |batch| {
            let (about, since) = (millis(now).to_string(), millis(since).to_string());
            owe(batch.db, DIGEST, DIGEST, &about, Some(&since), now)?;
            put(batch.db, DIGEST, &next)
        })
        .await
    }
}

fn put(db: &rusqlite::Connection, name: &str, scheduled: &Scheduled) -> Result<(), RecordError> {
    let sql = "INSERT INTO schedule (name, line, last_at, due_at) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (name) DO UPDATE SET line = ?2, last_at = ?3, due_at = ?4";
    let Scheduled { line, last_at, due_at } = scheduled;
    db.prepare_cached(sql)?.execute(params![name, line, millis(*last_at), millis(*due_at)])?;
    Ok(())
}
