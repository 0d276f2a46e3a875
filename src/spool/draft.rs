//! An entry as it is written: beside its place, and there only when it is whole.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use fs_err as fs;

use super::entry::{Dropped, ENTRY, Entry, EntryError, document_name, write};
use super::private;
use super::ulid::Ulid;
use crate::letter::Order;
use crate::sync::Syncs;

/// An entry that is being written. One that is not finished never was.
#[derive(Debug)]
pub struct Draft {
    new: PathBuf,
    ulid: Ulid,
    documents: usize,
    /// Of the directory it is written in.
    syncs: Arc<Syncs>,
}

impl Draft {
    pub(super) fn new(new: PathBuf, ulid: Ulid, syncs: Arc<Syncs>) -> Self {
        Self { new, ulid, documents: 0, syncs }
    }

    pub(super) fn beside(&self) -> PathBuf {
        self.new.join(format!("{}.part", self.ulid))
    }

    /// One more document, durable once this returns.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        write(&self.beside().join(document_name(self.documents)), bytes)?;
        self.documents += 1;
        Ok(())
    }

    /// Once this returns the entry is durable and whole under its name.
    pub fn finish(self, order: &Order, dropped: Option<&Dropped>) -> Result<(), EntryError> {
        let beside = self.beside();
        write(&beside.join(ENTRY), &serde_json::to_vec_pretty(&Entry { order, dropped })?)?;
        private::sync_directory(&beside)?;
        fs::rename(&beside, self.new.join(self.ulid.as_str()))?;
        self.syncs.sync(|| private::sync_directory(&self.new)).map_err(EntryError::PerhapsTaken)
    }

    /// On a full disk every block counts; whatever can't be removed is swept at the next start.
    pub fn discard(self) {
        drop(fs::remove_dir_all(self.beside()));
    }
}
