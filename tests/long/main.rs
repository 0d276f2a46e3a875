//! Proofs that take longer than ordinary tests may.
//!
//! `cargo test --release --test long large -- --nocapture`: the model check in large sizes.
//! `cargo test --release --test long past -- --nocapture`: a long history (`past.rs`).
//! `cargo test --test long mutants -- --nocapture`: the check is checked (`mutants.rs`).
//! `cargo test --test long sweep_every -- --nocapture`: the real program, killed or failed at every moment
//! (`sweep/mod.rs`).
//! `cargo test --test long power -- --nocapture`: its power cut at every moment (`sweep/power.rs`).

#![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

#[expect(clippy::wildcard_enum_match_arm, reason = "a property names the cases it speaks of")]
#[path = "../it/model/mod.rs"]
mod model;

#[path = "../it/past.rs"]
mod copies;

#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/simulation/dice.rs"]
mod dice;
#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/mailroom.rs"]
mod mailroom;
#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/nasty.rs"]
mod nasty;
#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/program.rs"]
mod program;
#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/service.rs"]
mod service;

mod flood;
mod mutants;
mod past;
mod sweep;

use model::sizes::{NOTHING, ONE, Size};
use model::{Budget, SMALL, explore};

const LARGE: &[Size] = &[
    Size { name: "messages, more", budget: Budget { lies: 1, faults: 3, ticks: 3, ..NOTHING }, ..ONE },
    Size {
        name: "crashes, more",
        budget: Budget { lies: 1, faults: 2, crashes: 2, ticks: 2, ..NOTHING },
        ..ONE
    },
    Size {
        name: "a person, more",
        budget: Budget { lies: 1, faults: 1, crashes: 1, commands: 2, ticks: 2, ..NOTHING },
        ..ONE
    },
    Size {
        name: "losses, more",
        budget: Budget { lies: 1, faults: 1, crashes: 1, losses: 1, ticks: 2, ..NOTHING },
        ..ONE
    },
    Size {
        name: "two documents",
        documents: 2,
        budget: Budget { lies: 1, faults: 2, crashes: 1, ticks: 2, ..NOTHING },
        ..ONE
    },
    Size {
        name: "two daemons, more",
        daemons: 2,
        jumps: &[37],
        budget: Budget { lies: 1, faults: 1, ticks: 1, commands: 1, ..NOTHING },
        ..ONE
    },
    Size {
        name: "one of everything",
        jumps: &[37],
        budget: Budget {
            lies: 1,
            faults: 1,
            crashes: 1,
            ticks: 1,
            commands: 1,
            losses: 1,
            switches: 1,
            cards: 1,
            skews: 0,
        },
        ..ONE
    },
];

/// One small size, chosen by the environment: what a mutant is tried with.
#[test]
fn one_small_size_holds() {
    let wanted = std::env::var(mutants::SIZE).unwrap_or_default();
    for size in SMALL.iter().filter(|size| size.name == wanted) {
        explore(*size);
    }
}

#[test]
fn every_large_size_holds() {
    let only = std::env::var(mutants::SIZE).ok();
    for size in LARGE.iter().filter(|size| only.as_ref().is_none_or(|only| only == size.name)) {
        let (states, time) = explore(*size);
        println!("{:<20} {states:>9} states {:>8.1} s", size.name, time.as_secs_f64());
    }
}
