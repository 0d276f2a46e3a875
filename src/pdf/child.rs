//! The child's half: gives up what it could do harm with, reads PDFs from standard input, each after its
//! length, and says one line for each.

use std::io::{ErrorKind, Read, Write as _};

use rustix::process::{Resource, Rlimit, setrlimit};

use super::{Answer, judge};
use crate::drop::Doubt;
use crate::letter::LARGEST_DOCUMENT;

const MEMORY: u64 = 512 << 20;
const CPU_SECONDS: u64 = 10;
/// Standard input, output and error are open already: it can open no file and no connection.
const OPEN_FILES: u64 = 3;

/// What `mailchute count-pages` does. Before it reads a byte it has its limits.
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
    // A panic is an answer like any other; its text is nobody's.
    std::panic::set_hook(Box::new(|_| {}));
    let mut input = std::io::stdin().lock();
    let mut out = std::io::stdout().lock();
    while let Some(pdf) = next(&mut input)? {
        let judged = std::panic::catch_unwind(|| judge::judge(&pdf));
        let answer = judged.unwrap_or(Answer::Doubt(Doubt::Unreadable));
        writeln!(out, "{}", serde_json::to_string(&answer)?)?;
        out.flush()?;
    }
    Ok(())
}

/// The next PDF; nothing, if there is none any more.
fn next(input: &mut impl Read) -> std::io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    if let Err(error) = input.read_exact(&mut length) {
        return if error.kind() == ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
    }
    let length = u64::from_le_bytes(length);
    // What is longer is no letter's document, and refused by its size.
    if length > LARGEST_DOCUMENT {
        return Err(ErrorKind::InvalidInput.into());
    }
    let mut pdf = Vec::new();
    input.take(length).read_to_end(&mut pdf)?;
    Ok(Some(pdf))
}
