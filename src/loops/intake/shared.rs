//! What every worker of intake uses.

use std::collections::BTreeSet;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use foldhash::quality::RandomState;

use super::alone::Alone;
use super::books::Books;
use super::held_up::UnsettledRules;
use super::postal::PostalList;
use super::rival::Markers;
use crate::base::bells::Bells;
use crate::base::clock::Clock;
use crate::config::Folder;
use crate::loops::folders::Registry;
use crate::outside::hot::{Hot, Reach};
use crate::outside::pdf::Inspector;
use crate::outside::spool::{Spool, Ulid};
use crate::outside::store::Store;

/// What every worker uses.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Arc<Store>,
    pub(super) spool: Arc<Spool>,
    pub(super) registry: Arc<Registry>,
    pub(super) inspector: Inspector,
    pub(super) clock: Clock,
    /// Claims that must be decided again.
    pub(super) again: Mutex<Vec<(String, String)>>,
    pub(super) books: Books,
    pub(super) postal_list: Arc<PostalList>,
    pub(super) alone: Alone,
    pub(super) reach: Arc<Reach>,
    pub(super) markers: Markers,
    /// Folders that had a rival at their last look.
    pub(super) rivals: Mutex<BTreeSet<String>>,
    pub(super) unsettled_rules: Mutex<UnsettledRules>,
    marks: RandomState,
    /// The last name that was given.
    last_ulid: Mutex<Option<Ulid>>,
    /// An entry waits in the spool.
    pub(super) bells: Bells,
}

/// How long a drop must be unchanged in a folder.
pub(super) fn settle_time(folder: &Folder, hot: &Hot) -> Duration {
    let usual = Duration::from_secs(if hot.is_remote() { 15 } else { 5 });
    folder.settle.unwrap_or(usual)
}

/// When to look again after at most `wait`: slightly earlier, at a moment at which others are looked at too.
pub(super) fn together(now: TimeDelta, wait: TimeDelta) -> TimeDelta {
    let grid = (wait / 5).num_milliseconds().max(1);
    let moment = (now + wait).num_milliseconds() / grid * grid;
    TimeDelta::milliseconds(moment).max(now + wait / 2)
}

impl Shared {
    pub(super) fn new(
        store: Arc<Store>,
        spool: Spool,
        registry: Arc<Registry>,
        inspector: Inspector,
        reach: Arc<Reach>,
        clock: Clock,
        bells: &Bells,
    ) -> Self {
        Self {
            store,
            spool: Arc::new(spool),
            registry,
            inspector,
            reach,
            markers: Markers::default(),
            clock,
            again: Mutex::default(),
            books: Books::default(),
            postal_list: Arc::default(),
            alone: Alone::default(),
            rivals: Mutex::default(),
            unsettled_rules: Mutex::default(),
            marks: RandomState::default(),
            last_ulid: Mutex::default(),
            bells: bells.clone(),
        }
    }

    /// A hash by which bytes are recognized that were read a moment before, in the same run. It is much faster than a
    /// SHA-256, but no proof against somebody who looks for two files with one hash: it may only spare work.
    pub(super) fn mark(&self, bytes: &[u8]) -> u64 {
        self.marks.hash_one(bytes)
    }

    /// Lets a claim be decided, or decided again.
    pub(super) fn rest(&self, folder: &str, claim: &str) {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        again.push((folder.to_owned(), claim.to_owned()));
    }

    /// A new name. The drop that is claimed first has the smaller name and becomes a letter first.
    pub(super) fn new_ulid(&self) -> Option<Ulid> {
        let mut last = self.last_ulid.lock().unwrap_or_else(PoisonError::into_inner);
        let new = Ulid::after(last.as_ref(), self.clock.now()).ok()?;
        *last = Some(new.clone());
        Some(new)
    }
}
