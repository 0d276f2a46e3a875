//! What was kept long enough: our copies of documents, and the originals in the folders.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use chrono::TimeDelta;

use super::Keeper;
use crate::clock::Time;
use crate::drop::{sidecars_of, text_name};
use crate::hot::{Content, Hot};
use crate::journal;
use crate::letter::{Kept, LARGEST_DOCUMENT, Letter};
use crate::spool::sha256_of;
use crate::store::{Original, RecordError};

/// For letters of commands, and of folders that are not configured any more.
const USUAL: Duration = Duration::from_secs(30 * 86_400);

impl Keeper {
    pub(super) async fn remove(&self, now: Time) -> Result<(), RecordError> {
        for source in self.store.sources()? {
            let known = self.registry.get(&source);
            let keep = known.as_ref().map(|known| known.folder.keep);
            let before = |length: Duration| now.checked_sub_signed(TimeDelta::from_std(length).ok()?);
            if let Some(before) = before(keep.map_or(USUAL, |keep| keep.spool)) {
                self.documents(&source, before, now).await?;
            }
            let hot = known.and_then(|known| known.hot);
            if let (Some(hot), Some(length)) = (hot, keep.and_then(|keep| keep.originals))
                && let Some(before) = before(length)
            {
                self.originals(&source, &hot, before, now).await?;
            }
        }
        Ok(())
    }

    async fn documents(&self, source: &str, before: Time, now: Time) -> Result<(), RecordError> {
        loop {
            let due = self.store.kept_too_long(source, Kept::Documents, before)?;
            if due.is_empty() {
                return Ok(());
            }
            for number in due {
                let Some(letter) = self.store.letter(number)? else { continue };
                let removed = match letter.entry.parse() {
                    Ok(ulid) => self.spool.discard(&ulid),
                    Err(()) => Ok(()),
                };
                if let Err(error) = removed {
                    journal::not_discarded(source, &error.to_string());
                    return Ok(());
                }
                journal::discarded(number, "documents");
                self.store.discarded(letter, Kept::Documents, now).await?;
            }
        }
    }

    async fn originals(&self, folder: &str, hot: &Hot, before: Time, now: Time) -> Result<(), RecordError> {
        for number in self.store.kept_too_long(folder, Kept::Original, before)? {
            let (Some(letter), original) = (self.store.letter(number)?, self.store.original_of(number)?)
            else {
                continue;
            };
            if let Some(original) = original {
                let sealed = self.store.sealed_paths(number)?;
                if let Err(error) = take_away(hot, &original, Some(&letter), &sealed) {
                    journal::not_discarded(folder, &error.to_string());
                    return Ok(());
                }
                self.store.original_removed(original.ulid).await?;
            }
            journal::discarded(number, "original");
            self.store.discarded(letter, Kept::Original, now).await?;
        }
        for ulid in self.store.undecided_too_long(folder, before)? {
            let Some(original) = self.store.original(&ulid)? else { continue };
            if let Err(error) = take_away(hot, &original, None, &[]) {
                journal::not_discarded(folder, &error.to_string());
                return Ok(());
            }
            journal::drop_discarded(folder, &ulid);
            self.store.original_removed(ulid).await?;
        }
        Ok(())
    }
}

/// An original with what lies beside it. What a person put in its place, or added, stays.
fn take_away(hot: &Hot, original: &Original, letter: Option<&Letter>, sealed: &[Vec<u8>]) -> io::Result<()> {
    let Some(shelved) = &original.shelved else { return Ok(()) };
    let path = Path::new(OsStr::from_bytes(shelved));
    let name = path.file_name().unwrap_or_default().as_bytes();
    if !hot.is_there(path)? {
        return Ok(());
    }
    let hashes: Option<Vec<&str>> =
        letter.map(|letter| letter.order.documents.iter().map(|document| document.sha256.as_str()).collect());
    let is_ours = |content: &Content| match (content, &hashes) {
        (Content::Whole { bytes, .. }, Some(hashes)) => hashes.contains(&sha256_of(bytes).as_str()),
        // What was no letter is known by where it lies.
        (_, None) => true,
        (_, Some(_)) => false,
    };
    let dir = path.parent().unwrap_or(Path::new(""));
    hot.remove_tree(path, LARGEST_DOCUMENT, &is_ours)?;
    hot.remove(&dir.join(OsStr::from_bytes(&text_name(name))))?;
    for sidecar in sidecars_of(name) {
        hot.remove(&dir.join(OsStr::from_bytes(&sidecar)))?;
    }
    sealed.iter().try_for_each(|path| hot.remove(Path::new(OsStr::from_bytes(path))))
}
