//! The status for the people who run mailchute: one set of facts for the command, the page, the probes and
//! the metrics.
//!
//! What is durable is read from the records. The rest comes from the running daemon.

mod answers;
mod ask;
mod delay;
mod metrics;
mod page;
mod pictures;
mod server;

use std::fmt;
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

pub use ask::ask;
pub use delay::Delay;
pub use pictures::Pictures;
pub use server::{Source, serve};

use crate::base::clock::Time;
use crate::outside::spool::Spool;
use crate::outside::store::{Count, Desk, FolderRow, QueueRow, Since, StoreError};
use crate::words::texts::Names;

/// What only the running daemon knows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Live {
    pub version: String,
    pub since: Time,
    /// Folders are watched, and each account has answered or is known not to.
    pub ready: bool,
    pub accounts: Vec<LiveAccount>,
    pub folders: Vec<LiveFolder>,
    /// The list of postal codes that an administrator gave.
    #[serde(default)]
    pub postal_data: Option<LivePostalData>,
    /// Loops that have been busy with one thing for long, and for how many seconds.
    pub busy: Vec<(String, u64)>,
}

impl Live {
    pub fn folder(&self, name: &str) -> Option<&LiveFolder> {
        self.folders.iter().find(|folder| folder.name == name)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LivePostalData {
    pub file: PathBuf,
    /// `None` if the file was never good in this run.
    pub as_of: Option<NaiveDate>,
    pub codes: usize,
    /// Letters wait because of it: it is younger than six months.
    pub is_recent: bool,
    /// Why the file as it is now cannot be used.
    pub trouble: Option<String>,
}

impl LivePostalData {
    /// What to do about it, if anything.
    pub fn remedy(&self) -> Option<&'static str> {
        if self.trouble.is_some() {
            Some("download Japan Post's utf_ken_all.csv again and put it there whole")
        } else if self.is_recent {
            None
        } else {
            Some(
                "it is older than six months, so another city is only a note: put Japan Post's present one there",
            )
        }
    }
}

impl fmt::Display for LivePostalData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        let in_force = self.as_of.map_or_else(
            || "the one built in is asked".to_owned(),
            |as_of| format!("that of {as_of} stays in force"),
        );
        match (&self.trouble, self.as_of) {
            (Some(why), _) => write!(f, "postal codes: {file} can't be used: {why}; {in_force}"),
            (None, Some(as_of)) => write!(f, "postal codes: {file} of {as_of}, {} codes", self.codes),
            (None, None) => write!(f, "postal codes: {file} was not read yet"),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LiveAccount {
    pub name: String,
    /// Whether it was read in this run.
    pub known: bool,
    pub token_until: Option<Time>,
    pub silent_since: Option<Time>,
    /// Why there is no answer.
    #[serde(default)]
    pub silent_why: Option<String>,
    /// The time until which it is left alone.
    pub rests_until: Option<Time>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LiveFolder {
    pub name: String,
    /// Its path as people know it.
    #[serde(default)]
    pub shown_as: String,
    /// The names of its shelves.
    #[serde(default)]
    pub shelves: Option<Names>,
    pub looked_at: Option<Time>,
    /// How often it was looked at in this run.
    pub looks: u64,
    /// How long its last successful look took.
    #[serde(default)]
    pub look_seconds: f64,
    /// Drops that wait for the sidecar that they need.
    #[serde(default)]
    pub lacking: u64,
    /// Whether the kernel reports what arrives. If not, the folder is polled.
    pub hears: bool,
    pub release: ReleaseMode,
    pub letters_per_day: Option<u32>,
    pub sheets_per_day: Option<u32>,
    /// Since when letters count for these.
    pub day_began: Time,
}

/// When a folder's letters are posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseMode {
    Automatic,
    Approval,
    PostingTimes,
}

/// How much of a folder's daily limits is left today.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limited {
    pub folder: String,
    /// `letters` or `sheets`.
    pub what: String,
    pub of: u32,
    pub left: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Paused {
    pub account: String,
    pub why: String,
    pub since: Time,
    /// When it is next probed by itself.
    pub tried_at: Option<Time>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Alarmed {
    pub cause: String,
    pub detail: String,
    pub since: Time,
}

/// In bytes, where the records are.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Disk {
    pub free: u64,
    pub size: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Facts {
    pub now: Time,
    /// `None` if the daemon is not running.
    pub runs: Option<Live>,
    pub letters: Vec<Count>,
    pub drops_rejected: u64,
    pub drops_held: u64,
    /// In the spool, not taken in yet.
    pub submitted: u64,
    /// Looks that are overdue.
    pub due: u64,
    /// E-mails that must still be sent.
    pub owed: u64,
    /// People's commands that the daemon has not carried out.
    pub orders: u64,
    pub paused: Vec<Paused>,
    pub folders: Vec<FolderRow>,
    #[serde(default)]
    pub queues: Vec<QueueRow>,
    pub limits: Vec<Limited>,
    pub oldest: Option<Since>,
    /// Of those that are posted and have not shipped.
    pub oldest_followed: Option<Since>,
    /// Letters that wait for a person.
    pub held: Vec<Since>,
    pub alarms: Vec<Alarmed>,
    pub disk: Option<Disk>,
}

impl Facts {
    pub fn gather(desk: &Desk, runs: Option<Live>, now: Time) -> Result<Self, StoreError> {
        let totals = desk.totals(now)?;
        let (drops_rejected, drops_held) = desk.undecided()?;
        let paused = desk.paused()?.into_iter().map(|row| Paused {
            account: row.account,
            why: row.pause.cause.to_string(),
            since: row.pause.since,
            tried_at: row.pause.probe_at,
        });
        let alarms = desk.alarms()?.into_iter().filter(|raised| raised.fine_since.is_none());
        let alarms = alarms.map(|raised| Alarmed {
            cause: raised.alarm.to_string(),
            detail: raised.detail,
            since: raised.since,
        });
        Ok(Self {
            now,
            limits: runs.as_ref().map_or(Ok(Vec::new()), |live| limits(desk, live))?,
            runs,
            letters: desk.counts()?,
            drops_rejected,
            drops_held,
            submitted: Spool::open(&desk.home().spool())?.arrived()?.len() as u64,
            due: totals.due,
            owed: totals.owed,
            orders: totals.orders,
            paused: paused.collect(),
            folders: desk.folders()?,
            queues: desk.queues()?,
            oldest: desk.oldest()?,
            oldest_followed: desk.oldest_followed()?,
            held: desk.held()?,
            alarms: alarms.collect(),
            disk: disk(desk.home().dir()),
        })
    }

    /// Letters by state, all folders together.
    pub fn by_state(&self) -> Vec<(&str, u64)> {
        let mut states: Vec<(&str, u64)> = Vec::new();
        for count in &self.letters {
            match states.iter_mut().find(|(state, _)| *state == count.state) {
                Some((_, letters)) => *letters += count.letters,
                None => states.push((&count.state, count.letters)),
            }
        }
        states
    }
}

fn limits(desk: &Desk, live: &Live) -> Result<Vec<Limited>, StoreError> {
    let mut limits = Vec::new();
    for folder in &live.folders {
        if folder.letters_per_day.is_none() && folder.sheets_per_day.is_none() {
            continue;
        }
        let (letters, sheets) = desk.sent_since(&folder.name, folder.day_began)?;
        let limited = |what: &str, of: Option<u32>, sent: u32| {
            let (folder, what) = (folder.name.clone(), what.to_owned());
            of.map(|of| Limited { folder, what, of, left: of.saturating_sub(sent) })
        };
        limits.extend(limited("letters", folder.letters_per_day, letters));
        limits.extend(limited("sheets", folder.sheets_per_day, sheets));
    }
    Ok(limits)
}

/// The socket on which a daemon with this state directory serves the status.
pub fn socket(state: &Path) -> PathBuf {
    state.join("status")
}

pub fn disk(state: &Path) -> Option<Disk> {
    let disk = rustix::fs::statvfs(state).ok()?;
    Some(Disk { free: disk.f_bavail * disk.f_frsize, size: disk.f_blocks * disk.f_frsize })
}
