//! For commands: lists of drops, and the folders they come from.

use rusqlite::{OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::folders;
use super::originals::{self, COLUMNS, Original};
use super::{Desk, Store, StoreError, read, signed};
use crate::domain::drop::{Undecided, showable, shown};
use crate::domain::letter::{Letter, Number};
use crate::outside::spool::Ulid;

/// The number of originals read at a time.
const AT_A_TIME: usize = 1000;

/// A drop as it is listed, whether it became a letter or not.
#[derive(Debug, Clone, Serialize)]
pub struct DropRow {
    #[serde(rename = "drop")]
    pub ulid: String,
    pub folder: String,
    pub name: String,
    pub letter: Option<Number>,
    /// The letter's state, or `rejected`, `held`, `cancelled`.
    pub state: String,
    pub tracking: Option<String>,
    /// Why it is held or rejected, without what only the folder's text may say.
    pub why: Option<String>,
    /// Whether its original is being moved, or will be.
    pub moving: bool,
}

/// A folder that was enabled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FolderRow {
    pub folder: String,
    pub path: String,
    /// Why nothing is taken from it at present.
    pub trouble: Option<String>,
}

impl DropRow {
    /// Whether nothing more happens to it by itself.
    pub fn is_still(&self) -> bool {
        let ended = ["shipped", "rejected", "held", "cancelled", "withdrawn", "closed"];
        ended.contains(&self.state.as_str()) && !(self.state == "shipped" && self.tracking.is_none())
    }

    pub fn is_still_or_posted(&self) -> bool {
        self.is_still() || self.state == "confirmed"
    }

    /// Whether its original lies where people see it.
    pub fn is_shelved(&self) -> bool {
        !self.moving
    }
}

const ROW: &str =
    "SELECT original.ulid, folder, name, original.letter, undecided, state, tracking, letter.trouble,
            original.due_at IS NOT NULL AS moving
     FROM original LEFT JOIN letter ON letter.number = original.letter";

fn drop_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<DropRow> {
    let undecided: Option<String> = row.get("undecided")?;
    let (state, why) = match undecided.as_deref().map(originals::readable) {
        None => (row.get::<_, Option<String>>("state")?.unwrap_or_default(), row.get("trouble")?),
        Some(undecided) => word(&undecided),
    };
    Ok(DropRow {
        ulid: row.get("ulid")?,
        folder: row.get("folder")?,
        name: showable(&shown(&row.get::<_, Vec<u8>>("name")?)),
        letter: row.get::<_, Option<i64>>("letter")?.map(|number| Number(number.unsigned_abs())),
        why: why.filter(|_| state == "held" || state == "rejected"),
        state,
        tracking: row.get("tracking")?,
        moving: row.get("moving")?,
    })
}

impl Store {
    /// The number of drops that are not letters and wait for a person.
    pub fn drops_held(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM original WHERE letter IS NULL AND place = 'held'";
        Ok(self.reader().prepare_cached(sql)?.query_row([], |row| read::count(row, 0))?)
    }
}

impl Desk {
    /// The newest drops, in their order.
    pub fn drops(&self, limit: u64) -> Result<Vec<DropRow>, StoreError> {
        let sql = format!("{ROW} ORDER BY original.ulid DESC LIMIT ?1");
        let mut statement = self.db().prepare_cached(&sql)?;
        let rows = statement.query_map(params![signed(limit)], drop_row)?;
        let mut rows: Vec<DropRow> = rows.collect::<Result<_, _>>()?;
        rows.reverse();
        Ok(rows)
    }

    /// The outcome of a drop of this name that was taken in after `after`.
    pub fn dropped(&self, folder: &str, name: &[u8], after: &Ulid) -> Result<Option<DropRow>, StoreError> {
        let sql = format!(
            "{ROW} WHERE folder = ?1 AND name = ?2 AND original.ulid > ?3 ORDER BY original.ulid LIMIT 1"
        );
        let values = params![folder, name, after.as_str()];
        Ok(self.db().prepare_cached(&sql)?.query_row(values, drop_row).optional()?)
    }

    /// The names of a folder's shelves, as intake stored them.
    pub fn shelf_names(&self, folder: &str) -> Result<Option<String>, StoreError> {
        Ok(folders::shelf_names(self.db(), folder)?)
    }

    pub fn folders(&self) -> Result<Vec<FolderRow>, StoreError> {
        let mut statement =
            self.db().prepare_cached("SELECT name, path, trouble FROM folder ORDER BY name")?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok(FolderRow { folder: row.get(0)?, path: row.get(1)?, trouble: row.get(2)? })
        };
        Ok(statement.query_map([], row)?.collect::<Result<_, _>>()?)
    }

    /// The number of rejected drops, and of drops that wait without being letters.
    pub fn undecided(&self) -> Result<(u64, u64), StoreError> {
        let sql = "SELECT count(*) FILTER (WHERE place = 'rejected'), count(*) FILTER (WHERE place = 'held')
                   FROM original WHERE letter IS NULL";
        Ok(self.db().query_row(sql, [], |row| Ok((read::count(row, 0)?, read::count(row, 1)?)))?)
    }

    /// Some of a folder's originals for which nothing is pending, beginning with the oldest.
    pub fn originals_at_rest(&self, folder: &str, after: Option<&Ulid>) -> Result<Vec<Original>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM original WHERE ulid > ?1 AND folder = ?2 AND due_at IS NULL
             AND place <> 'gone' ORDER BY ulid LIMIT {AT_A_TIME}"
        );
        let mut statement = self.db().prepare_cached(&sql)?;
        let found =
            statement.query_map(params![after.map_or("", Ulid::as_str), folder], originals::original)?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// An original with its letter, both at one moment. A damaged letter counts as none.
    pub fn original(&self, ulid: &Ulid) -> Result<Option<(Original, Option<Letter>)>, StoreError> {
        let moment = self.db().unchecked_transaction()?;
        let sql = format!("SELECT {COLUMNS} FROM original WHERE ulid = ?1");
        let found =
            moment.prepare_cached(&sql)?.query_row([ulid.as_str()], originals::original).optional()?;
        let Some(original) = found else { return Ok(None) };
        let letter = match original.fate.letter().map(|letter| self.letter(letter)) {
            None | Some(Err(StoreError::Damaged(_))) => None,
            Some(letter) => letter?,
        };
        Ok(Some((original, letter)))
    }

    /// The number of paths on a folder's shelves that are recorded for more than one original.
    pub fn shared_shelves(&self, folder: &str) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM original
                   WHERE folder = ?1 AND shelved IS NOT NULL AND place <> 'gone'
                   GROUP BY shelved HAVING count(*) > 1)";
        Ok(self.db().query_row(sql, [folder], |row| read::count(row, 0))?)
    }
}

fn word(undecided: &Undecided) -> (String, Option<String>) {
    let (state, why) = match undecided {
        Undecided::Refused(refusal) => ("rejected", Some(refusal.word())),
        Undecided::Waits(waiting) => ("held", Some(waiting.word())),
        Undecided::Accepted { .. } => ("accepted", None),
        Undecided::Cancelled => ("cancelled", None),
    };
    (state.to_owned(), why.map(str::to_owned))
}
