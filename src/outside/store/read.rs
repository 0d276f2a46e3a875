//! What the daemon reads: letters as their facts describe them, what is due, people's commands, pending work.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::rows::stages;
use super::{Store, StoreError, millis, signed, time};
use crate::base::clock::Time;
use crate::domain::letter::{Command, Fact, Letter, Number, Progress};
use crate::domain::pause::Pause;
use crate::outside::spool::Line;

/// A person's command for an account.
#[derive(Debug, Clone)]
pub struct AccountOrder {
    pub id: i64,
    pub account: String,
    pub command: AccountCommand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountCommand {
    Pause,
    Resume,
}

impl AccountCommand {
    pub fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }
}

/// A letter, and when it was admitted and confirmed.
#[derive(Debug)]
pub struct Dated {
    pub letter: Letter,
    pub admitted: Option<Time>,
    pub confirmed: Option<Time>,
}

impl Store {
    pub fn dated(&self, number: Number) -> Result<Option<Dated>, StoreError> {
        let facts = facts(&self.reader(), number)?;
        let when = |word: &str| facts.iter().find(|line| line.fact.word() == word).map(|line| line.at);
        let (admitted, confirmed) = (when("admitted"), when("confirmed"));
        Ok(fold(number, &facts)?.map(|letter| Dated { letter, admitted, confirmed }))
    }

    /// What is in a letter's way, in words.
    pub fn trouble(&self, letter: Number) -> Result<Option<String>, StoreError> {
        let sql = "SELECT trouble FROM letter WHERE number = ?1";
        Ok(self.reader().prepare_cached(sql)?.query_row([signed(letter.0)], |row| row.get(0))?)
    }

    /// The number of continuing letters of each account.
    pub fn going_on(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let db = self.reader();
        let sql = "SELECT account, count(*) FROM letter WHERE due_at IS NOT NULL GROUP BY account";
        let mut statement = db.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, count(row, 1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The number of letters in each state that is not an end.
    pub fn under_way(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let db = self.reader();
        let unfinished = stages(|stage| stage.progress() != Progress::Ended);
        let sql = format!("SELECT state, count(*) FROM letter WHERE state {unfinished} GROUP BY state");
        let mut statement = db.prepare_cached(&sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, count(row, 1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The first open command for a letter.
    pub fn order_for(&self, letter: Number) -> Result<Option<(i64, Command)>, StoreError> {
        order_for(&self.reader(), letter)
    }

    pub fn paused(&self, account: &str) -> Result<Option<Pause>, StoreError> {
        pause(&self.reader(), account)
    }

    pub fn paused_accounts(&self) -> Result<Vec<PausedRow>, StoreError> {
        paused(&self.reader())
    }
}

/// The due letters of an account, the longest waiting first.
pub(super) fn due(
    db: &Connection,
    account: &str,
    urgency: u8,
    now: Time,
    limit: usize,
) -> Result<Vec<Number>, StoreError> {
    let sql = "SELECT number FROM letter WHERE account = ?1 AND urgency = ?2 AND due_at <= ?3
               ORDER BY due_at, number LIMIT ?4";
    let mut statement = db.prepare_cached(sql)?;
    let values = params![account, urgency, millis(now), signed(limit as u64)];
    let rows = statement.query_map(values, |row| number(row, 0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// When the next letter of an account is due after now.
pub(super) fn next_due(
    db: &Connection,
    account: &str,
    urgency: u8,
    now: Time,
) -> Result<Option<Time>, StoreError> {
    let sql = "SELECT min(due_at) FROM letter WHERE account = ?1 AND urgency = ?2 AND due_at > ?3";
    let next: Option<i64> =
        db.prepare_cached(sql)?.query_row(params![account, urgency, millis(now)], |row| row.get(0))?;
    Ok(next.map(time))
}

/// Letters for which a person gave a command.
pub(super) fn ordered_letters(db: &Connection) -> Result<Vec<Number>, StoreError> {
    let sql = "SELECT letter FROM orders WHERE done_at IS NULL AND letter IS NOT NULL ORDER BY id";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| number(row, 0))?;
    let mut ordered: Vec<_> = rows.collect::<Result<_, _>>()?;
    let mut found = BTreeSet::new();
    ordered.retain(|number| found.insert(*number));
    Ok(ordered)
}

pub(super) fn order_for(db: &Connection, letter: Number) -> Result<Option<(i64, Command)>, StoreError> {
    let sql = "SELECT id, command FROM orders WHERE letter = ?1 AND done_at IS NULL ORDER BY id LIMIT 1";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
    let found = db.prepare_cached(sql)?.query_row([signed(letter.0)], row).optional()?;
    let command = |word: String| Command::ALL.into_iter().find(|command| command.word() == word);
    Ok(found.and_then(|(id, word)| command(word).map(|command| (id, command))))
}

pub(super) fn account_orders(db: &Connection) -> Result<Vec<AccountOrder>, StoreError> {
    let sql = "SELECT id, account, command FROM orders WHERE done_at IS NULL AND account IS NOT NULL
               ORDER BY id";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        let pause = row.get::<_, String>(2)? == AccountCommand::Pause.word();
        let command = if pause { AccountCommand::Pause } else { AccountCommand::Resume };
        Ok(AccountOrder { id: row.get(0)?, account: row.get(1)?, command })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[derive(Debug, Clone)]
pub struct PausedRow {
    pub account: String,
    pub pause: Pause,
}

pub(super) fn paused(db: &Connection) -> Result<Vec<PausedRow>, StoreError> {
    let mut statement = db.prepare_cached("SELECT name FROM account ORDER BY name")?;
    let names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut paused = Vec::new();
    for account in names {
        let pause = pause(db, &account)?;
        paused.extend(pause.map(|pause| PausedRow { account, pause }));
    }
    Ok(paused)
}

pub(super) fn number(row: &rusqlite::Row<'_>, index: usize) -> rusqlite::Result<Number> {
    row.get::<_, i64>(index).map(|number| Number(number.unsigned_abs()))
}

pub(super) fn count(row: &rusqlite::Row<'_>, index: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(index).map(i64::unsigned_abs)
}

/// One fact of an existing letter, as [`facts`] finds it, if it is not damaged.
pub(super) fn fact(db: &Connection, letter: Number, n: u64) -> Result<Option<Line>, StoreError> {
    let sql =
        "SELECT line, line_check FROM letter JOIN fact ON fact.letter = number WHERE number = ?1 AND n = ?2";
    let mut statement = db.prepare_cached(sql)?;
    let found = statement.query_row([signed(letter.0), signed(n)], |row| Ok((row.get(0)?, row.get(1)?)));
    let found: Option<(String, String)> = found.optional()?;
    Ok(found.and_then(|(json, check)| Line::read(&json, &check)))
}

/// The letter whose fact has this number.
pub(super) fn letter_of(db: &Connection, seq: u64) -> Result<Option<Number>, StoreError> {
    let sql = "SELECT letter FROM fact WHERE seq = ?1";
    Ok(db.prepare_cached(sql)?.query_row([signed(seq)], |row| number(row, 0)).optional()?)
}

/// A letter's facts in their order, each verified.
pub(super) fn facts(db: &Connection, letter: Number) -> Result<Vec<Line>, StoreError> {
    let sql = "SELECT line, line_check FROM fact WHERE letter = ?1 ORDER BY n";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([signed(letter.0)])?;
    let mut facts = Vec::new();
    while let Some(row) = rows.next()? {
        let (json, check): (String, String) = (row.get(0)?, row.get(1)?);
        let line =
            Line::read(&json, &check).filter(|line| line.n == facts.len() as u64 && line.letter == letter);
        facts.push(line.ok_or(StoreError::Damaged(letter))?);
    }
    Ok(facts)
}

pub(super) fn fold(number: Number, facts: &[Line]) -> Result<Option<Letter>, StoreError> {
    let facts = facts.iter().map(|line: &Line| (line.fact.clone(), line.at));
    Letter::fold(number, facts).map_err(|_| StoreError::Damaged(number))
}

pub(super) fn letter(db: &Connection, number: Number) -> Result<Option<Letter>, StoreError> {
    fold(number, &facts(db, number)?)
}

/// A letter as its facts describe it, and how often its next step was attempted.
pub(super) fn with_attempts(db: &Connection, number: Number) -> Result<Option<Letter>, StoreError> {
    let Some(mut letter) = letter(db, number)? else { return Ok(None) };
    let sql = "SELECT attempts FROM letter WHERE number = ?1";
    letter.attempts = db.prepare_cached(sql)?.query_row([signed(number.0)], |row| row.get(0))?;
    Ok(Some(letter))
}

/// A letter's history: every fact and when it was recorded.
pub(super) fn history(db: &Connection, number: Number) -> Result<Vec<(Time, Fact)>, StoreError> {
    Ok(facts(db, number)?.into_iter().map(|line| (line.at, line.fact)).collect())
}

pub(super) fn fact_count(db: &Connection, number: Number) -> rusqlite::Result<Option<u64>> {
    let sql = "SELECT facts FROM letter WHERE number = ?1";
    let count =
        db.prepare_cached(sql)?.query_row([signed(number.0)], |row| row.get::<_, i64>(0)).optional()?;
    Ok(count.map(i64::unsigned_abs))
}

pub(super) fn pause(db: &Connection, account: &str) -> Result<Option<Pause>, StoreError> {
    let sql = "SELECT problem, since, probe_at, probes FROM account WHERE name = ?1";
    let row = db
        .prepare_cached(sql)?
        .query_row([account], |row| {
            let cause: String = row.get(0)?;
            Ok((cause, row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(2)?, row.get::<_, u32>(3)?))
        })
        .optional()?;
    row.map(|(cause, since, probe_at, probes)| {
        let cause = serde_json::from_str(&cause)?;
        Ok(Pause { cause, since: time(since), probe_at: probe_at.map(time), probes })
    })
    .transpose()
}
