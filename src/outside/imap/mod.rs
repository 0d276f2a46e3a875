//! A mailbox on a mail server (IMAP), and what mails in it bring.
//!
//! Only numbers, sizes and whole mails are asked for. What the server says is never shown as it is, because its
//! answers contain mails.

mod apart;
mod fetched;
mod line;
mod message;
mod names;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

pub use apart::{LARGEST_MAIL, work_of_child};
use async_imap::error::Error as ImapError;
use async_imap::imap_proto::{MailboxDatum, Response, ResponseCode, Status};
use async_imap::{Client, Session};
use fetched::FetchedMail;
use line::{MailWire, connect, secured};
pub use message::{AttachedPdf, MailMessage, mail_hash};
use names::{encoded, quoted};
use tokio::time::timeout;

use crate::base::connection::NoConnection;
use crate::base::secret::Secret;
use crate::domain::drop::showable;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_mins(2);
/// How many bytes of a mail come in a second at least.
const SLOWEST: u64 = 32 << 10;
/// The word that marks a mail that we moved where a server can't remove it.
const MOVED: &str = "$MailchuteMoved";
const LONGEST_ANSWER: usize = 200;

/// Where a mailbox is, and who reads it.
#[derive(Debug, Clone)]
pub struct MailAccount {
    pub host: String,
    pub port: u16,
    pub tls: MailTls,
    /// PEM
    pub ca: Option<PathBuf>,
    pub user: String,
    pub password: Secret,
}

/// When a connection to a mailbox becomes TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailTls {
    AtOnce,
    Starttls,
    /// Only to this machine.
    Never,
}

/// Why a mailbox can't be used at present.
#[derive(Debug, thiserror::Error)]
pub enum MailTrouble {
    #[error("{}", connection(.0))]
    Connection(#[from] io::Error),
    #[error("TLS can't be used: {0}")]
    Tls(String),
    #[error("it does not answer")]
    Silent,
    #[error("it offers no STARTTLS: write `tls: implicit` if its port expects TLS first")]
    NoStartTls,
    /// The server's words.
    #[error("it does not let us in: {0}")]
    Login(String),
    /// The server's words.
    #[error("it says no: {0}")]
    No(String),
    #[error("its answer can't be read")]
    Malformed,
}

fn connection(error: &io::Error) -> String {
    match NoConnection::of(error) {
        Some(known) => known.to_string(),
        // The words of an error may be a part of a mail.
        None => format!("the connection broke ({})", error.kind()),
    }
}

impl From<ImapError> for MailTrouble {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the crate may add more, and none of their words are shown"
    )]
    fn from(error: ImapError) -> Self {
        let words = |text: &str| {
            // The crate puts them into a text of its own.
            let said =
                text.split_once("info: Some(\"").map_or(text, |(_, said)| said.trim_end_matches("\")"));
            showable(said).chars().take(LONGEST_ANSWER).collect()
        };
        match error {
            // What can't be parsed is an error of I/O without a kind of its own.
            ImapError::Io(error) if error.kind() == io::ErrorKind::Other => Self::Malformed,
            ImapError::Io(error) => Self::Connection(error),
            ImapError::ConnectionLost => Self::Connection(io::ErrorKind::ConnectionReset.into()),
            ImapError::No(text) | ImapError::Bad(text) => Self::No(words(&text)),
            _other => Self::Malformed,
        }
    }
}

/// A mailbox when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenedMailbox {
    /// While it stays the same, so do the numbers of the mails.
    pub validity: u32,
    /// Mails that come from now on have this number or a higher one.
    pub next: u32,
}

/// A connection on which somebody is logged in.
#[derive(Debug)]
pub struct MailLink {
    session: Session<Box<dyn MailWire>>,
    delimiter: String,
    can_move: bool,
    can_uid_expunge: bool,
    pub can_idle: bool,
}

async fn in_time<T>(work: impl Future<Output = Result<T, ImapError>>) -> Result<T, MailTrouble> {
    within(PATIENCE, work).await
}

async fn within<T>(
    longest: Duration,
    work: impl Future<Output = Result<T, ImapError>>,
) -> Result<T, MailTrouble> {
    Ok(timeout(longest, work).await.map_err(|_| MailTrouble::Silent)??)
}

impl MailAccount {
    pub async fn connect(&self) -> Result<MailLink, MailTrouble> {
        timeout(PATIENCE, self.log_in()).await.map_err(|_| MailTrouble::Silent)?
    }

    async fn log_in(&self) -> Result<MailLink, MailTrouble> {
        let stream = connect(&self.host, self.port).await?;
        let ca = self.ca.as_deref();
        let stream: Box<dyn MailWire> = match self.tls {
            MailTls::Never => Box::new(stream),
            MailTls::AtOnce => secured(stream, &self.host, ca).await?,
            MailTls::Starttls => {
                let mut plain = Client::new(stream);
                greeting(&mut plain).await?;
                let offered = plain.run_command_and_check_ok("STARTTLS", None).await;
                if matches!(offered, Err(ImapError::No(_) | ImapError::Bad(_))) {
                    return Err(MailTrouble::NoStartTls);
                }
                offered?;
                secured(plain.into_inner(), &self.host, ca).await?
            }
        };
        let mut client = Client::new(stream);
        // After STARTTLS the server does not greet again.
        if self.tls != MailTls::Starttls {
            greeting(&mut client).await?;
        }
        let session = client.login(&self.user, self.password.expose()).await;
        let session = session.map_err(|(error, _)| {
            let trouble = MailTrouble::from(error);
            if let MailTrouble::No(words) = trouble { MailTrouble::Login(words) } else { trouble }
        })?;
        let (can_move, can_uid_expunge, can_idle) = (false, false, false);
        let delimiter = "/".to_owned();
        let mut link = MailLink { session, delimiter, can_move, can_uid_expunge, can_idle };
        link.learn().await?;
        Ok(link)
    }
}

async fn greeting<T: MailWire>(client: &mut Client<T>) -> Result<(), MailTrouble> {
    match client.read_response().await? {
        Some(_) => Ok(()),
        None => Err(MailTrouble::Connection(io::ErrorKind::ConnectionReset.into())),
    }
}

impl MailLink {
    /// Gives a command, and hears everything until its end. A connection that ends before is not taken for the end.
    async fn ask(&mut self, command: &str, hear: impl FnMut(&Response<'_>)) -> Result<(), MailTrouble> {
        self.ask_within(PATIENCE, command, hear).await
    }

    async fn ask_within(
        &mut self,
        longest: Duration,
        command: &str,
        mut hear: impl FnMut(&Response<'_>),
    ) -> Result<(), MailTrouble> {
        within(longest, async {
            let id = self.session.run_command(command).await?;
            loop {
                let said = self.session.read_response().await?.ok_or(ImapError::ConnectionLost)?;
                if let Response::Done { tag, status, outcome } = said.parsed()
                    && *tag == id
                {
                    let words = || outcome.information.as_deref().unwrap_or_default().to_owned();
                    return match status {
                        Status::Ok => Ok(()),
                        Status::No => Err(ImapError::No(words())),
                        Status::Bad | Status::PreAuth | Status::Bye => Err(ImapError::Bad(words())),
                    };
                }
                hear(said.parsed());
            }
        })
        .await
    }

    /// What the server can do, and how it writes names.
    async fn learn(&mut self) -> Result<(), MailTrouble> {
        let mut can = Vec::new();
        self.ask("CAPABILITY", |said| {
            if let Response::Capabilities(words) = said {
                can.extend(words.iter().map(|word| format!("{word:?}").to_uppercase()));
            }
        })
        .await?;
        let has = |word: &str| can.iter().any(|said| said.contains(&format!("\"{word}\"")));
        (self.can_idle, self.can_move, self.can_uid_expunge) = (has("IDLE"), has("MOVE"), has("UIDPLUS"));
        let mut delimiter = None;
        self.ask("LIST \"\" \"\"", |said| {
            if let Response::MailboxData(MailboxDatum::List(found)) = said {
                delimiter = found.delimiter.as_ref().map(ToString::to_string);
            }
        })
        .await?;
        self.delimiter = delimiter.unwrap_or_else(|| "/".to_owned());
        Ok(())
    }

    /// The name as the server reads it.
    fn name(&self, name: &str) -> String {
        quoted(&encoded(&name.replace('/', &self.delimiter)))
    }

    /// Makes a mailbox unless it is there.
    pub async fn make(&mut self, name: &str) -> Result<(), MailTrouble> {
        let (name, mut is_there) = (self.name(name), false);
        self.ask(&format!("LIST \"\" {name}"), |said| {
            is_there |= matches!(said, Response::MailboxData(MailboxDatum::List(_)));
        })
        .await?;
        if is_there {
            return Ok(());
        }
        self.ask(&format!("CREATE {name}"), |_| {}).await?;
        // Whoever reads mail by telephone sees only these.
        self.ask(&format!("SUBSCRIBE {name}"), |_| {}).await
    }

    pub async fn open(&mut self, name: &str) -> Result<OpenedMailbox, MailTrouble> {
        let (mut validity, mut next) = (None, None);
        self.ask(&format!("SELECT {}", self.name(name)), |said| {
            let Response::Data { outcome, .. } = said else { return };
            match outcome.code {
                Some(ResponseCode::UidValidity(found)) => validity = Some(found),
                Some(ResponseCode::UidNext(found)) => next = Some(found),
                Some(_) | None => {}
            }
        })
        .await?;
        let validity = validity.ok_or(MailTrouble::Malformed)?;
        let next = match next {
            Some(next) => next,
            None => self.mails().await?.into_keys().max().map_or(1, |last| last.saturating_add(1)),
        };
        Ok(OpenedMailbox { validity, next })
    }

    /// The numbers of the mails in the open mailbox, with their sizes. Those that we moved, or somebody deleted, are left
    /// out.
    pub async fn mails(&mut self) -> Result<BTreeMap<u32, u64>, MailTrouble> {
        let mut there = BTreeMap::new();
        self.ask("UID FETCH 1:* (UID RFC822.SIZE FLAGS)", |said| {
            let Some(mail) = FetchedMail::of(said) else { return };
            let is_left = mail
                .flags
                .iter()
                .any(|flag| [MOVED, "\\Deleted"].iter().any(|left| flag.eq_ignore_ascii_case(left)));
            if let (Some(uid), Some(size), false) = (mail.uid, mail.size, is_left) {
                there.insert(uid, size);
            }
        })
        .await?;
        Ok(there)
    }

    /// A whole mail of this size, or its header. `None` if it is not there any more, or the server can't read it: the
    /// others can be read all the same.
    pub async fn fetch(
        &mut self,
        (uid, size): (u32, u64),
        which: MailSection,
    ) -> Result<Option<Vec<u8>>, MailTrouble> {
        let section = match which {
            MailSection::Whole => "",
            MailSection::Header => "HEADER",
        };
        let mut bytes = None;
        let command = format!("UID FETCH {uid} (UID BODY.PEEK[{section}])");
        let longest = match which {
            MailSection::Whole => PATIENCE + Duration::from_secs(size / SLOWEST),
            MailSection::Header => PATIENCE,
        };
        let asked = self.ask_within(longest, &command, |said| {
            if let Some(mail) = FetchedMail::of(said).filter(|mail| mail.uid == Some(uid)) {
                bytes = mail.bytes.or_else(|| bytes.take());
            }
        });
        match asked.await {
            Err(MailTrouble::No(_)) => return Ok(None),
            asked => asked?,
        }
        Ok(bytes)
    }

    /// Moves a mail out of the open mailbox. If the answer is lost, it may be there twice, or be moved and not known.
    pub async fn put(&mut self, uid: u32, into: &str) -> Result<Put, MailTrouble> {
        let into = self.name(into);
        if self.can_move {
            return self.ask(&format!("UID MOVE {uid} {into}"), |_| {}).await.map(|()| Put::Moved);
        }
        self.ask(&format!("UID COPY {uid} {into}"), |_| {}).await?;
        match self.ask(&format!("UID STORE {uid} +FLAGS.SILENT (\\Deleted {MOVED})"), |_| {}).await {
            Err(MailTrouble::No(words)) => return Ok(Put::Copied(words)),
            marked => marked?,
        }
        // Without it, everything that anybody marked would be removed.
        if self.can_uid_expunge {
            self.ask(&format!("UID EXPUNGE {uid}"), |_| {}).await?;
        }
        Ok(Put::Moved)
    }

    /// Waits until something happens in the open mailbox or here, or for that long.
    pub async fn idle(self, longest: Duration, here: impl Future<Output = ()>) -> Result<Self, MailTrouble> {
        let Self { session, delimiter, can_move, can_uid_expunge, can_idle } = self;
        let mut idle = session.idle();
        in_time(idle.init()).await?;
        let (heard, stop) = idle.wait_with_timeout(longest);
        // A server that says it is still there does not prolong it.
        let end = tokio::time::sleep(longest);
        tokio::select! {
            heard = heard => drop(heard?),
            () = here => {}
            () = end => {}
        }
        drop(stop);
        let session = in_time(idle.done()).await?;
        Ok(Self { session, delimiter, can_move, can_uid_expunge, can_idle })
    }

    /// Ends the conversation. It does not matter whether the server hears it.
    pub async fn leave(mut self) {
        let _ = timeout(Duration::from_secs(5), self.session.logout()).await;
    }
}

/// What became of a mail that was to be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    Moved,
    /// It is also where it was: the server does not let us remove it there. These are its words.
    Copied(String),
}

/// What is fetched of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailSection {
    Whole,
    Header,
}
