//! Entries of the spool: one for each letter, admitted or about to be.

use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err as fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::draft::Draft;
use super::private;
use super::ulid::Ulid;
use crate::drop::Origin;
use crate::guard::Terms;
use crate::letter::{LARGEST_DOCUMENT, Order};
use crate::sync::Syncs;

pub(super) const ENTRY: &str = "entry.json";
const NEW: &str = "new";
const LETTERS: &str = "letters";

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
}

/// One letter as its documents lie beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<O = Order, D = Dropped> {
    pub order: O,
    /// Where it was dropped, if it was.
    pub dropped: Option<D>,
}

/// The drop that a letter comes from, and what its folder lets go without being asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    pub origin: Origin,
    pub terms: Terms,
}

#[derive(Debug, Clone)]
pub struct Spool {
    dir: PathBuf,
    /// Of `new`, where several write at once.
    new_syncs: Arc<Syncs>,
}

impl Spool {
    /// Opens or makes the spool.
    pub fn open(dir: &Path) -> io::Result<Self> {
        private::directory(&dir.join(NEW))?;
        private::directory(&dir.join(LETTERS))?;
        Ok(Self { dir: dir.to_owned(), new_syncs: Arc::default() })
    }

    /// Where an entry lies: it moves once, when it becomes a letter.
    fn place(&self, ulid: &Ulid) -> PathBuf {
        let taken_in = self.dir.join(LETTERS).join(ulid.as_str());
        if taken_in.is_dir() { taken_in } else { self.dir.join(NEW).join(ulid.as_str()) }
    }

    /// Begins an entry; what a crash left of the same one is thrown away.
    pub fn begin(&self, ulid: &Ulid) -> io::Result<Draft> {
        let draft = Draft::new(self.dir.join(NEW), ulid.clone(), Arc::clone(&self.new_syncs));
        let beside = draft.beside();
        if beside.exists() {
            fs::remove_dir_all(&beside)?;
        }
        private::directory(&beside)?;
        Ok(draft)
    }

    /// Writes a new entry; once this returns it is durable and whole under its name.
    pub fn put(&self, ulid: &Ulid, order: &Order, documents: &[Vec<u8>]) -> Result<(), EntryError> {
        let mut draft = self.begin(ulid)?;
        if let Err(error) = documents.iter().try_for_each(|bytes| draft.add(bytes)) {
            draft.discard();
            return Err(error.into());
        }
        let beside = draft.beside();
        let finished = draft.finish(order, None);
        if finished.as_ref().is_err_and(|error| !matches!(error, EntryError::PerhapsTaken(_))) {
            drop(fs::remove_dir_all(beside));
        }
        finished
    }

    /// Whether there is such an entry, taken in or not.
    pub fn has(&self, ulid: &Ulid) -> bool {
        self.place(ulid).is_dir()
    }

    /// What waits to become a letter, oldest first.
    pub fn arrived(&self) -> io::Result<Vec<Ulid>> {
        entries(&self.dir.join(NEW))
    }

    /// What has become a letter, so that something may have been posted of it; oldest first.
    pub fn taken_in(&self) -> io::Result<Vec<Ulid>> {
        entries(&self.dir.join(LETTERS))
    }

    /// These are letters now. Only once this returns may anything be sent of them: an entry among the
    /// letters that no record knows is one whose records were lost.
    pub fn take_in(&self, ulids: &[Ulid]) -> io::Result<()> {
        for ulid in ulids {
            fs::rename(self.dir.join(NEW).join(ulid.as_str()), self.dir.join(LETTERS).join(ulid.as_str()))?;
        }
        private::sync_directory(&self.dir.join(LETTERS))?;
        self.new_syncs.sync(|| private::sync_directory(&self.dir.join(NEW)))
    }

    /// A letter's documents are no longer kept; they need not be there.
    pub fn discard(&self, ulid: &Ulid) -> io::Result<()> {
        match fs::remove_dir_all(self.dir.join(LETTERS).join(ulid.as_str())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => {
                removed?;
                private::sync_directory(&self.dir.join(LETTERS))
            }
        }
    }

    /// Removes what a crash left half-written; only for the one daemon, before it begins.
    pub fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.dir.join(NEW))? {
            let path = entry?.path();
            let half = path.extension().is_some_and(|extension| extension == "part");
            // A command may be writing one at this moment: only what has been still for an hour.
            let old = path.metadata()?.modified()?.elapsed().is_ok_and(|age| age.as_secs() > 3600);
            if half && old {
                fs::remove_dir_all(&path)?;
            }
        }
        Ok(())
    }

    pub fn entry(&self, ulid: &Ulid) -> Result<Entry, EntryError> {
        Ok(serde_json::from_slice(&fs::read(self.place(ulid).join(ENTRY))?)?)
    }

    /// The bytes of a document, if they are what they were.
    pub fn document(&self, ulid: &Ulid, document: usize, sha256: &str) -> Result<Vec<u8>, EntryError> {
        let mut bytes = Vec::new();
        match fs::File::open(self.place(ulid).join(document_name(document))) {
            Ok(file) => file.take(LARGEST_DOCUMENT + 1).read_to_end(&mut bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(EntryError::Damaged { document });
            }
            Err(error) => return Err(error.into()),
        };
        if sha256_of(&bytes) == sha256 { Ok(bytes) } else { Err(EntryError::Damaged { document }) }
    }
}

fn entries(dir: &Path) -> io::Result<Vec<Ulid>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        found.extend(entry?.file_name().to_str().and_then(|name| name.parse().ok()));
    }
    found.sort();
    Ok(found)
}

pub(super) fn document_name(index: usize) -> String {
    format!("{}.pdf", index + 1)
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// As documents are named in an order.
pub fn sha256_of(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
