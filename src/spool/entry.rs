//! Entries of the spool: one for each letter, admitted or about to be.

use std::fmt;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fs_err as fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::private;
use crate::clock::Time;
use crate::letter::{LARGEST_DOCUMENT, Order};

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH: usize = 26;
const ORDER: &str = "order.json";
const NEW: &str = "new";
const LETTERS: &str = "letters";

/// An entry's name for life: 48 bits of time, 80 of chance.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ulid(String);

impl Ulid {
    pub fn new(now: Time) -> io::Result<Self> {
        let mut chance = [0; 10];
        getrandom::fill(&mut chance).map_err(io::Error::other)?;
        let millis = u128::try_from(now.timestamp_millis()).unwrap_or_default() & 0xffff_ffff_ffff;
        let number = chance.iter().fold(millis, |number, byte| (number << 8) | u128::from(*byte));
        let digit = |place: usize| {
            let value = (number >> (5 * (LENGTH - 1 - place))) & 31;
            char::from(ALPHABET[usize::try_from(value).unwrap_or_default()])
        };
        Ok(Self((0..LENGTH).map(digit).collect()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Ulid {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let right = text.len() == LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte));
        right.then(|| Self(text.to_owned())).ok_or(())
    }
}

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

/// One letter's documents and order.
#[derive(Debug, Clone)]
pub struct Entry {
    pub ulid: Ulid,
    pub order: Order,
}

#[derive(Debug, Clone)]
pub struct Spool {
    dir: PathBuf,
}

impl Spool {
    /// Opens or makes the spool.
    pub fn open(dir: &Path) -> io::Result<Self> {
        private::directory(&dir.join(NEW))?;
        private::directory(&dir.join(LETTERS))?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// Where an entry lies: it moves once, when it becomes a letter.
    fn place(&self, ulid: &Ulid) -> PathBuf {
        let taken_in = self.dir.join(LETTERS).join(ulid.as_str());
        if taken_in.is_dir() { taken_in } else { self.dir.join(NEW).join(ulid.as_str()) }
    }

    /// Writes a new entry; once this returns it is durable and whole under its name.
    pub fn put(&self, ulid: &Ulid, order: &Order, documents: &[Vec<u8>]) -> Result<(), EntryError> {
        let new = self.dir.join(NEW);
        let beside = new.join(format!("{ulid}.part"));
        let written =
            fill(&beside, order, documents).and_then(|()| Ok(fs::rename(&beside, new.join(ulid.as_str()))?));
        if let Err(error) = written {
            // On a full disk every block counts; whatever can't be removed is swept at the next start.
            drop(fs::remove_dir_all(&beside));
            return Err(error);
        }
        private::sync_directory(&new).map_err(EntryError::PerhapsTaken)
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
        private::sync_directory(&self.dir.join(NEW))
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
        let order = serde_json::from_slice(&fs::read(self.place(ulid).join(ORDER))?)?;
        Ok(Entry { ulid: ulid.clone(), order })
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

fn fill(dir: &Path, order: &Order, documents: &[Vec<u8>]) -> Result<(), EntryError> {
    private::directory(dir)?;
    for (index, bytes) in documents.iter().enumerate() {
        write(&dir.join(document_name(index)), bytes)?;
    }
    write(&dir.join(ORDER), &serde_json::to_vec_pretty(order)?)?;
    Ok(private::sync_directory(dir)?)
}

fn entries(dir: &Path) -> io::Result<Vec<Ulid>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        found.extend(entry?.file_name().to_str().and_then(|name| name.parse().ok()));
    }
    found.sort();
    Ok(found)
}

fn document_name(index: usize) -> String {
    format!("{}.pdf", index + 1)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// As documents are named in an order.
pub fn sha256_of(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
