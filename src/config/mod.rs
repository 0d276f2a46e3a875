//! What an administrator and a clerk write: `mailchute.yaml`, the folders' rules, addresses, sidecars.
//!
//! A `Config` is valid by construction. All mistakes of all files are reported together, each with its
//! place and remedy, and end a command with status 2. The files name the source of a secret and never contain
//! the secret.

mod build;
mod build_folder;
mod either;
mod email;
mod fields;
mod folder;
mod imap;
mod looser;
mod main_file;
mod notify;
mod on_disk;
mod page;
mod partial;
mod patterns;
mod postal;
mod problem;
mod queue;
mod reader;
mod required;
mod schema;
mod secret;
mod status;
mod strike;
mod text;
mod tree;
mod words;
mod words_people;
mod yaml;
mod yaml_folder;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono_tz::Tz;
pub use email::{DigestTimes, Email, Login, Smtp, TlsStart, Transport};
pub use fields::{FieldMistake, LetterFields};
pub use folder::{Accept, Book, FirstStart, Folder, Keep, LetterKind, Notify, WatchMode};
pub use imap::{MailLetter, MailShelves, MailWay, MayPost};
pub use looser::looser;
pub use main_file::{AccountSettings, read_address, read_receiver, usual_font};
pub use notify::{Hook, HookEvent};
pub use on_disk::FilesOnDisk;
pub use partial::Partial;
pub use postal::PostalFile;
pub use problem::{Problem, Weight};
pub use queue::{HttpWay, PRINTERS, PrintWay, Queue, Right, Way};
pub use schema::{letter_schema, schemas};
pub use status::{Listen, StatusSettings};

use crate::domain::letter::Retry;
use crate::outside::api::Patience;
use crate::words::texts::Language;

const USUAL_PLACES: [&str; 2] = ["mailchute.yaml", "/etc/mailchute/mailchute.yaml"];

#[derive(Debug)]
pub struct Config {
    /// The file it was read from.
    pub file: PathBuf,
    pub state: PathBuf,
    pub accounts: Vec<AccountSettings>,
    pub folders: Vec<Folder>,
    /// The ways into folders besides dropping files.
    pub queues: Vec<Queue>,
    /// How people are notified. `None`: nobody is.
    pub email: Option<Email>,
    /// Where the status is served besides commands.
    pub status: Option<StatusSettings>,
    /// Japan Post's list of postal codes, if there is one.
    pub postal_data: Option<Arc<PostalFile>>,
    /// A font for pictures of pages.
    pub page_font: Option<PathBuf>,
    pub zone: Tz,
    pub language: Language,
    /// The directory of the folders' rules files.
    pub rules_dir: PathBuf,
    pub letters_at_once: usize,
    pub patience: Patience,
    pub retry: Retry,
    /// The stamps of its files just before they were read.
    pub on_disk: FilesOnDisk,
    /// Valid settings that are probably a mistake.
    pub warnings: Vec<Problem>,
}

/// Files that cannot be used, with all their mistakes.
#[derive(Debug)]
pub struct ConfigError {
    pub problems: Vec<Problem>,
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl ConfigError {
    fn one(file: &Path, what: impl Into<String>) -> Self {
        Self { problems: vec![Problem::of_file(file, what)] }
    }

    /// For a terminal: every problem, and the number of problems.
    pub fn render(&self, colour: bool) -> String {
        let mut files: Vec<&Path> = self.problems.iter().map(Problem::file).collect();
        files.sort_unstable();
        files.dedup();
        let errors = self.problems.iter().filter(|problem| problem.is_error()).count();
        let mut text: Vec<String> = self.problems.iter().map(|problem| problem.render(colour)).collect();
        text.push(format!("{errors} mistake(s) in {} file(s)", files.len()));
        text.join("\n\n")
    }
}

fn given_or_usual(given: Option<&Path>) -> Option<&Path> {
    given.or_else(|| USUAL_PLACES.iter().map(Path::new).find(|path| path.exists()))
}

impl Config {
    /// Reads the given file, or the first of the usual ones that exists, and the folders' rules.
    pub fn find(given: Option<&Path>) -> Result<Self, ConfigError> {
        let file = given_or_usual(given).ok_or_else(|| {
            let why =
                "it does not exist; `mailchute init DIR` writes one to start from, --config FILE names another";
            ConfigError::one(Path::new(USUAL_PLACES[0]), why)
        })?;
        Self::read(file)
    }

    /// What can be read of the same file although it has mistakes.
    pub fn find_partial(given: Option<&Path>) -> Partial {
        given_or_usual(given).map(Partial::read).unwrap_or_default()
    }

    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let on_disk = FilesOnDisk::look(file);
        let config = main_file::read(file, &mut problems);
        match config {
            Some(config) if !problems.iter().any(Problem::is_error) => {
                Ok(Self { on_disk, warnings: problems, ..config })
            }
            Some(_) | None => Err(ConfigError { problems }),
        }
    }

    /// A command that the service manager did not start reads its credentials from where the service manager would.
    #[must_use]
    pub fn with_credentials_of(mut self, find: &dyn Fn(&str) -> Option<PathBuf>) -> Self {
        self.accounts.iter_mut().for_each(|account| account.lend(find));
        if let Some(Email { transport: Transport::Smtp(Smtp { login: Some(login), .. }), .. }) =
            &mut self.email
        {
            login.lend(find);
        }
        self.queues.iter_mut().for_each(|queue| queue.lend(find));
        for hook in self.folders.iter_mut().flat_map(|folder| &mut folder.notify.hooks) {
            Arc::make_mut(hook).lend(find);
        }
        self
    }

    /// The parts that only a new start can change: accounts, network, records, status address, queues.
    pub fn fixed(&self) -> String {
        let Self { state, accounts, status, queues, letters_at_once, patience, retry, .. } = self;
        let tokens: Vec<Option<String>> = queues.iter().map(|queue| queue.identity().ok()).collect();
        format!(
            "{} {accounts:?} {status:?} {queues:?} {tokens:?} {letters_at_once} {patience:?} {retry:?}",
            state.display()
        )
    }

    pub fn folder(&self, name: &str) -> Option<&Folder> {
        self.folders.iter().find(|folder| folder.name == name)
    }
}
