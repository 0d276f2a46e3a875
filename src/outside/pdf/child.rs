//! The child's half: it gives up every right it could do harm with, then writes one line for each PDF in
//! standard input. On standard error it reads the length of the next PDF, and how much of it is there.

use std::io::{ErrorKind, Write as _};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::{pread, read, retry_on_intr};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{Inspection, drawing, judge, picture, reading};
use crate::domain::drop::Doubt;
use crate::domain::letter::LARGEST_DOCUMENT;

const MEMORY: u64 = 512 << 20;
/// A font is given too.
const LARGEST_TO_DRAW: u64 = LARGEST_DOCUMENT + (48 << 20);
const CPU_SECONDS: u64 = 10;
const READING_CPU_SECONDS: u64 = 2;
/// What is open stays open. No file and no connection can be opened, even if others are closed.
const OPEN_FILES: u64 = 0;

/// The command `mailchute count-pages`.
pub fn answer() -> std::io::Result<()> {
    give_up_rights(CPU_SECONDS)?;
    answer_each(usize::MAX, LARGEST_DOCUMENT, |pdf| {
        let judged = std::panic::catch_unwind(|| judge::judge(pdf));
        serde_json::to_string(&judged.unwrap_or(Inspection::Doubt(Doubt::Unreadable)))
    })
}

/// The command `mailchute read-pages`, for one PDF.
pub fn answer_printed() -> std::io::Result<()> {
    give_up_rights(READING_CPU_SECONDS)?;
    answer_each(1, LARGEST_DOCUMENT, |pdf| {
        let read = std::panic::catch_unwind(|| reading::read(pdf));
        serde_json::to_string(&read.unwrap_or_default())
    })
}

/// The command `mailchute draw-page`, for one page of one PDF.
pub fn answer_drawn() -> std::io::Result<()> {
    give_up_rights(CPU_SECONDS)?;
    answer_each(1, LARGEST_TO_DRAW, |all| {
        let drawn = std::panic::catch_unwind(|| {
            let (wish, font, pdf) = picture::unpacked(all)?;
            drawing::draw(pdf, font, &wish)
        });
        serde_json::to_string(&drawn.unwrap_or_default())
    })
}

/// The work of a child that answers once, about bytes that are not a PDF.
pub fn answer_once(largest: u64, say: impl Fn(&[u8]) -> serde_json::Result<String>) -> std::io::Result<()> {
    give_up_rights(CPU_SECONDS)?;
    answer_each(1, largest, say)
}

/// Sets the limits, before the first byte is read.
fn give_up_rights(cpu_seconds: u64) -> std::io::Result<()> {
    let limits = [
        (Resource::As, MEMORY),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Fsize, 0),
        (Resource::Nproc, 0),
        (Resource::Core, 0),
    ];
    for (resource, most) in limits {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    // At the first limit the kernel sends SIGXCPU. SIGKILL, at the second, could also come from a lack of memory.
    setrlimit(Resource::Cpu, Rlimit { current: Some(cpu_seconds), maximum: Some(cpu_seconds + 1) })?;
    // A panic counts as an answer. Its text is not shown to anybody.
    std::panic::set_hook(Box::new(|_| {}));
    Ok(())
}

/// Writes one line for each PDF. `most` is the maximum number of them, `largest` that of the bytes of one.
fn answer_each(
    most: usize,
    largest: u64,
    say: impl Fn(&[u8]) -> serde_json::Result<String>,
) -> std::io::Result<()> {
    let (input, lengths) = (std::io::stdin(), std::io::stderr());
    let mut out = std::io::stdout().lock();
    let mut pdf = Vec::new();
    for _ in 0..most {
        if !next(input.as_fd(), lengths.as_fd(), largest, &mut pdf)? {
            break;
        }
        writeln!(out, "{}", say(&pdf)?)?;
        out.flush()?;
    }
    Ok(())
}

/// Reads the next PDF over the previous one while it is written there. Returns false if there are no more.
fn next(input: BorrowedFd, lengths: BorrowedFd, largest: u64, pdf: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut done = 0;
    loop {
        let mut told = [[0; 8]; 2];
        if retry_on_intr(|| read(lengths, told.as_flattened_mut()))? != told.as_flattened().len() {
            return Ok(false);
        }
        let [length, there] = told.map(u64::from_le_bytes);
        // A longer file cannot be a letter's document and was rejected by its size.
        if length > largest || there > length {
            return Err(ErrorKind::InvalidInput.into());
        }
        pdf.resize(usize::try_from(length).unwrap_or_default(), 0);
        let there = usize::try_from(there).unwrap_or_default();
        while done < there {
            match retry_on_intr(|| pread(input, &mut pdf[done..there], done as u64))? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                more => done += more,
            }
        }
        if done == pdf.len() {
            return Ok(true);
        }
    }
}
