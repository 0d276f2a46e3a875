//! A folder with its rules, valid by construction.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::Deserialize;

use super::build::Build;
use super::notify::Hook;
use super::page::{self, ReadFile};
use super::patterns::{Glob, Patterns};
use super::postal::PostalFile;
use super::problem::Problem;
use super::yaml_folder as yaml;
use crate::base::clock::{CronLine, Time, day_begins};
use crate::domain::address::Address;
use crate::domain::address_book::{AddressBook, Columns, RowMistake};
use crate::domain::limits::Terms;
use crate::domain::rules::{Rules, Sidecar};
use crate::outside::disk::Mounts;
use crate::words::message::Mailbox;
use crate::words::texts::{Language, Names};

/// The maximum number of mistakes reported of one sidecar.
const MOST_TOLD: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WatchMode {
    #[default]
    Auto,
    Events,
    Poll,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LetterKind {
    #[default]
    File,
    Subfolder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FirstStart {
    #[default]
    Hold,
    Take,
}

/// Whether drops are taken in: written `yes` and `no`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Accept {
    #[default]
    Yes,
    /// The folder is being retired. Orders about its letters are obeyed, and the letters continue.
    No,
}

#[derive(Debug)]
pub struct Folder {
    /// The name of its rules file without the ending, which is the folder's name everywhere.
    pub name: String,
    /// Its rules file.
    pub file: PathBuf,
    pub path: PathBuf,
    /// The path by which people know it, if that is another one.
    pub(super) shown_as: Option<String>,
    pub accept: Accept,
    pub mode: WatchMode,
    /// If missing, it depends on the kind of file system.
    pub settle: Option<Duration>,
    pub poll: Option<Duration>,
    /// How long a drop that may be incomplete must be unchanged before it is decided.
    pub incomplete: Duration,
    pub ignore: Vec<Arc<Glob>>,
    pub letter: LetterKind,
    pub first_start: FirstStart,
    pub sidecar_within: Duration,
    pub rules: Rules,
    pub book: Option<Book>,
    pub names: Names,
    pub language: Language,
    pub zone: Tz,
    pub postal_data: Option<Arc<PostalFile>>,
    pub notify: Notify,
    pub keep: Keep,
    /// The place of `notify` in the file, if there is one.
    pub(super) notify_at: Option<Problem>,
    pub(super) terms: FolderTerms,
    pub(super) addresses: Addresses,
    /// The place of `path` in the file, for mistakes about the path.
    pub(super) path_at: Problem,
}

/// Who is notified of what.
#[derive(Debug, Default, PartialEq)]
pub struct Notify {
    pub shipped: Vec<Mailbox>,
    pub rejected: Vec<Mailbox>,
    pub held: Vec<Mailbox>,
    pub cancelled: Vec<Mailbox>,
    pub card_declined: Vec<Mailbox>,
    /// Programs that are notified.
    pub hooks: Vec<Arc<Hook>>,
}

impl Notify {
    /// Whether anybody is to get an e-mail.
    pub(super) fn has_people(&self) -> bool {
        let Self { shipped, rejected, held, cancelled, card_declined, hooks: _ } = self;
        [shipped, rejected, held, cancelled, card_declined].iter().any(|people| !people.is_empty())
    }
}

/// What is kept, and how long after a letter has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    pub sealed_pdf: bool,
    pub spool: Duration,
    pub originals: Option<Duration>,
    pub history: Option<Duration>,
}

/// Senders by name.
pub(super) type Addresses = Arc<BTreeMap<String, Address>>;

#[derive(Debug)]
pub(super) struct FolderTerms {
    pub(super) approval: bool,
    pub(super) duplicates: Option<Duration>,
    pub(super) letters_per_day: Option<u32>,
    pub(super) sheets_per_day: Option<u32>,
    pub(super) burst: Option<(u32, u64)>,
    /// The posting times, if letters wait for them.
    pub(super) posting: Option<CronLine>,
}

/// Where an address book is, and how it is read.
#[derive(Debug)]
pub struct Book {
    pub file: PathBuf,
    pub columns: Columns,
    /// How long it must be unchanged before it counts.
    pub settle: Duration,
}

impl Book {
    /// Reads the book as it is now. `Err` if it cannot be used at all.
    pub fn read(&self) -> Result<(AddressBook, Vec<RowMistake>), String> {
        self.parse(&fs_err::read(&self.file).map_err(|error| error.to_string())?)
    }

    /// Parses the bytes of the book. `Err` if it cannot be used at all.
    pub fn parse(&self, bytes: &[u8]) -> Result<(AddressBook, Vec<RowMistake>), String> {
        let file = self.file.display();
        AddressBook::read(bytes, &self.columns).map_err(|why| format!("{file}: {why}"))
    }
}

/// What is needed to read a folder's rules file.
#[derive(Debug)]
pub(super) struct Around {
    /// `None` if mailchute.yaml cannot be read.
    pub(super) accounts: Option<Vec<String>>,
    pub(super) addresses: Addresses,
    /// Named senders that exist but have mistakes of their own.
    pub(super) unusable: Option<Vec<String>>,
    pub(super) language: Language,
    pub(super) zone: Tz,
    pub(super) postal_data: Option<Arc<PostalFile>>,
    pub(super) patterns: Patterns,
}

impl Around {
    /// For a file that is read by itself.
    pub(super) fn nothing() -> Self {
        Self {
            accounts: None,
            addresses: Arc::default(),
            unusable: None,
            language: Language::default(),
            zone: Tz::Asia__Tokyo,
            postal_data: None,
            patterns: Patterns::default(),
        }
    }
}

impl Folder {
    /// Its path as people know it.
    pub fn shown_as(&self) -> String {
        self.shown_as.clone().unwrap_or_else(|| self.path.display().to_string())
    }

    /// The paths on disks without which nothing is taken in: the directory and the address book.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let book = self.book.as_ref().map(|book| book.file.as_path());
        [Some(self.path.as_path()), book].into_iter().flatten()
    }

    /// Reads one rules file. Mistakes go into `problems`.
    pub(super) fn read(file: &Path, around: &Around, problems: &mut Vec<Problem>) -> Option<Self> {
        let before = problems.iter().filter(|problem| problem.is_error()).count();
        let written: ReadFile<yaml::Folder> = page::read(file, problems)?;
        let folder = Build { written: &written, around, problems }.folder(file);
        let after = problems.iter().filter(|problem| problem.is_error()).count();
        folder.filter(|_| after == before)
    }

    /// The terms for a letter that is taken in now.
    pub fn terms(&self, now: Time) -> Terms {
        let terms = &self.terms;
        let since = |length: Duration| now.checked_sub_signed(chrono::TimeDelta::from_std(length).ok()?);
        Terms {
            approval: terms.approval,
            owner_not_proved: false,
            duplicates_since: terms.duplicates.and_then(since),
            letters_per_day: terms.letters_per_day,
            sheets_per_day: terms.sheets_per_day,
            burst: terms.burst,
            day_began: day_begins(now.with_timezone(&self.zone).date_naive(), self.zone),
        }
    }

    /// The posting times, if letters wait for them.
    pub fn posting_times(&self) -> Option<&CronLine> {
        self.terms.posting.as_ref()
    }

    /// The posting time of a letter that is taken in now, if it has one.
    pub fn waits_until(&self, now: Time) -> Option<Time> {
        self.terms.posting.as_ref()?.next(now, self.zone)
    }

    /// Reads the content of a sidecar. The error has one line for each mistake.
    pub fn sidecar(&self, name: &str, bytes: Vec<u8>) -> Result<Sidecar, String> {
        let (sidecar, problems) = self.read_sidecar(Path::new(name), bytes);
        match sidecar {
            Some(sidecar) if problems.is_empty() => Ok(sidecar),
            Some(_) | None => {
                let mut lines: Vec<String> =
                    problems.iter().take(MOST_TOLD).map(Problem::in_a_line).collect();
                if let Some(more) = problems.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
                    lines.push(format!("and {more} more"));
                }
                Err(lines.join("; "))
            }
        }
    }

    /// The mistakes of a sidecar with their places in its text.
    pub(super) fn sidecar_mistakes(
        &self,
        file: &Path,
        bytes: Vec<u8>,
    ) -> Vec<(Option<Range<usize>>, String)> {
        let (sidecar, problems) = self.read_sidecar(file, bytes);
        let mut told: Vec<_> = problems.into_iter().map(Problem::told).collect();
        if sidecar.is_none() && told.is_empty() {
            told.push((None, "it can't be read".to_owned()));
        }
        told
    }

    fn read_sidecar(&self, file: &Path, bytes: Vec<u8>) -> (Option<Sidecar>, Vec<Problem>) {
        let mut problems = Vec::new();
        let around = Around {
            addresses: Arc::clone(&self.addresses),
            unusable: Some(Vec::new()),
            language: self.language,
            zone: self.zone,
            ..Around::nothing()
        };
        let written: Option<ReadFile<yaml::Sidecar>> = page::read_bytes(file, bytes, &mut problems);
        let sidecar = written.and_then(|written| {
            Build { written: &written, around: &around, problems: &mut problems }.sidecar()
        });
        problems.retain(Problem::is_error);
        (sidecar, problems)
    }
}

/// An absolute path without `.` and `..`, with links resolved if it exists. A file system that may not answer
/// is not asked.
pub(super) fn real(path: &Path) -> PathBuf {
    let mut absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match Mounts::now().resolve(&absolute) {
        (path, true) => absolute = path,
        (_, false) => {
            if let Ok(real) = absolute.canonicalize() {
                return real;
            }
        }
    }
    absolute.components().fold(PathBuf::new(), |mut clean, part| {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(part),
        }
        clean
    })
}
