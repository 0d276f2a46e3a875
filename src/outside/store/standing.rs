//! The status in numbers, for the people who run mailchute.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::rows::stages;
use super::{Desk, StoreError, alarms, counts, millis, read, signed, time};
use crate::base::clock::Time;
use crate::domain::alarm::Raised;
use crate::domain::drop::{showable, shown};
use crate::domain::letter::{Letter, Number, Progress, Stage};

/// The maximum number listed.
const WAITING: u32 = 20;
/// How many of the last letters tell how long letters take.
const LATELY: u32 = 200;
/// They are looked for among this number of the newest ones.
const NEWEST: u32 = 10_000;

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

/// How long letters took, of those that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Took {
    pub letters: usize,
    /// Half of them took no longer.
    pub half: TimeDelta,
    /// Nine of ten took no longer.
    pub most: TimeDelta,
}

impl Took {
    fn of(mut times: Vec<i64>) -> Option<Self> {
        times.sort_unstable();
        let letters = times.len();
        let at = |part: usize| TimeDelta::milliseconds(times[(letters * part).div_ceil(10) - 1].max(0));
        (letters > 0).then(|| Self { letters, half: at(5), most: at(9) })
    }
}

/// What happens next to a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextLook {
    pub letter: Number,
    pub state: String,
    pub at: Time,
}

/// How the numbers of letters change in a commit, by folder. With a million letters they cannot be counted each time.
#[derive(Debug, Default)]
pub(super) struct CountChanges(BTreeMap<String, BTreeMap<Stage, i64>>);

impl CountChanges {
    /// A letter is in this stage now. Before, it was in the other one, or was not there.
    pub(super) fn moved(&mut self, letter: &Letter, from: Option<Stage>) {
        let to = letter.state.stage();
        if from == Some(to) {
            return;
        }
        let stages = self.0.entry(letter.order.source.clone()).or_default();
        *stages.entry(to).or_default() += 1;
        if let Some(from) = from {
            *stages.entry(from).or_default() -= 1;
        }
    }

    /// Writes the counters, in the transaction of the letters.
    pub(super) fn write(&self, db: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT INTO standing VALUES (?1, ?2, ?3)
                   ON CONFLICT (state, source) DO UPDATE SET letters = letters + ?3";
        for (source, stages) in &self.0 {
            for (stage, change) in stages.iter().filter(|(_, change)| **change != 0) {
                db.prepare_cached(sql)?.execute(params![stage.word(), source, change])?;
            }
        }
        Ok(())
    }
}

/// Whether the counters match the `letter` table.
pub(super) fn is_counted_right(db: &Connection) -> rusqlite::Result<bool> {
    let sql = "WITH there AS (SELECT state, source, count(*) FROM letter GROUP BY state, source),
               told AS (SELECT state, source, letters FROM standing WHERE letters <> 0)
               SELECT NOT EXISTS (SELECT * FROM there EXCEPT SELECT * FROM told)
                  AND NOT EXISTS (SELECT * FROM told EXCEPT SELECT * FROM there)";
    db.query_row(sql, [], |row| row.get(0))
}

/// Counts all letters anew: after changes that were not counted, or if the counters are not believed. Writes only what is
/// wrong, so that a start on a full disk goes on.
pub(super) fn count_again(db: &Connection) -> rusqlite::Result<()> {
    if is_counted_right(db)? {
        return Ok(());
    }
    db.execute_batch(
        "DELETE FROM standing; INSERT INTO standing SELECT state, source, count(*) FROM letter GROUP BY state, source",
    )
}

impl Desk {
    /// How long the last letters that were posted took from the drop until then, and the last that shipped until that
    /// was seen. What is older than the newest ten thousand does not count.
    pub fn took(&self) -> Result<(Option<Took>, Option<Took>), StoreError> {
        let arrived =
            "coalesce((SELECT arrived_at FROM original WHERE original.letter = number), admitted_at)";
        let posted = format!(
            "SELECT intent_at - {arrived} FROM letter JOIN mail ON mail.letter = number
             WHERE number > ?2 AND outcome IN ('confirmed', 'shipped') AND intent_at IS NOT NULL
             ORDER BY number DESC LIMIT ?1"
        );
        // What is learned later, as its tracking number, is another fact.
        let seen = "(SELECT 1000 * strftime('%s', json_extract(line, '$.at')) FROM fact
                     WHERE fact.letter = number AND instr(line, '\"fact\":{\"shipped\":') > 0)";
        let shipped = format!(
            "SELECT {seen} - {arrived} FROM
                 (SELECT number, admitted_at FROM letter WHERE number > ?2 AND +state = 'shipped'
                  ORDER BY number DESC LIMIT ?1)"
        );
        let before = "SELECT coalesce(max(number), 0) - ?1 FROM letter";
        let before: i64 = self.db().query_row(before, [NEWEST], |row| row.get(0))?;
        let took = |sql: &str| -> Result<Option<Took>, StoreError> {
            let mut statement = self.db().prepare_cached(sql)?;
            let times = statement.query_map(params![LATELY, before], |row| row.get::<_, Option<i64>>(0))?;
            let times: Vec<Option<i64>> = times.collect::<Result<_, _>>()?;
            Ok(Took::of(times.into_iter().flatten().collect()))
        };
        Ok((took(&posted)?, took(&shipped)?))
    }

    /// The letters that are looked at next, the first ones.
    pub fn next_looks(&self, now: Time, most: usize) -> Result<Vec<NextLook>, StoreError> {
        let sql = "SELECT number, state, due_at FROM letter
                   WHERE account = ?1 AND urgency = ?2 AND due_at > ?3 ORDER BY due_at LIMIT ?4";
        let mut statement = self.db().prepare_cached(sql)?;
        let mut looks: Vec<NextLook> = Vec::new();
        for account in self.due_accounts()? {
            for urgency in 0..=2 {
                let values = params![account, urgency, millis(now), signed(most as u64)];
                let found = statement.query_map(values, |row| {
                    Ok(NextLook { letter: read::number(row, 0)?, state: row.get(1)?, at: time(row.get(2)?) })
                })?;
                for look in found {
                    looks.push(look?);
                }
            }
        }
        looks.sort_by_key(|look| (look.at, look.letter));
        looks.truncate(most);
        Ok(looks)
    }

    /// The accounts with letters that are looked at again. Each is looked up in an index, whatever the number of letters.
    fn due_accounts(&self) -> Result<Vec<String>, StoreError> {
        let next = "SELECT min(account) FROM letter INDEXED BY letter_due WHERE due_at IS NOT NULL";
        let sql = format!(
            "WITH RECURSIVE found (account) AS (
                 {next} UNION ALL SELECT ({next} AND account > found.account) FROM found WHERE account IS NOT NULL)
             SELECT account FROM found WHERE account IS NOT NULL"
        );
        let mut statement = self.db().prepare_cached(&sql)?;
        let accounts = statement.query_map([], |row| row.get(0))?;
        Ok(accounts.collect::<Result<_, _>>()?)
    }

    /// When the next digest is due.
    pub fn next_digest(&self) -> Result<Option<Time>, StoreError> {
        let sql = "SELECT due_at FROM schedule WHERE name = ?1";
        let due = self.db().query_row(sql, [super::news::DIGEST], |row| row.get(0)).optional()?;
        Ok(due.map(time))
    }

    /// Where a letter's original lies, below its folder.
    pub fn lies_at(&self, letter: Number) -> Result<Option<String>, StoreError> {
        let sql =
            "SELECT shelved FROM original WHERE letter = ?1 AND place <> 'gone' AND shelved IS NOT NULL";
        let mut statement = self.db().prepare_cached(sql)?;
        let shelved = statement.query_row([signed(letter.0)], |row| row.get::<_, Vec<u8>>(0)).optional()?;
        Ok(shelved.map(|shelved| showable(&shown(&shelved))))
    }

    pub fn counts(&self) -> Result<Vec<Count>, StoreError> {
        let sql = "SELECT state, source, letters FROM standing WHERE letters > 0";
        let mut statement = self.db().prepare_cached(sql)?;
        let rows = statement.query_map([], |row| {
            Ok(Count { state: row.get(0)?, folder: row.get(1)?, letters: read::count(row, 2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Letters that count for the limits of their folder and should not, or the other way round.
    pub(super) fn counted_wrongly(&self) -> Result<Vec<Number>, StoreError> {
        let counted = stages(Stage::counts_for_limits);
        let sql =
            format!("SELECT number FROM letter WHERE counted <> (state {counted}) ORDER BY number LIMIT 20");
        let mut statement = self.db().prepare(&sql)?;
        let rows = statement.query_map([], |row| read::number(row, 0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The letter that has been on its way to being posted for the longest time.
    pub fn oldest(&self) -> Result<Option<Since>, StoreError> {
        Ok(self.db().prepare_cached(&first_on_its_way())?.query_row([], since).optional()?)
    }

    /// The oldest letter that is posted and has not shipped.
    pub fn oldest_followed(&self) -> Result<Option<Since>, StoreError> {
        let mut statement = in_order(self.db(), "confirmed", "admitted_at", "letter_followed")?;
        Ok(statement.query_row([1], since).optional()?)
    }

    /// Letters and sheets of a folder since then that count for its limits.
    pub fn sent_since(&self, folder: &str, since: Time) -> Result<(u32, u32), StoreError> {
        Ok(counts::sent_since(self.db(), folder, since)?)
    }

    /// Letters that wait for a person, the longest waiting first.
    pub fn held(&self) -> Result<Vec<Since>, StoreError> {
        let mut statement = in_order(self.db(), "held", "changed_at", "letter_held")?;
        Ok(statement.query_map([WAITING], since)?.collect::<Result<_, _>>()?)
    }

    pub fn alarms(&self) -> Result<Vec<Raised>, StoreError> {
        alarms::raised(self.db())
    }
}

/// Reads letters of one state by an index that has them in the order of a time. SQLite itself would rather sort all of the
/// state. A database that is not updated yet, which a command may read, has no such index.
fn in_order<'a>(
    db: &'a Connection,
    state: &str,
    time: &str,
    index: &str,
) -> rusqlite::Result<CachedStatement<'a>> {
    let sql = |index: &str| {
        format!(
            "SELECT number, source, state, {time}, trouble FROM letter {index}
             WHERE state = '{state}' ORDER BY {time} LIMIT ?1"
        )
    };
    db.prepare_cached(&sql(&format!("INDEXED BY {index}"))).or_else(|_no_index| db.prepare_cached(&sql("")))
}

/// Of each folder and state only the first letter is compared: while the service can't be reached, all may be on their way.
fn first_on_its_way() -> String {
    let stages = stages(|stage| stage.progress() == Progress::OnItsWay);
    format!(
        "SELECT number, source, state, admitted_at, trouble FROM letter WHERE number IN (
             SELECT (SELECT min(number) FROM letter
                     WHERE letter.state = standing.state AND letter.source = standing.source)
             FROM standing WHERE state {stages})
         ORDER BY admitted_at LIMIT 1"
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::store::schema;

    fn steps_of(db: &Connection, sql: &str) -> Vec<String> {
        let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = plan.query_map([], |row| row.get("detail")).unwrap();
        steps.map(Result::unwrap).collect()
    }

    #[test]
    fn of_very_many_held_or_followed_letters_only_the_first_are_read() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        let steps = |state: &str, time: &str, index: &str| {
            steps_of(&db, &in_order(&db, state, time, index).unwrap().expanded_sql().unwrap())
        };
        let followed = stages(|stage| stage.progress() == Progress::Followed);
        assert_eq!(followed, "= 'confirmed'");
        assert_eq!(
            steps("confirmed", "admitted_at", "letter_followed"),
            ["SCAN letter USING INDEX letter_followed"]
        );
        assert_eq!(steps("held", "changed_at", "letter_held"), ["SCAN letter USING INDEX letter_held"]);
        db.execute_batch("DROP INDEX letter_held").unwrap();
        db.flush_prepared_statement_cache();
        assert!(!steps("held", "changed_at", "letter_held").is_empty(), "an older database is read too");
    }

    #[test]
    fn the_first_letter_on_its_way_is_found_without_reading_the_others() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        let oldest = || db.query_row(&first_on_its_way(), [], |row| row.get::<_, i64>(0)).optional().unwrap();
        assert_eq!(oldest(), None);
        let states = ["shipped", "held", "uploaded", "admitted", "created", "admitted", "closed", "admitted"];
        for (number, state) in (1..).zip(states) {
            let folder = if number % 2 == 0 { "invoices" } else { "notices" };
            let sql = "INSERT INTO letter (number, ulid, account, source, admitted_at, state, facts, changed_at, urgency, sheets)
                       VALUES (?1, ?1, 'main', ?2, 100 + ?1, ?3, 1, 0, 0, 1)";
            db.execute(sql, params![number, folder, state]).unwrap();
        }
        count_again(&db).unwrap();
        for expected in [Some(3), Some(4), Some(5), Some(6), Some(8), None] {
            assert_eq!(oldest(), expected);
            db.execute("UPDATE letter SET state = 'confirmed' WHERE number = ?1", [expected]).unwrap();
            count_again(&db).unwrap();
        }
        let steps = steps_of(&db, &first_on_its_way());
        let sought = "SEARCH letter USING COVERING INDEX letter_state (state=? AND source=?)";
        assert!(steps.iter().any(|step| step == sought), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("SCAN")), "{steps:?}");
    }

    #[test]
    fn half_and_nine_of_ten_took_no_longer() {
        let took = |times: &[i64]| {
            Took::of(times.to_vec()).map(|took| (took.half.num_seconds(), took.most.num_seconds()))
        };
        let seconds: Vec<i64> = (1..=10).rev().map(|seconds| seconds * 1000).collect();
        assert_eq!(took(&seconds), Some((5, 9)));
        assert_eq!((took(&[]), took(&[7000]), took(&[-1, 2000])), (None, Some((7, 7)), Some((0, 2))));
    }
}
