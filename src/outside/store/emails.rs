//! Pending e-mails: one row for each e-mail to one person, with the news it contains.
//!
//! News for the same person are collected in one e-mail until it is first tried. From then on it does not
//! change, so a person who gets it twice can see by its Message-ID that it is the same.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::moves::RecordError;
use super::news::{self, OwedRow};
use super::{Store, StoreError, millis, time};
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

/// Rows that are due, of e-mails (`NOT GLOB`) or of requests to programs (`GLOB`).
fn due(db: &Connection, now: Time, which: &str) -> rusqlite::Result<Vec<EmailRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM email WHERE due_at <= ?1 AND kind {which} 'hook_*'
         ORDER BY due_at, attempts, id LIMIT 100"
    );
    let mut statement = db.prepare_cached(&sql)?;
    statement.query_map([millis(now)], email)?.collect()
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
                let Addressed { recipient, kind, folder, due, alone } = addressed;
                let open = "SELECT id FROM email WHERE recipient = ?1 AND kind = ?2 AND folder = ?3
                            AND begun_at IS NULL AND due_at IS NOT NULL AND NOT ?4
                            AND (SELECT count(*) FROM email_item WHERE email = email.id) < 50";
                let open: Option<i64> = batch
                    .db
                    .prepare_cached(open)?
                    .query_row(params![recipient, kind, folder, alone], |row| row.get(0))
                    .optional()?;
                let id = if let Some(id) = open {
                    let sooner = "UPDATE email SET due_at = min(due_at, ?2) WHERE id = ?1";
                    batch.db.prepare_cached(sooner)?.execute(params![id, millis(*due)])?;
                    id
                } else {
                    let sql = "INSERT INTO email (recipient, kind, folder, first_at, due_at)
                                   VALUES (?1, ?2, ?3, ?4, ?5)";
                    let values = params![recipient, kind, folder, millis(at), millis(*due)];
                    batch.db.prepare_cached(sql)?.execute(values)?;
                    batch.db.last_insert_rowid()
                };
                let sql = "INSERT OR IGNORE INTO email_item (email, owed) VALUES (?1, ?2)";
                batch.db.prepare_cached(sql)?.execute(params![id, owed])?;
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

    /// The e-mail could not be sent now.
    pub async fn email_later(&self, email: i64, until: Time, why: String) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE email SET due_at = ?2, attempts = attempts + 1, trouble = ?3 WHERE id = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![email, millis(until), why]).map(drop)?)
        })
        .await
    }
}
