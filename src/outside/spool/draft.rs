//! An entry while it is written: beside its final place, and moved there only when it is complete.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use fs_err as fs;
use serde::Serialize;

use super::entry::{Dropped, Entry, EntryError};
use super::ulid::Ulid;
use super::{ending, private};
use crate::base::sync::Syncs;
use crate::domain::letter::Order;

/// An entry that is being written. An unfinished one counts as never begun.
#[derive(Debug)]
pub struct Draft {
    new: PathBuf,
    beside: PathBuf,
    ulid: Ulid,
    file: File,
    is_in_place: bool,
    /// The syncs of the directory in which it is written.
    syncs: Arc<Syncs>,
}

impl Draft {
    /// Begins an entry. What a crash left of the same one is removed.
    pub(super) fn begin(new: PathBuf, ulid: Ulid, syncs: Arc<Syncs>) -> io::Result<Self> {
        let beside = new.join(format!("{ulid}.part"));
        let file = match private::create(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&beside)?;
                private::create(&beside)?
            }
            created => created?,
        };
        Ok(Self { new, beside, ulid, file, is_in_place: false, syncs })
    }

    /// Gives it the owner of its directory, so that the daemon can read what root submits.
    pub(super) fn own_like_its_directory(&self) -> io::Result<()> {
        private::belongs_beside(&self.beside, &self.new)
    }

    /// Appends one document.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// When this returns, the entry is durable and complete under its name.
    pub fn finish(self, order: &Order, dropped: Option<&Dropped>) -> Result<(), EntryError> {
        self.end(&Entry { order, dropped })
    }

    /// When this returns, the entry is complete under its name. It lasts once the directory is synced, which the daemon
    /// does before it admits it ([`super::Spool::keep_arrived`]).
    pub fn appear(mut self, order: &Order, dropped: Option<&Dropped>) -> Result<(), EntryError> {
        self.put_in_place(&Entry { order, dropped })
    }

    /// Ends it with what follows the documents.
    pub(super) fn end(mut self, last: &impl Serialize) -> Result<(), EntryError> {
        self.put_in_place(last)?;
        self.syncs.sync(|| private::sync_directory(&self.new)).map_err(EntryError::PerhapsTaken)
    }

    fn put_in_place(&mut self, last: &impl Serialize) -> Result<(), EntryError> {
        self.file.write_all(&ending::of(last)?)?;
        self.file.sync_all()?;
        fs::rename(&self.beside, self.new.join(self.ulid.as_str()))?;
        self.is_in_place = true;
        Ok(())
    }
}

/// On a full disk every block counts. What cannot be removed now is removed at the next start.
impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_in_place {
            drop(fs::remove_file(&self.beside));
        }
    }
}
