//! Pending e-mails: one row for each e-mail to one person, with the news it contains.
//!
//! News for the same person are collected in one e-mail until it is first tried. From then on it does not
//! change, so a person who gets it twice can see by its Message-ID that it is the same.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::moves::RecordError;
use super::news::{self, OwedRow};
use super::{Store, StoreError, millis, schema, time};
use crate::base::clock::Time;

/// The person who gets one row of news, in which kind of e-mail, and by when at the latest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addressed {
    pub recipient: String,
    pub kind: &'static str,
    /// Empty if it concerns no folder.
    pub folder: String,
    pub due: Time,
    /// Whether the e-mail contains nothing else.
    pub alone: bool,
}

/// An e-mail that must be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailRow {
    pub id: i64,
    pub recipient: String,
    pub kind: String,
    pub folder: String,
    pub attempts: u32,
    pub first_at: Time,
    /// Whether it was tried before, so that it may have arrived.
    pub begun: bool,
}

/// How an e-mail ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmailEnd {
    Sent,
    /// The mail server will never accept it for this recipient. The text is its answer.
    Refused(String),
    /// What it was to report is no longer true.
    Obsolete,
}

impl EmailEnd {
    fn word(&self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Refused(_) => "refused",
            Self::Obsolete => "obsolete",
        }
    }
}

/// The most rows of news in one e-mail.
const ITEMS: i64 = 50;

const NEWEST: &str = "SELECT id, (SELECT count(*) FROM email_item WHERE email = email.id) AS items FROM email
    WHERE recipient = ?1 AND kind = ?2 AND folder = ?3 AND due_at IS NOT NULL AND begun_at IS NULL
    ORDER BY id DESC LIMIT 1";

const COLUMNS: &str = "id, recipient, kind, folder, attempts, first_at, begun_at IS NOT NULL AS begun";

fn email(row: &rusqlite::Row<'_>) -> rusqlite::Result<EmailRow> {
    Ok(EmailRow {
        id: row.get("id")?,
        recipient: row.get("recipient")?,
        kind: row.get("kind")?,
        folder: row.get("folder")?,
        attempts: row.get("attempts")?,
        first_at: time(row.get("first_at")?),
        begun: row.get("begun")?,
    })
}

/// Rows that are due, of e-mails (`NOT GLOB`) or of requests to programs (`GLOB`). Alerts come first.
fn due(db: &Connection, now: Time, which: &str) -> rusqlite::Result<Vec<EmailRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM email WHERE due_at <= ?1 AND kind {which} 'hook_*'
         ORDER BY kind <> 'alert', due_at, attempts, id LIMIT 100"
    );
    let mut statement = db.prepare_cached(&sql)?;
    statement.query_map([millis(now)], email)?.collect()
}

/// The e-mail of a person to which these news are added: the newest that was not tried, unless it is full.
fn collected(db: &Connection, addressed: &Addressed) -> rusqlite::Result<Option<i64>> {
    let Addressed { recipient, kind, folder, alone, due: _ } = addressed;
    if *alone {
        return Ok(None);
    }
    let newest: Option<(i64, i64)> = db
        .prepare_cached(NEWEST)?
        .query_row(params![recipient, kind, folder], |row| Ok((row.get("id")?, row.get("items")?)))
        .optional()?;
    Ok(newest.filter(|(_, items)| *items < ITEMS).map(|(id, _)| id))
}

/// A new e-mail without any news.
fn begin(db: &Connection, addressed: &Addressed, at: Time) -> rusqlite::Result<i64> {
    let Addressed { recipient, kind, folder, due, alone: _ } = addressed;
    let sql = "INSERT INTO email (recipient, kind, folder, first_at, due_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![recipient, kind, folder, millis(at), millis(*due)];
    db.prepare_cached(sql)?.execute(values)?;
    Ok(db.last_insert_rowid())
}

/// The next e-mails that ended before then.
fn ended_emails(db: &Connection, before: Time) -> rusqlite::Result<Vec<i64>> {
    let mut statement = db.prepare("SELECT id FROM email WHERE done_at < ?1 ORDER BY id LIMIT 500")?;
    statement.query_map([millis(before)], |row| row.get(0))?.collect()
}

/// News that somebody accepts no e-mails, whose own e-mails are forgotten. Their subjects are addresses.
fn old_unwanted(db: &Connection, before: Time) -> rusqlite::Result<Vec<i64>> {
    let sql =
        "SELECT id FROM owed WHERE notice = ?1 AND done_at < ?2 AND id NOT IN (SELECT owed FROM email_item)
               LIMIT 500";
    let mut statement = db.prepare(sql)?;
    statement.query_map(params![news::UNWANTED, millis(before)], |row| row.get(0))?.collect()
}

impl Store {
    /// Assigns news to these people. With an empty list the news are done.
    pub fn pass_on(
        &self,
        owed: i64,
        to: Vec<Addressed>,
        at: Time,
    ) -> impl Future<Output = Result<(), RecordError>> + Send + use<> {
        self.write(move |batch| {
            for addressed in &to {
                let email = match collected(batch.db, addressed)? {
                    Some(email) => {
                        let sooner = "UPDATE email SET due_at = min(due_at, ?2) WHERE id = ?1";
                        batch.db.prepare_cached(sooner)?.execute(params![email, millis(addressed.due)])?;
                        email
                    }
                    None => begin(batch.db, addressed, at)?,
                };
                let sql = "INSERT OR IGNORE INTO email_item (email, owed) VALUES (?1, ?2)";
                batch.db.prepare_cached(sql)?.execute(params![email, owed])?;
            }
            let sql = "UPDATE owed SET done_at = ?2 WHERE id = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![owed, millis(at)]).map(drop)?)
        })
    }

    /// E-mails that are due, and when there will be more.
    pub fn due_emails(&self, now: Time) -> Result<(Vec<EmailRow>, Option<Time>), StoreError> {
        let db = self.reader();
        let due = due(&db, now, "NOT GLOB")?;
        let sql = "SELECT min(due_at) FROM email WHERE due_at > ?1";
        let next: Option<i64> = db.prepare_cached(sql)?.query_row([millis(now)], |row| row.get(0))?;
        Ok((due, next.map(time)))
    }

    /// Requests to programs that are due: rows whose kind begins with `hook_`, and whose recipient is a program.
    pub fn due_hooks(&self, now: Time) -> Result<Vec<EmailRow>, StoreError> {
        Ok(due(&self.reader(), now, "GLOB")?)
    }

    /// A program did not take a request now. It is tried again from then on, and what else waits for the program not
    /// before `others`.
    pub async fn hook_later(
        &self,
        hook: &EmailRow,
        until: Time,
        others: Time,
        why: String,
    ) -> Result<(), RecordError> {
        let EmailRow { id, recipient, .. } = hook.clone();
        self.write(move |batch| {
            let sql = "UPDATE email SET due_at = ?2, attempts = attempts + 1, trouble = ?3 WHERE id = ?1";
            batch.db.prepare_cached(sql)?.execute(params![id, millis(until), why])?;
            let sql =
                "UPDATE email SET due_at = ?2 WHERE recipient = ?1 AND kind GLOB 'hook_*' AND due_at < ?2";
            Ok(batch.db.prepare_cached(sql)?.execute(params![recipient, millis(others)]).map(drop)?)
        })
        .await
    }

    /// The news in an e-mail, in the order in which they happened.
    pub fn news_of(&self, email: i64) -> Result<Vec<OwedRow>, StoreError> {
        let db = self.reader();
        let columns = news::COLUMNS;
        let sql = format!(
            "SELECT {columns} FROM email_item JOIN owed ON owed.id = email_item.owed
             WHERE email = ?1 ORDER BY owed.id"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let rows = statement.query_map([email], news::row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Marks an e-mail as tried. Nothing is added to it any more.
    pub async fn begin_email(&self, email: i64, at: Time) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE email SET begun_at = coalesce(begun_at, ?2) WHERE id = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![email, millis(at)]).map(drop)?)
        })
        .await
    }

    /// Ends an e-mail. Operators are told of a rejected recipient once a day.
    pub async fn end_email(&self, email: &EmailRow, end: EmailEnd, at: Time) -> Result<(), RecordError> {
        let EmailRow { id, recipient, .. } = email.clone();
        self.write(move |batch| {
            let sql =
                "UPDATE email SET due_at = NULL, done_at = ?3, outcome = ?2, trouble = NULL WHERE id = ?1";
            batch.db.prepare_cached(sql)?.execute(params![id, end.word(), millis(at)])?;
            match &end {
                EmailEnd::Refused(code) => {
                    let day = at.date_naive().to_string();
                    news::owe(batch.db, &recipient, news::UNWANTED, &day, Some(code), at)
                }
                EmailEnd::Sent | EmailEnd::Obsolete => Ok(()),
            }
        })
        .await
    }

    /// Removes e-mails that ended before then, and with them their recipients. The rows of news stay, so that nothing is
    /// mailed again. Those about a rejected recipient are made once a day, so old ones are removed.
    pub async fn forget_emails(&self, before: Time) -> Result<(), RecordError> {
        // Connections of their own, because they may read much.
        while let ended @ [_, ..] = &*ended_emails(&schema::connect(&self.home().database())?, before)? {
            let ended = ended.to_vec();
            self.write(move |batch| {
                for email in &ended {
                    batch.db.prepare_cached("DELETE FROM email_item WHERE email = ?1")?.execute([email])?;
                    batch.db.prepare_cached("DELETE FROM email WHERE id = ?1")?.execute([email])?;
                }
                Ok(())
            })
            .await?;
        }
        let unwanted = old_unwanted(&schema::connect(&self.home().database())?, before)?;
        if unwanted.is_empty() {
            return Ok(());
        }
        self.write(move |batch| {
            for owed in &unwanted {
                batch.db.prepare_cached("DELETE FROM owed WHERE id = ?1")?.execute([owed])?;
            }
            Ok(())
        })
        .await
    }

    /// The e-mail could not be sent now.
    pub async fn email_later(&self, email: i64, until: Time, why: String) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE email SET due_at = ?2, attempts = attempts + 1, trouble = ?3 WHERE id = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![email, millis(until), why]).map(drop)?)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::outside::store::schema;

    fn held(recipient: &str, folder: &str) -> Addressed {
        let (recipient, folder) = (recipient.to_owned(), folder.to_owned());
        Addressed { recipient, kind: "held", folder, due: Time::UNIX_EPOCH, alone: false }
    }

    fn add(db: &Connection, email: i64, items: i64) {
        for _ in 0..items {
            let subject = "INSERT INTO owed (subject, notice, about, owed_at)
                           SELECT count(*), 'held', '', 0 FROM owed";
            db.execute(subject, []).unwrap();
            let item = "INSERT INTO email_item (email, owed) VALUES (?1, ?2)";
            db.execute(item, [email, db.last_insert_rowid()]).unwrap();
        }
    }

    #[test]
    fn news_are_added_to_the_newest_email_of_their_kind_until_it_is_full_or_was_tried() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        let ours = held("a@example.jp", "letters");
        let found = |addressed: &Addressed| collected(&db, addressed).unwrap();
        assert_eq!(found(&ours), None);
        let first = begin(&db, &ours, Time::UNIX_EPOCH).unwrap();
        add(&db, first, ITEMS - 1);
        assert_eq!(found(&ours), Some(first));
        let others = [
            held("b@example.jp", "letters"),
            held("a@example.jp", "invoices"),
            Addressed { kind: "shipped", ..ours.clone() },
            Addressed { alone: true, ..ours.clone() },
        ];
        assert!(others.iter().all(|other| found(other).is_none()));
        add(&db, first, 1);
        assert_eq!(found(&ours), None);
        let second = begin(&db, &ours, Time::UNIX_EPOCH + TimeDelta::minutes(1)).unwrap();
        assert_eq!(found(&ours), Some(second));
        db.execute("UPDATE email SET begun_at = 1 WHERE id = ?1", [second]).unwrap();
        assert_eq!(found(&ours), None);
    }

    #[test]
    fn the_newest_email_is_found_by_an_index_however_many_wait() {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {NEWEST}")).unwrap();
        let steps = plan.query_map(["a@example.jp", "held", "letters"], |row| row.get("detail")).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert!(steps[0].contains("email_collected (recipient=? AND kind=? AND folder=?)"), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("SCAN") || step.contains("B-TREE")), "{steps:?}");
    }
}
