//! A queue: a way into a folder besides dropping files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::ConfigError;
use super::folder::Folder;
use super::page::{self, ReadFile};
use super::problem::Problem;
use super::secret::SecretSource;
use super::yaml;
use crate::base::secret::Secret;

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

/// A queue that programs use by HTTP.
#[derive(Debug, Clone, PartialEq)]
pub struct Queue {
    pub name: String,
    /// The folder whose rules decide.
    pub into: String,
    /// The user who counts as the owner of what comes.
    pub owner: Option<u32>,
    pub rights: Vec<Right>,
    /// A socket of its own. Otherwise it is where the status is served.
    pub socket: Option<PathBuf>,
    token: SecretSource,
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
    pub http: WrittenDoor,
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

fn usual_rights() -> Vec<Right> {
    vec![Right::Post, Right::Cancel]
}

impl Queue {
    /// Whether its token comes from the service manager, and this process was not started by it.
    pub fn is_elsewhere(&self) -> bool {
        self.token.is_elsewhere()
    }

    pub(super) fn lend(&mut self, find: &dyn Fn(&str) -> Option<PathBuf>) {
        self.token.lend(find);
    }

    /// Reads its token.
    fn token(&self) -> Result<Secret, ConfigError> {
        let setting = format!("the token of queue {}", self.name);
        let token = self.token.fetch(&setting)?;
        let is_good = token.expose().len() >= SHORTEST_TOKEN
            && token.expose().bytes().all(|byte| byte.is_ascii_graphic());
        let why = "it is too short, or has characters that a header can't have: draw it with `openssl rand -base64 32`";
        if is_good { Ok(token) } else { Err(ConfigError::one(Path::new(&setting), why.to_owned())) }
    }

    /// The hash of its token, by which records know the queue, whatever its name.
    pub fn token_hash(&self) -> Result<String, ConfigError> {
        Ok(hex::encode(Sha256::digest(self.token()?.expose().as_bytes())))
    }
}

/// Reads the queues' files. `known` are the names of all folders, also of those with mistakes.
pub(super) fn read_all(
    written: &ReadFile<yaml::Main>,
    files: &[PathBuf],
    (folders, known): (&[Folder], &[String]),
    problems: &mut Vec<Problem>,
) -> Vec<Queue> {
    let mut queues = Vec::new();
    let mut sockets: BTreeMap<PathBuf, String> = BTreeMap::new();
    for file in files {
        let Some(queue) = page::read::<WrittenQueue>(file, problems) else { continue };
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let beside = file.parent().unwrap_or(Path::new(""));
        let WrittenQueue { into, owner, http } = &queue.value;
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
        let socket = http.socket.as_ref().map(|socket| beside.join(socket));
        if socket.is_none() && written.value.status.is_none() {
            let what = "it listens nowhere: mailchute.yaml has no `status`";
            let help = "add `status: {listen: '127.0.0.1:8461'}` to mailchute.yaml, or `socket:` here";
            problems.push(queue.wrong(&["http"], what, help));
        }
        if let Some(other) = socket.as_ref().and_then(|socket| sockets.insert(socket.clone(), name.clone())) {
            let what = format!("the queue `{other}` listens on this socket");
            problems.push(queue.wrong(&["http", "socket"], what, "give each a socket of its own"));
        }
        if http.rights.is_empty() {
            problems.push(queue.wrong(&["http", "rights"], "the token would allow nothing", ""));
        }
        queues.push(Queue {
            name,
            into: into.clone(),
            owner: *owner,
            rights: http.rights.clone(),
            socket,
            token: http.token.clone().beside(beside),
        });
    }
    queues
}
