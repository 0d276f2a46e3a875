//! How everything stands, for those who look after it: one set of facts, for the command, the probes and
//! the metrics.
//!
//! What is durable is read from the records; what only the running daemon knows it says itself.

mod ask;
mod metrics;
mod server;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use ask::ask;
pub use server::{Source, serve};

use crate::clock::Time;
use crate::spool::Spool;
use crate::store::{Count, Desk, Since, StoreError};

/// What only the running daemon knows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Live {
    pub version: String,
    pub since: Time,
    /// Folders are watched, and each account has answered or is known not to.
    pub ready: bool,
    pub accounts: Vec<LiveAccount>,
    pub folders: Vec<LiveFolder>,
    /// Loops that have been at one thing for long, and for how many seconds.
    pub busy: Vec<(String, u64)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LiveAccount {
    pub name: String,
    /// Whether it was read in this run.
    pub known: bool,
    pub token_until: Option<Time>,
    pub silent_since: Option<Time>,
    /// Until when it is left alone.
    pub rests_until: Option<Time>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LiveFolder {
    pub name: String,
    pub looked_at: Option<Time>,
    /// Whether the kernel tells of what arrives; else it is looked for.
    pub hears: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Paused {
    pub account: String,
    pub why: String,
    pub since: Time,
    /// When it is tried by itself.
    pub tried_at: Option<Time>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FolderFacts {
    pub folder: String,
    pub path: String,
    /// Why nothing is taken from it at present.
    pub trouble: Option<String>,
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
    /// None if the daemon does not run.
    pub runs: Option<Live>,
    pub letters: Vec<Count>,
    pub drops_rejected: u64,
    pub drops_held: u64,
    /// In the spool, not taken in yet.
    pub submitted: u64,
    /// Looks that are late by now.
    pub due: u64,
    /// Messages that somebody must still get.
    pub owed: u64,
    /// Orders that the daemon has not carried out.
    pub orders: u64,
    pub paused: Vec<Paused>,
    pub folders: Vec<FolderFacts>,
    pub oldest: Option<Since>,
    /// Letters that wait for a person.
    pub held: Vec<Since>,
    pub alarms: Vec<Alarmed>,
    pub disk: Option<Disk>,
}

impl Facts {
    pub fn gather(state: &Path, runs: Option<Live>, now: Time) -> Result<Self, StoreError> {
        let desk = Desk::open(state)?;
        let totals = desk.totals(now)?;
        let (drops_rejected, drops_held) = desk.undecided()?;
        let paused = desk.paused()?.into_iter().map(|row| Paused {
            account: row.account,
            why: row.pause.cause.to_string(),
            since: row.pause.since,
            tried_at: row.pause.probe_at,
        });
        let folders = desk.folders()?.into_iter().map(|row| FolderFacts {
            folder: row.folder,
            path: row.path,
            trouble: row.trouble,
        });
        let alarms = desk.alarms()?.into_iter().filter(|raised| raised.fine_since.is_none());
        let alarms = alarms.map(|raised| Alarmed {
            cause: raised.alarm.to_string(),
            detail: raised.detail,
            since: raised.since,
        });
        Ok(Self {
            now,
            runs,
            letters: desk.counts()?,
            drops_rejected,
            drops_held,
            submitted: Spool::open(&desk.home().spool())?.arrived()?.len() as u64,
            due: totals.due,
            owed: totals.owed,
            orders: totals.orders,
            paused: paused.collect(),
            folders: folders.collect(),
            oldest: desk.oldest()?,
            held: desk.held()?,
            alarms: alarms.collect(),
            disk: disk(state),
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

/// Where a daemon with this state directory tells how things stand.
pub fn socket(state: &Path) -> PathBuf {
    state.join("status")
}

pub fn disk(state: &Path) -> Option<Disk> {
    let disk = rustix::fs::statvfs(state).ok()?;
    Some(Disk { free: disk.f_bavail * disk.f_frsize, size: disk.f_blocks * disk.f_frsize })
}
