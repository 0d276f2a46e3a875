//! Mails that brought documents: each by its number in its mailbox, and how far it was followed.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::moves::RecordError;
use super::news::{self, MAIL};
use super::originals::{Fate, OriginalPlace};
use super::{Store, StoreError, millis};
use crate::base::clock::Time;
use crate::domain::drop::Undecided;
use crate::domain::letter::State;
use crate::domain::mailed::{MailRefusal, MailShelf, MailStanding, MailedPart};
use crate::outside::spool::Ulid;

const GONE: &str = "gone";

/// Where a mail lies, as far as we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MailPlace {
    /// In the mailbox that is watched.
    Watched,
    Shelf(MailShelf),
    /// A person moved it, or removed it.
    Gone,
}

/// A mail that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailedRow {
    pub id: i64,
    pub number: MailNumber,
    /// The SHA-256 of its bytes, and how many they are.
    pub bytes: String,
    pub size: u64,
    pub refused: Option<MailRefusal>,
    /// `None` until all of its letters are taken, or it is refused.
    pub letters: Option<Vec<Ulid>>,
    pub place: MailPlace,
    /// When a person last put it where it is approved, and where it is cancelled: which of the two, and its number there.
    pub visit: Option<String>,
    /// Of which standing news were last owed.
    pub told: Option<String>,
}

/// By what a server knows a mail in one of its mailboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MailNumber {
    pub validity: u32,
    pub uid: u32,
}

/// A mail when it is seen for the first time. All hashes are SHA-256.
#[derive(Debug, Clone)]
pub struct NewMail {
    /// Which mailbox it came to, whatever its queue is called.
    pub mailbox: String,
    pub number: MailNumber,
    pub message_id: Option<String>,
    pub bytes: String,
    pub size: u64,
    /// The sender and the documents.
    pub content: String,
    /// Who is answered. `None`: operators hear of it instead.
    pub reply_to: Option<ReplyTo>,
}

/// The sender of a mail who is answered.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplyTo {
    pub address: String,
    /// The Message-ID that is answered.
    pub thread: Option<String>,
}

impl std::fmt::Debug for ReplyTo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReplyTo(..)")
    }
}

const COLUMNS: &str = "id, validity, uid, bytes, size, refused, letters, shelf, visit, told";

fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<MailedRow> {
    let wrong = |column: &str| rusqlite::Error::InvalidColumnName(column.to_owned());
    let refused: Option<String> = row.get("refused")?;
    let letters: String = row.get("letters")?;
    let letters: Option<Vec<String>> = serde_json::from_str(&letters).map_err(|_| wrong("letters"))?;
    let ulids = |letters: Vec<String>| letters.iter().map(|ulid| ulid.parse()).collect::<Result<_, ()>>();
    let shelf: Option<String> = row.get("shelf")?;
    Ok(MailedRow {
        id: row.get("id")?,
        number: MailNumber { validity: row.get("validity")?, uid: row.get("uid")? },
        bytes: row.get("bytes")?,
        size: row.get::<_, i64>("size")?.unsigned_abs(),
        refused: refused.and_then(|refused| serde_json::from_str(&refused).ok()),
        letters: letters.map(ulids).transpose().map_err(|()| wrong("letters"))?,
        place: match shelf {
            None => MailPlace::Watched,
            Some(word) => MailShelf::ALL
                .into_iter()
                .find(|shelf| shelf.word() == word)
                .map_or(MailPlace::Gone, MailPlace::Shelf),
        },
        visit: row.get("visit")?,
        told: row.get("told")?,
    })
}

fn place_word(place: MailPlace) -> Option<&'static str> {
    match place {
        MailPlace::Watched => None,
        MailPlace::Shelf(shelf) => Some(shelf.word()),
        MailPlace::Gone => Some(GONE),
    }
}

impl Store {
    /// Below which number mails were there before. A mailbox that is new, or whose numbers began again, counts from
    /// `next` on.
    pub async fn know_mailbox(&self, mailbox: String, validity: u32, next: u32) -> Result<u32, RecordError> {
        let known = "SELECT first FROM mailbox WHERE id = ?1 AND validity = ?2";
        let known = self
            .reader()
            .prepare_cached(known)
            .and_then(|mut known| known.query_row(params![mailbox, validity], |row| row.get(0)).optional())
            .map_err(StoreError::from)?;
        if let Some(first) = known {
            return Ok(first);
        }
        self.write(move |batch| {
            let sql = "INSERT OR REPLACE INTO mailbox (id, validity, first) VALUES (?1, ?2, ?3)";
            Ok(batch.db.prepare_cached(sql)?.execute(params![mailbox, validity, next]).map(|_| next)?)
        })
        .await
    }

    pub fn mail_numbered(&self, mailbox: &str, number: MailNumber) -> Result<Option<MailedRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM mailed WHERE mailbox = ?1 AND validity = ?2 AND uid = ?3");
        let values = params![mailbox, number.validity, number.uid];
        Ok(self.reader().prepare_cached(&sql)?.query_row(values, row).optional()?)
    }

    /// The mails of these bytes, oldest first: a mail that somebody moved back is another one.
    pub fn mails_of_bytes(&self, mailbox: &str, bytes: &str) -> Result<Vec<MailedRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM mailed WHERE bytes = ?2 AND mailbox = ?1 ORDER BY id");
        let db = self.reader();
        let mut statement = db.prepare_cached(&sql)?;
        Ok(statement.query_map([mailbox, bytes], row)?.collect::<Result<_, _>>()?)
    }

    /// Mails that were recorded before this one in any mailbox: those of its Message-ID, and those since then with the
    /// same documents of the same sender.
    pub fn mails_like(&self, id: i64, since: Time) -> Result<Vec<MailedRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM mailed WHERE id < ?1
                 AND (message_id = (SELECT message_id FROM mailed WHERE id = ?1)
                     OR content = (SELECT content FROM mailed WHERE id = ?1) AND taken_at >= ?2)"
        );
        let db = self.reader();
        let mut statement = db.prepare_cached(&sql)?;
        Ok(statement.query_map(params![id, millis(since)], row)?.collect::<Result<_, _>>()?)
    }

    /// Mails that are not followed to their end, oldest first.
    pub fn open_mails(&self, mailbox: &str) -> Result<Vec<MailedRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM mailed WHERE mailbox = ?1 AND is_closed = 0 ORDER BY id");
        let db = self.reader();
        let mut statement = db.prepare_cached(&sql)?;
        Ok(statement.query_map([mailbox], row)?.collect::<Result<_, _>>()?)
    }

    pub fn mail(&self, id: i64) -> Result<Option<MailedRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM mailed WHERE id = ?1");
        Ok(self.reader().prepare_cached(&sql)?.query_row([id], row).optional()?)
    }

    /// Whose mail it is, if its sender is answered. `None` as well when nothing is left to answer.
    pub fn reply_to(&self, id: i64) -> Result<Option<ReplyTo>, StoreError> {
        let sql = "SELECT sender, thread FROM mailed WHERE id = ?1 AND sender IS NOT NULL";
        let reply = |row: &rusqlite::Row<'_>| Ok(ReplyTo { address: row.get(0)?, thread: row.get(1)? });
        Ok(self.reader().prepare_cached(sql)?.query_row([id], reply).optional()?)
    }

    /// The mailbox that a mail came to.
    pub fn mailbox_of(&self, id: i64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT mailbox FROM mailed WHERE id = ?1";
        Ok(self.reader().prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?)
    }

    /// How a mail and its letters stand.
    pub fn mail_standing(&self, mail: &MailedRow) -> Result<MailStanding, StoreError> {
        let mut standing = MailStanding { parts: Vec::new(), is_final: mail.letters.is_some() };
        for ulid in mail.letters.iter().flatten() {
            let (part, word, is_final) = self.part_of_mail(ulid)?;
            standing.parts.push((part, word));
            standing.is_final &= is_final;
        }
        Ok(standing)
    }

    /// One letter of a mail, what distinguishes it, and whether that stays so.
    fn part_of_mail(&self, ulid: &Ulid) -> Result<(MailedPart, String, bool), StoreError> {
        let open = || (MailedPart::Open, String::new(), false);
        let Some(original) = self.original(ulid)? else { return Ok(open()) };
        let is_shelved = original.place != OriginalPlace::Claim;
        Ok(match &original.fate {
            Fate::Undecided(Undecided::Refused(refusal)) => {
                (MailedPart::Rejected, refusal.word().to_owned(), is_shelved)
            }
            Fate::Undecided(Undecided::Waits(waiting)) => {
                (MailedPart::Held, waiting.word().to_owned(), false)
            }
            Fate::Undecided(Undecided::Cancelled) => (MailedPart::Cancelled, String::new(), is_shelved),
            Fate::Undecided(Undecided::Accepted { .. }) => open(),
            Fate::Letter(number) => {
                let letter = match self.letter(*number) {
                    Ok(Some(letter)) => letter,
                    // The start reports a damaged one. It must not stop all other mails.
                    Ok(None) | Err(StoreError::Damaged(_)) => return Ok(open()),
                    Err(error) => return Err(error),
                };
                let word = letter.state.word().to_owned();
                match &letter.state {
                    State::Confirmed { .. } => (MailedPart::Sent, word, false),
                    State::Shipped { .. } | State::Closed => (MailedPart::Sent, word, is_shelved),
                    State::Cancelled { .. } | State::Withdrawn => (MailedPart::Cancelled, word, is_shelved),
                    State::Admitted
                    | State::Created { .. }
                    | State::Uploaded { .. }
                    | State::Confirming { .. }
                    | State::Withdrawing { .. }
                    | State::Held { .. } => match letter.state.hold() {
                        Some(hold) => (MailedPart::Held, hold.to_string(), false),
                        None => open(),
                    },
                }
            }
        })
    }

    /// Records a mail before any of its letters is taken. It may be recorded already. Returns its row.
    pub async fn begin_mail(&self, mail: NewMail, at: Time) -> Result<i64, RecordError> {
        self.write(move |batch| {
            let sql =
                "INSERT INTO mailed (mailbox, validity, uid, message_id, bytes, size, content, sender, thread,
                           taken_at, letters)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'null')
                       ON CONFLICT DO UPDATE SET uid = uid RETURNING id";
            let NewMail { mailbox, number, message_id, bytes, size, content, reply_to } = &mail;
            let (address, thread) =
                reply_to.as_ref().map_or((None, None), |to| (Some(&to.address), to.thread.as_ref()));
            let values = params![
                mailbox,
                number.validity,
                number.uid,
                message_id,
                bytes,
                super::signed(*size),
                content,
                address,
                thread,
                millis(at)
            ];
            Ok(batch.db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
        })
        .await
    }

    /// All letters of a mail are taken, or it is refused.
    pub async fn take_mail(
        &self,
        id: i64,
        letters: Vec<Ulid>,
        refused: Option<MailRefusal>,
    ) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE mailed SET letters = ?2, refused = ?3 WHERE id = ?1 AND letters = 'null'";
            let refused = refused.as_ref().map(serde_json::to_string).transpose()?;
            let letters: Vec<&str> = letters.iter().map(Ulid::as_str).collect();
            let values = params![id, serde_json::to_string(&letters)?, refused];
            Ok(batch.db.prepare_cached(sql)?.execute(values).map(drop)?)
        })
        .await
    }

    pub async fn mail_lies(&self, id: i64, place: MailPlace) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE mailed SET shelf = ?2 WHERE id = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![id, place_word(place)]).map(drop)?)
        })
        .await
    }

    /// A person moved it, and wants something. It is recorded before it is done, so that it is done once at most.
    pub async fn visit_mail(&self, id: i64, visit: String) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE mailed SET visit = ?2, shelf = 'gone' WHERE id = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute(params![id, visit]).map(drop)?)
        })
        .await
    }

    /// Owes the news of how a mail stands, once for each `standing`. Numbers of mails begin anew in a database that is
    /// made anew, so what identifies the news contains the mail's hash.
    pub async fn owe_mail(&self, id: i64, standing: String, at: Time) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE mailed SET told = ?2 WHERE id = ?1 AND told IS NOT ?2";
            if batch.db.prepare_cached(sql)?.execute(params![id, standing])? > 0 {
                let bytes = "SELECT bytes FROM mailed WHERE id = ?1";
                let bytes: String = batch.db.prepare_cached(bytes)?.query_row([id], |row| row.get(0))?;
                let about = format!("{standing} {bytes}");
                news::owe(batch.db, &id.to_string(), MAIL, &about, Some(&standing), at)?;
            }
            Ok(())
        })
        .await
    }

    /// Nothing is left to do about a mail. What it was about is removed.
    pub async fn close_mail(&self, id: i64) -> Result<(), RecordError> {
        self.write(move |batch| {
            let sql = "UPDATE incoming SET mailed = '{}' WHERE ulid IN
                       (SELECT value FROM mailed, json_each(mailed.letters) WHERE mailed.id = ?1)";
            batch.db.prepare_cached(sql)?.execute([id])?;
            let sql = "UPDATE mailed SET is_closed = 1 WHERE id = ?1";
            Ok(batch.db.prepare_cached(sql)?.execute([id]).map(drop)?)
        })
        .await
    }

    /// Removes who sent mails that are done, and names of files, once nobody is owed an answer any more.
    pub async fn forget_mails(&self, mailbox: String) -> Result<(), RecordError> {
        self.write(move |batch| forget(batch.db, &mailbox).map_err(Into::into)).await
    }
}

fn forget(db: &Connection, mailbox: &str) -> rusqlite::Result<()> {
    // What is in an e-mail that is not sent yet is still needed.
    let sql = "UPDATE mailed SET sender = NULL, thread = NULL,
                   refused = json_replace(refused, '$.unfit.name', '?')
               WHERE mailbox = ?1 AND is_closed = 1
                   AND (sender IS NOT NULL OR json_extract(refused, '$.unfit.name') <> '?') AND NOT EXISTS (
                   SELECT 1 FROM owed LEFT JOIN email_item ON email_item.owed = owed.id
                       LEFT JOIN email ON email.id = email_item.email
                   WHERE owed.subject = CAST(mailed.id AS TEXT) AND owed.notice = ?2
                       AND (owed.done_at IS NULL OR email.due_at IS NOT NULL))";
    db.prepare_cached(sql)?.execute([mailbox, MAIL]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::store::News;

    #[tokio::test]
    async fn an_answer_to_a_mail_has_not_the_key_of_one_to_another_mail_with_its_number_in_other_records() {
        let now = "2026-11-20T12:00:00Z".parse().unwrap();
        let mut keys = Vec::new();
        for bytes in ["1", "2"] {
            let dir = tempfile::tempdir().unwrap();
            let (store, _) = Store::open(dir.path(), now, false).unwrap();
            let mail = NewMail {
                mailbox: "m".to_owned(),
                number: MailNumber { validity: 1, uid: 1 },
                message_id: None,
                bytes: bytes.to_owned(),
                size: 1,
                content: bytes.to_owned(),
                reply_to: None,
            };
            let id = store.begin_mail(mail, now).await.unwrap();
            store.owe_mail(id, "held".to_owned(), now).await.unwrap();
            let owed = store.owed().unwrap().remove(0);
            assert_eq!(owed.news(), Some(News::Mail { id, standing: "held".to_owned() }));
            keys.push((id, owed.key()));
        }
        let [one, other] = keys.try_into().unwrap();
        assert_eq!(one.0, other.0);
        assert_ne!(one.1, other.1);
    }
}
