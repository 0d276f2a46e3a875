//! The small sizes of the model check, each explored whole.

use crate::model::{Budget, NOTHING, ONE, Size, explore};

const SMALL: &[Size] = &[
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

#[test]
fn every_small_size_holds() {
    for size in SMALL {
        let (states, time) = explore(*size);
        println!("{:<20} {states:>9} states {:>8.1} s", size.name, time.as_secs_f64());
    }
}
