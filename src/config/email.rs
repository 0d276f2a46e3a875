//! How people are notified: the `email` section of mailchute.yaml, with the templates it names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fs_err as fs;

use super::ConfigError;
use super::page::ReadFile;
use super::problem::Problem;
use super::secret::SecretSource;
use super::yaml::{self, Tls};
use crate::base::clock::CronLine;
use crate::base::secret::Secret;
use crate::words::message::{Mailbox, Templates};

const LARGEST_TEMPLATE: u64 = 1 << 18;

#[derive(Debug)]
pub struct Email {
    pub from: Mailbox,
    pub operators: Vec<Mailbox>,
    pub transport: Transport,
    /// Letters that ship within this time share one e-mail.
    pub together: Duration,
    /// Whether e-mails about what is held show its first page.
    pub pictures: bool,
    pub digest: Option<DigestTimes>,
    pub templates: Arc<Templates>,
}

#[derive(Debug)]
pub enum Transport {
    Smtp(Smtp),
    /// One file for each e-mail.
    Directory(PathBuf),
}

/// A mail server.
#[derive(Debug)]
pub struct Smtp {
    pub host: String,
    pub port: u16,
    /// `None`: without TLS, to this machine itself.
    pub tls: Option<TlsStart>,
    pub login: Option<Login>,
    /// PEM
    pub ca: Option<PathBuf>,
    pub hello: Option<String>,
}

/// When a connection becomes TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsStart {
    AtOnce,
    BeforeAnythingIsSaid,
}

#[derive(Debug)]
pub struct Login {
    pub user: String,
    password: SecretSource,
}

impl Login {
    /// Whether the password comes from the service manager, and this process was not started by it.
    pub fn is_elsewhere(&self) -> bool {
        self.password.is_elsewhere()
    }

    pub(super) fn lend(&mut self, find: &dyn Fn(&str) -> Option<PathBuf>) {
        self.password.lend(find);
    }

    /// Reads the password from its source.
    pub fn password(&self) -> Result<Secret, ConfigError> {
        self.password.fetch("email.smtp.password")
    }
}

#[derive(Debug)]
pub struct DigestTimes {
    pub at: CronLine,
    pub to: Vec<Mailbox>,
}

/// `None` if the section is missing or wrong.
pub(super) fn build(
    written: &ReadFile<yaml::Main>,
    beside: &Path,
    problems: &mut Vec<Problem>,
) -> Option<Email> {
    let section = written.value.email.as_ref()?;
    let wrong = |path: &[&str], what: &str, help: &str| {
        let path: Vec<&str> = ["email"].iter().chain(path).copied().collect();
        written.wrong(&path, what, help)
    };
    let mailboxes = |list: &[super::words_people::Email]| list.iter().map(|email| email.0.clone()).collect();
    let transport = match (&section.smtp, &section.directory) {
        (Some(smtp), None) => {
            let is_whole = ["user", "password"].iter().all(|key| written.has(&["email", "smtp", key]));
            server(smtp, beside, problems, is_whole, wrong)
        }
        (None, Some(directory)) => Some(Transport::Directory(beside.join(directory))),
        (Some(_), Some(_)) => {
            problems.push(wrong(
                &["directory"],
                "e-mails go to a server or into a directory, not both",
                "take one out",
            ));
            None
        }
        (None, None) => {
            problems.push(wrong(
                &[],
                "it does not say how e-mails are sent",
                "give `smtp`, or for trials `directory`",
            ));
            None
        }
    };
    if section.digest.as_ref().is_some_and(|digest| digest.to.is_empty()) {
        problems.push(wrong(&["digest", "to"], "nobody gets the digest", "name at least one address"));
    }
    let own = own_templates(&beside.join(&section.templates), problems);
    let templates = match Templates::with(written.value.language, &own) {
        Ok(templates) => Some(Arc::new(templates)),
        Err(mistakes) => {
            let dir = beside.join(&section.templates);
            problems.extend(mistakes.into_iter().map(|mistake| {
                let file = dir.join(&mistake.template);
                let text = own.get(&mistake.template).map_or("", String::as_str);
                Problem::of_line(&file, text, mistake.line, mistake.what)
            }));
            None
        }
    };
    Some(Email {
        from: section.from.0.clone(),
        operators: mailboxes(&section.operators),
        transport: transport?,
        together: section.together.0,
        pictures: section.pictures,
        digest: section
            .digest
            .as_ref()
            .map(|digest| DigestTimes { at: digest.at.0.clone(), to: mailboxes(&digest.to) }),
        templates: templates?,
    })
}

fn server(
    smtp: &yaml::Smtp,
    beside: &Path,
    problems: &mut Vec<Problem>,
    is_whole: bool,
    wrong: impl Fn(&[&str], &str, &str) -> Problem,
) -> Option<Transport> {
    let before = problems.len();
    let is_here = ["localhost", "127.0.0.1", "::1"].contains(&smtp.host.as_str());
    if smtp.tls == Tls::None && !is_here {
        let help = "take `starttls` or `implicit`; `none` is for a server on this machine";
        problems.push(wrong(&["smtp", "tls"], "e-mails would cross the network unencrypted", help));
    }
    let name = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '_'))
    };
    if !name(&smtp.host) {
        problems.push(wrong(
            &["smtp", "host"],
            "it is not the name of a host",
            "write it as `mail.example.jp`",
        ));
    }
    if smtp.hello.as_deref().is_some_and(|hello| !name(hello)) {
        problems.push(wrong(
            &["smtp", "hello"],
            "it is not the name of a host",
            "write it as `files.example.jp`",
        ));
    }
    let login = match (&smtp.user, &smtp.password) {
        (Some(user), Some(password)) => {
            Some(Login { user: user.clone(), password: password.clone().beside(beside) })
        }
        (None, None) => None,
        // It is there but wrong, which was reported already.
        (Some(_), None) | (None, Some(_)) if is_whole => None,
        (Some(_), None) | (None, Some(_)) => {
            problems.push(wrong(&["smtp"], "`user` and `password` go together", "give both, or none"));
            None
        }
    };
    let (tls, usual) = match smtp.tls {
        Tls::Starttls => (Some(TlsStart::BeforeAnythingIsSaid), 587),
        Tls::Implicit => (Some(TlsStart::AtOnce), 465),
        Tls::None => (None, 25),
    };
    (problems.len() == before).then(|| {
        Transport::Smtp(Smtp {
            host: smtp.host.clone(),
            port: smtp.port.unwrap_or(usual),
            tls,
            login,
            ca: smtp.ca.as_ref().map(|ca| beside.join(ca)),
            hello: smtp.hello.clone(),
        })
    })
}

/// The administrator's own templates by name. Empty if the directory does not exist.
fn own_templates(dir: &Path, problems: &mut Vec<Problem>) -> BTreeMap<String, String> {
    let mut own = BTreeMap::new();
    let Ok(entries) = fs::read_dir(dir) else { return own };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || name.ends_with('~') {
            continue;
        }
        let fits = fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST_TEMPLATE);
        match fs::read_to_string(&path) {
            Ok(text) if fits => {
                drop(own.insert(name, text.trim_start_matches('\u{feff}').replace("\r\n", "\n")));
            }
            Ok(_) => problems.push(Problem::of_file(&path, "it is too large for a template")),
            Err(error) => problems.push(Problem::of_file(&path, format!("it can't be read: {error}"))),
        }
    }
    own
}
