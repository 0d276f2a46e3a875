//! How long things are kept: sealed PDFs that were fetched, and what is removed after its time.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::moves::{Record, RecordError};
use super::news::{self};
use super::rows::stages;
use super::{Store, StoreError, millis, read, signed, time};
use crate::base::clock::Time;
use crate::domain::letter::{Kept, Letter, Notice, Number, Progress};
use crate::outside::spool::{Line, Ulid};

/// A sealed PDF that must be fetched, or moved to where its original is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedRow {
    pub letter: Number,
    /// The index of the document, from 0.
    pub document: usize,
    pub attempts: u32,
    /// Its path in the folder, once it is there.
    pub path: Option<Vec<u8>>,
}

/// A letter that has ended, and when it last changed. Letters are looked at in this order, so that those of which
/// nothing can be removed hold up no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedLetter {
    pub changed_at: Time,
    pub number: Number,
}

impl EndedLetter {
    /// Before all others.
    pub const FIRST: Self = Self { changed_at: Time::UNIX_EPOCH, number: Number(0) };
}

/// The number of letters in one look.
const LOOKED_AT: i64 = 100;

impl Store {
    /// Sealed PDFs with pending work, and when there will be more.
    pub fn due_sealed(&self, now: Time) -> Result<(Vec<SealedRow>, Option<Time>), StoreError> {
        let db = self.reader();
        let sql = "SELECT letter, n, attempts, path FROM sealed WHERE due_at <= ?1 ORDER BY due_at LIMIT 50";
        let mut statement = db.prepare_cached(sql)?;
        let row = |row: &rusqlite::Row<'_>| {
            let document = usize::try_from(row.get::<_, i64>(1)?).unwrap_or_default();
            Ok(SealedRow {
                letter: read::number(row, 0)?,
                document,
                attempts: row.get(2)?,
                path: row.get(3)?,
            })
        };
        let due = statement.query_map([millis(now)], row)?.collect::<Result<_, _>>()?;
        let sql = "SELECT min(due_at) FROM sealed WHERE due_at > ?1";
        let next: Option<i64> = db.prepare_cached(sql)?.query_row([millis(now)], |row| row.get(0))?;
        Ok((due, next.map(time)))
    }

    /// A sealed PDF lies beside its original. If it differs from what was uploaded, people are told.
    pub async fn sealed(
        &self,
        row: &SealedRow,
        path: Vec<u8>,
        same: Option<bool>,
        now: Time,
    ) -> Result<(), RecordError> {
        let (letter, document) = (row.letter, signed(row.document as u64));
        self.write(move |batch| {
            let sql = "UPDATE sealed SET due_at = NULL, attempts = 0, trouble = NULL, path = ?3,
                       same = coalesce(?4, same) WHERE letter = ?1 AND n = ?2";
            let number = signed(letter.0);
            batch.db.prepare_cached(sql)?.execute(params![number, document, path, same])?;
            if same.is_none() {
                return Ok(());
            }
            let tell = "UPDATE original SET due_at = ?2, changes = changes + 1
                        WHERE letter = ?1 AND place <> 'gone'";
            batch.db.prepare_cached(tell)?.execute(params![number, millis(now)])?;
            if same == Some(false) {
                let notice = Notice::SealedOtherwise.word();
                news::owe(batch.db, &letter.to_string(), notice, &document.to_string(), None, now)?;
            }
            Ok(())
        })
        .await
    }

    /// It could not be fetched or written now. `until` is `None` if it never can be.
    pub async fn sealed_later(
        &self,
        row: &SealedRow,
        until: Option<Time>,
        why: String,
    ) -> Result<(), RecordError> {
        let (letter, document) = (signed(row.letter.0), signed(row.document as u64));
        self.write(move |batch| {
            let sql = "UPDATE sealed SET due_at = ?3, attempts = attempts + 1, trouble = ?4
                       WHERE letter = ?1 AND n = ?2";
            let values = params![letter, document, until.map(millis), why];
            Ok(batch.db.prepare_cached(sql)?.execute(values).map(drop)?)
        })
        .await
    }

    /// Whether everything that was sealed of a letter is what was uploaded. `None` if nothing was fetched.
    pub fn is_sealed_as_sent(&self, letter: Number) -> Result<Option<bool>, StoreError> {
        let sql = "SELECT min(same) FROM sealed WHERE letter = ?1";
        Ok(self
            .reader()
            .prepare_cached(sql)?
            .query_row([signed(letter.0)], |row| row.get(0))
            .optional()?
            .flatten())
    }

    /// The paths of a letter's sealed PDFs in its folder.
    pub fn sealed_paths(&self, letter: Number) -> Result<Vec<Vec<u8>>, StoreError> {
        let db = self.reader();
        let mut statement =
            db.prepare_cached("SELECT path FROM sealed WHERE letter = ?1 AND path IS NOT NULL ORDER BY n")?;
        let paths = statement.query_map([signed(letter.0)], |row| row.get(0))?;
        Ok(paths.collect::<Result<_, _>>()?)
    }

    /// The next letters of a folder that ended before then, and of which this is still kept. An original must lie on a
    /// shelf or be gone: one that is being moved is removed later, and after records were made anew some are not known.
    pub fn kept_too_long(
        &self,
        folder: &str,
        what: Kept,
        before: Time,
        after: EndedLetter,
    ) -> Result<Vec<EndedLetter>, StoreError> {
        let more = match what {
            Kept::Original => {
                "EXISTS (SELECT 1 FROM original WHERE letter = number
                         AND (shelved IS NOT NULL OR place = 'gone') AND due_at IS NULL)"
            }
            Kept::Receiver => {
                "discarded & 1 = 1
                 AND NOT EXISTS (SELECT 1 FROM original WHERE letter = number AND place <> 'gone')"
            }
            Kept::Documents => "TRUE",
        };
        let ended = stages(|stage| stage.progress() == Progress::Ended);
        // The bit stands in the text, as in the index.
        let bit = what.bit();
        let sql = format!(
            "SELECT changed_at, number FROM letter WHERE source = ?1 AND changed_at < ?2
             AND (changed_at, number) > (?3, ?4) AND discarded & {bit} = 0
             AND due_at IS NULL AND state {ended} AND {more} ORDER BY changed_at, number LIMIT {LOOKED_AT}"
        );
        let db = self.reader();
        let mut statement = db.prepare_cached(&sql)?;
        let values = params![folder, millis(before), millis(after.changed_at), signed(after.number.0)];
        let row = |row: &rusqlite::Row<'_>| {
            Ok(EndedLetter { changed_at: time(row.get(0)?), number: read::number(row, 1)? })
        };
        Ok(statement.query_map(values, row)?.collect::<Result<_, _>>()?)
    }

    /// Removes receivers and file names of letters from the records. Their histories say so.
    pub async fn struck(&self, letters: Vec<Letter>, at: Time) -> Result<(), RecordError> {
        self.write(move |batch| {
            for letter in letters.iter().cloned() {
                if let Some(line) = strike(batch.db, letter.number)? {
                    batch.gathered.struck.insert(line.seq, line.written()?);
                }
                let change = letter.discarded(Kept::Receiver);
                batch.record(&Record { letter, change, at, order: None })?;
            }
            Ok(())
        })
        .await
    }

    /// Sources of letters with kept documents that no folder of the configuration has.
    pub fn sources(&self) -> Result<Vec<String>, StoreError> {
        let db = self.reader();
        let mut statement = db.prepare_cached("SELECT DISTINCT source FROM letter")?;
        let sources = statement.query_map([], |row| row.get(0))?;
        Ok(sources.collect::<Result<_, _>>()?)
    }

    /// It was removed, and the letter's history says so.
    pub async fn discarded(&self, letter: Letter, what: Kept, at: Time) -> Result<(), RecordError> {
        let change = letter.discarded(what);
        self.record(Record { letter, change, at, order: None }).await.map(drop)
    }

    /// An original was removed.
    pub async fn original_removed(&self, ulid: Ulid) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE original SET place = 'gone', shelved = NULL, inode = NULL, moving = NULL, told = NULL,
                       due_at = NULL WHERE ulid = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute([ulid.as_str()]).map(drop)?)
        })
        .await
    }
}

/// Removes them in the database. Returns the line that the ledger must have.
pub(super) fn strike(db: &Connection, number: Number) -> Result<Option<Line>, StoreError> {
    let Some(first) = read::facts(db, number)?.into_iter().next() else { return Ok(None) };
    let line = first.struck();
    let written = line.written()?;
    let letter = signed(number.0);
    let sql = "UPDATE fact SET line = ?2, line_check = ?3 WHERE letter = ?1 AND n = 0";
    db.prepare_cached(sql)?.execute(params![letter, written.json, written.check])?;
    db.prepare_cached("UPDATE document SET name = '', receiver = '' WHERE letter = ?1")?.execute([letter])?;
    // Paths contain names as well.
    let sql = "UPDATE original SET name = x'', place = 'gone', shelved = NULL, inode = NULL, moving = NULL,
               told = NULL, due_at = NULL, trouble = NULL WHERE letter = ?1";
    db.prepare_cached(sql)?.execute([letter])?;
    let sql = "UPDATE sealed SET path = NULL, due_at = NULL, trouble = NULL WHERE letter = ?1";
    db.prepare_cached(sql)?.execute([letter])?;
    Ok(Some(line))
}
