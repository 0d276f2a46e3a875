//! A queue: a way into a folder besides dropping files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::ConfigError;
use super::folder::{Folder, LetterKind};
use super::imap::{MailWay, WrittenMailbox};
use super::page::{self, ReadFile};
use super::problem::Problem;
use super::secret::SecretSource;
use super::yaml;
use crate::base::secret::Secret;

/// Where printing systems find the printers.
pub const PRINTERS: &str = "/run/mailchute/print.sock";
/// The minimum number of characters of a token.
const SHORTEST_TOKEN: usize = 32;

/// What a program with a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// Post letters, and read what became of those of this queue.
    Post,
    /// Cancel letters of this queue.
    Cancel,
    /// Release letters of this queue that are held.
    Release,
}

impl Right {
    pub fn word(self) -> &'static str {
        match self {
            Self::Post => "post",
            Self::Cancel => "cancel",
            Self::Release => "release",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Queue {
    pub name: String,
    /// The folder whose rules decide.
    pub into: String,
    /// The user who counts as the owner of what comes.
    pub owner: Option<u32>,
    pub way: Way,
}

/// How a queue is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Way {
    Http(HttpWay),
    Imap(Box<MailWay>),
    Print(PrintWay),
}

/// Programs post by HTTP.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpWay {
    pub rights: Vec<Right>,
    /// A socket of its own. Otherwise it is where the status is served.
    pub socket: Option<PathBuf>,
    token: SecretSource,
}

/// A printing system hands in what is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintWay {
    pub socket: PathBuf,
    /// The users whose programs may hand in what is printed, by name or number.
    pub users: Vec<String>,
    /// Whether a person must look at what is printed.
    pub is_approved: bool,
}

/// queues/NAME.yaml
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenQueue {
    /// The folder whose rules decide, by the name of its file without `.yaml`.
    pub into: String,
    /// The number of the user who counts as the owner of what comes (`id -u NAME`). Needed if the folder says
    /// `not_by_owner`.
    pub owner: Option<u32>,
    /// Programs post by HTTP, as docs/operate/programs.md says.
    pub http: Option<WrittenDoor>,
    /// Letters come by mail, as docs/operate/mailbox.md says.
    pub imap: Option<WrittenMailbox>,
    /// Whatever can print posts, as docs/operate/printing.md says. `{}` is the usual printer.
    pub print: Option<WrittenPrinter>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenDoor {
    /// Where the token is that programs send, never the token itself. Draw it with `openssl rand -base64 32`.
    pub token: SecretSource,
    /// What the token allows.
    #[serde(default = "usual_rights")]
    pub rights: Vec<Right>,
    /// The path of a socket of its own. Without it, it is where the status is served (`status: {listen: …}`).
    pub socket: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPrinter {
    /// Who may hand in what is printed: the users of the printing system, by name or number. `[lp]` if missing.
    #[serde(default = "usual_users")]
    pub users: Vec<String>,
    /// `approval`: somebody must look at each letter first. `automatic`: the folder decides alone.
    #[serde(default)]
    pub release: PrinterRelease,
    /// The path of the socket. /run/mailchute/print.sock if missing; printers may share it.
    pub socket: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum PrinterRelease {
    #[default]
    Approval,
    Automatic,
}

fn usual_users() -> Vec<String> {
    vec!["lp".to_owned()]
}

fn usual_rights() -> Vec<Right> {
    vec![Right::Post, Right::Cancel]
}

impl Queue {
    pub(super) fn lend(&mut self, find: &dyn Fn(&str) -> Option<PathBuf>) {
        match &mut self.way {
            Way::Http(http) => http.token.lend(find),
            Way::Imap(mail) => mail.lend(find),
            Way::Print(_) => {}
        }
    }

    fn is_mailbox(&self, place: &str) -> bool {
        matches!(&self.way, Way::Imap(mail) if mail.place() == place)
    }

    /// By which records know the queue, whatever its name: the hash of its token, or its mailbox. Print jobs are known
    /// by themselves, so a printer needs none.
    pub fn identity(&self) -> Result<String, ConfigError> {
        match &self.way {
            Way::Http(http) => http.token_hash(&self.name),
            Way::Imap(mail) => Ok(hex::encode(Sha256::digest(mail.place()))),
            Way::Print(_) => Ok(format!("printer {}", self.name)),
        }
    }
}

impl HttpWay {
    /// Whether its token comes from the service manager, and this process was not started by it.
    pub fn is_elsewhere(&self) -> bool {
        self.token.is_elsewhere()
    }

    /// The hash of its token. The error names the queue.
    pub fn token_hash(&self, queue: &str) -> Result<String, ConfigError> {
        Ok(hex::encode(Sha256::digest(self.token(queue)?.expose().as_bytes())))
    }

    fn token(&self, queue: &str) -> Result<Secret, ConfigError> {
        let setting = format!("the token of queue {queue}");
        let token = self.token.fetch(&setting)?;
        let is_good = token.expose().len() >= SHORTEST_TOKEN
            && token.expose().bytes().all(|byte| byte.is_ascii_graphic());
        let why = "it is too short, or has characters that a header can't have: draw it with `openssl rand -base64 32`";
        if is_good { Ok(token) } else { Err(ConfigError::one(Path::new(&setting), why.to_owned())) }
    }
}

impl PrintWay {
    /// The numbers of its users, and the names that this machine does not know.
    pub fn users(&self) -> (Vec<u32>, Vec<String>) {
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        numbers(&self.users, &passwd)
    }
}

fn numbers(users: &[String], passwd: &str) -> (Vec<u32>, Vec<String>) {
    let number = |user: &String| {
        let named = passwd.lines().find_map(|line| {
            let mut fields = line.split(':');
            (fields.next() == Some(user)).then(|| fields.nth(1)?.parse().ok()).flatten()
        });
        named.or_else(|| user.parse().ok())
    };
    let known = users.iter().filter_map(number).collect();
    (known, users.iter().filter(|user| number(user).is_none()).cloned().collect())
}

/// Reads the queues' files. `known` are the names of all folders, also of those with mistakes.
pub(super) fn read_all(
    written: &ReadFile<yaml::Main>,
    files: &[PathBuf],
    (folders, known): (&[Folder], &[String]),
    problems: &mut Vec<Problem>,
) -> Vec<Queue> {
    let mut queues = Vec::new();
    let mut sockets: BTreeMap<PathBuf, (String, &str)> = BTreeMap::new();
    for file in files {
        let before = problems.len();
        let Some(queue) = page::read::<WrittenQueue>(file, problems) else { continue };
        let is_whole = problems.len() == before;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let beside = file.parent().unwrap_or(Path::new(""));
        let WrittenQueue { into, owner, .. } = &queue.value;
        if !known.contains(into) {
            let help = format!("there is: {}", known.join(", "));
            problems.push(queue.wrong(&["into"], "there is no such folder", &help));
        }
        let folder = folders.iter().find(|folder| folder.name == *into);
        if owner.is_none() && folder.is_some_and(|folder| folder.names.by_copy) {
            let what = "the folder is approved by another than the owner, and what comes here has none";
            let help = "add `owner:` with the number of the user who is responsible for the program";
            problems.push(queue.wrong(&["into"], what, help));
        }
        let has_status = written.value.status.is_some();
        let subfolders = folder.map(|folder| folder.letter == LetterKind::Subfolder);
        let facts = Beside { dir: beside, has_status, is_whole, subfolders };
        let Some(way) = way(&queue, &facts, problems) else { continue };
        if let Way::Imap(mail) = &way
            && let Some(other) = queues.iter().find(|other: &&Queue| other.is_mailbox(&mail.place()))
        {
            let what = format!("the queue `{}` watches this mailbox", other.name);
            problems.push(queue.wrong(&["imap", "mailbox"], what, "give each a mailbox of its own"));
        }
        let socket = match &way {
            Way::Http(http) => http.socket.clone().map(|socket| (socket, "http")),
            Way::Imap(_) => None,
            Way::Print(print) => Some((print.socket.clone(), "print")),
        };
        if let Some((socket, key)) = socket {
            let before = sockets.entry(socket).or_insert_with(|| (name.clone(), key));
            // Printers may share a socket.
            if before.0 != name && (before.1, key) != ("print", "print") {
                let what = format!("the queue `{}` listens on this socket", before.0);
                problems.push(queue.wrong(&[key, "socket"], what, "give each a socket of its own"));
            }
        }
        queues.push(Queue { name, into: into.clone(), owner: *owner, way });
    }
    queues
}

/// What else decides which way a queue is reached.
struct Beside<'a> {
    /// The directory of the file.
    dir: &'a Path,
    has_status: bool,
    /// Nothing was wrong in the file before.
    is_whole: bool,
    subfolders: Option<bool>,
}

/// The one way by which a queue is reached.
fn way(queue: &ReadFile<WrittenQueue>, facts: &Beside<'_>, problems: &mut Vec<Problem>) -> Option<Way> {
    let Beside { dir: beside, has_status, is_whole, subfolders } = *facts;
    match (&queue.value.http, &queue.value.imap, &queue.value.print) {
        (Some(http), None, None) => {
            if http.socket.is_none() && !has_status {
                let what = "it listens nowhere: mailchute.yaml has no `status`";
                let help = "add `status: {listen: '127.0.0.1:8461'}` to mailchute.yaml, or `socket:` here";
                problems.push(queue.wrong(&["http"], what, help));
            }
            if http.rights.is_empty() {
                problems.push(queue.wrong(&["http", "rights"], "the token would allow nothing", ""));
            }
            Some(Way::Http(HttpWay {
                rights: http.rights.clone(),
                socket: http.socket.as_ref().map(|socket| beside.join(socket)),
                token: http.token.clone().beside(beside),
            }))
        }
        (None, Some(mail), None) => {
            Some(Way::Imap(Box::new(MailWay::of(queue, mail, (beside, subfolders), problems))))
        }
        (None, None, Some(print)) => {
            if print.users.is_empty() {
                problems.push(queue.wrong(&["print", "users"], "nobody may hand in what is printed", ""));
            }
            Some(Way::Print(PrintWay {
                socket: beside.join(print.socket.as_deref().unwrap_or(Path::new(PRINTERS))),
                users: print.users.clone(),
                is_approved: print.release == PrinterRelease::Approval,
            }))
        }
        // It could not be read, and its mistakes were reported.
        (None, None, None) if !is_whole => None,
        (None, None, None) => {
            let what = "nothing comes this way";
            problems.push(queue.wrong(
                &[],
                what,
                "add `http:` for programs, `imap:` for a mailbox, or `print: {}` for a printer",
            ));
            None
        }
        (http, imap, print) => {
            let what = "a queue has one way in, and this one has more";
            let keys = [("http", http.is_some()), ("imap", imap.is_some()), ("print", print.is_some())];
            let last = keys.iter().rfind(|(_, is_there)| *is_there).map_or("print", |(key, _)| key);
            problems.push(queue.wrong(&[last], what, "write a file for each"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_known_by_name_or_number() {
        let passwd = "root:x:0:0::/root:/bin/sh\nlp:x:7:7::/var/spool/lpd:/usr/sbin/nologin\n\nbroken\n";
        let users = ["lp", "1001", "cups", "-1"].map(str::to_owned);
        let (known, unknown) = numbers(&users, passwd);
        assert_eq!((known, unknown), (vec![7, 1001], vec!["cups".to_owned(), "-1".to_owned()]));
    }
}
