//! Reads mails in a child process: a mail can contain so many nested mails that its parser overflows the stack.

use std::io;

use crate::outside::imap::MailMessage;
use crate::outside::pdf::{Inspector, answer_once};

/// A larger mail is refused without being read.
pub const LARGEST_MAIL: u64 = 32 << 20;
/// The hidden subcommand that is a child which reads a mail.
const READS_MAIL: &str = "read-mail";
/// The number of bytes of a mail that was read, as a child says it.
const LARGEST_ANSWER: u64 = 64 << 20;

/// The work for which this process was started as a child, if it was.
pub fn work_of_child() -> Option<fn() -> io::Result<()>> {
    let first = std::env::args_os().nth(1)?;
    (first == READS_MAIL).then_some(answer as fn() -> io::Result<()>)
}

fn answer() -> io::Result<()> {
    answer_once(LARGEST_MAIL, |raw| {
        let read = std::panic::catch_unwind(|| MailMessage::read(raw));
        serde_json::to_string(&read.unwrap_or_else(|_| MailMessage::unreadable(raw)))
    })
}

impl MailMessage {
    /// Reads a mail in a separate child. If the child crashes, the result has only the header. `Err` if no child can be
    /// started or be given the mail.
    pub async fn read_apart(inspector: &Inspector, raw: &[u8]) -> io::Result<Self> {
        let said = inspector.ask_apart(READS_MAIL, raw, LARGEST_ANSWER).await?;
        let read = said.and_then(|said| serde_json::from_str(&said).ok());
        Ok(read.unwrap_or_else(|| Self::unreadable(raw)))
    }
}
