//! The status in numbers, for the people who run mailchute.

use rusqlite::OptionalExtension as _;
use serde::{Deserialize, Serialize};

use super::rows::stages;
use super::{Desk, StoreError, alarms, counts, read, time};
use crate::base::clock::Time;
use crate::domain::alarm::Raised;
use crate::domain::letter::{Number, Progress};

/// The maximum number listed.
const WAITING: u32 = 20;

/// Letters of a folder in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    pub state: String,
    pub folder: String,
    pub letters: u64,
}

/// A letter, and since when it is in its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    pub letter: Number,
    pub folder: String,
    pub state: String,
    pub since: Time,
    pub why: Option<String>,
}

impl Desk {
    pub fn counts(&self) -> Result<Vec<Count>, StoreError> {
        let sql = "SELECT state, source, letters FROM standing WHERE letters > 0";
        let mut statement = self.db().prepare_cached(sql)?;
        let rows = statement.query_map([], |row| {
            Ok(Count { state: row.get(0)?, folder: row.get(1)?, letters: read::count(row, 2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether the counters match the `letter` table.
    pub(super) fn is_counted_right(&self) -> Result<bool, StoreError> {
        let sql = "WITH there AS (SELECT state, source, count(*) FROM letter GROUP BY state, source),
                   told AS (SELECT state, source, letters FROM standing WHERE letters <> 0)
                   SELECT NOT EXISTS (SELECT * FROM there EXCEPT SELECT * FROM told)
                      AND NOT EXISTS (SELECT * FROM told EXCEPT SELECT * FROM there)";
        Ok(self.db().query_row(sql, [], |row| row.get(0))?)
    }

    /// The letter that has been on its way to being posted for the longest time.
    pub fn oldest(&self) -> Result<Option<Since>, StoreError> {
        self.oldest_of(Progress::OnItsWay)
    }

    /// The oldest letter that is posted and has not shipped.
    pub fn oldest_followed(&self) -> Result<Option<Since>, StoreError> {
        self.oldest_of(Progress::Followed)
    }

    fn oldest_of(&self, phase: Progress) -> Result<Option<Since>, StoreError> {
        let stages = stages(|stage| stage.progress() == phase);
        let sql = format!(
            "SELECT number, source, state, admitted_at, trouble FROM letter WHERE state {stages}
             ORDER BY admitted_at LIMIT 1"
        );
        Ok(self.db().prepare_cached(&sql)?.query_row([], since).optional()?)
    }

    /// Letters and sheets of a folder since then that count for its limits.
    pub fn sent_since(&self, folder: &str, since: Time) -> Result<(u32, u32), StoreError> {
        Ok(counts::sent_since(self.db(), folder, since)?)
    }

    /// Letters that wait for a person, the longest waiting first.
    pub fn held(&self) -> Result<Vec<Since>, StoreError> {
        let sql = "SELECT number, source, state, changed_at, trouble FROM letter WHERE state = 'held'
                   ORDER BY changed_at LIMIT ?1";
        let mut statement = self.db().prepare_cached(sql)?;
        Ok(statement.query_map([WAITING], since)?.collect::<Result<_, _>>()?)
    }

    pub fn alarms(&self) -> Result<Vec<Raised>, StoreError> {
        alarms::raised(self.db())
    }
}

fn since(row: &rusqlite::Row<'_>) -> rusqlite::Result<Since> {
    Ok(Since {
        letter: read::number(row, 0)?,
        folder: row.get(1)?,
        state: row.get(2)?,
        since: time(row.get(3)?),
        why: row.get(4)?,
    })
}
