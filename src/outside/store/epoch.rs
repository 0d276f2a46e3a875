//! How many facts the records have, written down where a backup of the records does not reach.

use std::fmt;
use std::io::Write as _;
use std::str::FromStr;

use rusqlite::{Connection, OptionalExtension as _};

use super::{Home, Store, StoreError, read};
use crate::base::clock::Time;
use crate::outside::spool::{Ulid, private_file};

/// The maximum number of sets of records that a folder remembers.
const REMEMBERED: usize = 50;

/// The name of the records, the number of their last fact, and the run of the daemon that reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    records: Ulid,
    facts: u64,
    run: Ulid,
}

/// What a folder knows of all records that were used there: one line each, the newest last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Epochs(Vec<Epoch>);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.records, self.facts, self.run)
    }
}

impl FromStr for Epoch {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ');
        let mut word = || words.next().ok_or(());
        let (records, facts, run) = (word()?.parse()?, word()?.parse().map_err(drop)?, word()?.parse()?);
        Ok(Self { records, facts, run })
    }
}

impl Epochs {
    /// Content that cannot be parsed counts as empty.
    pub fn read(text: &str) -> Self {
        Self(text.lines().filter_map(|line| line.parse().ok()).collect())
    }

    /// Takes in the latest state of these records.
    pub fn told(&mut self, epoch: Epoch) {
        self.0.retain(|known| known.records != epoch.records);
        self.0.push(epoch);
        let too_many = self.0.len().saturating_sub(REMEMBERED);
        self.0.drain(..too_many);
    }
}

impl fmt::Display for Epochs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|epoch| writeln!(f, "{epoch}"))
    }
}

/// The name of the records, kept in the database and beside the ledger, so that losing one does not lose it.
/// With `anew` they get a new name, and what was stored under the old one no longer counts.
pub(super) fn name(db: &Connection, home: &Home, now: Time, anew: bool) -> Result<(), StoreError> {
    let kept = std::fs::read_to_string(home.name()).ok().and_then(|text| text.trim().parse().ok());
    let known = named(db)?.or_else(|| kept.clone()).filter(|_| !anew);
    let name = known.map_or_else(|| Ulid::new(now), Ok)?;
    if kept.as_ref() != Some(&name) {
        let mut file = private_file(&home.name())?;
        file.set_len(0)?;
        writeln!(file, "{name}")?;
        file.sync_all()?;
    }
    let sql = "INSERT INTO meta VALUES ('records', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1";
    db.execute(sql, [name.as_str()])?;
    Ok(())
}

fn named(db: &Connection) -> Result<Option<Ulid>, StoreError> {
    let sql = "SELECT value FROM meta WHERE key = 'records'";
    let name: Option<String> = db.query_row(sql, [], |row| row.get(0)).optional()?;
    Ok(name.and_then(|name| name.parse().ok()))
}

impl Store {
    /// The names of these records and of this run.
    pub fn names(&self) -> Result<(Ulid, Ulid), StoreError> {
        Ok((named(&self.reader())?.ok_or(StoreError::Broken)?, self.run.clone()))
    }

    /// The latest state of these records.
    pub fn epoch(&self) -> Result<Epoch, StoreError> {
        let (records, run) = self.names()?;
        Ok(Epoch { records, facts: self.last_fact()?, run })
    }

    /// The number of the latest fact.
    pub fn last_fact(&self) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM fact";
        Ok(self.reader().prepare_cached(sql)?.query_row([], |row| read::count(row, 0))?)
    }

    /// Whether a folder knows more facts of these records than they had when they were opened.
    pub fn is_older_than(&self, theirs: &Epochs) -> Result<bool, StoreError> {
        let ours = self.epoch()?;
        let ahead = |theirs: &Epoch| theirs.run != ours.run && theirs.facts > self.began;
        Ok(theirs.0.iter().filter(|theirs| theirs.records == ours.records).any(ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "01M800TXAJ9CV3E39N66156AZ0";
    const B: &str = "01M800TXAJ9CV3E39N66156AZ1";

    #[test]
    fn a_folder_remembers_each_records_and_nonsense_says_nothing() {
        let mut known = Epochs::read(&format!("{A} 7 {B}\nnonsense\n{A}\n{A} x {B}\n\n{B} 2 {A}\n"));
        assert_eq!(known.to_string(), format!("{A} 7 {B}\n{B} 2 {A}\n"));
        known.told(format!("{A} 9 {A}").parse().unwrap());
        assert_eq!(known.to_string(), format!("{B} 2 {A}\n{A} 9 {A}\n"));
        for n in 0..60 {
            known.told(format!("{} {n} {A}", Ulid::new(Time::UNIX_EPOCH).unwrap()).parse().unwrap());
        }
        assert_eq!(known.0.len(), REMEMBERED);
        assert_eq!(known.0[REMEMBERED - 1].facts, 59);
    }
}
