//! The rows used for lists and constraints: written from the facts, and compared with them at a start.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use rusqlite::{Connection, params};

use super::{StoreError, millis, read, signed, time};
use crate::base::clock::Time;
use crate::domain::letter::{Fact, Letter, Number, Order, Progress, Stage, State};
use crate::outside::spool::{Line, Written, sha256_of};

/// No letter waits longer than this for its next look.
const LONGEST_WAIT: TimeDelta = TimeDelta::days(60);

/// The SQL condition for a set of states: `IN ('admitted', 'held')`, or `= 'held'` as partial indices of one
/// state need it.
pub(super) fn stages(wanted: impl Fn(Stage) -> bool) -> String {
    let wanted = Stage::ALL.into_iter().filter(|stage| wanted(*stage));
    let words: Vec<String> = wanted.map(|stage| format!("'{}'", stage.word())).collect();
    match words.as_slice() {
        [one] => format!("= {one}"),
        several => format!("IN ({})", several.join(", ")),
    }
}

/// Letters to which something can still happen.
pub(super) fn unfinished(db: &Connection) -> Result<BTreeSet<Number>, StoreError> {
    let unfinished = stages(|stage| stage.progress() != Progress::Ended);
    let mut statement = db.prepare(&format!("SELECT number FROM letter WHERE state {unfinished}"))?;
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

/// Repairs the rows of unfinished letters from their facts, so that each has a next look. Returns the letters
/// whose facts are not complete.
pub(super) fn check(db: &Connection, now: Time) -> Result<BTreeSet<Number>, StoreError> {
    let mut doubtful = BTreeSet::new();
    for number in unfinished(db)? {
        let Some(letter) = read::letter(db, number)? else {
            doubtful.insert(number);
            continue;
        };
        let sql = "SELECT state, facts, due_at, trouble, counted FROM letter WHERE number = ?1";
        let (state, facts, due, trouble, counted) =
            db.prepare_cached(sql)?.query_row([signed(number.0)], |row| {
                let due: Option<i64> = row.get(2)?;
                Ok((
                    row.get::<_, String>(0)?,
                    read::count(row, 1)?,
                    due.map(time),
                    row.get::<_, Option<String>>(3)?,
                    row.get::<_, bool>(4)?,
                ))
            })?;
        let waits = due.is_some_and(|due| due <= now + LONGEST_WAIT);
        let right = state == letter.state.word()
            && facts == letter.facts
            && waits == goes_on(&letter)
            && counted == letter.state.stage().counts_for_limits();
        if !right {
            let due = goes_on(&letter).then_some(now);
            write_letter(db, &letter, due, trouble.as_deref(), None)?;
            write_counted(db, &letter)?;
        }
    }
    Ok(doubtful)
}

/// Writes the rows for a letter that has just been admitted.
pub(super) fn insert_letter(db: &Connection, letter: &Letter) -> rusqlite::Result<()> {
    let at = millis(letter.admitted_at);
    let number = signed(letter.number.0);
    let sql = "INSERT INTO letter (number, ulid, account, source, admitted_at, state, facts, changed_at,
                                   urgency, due_at, sheets)
               VALUES (?1, ?2, ?3, ?4, ?5, 'admitted', 1, ?5, 1, ?5, ?6)";
    let order = &letter.order;
    db.prepare_cached(sql)?.execute(params![
        number,
        letter.entry,
        order.account,
        order.source,
        at,
        order.sheets()
    ])?;
    let sql = "INSERT INTO document (letter, n, name, size, pages, sha256, receiver)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let receiver = receiver_mark(order);
    for (n, document) in order.documents.iter().enumerate() {
        let (n, size) = (signed(n as u64), signed(document.size));
        let values = params![number, n, document.name, size, document.pages, document.sha256, receiver];
        db.prepare_cached(sql)?.execute(values)?;
    }
    Ok(())
}

/// By which letters with the same document and another receiver are passed over. It is made of what equal receivers have
/// in common in every version. Empty if the receiver was removed.
pub(super) fn receiver_mark(order: &Order) -> String {
    if order.is_anonymous() {
        return String::new();
    }
    let mut mark = sha256_of(order.receiver.address.name.as_bytes());
    mark.truncate(16);
    mark
}

pub(super) fn insert_fact(db: &Connection, line: &Line, written: &Written) -> rusqlite::Result<()> {
    let sql = "INSERT INTO fact (seq, letter, n, line, line_check) VALUES (?1, ?2, ?3, ?4, ?5)";
    let (seq, letter, n) = (signed(line.seq), signed(line.letter.0), signed(line.n));
    db.prepare_cached(sql)?.execute(params![seq, letter, n, written.json, written.check])?;
    Ok(())
}

/// Updates the row of a mail from its facts.
pub(super) fn update_mail(db: &Connection, letter: &Letter, fact: &Fact, at: Time) -> rusqlite::Result<()> {
    let number = signed(letter.number.0);
    let outcome = |k: u32, outcome: &str| {
        let sql = "UPDATE mail SET outcome = ?3 WHERE letter = ?1 AND k = ?2";
        db.prepare_cached(sql)?.execute(params![number, k, outcome]).map(drop)
    };
    match fact {
        Fact::Created(mail) => {
            let sql = "INSERT INTO mail (letter, k, id, realm, confirm_by) VALUES (?1, ?2, ?3, ?4, ?5)";
            let values = params![number, mail.k, mail.id, mail.realm.0, millis(mail.confirm_by)];
            db.prepare_cached(sql)?.execute(values).map(drop)
        }
        Fact::Intended { mail, .. } => {
            let sql = "UPDATE mail SET intent_at = ?3 WHERE letter = ?1 AND k = ?2";
            db.prepare_cached(sql)?.execute(params![number, mail, millis(at)]).map(drop)
        }
        Fact::Abandoned { mail, .. } => outcome(*mail, "abandoned"),
        Fact::Confirmed { mail } => {
            if letter.order.sealed_pdf {
                let sql = "INSERT OR IGNORE INTO sealed (letter, n, due_at) VALUES (?1, ?2, ?3)";
                for n in 0..letter.order.documents.len() {
                    db.prepare_cached(sql)?.execute(params![number, signed(n as u64), millis(at)])?;
                }
            }
            outcome(*mail, "confirmed")
        }
        Fact::Discarded(what) => {
            let sql = "UPDATE letter SET discarded = discarded | ?2 WHERE number = ?1";
            db.prepare_cached(sql)?.execute(params![number, what.bit()]).map(drop)
        }
        Fact::Dead { mail } => outcome(*mail, "dead"),
        Fact::Cancelled { mail, .. } => outcome(*mail, "cancelled"),
        Fact::Shipped { mail, .. } => outcome(*mail, "shipped"),
        Fact::Admitted { .. }
        | Fact::Uploaded { .. }
        | Fact::FilesMissing { .. }
        | Fact::UploadedAgain { .. }
        | Fact::Gone { .. }
        | Fact::Reappeared { .. }
        | Fact::NeverPostable { .. }
        | Fact::WithdrawalAsked
        | Fact::NotWithdrawn { .. }
        | Fact::Withdrawn
        | Fact::Closed
        | Fact::Seen { .. }
        | Fact::Tracked { .. }
        | Fact::Held(_)
        | Fact::Released => Ok(()),
    }
}

pub(super) fn write_letter(
    db: &Connection,
    letter: &Letter,
    due: Option<Time>,
    trouble: Option<&str>,
    changed: Option<Time>,
) -> rusqlite::Result<()> {
    let tracking = match &letter.state {
        State::Shipped { tracking, .. } => tracking.as_deref(),
        State::Admitted
        | State::Created { .. }
        | State::Uploaded { .. }
        | State::Confirming { .. }
        | State::Withdrawing { .. }
        | State::Confirmed { .. }
        | State::Cancelled { .. }
        | State::Withdrawn
        | State::Closed
        | State::Held { .. } => None,
    };
    let hold = letter.state.hold().map(|reason| format!("{reason}. {}", reason.certainty()));
    let trouble = hold.as_deref().or(trouble);
    let sql = "UPDATE letter SET state = ?2, facts = ?3, changed_at = coalesce(?4, changed_at), urgency = ?5,
                                 due_at = ?6, attempts = ?7, trouble = ?8, tracking = ?9 WHERE number = ?1";
    db.prepare_cached(sql)?
        .execute(params![
            signed(letter.number.0),
            letter.state.word(),
            signed(letter.facts),
            changed.map(millis),
            letter.state.urgency(),
            due.map(millis),
            letter.attempts,
            trouble,
            tracking,
        ])
        .map(drop)
}

/// Whether it counts for the limits of its folder. The index of these letters is written only if that changes.
pub(super) fn write_counted(db: &Connection, letter: &Letter) -> rusqlite::Result<()> {
    let sql = "UPDATE letter SET counted = ?2 WHERE number = ?1 AND counted <> ?2";
    let values = params![signed(letter.number.0), letter.state.stage().counts_for_limits()];
    db.prepare_cached(sql)?.execute(values).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_states_are_made_from_the_states() {
        let of = |progress| stages(|stage| stage.progress() == progress);
        let on_its_way = "IN ('admitted', 'created', 'uploaded', 'confirming', 'withdrawing')";
        assert_eq!(of(Progress::OnItsWay), on_its_way);
        assert_eq!(of(Progress::Held), "= 'held'");
        assert_eq!(of(Progress::Followed), "= 'confirmed'", "as the index of these letters says it");
        assert_eq!(of(Progress::Ended), "IN ('shipped', 'cancelled', 'withdrawn', 'closed')");
    }

    #[test]
    fn the_database_takes_every_state_and_no_other() {
        let mut db = Connection::open_in_memory().unwrap();
        crate::outside::store::schema::migrate(&mut db).unwrap();
        let insert = |number: i64, word: &str| {
            let sql = "INSERT INTO letter (number, ulid, account, source, admitted_at, state, facts, changed_at, urgency, sheets)
                       VALUES (?1, ?1, 'a', 's', 0, ?2, 1, 0, 0, 1)";
            db.execute(sql, params![number, word])
        };
        for (number, stage) in (1..).zip(Stage::ALL) {
            insert(number, stage.word()).unwrap();
        }
        insert(99, "posted").unwrap_err();
    }
}
