//! Alarms that were raised, and how far they were reported.

use rusqlite::params;

use super::moves::RecordError;
use super::news::{ALARM, ALARM_OVER, owe};
use super::{Store, StoreError, millis, time};
use crate::base::clock::Time;
use crate::domain::alarm::{Alarm, AlarmStep, Raised};

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

    /// The trouble is away.
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

    /// Does what must be done about every alarm. What must be reported becomes owed. Returns when there is
    /// more to do.
    pub async fn report_alarms(&self, now: Time) -> Result<Option<Time>, RecordError> {
        let steps: Vec<(Raised, AlarmStep)> = self
            .alarms()?
            .into_iter()
            .map(|raised| (raised.next_step(now), raised))
            .map(|(t, r)| (r, t))
            .collect();
        let next = steps.iter().filter_map(|(_, next_step)| match next_step {
            AlarmStep::Wait(next) => *next,
            AlarmStep::Tell | AlarmStep::TellOver | AlarmStep::Forget => None,
        });
        let next = next.min();
        for (raised, next_step) in steps {
            if !matches!(next_step, AlarmStep::Wait(_)) {
                self.report_alarm(raised, next_step, now).await?;
            }
        }
        Ok(next)
    }

    async fn report_alarm(&self, raised: Raised, next_step: AlarmStep, now: Time) -> Result<(), RecordError> {
        self.write(move |batch| {
            let cause = raised.alarm.to_string();
            let about = millis(raised.since).to_string();
            let tell = |notice| owe(batch.db, &cause, notice, &about, Some(&raised.detail), now);
            match next_step {
                AlarmStep::Tell => {
                    tell(ALARM)?;
                    let sql = "UPDATE alarm SET told_at = ?2 WHERE cause = ?1";
                    batch.db.prepare_cached(sql)?.execute(params![cause, millis(now)])?;
                }
                AlarmStep::TellOver => {
                    tell(ALARM_OVER)?;
                    batch.db.prepare_cached("DELETE FROM alarm WHERE cause = ?1")?.execute([&cause])?;
                }
                AlarmStep::Forget => {
                    batch.db.prepare_cached("DELETE FROM alarm WHERE cause = ?1")?.execute([&cause])?;
                }
                AlarmStep::Wait(_) => {}
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
