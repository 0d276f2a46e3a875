//! The tables, and how an older database is updated.

mod costs;
mod steps;

use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use self::steps::STEPS;
use super::StoreError;

/// How long to wait for another user of the database.
pub(super) const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

pub(super) const VERSION: i64 = 20;

pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let db = Connection::open(path)?;
    db.busy_timeout(PATIENCE)?;
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "full")?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update(None, "trusted_schema", false)?;
    // Removed names do not stay in free pages.
    db.pragma_update(None, "secure_delete", true)?;
    // In kilobytes. The system caches what is read often, and several connections need not do it too.
    db.pragma_update(None, "cache_size", -256)?;
    // After a failure each operation is in a savepoint. What may be undone is kept in memory, not in a file.
    db.pragma_update(None, "temp_store", "memory")?;
    // A statement is planned once. By default it is planned again whenever a bound value differs.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

pub(super) fn version(db: &Connection) -> Result<i64, StoreError> {
    Ok(db.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Updates the tables. Refuses a database of a newer mailchute.
pub(super) fn migrate(db: &mut Connection) -> Result<(), StoreError> {
    let found = version(db)?;
    let done = usize::try_from(found).unwrap_or(usize::MAX);
    let missing = STEPS.get(done..).ok_or(StoreError::Newer { found, known: VERSION })?;
    for step in missing {
        if let Err(error) = update(db, step) {
            return Err(if is_of_damage(db, &error) { StoreError::Broken } else { error.into() });
        }
    }
    Ok(())
}

/// Whether a step failed because of a row that mailchute did not write. A disk that fails for a moment also makes
/// SQLite's check report something, so the check is made only after those errors that such a row causes.
fn is_of_damage(db: &Connection, error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{ConstraintViolation, Unknown};
    let may_be = matches!(error.sqlite_error_code(), Some(ConstraintViolation | Unknown));
    may_be && matches!(is_whole(db, "PRAGMA quick_check(1)"), Ok(false))
}

fn update(db: &mut Connection, step: &str) -> rusqlite::Result<()> {
    let transaction = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    transaction.execute_batch(step)?;
    transaction.commit()
}

/// Whether SQLite's own check finds no damage.
pub(super) fn is_whole(db: &Connection, check: &str) -> rusqlite::Result<bool> {
    db.query_row(check, [], |row| Ok(row.get::<_, String>(0)? == "ok"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_database_keeps_its_rows_and_conditions() {
        let mut db = Connection::open_in_memory().unwrap();
        db.pragma_update(None, "foreign_keys", true).unwrap();
        for step in &STEPS[..17] {
            db.execute_batch(step).unwrap();
        }
        db.execute_batch(
            "INSERT INTO letter (number, ulid, account, source, admitted_at, state, facts, changed_at, urgency, sheets)
                 VALUES (1, 'a', 'main', 'invoices', 0, 'held', 1, 0, 0, 1), (2, 'b', 'main', 'invoices', 0, 'shipped', 1, 0, 0, 1);
             INSERT INTO mail (letter, k, id, realm, confirm_by) VALUES (2, 1, 'm', 'r', 0);
             INSERT INTO original (ulid, folder, name, letter, arrived_at, place)
                 VALUES ('b', 'invoices', x'61', 2, 0, 'sent');",
        )
        .unwrap();

        migrate(&mut db).unwrap();

        assert_eq!(version(&db).unwrap(), VERSION);
        let integrity: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(integrity, "ok");
        for refused in [
            "UPDATE letter SET state = 'posted'",
            "UPDATE letter SET state = NULL",
            "UPDATE mail SET outcome = 'lost'",
            "UPDATE original SET place = 'desk'",
        ] {
            db.execute_batch(refused).unwrap_err();
        }
        let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
        assert_eq!(number("SELECT sum(letters) FROM standing"), 2, "the counters are kept");
        let counted = "SELECT sum(number) FROM letter WHERE counted = 1";
        assert_eq!(number(counted), 2, "letter 1 is held");
        db.execute_batch(
            "UPDATE letter SET state = 'closed' WHERE number = 1; UPDATE original SET place = 'gone'",
        )
        .unwrap();
    }

    #[test]
    fn only_a_row_that_breaks_a_condition_makes_an_update_call_the_database_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let older = |name: &str, change: &str| {
            let db = Connection::open(dir.path().join(name)).unwrap();
            STEPS[..17].iter().for_each(|step| db.execute_batch(step).unwrap());
            db.execute_batch(change).unwrap();
            db
        };
        let damage = "PRAGMA ignore_check_constraints = ON;
            INSERT INTO letter (number, ulid, account, source, admitted_at, state, facts, changed_at, urgency, sheets)
                VALUES (1, 'a', 'main', 'invoices', 0, 'shipqed', 1, 0, 0, 1);
            PRAGMA ignore_check_constraints = OFF";
        let mut db = older("damaged", damage);
        // Another process writes: that is the error, whatever the rows are.
        let other = Connection::open(dir.path().join("damaged")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        db.busy_timeout(std::time::Duration::ZERO).unwrap();
        assert!(!migrate(&mut db).unwrap_err().is_corruption());
        drop(other);
        assert!(migrate(&mut db).unwrap_err().is_corruption());
        // A step that can't be carried out although the rows are right.
        let mut db = older("right", "DROP INDEX letter_counted");
        assert!(!migrate(&mut db).unwrap_err().is_corruption());
    }

    /// Each such list would be a temporary table in every statement that writes the row, and for a trigger SQLite copies
    /// each page before it is changed.
    #[test]
    fn no_condition_of_a_table_that_each_letter_writes_is_a_list_and_no_trigger_follows_a_letter() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db).unwrap();
        let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name IN ('letter', 'mail', 'original', 'fact')";
        let mut statement = db.prepare(sql).unwrap();
        let tables: Vec<String> =
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(tables.len(), 4);
        for table in tables {
            assert!(!table.contains(" IN ("), "{table}");
        }
        let triggers = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'letter'";
        assert_eq!(db.query_row(triggers, [], |row| row.get::<_, u32>(0)).unwrap(), 0);
    }
}
