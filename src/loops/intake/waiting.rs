//! Which drops wait longer than their settle time, and for what.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::TimeDelta;

use super::settle::{Name, Settling, Stamp};
use crate::config::Folder;
use crate::domain::drop::{forms_of, is_pdf, pdf_of, sidecars_in_any_form};

/// A writer that wrote a PDF in more steps than this, each after a pause, may write another one.
const STEPS: u32 = 2;

#[derive(Debug, Default)]
pub(super) struct WaitingDrops {
    /// Sidecars without their PDF, and since when.
    alone: HashMap<Name, TimeDelta>,
    /// Those of them that wait for their PDF, since none was taken in without them.
    awaiting: HashSet<Name>,
    /// Sidecars that lay alone at some look, while they are there. Those of the first look may have lain alone before it.
    came_alone: HashSet<Name>,
    has_looked: bool,
    /// Drops that need a sidecar and have none yet.
    lacking: HashSet<Name>,
    /// PDFs that had no end at this stamp: their writer may be pausing.
    endless: HashMap<Name, Stamp>,
    /// How often each grew after a pause.
    steps: HashMap<Name, u32>,
    /// PDFs that grew after they had an end, or in several steps: a scanner may append more pages.
    appended: HashSet<Name>,
}

impl WaitingDrops {
    pub(super) fn lacks(&mut self, name: Name) {
        self.lacking.insert(name);
    }

    /// The number of drops that wait for their sidecar.
    pub(super) fn lacking(&self, settling: &Settling) -> u64 {
        self.lacking.iter().filter(|name| settling.knows(name)).count() as u64
    }

    pub(super) fn has_no_end(&mut self, name: Name, stamp: Stamp) {
        self.endless.insert(name, stamp);
    }

    /// Notes which sidecars lie in the folder without their PDF.
    pub(super) fn lie_alone(&mut self, listing: &[(Name, Stamp)], now: TimeDelta) {
        let names: HashSet<&[u8]> = listing.iter().map(|(name, _)| name.as_slice()).collect();
        let lies = |pdf: &[u8]| forms_of(pdf).iter().any(|form| names.contains(form.as_slice()));
        let is_alone = |name: &[u8]| pdf_of(name).is_some_and(|pdf| !lies(pdf));
        self.alone.retain(|name, _| names.contains(name.as_slice()) && is_alone(name));
        self.awaiting.retain(|name| self.alone.contains_key(name));
        self.came_alone.retain(|name| names.contains(name.as_slice()));
        if !self.has_looked {
            let sidecars = listing.iter().filter(|(name, _)| pdf_of(name).is_some());
            self.came_alone.extend(sidecars.map(|(name, _)| name.clone()));
            self.has_looked = true;
        }
        for (name, _) in listing.iter().filter(|(name, _)| is_alone(name)) {
            self.alone.entry(name.clone()).or_insert(now);
            self.came_alone.insert(name.clone());
        }
    }

    /// Whether a sidecar was there before its PDF.
    pub(super) fn came_alone(&self, sidecar: &[u8]) -> bool {
        self.came_alone.contains(sidecar)
    }

    /// Notes which PDFs grew since the last look, and whether they were whole before. `had_end` says whether
    /// a file has the end of a PDF at an offset.
    pub(super) fn grow(
        &mut self,
        listing: &[(Name, Stamp)],
        (settling, settle): (&Settling, Duration),
        now: TimeDelta,
        had_end: impl Fn(&[u8], u64) -> bool,
    ) {
        let names: HashSet<&[u8]> = listing.iter().map(|(name, _)| name.as_slice()).collect();
        self.steps.retain(|name, _| names.contains(name.as_slice()));
        self.appended.retain(|name| names.contains(name.as_slice()));
        for (name, stamp) in listing.iter().filter(|(name, stamp)| is_pdf(name) && stamp.kind.is_none()) {
            let endless = self.endless.get(name).map(|before| (before, true));
            let rested = settling.since(name).is_some_and(|since| now - since > time(settle));
            let Some((before, rested)) = settling.looks(name).map(|before| (before, rested)).or(endless)
            else {
                continue;
            };
            if before.inode != stamp.inode || before.size >= stamp.size {
                continue;
            }
            let steps = self.steps.entry(name.clone()).or_default();
            *steps += u32::from(rested);
            if *steps > STEPS || had_end(name, before.size) {
                self.appended.insert(name.clone());
            }
        }
    }

    pub(super) fn is_alone(&self, sidecar: &[u8]) -> bool {
        self.alone.contains_key(sidecar)
    }

    /// A sidecar that lies alone is finished. Returns whether its wait begins now.
    pub(super) fn is_first_asked(&mut self, sidecar: &Name) -> bool {
        self.awaiting.insert(sidecar.clone())
    }

    /// The wait in addition to the settle time.
    pub(super) fn extra(&self, folder: &Folder, name: &[u8], settling: &Settling) -> Option<TimeDelta> {
        if pdf_of(name).is_some() {
            // A sidecar goes with its PDF. Its wait counts from when it lies there alone.
            let alone = self.alone.get(name).filter(|_| self.awaiting.contains(name))?;
            let before = settling.since(name).map_or(TimeDelta::zero(), |since| *alone - since);
            return Some(before.max(TimeDelta::zero()) + time(folder.sidecar_within));
        }
        let has_sidecar = || {
            sidecars_in_any_form(name, |form| settling.knows(form)).iter().any(|name| settling.knows(name))
        };
        let lacks = self.lacking.contains(name) && !has_sidecar();
        let endless = self.endless.get(name).is_some_and(|stamp| settling.looks(name) == Some(stamp));
        let may_grow = endless || self.appended.contains(name);
        let times = [lacks.then_some(folder.sidecar_within), may_grow.then_some(folder.incomplete)];
        times.into_iter().flatten().map(time).max()
    }

    /// Its wait is over. Returns whether it waited for a sidecar, and whether for its end.
    pub(super) fn over(&mut self, name: &[u8], stamp: &Stamp) -> (bool, bool) {
        let was_appended = self.appended.remove(name);
        let had_no_end = self.endless.remove(name).is_some_and(|before| before == *stamp);
        (self.lacking.remove(name), had_no_end || was_appended)
    }
}

fn time(configured: Duration) -> TimeDelta {
    TimeDelta::from_std(configured).unwrap_or(TimeDelta::MAX)
}
