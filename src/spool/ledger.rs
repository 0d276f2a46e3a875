//! The ledger of facts: the second place in which every fact is durable, apart from SQLite.
//!
//! Lines of text, each with its own checksum and the next number, appended and synced before the
//! database commits. A torn end was never relied on and is cut off; damage before the end is told,
//! never skipped. Files are named by their first number and begun anew at a size.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::private;
use crate::clock::Time;
use crate::letter::{Fact, Number};

const LARGEST_FILE: u64 = 16 * 1024 * 1024;
const CHECK: usize = 16;
/// A file that is being written anew.
const BESIDE: &str = "new";

/// One fact in its place: the `n`th of its letter, the `seq`th of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub seq: u64,
    pub letter: Number,
    pub n: u64,
    pub at: Time,
    pub fact: Fact,
}

/// A line as it is written, with the checksum over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub json: String,
    pub check: String,
}

impl Line {
    pub fn written(&self) -> serde_json::Result<Written> {
        let json = serde_json::to_string(self)?;
        let check = check(&json);
        Ok(Written { json, check })
    }

    #[must_use]
    pub fn struck(&self) -> Self {
        Self { fact: self.fact.struck(), ..self.clone() }
    }

    /// Whether both tell the same; one of them may have been struck already.
    pub fn is_same(&self, other: &Self) -> bool {
        self == other || self.struck() == other.struck()
    }

    /// The line, if its checksum is right.
    pub fn read(json: &str, given: &str) -> Option<Self> {
        (check(json) == given).then(|| serde_json::from_str(json).ok()).flatten()
    }
}

fn check(json: &str) -> String {
    let mut text = hex::encode(Sha256::digest(json.as_bytes()));
    text.truncate(CHECK);
    text
}

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("the ledger can't be read or written")]
    Io(#[from] io::Error),
    #[error("a fact can't be written down")]
    Json(#[from] serde_json::Error),
    #[error("the ledger could not be made durable; what it holds is only known after a restart")]
    NotDurable(#[source] io::Error),
}

/// What the ledger held from some number on.
#[derive(Debug, Default)]
pub struct Held {
    pub lines: Vec<Line>,
    /// Where it is damaged, in words.
    pub damage: Option<String>,
}

#[derive(Debug)]
pub struct Ledger {
    dir: PathBuf,
    file: File,
    size: u64,
    next: u64,
}

impl Ledger {
    /// Opens or makes the ledger; gives the lines from the file on in which number `from` stands.
    pub fn open(dir: &Path, from: u64) -> Result<(Self, Held), LedgerError> {
        private::directory(dir)?;
        sweep(dir)?;
        let mut files = files(dir)?;
        let begin = files.iter().rposition(|(first, _)| *first <= from).unwrap_or(0);
        let mut held = Held::default();
        let last = files.len().saturating_sub(1);
        for (index, (first, path)) in files.iter().enumerate().skip(begin) {
            let good = read_file(path, *first, index == last, &mut held)?;
            if let Some(good) = good {
                cut(path, good)?;
            }
        }
        let next = held.lines.last().map(|line| line.seq + 1);
        let (path, next) = match (files.pop(), next) {
            (Some((first, path)), next) if held.damage.is_none() => (path, next.unwrap_or(first)),
            (Some((first, path)), next) => {
                // What is damaged is kept for a person to read, and not written to again.
                let next = next.unwrap_or(first).max(from) + 1_000_000;
                (path.with_file_name(file_name(next)), next)
            }
            (None, _) => (dir.join(file_name(from)), from),
        };
        let file = private::append(&path)?;
        private::sync_directory(dir)?;
        let size = file.metadata()?.len();
        Ok((Self { dir: dir.to_owned(), file, size, next }, held))
    }

    /// Everything it holds, beside whoever writes it: nothing is changed.
    pub fn peek(dir: &Path) -> Result<Held, LedgerError> {
        let files = files(dir)?;
        let mut held = Held::default();
        for (index, (first, path)) in files.iter().enumerate() {
            read_file(path, *first, index + 1 == files.len(), &mut held)?;
        }
        Ok(held)
    }

    /// The number of the next line.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Appends and syncs all of them, or none. After [`LedgerError::NotDurable`] nothing more may be
    /// written by this process.
    pub fn append(&mut self, first: u64, lines: &[Written]) -> Result<(), LedgerError> {
        if self.size > LARGEST_FILE || first != self.next {
            self.begin_anew(first)?;
        }
        let mut text = String::new();
        for Written { check, json } in lines {
            text.extend([check, " ", json, "\n"]);
        }
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // A part of it may be there; cut off, nothing happened.
            self.file.set_len(self.size).map_err(LedgerError::NotDurable)?;
            return Err(error.into());
        }
        self.file.sync_data().map_err(LedgerError::NotDurable)?;
        self.size += text.len() as u64;
        self.next += lines.len() as u64;
        Ok(())
    }

    /// Writes other words for lines it has, by their numbers: each file is there whole, as it was or as
    /// it is to be. What is damaged stays as it is.
    pub fn rewrite(&mut self, lines: &BTreeMap<u64, Written>) -> Result<(), LedgerError> {
        let Some((last, _)) = lines.last_key_value() else { return Ok(()) };
        let files = files(&self.dir)?;
        if files.last().is_some_and(|(first, _)| first <= last) {
            // The file that is written to is left alone.
            self.begin_anew(self.next)?;
        }
        for (index, (first, path)) in files.iter().enumerate() {
            let end = files.get(index + 1).map_or(u64::MAX, |(next, _)| *next);
            if lines.range(*first..end).next().is_some() {
                rewrite_file(path, lines)?;
            }
        }
        private::sync_directory(&self.dir).map_err(LedgerError::NotDurable)
    }

    fn begin_anew(&mut self, first: u64) -> Result<(), LedgerError> {
        self.file = private::append(&self.dir.join(file_name(first)))?;
        self.next = first;
        self.size = self.file.metadata()?.len();
        // Its lines are not to be relied on as long as its name is not.
        private::sync_directory(&self.dir).map_err(LedgerError::NotDurable)
    }
}

fn file_name(first: u64) -> String {
    format!("{first:012}.log")
}

/// What a process that ended left of a file it was writing anew.
fn sweep(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == BESIDE) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The files in their order, each with the number of its first line.
fn files(dir: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let first = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".log")?.parse().ok());
        files.extend(first.map(|first| (first, path)));
    }
    files.sort();
    Ok(files)
}

/// Reads one file. If the end of the last one is torn, gives how much of it is good.
fn read_file(path: &Path, first: u64, is_last: bool, held: &mut Held) -> Result<Option<u64>, LedgerError> {
    let bytes = fs::read(path)?;
    let mut expected = first;
    let mut good = 0;
    for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
        let line = piece.strip_suffix(b"\n").and_then(read_line).filter(|line| line.seq == expected);
        let Some(line) = line else { break };
        good += piece.len();
        expected += 1;
        held.lines.push(line);
    }
    if good == bytes.len() {
        return Ok(None);
    }
    let rest = &bytes[good..];
    let mut following =
        rest.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    let whole_lines_follow = following.any(|line| read_line(line).is_some());
    if is_last && !whole_lines_follow {
        return Ok(Some(good as u64));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    held.damage.get_or_insert_with(|| format!("{name} is damaged after its line {}", expected - first));
    // What still reads right is true all the same.
    held.lines.extend(rest.split(|byte| *byte == b'\n').filter_map(read_line));
    Ok(None)
}

fn rewrite_file(path: &Path, lines: &BTreeMap<u64, Written>) -> Result<(), LedgerError> {
    let mut text = Vec::new();
    for piece in fs::read(path)?.split_inclusive(|byte| *byte == b'\n') {
        let known = piece.strip_suffix(b"\n").and_then(read_line);
        let other = known.as_ref().and_then(|line| lines.get(&line.seq)).filter(|other| {
            // In a ledger with another past something else may stand there.
            let other = Line::read(&other.json, &other.check);
            known.as_ref().zip(other.as_ref()).is_some_and(|(known, other)| known.is_same(other))
        });
        match other {
            Some(Written { check, json }) => {
                text.extend([check.as_bytes(), b" ", json.as_bytes(), b"\n"].concat());
            }
            None => text.extend(piece),
        }
    }
    let beside = path.with_extension(BESIDE);
    let written = private::create(&beside).map_err(LedgerError::Io).and_then(|mut file| {
        file.write_all(&text)?;
        let full = |error: &io::Error| error.kind() == io::ErrorKind::StorageFull;
        file.sync_all().map_err(|error| {
            if full(&error) { LedgerError::Io(error) } else { LedgerError::NotDurable(error) }
        })?;
        Ok(fs::rename(&beside, path)?)
    });
    if written.is_err() {
        // What is there takes room from others.
        drop(fs::remove_file(&beside));
    }
    written
}

/// What was torn off was never relied on.
fn cut(path: &Path, good: u64) -> io::Result<()> {
    let file = fs::OpenOptions::new().write(true).open(path)?;
    file.set_len(good)?;
    file.sync_all()
}

fn read_line(bytes: &[u8]) -> Option<Line> {
    let (check, json) = std::str::from_utf8(bytes).ok()?.split_once(' ')?;
    Line::read(json, check)
}
