//! Reads one file of the ledger line by line, so that its size does not affect memory.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use fs_err as fs;

use super::ledger::{FoundLines, LedgerError};
use super::line::Line;

/// The number of lines passed on at a time.
const AT_ONCE: usize = 500;

/// The lines of a file, each with its end, which the last one may lack. Lines appended meanwhile are not
/// read.
pub(super) fn pieces(path: &Path) -> io::Result<impl Iterator<Item = io::Result<Vec<u8>>>> {
    let file = fs::File::open(path)?;
    let size = file.metadata()?.len();
    let mut file = BufReader::new(file.take(size));
    Ok(std::iter::from_fn(move || {
        let mut piece = Vec::new();
        let read = file.read_until(b'\n', &mut piece).map(|read| (read > 0).then_some(piece));
        read.transpose()
    }))
}

/// Reads one file, whose first line has this number. If the end of the last file is torn, returns how much of
/// it is good.
pub(super) fn read_file<E: From<LedgerError>>(
    path: &Path,
    first: u64,
    is_last: bool,
    found: &mut FoundLines,
    each: &mut impl FnMut(Vec<Line>) -> Result<(), E>,
) -> Result<Option<u64>, E> {
    let mut reading = Reading { expected: first, ..Reading::default() };
    let mut lines = Vec::new();
    for piece in pieces(path).map_err(LedgerError::Io)? {
        lines.extend(reading.next(&piece.map_err(LedgerError::Io)?, is_last));
        if lines.len() == AT_ONCE {
            each(std::mem::take(&mut lines))?;
        }
    }
    each(lines)?;
    found.last = found.last.max(reading.last);
    let is_torn = reading.is_broken && is_last && !reading.goes_on;
    if reading.is_broken && !is_torn {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let lines = reading.expected - first;
        found.damage.get_or_insert_with(|| format!("{name} is damaged after its line {lines}"));
    }
    Ok(is_torn.then_some(reading.good))
}

/// How far a file is good.
#[derive(Default)]
struct Reading {
    /// The number of the next line, while all lines are good.
    expected: u64,
    /// The number of good bytes.
    good: u64,
    is_broken: bool,
    /// A complete line follows the damage, so this is not a torn end.
    goes_on: bool,
    /// The largest number.
    last: Option<u64>,
}

impl Reading {
    /// The line, if it may be relied on. A line after damage that still reads correctly is true.
    fn next(&mut self, piece: &[u8], is_last: bool) -> Option<Line> {
        let text = piece.strip_suffix(b"\n");
        let line = Line::parse(text.unwrap_or(piece));
        let follows = text.is_some() && line.as_ref().is_some_and(|line| line.seq == self.expected);
        self.is_broken |= !follows;
        if self.is_broken {
            self.goes_on |= text.is_some() && line.is_some();
        } else {
            self.expected += 1;
            self.good += piece.len() as u64;
        }
        let line = line.filter(|_| !self.is_broken || self.goes_on || !is_last)?;
        self.last = self.last.max(Some(line.seq));
        Some(line)
    }
}
