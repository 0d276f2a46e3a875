//! Which drops wait longer than it takes to settle, and for what.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::TimeDelta;

use super::settle::{Name, Settling, Stamp};
use crate::config::Folder;
use crate::drop::{pdf_of, sidecars_of};

#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Sidecars without their PDF, and since when.
    alone: HashMap<Name, TimeDelta>,
    /// They need a sidecar and have none yet.
    lacking: HashSet<Name>,
    /// They had no end when they looked like this: their writer may rest.
    endless: HashMap<Name, Stamp>,
}

impl Waiting {
    pub(super) fn lacks(&mut self, name: Name) {
        self.lacking.insert(name);
    }

    pub(super) fn has_no_end(&mut self, name: Name, stamp: Stamp) {
        self.endless.insert(name, stamp);
    }

    /// Notes which sidecars of a folder lie there without their PDF.
    pub(super) fn lie_alone(&mut self, listing: &[(Name, Stamp)], now: TimeDelta) {
        let names: HashSet<&[u8]> = listing.iter().map(|(name, _)| name.as_slice()).collect();
        let is_alone = |name: &[u8]| pdf_of(name).is_some_and(|pdf| !names.contains(pdf));
        self.alone.retain(|name, _| names.contains(name.as_slice()) && is_alone(name));
        for (name, _) in listing.iter().filter(|(name, _)| is_alone(name)) {
            self.alone.entry(name.clone()).or_insert(now);
        }
    }

    pub(super) fn is_alone(&self, sidecar: &[u8]) -> bool {
        self.alone.contains_key(sidecar)
    }

    /// How much longer than to settle.
    pub(super) fn extra(&self, folder: &Folder, name: &[u8], settling: &Settling) -> Option<TimeDelta> {
        if pdf_of(name).is_some() {
            // A sidecar goes with its PDF; that it lies there alone counts from when it does.
            let alone = self.alone.get(name)?;
            let before = settling.since(name).map_or(TimeDelta::zero(), |since| *alone - since);
            return Some(before.max(TimeDelta::zero()) + time(folder.sidecar_within));
        }
        let lacks = self.lacking.contains(name) && !sidecars_of(name).any(|sidecar| settling.knows(&sidecar));
        let endless = self.endless.get(name).is_some_and(|stamp| settling.looks(name) == Some(stamp));
        let times = [lacks.then_some(folder.sidecar_within), endless.then_some(folder.incomplete)];
        times.into_iter().flatten().map(time).max()
    }

    /// It has waited: whether it was for a sidecar, and whether for its end.
    pub(super) fn over(&mut self, name: &[u8], stamp: &Stamp) -> (bool, bool) {
        let had_no_end = self.endless.remove(name).is_some_and(|before| before == *stamp);
        (self.lacking.remove(name), had_no_end)
    }
}

fn time(configured: Duration) -> TimeDelta {
    TimeDelta::from_std(configured).unwrap_or(TimeDelta::MAX)
}
