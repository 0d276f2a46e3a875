//! Removes what was kept long enough: our copies of documents, and the originals in the folders.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use chrono::TimeDelta;

use super::Retention;
use crate::base::clock::Time;
use crate::domain::drop::text_name;
use crate::domain::letter::{Kept, LARGEST_DOCUMENT, Letter, Number};
use crate::outside::hot::Hot;
use crate::outside::journal;
use crate::outside::store::{EndedLetter, Original, RecordError, StoreError};

/// For letters of commands, and of folders that are no longer configured.
const USUAL: Duration = Duration::from_hours(30 * 24);
/// How long it is known who got an e-mail.
const EMAILS: Duration = Duration::from_hours(90 * 24);

impl Retention {
    pub(super) async fn remove(&self, now: Time) -> Result<(), RecordError> {
        let before = |length: Duration| now.checked_sub_signed(TimeDelta::from_std(length).ok()?);
        for source in self.store.sources()? {
            let known = self.registry.get(&source);
            let keep = known.as_ref().map(|known| known.folder.keep);
            if let Some(before) = before(keep.map_or(USUAL, |keep| keep.spool)) {
                self.documents(&source, before, now).await?;
            }
            let hot = known.and_then(|known| known.hot);
            if let (Some(hot), Some(length)) = (hot, keep.and_then(|keep| keep.originals))
                && let Some(before) = before(length)
            {
                self.originals(&source, &hot, before, now).await?;
            }
            if let Some(before) = keep.and_then(|keep| keep.history).and_then(before) {
                self.names(&source, before, now).await?;
            }
        }
        if let Some(before) = before(EMAILS) {
            self.store.forget_emails(before).await?;
        }
        Ok(())
    }

    async fn documents(&self, source: &str, before: Time, now: Time) -> Result<(), RecordError> {
        let mut after = EndedLetter::FIRST;
        while let Some(letters) = self.next_kept(source, Kept::Documents, before, &mut after)? {
            for letter in letters {
                let removed = match letter.entry.parse() {
                    Ok(ulid) => self.spool.discard(&ulid),
                    Err(()) => Ok(()),
                };
                if let Err(error) = removed {
                    journal::not_discarded(source, &error.to_string());
                    continue;
                }
                journal::discarded(letter.number, "documents");
                self.store.discarded(letter, Kept::Documents, now).await?;
            }
        }
        Ok(())
    }

    async fn originals(&self, folder: &str, hot: &Hot, before: Time, now: Time) -> Result<(), RecordError> {
        let mut after = EndedLetter::FIRST;
        while let Some(letters) = self.next_kept(folder, Kept::Original, before, &mut after)? {
            for letter in letters {
                let Some(original) = self.store.original_of(letter.number)? else { continue };
                let sealed = self.store.sealed_paths(letter.number)?;
                if let Err(error) = take_away(hot, &original, &letter, &sealed) {
                    journal::not_discarded(folder, &error.to_string());
                    continue;
                }
                self.store.original_removed(original.ulid).await?;
                journal::discarded(letter.number, "original");
                self.store.discarded(letter, Kept::Original, now).await?;
            }
        }
        Ok(())
    }

    async fn names(&self, folder: &str, before: Time, now: Time) -> Result<(), RecordError> {
        let mut after = EndedLetter::FIRST;
        while let Some(letters) = self.next_kept(folder, Kept::Receiver, before, &mut after)? {
            let numbers: Vec<Number> = letters.iter().map(|letter| letter.number).collect();
            self.store.struck(letters, now).await?;
            for number in numbers {
                journal::discarded(number, "names");
            }
        }
        Ok(())
    }

    /// The next letters of which this was kept long enough. `None` if there are no more. Those with damaged records
    /// are passed over: nothing of them is removed.
    fn next_kept(
        &self,
        folder: &str,
        what: Kept,
        before: Time,
        after: &mut EndedLetter,
    ) -> Result<Option<Vec<Letter>>, StoreError> {
        let ended = self.store.kept_too_long(folder, what, before, *after)?;
        let Some(last) = ended.last() else { return Ok(None) };
        *after = *last;
        let mut letters = Vec::new();
        for EndedLetter { number, .. } in ended {
            letters.extend(self.readable(number)?);
        }
        Ok(Some(letters))
    }

    fn readable(&self, number: Number) -> Result<Option<Letter>, StoreError> {
        match self.store.letter(number) {
            Err(StoreError::Damaged(_)) => Ok(None),
            letter => letter,
        }
    }
}

/// Removes an original with what lies beside it. A PDF that a person put in its place stays, alone.
fn take_away(hot: &Hot, original: &Original, letter: &Letter, sealed: &[Vec<u8>]) -> io::Result<()> {
    let Some(shelved) = &original.shelved else { return Ok(()) };
    let path = Path::new(OsStr::from_bytes(shelved));
    let name = path.file_name().unwrap_or_default().as_bytes();
    let hashes: Vec<&str> = letter.order.documents.iter().map(|document| document.sha256.as_str()).collect();
    let dir = path.parent().unwrap_or(Path::new(""));
    if hot.is_there(path)? {
        // First: without their original nothing would find them again, and they contain names.
        for name in [name, original.ulid.as_str().as_bytes()] {
            for sidecar in hot.sidecars_beside(dir, name)? {
                hot.remove(&dir.join(OsStr::from_bytes(&sidecar)))?;
            }
        }
        hot.remove_tree(path, LARGEST_DOCUMENT, &hashes)?;
    }
    hot.remove(&dir.join(OsStr::from_bytes(&text_name(name))))?;
    sealed.iter().try_for_each(|path| hot.remove(Path::new(OsStr::from_bytes(path))))
}
