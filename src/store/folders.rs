//! The folders that were enabled: since when drops in them are new, and what is wrong with them.

use rusqlite::{OptionalExtension as _, params};

use super::moves::RecordError;
use super::{Store, StoreError};

/// A folder as it was enabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFolder {
    pub path: String,
    pub id: String,
    /// What its filesystem says is not younger was there before; in nanoseconds.
    pub since: i64,
    /// What was wrong with it when that was told last.
    pub trouble: Option<String>,
}

impl Store {
    pub fn known_folder(&self, name: &str) -> Result<Option<KnownFolder>, StoreError> {
        let sql = "SELECT path, id, since, trouble FROM folder WHERE name = ?1";
        let row = |row: &rusqlite::Row<'_>| {
            let (path, id, since, trouble) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(KnownFolder { path, id, since, trouble })
        };
        Ok(self.reader().prepare_cached(sql)?.query_row([name], row).optional()?)
    }

    pub async fn know_folder(&self, name: &str, known: KnownFolder) -> Result<(), RecordError> {
        let name = name.to_owned();
        self.write(move |batch| {
            let sql = "INSERT INTO folder (name, path, id, since) VALUES (?1, ?2, ?3, ?4)
                       ON CONFLICT (name) DO UPDATE SET path = ?2, id = ?3, since = ?4";
            let values = params![name, known.path, known.id, known.since];
            Ok(batch.db.prepare_cached(sql)?.execute(values).map(drop)?)
        })
        .await
    }

    /// What is wrong with a folder at present, if anything.
    pub async fn folder_trouble(&self, name: &str, trouble: Option<String>) -> Result<(), RecordError> {
        let name = name.to_owned();
        self.write(move |batch| {
            let sql = "UPDATE folder SET trouble = ?2 WHERE name = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![name, trouble]).map(drop)?)
        })
        .await
    }

    /// The stamp of the address book that was in force last in a folder.
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
