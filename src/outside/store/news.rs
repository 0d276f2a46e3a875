//! News for people: rows written in the same transaction as what happened.

use rusqlite::{Connection, params};

use super::moves::RecordError;
use super::{Store, StoreError, millis, time};
use crate::base::clock::Time;
use crate::domain::letter::{Letter, Notice, Number};
use crate::domain::pause::Cause;
use crate::outside::spool::Ulid;

/// Something that people must be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    Letter {
        number: Number,
        notice: Notice,
    },
    Drop {
        ulid: Ulid,
        notice: DropNotice,
    },
    AccountPaused {
        account: String,
        cause: Cause,
    },
    AccountWorks {
        account: String,
    },
    /// An alarm by its word, what was found, and whether it is over.
    Alarm {
        alarm: String,
        detail: String,
        over: bool,
    },
    /// The mail server will never accept an e-mail for this person.
    Unwanted {
        recipient: String,
        code: String,
    },
    /// The digest of the time since then.
    Digest {
        since: Time,
    },
    /// How a mail that brought documents stands, by its row, and the standing that is meant.
    Mail {
        id: i64,
        standing: String,
    },
}

/// What people are told of a drop that is not a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropNotice {
    Rejected,
    Held,
    Cancelled,
}

/// A row of pending news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwedRow {
    pub id: i64,
    /// A letter's number, a drop's ULID, an account's name or an alarm.
    pub subject: String,
    pub notice: String,
    pub at: Time,
    about: String,
    detail: Option<String>,
}

impl DropNotice {
    const ALL: [Self; 3] = [Self::Rejected, Self::Held, Self::Cancelled];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Rejected => "drop_rejected",
            Self::Held => "drop_held",
            Self::Cancelled => "drop_cancelled",
        }
    }
}

pub(super) const ACCOUNT_PAUSED: &str = "account_paused";
pub(super) const ACCOUNT_WORKS: &str = "account_works";
pub(super) const ALARM: &str = "alarm";
pub(super) const ALARM_OVER: &str = "alarm_over";
pub(super) const UNWANTED: &str = "unwanted";
pub(super) const DIGEST: &str = "digest";
pub(super) const MAIL: &str = "mail";

impl OwedRow {
    /// The key of this news, which stays the same in a database that was made anew.
    pub fn key(&self) -> String {
        format!("{} {} {}", self.subject, self.notice, self.about)
    }

    /// The news. `None` if another version wrote it and it cannot be parsed.
    pub fn news(&self) -> Option<News> {
        let subject = || self.subject.clone();
        let detail = || self.detail.clone().unwrap_or_default();
        match self.notice.as_str() {
            ACCOUNT_PAUSED => {
                let cause = self.about.rsplit_once(' ').map_or(self.about.as_str(), |(cause, _)| cause);
                let cause = serde_json::from_str(cause).ok()?;
                Some(News::AccountPaused { account: subject(), cause })
            }
            ACCOUNT_WORKS => Some(News::AccountWorks { account: subject() }),
            ALARM => Some(News::Alarm { alarm: subject(), detail: detail(), over: false }),
            ALARM_OVER => Some(News::Alarm { alarm: subject(), detail: detail(), over: true }),
            MAIL => {
                // Before it had a detail, what it is about was the standing alone.
                let standing = self.detail.as_ref().unwrap_or(&self.about).clone();
                Some(News::Mail { id: self.subject.parse().ok()?, standing })
            }
            UNWANTED => Some(News::Unwanted { recipient: subject(), code: detail() }),
            DIGEST => Some(News::Digest { since: time(self.detail.as_ref()?.parse().ok()?) }),
            word => {
                if let Some(notice) = DropNotice::ALL.into_iter().find(|notice| notice.word() == word) {
                    return Some(News::Drop { ulid: self.subject.parse().ok()?, notice });
                }
                let notice = Notice::ALL.into_iter().find(|notice| notice.word() == word)?;
                let number = self.subject.strip_prefix('#')?.parse().ok()?;
                Some(News::Letter { number: Number(number), notice })
            }
        }
    }
}

pub(super) const COLUMNS: &str = "owed.id, subject, notice, about, detail, owed_at";

pub(super) fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<OwedRow> {
    Ok(OwedRow {
        id: row.get("id")?,
        subject: row.get("subject")?,
        notice: row.get("notice")?,
        about: row.get("about")?,
        detail: row.get("detail")?,
        at: time(row.get("owed_at")?),
    })
}

impl Store {
    /// Pending news that are not in an e-mail yet, oldest first.
    pub fn owed(&self) -> Result<Vec<OwedRow>, StoreError> {
        let db = self.reader();
        let sql = format!("SELECT {COLUMNS} FROM owed WHERE done_at IS NULL ORDER BY id LIMIT 200");
        let mut statement = db.prepare_cached(&sql)?;
        let rows = statement.query_map([], row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

pub(super) fn owe_notice(
    db: &Connection,
    letter: &Letter,
    notice: Notice,
    at: Time,
) -> Result<(), RecordError> {
    let mail = letter.state.mail();
    let about = match (notice, mail) {
        // Once a day, however many of the service's mails are abandoned meanwhile.
        (Notice::Delayed, _) => format!("day {}", (at - letter.admitted_at).num_days()),
        (_, Some(mail)) => format!("mail {}", mail.k),
        (_, None) => letter.facts.to_string(),
    };
    owe(db, &letter.number.to_string(), notice.word(), &about, None, at)
}

/// Adds news, once for each subject, notice and detail.
pub(super) fn owe(
    db: &Connection,
    subject: &str,
    notice: &str,
    about: &str,
    detail: Option<&str>,
    at: Time,
) -> Result<(), RecordError> {
    let sql =
        "INSERT OR IGNORE INTO owed (subject, notice, about, detail, owed_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    db.prepare_cached(sql)?.execute(params![subject, notice, about, detail, millis(at)])?;
    Ok(())
}
