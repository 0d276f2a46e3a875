//! A queue that is a mailbox: whose mails post letters, and where they are put.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use super::ConfigError;
use super::email::TlsStart;
use super::page::ReadFile;
use super::problem::Problem;
use super::queue::WrittenQueue;
use super::secret::SecretSource;
use super::yaml::Tls;
use crate::base::secret::Secret;

/// Mailboxes that mail programs use themselves.
const THEIRS: [&str; 8] =
    ["inbox", "sent", "sent items", "sent messages", "drafts", "trash", "junk", "送信済み"];

/// Letters come by mail.
#[derive(Debug, Clone, PartialEq)]
pub struct MailWay {
    pub host: String,
    pub port: u16,
    /// `None`: without TLS, to this machine itself.
    pub tls: Option<TlsStart>,
    /// PEM
    pub ca: Option<PathBuf>,
    pub user: String,
    password: SecretSource,
    /// The mailbox that is watched.
    pub mailbox: String,
    /// The server that says whether a mail is from its sender. Without it no sender is believed.
    pub authenticated_by: Option<String>,
    pub from: Vec<MayPost>,
    pub letter: MailLetter,
    /// Whether answers contain the names of receivers.
    pub names: bool,
    pub shelves: MailShelves,
}

/// Who may post by mail: an address, or everybody of a domain. In lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MayPost {
    Address(String),
    Domain(String),
}

impl MayPost {
    /// Whether it is this address, which is in lower case.
    pub fn is(&self, address: &str) -> bool {
        match self {
            Self::Address(known) => known == address,
            Self::Domain(domain) => address.rsplit_once('@').is_some_and(|(_, of)| of == domain),
        }
    }

    fn of(written: &str) -> Option<Self> {
        let written = written.trim().to_lowercase();
        let is_domain = |text: &str| {
            text.contains('.')
                && !text.starts_with('.')
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-')
        };
        match written.rsplit_once('@') {
            None => is_domain(&written).then_some(Self::Domain(written)),
            Some(("", domain)) => is_domain(domain).then(|| Self::Domain(domain.to_owned())),
            Some((local, domain)) => {
                let is_local = !local.contains(|c: char| c.is_whitespace() || "<>@,;\"".contains(c));
                (is_local && is_domain(domain)).then_some(Self::Address(written))
            }
        }
    }
}

/// What makes a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MailLetter {
    /// Each PDF.
    #[default]
    File,
    /// All PDFs of a mail together. The folder must say `letter: subfolder`.
    Mail,
}

/// Where mails are put. A mail that somebody moves to `approve` or `cancel` is approved or cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MailShelves {
    pub held: String,
    pub sent: String,
    pub rejected: String,
    pub cancelled: String,
    pub approve: String,
    pub cancel: String,
}

impl Default for MailShelves {
    fn default() -> Self {
        let within = |name: &str| format!("mailchute/{name}");
        Self {
            held: within("Held"),
            sent: within("Sent"),
            rejected: within("Rejected"),
            cancelled: within("Cancelled"),
            approve: within("Approve"),
            cancel: within("Cancel"),
        }
    }
}

impl MailShelves {
    pub fn all(&self) -> [&str; 6] {
        [&self.held, &self.sent, &self.rejected, &self.cancelled, &self.approve, &self.cancel]
            .map(String::as_str)
    }
}

/// A mailbox on a mail server.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenMailbox {
    pub host: String,
    /// 993 if missing, or 143 if `tls` is not `implicit`.
    pub port: Option<u16>,
    /// `implicit` if missing.
    #[serde(default = "implicit")]
    pub tls: Tls,
    /// The path of a file (PEM) with the authorities to trust instead of those of this machine.
    pub ca: Option<PathBuf>,
    pub user: String,
    /// Where the password is, never the password itself.
    pub password: SecretSource,
    /// The mailbox that is watched.
    #[serde(default = "inbox")]
    pub mailbox: String,
    /// The name by which the mail server that receives for this mailbox signs `Authentication-Results`. If it does not
    /// say that a mail is from its sender, the letter waits for approval. Without this, all letters do.
    pub authenticated_by: Option<String>,
    /// Who may post: addresses, and domains.
    pub from: Vec<String>,
    /// `file`: each PDF is a letter. `mail`: all PDFs of a mail are one, in a folder with `letter: subfolder`.
    #[serde(default)]
    pub letter: MailLetter,
    /// Whether answers to senders contain the names of receivers.
    #[serde(default)]
    pub names: bool,
    /// Where mails are put, and from where they are approved and cancelled.
    #[serde(default)]
    pub mailboxes: MailShelves,
}

fn implicit() -> Tls {
    Tls::Implicit
}

fn inbox() -> String {
    "INBOX".to_owned()
}

impl MailWay {
    pub(super) fn lend(&mut self, find: &dyn Fn(&str) -> Option<PathBuf>) {
        self.password.lend(find);
    }

    /// Whether the password comes from the service manager, and this process was not started by it.
    pub fn is_elsewhere(&self) -> bool {
        self.password.is_elsewhere()
    }

    /// Reads the password from its source. The error names the queue.
    pub fn password(&self, queue: &str) -> Result<Secret, ConfigError> {
        self.password.fetch(&format!("the password of queue {queue}"))
    }

    /// What distinguishes it from other mailboxes.
    pub fn place(&self) -> String {
        format!("{} at {}: {}", self.user, self.host, self.mailbox)
    }

    /// `takes_subfolders`: whether the folder's letters are subfolders, if the folder is known.
    pub(super) fn of(
        queue: &ReadFile<WrittenQueue>,
        written: &WrittenMailbox,
        (beside, takes_subfolders): (&Path, Option<bool>),
        problems: &mut Vec<Problem>,
    ) -> Self {
        let mut wrong = |key: &str, what: &str, help: &str| {
            problems.push(queue.wrong(&["imap", key], what, help));
        };
        let is_here = ["localhost", "127.0.0.1", "::1"].contains(&written.host.as_str());
        if written.tls == Tls::None && !is_here {
            let help = "take `implicit` or `starttls`; `none` is for a server on this machine";
            wrong("tls", "the password and the mails would cross the network unencrypted", help);
        }
        let is_host = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-:_".contains(c))
        };
        if !is_host(&written.host) {
            wrong("host", "it is not the name of a host", "write it as `mail.example.jp`");
        }
        if written.authenticated_by.as_deref().is_some_and(|name| !is_host(name)) {
            wrong("authenticated_by", "it is not the name of a server", "write it as `mail.example.jp`");
        }
        if written.from.is_empty() {
            wrong("from", "nobody may post", "name addresses or domains, such as `[office.example.jp]`");
        }
        let from: Vec<MayPost> = written.from.iter().filter_map(|who| MayPost::of(who)).collect();
        if from.len() < written.from.len() {
            let help = "write `accounting@example.jp`, or `example.jp` for everybody there";
            wrong("from", "one of these is neither an address nor a domain", help);
        }
        if written.letter == MailLetter::Mail && takes_subfolders == Some(false) {
            let help = "write `letter: subfolder` in the folder's file, or `letter: file` here";
            wrong("letter", "the folder's letters are single files", help);
        }
        let mut names: Vec<String> = written.mailboxes.all().iter().map(|name| name.to_lowercase()).collect();
        if names.iter().any(|name| THEIRS.contains(&name.as_str()) || name.trim().is_empty()) {
            let help = "take names that no mail program uses itself, such as `mailchute/Sent`";
            wrong("mailboxes", "one of these is not ours alone", help);
        }
        names.push(written.mailbox.to_lowercase());
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            wrong("mailboxes", "two of these, or one and `mailbox`, are the same", "give each its own name");
        }
        let (tls, usual) = match written.tls {
            Tls::Implicit => (Some(TlsStart::AtOnce), 993),
            Tls::Starttls => (Some(TlsStart::BeforeAnythingIsSaid), 143),
            Tls::None => (None, 143),
        };
        Self {
            host: written.host.clone(),
            port: written.port.unwrap_or(usual),
            tls,
            ca: written.ca.as_ref().map(|ca| beside.join(ca)),
            user: written.user.clone(),
            password: written.password.clone().beside(beside),
            mailbox: written.mailbox.clone(),
            authenticated_by: written.authenticated_by.clone(),
            from,
            letter: written.letter,
            names: written.names,
            shelves: written.mailboxes.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_or_a_domain_may_post() {
        let is = |written: &str, address: &str| MayPost::of(written).unwrap().is(address);
        assert!(is("Accounting@Example.jp", "accounting@example.jp"));
        assert!(!is("accounting@example.jp", "x.accounting@example.jp"));
        assert!(is("example.jp", "anybody@example.jp") && is("@example.jp", "anybody@example.jp"));
        for other in ["a@sub.example.jp", "a@notexample.jp", "example.jp", "example.jp@evil.jp"] {
            assert!(!is("example.jp", other), "{other}");
        }
        for wrong in ["", "@", "jp", "a b@example.jp", "<a@example.jp>", "a@", "*.example.jp"] {
            assert_eq!(MayPost::of(wrong), None, "{wrong}");
        }
    }
}
