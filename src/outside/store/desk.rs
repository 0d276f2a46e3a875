//! The records for commands, with or without a running daemon: commands read them, and write orders that the
//! daemon carries out at its next look.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Serialize;

use super::read::{self, AccountCommand};
use super::{Home, StoreError, millis, schema, signed, time};
use crate::base::clock::Time;
use crate::domain::letter::{Command, Fact, Letter, Number};

#[derive(Debug)]
pub struct Desk {
    home: Home,
    db: Connection,
}

/// A letter as it is listed.
#[derive(Debug, Clone, Serialize)]
pub struct LetterRow {
    pub letter: Number,
    pub state: String,
    pub account: String,
    pub source: String,
    /// The queue that it came by, if it was not dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    pub admitted_at: Time,
    pub changed_at: Time,
    /// When it is looked at next.
    pub due_at: Option<Time>,
    /// Why it is held, or what is in its way.
    pub note: Option<String>,
    pub tracking: Option<String>,
}

/// How much work is pending.
#[derive(Debug, Clone, Serialize)]
pub struct Totals {
    /// Looks that are overdue.
    pub due: u64,
    /// E-mails that must still be sent.
    pub owed: u64,
    /// People's commands that the daemon has not carried out.
    pub orders: u64,
}

/// The outcome of a person's command.
#[derive(Debug, Clone)]
pub struct Answered {
    pub refused: bool,
    pub text: String,
}

pub(super) const ROW: &str =
    "SELECT number, state, account, source, admitted_at, changed_at, due_at, trouble, tracking,
            (SELECT queue FROM incoming WHERE incoming.ulid = letter.ulid) AS queue";

pub(super) fn letter_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<LetterRow> {
    Ok(LetterRow {
        letter: read::number(row, 0)?,
        state: row.get("state")?,
        account: row.get("account")?,
        source: row.get("source")?,
        queue: row.get("queue")?,
        admitted_at: time(row.get("admitted_at")?),
        changed_at: time(row.get("changed_at")?),
        due_at: row.get::<_, Option<i64>>("due_at")?.map(time),
        note: row.get("trouble")?,
        tracking: row.get("tracking")?,
    })
}

impl LetterRow {
    /// The folder, with the queue that it came by.
    pub fn from(&self) -> String {
        self.queue.as_ref().map_or_else(|| self.source.clone(), |queue| format!("{} ({queue})", self.source))
    }
}

impl Desk {
    /// Opens existing records.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let home = Home::existing(dir)?;
        let db = schema::connect(&home.database())?;
        let found = schema::version(&db)?;
        if found > schema::VERSION {
            return Err(StoreError::Newer { found, known: schema::VERSION });
        }
        Ok(Self { home, db })
    }

    /// Refuses a database that an older mailchute wrote and this one has not updated yet.
    pub(super) fn is_current(&self) -> Result<(), StoreError> {
        let found = schema::version(&self.db)?;
        let is_older = found < schema::VERSION;
        if is_older { Err(StoreError::Older { found, known: schema::VERSION }) } else { Ok(()) }
    }

    /// Copies the records as they are now into an empty file. Returns the number of letters in the copy.
    pub fn copy_to(&self, file: &Path) -> Result<u64, StoreError> {
        self.db.execute("VACUUM INTO ?1", [file.to_string_lossy()])?;
        let copy = Connection::open(file)?;
        let verdict: String = copy.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if verdict != "ok" {
            return Err(StoreError::Broken);
        }
        Ok(copy.query_row("SELECT count(*) FROM letter", [], |row| read::count(row, 0))?)
    }

    /// Where the database is damaged, in words. `None` if it is not.
    pub fn soundness(&self) -> Result<Option<String>, StoreError> {
        let verdict: String = self.db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(Some(verdict).filter(|verdict| verdict != "ok"))
    }

    pub(super) fn db(&self) -> &Connection {
        &self.db
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Whether a daemon is using these records.
    pub fn is_in_use(&self) -> bool {
        self.home.is_locked()
    }

    /// Letters, optionally of one state or admitted since a time: the newest `limit` of them, in their order.
    pub fn letters(
        &self,
        state: Option<&str>,
        since: Option<Time>,
        limit: u64,
    ) -> Result<Vec<LetterRow>, StoreError> {
        let sql = format!(
            "{ROW} FROM letter WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR admitted_at >= ?2)
             ORDER BY number DESC LIMIT ?3"
        );
        let mut statement = self.db.prepare_cached(&sql)?;
        let values = params![state, since.map(millis), signed(limit)];
        let mut rows: Vec<_> = statement.query_map(values, letter_row)?.collect::<Result<_, _>>()?;
        rows.reverse();
        Ok(rows)
    }

    pub fn row(&self, letter: Number) -> Result<Option<LetterRow>, StoreError> {
        let sql = format!("{ROW} FROM letter WHERE number = ?1");
        Ok(self.db.prepare_cached(&sql)?.query_row([signed(letter.0)], letter_row).optional()?)
    }

    /// The letter that a spool entry has become.
    pub fn number_of(&self, entry: &str) -> Result<Option<Number>, StoreError> {
        let sql = "SELECT number FROM letter WHERE ulid = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([entry], |row| read::number(row, 0)).optional()?)
    }

    /// A letter as its facts describe it, verified.
    pub fn letter(&self, number: Number) -> Result<Option<Letter>, StoreError> {
        read::letter(&self.db, number)
    }

    pub fn history(&self, number: Number) -> Result<Vec<(Time, Fact)>, StoreError> {
        read::history(&self.db, number)
    }

    /// The accounts that letters were posted with, or that were paused.
    pub fn accounts(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT account FROM letter UNION SELECT name FROM account ORDER BY 1";
        let mut statement = self.db.prepare(sql)?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    pub fn paused(&self) -> Result<Vec<read::PausedRow>, StoreError> {
        read::paused(&self.db)
    }

    pub fn totals(&self, now: Time) -> Result<Totals, StoreError> {
        let count = |sql: &str| self.db.query_row(sql, [], |row| read::count(row, 0));
        let late = "SELECT count(*) FROM letter WHERE due_at <= ?1";
        Ok(Totals {
            due: self.db.query_row(late, [millis(now)], |row| read::count(row, 0))?,
            owed: count(
                "SELECT (SELECT count(*) FROM owed WHERE done_at IS NULL)
                        + (SELECT count(*) FROM email WHERE due_at IS NOT NULL)",
            )?,
            orders: count("SELECT count(*) FROM orders WHERE done_at IS NULL")?,
        })
    }

    pub fn order(&self, letter: Number, command: Command, now: Time) -> Result<i64, StoreError> {
        let sql = "INSERT INTO orders (letter, command, asked_at) VALUES (?1, ?2, ?3)";
        self.db.execute(sql, params![signed(letter.0), command.word(), millis(now)])?;
        Ok(self.db.last_insert_rowid())
    }

    pub fn order_account(
        &self,
        account: &str,
        command: AccountCommand,
        now: Time,
    ) -> Result<i64, StoreError> {
        let sql = "INSERT INTO orders (account, command, asked_at) VALUES (?1, ?2, ?3)";
        self.db.execute(sql, params![account, command.word(), millis(now)])?;
        Ok(self.db.last_insert_rowid())
    }

    /// The outcome of a person's command, once it is carried out.
    pub fn answer(&self, order: i64) -> Result<Option<Answered>, StoreError> {
        let sql = "SELECT refused, answer FROM orders WHERE id = ?1 AND done_at IS NOT NULL";
        let row = |row: &rusqlite::Row<'_>| Ok(Answered { refused: row.get(0)?, text: row.get(1)? });
        Ok(self.db.prepare_cached(sql)?.query_row([order], row).optional()?)
    }

    /// The numbers of all letters, in their order.
    pub fn numbers(&self) -> Result<Vec<Number>, StoreError> {
        let mut statement = self.db.prepare("SELECT number FROM letter ORDER BY number")?;
        let rows = statement.query_map([], |row| read::number(row, 0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
