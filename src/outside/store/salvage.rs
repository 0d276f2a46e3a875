//! What recovery does about people's commands, pauses of accounts and pending news.
//!
//! These are only in the database. A command that stops something is rather carried out twice than never. One
//! that starts something is dropped if it may have been carried out already.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use super::{StoreError, moves, news};
use crate::base::clock::Time;
use crate::domain::letter::Answer;

const DROPPED: &str = "mailchute ended in the middle of it or its records were restored; look with \
                       `mailchute show` and repeat the command if it was not carried out";

/// The database lacked a part of the history, in which these may have been carried out.
pub(super) fn drop_restarts(db: &Connection, now: Time) -> Result<usize, StoreError> {
    let sql = "SELECT id FROM orders WHERE done_at IS NULL AND command IN ('release', 'retry')";
    let mut statement = db.prepare(sql)?;
    let open: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for id in &open {
        let answer = Answer::Refused(DROPPED.to_owned());
        moves::close_order(db, *id, &answer, now).map_err(StoreError::recording)?;
    }
    Ok(open.len())
}

/// Brings over what can still be read of them from a damaged database.
pub(super) fn from_damaged(db: &mut Connection, damaged: &Path) -> Result<(), StoreError> {
    if let Err(error) = salvage_news(db, damaged) {
        tracing::warn!(error = &error as &dyn std::error::Error, "mails that were on their way are lost");
    }
    let old = Connection::open_with_flags(damaged, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let transaction = db.transaction()?;
    let sql = "SELECT letter, account, command, asked_at FROM orders
               WHERE done_at IS NULL AND command IN ('hold', 'cancel', 'pause', 'resume')";
    let mut orders = old.prepare(sql)?;
    let mut orders = orders.query([])?;
    while let Some(row) = orders.next()? {
        let (letter, account): (Option<i64>, Option<String>) = (row.get(0)?, row.get(1)?);
        let (command, asked_at): (String, i64) = (row.get(2)?, row.get(3)?);
        let sql = "INSERT INTO orders (letter, account, command, asked_at) VALUES (?1, ?2, ?3, ?4)";
        transaction.execute(sql, params![letter, account, command, asked_at])?;
    }
    let mut pauses = old.prepare("SELECT name, problem, since, probe_at, probes FROM account")?;
    let mut pauses = pauses.query([])?;
    while let Some(row) = pauses.next()? {
        let (name, problem): (String, String) = (row.get(0)?, row.get(1)?);
        let times: (i64, Option<i64>, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let sql = "INSERT INTO account (name, problem, since, probe_at, probes) VALUES (?1, ?2, ?3, ?4, ?5)";
        transaction.execute(sql, params![name, problem, times.0, times.1, times.2])?;
    }
    transaction.commit()?;
    Ok(())
}

/// Assigns again what was in pending e-mails, under the same keys. What would answer a mail is left out: the rows of mails
/// are lost, and another mail will have its number.
fn salvage_news(db: &mut Connection, damaged: &Path) -> Result<(), StoreError> {
    let old = Connection::open_with_flags(damaged, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let transaction = db.transaction()?;
    let sql = "SELECT subject, notice, about, detail, owed_at FROM owed WHERE done_at IS NULL OR id IN
               (SELECT owed FROM email_item JOIN email ON email.id = email WHERE due_at IS NOT NULL)";
    let mut owed = old.prepare(sql)?;
    let mut owed = owed.query([])?;
    let mut unanswered = 0;
    while let Some(row) = owed.next()? {
        if row.get::<_, String>(1)? == news::MAIL {
            unanswered += 1;
            continue;
        }
        let (subject, notice, about): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (detail, at): (Option<String>, i64) = (row.get(3)?, row.get(4)?);
        let sql = "INSERT OR IGNORE INTO owed (subject, notice, about, detail, owed_at) VALUES (?1, ?2, ?3, ?4, ?5)";
        transaction.execute(sql, params![subject, notice, about, detail, at])?;
    }
    transaction.commit()?;
    if unanswered > 0 {
        tracing::warn!(unanswered, "{unanswered} answers to people who sent mails are lost");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::store::schema;

    #[test]
    fn news_are_brought_over_but_no_answers_to_mails_whose_rows_are_lost() {
        let dir = tempfile::tempdir().unwrap();
        let damaged = dir.path().join("damaged.db");
        let mut old = schema::connect(&damaged).unwrap();
        schema::migrate(&mut old).unwrap();
        let owed = "INSERT INTO owed (subject, notice, about, owed_at) VALUES ('#5', 'held', '1', 0), ('5', 'mail', 'x', 0)";
        old.execute(owed, []).unwrap();
        let mut new = Connection::open_in_memory().unwrap();
        schema::migrate(&mut new).unwrap();
        from_damaged(&mut new, &damaged).unwrap();
        let mut subjects = new.prepare("SELECT subject FROM owed").unwrap();
        let subjects: Vec<String> =
            subjects.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(subjects, ["#5"]);
    }
}
