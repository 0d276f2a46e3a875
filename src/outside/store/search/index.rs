//! The index of the names by which letters are found. It follows the facts of the records, in a file of its own
//! that is made anew whenever it does not fit them, so nothing depends on it: letters that it does not
//! have yet are read from the records.
//!
//! It has parts of three characters (SQLite's trigrams), so that any part of a name is found. A shorter text is
//! found by all parts that begin with it. Names that are removed from the records are removed here when it
//! follows next, and overwritten.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use super::super::{Home, Store, StoreError, read, signed};
use super::{Listed, Sought, listed, plain};
use crate::outside::spool::private_file;

/// The characters of a part.
const PART: usize = 3;
/// Behind all names, so that a part begins at each of their characters.
const BEHIND: &str = "\n\n";
/// A short text with which more parts begin is searched without the index: it is in many names.
const MOST_PARTS: usize = 500;
/// The number of facts that are followed in one commit.
const FACTS: u32 = 2000;
/// The number of letters that are read in one transaction.
const LETTERS: usize = 16;
/// With more facts that are not in it yet, it is not used.
const MOST_BEHIND: u64 = 8000;

const TABLES: &str = "
    BEGIN IMMEDIATE;
    CREATE VIRTUAL TABLE known USING fts5 (names, tokenize = 'trigram case_sensitive 1', detail = none);
    INSERT INTO known (known, rank) VALUES ('secure-delete', 1);
    CREATE VIRTUAL TABLE part USING fts5vocab (known, instance);
    CREATE TABLE followed (seq INTEGER NOT NULL, line_check TEXT NOT NULL) STRICT;
    PRAGMA user_version = 2;
    COMMIT;
";
const VERSION: i64 = 2;
/// How long a search waits for the index while that is written.
const PATIENCE: Duration = Duration::from_millis(50);

/// The last fact that it has, by number and checksum.
type Followed = (u64, String);

/// The index as its only writer has it.
#[derive(Debug)]
pub struct SearchIndex {
    db: Connection,
}

impl SearchIndex {
    /// Follows the next facts of the records, so many parts of them. If it is damaged or of other records, it is
    /// made anew. Returns whether there are more.
    pub fn follow(store: &Store, parts: u32) -> Result<bool, StoreError> {
        let path = store.home().search_index();
        match Self::at(&path).and_then(|mut index| index.follow_parts(store, parts)) {
            Err(error) if error.is_corruption() => {
                remove(&path)?;
                Self::at(&path)?.follow_parts(store, parts)
            }
            followed => followed,
        }
    }

    fn follow_parts(&mut self, store: &Store, parts: u32) -> Result<bool, StoreError> {
        for _part in 0..parts {
            if !self.follow_part(store)? {
                self.empty_log()?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn at(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            drop(private_file(path)?);
        }
        let db = Connection::open(path)?;
        db.pragma_update(None, "journal_mode", "wal")?;
        // After a power cut it is followed again from where it is.
        db.pragma_update(None, "synchronous", "normal")?;
        db.pragma_update(None, "secure_delete", true)?;
        db.pragma_update(None, "cache_size", -1024)?;
        if !db.prepare("SELECT 1 FROM sqlite_master")?.exists([])? {
            db.execute_batch(TABLES)?;
        }
        let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version == VERSION { Ok(Self { db }) } else { Err(StoreError::Broken) }
    }

    /// Returns whether there was something to follow.
    fn follow_part(&mut self, store: &Store) -> Result<bool, StoreError> {
        let from = match followed(&self.db)? {
            Some(last) if is_of(&store.reader(), &last)? => last.0,
            None => 0,
            // The records were made anew or restored from a backup.
            Some(_) => return Err(StoreError::Broken),
        };
        let facts = facts_after(&store.reader(), from)?;
        let Some((last, check, _)) = facts.last().cloned() else { return Ok(false) };
        let letters: BTreeSet<u64> = facts.into_iter().map(|(_, _, letter)| letter).collect();
        let letters: Vec<u64> = letters.into_iter().collect();
        let transaction = self.db.transaction()?;
        // Others read in between.
        for letters in letters.chunks(LETTERS) {
            for (number, names) in store.at_one_moment(|records| names_of(records, letters))? {
                write(&transaction, number, &names)?;
            }
        }
        transaction.execute("DELETE FROM followed", [])?;
        transaction.execute("INSERT INTO followed VALUES (?1, ?2)", params![signed(last), check])?;
        transaction.commit()?;
        Ok(true)
    }

    /// What was removed is still in the log. While somebody is searching it stays there until there are facts to follow
    /// again.
    fn empty_log(&self) -> rusqlite::Result<()> {
        self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }
}

/// The next facts of the records after one: number, checksum and letter.
fn facts_after(records: &Connection, from: u64) -> rusqlite::Result<Vec<(u64, String, u64)>> {
    let sql = "SELECT seq, line_check, letter FROM fact WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let mut statement = records.prepare_cached(sql)?;
    let facts = statement.query_map(params![signed(from), FACTS], |row| {
        Ok((read::count(row, 0)?, row.get(1)?, read::count(row, 2)?))
    })?;
    facts.collect()
}

/// The names by which letters are found. They are empty for a letter that is not there any more.
fn names_of(records: &Connection, letters: &[u64]) -> Result<Vec<(u64, String)>, StoreError> {
    let all = Sought { names: true, ..Sought::default() };
    let read = |&number: &u64| {
        let listed = listed(records, &all, number, number.saturating_add(1), 1)?.pop();
        Ok((number, listed.map(|listed| listed.sought()).unwrap_or_default()))
    };
    letters.iter().map(read).collect()
}

/// Writes the names of a letter, in place of others.
fn write(db: &Connection, letter: u64, names: &str) -> rusqlite::Result<()> {
    let number = signed(letter);
    let sql = "SELECT names FROM known WHERE rowid = ?1";
    let before: Option<String> = db.prepare_cached(sql)?.query_row([number], |row| row.get(0)).optional()?;
    if before.as_deref() == Some(names) {
        return Ok(());
    }
    if before.is_some() {
        db.prepare_cached("DELETE FROM known WHERE rowid = ?1")?.execute([number])?;
    }
    db.prepare_cached("INSERT INTO known (rowid, names) VALUES (?1, ?2)")?.execute(params![number, names])?;
    Ok(())
}

fn followed(db: &Connection) -> rusqlite::Result<Option<Followed>> {
    let sql = "SELECT seq, line_check FROM followed";
    db.query_row(sql, [], |row| Ok((read::count(row, 0)?, row.get(1)?))).optional()
}

/// Whether the records have this fact.
fn is_of(records: &Connection, (seq, check): &Followed) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM fact WHERE seq = ?1 AND line_check = ?2";
    records.prepare_cached(sql)?.exists(params![signed(*seq), check])
}

/// Removes the index. It need not exist.
pub(in super::super) fn remove(path: &Path) -> io::Result<()> {
    for ending in ["", "-wal", "-shm"] {
        match fs::remove_file(format!("{}{ending}", path.display())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(())
}

/// Where the letters may be that have a text in their names.
pub(super) struct Candidates {
    /// Those that the index does not have yet, the newest first.
    pub(super) not_followed: Vec<u64>,
    index: Connection,
    /// Empty if no letter that the index has can match.
    query: String,
}

impl Candidates {
    /// `None` if the index cannot help: it is missing or too far behind, or too many parts begin with a short text.
    pub(super) fn of(home: &Home, records: &Connection, text: &str) -> Option<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let index = Connection::open_with_flags(home.search_index(), flags).ok()?;
        index.busy_timeout(PATIENCE).ok()?;
        let last = followed(&index).ok()??;
        let sql = "SELECT coalesce(max(seq), 0) FROM fact";
        let end = records.query_row(sql, [], |row| read::count(row, 0)).ok()?;
        if end.saturating_sub(last.0) > MOST_BEHIND || !is_of(records, &last).ok()? {
            return None;
        }
        let query = query(text, |short| parts_beginning(&index, short).ok()?)?;
        let mut statement = records
            .prepare_cached("SELECT DISTINCT letter FROM fact WHERE seq > ?1 ORDER BY letter DESC")
            .ok()?;
        let letters = statement.query_map([signed(last.0)], |row| read::count(row, 0)).ok()?;
        let not_followed = letters.collect::<Result<_, _>>().ok()?;
        Some(Self { not_followed, index, query })
    }

    /// The next letters of the index before a number, the newest first.
    pub(super) fn before(&self, before: u64, most: usize) -> rusqlite::Result<Vec<u64>> {
        if self.query.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT rowid FROM known WHERE known MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut statement = self.index.prepare_cached(sql)?;
        let letters =
            statement.query_map(params![self.query, signed(before), most], |row| read::count(row, 0))?;
        letters.collect()
    }
}

/// The parts of the index that begin with a text. `None` if there are too many. Each is looked up, so it does not
/// matter in how many names it is.
fn parts_beginning(index: &Connection, text: &str) -> rusqlite::Result<Option<Vec<String>>> {
    let mut statement = index.prepare_cached("SELECT term FROM part WHERE term >= ?1 LIMIT 1")?;
    let mut parts = Vec::new();
    let mut from = text.to_owned();
    while let Some(part) = statement.query_row([&from], |row| row.get::<_, String>(0)).optional()? {
        if !part.starts_with(text) {
            break;
        }
        if parts.len() >= MOST_PARTS {
            return Ok(None);
        }
        // The next one that there can be.
        from = format!("{part}\0");
        parts.push(part);
    }
    Ok(Some(parts))
}

/// All parts of the text, or all parts of a tracking number that is written with hyphens. `None` if that cannot
/// be written in a query. A short text is replaced by the parts that begin with it.
fn query(text: &str, beginning: impl Fn(&str) -> Option<Vec<String>>) -> Option<String> {
    if text.contains('\0') {
        return None;
    }
    let bare = text.replace('-', "");
    let parts = |text: &str| match text.chars().count() {
        0 => None,
        1 | 2 => beginning(text).map(|parts| joined(&parts, " OR ")),
        _ => {
            let chars: Vec<char> = text.chars().collect();
            let parts: Vec<String> = chars.windows(PART).map(|part| part.iter().collect()).collect();
            Some(joined(&parts, " AND "))
        }
    };
    if bare == text {
        return parts(text);
    }
    let (text, bare) = (parts(text)?, parts(&bare)?);
    match [text.as_str(), bare.as_str()] {
        [_, ""] => Some(text),
        ["", _] => Some(bare),
        [_, _] => Some(format!("({text}) OR ({bare})")),
    }
}

fn joined(parts: &[String], with: &str) -> String {
    let quoted = parts.iter().map(|part| format!("\"{}\"", part.replace('"', "\"\"")));
    quoted.collect::<Vec<_>>().join(with)
}

impl Listed {
    /// Everything by which it is found.
    fn sought(&self) -> String {
        let tracking = plain(self.row.tracking.as_deref().unwrap_or_default()).replace('-', "");
        format!("{}\n{tracking}{BEHIND}", plain(&self.names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_sought_by_its_parts_of_three_characters() {
        let none = |_: &str| unreachable!("no short text is asked for");
        assert_eq!(query("abc\0", none), None);
        assert_eq!(query("山田商事", none).unwrap(), "\"山田商\" AND \"田商事\"");
    }

    #[test]
    fn a_short_text_is_sought_by_the_parts_that_begin_with_it() {
        let of = |text: &str, there: &[&str]| {
            query(text, |short| Some(there.iter().map(|end| format!("{short}{end}")).collect()))
        };
        assert_eq!(of("山田", &["商", "\n"]).unwrap(), "\"山田商\" OR \"山田\n\"");
        assert_eq!(of("a\"b-", &["c"]).unwrap(), "(\"a\"\"b\" AND \"\"\"b-\") OR (\"a\"\"b\")");
        assert_eq!(of("1-2-", &[]).unwrap(), "\"1-2\" AND \"-2-\"", "no part begins with the number alone");
        assert_eq!(of("zz", &[]).unwrap(), "", "nothing can match");
        assert_eq!(of("--", &["x"]), None, "the number alone is empty");
        assert_eq!(query("ab", |_| None), None, "too many parts begin with it");
    }
}
