//! The child's half: it gives up every right it could do harm with, then writes one line for each PDF in
//! standard input. On standard error it reads the length of the next PDF, and how much of it is there.

use std::io::{ErrorKind, Write as _};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::{pread, read, retry_on_intr};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{Inspection, judge};
use crate::domain::drop::Doubt;
use crate::domain::letter::LARGEST_DOCUMENT;

const MEMORY: u64 = 512 << 20;
const CPU_SECONDS: u64 = 10;
/// What is open stays open. No file and no connection can be opened, even if others are closed.
const OPEN_FILES: u64 = 0;

/// The command `mailchute count-pages`. The limits are set before the first byte is read.
pub fn answer() -> std::io::Result<()> {
    let limits = [
        (Resource::As, MEMORY),
        (Resource::Cpu, CPU_SECONDS),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Fsize, 0),
        (Resource::Nproc, 0),
        (Resource::Core, 0),
    ];
    for (resource, most) in limits {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    // A panic counts as an answer. Its text is not shown to anybody.
    std::panic::set_hook(Box::new(|_| {}));
    let (input, lengths) = (std::io::stdin(), std::io::stderr());
    let mut out = std::io::stdout().lock();
    let mut pdf = Vec::new();
    while next(input.as_fd(), lengths.as_fd(), &mut pdf)? {
        let judged = std::panic::catch_unwind(|| judge::judge(&pdf));
        let answer = judged.unwrap_or(Inspection::Doubt(Doubt::Unreadable));
        writeln!(out, "{}", serde_json::to_string(&answer)?)?;
        out.flush()?;
    }
    Ok(())
}

/// Reads the next PDF over the previous one while it is written there. Returns false if there are no more.
fn next(input: BorrowedFd, lengths: BorrowedFd, pdf: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut done = 0;
    loop {
        let mut told = [[0; 8]; 2];
        if retry_on_intr(|| read(lengths, told.as_flattened_mut()))? != told.as_flattened().len() {
            return Ok(false);
        }
        let [length, there] = told.map(u64::from_le_bytes);
        // A longer file cannot be a letter's document and was rejected by its size.
        if length > LARGEST_DOCUMENT || there > length {
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
