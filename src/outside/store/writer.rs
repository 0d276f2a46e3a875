//! The only writer: whatever has gathered goes into the ledger, is synced, and is then committed.
//!
//! Constraints are checked before the ledger is written, so the ledger holds only what the database accepted.
//! After a later failure the two differ, and the process ends; recovery makes them agree.

use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{oneshot, watch};

use super::moves::{Admission, Batch, Gathered, Record, RecordError};
use super::read::AccountOrder;
use super::{Home, Report, StoreError, moves, recovery, schema};
use crate::base::clock::Time;
use crate::domain::letter::{AccountNews, Answer, Letter, Number};
use crate::domain::pause::Pause;
use crate::outside::spool::{Ledger, LedgerError, Ulid};

/// The maximum number of operations in one commit.
const MOVES_PER_COMMIT: usize = 256;

/// With this number of operations in one commit there is a burst.
const BUSY: usize = 4;
/// Then the writer's cache is emptied.
const AFTER_A_BURST: std::time::Duration = std::time::Duration::from_secs(2);
/// In kilobytes, for the pages that the letters of a burst have in common.
const CACHE: i64 = -2048;

const STRIKES_WAIT: std::time::Duration = std::time::Duration::from_millis(200);

/// The disk cannot be trusted any more, or is ahead of the memory. The process must end. The text says why.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "what is on the disk is no longer certain ({0}), so mailchute ends; a new start continues from what is durable"
)]
pub struct Halted(Arc<str>);

/// An operation that waits to be written, and somebody who may wait for its result.
trait Move: Send {
    /// Carries it out. Returns false if it fails. Only what the last call did counts.
    fn go(&mut self, batch: &mut Batch<'_>) -> bool;
    /// Hands over its result if the round is durable, or the reason why it is not.
    fn reply(self: Box<Self>, durable: Result<(), RecordError>);
}

struct Operation<T, F> {
    run: F,
    result: Option<Result<T, RecordError>>,
    tell: oneshot::Sender<Result<T, RecordError>>,
}

impl<T, F> Move for Operation<T, F>
where
    T: Send,
    F: Fn(&mut Batch<'_>) -> Result<T, RecordError> + Send,
{
    fn go(&mut self, batch: &mut Batch<'_>) -> bool {
        self.result.insert((self.run)(batch)).is_ok()
    }

    fn reply(self: Box<Self>, durable: Result<(), RecordError>) {
        let result =
            self.result.unwrap_or_else(|| Err(RecordError::NotWritten("it was not begun".to_owned())));
        // If nobody waits for the answer any more, the operation is valid all the same.
        drop(self.tell.send(durable.and(result)));
    }
}

#[derive(Debug)]
pub struct Store {
    home: Home,
    moves: Mutex<Option<mpsc::Sender<Box<dyn Move>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    reader: Mutex<Connection>,
    halted: watch::Receiver<Option<Halted>>,
    /// The number of the last fact when these records were opened.
    pub(super) began: u64,
    /// The name of this run of the daemon.
    pub(super) run: Ulid,
    _lock: File,
}

impl Store {
    /// Opens or creates the records, and makes database and ledger agree. `after_restore` holds every
    /// unfinished letter.
    pub fn open(dir: &Path, now: Time, after_restore: bool) -> Result<(Self, Report), StoreError> {
        let home = Home::make(dir)?;
        let lock = home.lock()?;
        let (db, ledger, report) = recovery::recover(&home, now, after_restore)?;
        db.pragma_update(None, "cache_size", CACHE)?;
        let reader = schema::connect(&home.database())?;
        let (moves, incoming) = mpsc::channel();
        let (halt, halted) = watch::channel(None);
        let thread = std::thread::Builder::new()
            .name("store".into())
            .spawn(move || write_all(&db, ledger, &incoming, &halt))?;
        let store = Self {
            home,
            moves: Mutex::new(Some(moves)),
            thread: Mutex::new(Some(thread)),
            reader: Mutex::new(reader),
            halted,
            began: report.began,
            run: Ulid::new(now)?,
            _lock: lock,
        };
        Ok((store, report))
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    pub(super) fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the process must end.
    pub fn is_halted(&self) -> bool {
        self.halted.borrow().is_some()
    }

    /// Resolves when the process must end, with the reason.
    pub async fn halted(&self) -> Halted {
        let mut halted = self.halted.clone();
        match halted.wait_for(Option::is_some).await {
            Ok(halted) => why(halted.as_ref()),
            Err(_gone) => why(None),
        }
    }

    /// Waits until everything is written, and closes the database.
    pub fn close(&self) {
        drop(self.moves.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the store's writer ended in a panic");
        }
    }

    /// Hands an operation to the writer immediately. It is carried out even if nobody waits for it. Several
    /// that are awaited together share a commit. If one of them fails, all are undone and carried out again, each by
    /// itself.
    pub(super) fn write<T: Send + 'static, F>(
        &self,
        run: F,
    ) -> impl Future<Output = Result<T, RecordError>> + Send + use<T, F>
    where
        F: Fn(&mut Batch<'_>) -> Result<T, RecordError> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        let run: Box<dyn Move> = Box::new(Operation { run, result: None, tell });
        let sent = {
            let moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
            moves.as_ref().is_some_and(|moves| moves.send(run).is_ok())
        };
        let halted = self.halted.clone();
        async move {
            let answer = if sent { told.await.ok() } else { None };
            answer.unwrap_or_else(|| Err(why(halted.borrow().as_ref()).into()))
        }
    }

    /// Resolves after the writer's next turn, whether the disk accepted anything or not.
    pub async fn takes_writes(&self) {
        drop(self.write(|_batch| Ok(())).await);
    }

    pub fn admit(
        &self,
        admission: Admission,
    ) -> impl Future<Output = Result<Number, RecordError>> + Send + use<> {
        self.write(move |batch| batch.admit(&admission))
    }

    /// Makes a change durable. Returns the letter with the change.
    pub async fn record(&self, record: Record) -> Result<Letter, RecordError> {
        self.write(move |batch| batch.record(&record)).await
    }

    pub async fn account_news(&self, name: &str, news: AccountNews, at: Time) -> Result<(), RecordError> {
        let name = name.to_owned();
        self.write(move |batch| batch.account_news(&name, &news, at)).await
    }

    /// Records the probe of a pause, if the pause still lasts.
    pub async fn probing(&self, name: &str, pause: Pause) -> Result<(), RecordError> {
        let name = name.to_owned();
        self.write(move |batch| batch.probing(&name, &pause)).await
    }

    /// Carries out a person's command for an account.
    pub async fn obey(&self, order: AccountOrder, at: Time) -> Result<(), RecordError> {
        self.write(move |batch| batch.obey(&order, at)).await
    }

    /// Answers a command that no letter can carry out.
    pub async fn answer_order(&self, id: i64, answer: Answer, at: Time) -> Result<(), RecordError> {
        self.write(move |batch| moves::close_order(batch.db, id, &answer, at)).await
    }
}

/// Why the writer ended. Without a recorded reason it ended in a panic.
fn why(halted: Option<&Halted>) -> Halted {
    halted.cloned().unwrap_or_else(|| Halted("the thread that writes has ended".into()))
}

/// The lock is released only when the writer has ended.
impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}

/// How a round of writing ended.
enum Round {
    Durable,
    /// Nothing of it happened.
    Nothing(String),
    Halt(String),
}

fn write_all(
    db: &Connection,
    mut ledger: Ledger,
    incoming: &mpsc::Receiver<Box<dyn Move>>,
    halt: &watch::Sender<Option<Halted>>,
) {
    let mut was_busy = false;
    while let Some(first) = next(db, incoming, &mut was_busy) {
        let mut moves = vec![first];
        moves.extend(incoming.try_iter().take(MOVES_PER_COMMIT - 1));
        let round =
            write(db, &mut ledger, &mut moves, incoming).unwrap_or_else(|error| Round::Halt(chain(&error)));
        was_busy |= moves.len() >= BUSY;
        match round {
            Round::Durable => moves.into_iter().for_each(|one| one.reply(Ok(()))),
            Round::Nothing(why) => {
                tracing::error!(why, "nothing could be written; it is tried again");
                for one in moves {
                    one.reply(Err(RecordError::NotWritten(why.clone())));
                }
            }
            Round::Halt(why) => {
                tracing::error!(why, "mailchute ends: what is on the disk is no longer certain");
                let halted = Halted(why.into());
                halt.send_replace(Some(halted.clone()));
                for one in moves {
                    one.reply(Err(halted.clone().into()));
                }
                return;
            }
        }
    }
    empty_log(db);
}

/// The next operation. `None` if there will be no more. After a burst the memory for its pages is given back.
fn next(
    db: &Connection,
    incoming: &mpsc::Receiver<Box<dyn Move>>,
    was_busy: &mut bool,
) -> Option<Box<dyn Move>> {
    if *was_busy {
        match incoming.recv_timeout(AFTER_A_BURST) {
            Err(RecvTimeoutError::Timeout) => {
                *was_busy = false;
                if let Err(error) = db.execute_batch("PRAGMA shrink_memory") {
                    tracing::debug!(error = &error as &dyn std::error::Error, "its memory is kept");
                }
            }
            received => return received.ok(),
        }
    }
    incoming.recv().ok()
}

/// Moves everything from the log into the database's own file.
fn empty_log(db: &Connection) {
    if let Err(error) = db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)") {
        tracing::warn!(error = &error as &dyn std::error::Error, "the database's log stays");
    }
}

fn write(
    db: &Connection,
    ledger: &mut Ledger,
    moves: &mut Vec<Box<dyn Move>>,
    incoming: &mpsc::Receiver<Box<dyn Move>>,
) -> rusqlite::Result<Round> {
    let first = ledger.next();
    let begin = || Transaction::new_unchecked(db, TransactionBehavior::Immediate);
    let nothing = |error: rusqlite::Error| Ok(Round::Nothing(chain(&error)));
    let mut transaction = match begin() {
        Ok(transaction) => transaction,
        Err(error) => return nothing(error),
    };
    let Gathered { lines, struck, .. } =
        if let Some(gathered) = all_at_once(&transaction, first, moves, incoming) {
            gathered
        } else {
            transaction.finish()?;
            transaction = match begin() {
                Ok(transaction) => transaction,
                Err(error) => return nothing(error),
            };
            one_by_one(&mut transaction, first, moves)?
        };
    if transaction.is_autocommit() {
        // After some failures SQLite undoes a transaction by itself, and what followed was committed alone.
        return Ok(Round::Halt("the database gave up its transaction".to_owned()));
    }
    // Lines that lost their names only in the ledger are no contradiction, and are treated again.
    let written = ledger
        .rewrite(&struck)
        .and_then(|()| if lines.is_empty() { Ok(()) } else { ledger.append(first, &lines) });
    match written {
        Ok(()) => {}
        Err(error @ LedgerError::NotDurable(_)) => return Ok(Round::Halt(chain(&error))),
        Err(error @ (LedgerError::Io(_) | LedgerError::Json(_))) => {
            return Ok(Round::Nothing(chain(&error)));
        }
    }
    if let Err(error) = transaction.commit() {
        // The ledger is ahead, or a sync failed. Only a fresh start knows what is on the disk.
        return Ok(Round::Halt(chain(&error)));
    }
    if !struck.is_empty() {
        // A long reader must not hold this up. What stays in the log is overwritten later.
        let _ = db.busy_timeout(STRIKES_WAIT);
        empty_log(db);
        let _ = db.busy_timeout(schema::PATIENCE);
    }
    Ok(Round::Durable)
}

/// Carries out all of them, and those that come meanwhile. Nearly always none fails, so nothing is kept by which one alone could be undone. `None`
/// if one fails: then the transaction must be undone.
fn all_at_once(
    db: &Connection,
    first: u64,
    moves: &mut Vec<Box<dyn Move>>,
    incoming: &mpsc::Receiver<Box<dyn Move>>,
) -> Option<Gathered> {
    let mut gathered = Gathered::default();
    let mut done = 0;
    while let Some(one) = moves.get_mut(done) {
        if !one.go(&mut gathered.batch(db, first)) {
            return None;
        }
        done += 1;
        if done == moves.len() {
            moves.extend(incoming.try_iter().take(MOVES_PER_COMMIT - done));
        }
    }
    gathered.standing.write(db).ok()?;
    Some(gathered)
}

/// Carries out those that do not fail.
fn one_by_one(
    transaction: &mut Transaction<'_>,
    first: u64,
    moves: &mut [Box<dyn Move>],
) -> rusqlite::Result<Gathered> {
    let mut gathered = Gathered::default();
    for one in moves {
        let savepoint = transaction.savepoint()?;
        let mut its = Gathered::default();
        if one.go(&mut its.batch(&savepoint, first + gathered.lines.len() as u64)) {
            // Its result says that it was carried out, so from here on a failure ends the process.
            its.standing.write(&savepoint)?;
            savepoint.commit()?;
            gathered.lines.append(&mut its.lines);
            gathered.struck.append(&mut its.struck);
        } else {
            savepoint.finish()?;
        }
    }
    Ok(gathered)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
