//! What queues took: the key of each, where it is, and the answer that it had.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::moves::RecordError;
use super::{Desk, Store, StoreError, millis, read};
use crate::base::clock::Time;
use crate::domain::drop::QueueDoubt;
use crate::domain::incoming::{Incoming, KnownQueue, MailTags, settle};
use crate::domain::letter::{Letter, Number, QueuedAs};
use crate::outside::spool::{Spool, Ulid};

/// Keys of queues may be missing, and not every queue was closed because of that yet.
const DISTRUSTED: &str = "queues distrusted";

/// What a queue took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingRow {
    pub ulid: Ulid,
    pub queue: String,
    pub content: String,
    pub folder: String,
    /// The person who counts as its owner in the folder.
    pub owner: Option<u32>,
    /// Why a person must look at it before it is posted.
    pub look: Option<QueueDoubt>,
    /// What rules may read of the mail that brought it.
    pub mailed: Option<MailTags>,
    /// Its folder has it.
    pub is_marked: bool,
    /// The answer that is given for it whenever it comes again.
    pub answer: Option<String>,
    /// Who brought it and is known to have the answer.
    pub acknowledged: Option<String>,
}

/// A queue as commands show it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct QueueRow {
    pub queue: String,
    /// Whether what comes with an unknown key is new.
    pub open: bool,
    /// The number of things it took under these records.
    pub taken: u64,
    /// Those of them that their folder does not have yet.
    pub waiting: u64,
}

const COLUMNS: &str = "ulid, queue, content, folder, owner, look, mailed, marked, answer, acknowledged";

fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<IncomingRow> {
    let ulid: String = row.get("ulid")?;
    Ok(IncomingRow {
        ulid: ulid.parse().map_err(|()| rusqlite::Error::InvalidColumnName("ulid".to_owned()))?,
        queue: row.get("queue")?,
        content: row.get("content")?,
        folder: row.get("folder")?,
        owner: row.get("owner")?,
        look: row.get::<_, Option<String>>("look")?.map(|word| look_of(&word)),
        mailed: row.get::<_, Option<String>>("mailed")?.and_then(|tags| serde_json::from_str(&tags).ok()),
        is_marked: row.get("marked")?,
        answer: row.get("answer")?,
        acknowledged: row.get("acknowledged")?,
    })
}

fn look_word(look: QueueDoubt) -> &'static str {
    match look {
        QueueDoubt::Lost => "lost",
        QueueDoubt::Printed => "printed",
        QueueDoubt::PrintedAgain => "printed again",
        QueueDoubt::NotProved => "not proved",
        QueueDoubt::MailedAgain => "mailed again",
        QueueDoubt::MailedTwice => "mailed twice",
        QueueDoubt::WasInMailbox => "was in mailbox",
    }
}

/// A word that is not known is one more reason to look.
fn look_of(word: &str) -> QueueDoubt {
    let known = [
        QueueDoubt::Printed,
        QueueDoubt::PrintedAgain,
        QueueDoubt::NotProved,
        QueueDoubt::MailedAgain,
        QueueDoubt::MailedTwice,
        QueueDoubt::WasInMailbox,
    ];
    known.into_iter().find(|look| look_word(*look) == word).unwrap_or(QueueDoubt::Lost)
}

impl Store {
    /// Records the queues of the configuration, each with the hash of its token. A queue that was renamed keeps
    /// its keys: it is known by its token.
    pub async fn know_queues(&self, queues: Vec<(String, String)>) -> Result<(), RecordError> {
        self.write(move |batch| Ok(know_queues(batch.db, &queues)?)).await
    }

    /// Whether what comes to a queue with an unknown key is new.
    pub fn is_queue_open(&self, queue: &str) -> Result<bool, StoreError> {
        let sql = "SELECT is_open FROM queue WHERE name = ?1";
        let found = self.reader().prepare_cached(sql)?.query_row([queue], |row| row.get(0)).optional()?;
        Ok(found.unwrap_or(true))
    }

    /// Records the key of what the spool keeps. Returns `false` if the key stands for something else.
    pub async fn take_incoming(&self, ulid: Ulid, incoming: Incoming, at: Time) -> Result<bool, RecordError> {
        self.write(move |batch| Ok(insert(batch.db, &ulid, &incoming, at)?)).await
    }

    /// What was taken under a key.
    pub fn incoming_by(&self, queue: &str, key: &str) -> Result<Option<IncomingRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM incoming WHERE queue = ?1 AND key = ?2");
        Ok(self.reader().prepare_cached(&sql)?.query_row([queue, key], row).optional()?)
    }

    /// What was taken under a key that no two queues have by chance, in whichever of them.
    pub fn incoming_of_any(&self, key: &str) -> Result<Option<IncomingRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM incoming WHERE key = ?1");
        Ok(self.reader().prepare_cached(&sql)?.query_row([key], row).optional()?)
    }

    /// The first letter that came with the print job of this one.
    pub fn letter_of_job(&self, ulid: &Ulid) -> Result<Option<Number>, StoreError> {
        // The later ones of a job have its key and a number.
        let sql = "SELECT min(original.letter) FROM incoming AS this
                   JOIN incoming AS other ON other.key = substr(this.key, 1, 64)
                       OR other.key LIKE substr(this.key, 1, 64) || ' %'
                   JOIN original ON original.ulid = other.ulid WHERE this.ulid = ?1";
        let row = |row: &rusqlite::Row<'_>| row.get::<_, Option<i64>>(0);
        let found = self.reader().prepare_cached(sql)?.query_row([ulid.as_str()], row)?;
        Ok(found.and_then(|number| u64::try_from(number).ok()).map(Number))
    }

    pub fn incoming(&self, ulid: &Ulid) -> Result<Option<IncomingRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM incoming WHERE ulid = ?1");
        Ok(self.reader().prepare_cached(&sql)?.query_row([ulid.as_str()], row).optional()?)
    }

    /// What these folders do not have yet, oldest first, but for some: the folder, and its ULID.
    pub fn to_lay(&self, folders: &[&str], but: &[&str]) -> Result<Vec<(String, Ulid)>, StoreError> {
        let db = self.reader();
        let any = "SELECT 1 FROM incoming WHERE marked = 0";
        if !db.prepare_cached(any)?.exists([])? {
            return Ok(Vec::new());
        }
        let sql = "SELECT folder, ulid FROM incoming
                   WHERE marked = 0 AND folder IN (SELECT value FROM json_each(?1))
                       AND ulid NOT IN (SELECT value FROM json_each(?2)) ORDER BY ulid LIMIT 50";
        let mut statement = db.prepare_cached(sql)?;
        let lists = [serde_json::to_string(folders)?, serde_json::to_string(but)?];
        let found = statement.query_map(lists, |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
        let found: Vec<(String, String)> = found.collect::<Result<_, _>>()?;
        let named = |(folder, ulid): (String, String)| Some((folder, ulid.parse().ok()?));
        Ok(found.into_iter().filter_map(named).collect())
    }

    /// Its folder has it.
    pub async fn mark_incoming(&self, ulid: Ulid) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE incoming SET marked = 1 WHERE ulid = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute([ulid.as_str()]).map(drop)?)
        })
        .await
    }

    /// Keeps the answer that is given for it from now on. The first one stays.
    pub async fn answered(&self, ulid: Ulid, answer: String) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE incoming SET answer = ?2 WHERE ulid = ?1 AND answer IS NULL";
            Ok(batch.db.prepare_cached(sql)?.execute([ulid.as_str(), &answer]).map(drop)?)
        })
        .await
    }

    /// Who brought it has the answer. What comes from others under the same name from now on is not the same.
    pub async fn acknowledged(&self, ulid: Ulid, by: String) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE incoming SET acknowledged = ?2 WHERE ulid = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute([ulid.as_str(), &by]).map(drop)?)
        })
        .await
    }
}

impl Desk {
    /// The queues that were in use, with their numbers.
    pub fn queues(&self) -> Result<Vec<QueueRow>, StoreError> {
        let sql =
            "SELECT name, is_open, taken, (SELECT count(*) FROM incoming WHERE queue = name AND marked = 0)
                   FROM queue ORDER BY name";
        let mut statement = self.db().prepare_cached(sql)?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok(QueueRow {
                queue: row.get(0)?,
                open: row.get(1)?,
                taken: read::count(row, 2)?,
                waiting: read::count(row, 3)?,
            })
        };
        Ok(statement.query_map([], row)?.collect::<Result<_, _>>()?)
    }

    /// What queues took that is neither in the spool nor, as far as is recorded, in its folder.
    pub(super) fn lost_incoming(&self, spool: &Spool) -> Result<Vec<String>, StoreError> {
        let is_lost =
            |ulid: &String| ulid.parse().is_ok_and(|ulid| !matches!(spool.incoming(&ulid), Ok(Some(_))));
        // What is laid at this moment has left the spool, and is recorded.
        let lost: Vec<String> = unmarked(self.db())?.into_iter().filter(is_lost).collect();
        let still = unmarked(self.db())?;
        Ok(lost.into_iter().filter(|ulid| still.contains(ulid)).collect())
    }

    /// The keys that a queue's programs use from now on are new. Returns whether there is such a queue.
    pub fn open_queue(&self, queue: &str) -> Result<bool, StoreError> {
        let sql = "UPDATE queue SET is_open = 1 WHERE name = ?1";
        Ok(self.db().execute(sql, [queue])? > 0)
    }

    /// The queue that a letter or a drop came from, by its spool entry.
    pub fn queue_of(&self, entry: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT queue FROM incoming WHERE ulid = ?1";
        Ok(self.db().prepare_cached(sql)?.query_row([entry], |row| row.get(0)).optional()?)
    }
}

/// What a letter's queue knows it by, for its first fact.
pub(super) fn queued_as(db: &Connection, ulid: &Ulid) -> rusqlite::Result<Option<QueuedAs>> {
    let sql = "SELECT queue, key, content FROM incoming WHERE ulid = ?1 AND key IS NOT NULL";
    let row =
        |row: &rusqlite::Row<'_>| Ok(QueuedAs { queue: row.get(0)?, key: row.get(1)?, content: row.get(2)? });
    db.prepare_cached(sql)?.query_row([ulid.as_str()], row).optional()
}

/// The key of a letter that only the ledger has. Its folder has it, since it is a letter. Whether its answer came
/// to whoever brought it is not known any more, so that a print job that comes again is held.
pub(super) fn restore(db: &Connection, letter: &Letter, queued: &QueuedAs) -> rusqlite::Result<()> {
    let QueuedAs { queue, key, content } = queued;
    let sql = "INSERT INTO incoming (ulid, queue, key, content, folder, taken_at, marked, acknowledged)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, '')
               ON CONFLICT (ulid) DO UPDATE SET marked = 1 ON CONFLICT DO NOTHING";
    let values = params![letter.entry, queue, key, content, letter.order.source, millis(letter.admitted_at)];
    db.prepare_cached(sql)?.execute(values).map(drop)
}

/// A refused drop uses up no key: it may come again. A mail does not: sent again, it has another number.
pub(super) fn free_key(db: &Connection, ulid: &Ulid) -> rusqlite::Result<()> {
    let sql = "UPDATE incoming SET key = NULL WHERE ulid = ?1 AND mailed IS NULL";
    db.prepare_cached(sql)?.execute([ulid.as_str()]).map(drop)
}

fn insert(db: &Connection, ulid: &Ulid, incoming: &Incoming, at: Time) -> rusqlite::Result<bool> {
    let Incoming { queue, key, content, folder, owner, look, mailed, .. } = incoming;
    let sql = "INSERT INTO incoming (ulid, queue, key, content, folder, owner, look, taken_at, mailed)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING";
    let folder = super::folders::present_name(db, folder)?;
    let (look, at) = (look.map(look_word), millis(at));
    let mailed = mailed.as_ref().and_then(|tags| serde_json::to_string(tags).ok());
    let values = params![ulid.as_str(), queue, key, content, folder, owner, look, at, mailed];
    if db.prepare_cached(sql)?.execute(values)? == 0 {
        return Ok(false);
    }
    db.prepare_cached("UPDATE queue SET taken = taken + 1 WHERE name = ?1")?.execute([queue])?;
    Ok(true)
}

/// A name that no file has.
fn aside(n: usize) -> String {
    format!("/{n}")
}

fn has_queue(db: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM queue WHERE name = ?1 UNION ALL SELECT 1 FROM incoming WHERE queue = ?1 LIMIT 1";
    db.prepare_cached(sql)?.exists([name])
}

fn rename(db: &Connection, from: &str, to: &str) -> rusqlite::Result<()> {
    db.execute("UPDATE queue SET name = ?2 WHERE name = ?1", [from, to])?;
    // Only a ledger that a database was made anew from can have brought the same key under the new name.
    db.execute("UPDATE OR IGNORE incoming SET queue = ?2 WHERE queue = ?1", [from, to]).map(drop)
}

fn known_queues(db: &Connection) -> rusqlite::Result<Vec<KnownQueue>> {
    let mut statement = db.prepare("SELECT name, token, former FROM queue ORDER BY name")?;
    let row = |row: &rusqlite::Row<'_>| {
        let former: String = row.get(2)?;
        Ok(KnownQueue {
            name: row.get(0)?,
            token: row.get(1)?,
            former: serde_json::from_str(&former).unwrap_or_default(),
        })
    };
    statement.query_map([], row)?.collect()
}

fn know_queues(db: &Connection, queues: &[(String, String)]) -> rusqlite::Result<()> {
    let flag = db.execute("DELETE FROM meta WHERE key = ?1", [DISTRUSTED])?;
    if flag > 0 {
        db.execute("UPDATE queue SET is_open = 0", [])?;
    }
    let known = known_queues(db)?;
    let settled = settle(&known, queues);
    // Names are free before they are given away.
    for (n, row) in known.iter().enumerate() {
        let keeps = settled.iter().zip(queues).any(|(is, (name, _))| is.row == Some(n) && *name == row.name);
        if !keeps
            && (settled.iter().any(|is| is.row == Some(n))
                || queues.iter().any(|(name, _)| *name == row.name))
        {
            rename(db, &row.name, &aside(n))?;
        }
    }
    for (is, (name, token)) in settled.iter().zip(queues) {
        let Some((n, row)) = is.row.map(|n| (n, &known[n])) else {
            let sql = "INSERT INTO queue (name, token, is_open) VALUES (?1, ?2, ?3)";
            db.execute(sql, params![name, token, flag == 0 && !is.is_ambiguous])?;
            continue;
        };
        if row.name != *name {
            rename(db, &aside(n), name)?;
        }
        let mut former = row.former.clone();
        if row.token != *token {
            former.push(row.token.clone());
        }
        let former = serde_json::to_string(&former).unwrap_or_default();
        let sql = "UPDATE queue SET token = ?2, former = ?3 WHERE name = ?1";
        db.execute(sql, params![name, token, former])?;
    }
    // Who had a name that another has now is found again by its token.
    let left = known.iter().enumerate().filter(|(n, _)| settled.iter().all(|is| is.row != Some(*n)));
    for (n, row) in left.filter(|(_, row)| queues.iter().any(|(name, _)| *name == row.name)) {
        let mut count = 1;
        while has_queue(db, &format!("{}/{count}", row.name))? {
            count += 1;
        }
        rename(db, &aside(n), &format!("{}/{count}", row.name))?;
    }
    Ok(())
}

/// A copy of the database may come without the spool. What was not in its folder then may be there by now, or be
/// lost. If it comes again its key is unknown, and it is held.
fn forget_lost(db: &Connection, spool: &Spool) -> Result<(), StoreError> {
    for ulid in unmarked(db)? {
        if ulid.parse().is_ok_and(|ulid| !matches!(spool.incoming(&ulid), Ok(Some(_)))) {
            db.execute("UPDATE incoming SET key = NULL, marked = 1 WHERE ulid = ?1", [ulid])?;
        }
    }
    Ok(())
}

fn unmarked(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare("SELECT ulid FROM incoming WHERE marked = 0")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// At a start: what the spool keeps has its key recorded, and what its folder has is not kept any more.
/// `distrusted` says that keys may be missing: every queue is closed.
pub(super) fn recover(db: &Connection, spool: &Spool, distrusted: bool, now: Time) -> Result<(), StoreError> {
    if distrusted {
        db.execute("INSERT OR REPLACE INTO meta VALUES (?1, '')", [DISTRUSTED])?;
        forget_lost(db, spool)?;
    }
    spool.sweep_incoming()?;
    for ulid in spool.all_incoming()? {
        let marked: Option<bool> = db
            .prepare_cached("SELECT marked FROM incoming WHERE ulid = ?1")?
            .query_row([ulid.as_str()], |row| row.get(0))
            .optional()?;
        match marked {
            Some(true) => spool.remove_incoming(&ulid)?,
            Some(false) => {}
            None => match spool.incoming(&ulid) {
                Ok(None) => {}
                Ok(Some(incoming)) => {
                    let look = if distrusted { Some(QueueDoubt::Lost) } else { incoming.look };
                    if !insert(db, &ulid, &Incoming { look, ..incoming }, now)? {
                        // Nothing was answered for it, and its key stands for another.
                        spool.remove_incoming(&ulid)?;
                    } else if distrusted {
                        db.execute("UPDATE incoming SET acknowledged = '' WHERE ulid = ?1", [ulid.as_str()])?;
                    }
                }
                Err(error) => {
                    tracing::error!(entry = %ulid, error = &error as &dyn std::error::Error,
                        "something that a queue took can't be read; it is left where it is");
                }
            },
        }
    }
    Ok(())
}
