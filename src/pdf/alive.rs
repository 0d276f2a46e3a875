//! Children that are alive: asked one PDF after the other, as long as that costs nobody anything.
//!
//! To start a process for each PDF would cost more than all else that is done with a letter. One that has
//! only ever counted pages without any doubt is asked again, for a while; whatever else it says, or is too
//! slow to say, was its last answer. If a child that was asked before fails, a new one is asked the same.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::pipe::fcntl_setpipe_size;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{Answer, CHILD};

const LONGEST_ANSWER: u64 = 1024;
/// What a large PDF is handed over in at a time, if the system gives so much.
const PIPE: usize = 1 << 20;

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
        self.documents < 200 && self.bytes < 64 << 20 && self.busy < Duration::from_secs(2)
    }
}

#[derive(Debug)]
pub(super) struct Alive {
    // Dropped, it is killed and waited for.
    _child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    used: Used,
    /// When it was asked last.
    pub(super) asked: Instant,
}

impl Alive {
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg(CHILD)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the child has no pipes"));
        };
        // With less it is only slower.
        let _ = fcntl_setpipe_size(&to, PIPE);
        let from = BufReader::with_capacity(256, from);
        Ok(Self { _child: child, to, from, used: Used::default(), asked: Instant::now() })
    }

    /// Its answer, and the child itself if it may be asked again; nothing, if it fails.
    pub(super) async fn ask(mut self, pdf: &[u8], patience: Duration) -> Option<(Answer, Option<Self>)> {
        self.asked = Instant::now();
        let (to, from) = (&mut self.to, &mut self.from);
        let talk = async move {
            let give = async move {
                // A child that has seen enough closes its end.
                to.write_all(&(pdf.len() as u64).to_le_bytes()).await?;
                to.write_all(pdf).await?;
                to.flush().await
            };
            let mut said = String::new();
            let hear = async { from.take(LONGEST_ANSWER).read_line(&mut said).await };
            let (_, heard) = tokio::join!(give, hear);
            heard.map(|_| said)
        };
        let said = tokio::time::timeout(patience, talk).await.ok()?.ok()?;
        let answer = serde_json::from_str(said.strip_suffix('\n')?).ok()?;
        if !self.from.buffer().is_empty() {
            return None;
        }
        self.used.documents += 1;
        self.used.bytes += pdf.len() as u64;
        self.used.busy += self.asked.elapsed();
        let again = matches!(answer, Answer::Pages(_)) && self.used.may_go_on();
        Some((answer, again.then_some(self)))
    }
}
