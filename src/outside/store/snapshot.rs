//! What is read of the database together: each set in one transaction, and as it was at one moment.
//!
//! Each transaction takes locks on the file, and then reads again those pages that the writer has changed. In a
//! burst that costs more than the questions themselves.

use rusqlite::{Connection, params};

use super::originals::Original;
use super::{AccountOrder, Store, StoreError, originals, read, signed};
use crate::base::clock::Time;
use crate::domain::letter::{Command, Letter, Number};
use crate::domain::pause::Pause;

/// What the dispatcher can begin.
#[derive(Debug)]
pub struct OpenWork {
    pub account_orders: Vec<AccountOrder>,
    /// Letters for which a person gave a command.
    pub ordered: Vec<Number>,
    pub accounts: Vec<AccountWork>,
}

/// An account's pause, and its letters by urgency.
#[derive(Debug)]
pub struct AccountWork {
    pub pause: Option<Pause>,
    /// The longest waiting first.
    pub due: [Vec<Number>; 3],
    /// When the next one will be due.
    pub next_due: [Option<Time>; 3],
}

/// How many due letters are read.
#[derive(Debug, Clone, Copy)]
pub struct DueLimits {
    /// Of each account. Where this is 0, none is read.
    pub by_urgency: [usize; 3],
    /// So many letters with commands may be begun before these. As many more are read, if there are commands.
    pub commanded: usize,
}

/// What may prevent a letter's next step.
#[derive(Debug)]
pub struct BeforeStep {
    /// The first open command for it.
    pub order: Option<(i64, Command)>,
    pub pause: Option<Pause>,
}

impl Store {
    /// All that the dispatcher looks at, of these accounts in their order.
    pub fn open_work(&self, accounts: &[&str], most: DueLimits, now: Time) -> Result<OpenWork, StoreError> {
        self.at_one_moment(|db| {
            let ordered = read::ordered_letters(db)?;
            let of = |account: &&str| {
                let mut work = AccountWork {
                    pause: read::pause(db, account)?,
                    due: Default::default(),
                    next_due: Default::default(),
                };
                for (urgency, limit) in (0..).zip(most.by_urgency) {
                    let index = usize::from(urgency);
                    if limit > 0 {
                        let limit = limit + ordered.len().min(most.commanded);
                        work.due[index] = read::due(db, account, urgency, now, limit)?;
                    }
                    work.next_due[index] = read::next_due(db, account, urgency, now)?;
                }
                Ok::<_, StoreError>(work)
            };
            let accounts = accounts.iter().map(of).collect::<Result<_, _>>()?;
            Ok(OpenWork { account_orders: read::account_orders(db)?, ordered, accounts })
        })
    }

    /// A letter as its facts describe it.
    pub fn letter(&self, number: Number) -> Result<Option<Letter>, StoreError> {
        self.at_one_moment(|db| read::with_attempts(db, number))
    }

    /// A letter, and what may prevent its next step.
    pub fn letter_before_step(&self, number: Number) -> Result<Option<(Letter, BeforeStep)>, StoreError> {
        self.at_one_moment(|db| {
            let Some(letter) = read::with_attempts(db, number)? else { return Ok(None) };
            let before = before_step(db, number, &letter.order.account)?;
            Ok(Some((letter, before)))
        })
    }

    pub fn before_step(&self, letter: Number, account: &str) -> Result<BeforeStep, StoreError> {
        // Nearly always there is nothing, which one statement answers without a transaction around it.
        if !is_anything_before_step(&self.reader(), letter, account)? {
            return Ok(BeforeStep { order: None, pause: None });
        }
        self.at_one_moment(|db| before_step(db, letter, account))
    }

    /// Of these originals, the ones that are still due, as they are recorded now.
    pub fn still_due(&self, originals: &[Original]) -> Result<Vec<Original>, StoreError> {
        if originals.is_empty() {
            return Ok(Vec::new());
        }
        self.at_one_moment(|db| {
            let mut due = Vec::with_capacity(originals.len());
            for original in originals {
                due.extend(
                    originals::one(db, "ulid", original.ulid.as_str())?.filter(|original| original.is_due),
                );
            }
            Ok(due)
        })
    }

    /// Reads as the records are at one moment.
    pub(super) fn at_one_moment<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let db = self.reader();
        // It ends when it is dropped, also by an error.
        let reading = Reading::begin(&db)?;
        read(reading.0)
    }
}

/// A transaction in which only is read. The statements that begin and end it are kept prepared.
struct Reading<'a>(&'a Connection);

impl<'a> Reading<'a> {
    fn begin(db: &'a Connection) -> rusqlite::Result<Self> {
        db.prepare_cached("BEGIN")?.execute([])?;
        Ok(Self(db))
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if self.0.is_autocommit() {
            return;
        }
        let ended = self.0.prepare_cached("ROLLBACK").and_then(|mut end| end.execute([]));
        if let Err(error) = ended {
            tracing::debug!(error = &error as &dyn std::error::Error, "a reading transaction goes on");
        }
    }
}

fn is_anything_before_step(db: &Connection, letter: Number, account: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM orders WHERE letter = ?1 AND done_at IS NULL)
               OR EXISTS (SELECT 1 FROM account WHERE name = ?2)";
    db.prepare_cached(sql)?.query_row(params![signed(letter.0), account], |row| row.get(0))
}

fn before_step(db: &Connection, letter: Number, account: &str) -> Result<BeforeStep, StoreError> {
    Ok(BeforeStep { order: read::order_for(db, letter)?, pause: read::pause(db, account)? })
}
