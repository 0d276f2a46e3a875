//! Children that are alive: asked one PDF after the other, as long as that costs nobody anything.
//!
//! To start a process for each PDF would cost more than all else that is done with a letter. One that has
//! only ever counted pages without any doubt is asked again, for a while; whatever else it says, or is too
//! slow to say, was its last answer. If a child that was asked before fails, a new one is asked the same.

use std::fs::File;
use std::io::{self, PipeWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, ioctl_fionbio};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use super::{CHILD, Inspection};

const LONGEST_ANSWER: u64 = 1024;
/// A PDF is laid into memory in pieces of so many bytes.
const PIECE: usize = 2 << 20;

/// What a child was asked so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Used {
    documents: u32,
    bytes: u64,
    busy: Duration,
}

impl Used {
    /// Whether it has so much left of what a child may use that the next PDF can have all that it may.
    fn may_go_on(self) -> bool {
        self.documents < 200 && self.bytes < 256 << 20 && self.busy < Duration::from_secs(2)
    }
}

#[derive(Debug)]
pub(super) struct Alive {
    // Dropped, it is killed and waited for.
    _child: Child,
    /// Its standard input: memory that a PDF is laid into. Through a pipe ten megabytes take five times as long.
    pdf: File,
    to: PipeWriter,
    from: BufReader<ChildStdout>,
    used: Used,
    /// When it was asked last.
    pub(super) asked: Instant,
}

impl Alive {
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        let pdf = memory()?;
        let (lengths, to) = io::pipe()?;
        // Whoever does not listen holds up nobody.
        ioctl_fionbio(&to, true)?;
        let mut child = Command::new(program)
            .arg(CHILD)
            .env_clear()
            .current_dir("/")
            .stdin(pdf.try_clone()?)
            .stdout(Stdio::piped())
            .stderr(lengths)
            .kill_on_drop(true)
            .spawn()?;
        let from = child.stdout.take().ok_or_else(|| io::Error::other("the child has no pipe"))?;
        let from = BufReader::with_capacity(256, from);
        Ok(Self { _child: child, pdf, to, from, used: Used::default(), asked: Instant::now() })
    }

    /// Its answer, and the child itself if it may be asked again; nothing, if it fails. `Err` if there is no
    /// memory to lay the PDF into.
    pub(super) async fn ask(
        mut self,
        pdf: &[u8],
        patience: Duration,
    ) -> io::Result<Option<(Inspection, Option<Self>)>> {
        self.asked = Instant::now();
        if !self.give(pdf)? {
            return Ok(None);
        }
        let mut said = String::new();
        let mut from = (&mut self.from).take(LONGEST_ANSWER);
        let heard = matches!(tokio::time::timeout(patience, from.read_line(&mut said)).await, Ok(Ok(_)));
        Ok(if heard { self.heard(&said, pdf.len() as u64) } else { None })
    }

    /// Lays a PDF into memory, piece by piece, and tells how long it is and how much of it is there: what is
    /// there is taken while more is laid in. False, if nobody listens.
    fn give(&mut self, pdf: &[u8]) -> io::Result<bool> {
        let mut there = 0;
        loop {
            let end = pdf.len().min(there + PIECE);
            self.pdf.write_all_at(&pdf[there..end], there as u64)?;
            there = end;
            let told = [pdf.len() as u64, there as u64].map(u64::to_le_bytes);
            match self.to.write_all(told.as_flattened()) {
                Ok(()) if there < pdf.len() => {}
                // One that has ended may have answered all the same.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Ok(false),
                Ok(()) | Err(_) => return Ok(true),
            }
        }
    }

    fn heard(mut self, said: &str, bytes: u64) -> Option<(Inspection, Option<Self>)> {
        let answer = serde_json::from_str(said.strip_suffix('\n')?).ok()?;
        if !self.from.buffer().is_empty() {
            return None;
        }
        self.used.documents += 1;
        self.used.bytes += bytes;
        self.used.busy += self.asked.elapsed();
        let again = matches!(answer, Inspection::Pages(_)) && self.used.may_go_on();
        Some((answer, again.then_some(self)))
    }
}

/// Memory that is a file, which nobody can execute where the kernel knows how to forbid that (Linux 6.3).
fn memory() -> io::Result<File> {
    let made = match memfd_create("pdf", MemfdFlags::CLOEXEC | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => memfd_create("pdf", MemfdFlags::CLOEXEC),
        made => made,
    };
    Ok(made?.into())
}
