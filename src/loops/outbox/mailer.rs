//! Hands in an e-mail: to a mail server, or as a file in a directory.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use chrono_tz::Tz;
use lettre::Address;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, MultiPart, SinglePart};
use lettre::transport::smtp::client::AsyncSmtpConnection;

use super::smtp::{self, Server};
use crate::base::clock::Time;
use crate::config::{Email, Smtp, Transport};
use crate::words::message::{Mailbox, Message};

/// The result of handing in an e-mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HandedIn {
    Sent,
    /// It will never be accepted for its recipient.
    Refused(String),
    /// Not now. Others may be accepted.
    Later(String),
    /// None can be handed in at present.
    Server(String),
    /// A rule of the server, by an enhanced code of group 7, refuses it: relaying is denied for all, or its
    /// recipient accepts none from us.
    ByRule {
        code: String,
        is_final: bool,
    },
    /// The server stopped in the middle of this one: perhaps it accepts none, perhaps it has accepted it.
    Stopped(String),
}

/// An e-mail as it is handed in.
pub(super) struct Envelope {
    from: Address,
    to: Address,
    /// The name of its file, if it becomes one.
    name: String,
    bytes: Vec<u8>,
    /// The same in readable form, for people who look at the file.
    readable: String,
}

/// A picture that an e-mail's page shows.
pub(super) struct InlinePicture {
    /// Its Content-ID.
    pub(super) id: String,
    pub(super) png: Vec<u8>,
}

/// Hands in e-mails one after another over one connection.
#[derive(Debug)]
pub(super) struct Mailer {
    pub(super) patience: Duration,
}

/// What is kept between two e-mails of one round.
#[derive(Default)]
pub(super) struct MailLine(Option<AsyncSmtpConnection>);

/// Checks whether e-mails could be handed in, by doing everything except that.
pub async fn reach(smtp: &Smtp) -> Result<(), String> {
    let mut connection = Server { smtp, patience: smtp::PATIENCE }.connect().await?;
    // Whether QUIT is answered does not matter.
    let _ = tokio::time::timeout(smtp::PATIENCE, connection.quit()).await;
    Ok(())
}

impl Default for Mailer {
    fn default() -> Self {
        Self { patience: smtp::PATIENCE }
    }
}

impl Mailer {
    pub(super) fn with_patience(patience: Duration) -> Self {
        Self { patience }
    }

    pub(super) async fn hand_in(&self, email: &Email, line: &mut MailLine, letter: &Envelope) -> HandedIn {
        let server = match &email.transport {
            Transport::Directory(dir) => return write(dir, letter),
            Transport::Smtp(smtp) => Server { smtp, patience: self.patience },
        };
        let mut connection = match line.0.take() {
            Some(connection) => connection,
            None => match server.connect().await {
                Ok(connection) => connection,
                Err(why) => return HandedIn::Server(why),
            },
        };
        let verdict = server.hand_in(&mut connection, &letter.from, &letter.to, &letter.bytes).await;
        if !matches!(verdict, HandedIn::Server(_) | HandedIn::Stopped(_)) {
            line.0 = Some(connection);
        }
        verdict
    }
}

impl MailLine {
    /// Closes the connection in order.
    pub(super) async fn close(self) {
        if let Some(mut connection) = self.0 {
            let _ = tokio::time::timeout(Duration::from_secs(2), connection.quit()).await;
        }
    }
}

/// Writes files that appear complete: the e-mail and its readable text. The same e-mail has the same file
/// name.
fn write(dir: &Path, letter: &Envelope) -> HandedIn {
    let one = |ending: &str, bytes: &[u8]| -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(dir.join(format!("{}.{ending}", letter.name))).map_err(|error| error.error).map(drop)
    };
    let whole = || {
        fs_err::create_dir_all(dir)?;
        one("eml", &letter.bytes)?;
        one("txt", letter.readable.as_bytes())?;
        fs_err::File::open(dir)?.sync_all()
    };
    match whole() {
        Ok(()) => HandedIn::Sent,
        Err(error) => HandedIn::Server(error.kind().to_string()),
    }
}

impl Envelope {
    /// `id` identifies the e-mail for ever, so that a person who gets it twice can see it; `thread` is what it answers.
    /// `None` if an address cannot be used.
    pub(super) fn new(
        email: &Email,
        to: &Mailbox,
        (message, pictures): (&Message, Vec<InlinePicture>),
        (id, thread): (&str, Option<&str>),
        at: (Time, Tz),
    ) -> Option<Self> {
        let mailbox = |mailbox: &Mailbox| {
            // Carriers in Japan gave out addresses that no standard allows.
            let address = Address::new(&mailbox.user, &mailbox.domain)
                .unwrap_or_else(|_| Address::new_dangerous(&mailbox.user, &mailbox.domain));
            lettre::message::Mailbox::new(mailbox.name.clone(), address)
        };
        let (from, to) = (mailbox(&email.from), mailbox(to));
        let part = |kind: ContentType, text: &str| SinglePart::builder().header(kind).body(text.to_owned());
        let plain = MultiPart::alternative().singlepart(part(ContentType::TEXT_PLAIN, &message.text));
        let page = part(ContentType::TEXT_HTML, &message.html);
        let mut builder = lettre::Message::builder();
        if let Some(thread) = thread {
            builder = builder.in_reply_to(format!("<{thread}>")).references(format!("<{thread}>"));
        }
        let kind = if thread.is_some() { "auto-replied" } else { "auto-generated" };
        let built = builder
            .from(from.clone())
            .to(to.clone())
            .subject(&message.subject)
            .date(std::time::SystemTime::from(at.0.with_timezone(&at.1)))
            .message_id(Some(format!("<{id}@{}>", email.from.domain)))
            .raw_header(HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), kind.to_owned()))
            .multipart(if pictures.is_empty() {
                plain.singlepart(page)
            } else {
                let page = MultiPart::related().singlepart(page);
                let kind = ContentType::parse("image/png").ok()?;
                let picture = |picture: InlinePicture| {
                    Attachment::new_inline(picture.id).body(picture.png, kind.clone())
                };
                plain.multipart(pictures.into_iter().map(picture).fold(page, MultiPart::singlepart))
            })
            .ok()?;
        let bytes = built.formatted();
        let readable = format!("Subject: {}\nTo: {}\n\n{}", message.subject, to.email, message.text);
        Some(Self { from: from.email, to: to.email, name: id.to_owned(), bytes, readable })
    }
}
