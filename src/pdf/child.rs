//! The child's half: gives up what it could do harm with, reads a PDF from standard input, and says one
//! line.

use std::io::{Read as _, Write as _};

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
    let mut pdf = Vec::new();
    std::io::stdin().lock().take(LARGEST_DOCUMENT + 1).read_to_end(&mut pdf)?;
    let judged = std::panic::catch_unwind(|| judge::judge(&pdf));
    let answer = judged.unwrap_or(Answer::Doubt(Doubt::Unreadable));
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(&answer)?)?;
    out.flush()
}
