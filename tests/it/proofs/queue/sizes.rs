//! How much is tried at once.

use std::time::{Duration, Instant};

use stateright::{Checker as _, HasDiscoveries, Model as _};

use super::{Budget, Queue, Sent};

#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub name: &'static str,
    /// What programs send, each as often as the budget allows.
    pub sends: &'static [Sent],
    pub budget: Budget,
}

pub const NOTHING: Budget = Budget { requests: 3, crashes: 0, refusals: 0, holds: 0, losses: 0 };

/// One letter, repeated.
const ONE: &[Sent] = &[(0, 0)];
/// One key with two contents.
const TWO_CONTENTS: &[Sent] = &[(0, 0), (0, 1)];
const TWO_KEYS: &[Sent] = &[(0, 0), (1, 1)];

pub const SMALL: &[Size] = &[
    Size { name: "a key again", sends: ONE, budget: Budget { crashes: 2, ..NOTHING } },
    Size { name: "a key for two", sends: TWO_CONTENTS, budget: Budget { crashes: 1, ..NOTHING } },
    Size { name: "two keys", sends: TWO_KEYS, budget: Budget { crashes: 1, holds: 1, ..NOTHING } },
    Size {
        name: "a key, refused",
        sends: TWO_CONTENTS,
        budget: Budget { crashes: 1, refusals: 1, holds: 1, ..NOTHING },
    },
    Size {
        name: "a key, records lost",
        sends: ONE,
        budget: Budget { crashes: 2, holds: 1, losses: 1, ..NOTHING },
    },
];

/// Explores a size whole; its states, or the first way in which something breaks.
pub fn explore(size: Size) -> (usize, Duration) {
    let begun = Instant::now();
    let checker =
        Queue { size }.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    for (name, path) in checker.discoveries() {
        let steps = path.clone().into_actions();
        assert!(
            name == "a letter is posted",
            "{}: `{name}` is violated after {} steps: {steps:?}\n{:#?}",
            size.name,
            steps.len(),
            path.last_state(),
        );
    }
    assert!(checker.discovery("a letter is posted").is_some(), "{}: nothing is posted", size.name);
    (checker.unique_state_count(), begun.elapsed())
}
