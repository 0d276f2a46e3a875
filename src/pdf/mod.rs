//! How many pages a PDF has, if that is beyond doubt: asked of a child process with limits.
//!
//! A PDF may come from anybody, so it is read by a process of its own: the same binary, which can open
//! nothing, start nothing, and has so much memory and time. Whatever happens to it costs one answer.

mod child;
mod judge;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

pub use child::answer;
pub use judge::judge;

use crate::drop::Doubt;

/// The hidden subcommand that is the child.
pub const CHILD: &str = "count-pages";
const WALL_TIME: Duration = Duration::from_secs(20);
const LONGEST_ANSWER: u64 = 1024;

/// One line of JSON, from child to parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Pages(u32),
    /// A person may take it for so many pages.
    Doubtful {
        pages: u32,
        doubt: Doubt,
    },
    Doubt(Doubt),
}

/// Asks children of one program.
#[derive(Debug, Clone)]
pub struct Inspector {
    program: PathBuf,
    patience: Duration,
}

impl Inspector {
    /// Children of the binary that runs now.
    pub fn of_this_program() -> io::Result<Self> {
        // Even if the binary is replaced while it runs, the child is what the parent is.
        let this = Path::new("/proc/self/exe");
        Ok(Self::of(&if this.exists() { this.to_owned() } else { std::env::current_exe()? }))
    }

    pub fn of(program: &Path) -> Self {
        Self { program: program.to_owned(), patience: WALL_TIME }
    }

    /// Waits no longer than this for an answer.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// `Err` if no child can be started; a child that dies or is too slow is a doubt.
    pub async fn pages(&self, pdf: &[u8]) -> io::Result<Result<u32, Doubt>> {
        Ok(match self.inspect(pdf).await? {
            Answer::Pages(pages) => Ok(pages),
            Answer::Doubtful { doubt, .. } | Answer::Doubt(doubt) => Err(doubt),
        })
    }

    /// The same, with the count of what a person may take as it is.
    pub async fn inspect(&self, pdf: &[u8]) -> io::Result<Answer> {
        let mut child = Command::new(&self.program)
            .arg(CHILD)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the child has no pipes"));
        };
        let talk = async move {
            let mut said = String::new();
            let give = async move {
                // A child that has seen enough closes its end.
                let _ = to.write_all(pdf).await;
            };
            let mut from = from.take(LONGEST_ANSWER);
            let ((), heard) = tokio::join!(give, from.read_to_string(&mut said));
            heard.map(|_| said)
        };
        let said = tokio::time::timeout(self.patience, talk).await;
        let said = said.ok().and_then(Result::ok).unwrap_or_default();
        // Dropped, it is killed and waited for.
        let ended = tokio::time::timeout(Duration::from_secs(1), child.wait()).await;
        let well = ended.is_ok_and(|ended| ended.is_ok_and(|status| status.success()));
        match serde_json::from_str(&said) {
            Ok(answer) if well => Ok(answer),
            Ok(_) | Err(_) => Ok(Answer::Doubt(Doubt::TooMuch)),
        }
    }
}
