//! The operations of the domain, each complete or without effect, within the writer's transaction.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::news::{ACCOUNT_PAUSED, ACCOUNT_WORKS, owe, owe_notice};
use super::read::{AccountCommand, AccountOrder};
use super::standing::CountChanges;
use super::{incoming, millis, originals, read, rows};
use crate::base::clock::Time;
use crate::domain::letter::{
    AccountNews, Answer, Change, Contradiction, Due, Fact, Letter, Number, Order, Reason,
};
use crate::domain::limits::Weighed;
use crate::domain::pause;
use crate::domain::pause::{Pause, PauseChange};
use crate::outside::spool::{Dropped, Line, Ulid, Written};

/// A letter that is admitted.
#[derive(Debug, Clone)]
pub struct Admission {
    pub ulid: Ulid,
    pub order: std::sync::Arc<Order>,
    pub at: Time,
    /// Where it was dropped, and what its folder posts without approval.
    pub dropped: Option<Dropped>,
}

/// The meaning of an outcome, to be made durable.
#[derive(Debug, Clone)]
pub struct Record {
    /// The letter when the decision was made.
    pub letter: Letter,
    pub change: Change,
    pub at: Time,
    /// The person's command that this answers.
    pub order: Option<i64>,
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("letter {0} has changed in the meantime")]
    Stale(Number),
    #[error("letter {0}: {1}")]
    Contradiction(Number, #[source] Contradiction),
    #[error("the change of a letter can't be written")]
    Sqlite(#[from] rusqlite::Error),
    #[error("the change of a letter can't be written")]
    Json(#[from] serde_json::Error),
    #[error("nothing was written: {0}")]
    NotWritten(String),
    #[error(transparent)]
    Read(#[from] super::StoreError),
    #[error(transparent)]
    Halted(#[from] super::Halted),
}

impl RecordError {
    /// Whether the database itself refuses: a second live intent, or a changed fact.
    pub fn refuses(error: &rusqlite::Error) -> bool {
        error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
    }

    /// Whether there was no disk space.
    pub fn is_full(error: &rusqlite::Error) -> bool {
        error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
    }
}

/// What operations add to their transaction.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Lines for the ledger.
    pub(super) lines: Vec<Written>,
    /// Lines that are rewritten without names, by their numbers.
    pub(super) struck: BTreeMap<u64, Written>,
    /// How the numbers of letters change.
    pub(super) standing: CountChanges,
}

impl Gathered {
    /// For the next operation. The first line of all has the number `first`.
    pub(super) fn batch<'a>(&'a mut self, db: &'a Connection, first: u64) -> Batch<'a> {
        Batch { db, next: first + self.lines.len() as u64, gathered: self }
    }
}

/// The writer's transaction as an operation sees it.
pub(super) struct Batch<'a> {
    pub(super) db: &'a Connection,
    pub(super) gathered: &'a mut Gathered,
    next: u64,
}

impl Batch<'_> {
    /// Returns the letter of this spool entry: a new one, or the one it already is.
    pub(super) fn admit(&mut self, admission: &Admission) -> Result<Number, RecordError> {
        let known = "SELECT number FROM letter WHERE ulid = ?1";
        let known = self
            .db
            .prepare_cached(known)?
            .query_row([admission.ulid.as_str()], |row| row.get::<_, i64>(0))
            .optional()?;
        if let Some(number) = known {
            return Ok(Number(number.unsigned_abs()));
        }
        let highest = "SELECT coalesce(max(number), 0) FROM letter";
        let highest: i64 = self.db.prepare_cached(highest)?.query_row([], |row| row.get(0))?;
        let number = Number(highest.unsigned_abs() + 1);
        let entry = admission.ulid.to_string();
        let queued = incoming::queued_as(self.db, &admission.ulid)?.map(Box::new);
        let fact = Fact::Admitted { entry: entry.clone(), order: admission.order.clone(), queued };
        let letter = Letter::admitted(number, entry, admission.order.clone(), admission.at);
        let reason = match &admission.dropped {
            Some(dropped) => {
                let counts = self.counts(&letter.order, &dropped.terms, admission.at)?;
                let elsewhere = letter.order.receiver.address.elsewhere();
                let misplaced = letter.order.misplaced().cloned();
                dropped.terms.hold(&counts, &Weighed { sheets: letter.order.sheets(), elsewhere, misplaced })
            }
            None => None,
        };
        rows::insert_letter(self.db, &letter)?;
        self.gathered.standing.moved(&letter, None);
        self.write_fact(&letter, 0, admission.at, &fact)?;
        if let Some(dropped) = &admission.dropped {
            let rests = letter.is_on_its_way();
            let ulid = admission.ulid.as_str();
            originals::insert(self.db, ulid, &dropped.origin, (number, rests), admission.at)?;
        }
        if let Some(reason) = reason {
            self.held_at_once(letter, reason, admission.at)?;
        }
        Ok(number)
    }

    pub(super) fn record(&mut self, record: &Record) -> Result<Letter, RecordError> {
        let mut letter = record.letter.clone();
        let number = letter.number;
        let seen = read::fact_count(self.db, number)?;
        if seen != Some(letter.facts) {
            return Err(RecordError::Stale(number));
        }
        for fact in &record.change.facts {
            let n = letter.facts;
            letter.apply(fact, record.at).map_err(|error| RecordError::Contradiction(number, error))?;
            self.write_fact(&letter, n, record.at, fact)?;
            rows::update_mail(self.db, &letter, fact, record.at)?;
        }
        letter.attempts = record.change.attempts;
        update_letter(self.db, &letter, record)?;
        self.gathered.standing.moved(&letter, Some(record.letter.state.stage()));
        for notice in &record.change.owed {
            owe_notice(self.db, &letter, *notice, record.at)?;
        }
        if let (Some(order), Some(answer)) = (record.order, &record.change.answer) {
            close_order(self.db, order, answer, record.at)?;
        }
        if let Some(news) = &record.change.account {
            self.account_news(&letter.order.account, news, record.at)?;
        }
        Ok(letter)
    }

    /// Puts a letter on hold from its beginning.
    fn held_at_once(&mut self, letter: Letter, reason: Reason, at: Time) -> Result<(), RecordError> {
        let change = Change::held(reason);
        self.record(&Record { letter, change, at, order: None }).map(drop)
    }

    fn write_fact(&mut self, letter: &Letter, n: u64, at: Time, fact: &Fact) -> Result<(), RecordError> {
        let line = Line { seq: self.next, letter: letter.number, n, at, fact: fact.clone() };
        let written = line.written()?;
        rows::insert_fact(self.db, &line, &written)?;
        self.gathered.lines.push(written);
        self.next += 1;
        Ok(())
    }

    /// What was learned of an account, by its letters or by reading it.
    pub(super) fn account_news(&self, name: &str, news: &AccountNews, at: Time) -> Result<(), RecordError> {
        let pause = read::pause(self.db, name)?;
        match pause::after(pause.as_ref(), news, at) {
            PauseChange::Same => Ok(()),
            PauseChange::Pause(pause) => {
                self.pause(name, &pause)?;
                let about = format!("{} {}", serde_json::to_string(&pause.cause)?, millis(at));
                owe(self.db, name, ACCOUNT_PAUSED, &about, None, at)
            }
            PauseChange::Works => {
                self.resume(name, at)?;
                owe(self.db, name, ACCOUNT_WORKS, &millis(at).to_string(), None, at)
            }
        }
    }

    pub(super) fn obey(&self, order: &AccountOrder, at: Time) -> Result<(), RecordError> {
        let done = |text: &str| Answer::Done(text.to_owned());
        let answer = match order.command {
            AccountCommand::Pause => {
                self.pause(&order.account, &Pause::by_person(at))?;
                done("paused: nothing new is begun; what may have been posted already is followed")
            }
            AccountCommand::Resume if self.resume(&order.account, at)? => done("resumed"),
            AccountCommand::Resume => Answer::Refused("it is not paused".to_owned()),
        };
        close_order(self.db, order.id, &answer, at)
    }

    pub(super) fn pause(&self, name: &str, pause: &Pause) -> Result<(), RecordError> {
        let sql = "INSERT INTO account (name, problem, since, probe_at, probes) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT (name) DO UPDATE SET problem = ?2, since = ?3, probe_at = ?4, probes = ?5";
        let cause = serde_json::to_string(&pause.cause)?;
        let values =
            params![name, cause, millis(pause.since), pause.probe_at.map(millis), i64::from(pause.probes)];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    pub(super) fn probing(&self, name: &str, pause: &Pause) -> Result<(), RecordError> {
        let sql = "UPDATE account SET probe_at = ?2, probes = ?3 WHERE name = ?1";
        let values = params![name, pause.probe_at.map(millis), i64::from(pause.probes)];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// Ends a pause. Everything that waited for it is looked at at once, first what was begun already: among it is the
    /// letter by which the trouble was met.
    pub(super) fn resume(&self, name: &str, at: Time) -> Result<bool, RecordError> {
        let ended = self.db.prepare_cached("DELETE FROM account WHERE name = ?1")?.execute([name])?;
        let wake = "UPDATE letter SET due_at = ?2 - (state <> 'admitted')
                    WHERE account = ?1 AND state IN ('admitted', 'created', 'uploaded', 'confirming', 'withdrawing')
                    AND due_at > ?2";
        self.db.prepare_cached(wake)?.execute(params![name, millis(at)])?;
        Ok(ended > 0)
    }
}

pub(super) fn close_order(db: &Connection, id: i64, answer: &Answer, at: Time) -> Result<(), RecordError> {
    let (refused, text) = match answer {
        Answer::Done(text) => (false, text),
        Answer::Refused(text) => (true, text),
    };
    let sql = "UPDATE orders SET done_at = ?2, refused = ?3, answer = ?4 WHERE id = ?1 AND done_at IS NULL";
    db.prepare_cached(sql)?.execute(params![id, millis(at), refused, text])?;
    Ok(())
}

fn update_letter(db: &Connection, letter: &Letter, record: &Record) -> rusqlite::Result<()> {
    let due = match record.change.due {
        Due::Now => Some(record.at),
        Due::At(time) => Some(time),
        Due::Never => None,
    };
    // What is no longer kept of it changes nothing of the letter.
    let tells = |fact: &Fact| !matches!(fact, Fact::Discarded(_));
    let changed = record.change.facts.iter().any(tells).then_some(record.at);
    let trouble = record.change.trouble.as_deref();
    if changed.is_some() {
        originals::letter_changed(db, letter, record.at)?;
    }
    rows::write_letter(db, letter, due, trouble, changed)?;
    let counted = |letter: &Letter| letter.state.stage().counts_for_limits();
    if counted(letter) == counted(&record.letter) { Ok(()) } else { rows::write_counted(db, letter) }
}
