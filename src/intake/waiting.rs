//! Which drops wait longer than it takes to settle, and for what.

use std::collections::{HashMap, HashSet};

use chrono::TimeDelta;

use super::settle::{Name, Settling, Stamp};
use crate::config::Folder;
use crate::drop::{pdf_of, sidecars_of};

/// Longer than anything waits.
pub(super) const FOREVER: TimeDelta = TimeDelta::days(36_500);

#[derive(Debug, Default)]
pub(super) struct Waiting {
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

    /// How much longer than to settle.
    pub(super) fn extra(&self, folder: &Folder, name: &[u8], settling: &Settling) -> Option<TimeDelta> {
        if let Some(pdf) = pdf_of(name) {
            // A sidecar goes with its PDF, whenever that comes.
            return Some(if settling.knows(pdf) { TimeDelta::zero() } else { FOREVER });
        }
        let lacks = self.lacking.contains(name) && !sidecars_of(name).any(|sidecar| settling.knows(&sidecar));
        let endless = self.endless.get(name).is_some_and(|stamp| settling.looks(name) == Some(stamp));
        let times = [lacks.then_some(folder.sidecar_within), endless.then_some(folder.incomplete)];
        times.into_iter().flatten().map(|time| TimeDelta::from_std(time).unwrap_or(TimeDelta::MAX)).max()
    }

    /// It has waited: whether it was for a sidecar, and whether for its end.
    pub(super) fn over(&mut self, name: &[u8], stamp: &Stamp) -> (bool, bool) {
        let had_no_end = self.endless.remove(name).is_some_and(|before| before == *stamp);
        (self.lacking.remove(name), had_no_end)
    }
}
