//! How much is tried at once.

use std::time::{Duration, Instant};

use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::{Budget, TakingIn};

/// Whether the lock in a folder keeps a second daemon out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locks {
    Work,
    /// The share says that it knows none.
    None,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a circumstance of its own")]
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub name: &'static str,
    pub daemons: usize,
    pub locks: Locks,
    pub is_share: bool,
    /// Whether a directory that was synced lasts.
    pub syncs: bool,
    /// Something lies in the folder before it is ours.
    pub before: bool,
    /// What lies in a folder that nobody has used is taken in.
    pub takes: bool,
    /// Every drop has the same bytes.
    pub same: bool,
    pub ends: bool,
    /// Whether duplicates are held.
    pub guarded: bool,
    /// Each PDF is dropped with a sidecar.
    pub sidecars: bool,
    /// Whether the folder has an address book, and whether its rules are edited.
    pub book: bool,
    pub rules: bool,
    pub budget: Budget,
}

pub const OVER: Budget = Budget {
    drops: 0,
    rewrites: 0,
    ticks: 0,
    crashes: 0,
    cuts: 0,
    approvals: 0,
    wishes: 0,
    edits: 0,
    changes: 0,
    losses: 0,
    copies: 0,
};
pub const NOTHING: Budget = Budget { drops: 1, ticks: 4, ..OVER };
pub const ONE: Size = Size {
    name: "",
    daemons: 1,
    locks: Locks::Work,
    is_share: false,
    syncs: true,
    before: false,
    takes: false,
    same: false,
    ends: true,
    guarded: true,
    sidecars: false,
    book: false,
    rules: false,
    budget: NOTHING,
};

/// Those of the ordinary tests: under a minute in all.
pub const SMALL: &[Size] = &[
    Size { name: "a writer", budget: Budget { rewrites: 2, ticks: 5, ..NOTHING }, ..ONE },
    Size { name: "crashes", budget: Budget { crashes: 2, rewrites: 1, ..NOTHING }, ..ONE },
    Size {
        name: "a power cut, no guard",
        guarded: false,
        budget: Budget { cuts: 1, crashes: 1, ..NOTHING },
        ..ONE
    },
    Size {
        name: "two drops, a power cut",
        guarded: false,
        budget: Budget { drops: 2, cuts: 1, ticks: 3, ..NOTHING },
        ..ONE
    },
    Size { name: "duplicates", same: true, budget: Budget { drops: 2, ..NOTHING }, ..ONE },
    Size {
        name: "a duplicate, approved",
        same: true,
        budget: Budget { drops: 2, approvals: 1, crashes: 1, ..NOTHING },
        ..ONE
    },
    Size {
        name: "there before, approved",
        before: true,
        budget: Budget { drops: 0, approvals: 2, crashes: 1, cuts: 1, ticks: 6, ..NOTHING },
        ..ONE
    },
    Size {
        name: "a share without syncs",
        is_share: true,
        syncs: false,
        budget: Budget { cuts: 1, crashes: 1, ..NOTHING },
        ..ONE
    },
    Size {
        name: "a first start that takes",
        before: true,
        takes: true,
        budget: Budget { crashes: 3, ..NOTHING },
        ..ONE
    },
    Size {
        name: "it takes, records lost",
        before: true,
        takes: true,
        budget: Budget { drops: 0, crashes: 2, losses: 1, cuts: 1, ticks: 6, ..NOTHING },
        ..ONE
    },
    Size { name: "records lost", budget: Budget { losses: 1, crashes: 1, cuts: 1, ..NOTHING }, ..ONE },
    Size { name: "two daemons", daemons: 2, budget: Budget { crashes: 1, ..NOTHING }, ..ONE },
    Size { name: "a sidecar", sidecars: true, budget: Budget { rewrites: 1, crashes: 1, ..NOTHING }, ..ONE },
    Size { name: "a sidecar, a power cut", sidecars: true, budget: Budget { cuts: 1, ..NOTHING }, ..ONE },
    Size { name: "a book", book: true, budget: Budget { edits: 1, ticks: 6, ..NOTHING }, ..ONE },
    Size { name: "rules", rules: true, budget: Budget { edits: 1, crashes: 1, ticks: 7, ..NOTHING }, ..ONE },
    Size {
        name: "wishes",
        before: true,
        budget: Budget { drops: 0, approvals: 1, wishes: 2, crashes: 1, ticks: 6, ..NOTHING },
        ..ONE
    },
    Size { name: "wishes about a letter", budget: Budget { wishes: 1, crashes: 1, ..NOTHING }, ..ONE },
    Size {
        name: "which of two",
        before: true,
        same: true,
        budget: Budget { wishes: 1, ticks: 6, ..NOTHING },
        ..ONE
    },
    Size {
        name: "another place",
        guarded: false,
        budget: Budget { changes: 1, crashes: 1, ticks: 6, ..NOTHING },
        ..ONE
    },
    Size {
        name: "another place, wishes",
        before: true,
        budget: Budget { drops: 0, changes: 1, approvals: 1, wishes: 1, ticks: 6, ..NOTHING },
        ..ONE
    },
    Size { name: "copied records", daemons: 2, budget: Budget { copies: 1, crashes: 1, ..NOTHING }, ..ONE },
    Size {
        name: "two daemons, no locks",
        daemons: 2,
        locks: Locks::None,
        budget: Budget { crashes: 1, ..NOTHING },
        ..ONE
    },
];

/// Explores a size whole; its states, or the first way in which something breaks.
pub fn explore(size: Size) -> (usize, Duration) {
    let begun = Instant::now();
    let model = TakingIn { size };
    let checker =
        model.clone().checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    for (name, path) in checker.discoveries() {
        let steps = path.clone().into_actions();
        let last = path.last_state();
        let state = last.clone().end(&model).err().map_or_else(|| last.clone(), |stuck| *stuck);
        assert!(
            name == "a drop is posted" || name == "two are claimed together",
            "{}: `{name}` is violated after {} steps: {steps:?}\n{:?}\n{state:#?}",
            size.name,
            steps.len(),
            state.broken,
        );
    }
    assert!(
        checker.discovery("a drop is posted").is_some() || (size.before && !size.takes),
        "{}: nothing is posted",
        size.name
    );
    assert!(
        checker.discovery("two are claimed together").is_some() || size.budget.drops < 2,
        "{}: each is claimed alone",
        size.name
    );
    (checker.unique_state_count(), begun.elapsed())
}
