//! E-mails on their way: one row for each mail to one person, with what it tells.
//!
//! News for the same people gather in a mail until it is first tried; from then on it stays as it is,
//! so that whoever gets it twice can tell by its name that it is one.

use rusqlite::{OptionalExtension as _, params};

use super::moves::RecordError;
use super::news::{self, OwedRow};
use super::{Store, StoreError, millis, time};
use crate::base::clock::Time;

/// To whom one row of news goes, as what, and by when at the latest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addressed {
    pub recipient: String,
    pub kind: &'static str,
    /// Empty where it is no folder's.
    pub folder: String,
    pub due: Time,
    /// Nothing else is told in the same mail.
    pub alone: bool,
}

/// A mail that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailRow {
    pub id: i64,
    pub recipient: String,
    pub kind: String,
    pub folder: String,
    pub attempts: u32,
    pub first_at: Time,
    /// Whether it was tried before, and so perhaps arrived.
    pub begun: bool,
}

/// How a mail ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmailEnd {
    Sent,
    /// The mail server will never take it for this recipient; by what it answered.
    Refused(String),
    /// What it was to tell is no more so.
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

impl Store {
    /// News are passed on to these people; with none of them, they are done.
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

    /// Mails that are due, and when there will be more.
    pub fn due_emails(&self, now: Time) -> Result<(Vec<EmailRow>, Option<Time>), StoreError> {
        let db = self.reader();
        let sql = format!("SELECT {COLUMNS} FROM email WHERE due_at <= ?1 ORDER BY due_at, id LIMIT 100");
        let mut statement = db.prepare_cached(&sql)?;
        let due = statement.query_map([millis(now)], email)?.collect::<Result<_, _>>()?;
        let sql = "SELECT min(due_at) FROM email WHERE due_at > ?1";
        let next: Option<i64> = db.prepare_cached(sql)?.query_row([millis(now)], |row| row.get(0))?;
        Ok((due, next.map(time)))
    }

    /// What a mail tells, in the order in which it happened.
    pub fn told_by(&self, email: i64) -> Result<Vec<OwedRow>, StoreError> {
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

    /// A mail is about to be sent for the first time: nothing is added to it any more.
    pub async fn begin_email(&self, email: i64, at: Time) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE email SET begun_at = coalesce(begun_at, ?2) WHERE id = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![email, millis(at)]).map(drop)?)
        })
        .await
    }

    /// A mail has ended. Of a recipient that is refused, operators hear once a day.
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

    /// It could not be sent now.
    pub async fn email_later(&self, email: i64, until: Time, why: String) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE email SET due_at = ?2, attempts = attempts + 1, trouble = ?3 WHERE id = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![email, millis(until), why]).map(drop)?)
        })
        .await
    }
}
