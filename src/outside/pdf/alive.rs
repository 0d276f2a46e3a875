//! Living children, which are asked about one PDF after another.
//!
//! Starting a process for each PDF would cost more than everything else about a letter. A child that has
//! counted pages without any doubt is asked again for a while. After any other answer, or none in time, it is
//! not asked again. If a child that was asked before fails, a new one is asked the same.

use std::fs::File;
use std::io::{self, PipeWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, ioctl_fionbio};
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGTERM};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use super::Inspection;

const LONGEST_ANSWER: u64 = 1024;
/// The time for a child to exit after it has closed its output.
const EXITS_WITHIN: Duration = Duration::from_secs(1);
/// A PDF is written into memory in pieces of this many bytes.
const PIECE: usize = 2 << 20;

/// What a child was asked so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Used {
    documents: u32,
    bytes: u64,
    busy: Duration,
}

impl Used {
    /// Whether enough of the child's limits is left for the largest PDF.
    fn may_go_on(self) -> bool {
        self.documents < 200 && self.bytes < 256 << 20 && self.busy < Duration::from_secs(2)
    }
}

#[derive(Debug)]
pub(super) struct Alive {
    // When dropped, it is killed and waited for.
    child: Child,
    /// Its standard input: memory into which a PDF is written. Through a pipe, ten megabytes take five times
    /// as long.
    pdf: File,
    to: PipeWriter,
    from: BufReader<ChildStdout>,
    used: Used,
    /// When it was last asked.
    pub(super) asked: Instant,
}

impl Alive {
    /// Starts a child for the work of this subcommand.
    pub(super) fn start(program: &Path, work: &str) -> io::Result<Self> {
        let pdf = memory()?;
        let (lengths, to) = io::pipe()?;
        // A child that does not read must not block the parent.
        ioctl_fionbio(&to, true)?;
        let mut child = Command::new(program)
            .arg(work)
            .env_clear()
            .current_dir("/")
            .stdin(pdf.try_clone()?)
            .stdout(Stdio::piped())
            .stderr(lengths)
            .kill_on_drop(true)
            // A signal from the terminal must not end it before mailchute.
            .process_group(0)
            .spawn()?;
        let from = child.stdout.take().ok_or_else(|| io::Error::other("the child has no pipe"))?;
        let from = BufReader::with_capacity(256, from);
        Ok(Self { child, pdf, to, from, used: Used::default(), asked: Instant::now() })
    }

    /// Its count, and the child itself if it may be asked again. `None` if it fails. `Err` if there is no
    /// memory for the PDF.
    pub(super) async fn inspect(
        mut self,
        pdf: &[u8],
        patience: Duration,
    ) -> io::Result<Option<(Inspection, Option<Self>)>> {
        let said = self.ask(pdf, patience, LONGEST_ANSWER).await?;
        Ok(said.and_then(|said| self.heard(&said, pdf.len() as u64)))
    }

    /// The line with which it answers, with its end. `None` if it fails.
    pub(super) async fn ask(
        &mut self,
        pdf: &[u8],
        patience: Duration,
        longest: u64,
    ) -> io::Result<Option<String>> {
        self.asked = Instant::now();
        if !self.give(pdf)? {
            return Ok(None);
        }
        self.answer(patience, longest).await
    }

    /// The same, with what a reader gives.
    pub(super) async fn ask_of(
        &mut self,
        mut from: impl io::Read,
        total: u64,
        patience: Duration,
        longest: u64,
    ) -> io::Result<Option<String>> {
        if io::copy(&mut from, &mut self.pdf)? != total {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let told = [total; 2].map(u64::to_le_bytes);
        // A child that has ended may have answered all the same.
        let _ = self.to.write_all(told.as_flattened());
        self.answer(patience, longest).await
    }

    /// Whether it did not answer because of the machine and not of the bytes: it was too slow, or was killed.
    pub(super) async fn was_disturbed(&mut self, patience: Duration) -> bool {
        if self.asked.elapsed() >= patience {
            return true;
        }
        let ended = tokio::time::timeout(EXITS_WITHIN, self.child.wait()).await;
        let signal = ended.ok().and_then(Result::ok).and_then(|status| status.signal());
        matches!(signal, Some(SIGHUP | SIGINT | SIGKILL | SIGTERM))
    }

    async fn answer(&mut self, patience: Duration, longest: u64) -> io::Result<Option<String>> {
        let mut said = String::new();
        let mut from = (&mut self.from).take(longest);
        let heard = matches!(tokio::time::timeout(patience, from.read_line(&mut said)).await, Ok(Ok(_)));
        Ok(heard.then_some(said).filter(|said| said.ends_with('\n')))
    }

    /// Writes a PDF into memory, piece by piece, and announces its length and how much is there, so that the
    /// child reads while more is written. Returns false if the child does not read.
    fn give(&mut self, pdf: &[u8]) -> io::Result<bool> {
        let mut there = 0;
        loop {
            let end = pdf.len().min(there + PIECE);
            self.pdf.write_all_at(&pdf[there..end], there as u64)?;
            there = end;
            let told = [pdf.len() as u64, there as u64].map(u64::to_le_bytes);
            match self.to.write_all(told.as_flattened()) {
                Ok(()) if there < pdf.len() => {}
                // A child that has ended may have answered all the same.
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

/// Memory as a file. Nobody can execute it where the kernel can forbid that (Linux 6.3).
fn memory() -> io::Result<File> {
    let made = match memfd_create("pdf", MemfdFlags::CLOEXEC | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => memfd_create("pdf", MemfdFlags::CLOEXEC),
        made => made,
    };
    Ok(made?.into())
}
