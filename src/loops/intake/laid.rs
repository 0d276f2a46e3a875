//! Files that people laid where letters are approved and cancelled: when each is still, and when one that could not
//! be taken up is tried again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use chrono::TimeDelta;

use super::settle::Settling;
use crate::base::backoff::Backoff;

/// What can't be taken up is tried again after this, and then more and more seldom.
const AGAIN: Backoff = Backoff::new(TimeDelta::seconds(1), TimeDelta::minutes(5));

#[derive(Debug, Default)]
pub(super) struct Hands {
    /// By the names of the shelves where files are laid.
    places: HashMap<String, Settling>,
    pub(super) next: Option<TimeDelta>,
    /// What could not be taken up: how often, and when it is tried again.
    pub(super) failed: HashMap<PathBuf, (u32, TimeDelta)>,
}

impl Hands {
    pub(super) fn next(&self) -> Option<TimeDelta> {
        self.next
    }

    pub(super) fn of(&mut self, place: &str) -> &mut Settling {
        self.places.entry(place.to_owned()).or_default()
    }

    /// What could not be taken up, as paths in the folder.
    pub(super) fn failed(&self) -> impl Iterator<Item = &Path> {
        self.failed.keys().map(PathBuf::as_path)
    }

    /// It failed once more; gives when it is tried again, and whether that is news.
    pub(super) fn fails(&mut self, path: PathBuf, now: TimeDelta) -> (TimeDelta, bool) {
        let (tries, next) = self.failed.entry(path).or_insert((0, now));
        *next = now + AGAIN.wait(*tries);
        *tries += 1;
        (*next, *tries == 1)
    }
}
