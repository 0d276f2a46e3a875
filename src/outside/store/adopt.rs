//! Brings what only the ledger has into the database, letter by letter, while the facts follow one another.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::{Agreement, Report, StoreError, incoming, kept, news, originals, read, rows, signed, union};
use crate::base::clock::Time;
use crate::domain::letter::{Fact, Kept, Letter, Notice, Number};
use crate::outside::spool::{Line, Spool, Ulid};

/// Writes what only the ledger has into the database. Returns the letters with two histories. `owing` says
/// that people may not have been told of what is new.
pub(super) fn bring_over(
    db: &Connection,
    lines: &[Line],
    owing: bool,
    report: &mut Report,
) -> Result<BTreeSet<Number>, StoreError> {
    let mut doubtful = BTreeSet::new();
    let mut letters: BTreeMap<Number, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        letters.entry(line.letter).or_default().push(line);
    }
    for (number, mut lines) in letters {
        lines.sort_by_key(|line| (line.n, line.seq));
        let first = lines.first().map_or(0, |line| line.n);
        let database = read::facts(db, number)?;
        let ours: Vec<&Line> = database.iter().filter(|line| line.n >= first).collect();
        let (all, agreement) = union(ours, lines, |one, other| one.is_same(other));
        match agreement {
            Agreement::Same | Agreement::DatabaseAhead => {}
            Agreement::Contradiction => drop(doubtful.insert(number)),
            Agreement::LedgerAhead => {
                let have = database.len() as u64;
                let missing = all.into_iter().filter(|line| line.n >= have);
                let (letter, whole) = adopt(db, number, &database, missing, owing, report)?;
                if !whole {
                    doubtful.extend(letter.map(|letter| letter.number));
                }
            }
        }
    }
    Ok(doubtful)
}

/// Adds facts to a letter while they follow one another. Returns whether all did.
fn adopt<'a>(
    db: &Connection,
    number: Number,
    database: &[Line],
    missing: impl Iterator<Item = &'a Line>,
    owing: bool,
    report: &mut Report,
) -> Result<(Option<Letter>, bool), StoreError> {
    let mut letter = read::fold(number, database)?;
    let mut whole = true;
    let mut last = None;
    for line in missing {
        let fits = match &mut letter {
            None => {
                letter = Letter::fold(number, [(line.fact.clone(), line.at)]).ok().flatten();
                line.n == 0 && letter.is_some()
            }
            Some(letter) => line.n == letter.facts && letter.apply(&line.fact, line.at).is_ok(),
        };
        let Some(letter) = letter.as_ref().filter(|_| fits) else {
            whole = false;
            break;
        };
        if line.n == 0 {
            rows::insert_letter(db, letter)?;
            if let Fact::Admitted { queued: Some(queued), .. } = &line.fact {
                incoming::restore(db, letter, queued)?;
            }
        }
        rows::insert_fact(db, line, &line.written()?)?;
        rows::update_mail(db, letter, &line.fact, line.at)?;
        if let Some(notice) = Notice::news_of(&line.fact, letter).filter(|_| owing) {
            news::owe_notice(db, letter, notice, line.at).map_err(StoreError::recording)?;
        }
        if line.fact == Fact::Discarded(Kept::Receiver) {
            kept::strike(db, number)?;
        }
        report.from_ledger += 1;
        last = Some(line.at);
    }
    if let (Some(letter), Some(last)) = (&letter, last) {
        rows::write_letter(db, letter, rows::goes_on(letter).then_some(last), None, Some(last))?;
        rows::write_counted(db, letter)?;
        originals::owe(db, letter, last)?;
    }
    Ok((letter, whole))
}

/// The number of letters looked at in one turn.
const IN_ONE_TURN: i64 = 1000;

/// Letters after `after` whose original has no record.
fn missing(db: &Connection, after: Number) -> Result<Vec<(Number, String)>, StoreError> {
    let sql = "SELECT number, ulid FROM letter
               WHERE number > ?1
                 AND NOT EXISTS (SELECT 1 FROM original WHERE original.letter = letter.number)
               ORDER BY number LIMIT ?2";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement
        .query_map([signed(after.0), IN_ONE_TURN], |row| Ok((read::number(row, 0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Restores lost rows of originals. The originals of letters from folders lie in the claims, or the shelf
/// looks for them.
pub(super) fn restore_originals(db: &Connection, spool: &Spool, now: Time) -> Result<(), StoreError> {
    let mut after = Number(0);
    loop {
        let turn = missing(db, after)?;
        let Some((last, _)) = turn.last() else { return Ok(()) };
        after = *last;
        for (number, entry) in turn {
            let Ok(ulid) = entry.parse::<Ulid>() else { continue };
            if let Some(dropped) = spool.entry(&ulid).ok().and_then(|entry| entry.dropped) {
                originals::insert(db, ulid.as_str(), &dropped.origin, (number, false), now)?;
            }
        }
    }
}
