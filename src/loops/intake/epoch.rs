//! Stores in each folder how many facts our records have, so that older records, put back from a backup, are
//! recognised. A start asks every folder that answers; the others are asked when they are back.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::IntakeError;
use super::open::NotOpened;
use crate::config::Folder;
use crate::outside::hot::{Away, Hot, Keeper, Reach, this_process};
use crate::outside::store::{Epoch, Epochs, Store};

/// How long a start waits for the folders. One that does not answer is asked again when it is opened.
const PATIENCE: Duration = Duration::from_secs(1);
/// The minimum time between two writes, so that not every drop causes one.
const SELDOM: TimeDelta = TimeDelta::seconds(1);

/// The owner of a folder's lock while these records are used there.
pub(super) fn keeper(store: &Store) -> Result<Keeper, IntakeError> {
    let (records, run) = store.names()?;
    let (records, run, state) = (records.to_string(), run.to_string(), store.home().dir().to_owned());
    Ok(Keeper { records, run, state, daemon: this_process(), holder: String::new() })
}

/// At the start, before anything is posted: checks that no folder knows later records than these, and that
/// none is used with a copy of them.
pub async fn no_other_records(
    reach: &Arc<Reach>,
    store: &Store,
    folders: &[Folder],
) -> Result<(), IntakeError> {
    let ours = keeper(store)?;
    let ask = |folder: &Folder| {
        let (reach, path, ours) = (Arc::clone(reach), folder.path.clone(), ours.clone());
        let (tell, told) = oneshot::channel();
        // All folders are asked at the same time.
        std::thread::spawn(move || drop(tell.send((reach.epoch_at(&path), reach.twin_at(&path, &ours)))));
        told
    };
    let asked: Vec<_> = folders.iter().map(ask).collect();
    let until = Instant::now() + PATIENCE;
    for (folder, told) in folders.iter().zip(asked) {
        let Ok(Ok((epoch, twin))) = timeout_at(until, told).await else { continue };
        if let Some(twin) = twin.ok().flatten() {
            return Err(IntakeError::Twin { folder: folder.name.clone(), state: twin.state });
        }
        let theirs = Epochs::read(&epoch.ok().flatten().unwrap_or_default());
        if store.is_older_than(&theirs)? {
            return Err(IntakeError::OlderRecords(folder.name.clone()));
        }
    }
    Ok(())
}

/// What was written into one folder.
#[derive(Debug, Default)]
pub(super) struct ToldEpoch {
    known: Epochs,
    last: Option<Epoch>,
    due: Option<TimeDelta>,
}

impl ToldEpoch {
    /// For a folder that was just opened, unless that folder knows more facts than we do.
    pub(super) fn by(store: &Store, folder: &Folder, hot: &Hot) -> Result<Self, NotOpened> {
        // Content that exists and cannot be read must not be overwritten.
        let known = Epochs::read(&hot.epoch().map_err(Away::closed)?.unwrap_or_default());
        if store.is_older_than(&known)? {
            return Err(IntakeError::OlderRecords(folder.name.clone()).into());
        }
        Ok(Self { known, last: None, due: None })
    }

    /// There may be new facts.
    pub(super) fn advanced(&mut self, now: TimeDelta) {
        self.due.get_or_insert(now + SELDOM);
    }

    pub(super) fn is_due(&self, now: TimeDelta) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// When it is written next, if it must be.
    pub(super) fn due(&self, now: TimeDelta) -> Option<TimeDelta> {
        self.due.filter(|due| *due > now)
    }

    /// Checks whether there are facts that the folder does not know.
    pub(super) fn compare(&mut self, store: &Store, now: TimeDelta) -> Result<(), IntakeError> {
        if self.last.as_ref() != Some(&store.epoch()?) {
            self.advanced(now);
        }
        Ok(())
    }

    /// Writes what the folder does not know yet, when it is time.
    pub(super) fn tell(&mut self, store: &Store, hot: &Hot, now: TimeDelta) -> Result<(), IntakeError> {
        if self.due.is_none_or(|due| due > now) {
            return Ok(());
        }
        self.due = None;
        let epoch = store.epoch()?;
        if self.last.as_ref() != Some(&epoch) {
            self.known.told(epoch.clone());
            // If there is no room, it is tried again with the next look.
            self.last = hot.keep_epoch(&self.known.to_string()).is_ok().then_some(epoch);
        }
        Ok(())
    }
}
