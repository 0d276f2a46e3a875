//! Fetches PDFs as printed from the service to where people see the original.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use chrono::TimeDelta;

use super::Retention;
use crate::base::backoff::Backoff;
use crate::base::clock::Time;
use crate::domain::letter::{LARGEST_DOCUMENT, Letter};
use crate::outside::api::Failure;
use crate::outside::hot::{Content, Hot};
use crate::outside::journal;
use crate::outside::spool::sha256_of;
use crate::outside::store::{Original, OriginalPlace, RecordError, SealedRow, StoreError};

const AGAIN: Backoff = Backoff::new(TimeDelta::seconds(10), TimeDelta::hours(6));

/// Why it failed.
enum Failed {
    /// It may succeed later.
    Later(String),
    Never(String),
    /// Nothing can be read or recorded.
    Records(RecordError),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Records(error.into())
    }
}

impl Retention {
    pub(super) async fn fetch(&self, now: Time) -> Result<Option<Time>, RecordError> {
        loop {
            let (due, next) = self.store.due_sealed(now)?;
            if due.is_empty() {
                return Ok(next);
            }
            for row in due {
                match self.lay_down(&row).await {
                    Ok((path, same)) => {
                        if let Some(same) = same {
                            journal::sealed(row.letter, same);
                        }
                        let path = path.into_os_string().into_vec();
                        self.store.sealed(&row, path, same, now).await?;
                    }
                    Err(Failed::Later(why)) => {
                        if row.attempts == 3 {
                            journal::not_sealed(row.letter, &why, true);
                        }
                        let again = now + AGAIN.wait(row.attempts);
                        self.store.sealed_later(&row, Some(again), why).await?;
                    }
                    Err(Failed::Records(error)) => return Err(error),
                    Err(Failed::Never(why)) => {
                        journal::not_sealed(row.letter, &why, false);
                        self.store.sealed_later(&row, None, why).await?;
                    }
                }
            }
        }
    }

    /// Where it lies then, and, if it was fetched, whether it is what was uploaded.
    async fn lay_down(&self, row: &SealedRow) -> Result<(PathBuf, Option<bool>), Failed> {
        let later = |why: &str| Err(Failed::Later(why.to_owned()));
        let never = |why: &str| Err(Failed::Never(why.to_owned()));
        let letter = match self.store.letter(row.letter) {
            // The start reports it.
            Err(StoreError::Damaged(_)) => return never("the records of its letter are damaged"),
            letter => letter?,
        };
        let (Some(letter), Some(original)) = (letter, self.store.original_of(row.letter)?) else {
            return never("its letter has no original");
        };
        let Some(hot) = self.registry.get(&original.origin.folder).and_then(|known| known.hot) else {
            return later("its folder is away");
        };
        let Some(target) = target(&letter, &original, row.document) else {
            return if original.place == OriginalPlace::Gone {
                never("a person took the original away")
            } else {
                later("its original is on its way")
            };
        };
        if let Some(known) = &row.path {
            let known = PathBuf::from(OsStr::from_bytes(known));
            return moved(&hot, known, target).map(|path| (path, None));
        }
        let Some(mail) = letter.state.mail() else { return never("it was cancelled") };
        let Some(client) = self.clients.get(&letter.order.account) else {
            return later("its account is not in the configuration");
        };
        let bytes = match client.pdf(mail, row.document).await {
            Ok(bytes) => bytes,
            Err(Failure::Refused(why)) => return Err(Failed::Never(why)),
            Err(Failure::Unknown(why) | Failure::Later { why, .. }) => return Err(Failed::Later(why)),
            Err(Failure::Account(problem)) => return Err(Failed::Later(problem.to_string())),
        };
        let same =
            letter.order.documents.get(row.document).is_some_and(|sent| sent.sha256 == sha256_of(&bytes));
        // It may have been written before, but not recorded.
        let there = hot.read_at(&target, LARGEST_DOCUMENT);
        if matches!(there, Ok(Content::Whole { bytes: there, .. }) if there == bytes) {
            return Ok((target, Some(same)));
        }
        let path = hot.write_new(&target, &bytes);
        path.map(|path| (path, Some(same))).map_err(|error| Failed::Later(error.to_string()))
    }
}

/// The path for the sealed PDF of a document. `None` while its original is not on a shelf.
fn target(letter: &Letter, original: &Original, document: usize) -> Option<PathBuf> {
    let shelved = original
        .shelved
        .as_deref()
        .filter(|_| matches!(original.place, OriginalPlace::Sent | OriginalPlace::Cancelled))?;
    let shelved = Path::new(OsStr::from_bytes(shelved));
    let name = shelved.file_name()?.as_bytes();
    let one = letter.order.documents.len() == 1 && crate::domain::drop::is_pdf(name);
    let stem = if one { &name[..name.len() - 4] } else { name };
    let ending = if one { ".sealed.pdf".to_owned() } else { format!(".{}.sealed.pdf", document + 1) };
    // A name has at most 255 bytes. The cut is at the end of a character.
    let most = 240 - ending.len();
    let end =
        (0..=stem.len().min(most)).rev().find(|end| stem.get(*end).is_none_or(|byte| byte & 0xc0 != 0x80))?;
    Some(shelved.with_file_name(OsStr::from_bytes(&[&stem[..end], ending.as_bytes()].concat())))
}

/// It follows its original.
fn moved(hot: &Hot, known: PathBuf, target: PathBuf) -> Result<PathBuf, Failed> {
    if known.parent() == target.parent() {
        return Ok(known);
    }
    match hot.is_there(&known) {
        Ok(true) => {}
        // The move may have been done and not recorded.
        Ok(false) => match hot.is_there(&target) {
            Ok(true) => return Ok(target),
            Ok(false) => return Err(Failed::Never("a person took it away".to_owned())),
            Err(error) => return Err(Failed::Later(error.to_string())),
        },
        Err(error) => return Err(Failed::Later(error.to_string())),
    }
    hot.shelve(&known, &target).map(|()| target).map_err(|error| Failed::Later(error.to_string()))
}
