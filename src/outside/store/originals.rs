//! Where the originals of letters lie, and the outcomes of drops that are not letters.
//!
//! Pending work is a level: an original is due until it lies where its letter says and its text says so.
//! Moves have an intent, so that a crash in the middle of one differs from a person's move.

use rusqlite::{Connection, OptionalExtension as _, ToSql, params};
use std::collections::BTreeSet;

use super::folders::present_name;
use super::moves::RecordError;
use super::news::{self, DropNotice};
use super::{Store, StoreError, incoming, millis, signed, time};
use crate::base::clock::Time;
use crate::domain::drop::{Origin, Undecided, Waiting, forms_of};
use crate::domain::letter::{Letter, Number};
use crate::outside::spool::Ulid;

/// Where an original lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OriginalPlace {
    /// Taken in, where people cannot see it.
    Claim,
    Held,
    Sent,
    Rejected,
    Cancelled,
    /// A person took it away, or it is lost. Nothing is pending any more.
    Gone,
}

impl OriginalPlace {
    const ALL: [Self; 6] = [Self::Claim, Self::Held, Self::Sent, Self::Rejected, Self::Cancelled, Self::Gone];

    fn word(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Held => "held",
            Self::Sent => "sent",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Gone => "gone",
        }
    }
}

/// The outcome of a drop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Letter(Number),
    /// It is not a letter, or not yet.
    Undecided(Undecided),
}

impl Fate {
    pub fn letter(&self) -> Option<Number> {
        match self {
            Self::Letter(number) => Some(*number),
            Self::Undecided(_) => None,
        }
    }

    pub fn undecided(&self) -> Option<&Undecided> {
        match self {
            Self::Letter(_) => None,
            Self::Undecided(undecided) => Some(undecided),
        }
    }
}

/// A drop's original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original {
    pub ulid: Ulid,
    pub origin: Origin,
    pub fate: Fate,
    /// The SHA-256 of its PDF when it was last found not to be a letter. `None` if it is a subfolder or was
    /// not read.
    pub content: Option<String>,
    pub place: OriginalPlace,
    /// Its path in the folder.
    pub shelved: Option<Vec<u8>>,
    /// Its inode when it was put on its shelf, kept if another gets its place there. `None` if it is in its claim, if a
    /// person moved it before that was recorded, or if an earlier version put it there.
    pub inode: Option<u64>,
    pub moving: Option<Vec<u8>>,
    /// What its text was made from, so that it is not written twice.
    pub told: Option<String>,
    pub attempts: u32,
    /// How often work became pending. Finished work counts for this number of changes.
    pub changes: i64,
    /// Whether work is pending.
    pub is_due: bool,
}

pub(super) const COLUMNS: &str =
    "ulid, folder, name, owner, letter, undecided, content, place, shelved, inode, moving,
    told, attempts, changes, due_at IS NOT NULL AS is_due";

pub(super) fn one(db: &Connection, column: &str, is: impl ToSql) -> Result<Option<Original>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM original WHERE {column} = ?1");
    Ok(db.prepare_cached(&sql)?.query_row([is], original).optional()?)
}

pub(super) fn original(row: &rusqlite::Row<'_>) -> rusqlite::Result<Original> {
    let wrong = |column: &str| rusqlite::Error::InvalidColumnName(column.to_owned());
    let ulid: String = row.get("ulid")?;
    let (letter, undecided): (Option<i64>, Option<String>) = (row.get("letter")?, row.get("undecided")?);
    let word: String = row.get("place")?;
    Ok(Original {
        ulid: ulid.parse().map_err(|()| wrong("ulid"))?,
        origin: Origin { folder: row.get("folder")?, name: row.get("name")?, owner: row.get("owner")? },
        fate: match letter {
            Some(number) => Fate::Letter(Number(number.unsigned_abs())),
            None => Fate::Undecided(readable(&undecided.unwrap_or_default())),
        },
        content: row.get("content")?,
        place: OriginalPlace::ALL
            .into_iter()
            .find(|place| place.word() == word)
            .ok_or_else(|| wrong("place"))?,
        shelved: row.get("shelved")?,
        inode: row.get::<_, Option<i64>>("inode")?.map(i64::cast_unsigned),
        moving: row.get("moving")?,
        told: row.get("told")?,
        attempts: row.get("attempts")?,
        changes: row.get("changes")?,
        is_due: row.get("is_due")?,
    })
}

/// The outcome of a drop. One that cannot be parsed waits for a person, and holds up no other.
pub(super) fn readable(undecided: &str) -> Undecided {
    serde_json::from_str(undecided).unwrap_or(Undecided::Waits(Waiting::WasThere))
}

impl Store {
    pub fn original(&self, ulid: &Ulid) -> Result<Option<Original>, StoreError> {
        one(&self.reader(), "ulid", ulid.as_str())
    }

    /// The original of a letter, if it came from a folder.
    pub fn original_of(&self, letter: Number) -> Result<Option<Original>, StoreError> {
        one(&self.reader(), "letter", signed(letter.0))
    }

    /// Work that is due, and when there will be more.
    pub fn due_originals(
        &self,
        now: Time,
        but_of: &BTreeSet<String>,
    ) -> Result<(Vec<Original>, Option<Time>), StoreError> {
        let db = self.reader();
        let sql = format!(
            "SELECT {COLUMNS} FROM original WHERE due_at <= ?1
             AND folder NOT IN (SELECT value FROM json_each(?2)) ORDER BY due_at LIMIT 200"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let but_of = serde_json::to_string(but_of).unwrap_or_default();
        let due = statement.query_map(params![millis(now), but_of], original)?.collect::<Result<_, _>>()?;
        let sql = "SELECT min(due_at) FROM original WHERE due_at > ?1";
        let next: Option<i64> = db.prepare_cached(sql)?.query_row([millis(now)], |row| row.get(0))?;
        Ok((due, next.map(time)))
    }

    /// The targets of a folder's moves that were begun and not recorded as finished.
    pub fn moves_begun(&self, folder: &str) -> Result<Vec<Vec<u8>>, StoreError> {
        let db = self.reader();
        let sql =
            "SELECT moving FROM original WHERE due_at IS NOT NULL AND folder = ?1 AND moving IS NOT NULL";
        let mut statement = db.prepare_cached(sql)?;
        let begun = statement.query_map([folder], |row| row.get(0))?;
        Ok(begun.collect::<Result<_, _>>()?)
    }

    /// The originals that were put on a folder's shelves under a name in any form of Unicode, or were being put there,
    /// the newest first.
    pub fn originals_named(&self, folder: &str, name: &[u8]) -> Result<Vec<Original>, StoreError> {
        let db = self.reader();
        let sql = format!(
            "SELECT {COLUMNS} FROM original WHERE folder = ?1 AND shelved IS NOT NULL
             AND substr(shelved, -length(?2)) = ?2
             UNION SELECT {COLUMNS} FROM original WHERE due_at IS NOT NULL AND folder = ?1 AND moving IS NOT NULL
             AND substr(moving, -length(?2)) = ?2"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let mut found = Vec::new();
        for name in forms_of(name) {
            let rows = statement.query_map(params![folder, [b"/", name.as_slice()].concat()], original)?;
            found.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
        found.sort_by(|one, other| other.ulid.cmp(&one.ulid));
        Ok(found)
    }

    /// Drops that are no letters and had this inode on their shelf, whether another has got their place by now or not.
    pub fn drops_of_inode(&self, folder: &str, inode: u64) -> Result<Vec<Original>, StoreError> {
        let db = self.reader();
        let sql = format!(
            "SELECT {COLUMNS} FROM original
             WHERE place IN ('held', 'gone') AND letter IS NULL AND content IS NOT NULL AND folder = ?1 AND inode = ?2"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let found = statement.query_map(params![folder, inode.cast_signed()], original)?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Drops of a folder that wait for a person or were accepted, without being letters yet, and have this name in any form
    /// of Unicode: on their shelf, or as they were dropped. Also those that a person took from there and may bring back.
    pub fn open_drops_named(&self, folder: &str, name: &[u8]) -> Result<Vec<Original>, StoreError> {
        let db = self.reader();
        let sql = format!(
            "SELECT {COLUMNS} FROM original WHERE place IN ('held', 'claim', 'gone') AND letter IS NULL AND folder = ?1
             AND (name = ?2 OR substr(shelved, -length(?3)) = ?3)"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let mut found = Vec::new();
        for name in forms_of(name) {
            let on_shelf = [b"/", name.as_slice()].concat();
            let rows = statement.query_map(params![folder, name, on_shelf], original)?;
            found.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
        found.retain(|original| original.fate.undecided().is_some_and(Undecided::is_open));
        Ok(found)
    }

    /// Whether another original lies at a path of a folder.
    pub fn is_anothers(&self, original: &Original, path: &[u8]) -> Result<bool, StoreError> {
        let sql =
            "SELECT 1 FROM original WHERE folder = ?1 AND shelved = ?2 AND ulid <> ?3 AND place <> 'gone'";
        let values = params![original.origin.folder, path, original.ulid.as_str()];
        Ok(self.reader().prepare_cached(sql)?.exists(values)?)
    }

    /// Whether a move of another original to a path of a folder was begun, and is not recorded as ended.
    pub fn another_comes_to(&self, original: &Original, path: &[u8]) -> Result<bool, StoreError> {
        let sql =
            "SELECT 1 FROM original WHERE due_at IS NOT NULL AND folder = ?1 AND moving = ?2 AND ulid <> ?3";
        let values = params![original.origin.folder, path, original.ulid.as_str()];
        Ok(self.reader().prepare_cached(sql)?.exists(values)?)
    }

    /// Records a drop that is not a letter. Its original is moved where people see it, not before `due`.
    pub async fn undecide(
        &self,
        ulid: Ulid,
        origin: Origin,
        undecided: Undecided,
        content: Option<String>,
        (at, due): (Time, Time),
    ) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "INSERT INTO original (ulid, folder, name, undecided, arrived_at, place, due_at, owner, content)
                       VALUES (?1, ?2, ?3, ?4, ?5, 'claim', ?7, ?6, ?8)
                       ON CONFLICT (ulid) DO UPDATE SET undecided = ?4, arrived_at = ?5, due_at = ?7,
                           content = coalesce(?8, content), changes = changes + 1
                       WHERE letter IS NULL";
            let notice = match &undecided {
                Undecided::Refused(_) => Some(DropNotice::Rejected),
                Undecided::Waits(_) => Some(DropNotice::Held),
                Undecided::Cancelled => Some(DropNotice::Cancelled),
                Undecided::Accepted { .. } => None,
            };
            if matches!(undecided, Undecided::Refused(_)) {
                incoming::free_key(batch.db, &ulid)?;
            }
            let undecided = serde_json::to_string(&undecided)?;
            let Origin { folder, name, owner } = &origin;
            let folder = present_name(batch.db, folder)?;
            let values = params![ulid.as_str(), folder, name, undecided, millis(at), owner, millis(due), content];
            let changed = batch.db.prepare_cached(sql)?.execute(values)?;
            if let Some(notice) = notice.filter(|_| changed > 0) {
                let about = millis(at).to_string();
                news::owe(batch.db, ulid.as_str(), notice.word(), &about, None, at)?;
            }
            Ok(())
        })
        .await
    }

    /// A person accepts a drop with exactly these bytes.
    pub async fn accept(&self, ulid: Ulid, doubts: Vec<String>) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE original SET undecided = ?2, due_at = NULL, changes = changes + 1
                       WHERE ulid = ?1 AND letter IS NULL";
            let accepted = serde_json::to_string(&Undecided::Accepted { doubts: doubts.clone() })?;
            Ok(batch.db.prepare_cached(sql)?.execute(params![ulid.as_str(), accepted]).map(drop)?)
        })
        .await
    }

    /// Held drops that are missing from their shelf: a person decided without them. They can be brought back.
    pub async fn missed(&self, drops: Vec<Ulid>) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE original SET place = 'gone', changes = changes + 1
                       WHERE ulid = ?1 AND letter IS NULL AND place = 'held' AND due_at IS NULL";
            for ulid in &drops {
                batch.db.prepare_cached(sql)?.execute([ulid.as_str()])?;
            }
            Ok(())
        })
        .await
    }

    /// Where an original is about to be moved.
    pub fn moving(
        &self,
        ulid: Ulid,
        to: Vec<u8>,
    ) -> impl Future<Output = Result<(), RecordError>> + Send + use<> {
        self.write(move |batch| {
            let sql = "UPDATE original SET moving = ?2 WHERE ulid = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![ulid.as_str(), to]).map(drop)?)
        })
    }

    /// Where an original lies now. It stays due if more became pending since `seen`.
    pub fn placed(
        &self,
        ulid: Ulid,
        place: OriginalPlace,
        shelved: Option<Vec<u8>>,
        inode: Option<u64>,
        told: Option<String>,
        seen: i64,
    ) -> impl Future<Output = Result<(), RecordError>> + Send + use<> {
        self.write(move |batch| {
            let sql = "UPDATE original SET place = ?2, shelved = ?3, inode = ?6, moving = NULL, told = ?4, attempts = 0,
                       trouble = NULL, due_at = CASE changes WHEN ?5 THEN NULL ELSE due_at END
                       WHERE ulid = ?1";
            let follow = "UPDATE sealed SET due_at = 0 WHERE path IS NOT NULL AND letter =
                          (SELECT letter FROM original WHERE ulid = ?1 AND shelved IS NOT ?2)";
            batch.db.prepare_cached(follow)?.execute(params![ulid.as_str(), shelved])?;
            let values = params![ulid.as_str(), place.word(), shelved, told, seen, inode.map(u64::cast_signed)];
            batch.db.prepare_cached(sql)?.execute(values)?;
            // What another row says of this path is no longer true. Its inode stays: see `drops_of_inode`.
            let sql = "UPDATE original SET shelved = NULL WHERE shelved = ?3 AND ulid <> ?1
                       AND folder = (SELECT folder FROM original WHERE ulid = ?1) AND ?2 <> 'gone'";
            let values = params![ulid.as_str(), place.word(), shelved];
            Ok(batch.db.prepare_cached(sql)?.execute(values).map(drop)?)
        })
    }

    /// An original is back in the claims. Unless it is decided again, it is put away again at `due`.
    pub async fn reclaimed(&self, ulid: Ulid, due: Option<Time>) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE original SET place = 'claim', shelved = NULL, inode = NULL, moving = NULL, told = NULL,
                       due_at = ?2, changes = changes + 1 WHERE ulid = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![ulid.as_str(), due.map(millis)]).map(drop)?)
        })
        .await
    }

    /// A move failed and is tried again then.
    pub fn move_later(
        &self,
        ulid: Ulid,
        until: Time,
        why: String,
    ) -> impl Future<Output = Result<(), RecordError>> + Send + use<> {
        self.write(move |batch| {
            let sql =
                "UPDATE original SET due_at = ?2, attempts = attempts + 1, trouble = ?3 WHERE ulid = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![ulid.as_str(), millis(until), why]).map(drop)?)
        })
    }
}

/// A letter came from a drop. `rests` says that its original stays in its claim, without pending work, while
/// the letter is on its way.
pub(super) fn insert(
    db: &Connection,
    ulid: &str,
    origin: &Origin,
    (letter, rests): (Number, bool),
    at: Time,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO original (ulid, folder, name, letter, arrived_at, place, due_at, owner)
               VALUES (?1, ?2, ?3, ?4, ?5, 'claim', CASE WHEN ?7 THEN NULL ELSE ?5 END, ?6)
               ON CONFLICT (ulid) DO UPDATE SET letter = ?4, undecided = NULL, due_at = ?5, changes = changes + 1";
    let Origin { folder, name, owner } = origin;
    let folder = present_name(db, folder)?;
    let values = params![ulid, folder, name, signed(letter.0), millis(at), owner, rests];
    db.prepare_cached(sql)?.execute(values).map(drop)
}

/// A letter's original may lie at the wrong place, whatever is known of it.
pub(super) fn owe(db: &Connection, letter: &Letter, at: Time) -> rusqlite::Result<()> {
    let sql = "UPDATE original SET due_at = ?2, changes = changes + 1 WHERE letter = ?1 AND place <> 'gone'";
    db.prepare_cached(sql)?.execute(params![signed(letter.number.0), millis(at)]).map(drop)
}

/// The letter has changed, so its original may lie at the wrong place. Nothing is pending while the letter is
/// on its way and the original in its claim.
pub(super) fn letter_changed(db: &Connection, letter: &Letter, at: Time) -> rusqlite::Result<()> {
    let sql = "UPDATE original SET due_at = ?2, changes = changes + 1
               WHERE letter = ?1 AND place <> 'gone'
                 AND NOT (?3 AND place = 'claim' AND moving IS NULL AND due_at IS NULL)";
    let values = params![signed(letter.number.0), millis(at), letter.is_on_its_way()];
    db.prepare_cached(sql)?.execute(values).map(drop)
}
