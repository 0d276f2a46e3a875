//! Files that people put into `Approve` and `Cancel`: when each has settled, and when one that failed is
//! tried again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use chrono::TimeDelta;

use super::settle::Settling;
use crate::base::backoff::Backoff;

/// A file that cannot be handled is tried again after this wait, which grows.
const AGAIN: Backoff = Backoff::new(TimeDelta::seconds(1), TimeDelta::minutes(5));

#[derive(Debug, Default)]
pub(super) struct LaidFiles {
    /// By the names of those shelves.
    places: HashMap<String, Settling>,
    pub(super) next: Option<TimeDelta>,
    /// Files that could not be handled: how often, and when each is tried again.
    pub(super) failed: HashMap<PathBuf, (u32, TimeDelta)>,
}

impl LaidFiles {
    pub(super) fn next(&self) -> Option<TimeDelta> {
        self.next
    }

    pub(super) fn look_again(&mut self, at: TimeDelta) {
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }

    pub(super) fn of(&mut self, place: &str) -> &mut Settling {
        self.places.entry(place.to_owned()).or_default()
    }

    /// Files that could not be handled, as paths in the folder.
    pub(super) fn failed(&self) -> impl Iterator<Item = &Path> {
        self.failed.keys().map(PathBuf::as_path)
    }

    /// A file failed again. Returns when it is tried again, and whether this is its first failure.
    pub(super) fn fails(&mut self, path: PathBuf, now: TimeDelta) -> (TimeDelta, bool) {
        let (tries, next) = self.failed.entry(path).or_insert((0, now));
        *next = now + AGAIN.wait(*tries);
        *tries += 1;
        (*next, *tries == 1)
    }
}
