//! Entries of the spool: one for each letter, admitted or about to be.

use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err as fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::draft::Draft;
use super::incoming::INCOMING;
use super::ulid::Ulid;
use super::{ending, private};
use crate::base::sync::Syncs;
use crate::domain::drop::Origin;
use crate::domain::letter::{LARGEST_DOCUMENT, Order};
use crate::domain::limits::Terms;

const NEW: &str = "new";
const LETTERS: &str = "letters";
const HANDED_OVER: &str = "handed-over";

#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    #[error("the spool can't be read or written")]
    Io(#[from] io::Error),
    #[error("document {} is not, byte for byte, what was taken in", .document + 1)]
    Damaged { document: usize },
    #[error("it may have been taken in: look at `mailchute list` before you send it again")]
    PerhapsTaken(#[source] io::Error),
    #[error("the order of a spool entry can't be read")]
    Order(#[from] serde_json::Error),
    #[error("a spool entry is not whole: no order ends it")]
    NoOrder,
}

/// What follows a letter's documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<O = Order, D = Dropped> {
    pub order: O,
    /// Where it was dropped, if it came from a folder.
    pub dropped: Option<D>,
}

/// The drop that a letter comes from, and what its folder posts without approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    pub origin: Origin,
    pub terms: Terms,
}

#[derive(Debug, Clone)]
pub struct Spool {
    pub(super) dir: PathBuf,
    /// The syncs of `new`, where several threads write at the same time.
    new_syncs: Arc<Syncs>,
    /// The same for `incoming`.
    pub(super) incoming_syncs: Arc<Syncs>,
}

impl Spool {
    /// Opens or creates the spool.
    pub fn open(dir: &Path) -> io::Result<Self> {
        private::directory(&dir.join(NEW))?;
        private::directory(&dir.join(LETTERS))?;
        private::directory(&dir.join(INCOMING))?;
        Ok(Self { dir: dir.to_owned(), new_syncs: Arc::default(), incoming_syncs: Arc::default() })
    }

    /// The path of an entry. An entry moves once, when it becomes a letter.
    fn place(&self, ulid: &Ulid) -> PathBuf {
        let taken_in = self.dir.join(LETTERS).join(ulid.as_str());
        if taken_in.is_file() { taken_in } else { self.dir.join(NEW).join(ulid.as_str()) }
    }

    /// Begins an entry. What a crash left of the same one is removed.
    pub fn begin(&self, ulid: &Ulid) -> io::Result<Draft> {
        Draft::begin(self.dir.join(NEW), ulid.clone(), Arc::clone(&self.new_syncs))
    }

    /// Writes a new entry. When this returns, it is durable and complete under its name.
    pub fn put(&self, ulid: &Ulid, order: &Order, documents: &[Vec<u8>]) -> Result<(), EntryError> {
        let mut draft = self.begin(ulid)?;
        draft.own_like_its_directory()?;
        documents.iter().try_for_each(|bytes| draft.add(bytes))?;
        draft.finish(order, None)
    }

    /// Whether there is such an entry, admitted or not.
    pub fn has(&self, ulid: &Ulid) -> bool {
        self.place(ulid).is_file()
    }

    /// Entries that wait to become letters, oldest first.
    pub fn arrived(&self) -> io::Result<Vec<Ulid>> {
        entries(&self.dir.join(NEW))
    }

    /// Makes the names of all that have arrived durable. What vanished in a power cut before that is decided again.
    pub fn keep_arrived(&self) -> io::Result<()> {
        self.new_syncs.sync(|| private::sync_directory(&self.dir.join(NEW)))
    }

    /// Entries that have become letters, so that something of them may have been posted. Oldest first.
    pub fn taken_in(&self) -> io::Result<Vec<Ulid>> {
        entries(&self.dir.join(LETTERS))
    }

    /// Marks entries as letters. Only when this returns may anything of them be sent: an entry among the
    /// letters without a record is one whose records were lost.
    pub fn take_in(&self, ulids: &[Ulid]) -> io::Result<()> {
        for ulid in ulids {
            fs::rename(self.dir.join(NEW).join(ulid.as_str()), self.dir.join(LETTERS).join(ulid.as_str()))?;
        }
        private::sync_directory(&self.dir.join(LETTERS))?;
        self.keep_arrived()
    }

    /// Removes what was just put here. Returns `false` if it is being admitted already.
    pub fn take_back(&self, ulid: &Ulid) -> io::Result<bool> {
        match fs::remove_file(self.dir.join(NEW).join(ulid.as_str())) {
            Ok(()) => private::sync_directory(&self.dir.join(NEW)).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Copies waiting entries into another spool. From then on they cannot be taken back.
    pub fn hand_over(&self, to: &Self, copy: &dyn Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        let new = self.dir.join(NEW);
        for ulid in entries(&new)? {
            fs::rename(new.join(ulid.as_str()), new.join(format!("{ulid}.{HANDED_OVER}")))?;
        }
        private::sync_directory(&new)?;
        for entry in fs::read_dir(&new)? {
            let path = entry?.path();
            if let (Some(ulid), true) =
                (path.file_stem(), path.extension().is_some_and(|extension| extension == HANDED_OVER))
            {
                copy(&path, &to.dir.join(NEW).join(ulid))?;
            }
        }
        private::sync_directory(&to.dir.join(NEW))
    }

    /// Removes a letter's documents. They need not exist.
    pub fn discard(&self, ulid: &Ulid) -> io::Result<()> {
        match fs::remove_file(self.dir.join(LETTERS).join(ulid.as_str())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => {
                removed?;
                private::sync_directory(&self.dir.join(LETTERS))
            }
        }
    }

    /// Removes what a crash left half-written. Only the daemon may call this, before it begins.
    pub fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.dir.join(NEW))? {
            let path = entry?.path();
            let metadata = path.metadata()?;
            let half = path.extension().is_some_and(|extension| extension == "part") && metadata.is_file();
            // A command may be writing one at this moment, so only files unchanged for an hour are removed.
            let old = metadata.modified()?.elapsed().is_ok_and(|age| age.as_secs() > 3600);
            if half && old {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    pub fn entry(&self, ulid: &Ulid) -> Result<Entry, EntryError> {
        ending::read(&fs::File::open(self.place(ulid))?)
    }

    /// The bytes of a document of an order, if they are unchanged.
    pub fn document(&self, ulid: &Ulid, order: &Order, document: usize) -> Result<Vec<u8>, EntryError> {
        let damaged = EntryError::Damaged { document };
        let (before, wanted) = match order.documents.split_at_checked(document) {
            Some((before, [wanted, ..])) if wanted.size <= LARGEST_DOCUMENT => (before, wanted),
            Some(_) | None => return Err(damaged),
        };
        let at = before.iter().map(|document| document.size).sum();
        let mut bytes = vec![0; usize::try_from(wanted.size).unwrap_or_default()];
        let read =
            fs::File::open(self.place(ulid)).and_then(|file| file.file().read_exact_at(&mut bytes, at));
        match read {
            Ok(()) if sha256_of(&bytes) == wanted.sha256 => Ok(bytes),
            Ok(()) => Err(damaged),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => {
                Err(damaged)
            }
            Err(error) => Err(error.into()),
        }
    }
}

pub(super) fn entries(dir: &Path) -> io::Result<Vec<Ulid>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        found.extend(entry?.file_name().to_str().and_then(|name| name.parse().ok()));
    }
    found.sort();
    Ok(found)
}

/// The SHA-256 of a document, in the form used in an order.
pub fn sha256_of(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
