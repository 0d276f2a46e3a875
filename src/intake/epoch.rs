//! How far our records are is kept in the folders, so that older ones, put back from a backup, are
//! recognised before they post again what was posted since.

use std::time::Duration;

use chrono::TimeDelta;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::IntakeError;
use crate::config::Folder;
use crate::hot::{Hot, epoch_at};
use crate::store::{Epoch, Store};

/// A share that does not answer keeps the others from nothing; it is asked again when it is opened.
const PATIENCE: Duration = Duration::from_secs(5);
/// A file of a line for each of many drops would be too much.
const SELDOM: TimeDelta = TimeDelta::seconds(1);

/// At the start, before anything is posted: no folder knows later records than these.
pub async fn no_older_records(store: &Store, folders: &[Folder]) -> Result<(), IntakeError> {
    let ours = store.epoch()?;
    for folder in folders {
        let path = folder.path.clone();
        let (tell, told) = oneshot::channel();
        // A thread that never ends holds up nobody.
        std::thread::spawn(move || tell.send(epoch_at(&path)));
        let theirs = timeout(PATIENCE, told).await.ok().and_then(Result::ok).and_then(Result::ok).flatten();
        refuse_older(&ours, theirs, folder)?;
    }
    Ok(())
}

/// What can't be read says nothing, and is written anew.
fn refuse_older(ours: &Epoch, theirs: Option<String>, folder: &Folder) -> Result<(), IntakeError> {
    match theirs.and_then(|theirs| theirs.parse::<Epoch>().ok()) {
        Some(theirs) if theirs.is_ahead_of(ours) => Err(IntakeError::OlderRecords(folder.name.clone())),
        Some(_) | None => Ok(()),
    }
}

/// The folder is open now, and may know more than we do.
pub(super) fn compare(store: &Store, folder: &Folder, hot: &Hot) -> Result<(), IntakeError> {
    refuse_older(&store.epoch()?, hot.epoch().ok().flatten(), folder)
}

/// What one folder was told.
#[derive(Debug, Default)]
pub(super) struct Told {
    last: Option<Epoch>,
    due: Option<TimeDelta>,
}

impl Told {
    /// There may be new facts.
    pub(super) fn advanced(&mut self, now: TimeDelta) {
        self.due.get_or_insert(now + SELDOM);
    }

    pub(super) fn due(&self) -> Option<TimeDelta> {
        self.due
    }

    /// Tells the folder what it does not know yet; if that fails, the next look says what is wrong.
    pub(super) fn tell(&mut self, store: &Store, hot: &Hot) -> Result<(), IntakeError> {
        self.due = None;
        let epoch = store.epoch()?;
        if self.last.as_ref() != Some(&epoch) && hot.keep_epoch(&epoch.to_string()).is_ok() {
            self.last = Some(epoch);
        }
        Ok(())
    }
}
