//! Performs a step: the only match on [`Step`] with I/O behind it.

use std::sync::Arc;
use std::time::Instant;

use super::Shared;
use super::account::Account;
use crate::domain::letter::{CreateAnswer, Letter, Mail, Outcome, Realm, Step, Trouble, UploadAnswer};
use crate::outside::api::{Failure, KnownMail, Stored};
use crate::outside::journal;
use crate::outside::spool::{EntryError, Ulid};

/// A document up to this size is read and hashed in so little time that it holds up nothing else.
const SMALL: u64 = 128 * 1024;

/// Why a document was not uploaded.
enum NotUploaded {
    /// The spool copy can't be read at present. The service was not asked.
    Unread(String),
    Failed(Failure),
}

fn unread(why: String) -> Outcome {
    Outcome::Trouble(Trouble::Later { soonest: None, why })
}

impl Shared {
    /// The outcome, and whether a request was made.
    pub(super) async fn perform(
        &self,
        letter: &Letter,
        step: Step,
        account: &Account,
        realm: &Realm,
    ) -> (bool, Outcome) {
        let outcome = match (step, letter.state.mail()) {
            (Step::Create, _) => self.create(letter, account, realm).await,
            (Step::Upload { document }, Some(mail)) => {
                match self.upload(letter, mail, document, account).await {
                    Err(NotUploaded::Unread(why)) => return (false, unread(why)),
                    Err(NotUploaded::Failed(failure)) => Err(failure),
                    Ok(answer) => Ok(Outcome::Upload(answer)),
                }
            }
            (Step::UploadAgain, Some(mail)) => match self.upload_all(letter, mail, account).await {
                Err(NotUploaded::Unread(why)) => return (false, unread(why)),
                Err(NotUploaded::Failed(failure)) => Err(failure),
                Ok(answer) => Ok(Outcome::UploadAgain(answer)),
            },
            (Step::Read, Some(mail)) => {
                account.client.read(self.known(letter, mail)).await.map(Outcome::Read)
            }
            (Step::Confirm, Some(mail)) => {
                account.client.confirm(self.known(letter, mail)).await.map(Outcome::Confirm)
            }
            (Step::Cancel, Some(mail)) => {
                account.client.cancel(self.known(letter, mail)).await.map(Outcome::Cancel)
            }
            (Step::Abandon(why), _) => return (false, Outcome::Abandon(why)),
            (Step::Hold(reason), _) => return (false, Outcome::Hold(reason)),
            (Step::Wait(until), _) => return (false, Outcome::Wait(until)),
            (
                Step::Nothing
                | Step::Upload { .. }
                | Step::UploadAgain
                | Step::Read
                | Step::Confirm
                | Step::Cancel,
                _,
            ) => return (false, Outcome::Nothing),
        };
        (true, outcome.unwrap_or_else(|failure| Outcome::Trouble(failure.trouble())))
    }

    async fn create(&self, letter: &Letter, account: &Account, realm: &Realm) -> Result<Outcome, Failure> {
        let k = letter.mails + 1;
        let answer = match account.client.create(letter.number, k, &letter.order, realm).await {
            Ok(created) => {
                self.memory.made(letter.number, k, created.targets, self.clock.steady());
                CreateAnswer::Made(Box::new(created.mail))
            }
            Err(Failure::Refused(why)) => CreateAnswer::Refused(why),
            Err(other) => return Err(other),
        };
        Ok(Outcome::Create(answer))
    }

    fn known<'a>(&self, letter: &Letter, mail: &'a Mail) -> KnownMail<'a> {
        KnownMail { mail, watched: self.memory.watched(letter.number, mail, self.clock.steady()) }
    }

    /// The bytes are compared with what was admitted before they are sent.
    async fn upload(
        &self,
        letter: &Letter,
        mail: &Mail,
        document: usize,
        account: &Account,
    ) -> Result<UploadAnswer, NotUploaded> {
        let Some(target) = self.memory.target(letter.number, mail, document) else {
            return Ok(UploadAnswer::TargetsLost);
        };
        let bytes = match self.document(letter, document).await {
            Ok(bytes) => bytes,
            Err(EntryError::Damaged { document }) => return Ok(UploadAnswer::Damaged { document }),
            Err(
                error @ (EntryError::Io(_)
                | EntryError::Order(_)
                | EntryError::NoOrder
                | EntryError::PerhapsTaken(_)),
            ) => {
                journal::unreadable_document(letter.number, &error);
                return Err(NotUploaded::Unread(error.to_string()));
            }
        };
        let begun = Instant::now();
        let stored = account.client.upload(&target, letter.number, document, bytes).await;
        self.permits.uploaded(begun.elapsed());
        match stored.map_err(NotUploaded::Failed)? {
            Stored::Yes => Ok(UploadAnswer::Taken { document }),
            Stored::Refused(why) => Ok(UploadAnswer::Refused(why)),
        }
    }

    async fn document(&self, letter: &Letter, document: usize) -> Result<Vec<u8>, EntryError> {
        let Ok(ulid) = letter.entry.parse::<Ulid>() else { return Err(EntryError::Damaged { document }) };
        if letter.order.documents.get(document).is_some_and(|document| document.size <= SMALL) {
            return self.spool.document(&ulid, &letter.order, document);
        }
        let (spool, order) = (Arc::clone(&self.spool), Arc::clone(&letter.order));
        let read = tokio::task::spawn_blocking(move || spool.document(&ulid, &order, document));
        read.await.map_err(std::io::Error::other)?
    }

    async fn upload_all(
        &self,
        letter: &Letter,
        mail: &Mail,
        account: &Account,
    ) -> Result<UploadAnswer, NotUploaded> {
        let mut answer = UploadAnswer::TargetsLost;
        for document in 0..letter.order.documents.len() {
            answer = self.upload(letter, mail, document, account).await?;
            if !matches!(answer, UploadAnswer::Taken { .. }) {
                return Ok(answer);
            }
        }
        Ok(answer)
    }
}

/// Why the service did not answer, if it did not, so that the next letter need not be tried.
pub(super) fn silence(outcome: &Outcome) -> Option<&str> {
    let Outcome::Trouble(Trouble::Unknown(why) | Trouble::Later { why, .. }) = outcome else { return None };
    Some(why)
}
