//! The rows one lists by, compared with the facts they are made from.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use rusqlite::Connection;

use super::{StoreError, moves, read, signed, time};
use crate::clock::Time;
use crate::letter::{Letter, Number, State};

/// Nothing waits longer than this for its next look.
const LONGEST_WAIT: TimeDelta = TimeDelta::days(60);

/// Letters that something can still happen to.
pub(super) fn unfinished(db: &Connection) -> Result<BTreeSet<Number>, StoreError> {
    let sql = "SELECT number FROM letter
               WHERE state NOT IN ('shipped', 'cancelled', 'withdrawn', 'closed')";
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], |row| read::number(row, 0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether a letter must be looked at again by itself.
pub(super) fn goes_on(letter: &Letter) -> bool {
    match &letter.state {
        State::Admitted
        | State::Created { .. }
        | State::Uploaded { .. }
        | State::Confirming { .. }
        | State::Withdrawing { .. }
        | State::Confirmed { .. } => true,
        State::Shipped { tracking, .. } => tracking.is_none() && letter.order.shipping.is_trackable(),
        State::Cancelled { .. } | State::Withdrawn | State::Closed | State::Held { .. } => false,
    }
}

/// Mends the rows of unfinished letters by their facts, so that none is left without a next look.
/// Gives the letters whose facts are not whole.
pub(super) fn check(db: &Connection, now: Time) -> Result<BTreeSet<Number>, StoreError> {
    let mut doubtful = BTreeSet::new();
    for number in unfinished(db)? {
        let Some(letter) = read::letter(db, number)? else {
            doubtful.insert(number);
            continue;
        };
        let sql = "SELECT state, facts, due_at, trouble FROM letter WHERE number = ?1";
        let (state, facts, due, trouble) = db.prepare_cached(sql)?.query_row([signed(number.0)], |row| {
            let due: Option<i64> = row.get(2)?;
            Ok((
                row.get::<_, String>(0)?,
                read::count(row, 1)?,
                due.map(time),
                row.get::<_, Option<String>>(3)?,
            ))
        })?;
        let waits = due.is_some_and(|due| due <= now + LONGEST_WAIT);
        let right = state == letter.state.word() && facts == letter.facts && waits == goes_on(&letter);
        if !right {
            let due = goes_on(&letter).then_some(now);
            moves::write_letter(db, &letter, due, trouble.as_deref(), None)?;
        }
    }
    Ok(doubtful)
}
