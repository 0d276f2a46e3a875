//! What people ask by moving or copying files, and which sidecars were handed back to them.

use rusqlite::params;

use super::moves::RecordError;
use super::originals::{COLUMNS, original};
use super::{Fate, Original, Store, StoreError, millis, signed};
use crate::base::clock::Time;
use crate::domain::drop::{Refusal, Undecided, forms_of};
use crate::domain::letter::{Command, Number};
use crate::outside::spool::Ulid;

impl Store {
    /// Records the command for which a moved or copied file stands. `file` identifies that file: a second
    /// call with it does nothing, so a file that cannot be removed is obeyed once. Empty if the file has no
    /// identity.
    pub async fn said_in_folder(
        &self,
        letter: Number,
        command: Command,
        file: String,
        at: Time,
    ) -> Result<(), RecordError> {
        self.write(move |batch| {
            if !file.is_empty() {
                let sql = "INSERT INTO heard VALUES (?1, ?2) ON CONFLICT DO NOTHING";
                let values = params![signed(letter.0), format!("{} {file}", command.word())];
                if batch.db.prepare_cached(sql)?.execute(values)? == 0 {
                    return Ok(());
                }
            }
            let open = "SELECT 1 FROM orders WHERE letter = ?1 AND command = ?2 AND done_at IS NULL";
            if batch.db.prepare_cached(open)?.exists(params![signed(letter.0), command.word()])? {
                return Ok(());
            }
            let sql = "INSERT INTO orders (letter, command, asked_at) VALUES (?1, ?2, ?3)";
            let values = params![signed(letter.0), command.word(), millis(at)];
            Ok(batch.db.prepare_cached(sql)?.execute(values).map(drop)?)
        })
        .await
    }

    /// The sidecars that were handed back since then without a PDF.
    pub fn sidecars_handed_back(&self, since: Time) -> Result<Vec<Original>, StoreError> {
        let db = self.reader();
        let sql = format!("SELECT {COLUMNS} FROM original WHERE ulid >= ?1 AND letter IS NULL");
        let mut statement = db.prepare_cached(&sql)?;
        let found = statement.query_map([Ulid::earliest(since).as_str()], original)?;
        let all: Vec<Original> = found.collect::<Result<_, _>>()?;
        let is_one = |original: &Original| {
            matches!(original.fate, Fate::Undecided(Undecided::Refused(Refusal::SidecarAlone { .. })))
        };
        Ok(all.into_iter().filter(is_one).collect())
    }

    /// The originals of a folder's letters that were dropped since then under this name, in any form of Unicode. The newest
    /// is first.
    pub fn letters_named(&self, folder: &str, name: &[u8], since: Time) -> Result<Vec<Original>, StoreError> {
        let db = self.reader();
        let sql = format!(
            "SELECT {COLUMNS} FROM original WHERE ulid >= ?1 AND folder = ?2 AND name = ?3 AND letter IS NOT NULL
             ORDER BY ulid DESC"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let mut found = Vec::new();
        for name in forms_of(name) {
            let rows =
                statement.query_map(params![Ulid::earliest(since).as_str(), folder, name], original)?;
            found.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(found)
    }

    /// The originals of letters in a directory of a folder that were dropped under this name, in any form of Unicode.
    pub fn letters_in(&self, folder: &str, dir: &str, name: &[u8]) -> Result<Vec<Original>, StoreError> {
        let db = self.reader();
        let sql = format!(
            "SELECT {COLUMNS} FROM original
             WHERE folder = ?1 AND shelved > ?2 AND shelved < ?3 AND name = ?4 AND letter IS NOT NULL"
        );
        let mut statement = db.prepare_cached(&sql)?;
        // Every path in the directory, and no other.
        let (from, to) = (format!("{dir}/"), format!("{dir}0"));
        let mut found = Vec::new();
        for name in forms_of(name) {
            let values = params![folder, from.as_bytes(), to.as_bytes(), name];
            found.extend(statement.query_map(values, original)?.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(found)
    }

    /// The originals of a folder's letters whose first document has these bytes, of those that are wanted: a document may
    /// be that of very many letters.
    pub fn originals_of(
        &self,
        folder: &str,
        sha256: &str,
        is_wanted: impl Fn(&Original) -> bool,
    ) -> Result<Vec<Original>, StoreError> {
        let db = self.reader();
        let sql = format!(
            "SELECT {COLUMNS} FROM original WHERE folder = ?1 AND letter IN
                 (SELECT letter FROM document WHERE sha256 = ?2 AND n = 0)"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let found = statement.query_map(params![folder, sha256], original)?;
        Ok(found.filter(|found| found.as_ref().map_or(true, &is_wanted)).collect::<Result<_, _>>()?)
    }
}
