//! What queues took, until their folders have it. One file each, as an entry is: the documents, then what it
//! is.

use std::io;
use std::os::unix::fs::FileExt as _;

use fs_err as fs;

use super::draft::Draft;
use super::entry::{EntryError, Spool, entries, sha256_of};
use super::ulid::Ulid;
use super::{ending, private};
use crate::domain::incoming::Incoming;
use crate::domain::letter::LARGEST_DOCUMENT;

pub(super) const INCOMING: &str = "incoming";

impl Draft {
    /// When this returns, it is durable and complete under its name.
    pub fn keep(self, incoming: &Incoming) -> Result<(), EntryError> {
        self.end(incoming)
    }
}

impl Spool {
    /// Begins to keep something that a queue takes.
    pub fn begin_incoming(&self, ulid: &Ulid) -> io::Result<Draft> {
        let syncs = std::sync::Arc::clone(&self.incoming_syncs);
        Draft::begin(self.dir.join(INCOMING), ulid.clone(), syncs)
    }

    /// What queues took and folders may not have yet, oldest first.
    pub fn all_incoming(&self) -> io::Result<Vec<Ulid>> {
        entries(&self.dir.join(INCOMING))
    }

    /// `None` if its folder has it already.
    pub fn incoming(&self, ulid: &Ulid) -> Result<Option<Incoming>, EntryError> {
        match fs::File::open(self.dir.join(INCOMING).join(ulid.as_str())) {
            Ok(file) => ending::read(&file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The bytes of a document, if they are unchanged.
    pub fn enclosed(&self, ulid: &Ulid, incoming: &Incoming, document: usize) -> Result<Vec<u8>, EntryError> {
        let damaged = EntryError::Damaged { document };
        let (before, wanted) = match incoming.documents.split_at_checked(document) {
            Some((before, [wanted, ..])) if wanted.size <= LARGEST_DOCUMENT => (before, wanted),
            Some(_) | None => return Err(damaged),
        };
        let at = before.iter().map(|document| document.size).sum();
        let mut bytes = vec![0; usize::try_from(wanted.size).unwrap_or_default()];
        let file = fs::File::open(self.dir.join(INCOMING).join(ulid.as_str()))?;
        file.file().read_exact_at(&mut bytes, at)?;
        if sha256_of(&bytes) == wanted.sha256 { Ok(bytes) } else { Err(damaged) }
    }

    /// Its folder has it. It need not be there any more.
    pub fn remove_incoming(&self, ulid: &Ulid) -> io::Result<()> {
        match fs::remove_file(self.dir.join(INCOMING).join(ulid.as_str())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Removes what a killed run was reading. Only the daemon may call this, before it begins.
    pub fn sweep_incoming(&self) -> io::Result<()> {
        let dir = self.dir.join(INCOMING);
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "part") {
                fs::remove_file(&path)?;
            }
        }
        private::sync_directory(&dir)
    }
}
