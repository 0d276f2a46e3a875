//! Alarms that were raised, and how far they were told.

use rusqlite::params;

use super::moves::RecordError;
use super::news::{ALARM, ALARM_OVER, owe};
use super::{Store, StoreError, millis, time};
use crate::base::clock::Time;
use crate::domain::alarm::{Alarm, Raised, Turn};

impl Store {
    pub fn alarms(&self) -> Result<Vec<Raised>, StoreError> {
        raised(&self.reader())
    }

    /// Something is wrong, or still is.
    pub async fn raise(&self, alarm: Alarm, detail: String, at: Time) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "INSERT INTO alarm (cause, detail, since) VALUES (?1, ?2, ?3)
                       ON CONFLICT (cause) DO UPDATE SET fine_since = NULL, detail = ?2";
            let values = params![alarm.to_string(), detail, millis(at)];
            Ok(batch.db.prepare_cached(sql)?.execute(values).map(drop)?)
        })
        .await
    }

    /// It is fine again.
    pub async fn calm(&self, alarm: Alarm, at: Time) -> Result<(), RecordError> {
        let cause = alarm.to_string();
        if !self.alarms()?.iter().any(|raised| raised.alarm == alarm && raised.fine_since.is_none()) {
            return Ok(());
        }
        self.write(move |batch| {
            let sql = "UPDATE alarm SET fine_since = ?2 WHERE cause = ?1 AND fine_since IS NULL";
            Ok(batch.db.prepare_cached(sql)?.execute(params![cause, millis(at)]).map(drop)?)
        })
        .await
    }

    /// Does what is to be done about every alarm: what is told now becomes owed. Gives when there is more.
    pub async fn turn_alarms(&self, now: Time) -> Result<Option<Time>, RecordError> {
        let turns: Vec<(Raised, Turn)> = self
            .alarms()?
            .into_iter()
            .map(|raised| (raised.turn(now), raised))
            .map(|(t, r)| (r, t))
            .collect();
        let next = turns.iter().filter_map(|(_, turn)| match turn {
            Turn::Wait(next) => *next,
            Turn::Tell | Turn::TellOver | Turn::Forget => None,
        });
        let next = next.min();
        for (raised, turn) in turns {
            if !matches!(turn, Turn::Wait(_)) {
                self.turn_alarm(raised, turn, now).await?;
            }
        }
        Ok(next)
    }

    async fn turn_alarm(&self, raised: Raised, turn: Turn, now: Time) -> Result<(), RecordError> {
        self.write(move |batch| {
            let cause = raised.alarm.to_string();
            let about = millis(raised.since).to_string();
            let tell = |notice| owe(batch.db, &cause, notice, &about, Some(&raised.detail), now);
            match turn {
                Turn::Tell => {
                    tell(ALARM)?;
                    let sql = "UPDATE alarm SET told_at = ?2 WHERE cause = ?1";
                    batch.db.prepare_cached(sql)?.execute(params![cause, millis(now)])?;
                }
                Turn::TellOver => {
                    tell(ALARM_OVER)?;
                    batch.db.prepare_cached("DELETE FROM alarm WHERE cause = ?1")?.execute([&cause])?;
                }
                Turn::Forget => {
                    batch.db.prepare_cached("DELETE FROM alarm WHERE cause = ?1")?.execute([&cause])?;
                }
                Turn::Wait(_) => {}
            }
            Ok(())
        })
        .await
    }
}

pub(super) fn raised(db: &rusqlite::Connection) -> Result<Vec<Raised>, StoreError> {
    let mut statement =
        db.prepare_cached("SELECT cause, detail, since, told_at, fine_since FROM alarm ORDER BY since")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let cause: String = row.get(0)?;
        let (told, fine): (Option<i64>, Option<i64>) = (row.get(3)?, row.get(4)?);
        let Ok(alarm) = cause.parse() else { continue };
        let (detail, since) = (row.get(1)?, time(row.get(2)?));
        found.push(Raised { alarm, detail, since, told: told.is_some(), fine_since: fine.map(time) });
    }
    Ok(found)
}
