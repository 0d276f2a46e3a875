//! The folders that were enabled: from when on their drops are new, and what is wrong with them.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::moves::RecordError;
use super::rows::stages;
use super::{Store, StoreError, millis, read};
use crate::base::clock::Time;
use crate::domain::letter::{Number, Progress};

/// A folder as it was enabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFolder {
    /// Its name in the configuration then.
    pub name: String,
    pub path: String,
    /// The text of its marker.
    pub id: String,
    /// The identity of its directory, where that is stable.
    pub directory: Option<String>,
    /// What is older than this by the file system's clock was there before. In nanoseconds.
    pub since: i64,
    /// What is older than this may be posted already, by other records or by ours: the folder was copied, put back,
    /// emptied of its marker, or used with other ones. In nanoseconds.
    pub posted_before: Option<i64>,
    /// The trouble that was last reported of it.
    pub trouble: Option<String>,
}

/// A marker that is about to be written into a folder. After a crash it must not be taken for that of other records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunMarker {
    pub id: String,
    /// The folder has the marker of another one, of which it is a copy.
    pub is_copy: bool,
}

const OF_COPY: &str = "copy ";

const COLUMNS: &str = "name, path, id, directory, since, posted_before, trouble";

fn known(row: &rusqlite::Row<'_>) -> rusqlite::Result<KnownFolder> {
    Ok(KnownFolder {
        name: row.get("name")?,
        path: row.get("path")?,
        id: row.get("id")?,
        directory: row.get("directory")?,
        since: row.get("since")?,
        posted_before: row.get("posted_before")?,
        trouble: row.get("trouble")?,
    })
}

impl Store {
    fn known(&self, column: &str, value: &str) -> Result<Option<KnownFolder>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM folder WHERE {column} = ?1");
        Ok(self.reader().prepare_cached(&sql)?.query_row([value], known).optional()?)
    }

    pub fn known_folder(&self, name: &str) -> Result<Option<KnownFolder>, StoreError> {
        self.known("name", name)
    }

    pub fn folder_at(&self, path: &str) -> Result<Option<KnownFolder>, StoreError> {
        self.known("path", path)
    }

    pub fn folder_of(&self, marker: &str) -> Result<Option<KnownFolder>, StoreError> {
        self.known("id", marker)
    }

    /// Every folder that was enabled and not given up.
    pub fn known_folders(&self) -> Result<Vec<KnownFolder>, StoreError> {
        let db = self.reader();
        let mut statement = db.prepare_cached(&format!("SELECT {COLUMNS} FROM folder ORDER BY name"))?;
        let rows = statement.query_map([], known)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// What is unfinished of a folder: its letters, and the number of drops that are not letters.
    pub fn unfinished_of(&self, folder: &str) -> Result<(Vec<Number>, u64), StoreError> {
        let db = self.reader();
        let open = stages(|stage| matches!(stage.progress(), Progress::OnItsWay | Progress::Held));
        let sql = format!(
            "SELECT number FROM original JOIN letter ON letter.number = original.letter
             WHERE original.folder = ?1 AND letter.state {open} ORDER BY number"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let letters = statement.query_map([folder], |row| read::number(row, 0))?;
        let sql = "SELECT count(*) FROM original WHERE folder = ?1 AND letter IS NULL AND place IN ('claim', 'held')";
        let drops = db.prepare_cached(sql)?.query_row([folder], |row| read::count(row, 0))?;
        let sql = "SELECT count(*) FROM incoming WHERE marked = 0 AND folder = ?1";
        let drops = drops + db.prepare_cached(sql)?.query_row([folder], |row| read::count(row, 0))?;
        Ok((letters.collect::<Result<_, _>>()?, drops))
    }

    /// Former names of folders, and their present names.
    pub fn renamed_folders(&self) -> Result<BTreeMap<String, String>, StoreError> {
        let db = self.reader();
        let mut statement = db.prepare_cached("SELECT old, name FROM renamed")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Records the marker that is about to be written into the folder at a path. [`Store::know_folder`] ends it.
    pub async fn begin_marking(&self, path: &str, begun: &BegunMarker) -> Result<(), RecordError> {
        let kind = if begun.is_copy { OF_COPY } else { "" };
        let (path, value) = (path.to_owned(), format!("{kind}{}", begun.id));
        self.write(move |batch| {
            let sql = "INSERT INTO meta VALUES ('marking ' || ?1, ?2)
                       ON CONFLICT (key) DO UPDATE SET value = ?2";
            Ok(batch.db.prepare_cached(sql)?.execute(params![path, value]).map(drop)?)
        })
        .await
    }

    /// The marker that was about to be written at a path when mailchute was ended, if that was so.
    pub fn marking_begun(&self, path: &str) -> Result<Option<BegunMarker>, StoreError> {
        let sql = "SELECT value FROM meta WHERE key = 'marking ' || ?1";
        let value = self.reader().prepare_cached(sql)?.query_row([path], |row| row.get(0)).optional()?;
        Ok(value.map(|value: String| match value.strip_prefix(OF_COPY) {
            Some(id) => BegunMarker { id: id.to_owned(), is_copy: true },
            None => BegunMarker { id: value, is_copy: false },
        }))
    }

    /// Records a folder, and moves everything under its old name to the new one. What another folder had
    /// under this name stays with that folder's marker until it comes back.
    pub async fn know_folder(&self, folder: KnownFolder) -> Result<(), RecordError> {
        self.write(move |batch| {
            let KnownFolder { name, path, id, directory, since, posted_before, trouble: _ } = &folder;
            let known_by = |column: &str, value: &str| {
                let sql = format!("SELECT {COLUMNS} FROM folder WHERE {column} = ?1");
                batch.db.prepare_cached(&sql)?.query_row([value], known).optional()
            };
            let before = known_by("id", id)?.filter(|before| before.name != *name);
            let under_it = known_by("name", name)?.filter(|other| other.id != *id);
            // At the same path with a new marker it is the same folder: its `.mailchute` was emptied.
            if let Some(other) = under_it.filter(|other| before.is_some() || other.path != *path) {
                rename(batch.db, name, &other.id)?;
            }
            if let Some(before) = before {
                rename(batch.db, &before.name, name)?;
            }
            batch.db.prepare_cached("DELETE FROM renamed WHERE old = ?1")?.execute([name])?;
            batch.db.prepare_cached("DELETE FROM meta WHERE key = 'marking ' || ?1")?.execute([path])?;
            let sql = "INSERT INTO folder (name, path, id, directory, since, posted_before)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (name) DO UPDATE
                       SET path = ?2, id = ?3, directory = ?4, since = ?5, posted_before = ?6";
            let values = params![name, path, id, directory, since, posted_before];
            Ok(batch.db.prepare_cached(sql)?.execute(values).map(drop)?)
        })
        .await
    }

    /// What is wrong with a folder at present, if anything is.
    pub async fn folder_trouble(&self, name: &str, trouble: Option<String>) -> Result<(), RecordError> {
        let name = name.to_owned();
        self.write(move |batch| {
            let sql = "UPDATE folder SET trouble = ?2 WHERE name = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![name, trouble]).map(drop)?)
        })
        .await
    }

    /// The names of a folder's shelves, as intake stored them.
    pub fn shelf_names(&self, folder: &str) -> Result<Option<String>, StoreError> {
        Ok(shelf_names(&self.reader(), folder)?)
    }

    /// Stores new names of shelves. If `due` is given, the texts of everything unfinished and rejected are
    /// rewritten and the originals moved.
    pub async fn keep_shelf_names(
        &self,
        folder: &str,
        names: String,
        due: Option<Time>,
    ) -> Result<(), RecordError> {
        let folder = folder.to_owned();
        self.write(move |batch| {
            let sql =
                "INSERT INTO meta VALUES ('shelves ' || ?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
            batch.db.prepare_cached(sql)?.execute(params![folder, names])?;
            let Some(due) = due else { return Ok(()) };
            let unfinished = stages(|stage| stage.progress() != Progress::Ended);
            let sql = format!(
                "UPDATE original SET due_at = ?2, changes = changes + 1
                 WHERE folder = ?1 AND place IN ('held', 'sent', 'rejected') AND (letter IS NULL
                     OR (SELECT state FROM letter WHERE number = original.letter) {unfinished})"
            );
            Ok(batch.db.prepare_cached(&sql)?.execute(params![folder, millis(due)]).map(drop)?)
        })
        .await
    }

    /// The stamp of a folder's address book that was last in force.
    pub fn book_in_force(&self, folder: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT value FROM meta WHERE key = 'book ' || ?1";
        Ok(self.reader().prepare_cached(sql)?.query_row([folder], |row| row.get(0)).optional()?)
    }

    pub async fn keep_book_in_force(&self, folder: &str, stamp: String) -> Result<(), RecordError> {
        let folder = folder.to_owned();
        self.write(move |batch| {
            let sql = "INSERT INTO meta VALUES ('book ' || ?1, ?2)
                       ON CONFLICT (key) DO UPDATE SET value = ?2";
            Ok(batch.db.prepare_cached(sql)?.execute(params![folder, stamp]).map(drop)?)
        })
        .await
    }
}

/// Forgets every folder, because its records may be older than what was posted from it.
pub(super) fn forget(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch("DELETE FROM folder; DELETE FROM meta WHERE key GLOB 'marking *'")
}

pub(super) fn shelf_names(db: &Connection, folder: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT value FROM meta WHERE key = 'shelves ' || ?1";
    db.prepare_cached(sql)?.query_row([folder], |row| row.get(0)).optional()
}

/// Moves everything from a folder's old name to its new one.
fn rename(db: &Connection, old: &str, new: &str) -> rusqlite::Result<()> {
    for sql in [
        // What was pending there may have waited for a folder of the old name.
        "UPDATE original SET folder = ?2, due_at = CASE WHEN due_at IS NOT NULL THEN 0 END WHERE folder = ?1",
        "UPDATE folder SET name = ?2 WHERE name = ?1",
        "UPDATE incoming SET folder = ?2 WHERE folder = ?1",
        "UPDATE OR REPLACE meta SET key = 'book ' || ?2 WHERE key = 'book ' || ?1",
        "UPDATE OR REPLACE meta SET key = 'shelves ' || ?2 WHERE key = 'shelves ' || ?1",
        "UPDATE renamed SET name = ?2 WHERE name = ?1",
        "INSERT INTO renamed VALUES (?1, ?2) ON CONFLICT (old) DO UPDATE SET name = ?2",
    ] {
        db.prepare_cached(sql)?.execute(params![old, new])?;
    }
    Ok(())
}

/// The present name of a folder.
pub(super) fn present_name(db: &Connection, name: &str) -> rusqlite::Result<String> {
    let sql = "SELECT coalesce((SELECT name FROM renamed WHERE old = ?1), ?1)";
    db.prepare_cached(sql)?.query_row([name], |row| row.get(0))
}
