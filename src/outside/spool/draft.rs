//! An entry while it is written: beside its final place, and moved there only when it is complete.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use fs_err as fs;

use super::entry::{Dropped, Entry, EntryError};
use super::private;
use super::ulid::Ulid;
use crate::base::sync::Syncs;
use crate::domain::letter::Order;

/// An entry that is being written. An unfinished one counts as never begun.
#[derive(Debug)]
pub struct Draft {
    new: PathBuf,
    beside: PathBuf,
    ulid: Ulid,
    file: File,
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
        Ok(Self { new, beside, ulid, file, syncs })
    }

    /// Appends one document.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// When this returns, the entry is durable and complete under its name.
    pub fn finish(mut self, order: &Order, dropped: Option<&Dropped>) -> Result<(), EntryError> {
        if let Err(error) = self.put_in_place(&Entry { order, dropped }) {
            self.discard();
            return Err(error);
        }
        self.syncs.sync(|| private::sync_directory(&self.new)).map_err(EntryError::PerhapsTaken)
    }

    fn put_in_place(&mut self, entry: &Entry<&Order, &Dropped>) -> Result<(), EntryError> {
        self.file.write_all(&entry.ending()?)?;
        self.file.sync_all()?;
        Ok(fs::rename(&self.beside, self.new.join(self.ulid.as_str()))?)
    }

    /// On a full disk every block counts. What cannot be removed now is removed at the next start.
    pub fn discard(self) {
        drop(fs::remove_file(self.beside));
    }
}
