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
    /// Print jobs instead of programs' requests.
    pub is_printer: bool,
}

pub const NOTHING: Budget = Budget { requests: 3, crashes: 0, refusals: 0, holds: 0, losses: 0 };

/// One letter, repeated.
const ONE: &[Sent] = &[(0, 0)];
/// One key with two contents.
const TWO_CONTENTS: &[Sent] = &[(0, 0), (0, 1)];
const TWO_KEYS: &[Sent] = &[(0, 0), (1, 1)];

const fn requests(name: &'static str, sends: &'static [Sent], budget: Budget) -> Size {
    Size { name, sends, budget, is_printer: false }
}

const fn jobs(name: &'static str, sends: &'static [Sent], budget: Budget) -> Size {
    Size { name, sends, budget, is_printer: true }
}

pub const SMALL: &[Size] = &[
    requests("a key again", ONE, Budget { crashes: 2, ..NOTHING }),
    requests("a key for two", TWO_CONTENTS, Budget { crashes: 1, ..NOTHING }),
    requests("two keys", TWO_KEYS, Budget { crashes: 1, holds: 1, ..NOTHING }),
    requests("a key, refused", TWO_CONTENTS, Budget { crashes: 1, refusals: 1, holds: 1, ..NOTHING }),
    requests("a key, records lost", ONE, Budget { crashes: 2, holds: 1, losses: 1, ..NOTHING }),
    jobs("a job again", ONE, Budget { crashes: 2, ..NOTHING }),
    jobs("a job with other bytes", TWO_CONTENTS, Budget { crashes: 1, ..NOTHING }),
    jobs("a job, refused or held", ONE, Budget { crashes: 1, refusals: 1, holds: 1, ..NOTHING }),
    jobs("a job, records lost", ONE, Budget { crashes: 1, holds: 1, losses: 1, ..NOTHING }),
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
