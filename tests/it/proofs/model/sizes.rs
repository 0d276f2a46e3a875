//! How big a world is explored, and with how much going wrong at once.

use std::time::{Duration, Instant};

use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::{Budget, Posting};

#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub name: &'static str,
    pub daemons: usize,
    pub documents: usize,
    /// How many mails may come to exist.
    pub mails: usize,
    /// The jumps of time, in minutes.
    pub jumps: &'static [i64],
    /// Whether the service tells the time.
    pub dates: bool,
    /// Whether a writer must have seen every fact (as the store insists).
    pub checks_version: bool,
    /// Whether from each state it is tried that an end is reached.
    pub ends: bool,
    pub budget: Budget,
}

pub const NOTHING: Budget = Budget {
    faults: 0,
    lies: 0,
    crashes: 0,
    ticks: 0,
    commands: 0,
    losses: 0,
    switches: 0,
    cards: 0,
    skews: 0,
};
pub const ONE: Size = Size {
    name: "",
    daemons: 1,
    documents: 1,
    mails: 2,
    jumps: &[6, 31, 37],
    dates: true,
    checks_version: true,
    ends: false,
    budget: NOTHING,
};

/// Those of the ordinary tests: under a minute in all.
pub const SMALL: &[Size] = &[
    Size { name: "messages", budget: Budget { lies: 1, faults: 2, ticks: 2, ..NOTHING }, ..ONE },
    Size { name: "crashes", budget: Budget { lies: 1, faults: 1, crashes: 1, ticks: 2, ..NOTHING }, ..ONE },
    Size {
        name: "a person",
        ends: true,
        budget: Budget { faults: 1, commands: 2, ticks: 2, ..NOTHING },
        ..ONE
    },
    Size {
        name: "losses",
        ends: true,
        budget: Budget { faults: 1, crashes: 1, losses: 1, ticks: 1, ..NOTHING },
        ..ONE
    },
    Size {
        name: "card and clock",
        budget: Budget { lies: 1, cards: 1, skews: 1, ticks: 2, ..NOTHING },
        ..ONE
    },
    Size { name: "another account", budget: Budget { faults: 1, switches: 2, ticks: 2, ..NOTHING }, ..ONE },
    Size {
        name: "no Date",
        dates: false,
        budget: Budget { lies: 1, faults: 1, crashes: 1, ticks: 2, ..NOTHING },
        ..ONE
    },
    Size {
        name: "two daemons",
        daemons: 2,
        jumps: &[37],
        budget: Budget { faults: 1, ticks: 1, ..NOTHING },
        ..ONE
    },
];

/// Explores a size whole; its states, or the first way in which something breaks.
pub fn explore(size: Size) -> (usize, Duration) {
    let begun = Instant::now();
    let checker =
        Posting::new(size).checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_dfs().join();
    for (name, path) in checker.discoveries() {
        let steps = path.clone().into_actions();
        let state = path.last_state();
        assert!(
            name == "a letter is posted",
            "{}: `{name}` is violated after {} steps: {steps:?}\n{:#?} {:#?}",
            size.name,
            steps.len(),
            state.broken,
            state.database.iter().map(|entry| entry.0.word()).collect::<Vec<_>>(),
        );
    }
    assert!(checker.discovery("a letter is posted").is_some(), "{}: nothing is ever posted", size.name);
    (checker.unique_state_count(), begun.elapsed())
}
