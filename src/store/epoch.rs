//! How far the records are, to be written down where a backup of them does not reach.

use std::fmt;
use std::str::FromStr;

use rusqlite::Connection;

use super::{Store, StoreError, read};
use crate::clock::Time;
use crate::spool::Ulid;

/// Which records these are, and the number of their last fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    records: Ulid,
    facts: u64,
}

impl Epoch {
    /// Whether the same records were further once than they are now.
    pub fn is_ahead_of(&self, now: &Self) -> bool {
        self.records == now.records && self.facts > now.facts
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.records, self.facts)
    }
}

impl FromStr for Epoch {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (records, facts) = text.trim().split_once(' ').ok_or(())?;
        Ok(Self { records: records.parse()?, facts: facts.parse().map_err(drop)? })
    }
}

/// The records get a name if they have none, and `anew` if what was said of them counts no more.
pub(super) fn name(db: &Connection, now: Time, anew: bool) -> Result<(), StoreError> {
    let on_conflict = if anew { "DO UPDATE SET value = ?1" } else { "DO NOTHING" };
    let sql = format!("INSERT INTO meta VALUES ('records', ?1) ON CONFLICT (key) {on_conflict}");
    db.execute(&sql, [Ulid::new(now)?.as_str()])?;
    Ok(())
}

impl Store {
    pub fn epoch(&self) -> Result<Epoch, StoreError> {
        let db = self.reader();
        let sql =
            "SELECT (SELECT value FROM meta WHERE key = 'records'), (SELECT coalesce(max(seq), 0) FROM fact)";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, read::count(row, 1)?));
        let (records, facts) = db.prepare_cached(sql)?.query_row([], row)?;
        Ok(Epoch { records: records.parse().map_err(|()| StoreError::Broken)?, facts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_records_can_be_ahead_of_themselves() {
        let epoch = |text: &str| text.parse::<Epoch>().unwrap();
        let now = epoch("01M800TXAJ9CV3E39N66156AZ0 7\n");
        assert!(epoch("01M800TXAJ9CV3E39N66156AZ0 8").is_ahead_of(&now));
        assert!(!epoch("01M800TXAJ9CV3E39N66156AZ0 7").is_ahead_of(&now));
        assert!(!epoch("01M800TXAJ9CV3E39N66156AZ1 8").is_ahead_of(&now));
        assert_eq!(epoch(&now.to_string()), now);
        for torn in ["", "01M800TXAJ9CV3E39N66156AZ0", "01M800TXAJ9CV3E39N66156AZ0 x", "8 8"] {
            assert_eq!(torn.parse::<Epoch>(), Err(()), "{torn}");
        }
    }
}
