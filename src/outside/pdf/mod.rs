//! The page count of a PDF, if it is beyond doubt: a child process with limits determines it.
//!
//! A PDF may come from anybody, so a process of its own reads it: the same binary, which can open nothing,
//! start nothing, and has limited memory and time. Whatever happens to it costs one answer. A child that was
//! taken over could at most count later documents wrongly, which the service finds before anything is posted.
//!
//! A child that reads what is printed on the pages decides more: whether a letter goes on. It reads one PDF and
//! ends.

mod album;
mod alive;
mod child;
mod drawing;
mod envelope;
mod fonts;
mod judge;
mod lines;
mod made;
mod paper;
mod picture;
mod placeholder;
mod reading;
mod streams;
mod tree;

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

pub use album::{Album, NoPicture};
use alive::Alive;
pub use child::{answer, answer_drawn, answer_once, answer_printed};
pub use drawing::draw;
pub use envelope::{caption, envelope};
pub use judge::{is_pdf_end, is_pdf_without_end, judge};
pub use picture::{DrawWish, Picture, as_pdf};
pub use reading::read;

use crate::domain::drop::Doubt;
use crate::domain::printed::{OtherPaper, Printed};

/// The hidden subcommand that is a child which counts.
const COUNTS: &str = "count-pages";
/// The hidden subcommand that is a child which reads what is printed, of one PDF only.
const READS: &str = "read-pages";
/// The hidden subcommand that is a child which draws a page.
const DRAWS: &str = "draw-page";
const WALL_TIME: Duration = Duration::from_secs(20);
/// The number of bytes of what is printed, as a child says it.
const LARGEST_PRINTED: u64 = 1 << 20;
/// The number of bytes of a picture, as a child says it.
const LARGEST_PICTURE: u64 = 80 << 20;
/// The number of bytes of a font.
const LARGEST_FONT: u64 = 40 << 20;
/// After this many children that were too slow or were killed, the bytes count as the cause.
const MOST_DISTURBED: u32 = 3;
/// A child that was not asked for this long is ended.
const REST: Duration = Duration::from_secs(2);
/// A PDF waits this fraction of the patience (0.1 s) while as many children count as there are places. Then another is
/// started, so slow PDFs hold up no other for longer.
const WAITS: u32 = 200;

/// The work for which this process was started as a child, if it was.
pub fn work_of_child() -> Option<fn() -> io::Result<()>> {
    let first = std::env::args_os().nth(1)?;
    match first.to_str()? {
        COUNTS => Some(answer),
        READS => Some(answer_printed),
        DRAWS => Some(answer_drawn),
        _ => None,
    }
}

/// One line of JSON, from child to parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inspection {
    Pages(u32),
    /// The same, with pages that are not upright A4.
    OtherPaper {
        pages: u32,
        paper: OtherPaper,
    },
    /// A person may accept it with this number of pages.
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
    idle: Arc<Mutex<Idle>>,
    /// Places to count in: one for each core, and two at least, so that one slow PDF does not occupy all. More children
    /// would only share the cores, and starting one costs more than counting some PDFs.
    places: Arc<Semaphore>,
}

/// Children that may be asked again.
#[derive(Debug, Default)]
struct Idle {
    children: Vec<Alive>,
    /// A task is running that ends idle children.
    is_watched: bool,
}

impl Inspector {
    /// Children of the running binary.
    pub fn of_this_program() -> io::Result<Self> {
        // If the binary is replaced while it runs, the child is still the same version as the parent.
        let this = Path::new("/proc/self/exe");
        Ok(Self::of(&if this.exists() { this.to_owned() } else { std::env::current_exe()? }))
    }

    pub fn of(program: &Path) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, NonZero::get).max(2);
        Self {
            program: program.to_owned(),
            patience: WALL_TIME,
            idle: Arc::default(),
            places: Arc::new(Semaphore::new(cores)),
        }
    }

    /// The program whose child counts pages.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Sets the time limit for an answer.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The page count. `Err` if no child can be started or be given the PDF. A child that dies or is too slow
    /// is a doubt.
    pub async fn pages(&self, pdf: &[u8]) -> io::Result<Result<u32, Doubt>> {
        Ok(match self.inspect(pdf).await? {
            Inspection::Pages(pages) | Inspection::OtherPaper { pages, .. } => Ok(pages),
            Inspection::Doubtful { doubt, .. } | Inspection::Doubt(doubt) => Err(doubt),
        })
    }

    /// The page count, or what is in doubt with the count that a person may accept.
    pub async fn inspect(&self, pdf: &[u8]) -> io::Result<Inspection> {
        let _place = tokio::time::timeout(self.patience / WAITS, self.places.acquire()).await;
        if let Some(child) = self.idle(|idle| idle.children.pop())
            && let Ok(Some((answer, child))) = child.inspect(pdf, self.patience).await
        {
            self.rests(child);
            return Ok(answer);
        }
        Ok(match Alive::start(&self.program, COUNTS)?.inspect(pdf, self.patience).await? {
            Some((answer, child)) => {
                self.rests(child);
                answer
            }
            None => Inspection::Doubt(Doubt::TooMuch),
        })
    }

    /// What is printed on the pages. Empty if a child dies over it, also of the CPU it uses: then nothing is known.
    /// `Err` if no child can be started or be given the PDF, or if a busy machine lets none answer in time: what
    /// decides must not depend on that.
    ///
    /// Each PDF has a child of its own: one that was taken over must not decide where other people's letters go.
    pub async fn printed(&self, pdf: &[u8]) -> io::Result<Printed> {
        let mut child = Alive::start(&self.program, READS)?;
        let said = child.ask(pdf, self.patience, LARGEST_PRINTED).await?;
        if said.is_none() && child.was_disturbed(self.patience).await {
            return Err(io::Error::other(
                "what is printed was not read: the machine is busy, or the reader was ended",
            ));
        }
        Ok(said.and_then(|said| serde_json::from_str(&said).ok()).unwrap_or_default())
    }

    /// A page as a picture. `None` if it cannot be drawn, or a child dies over it or is too slow. `Err` if no child
    /// can be started or be given the PDF, or the font cannot be read.
    ///
    /// Each picture has a child of its own, so no PDF can change what people see of another one. `font` draws what has
    /// no font in the PDF. It passes through in small pieces: what is large once would remain with the process.
    pub async fn drawn(
        &self,
        pdf: &[u8],
        font: Option<&Path>,
        wish: &DrawWish,
    ) -> io::Result<Option<Picture>> {
        let font = font.map(File::open).transpose()?;
        let length = font.as_ref().map_or(Ok(0), |font| font.metadata().map(|stat| stat.len()))?;
        if length > LARGEST_FONT {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the font is larger than 40 MB"));
        }
        let head = picture::head(wish, length)?;
        let font: Box<dyn Read + Send> = match font {
            Some(font) => Box::new(font.take(length)),
            None => Box::new(io::empty()),
        };
        let total = head.len() as u64 + length + pdf.len() as u64;
        let mut child = Alive::start(&self.program, DRAWS)?;
        let said = child.ask_of(head.chain(font).chain(pdf), total, self.patience, LARGEST_PICTURE).await?;
        Ok(said.and_then(|said| serde_json::from_str(&said).ok()).flatten())
    }

    /// The line that a separate child answers about bytes that are not a PDF. `work` is its subcommand, `longest` the
    /// maximum length of the line. `None` if the child crashes, or if several are too slow or are killed. `Err` if no
    /// child can be started or be given the bytes.
    pub async fn ask_apart(&self, work: &str, bytes: &[u8], longest: u64) -> io::Result<Option<String>> {
        for _ in 0..MOST_DISTURBED {
            let mut child = Alive::start(&self.program, work)?;
            let said = child.ask(bytes, self.patience, longest).await?;
            if said.is_some() || !child.was_disturbed(self.patience).await {
                return Ok(said);
            }
        }
        Ok(None)
    }

    fn idle<T>(&self, look: impl FnOnce(&mut Idle) -> T) -> T {
        look(&mut self.idle.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps a child for a while, to be asked again.
    fn rests(&self, child: Option<Alive>) {
        let Some(child) = child else { return };
        let is_watched = self.idle(|idle| {
            idle.children.push(child);
            std::mem::replace(&mut idle.is_watched, true)
        });
        if is_watched {
            return;
        }
        let all = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(REST).await;
                let over = all.idle(|idle| {
                    idle.children.retain(|child| child.asked.elapsed() < REST);
                    idle.is_watched = !idle.children.is_empty();
                    !idle.is_watched
                });
                if over {
                    return;
                }
            }
        });
    }
}
