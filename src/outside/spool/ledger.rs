//! The ledger of facts: the second place in which every fact is durable, apart from SQLite.
//!
//! Lines of text, each with its own checksum and the next number, appended and synced before the database
//! commits. A torn end was never relied on and is cut off. Damage before the end is reported, never skipped.
//! Files are named by their first number and begun anew at a size limit.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::line::{Line, Written};
use super::private;
use super::reading::{pieces, read_file};

/// Each start compares at least the last file with the database.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;
/// A file that is being rewritten.
const BESIDE: &str = "new";

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("the ledger can't be read or written")]
    Io(#[from] io::Error),
    #[error("a fact can't be written down")]
    Json(#[from] serde_json::Error),
    #[error("the ledger could not be made durable; what it holds is only known after a restart")]
    NotDurable(#[source] io::Error),
}

/// What was found in the ledger, besides its lines.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FoundLines {
    /// The largest number.
    pub last: Option<u64>,
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
    /// Opens or creates the ledger. Passes on the lines from the file that contains number `from`, some at a
    /// time, so that a long ledger is never whole in memory.
    pub fn open<E: From<LedgerError>>(
        dir: &Path,
        from: u64,
        mut each: impl FnMut(Vec<Line>) -> Result<(), E>,
    ) -> Result<(Self, FoundLines), E> {
        let files = prepare(dir).map_err(LedgerError::Io)?;
        let begin = files.iter().rposition(|(first, _)| *first <= from).unwrap_or(0);
        let mut found = FoundLines::default();
        for (index, (first, path)) in files.iter().enumerate().skip(begin) {
            let is_last = index + 1 == files.len();
            if let Some(good) = read_file(path, *first, is_last, &mut found, &mut each)? {
                cut(path, good).map_err(LedgerError::Io)?;
            }
        }
        Ok((Self::go_on(dir, files, from, &found)?, found))
    }

    /// Continues after what was found.
    fn go_on(
        dir: &Path,
        mut files: Vec<(u64, PathBuf)>,
        from: u64,
        found: &FoundLines,
    ) -> Result<Self, LedgerError> {
        let next = found.last.map(|last| last + 1);
        let (path, next) = match (files.pop(), next) {
            (Some((first, path)), next) if found.damage.is_none() => (path, next.unwrap_or(first)),
            (Some((first, path)), next) => {
                // A damaged file is kept for a person to read, and not written to again.
                let next = next.unwrap_or(first).max(from) + 1_000_000;
                (path.with_file_name(file_name(next)), next)
            }
            (None, _) => (dir.join(file_name(from)), from),
        };
        let file = private::append(&path)?;
        private::sync_directory(dir)?;
        let size = file.metadata()?.len();
        Ok(Self { dir: dir.to_owned(), file, size, next })
    }

    /// Passes on all lines, some at a time, while another process may write. Nothing is changed. The boolean
    /// says whether the lines are of the last file, the only one that is written to.
    pub fn peek<E: From<LedgerError>>(
        dir: &Path,
        mut each: impl FnMut(Vec<Line>, bool) -> Result<(), E>,
    ) -> Result<FoundLines, E> {
        let files = files(dir).map_err(LedgerError::Io)?;
        let mut found = FoundLines::default();
        for (index, (first, path)) in files.iter().enumerate() {
            let is_last = index + 1 == files.len();
            read_file(path, *first, is_last, &mut found, &mut |lines| each(lines, is_last))?;
        }
        Ok(found)
    }

    /// The number of the next line.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Appends and syncs all of them, or none. After [`LedgerError::NotDurable`] this process may write
    /// nothing more.
    pub fn append(&mut self, first: u64, lines: &[Written]) -> Result<(), LedgerError> {
        if self.size > LARGEST_FILE || first != self.next {
            self.begin_anew(first)?;
        }
        let mut text = String::new();
        for Written { check, json } in lines {
            text.extend([check, " ", json, "\n"]);
        }
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // A part of it may have been written. Once that is cut off, nothing has happened.
            self.file.set_len(self.size).map_err(LedgerError::NotDurable)?;
            return Err(error.into());
        }
        self.file.sync_data().map_err(LedgerError::NotDurable)?;
        self.size += text.len() as u64;
        self.next += lines.len() as u64;
        Ok(())
    }

    /// Replaces lines by their numbers. Each file is complete at any moment, in its old or its new form.
    /// Damaged files stay as they are.
    pub fn rewrite(&mut self, lines: &BTreeMap<u64, Written>) -> Result<(), LedgerError> {
        let Some((last, _)) = lines.last_key_value() else { return Ok(()) };
        let files = files(&self.dir)?;
        if files.last().is_some_and(|(first, _)| first <= last) {
            // The file that is being written to is left alone.
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
        // Its lines must not be relied on before its name is durable.
        private::sync_directory(&self.dir).map_err(LedgerError::NotDurable)
    }
}

fn file_name(first: u64) -> String {
    format!("{first:012}.log")
}

/// The files of the ledger. The directory is created if needed, and half-written files are removed.
fn prepare(dir: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    private::directory(dir)?;
    sweep(dir)?;
    files(dir)
}

/// Removes what an ended process left of a file it was rewriting.
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

fn rewrite_file(path: &Path, lines: &BTreeMap<u64, Written>) -> Result<(), LedgerError> {
    let beside = path.with_extension(BESIDE);
    let written = private::create(&beside).map_err(LedgerError::Io).and_then(|file| {
        let mut text = BufWriter::new(file);
        for piece in pieces(path)? {
            let piece = piece?;
            match struck(&piece, lines) {
                Some(Written { check, json }) => writeln!(text, "{check} {json}")?,
                None => text.write_all(&piece)?,
            }
        }
        let full = |error: &io::Error| error.kind() == io::ErrorKind::StorageFull;
        text.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all().map_err(|error| {
            if full(&error) { LedgerError::Io(error) } else { LedgerError::NotDurable(error) }
        })?;
        Ok(fs::rename(&beside, path)?)
    });
    if written.is_err() {
        // It takes disk space from others.
        drop(fs::remove_file(&beside));
    }
    written
}

/// The replacement for a line of a file, if there is one.
fn struck<'a>(piece: &[u8], lines: &'a BTreeMap<u64, Written>) -> Option<&'a Written> {
    let known = piece.strip_suffix(b"\n").and_then(Line::parse)?;
    let other = lines.get(&known.seq)?;
    // In a ledger with another history, another fact may be here.
    Line::read(&other.json, &other.check).is_some_and(|other| known.is_same(&other)).then_some(other)
}

/// What was torn off was never relied on.
fn cut(path: &Path, good: u64) -> io::Result<()> {
    let file = fs::OpenOptions::new().write(true).open(path)?;
    file.set_len(good)?;
    file.sync_all()
}
