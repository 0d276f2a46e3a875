//! `--data DIR`: the world's records and the ledger in SQLite, durable before an answer leaves.
//!
//! One writer thread commits in one transaction whatever has gathered during the last commit. A failed write
//! ends the sandbox, because nothing it answers afterwards could be kept.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use chrono::{TimeDelta, Utc};
use fs_err as fs;
use rusqlite::{Connection, params};
use tokio::sync::watch;

use super::world::{Entry, Key, Record, Signer, World};
use crate::base::clock::{Pace, Time};

const SCHEMA: i64 = 1;
const TABLES: &str = "
    CREATE TABLE world (only INTEGER PRIMARY KEY CHECK (only = 1),
                        now INTEGER NOT NULL, wall INTEGER NOT NULL, pace TEXT NOT NULL,
                        signer TEXT NOT NULL CHECK (json_valid(signer))) STRICT;
    CREATE TABLE record (kind TEXT NOT NULL CHECK (kind IN ('account', 'client', 'token', 'mail')),
                         id TEXT NOT NULL, doc TEXT NOT NULL CHECK (json_valid(doc)),
                         PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID;
    CREATE TABLE ledger (seq INTEGER PRIMARY KEY, entry TEXT NOT NULL CHECK (json_valid(entry))) STRICT;
    PRAGMA user_version = 1;
";

#[derive(Debug, thiserror::Error)]
pub enum DataError {
    #[error("another sandbox is using {0}; end that one, or choose another --data directory")]
    InUse(PathBuf),
    #[error("{0} was written by a newer mailchute; use that one, or choose another --data directory")]
    Newer(PathBuf),
    #[error("the data directory can't be used")]
    Io(#[from] io::Error),
    #[error("the sandbox's database can't be used")]
    Sqlite(#[from] rusqlite::Error),
    #[error("the sandbox's database holds something that is not of its making")]
    Content(#[from] serde_json::Error),
    #[error("the sandbox's database holds something that is not of its making: `{0}`")]
    Strange(String),
}

/// What one call changed, ready to be written.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) number: u64,
    pub(super) now: Time,
    pub(super) pace: Pace,
    pub(super) records: Vec<(Key, Option<Record>)>,
    /// All earlier entries are removed.
    pub(super) begins_anew: bool,
    pub(super) entries: Vec<(u64, Entry)>,
}

#[derive(Debug)]
pub(super) struct Data {
    /// `None` once closed.
    writing: Mutex<Option<Writing>>,
    durable: watch::Receiver<Progress>,
    lock: File,
}

#[derive(Debug)]
struct Writing {
    batches: mpsc::Sender<Batch>,
    writer: JoinHandle<()>,
}

/// The content of a data directory.
pub(super) struct Held {
    pub(super) world: World,
    pub(super) entries: Vec<Entry>,
    /// The time the clock would show by now. The world itself is at its old time, so that what became due
    /// meanwhile happens in its order and at its time.
    pub(super) now: Time,
}

/// The writer has ended. The reason is in the journal.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the sandbox can't write to its data directory any more, so it stops; see the message above")]
pub struct Halted;

impl Data {
    /// Opens or creates the directory. Returns its content.
    pub(super) fn open(dir: &Path, fresh: impl FnOnce() -> World) -> Result<(Self, Held), DataError> {
        if !dir.exists() {
            std::fs::DirBuilder::new().mode(0o700).recursive(true).create(dir)?;
        }
        let lock = lock(dir)?;
        let path = dir.join("sandbox.db");
        // Addresses are personal data: the file is created before SQLite would make it readable for everyone.
        let mut options = fs::OpenOptions::new();
        options.options_mut().mode(0o600);
        options.write(true).create(true).truncate(false).open(&path)?;
        let db = Connection::open(&path)?;
        db.pragma_update(None, "journal_mode", "wal")?;
        db.pragma_update(None, "synchronous", "full")?;
        // Names that were removed must not stay in the file.
        db.pragma_update(None, "secure_delete", true)?;
        let held = match db.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))? {
            0 => create(&db, fresh())?,
            SCHEMA => load(&db)?,
            _ => return Err(DataError::Newer(path)),
        };
        let (batches, incoming) = mpsc::channel();
        let (progress, durable) = watch::channel(Progress::Durable(0));
        let thread = std::thread::Builder::new().name("sandbox data".into());
        let writer = thread.spawn(move || write_all(db, &incoming, &progress))?;
        let writing = Mutex::new(Some(Writing { batches, writer }));
        Ok((Self { writing, durable, lock }, held))
    }

    pub(super) fn submit(&self, batch: Batch) {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever waits for the batch notices that the writer has ended.
        let _ = writing.as_ref().map(|writing| writing.batches.send(batch));
    }

    /// Writes what is left and closes the directory, so that another sandbox can use it.
    pub(super) fn close(&self) {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Writing { batches, writer }) = writing {
            drop(batches);
            if writer.join().is_err() {
                tracing::error!("the writer of the sandbox's data ended in a panic");
            }
            if let Err(error) = self.lock.unlock() {
                tracing::warn!(error = &error as &dyn std::error::Error, "the data directory stays locked");
            }
        }
    }

    /// Waits until the batch of this number is durable.
    pub(super) async fn durable(&self, number: u64) -> Result<(), Halted> {
        let reached = |progress: &Progress| match progress {
            Progress::Durable(done) => *done >= number,
            Progress::Failed => true,
        };
        match self.durable.clone().wait_for(reached).await.as_deref() {
            Ok(Progress::Durable(_)) => Ok(()),
            Ok(Progress::Failed) | Err(_) => Err(Halted),
        }
    }

    pub(super) async fn halted(&self) {
        let failed = |progress: &Progress| matches!(progress, Progress::Failed);
        // An error means that the writer has ended, which is the same.
        drop(self.durable.clone().wait_for(failed).await);
    }
}

/// How far the writer has come.
#[derive(Debug)]
enum Progress {
    /// Everything up to the batch of this number.
    Durable(u64),
    Failed,
}

fn lock(dir: &Path) -> Result<File, DataError> {
    let mut options = fs::OpenOptions::new();
    options.options_mut().mode(0o600);
    let file = options.write(true).create(true).truncate(false).open(dir.join("lock"))?.into_parts().0;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DataError::InUse(dir.to_owned())),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

fn create(db: &Connection, world: World) -> Result<Held, DataError> {
    let signer = serde_json::to_string(world.signer())?;
    let transaction = db.unchecked_transaction()?;
    transaction.execute_batch(TABLES)?;
    let (now, wall) = (world.now().timestamp_millis(), Utc::now().timestamp_millis());
    let values = params![now, wall, Pace::ByHand.to_string(), signer];
    transaction.execute("INSERT INTO world VALUES (1, ?1, ?2, ?3, ?4)", values)?;
    transaction.commit()?;
    Ok(Held { now: world.now(), world, entries: Vec::new() })
}

fn load(db: &Connection) -> Result<Held, DataError> {
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let (now, wall, pace, signer): (i64, i64, String, String) =
        db.query_row("SELECT now, wall, pace, signer FROM world", [], row)?;
    let saved = Time::from_timestamp_millis(now).ok_or_else(|| DataError::Strange(now.to_string()))?;
    let now = continued(saved, wall, &pace).ok_or(DataError::Strange(pace))?;
    let mut world = World::new(serde_json::from_str::<Signer>(&signer)?, saved);
    let mut statement = db.prepare("SELECT kind, doc FROM record")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, doc): (String, String) = (row.get(0)?, row.get(1)?);
        world.restore(match kind.as_str() {
            "account" => Record::Account(serde_json::from_str(&doc)?),
            "client" => Record::Client(serde_json::from_str(&doc)?),
            "token" => Record::Token(serde_json::from_str(&doc)?),
            "mail" => Record::Mail(serde_json::from_str(&doc)?),
            _ => return Err(DataError::Strange(kind)),
        });
    }
    let mut statement = db.prepare("SELECT entry FROM ledger ORDER BY seq")?;
    let entries = statement
        .query_map([], |row| row.get::<_, String>(0))?
        .map(|entry| Ok(serde_json::from_str(&entry?)?))
        .collect::<Result<_, DataError>>()?;
    Ok(Held { world, entries, now })
}

/// The time the clock would show if it had continued at its pace. Nobody was ever told a later time.
fn continued(saved: Time, wall: i64, pace: &str) -> Option<Time> {
    let away = (Utc::now() - Time::from_timestamp_millis(wall)?).max(TimeDelta::zero());
    saved.checked_add_signed(pace.parse::<Pace>().ok()?.of(away))
}

fn write_all(db: Connection, incoming: &mpsc::Receiver<Batch>, progress: &watch::Sender<Progress>) {
    while let Ok(first) = incoming.recv() {
        let batches: Vec<Batch> = std::iter::once(first).chain(incoming.try_iter()).collect();
        if let Err(error) = write(&db, &batches) {
            tracing::error!(error = &error as &dyn std::error::Error, "the sandbox's data can't be written");
            progress.send_replace(Progress::Failed);
            return;
        }
        progress.send_replace(Progress::Durable(batches.last().map_or(0, |batch| batch.number)));
    }
    // The last handle is dropped. A clean end leaves no write-ahead log behind.
    drop(db.close());
}

fn write(db: &Connection, batches: &[Batch]) -> Result<(), DataError> {
    let transaction = db.unchecked_transaction()?;
    {
        let mut put = transaction.prepare_cached("INSERT OR REPLACE INTO record VALUES (?1, ?2, ?3)")?;
        let mut remove = transaction.prepare_cached("DELETE FROM record WHERE kind = ?1 AND id = ?2")?;
        let mut enter = transaction.prepare_cached("INSERT INTO ledger VALUES (?1, ?2)")?;
        let mut tell = transaction.prepare_cached("UPDATE world SET now = ?1, wall = ?2, pace = ?3")?;
        for batch in batches {
            for (key, record) in &batch.records {
                let (kind, id) = name(key);
                match record {
                    Some(record) => put.execute(params![kind, id, document(record)?])?,
                    None => remove.execute(params![kind, id])?,
                };
            }
            if batch.begins_anew {
                transaction.execute("DELETE FROM ledger", [])?;
            }
            for (seq, entry) in &batch.entries {
                enter.execute(params![seq.cast_signed(), serde_json::to_string(entry)?])?;
            }
            let wall = Utc::now().timestamp_millis();
            tell.execute(params![batch.now.timestamp_millis(), wall, batch.pace.to_string()])?;
        }
    }
    Ok(transaction.commit()?)
}

fn name(key: &Key) -> (&'static str, &str) {
    match key {
        Key::Account(id) => ("account", id.as_str()),
        Key::Client(id) => ("client", id.as_str()),
        Key::Token(hash) => ("token", hash.as_str()),
        Key::Mail(id) => ("mail", id.as_str()),
    }
}

fn document(record: &Record) -> serde_json::Result<String> {
    match record {
        Record::Account(account) => serde_json::to_string(account),
        Record::Client(client) => serde_json::to_string(client),
        Record::Token(token) => serde_json::to_string(token),
        Record::Mail(mail) => serde_json::to_string(mail),
    }
}
