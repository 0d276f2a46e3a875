//! What happened in a period, folder by folder, and what waits for a person.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::rows::stages;
use super::{Store, StoreError, millis, originals, read, schema};
use crate::base::clock::Time;
use crate::domain::drop::Undecided;
use crate::domain::letter::{Fact, Letter, Number, Progress};
use crate::outside::spool::Ulid;

/// What happened to the letters and drops of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    pub folder: String,
    pub posted: u32,
    pub sheets: u32,
    pub shipped: u32,
    pub held: u32,
    pub rejected: u32,
    pub cancelled: u32,
}

/// Something that a person must decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waits {
    Letter(Number),
    Drop(Ulid),
}

impl Store {
    /// From `since` until before `until`.
    pub fn happened(&self, since: Time, until: Time) -> Result<Vec<Tally>, StoreError> {
        // A connection of its own, because this may read much.
        happened(&schema::connect(&self.home().database())?, since, until)
    }

    /// Letters that were taken in from `since` until before `until` and may be printed otherwise than meant.
    pub fn noted(&self, since: Time, until: Time, most: usize) -> Result<Vec<Letter>, StoreError> {
        let db = self.reader();
        let sql = "SELECT number FROM letter JOIN fact ON fact.letter = number AND n = 0
                   WHERE admitted_at >= ?1 AND admitted_at < ?2
                     AND json_extract(line, '$.fact.admitted.order.print_notes') IS NOT NULL
                   ORDER BY number LIMIT ?3";
        let mut statement = db.prepare_cached(sql)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let numbers = statement
            .query_map(rusqlite::params![millis(since), millis(until), most], |row| read::number(row, 0))?;
        let mut found = Vec::new();
        for number in numbers {
            match read::letter(&db, number?) {
                // It cannot be described. The start reports it.
                Err(StoreError::Damaged(_)) => {}
                letter => found.extend(letter?),
            }
        }
        Ok(found)
    }

    /// The longest waiting first.
    pub fn waiting(&self) -> Result<Vec<Waits>, StoreError> {
        let db = self.reader();
        let sql = "SELECT number FROM letter WHERE state = 'held' ORDER BY number";
        let mut statement = db.prepare_cached(sql)?;
        let letters = statement.query_map([], |row| read::number(row, 0).map(Waits::Letter))?;
        let mut waiting: Vec<Waits> = letters.collect::<Result<_, _>>()?;
        let sql = "SELECT ulid FROM original WHERE letter IS NULL AND place = 'held' ORDER BY ulid";
        let mut statement = db.prepare_cached(sql)?;
        let drops = statement.query_map([], |row| row.get::<_, String>(0))?;
        for ulid in drops {
            waiting.extend(ulid?.parse().ok().map(Waits::Drop));
        }
        Ok(waiting)
    }
}

/// Every fact of a letter, and when it was recorded.
type History = Vec<(Time, Fact)>;

/// Letters with new facts.
#[derive(Default)]
pub(super) struct Changed {
    /// As they are now, with their history.
    pub letters: Vec<(Letter, History)>,
    /// Those that can't be read. They must not hide the others.
    pub damaged: Vec<Number>,
}

/// Letters that are not on their way, as their index says it. Those on their way are found by their state.
const RESTS: &str =
    "state <> 'admitted' AND state <> 'created' AND state <> 'uploaded' AND state <> 'confirming'
    AND state <> 'withdrawing'";

/// The numbers of letters with new facts since then.
fn numbers_changed_since(db: &Connection, since: Time) -> Result<Vec<Number>, StoreError> {
    let on_its_way = stages(|stage| stage.progress() == Progress::OnItsWay);
    let sql = format!(
        "SELECT number FROM letter INDEXED BY letter_rested WHERE changed_at >= ?1 AND {RESTS}
         UNION ALL SELECT number FROM letter WHERE changed_at >= ?1 AND state {on_its_way} ORDER BY number"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let numbers = statement.query_map([millis(since)], |row| read::number(row, 0))?;
    Ok(numbers.collect::<Result<_, _>>()?)
}

/// Letters with new facts since then.
pub(super) fn changed_since(db: &Connection, since: Time) -> Result<Changed, StoreError> {
    let mut changed = Changed::default();
    for number in numbers_changed_since(db, since)? {
        let read = read::facts(db, number).and_then(|lines| Ok((read::fold(number, &lines)?, lines)));
        match read {
            Err(StoreError::Damaged(_)) => changed.damaged.push(number),
            read => {
                let (letter, lines) = read?;
                let history = lines.into_iter().map(|line| (line.at, line.fact)).collect();
                changed.letters.extend(letter.map(|letter| (letter, history)));
            }
        }
    }
    Ok(changed)
}

fn happened(db: &Connection, since: Time, until: Time) -> Result<Vec<Tally>, StoreError> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    // A start reports those that are damaged.
    for (letter, history) in changed_since(db, since)?.letters {
        let tally = tallies.entry(letter.order.source.clone()).or_default();
        for (_, fact) in history.iter().filter(|(at, _)| (since..until).contains(at)) {
            count(tally, fact, letter.order.sheets());
        }
    }
    let sql = "SELECT folder, undecided FROM original
               WHERE letter IS NULL AND arrived_at >= ?1 AND arrived_at < ?2";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![millis(since), millis(until)])?;
    while let Some(row) = rows.next()? {
        let tally = tallies.entry(row.get(0)?).or_default();
        match originals::readable(&row.get::<_, String>(1)?) {
            Undecided::Refused(_) => tally.rejected += 1,
            Undecided::Waits(_) => tally.held += 1,
            Undecided::Cancelled => tally.cancelled += 1,
            Undecided::Accepted { .. } => {}
        }
    }
    let named = tallies.into_iter().map(|(folder, tally)| Tally { folder, ..tally });
    Ok(named.filter(|tally| *tally != Tally { folder: tally.folder.clone(), ..Tally::default() }).collect())
}

fn count(tally: &mut Tally, fact: &Fact, sheets: u32) {
    match fact {
        Fact::Confirmed { .. } => {
            tally.posted += 1;
            tally.sheets += sheets;
        }
        Fact::Shipped { .. } => tally.shipped += 1,
        Fact::Held(_) => tally.held += 1,
        Fact::Cancelled { .. } | Fact::Withdrawn => tally.cancelled += 1,
        Fact::Admitted { .. }
        | Fact::Created(_)
        | Fact::Uploaded { .. }
        | Fact::Abandoned { .. }
        | Fact::Intended { .. }
        | Fact::FilesMissing { .. }
        | Fact::UploadedAgain { .. }
        | Fact::Gone { .. }
        | Fact::Reappeared { .. }
        | Fact::Dead { .. }
        | Fact::NeverPostable { .. }
        | Fact::WithdrawalAsked
        | Fact::NotWithdrawn { .. }
        | Fact::Closed
        | Fact::Seen { .. }
        | Fact::Tracked { .. }
        | Fact::Released
        | Fact::Discarded(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::letter::Stage;
    use crate::outside::store::time;

    #[test]
    fn letters_that_changed_are_found_in_every_state() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        // Two of each state, of which one changed too early.
        for (number, stage) in (1_u32..).step_by(2).zip(Stage::ALL) {
            for (number, changed_at) in [(number, 1000), (number + 1, 999)] {
                let sql = "INSERT INTO letter (number, ulid, account, source, admitted_at, state, facts, changed_at, urgency)
                           VALUES (?1, ?1, 'a', 's', 0, ?2, 1, ?3, 1)";
                db.execute(sql, params![number, stage.word(), changed_at]).unwrap();
            }
        }
        let odd: Vec<Number> = (1..).step_by(2).take(Stage::ALL.len()).map(Number).collect();
        assert_eq!(numbers_changed_since(&db, time(1000)).unwrap(), odd);
    }
}
