//! What a print job and the daemon say to each other: a line of JSON each, and then the document.

mod backend;
mod job;

pub use backend::{is_backend, print};
use serde::{Deserialize, Serialize};

/// The longest line.
pub const LONGEST_LINE: u64 = 64 << 10;
/// The last line of a backend, when it has its answer.
pub const SEEN: &str = "seen";

/// What a backend says first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrintCall {
    /// Which printers are there.
    Printers,
    Job(PrintJob),
}

/// What a job wants to hand in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintJob {
    pub printer: String,
    /// Stands for the job, in whichever printing system.
    pub uuid: String,
    /// This run of the backend. When the printing system runs it again, it is another one.
    pub run: String,
    pub title: String,
    pub copies: u32,
    /// The number of bytes that follow.
    pub size: u64,
}

/// What the daemon answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrintAnswer {
    Printers(Vec<String>),
    /// The document may come.
    Send,
    Letter(u64),
    /// It was taken, and is not decided yet.
    TakenIn,
    /// A person must look.
    Held(String),
    /// It is not posted.
    Refused(String),
    /// Not now. It may be handed in again.
    Later(String),
    /// It is recorded that the backend has its answer.
    Noted,
}
