//! The model checks in large sizes, and in one small size that a mutant is tried with.

use crate::mutants::SIZE;
use crate::proofs::model::sizes as posting;
use crate::proofs::taking_in::sizes as taking_in;
use crate::proofs::{mailed, model, queue, taking_in as drops};

const POSTING: &[posting::Size] = &[
    posting::Size {
        name: "messages, more",
        budget: model::Budget { lies: 1, faults: 3, ticks: 3, ..posting::NOTHING },
        ..posting::ONE
    },
    posting::Size {
        name: "crashes, more",
        budget: model::Budget { lies: 1, faults: 2, crashes: 2, ticks: 2, ..posting::NOTHING },
        ..posting::ONE
    },
    posting::Size {
        name: "a person, more",
        budget: model::Budget { lies: 1, faults: 1, crashes: 1, commands: 2, ticks: 2, ..posting::NOTHING },
        ..posting::ONE
    },
    posting::Size {
        name: "losses, more",
        budget: model::Budget { lies: 1, faults: 1, crashes: 1, losses: 1, ticks: 2, ..posting::NOTHING },
        ..posting::ONE
    },
    posting::Size {
        name: "two documents",
        documents: 2,
        budget: model::Budget { lies: 1, faults: 2, crashes: 1, ticks: 2, ..posting::NOTHING },
        ..posting::ONE
    },
    posting::Size {
        name: "two daemons, more",
        daemons: 2,
        jumps: &[37],
        budget: model::Budget { lies: 1, faults: 1, ticks: 1, commands: 1, ..posting::NOTHING },
        ..posting::ONE
    },
    posting::Size {
        name: "one of everything",
        jumps: &[37],
        budget: model::Budget {
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
        ..posting::ONE
    },
];

/// Taking in, with all faults together.
const TAKING_IN: &[taking_in::Size] = &[
    taking_in::Size {
        name: "two drops, cuts, crashes",
        same: true,
        budget: drops::Budget { drops: 2, crashes: 1, cuts: 1, ..taking_in::NOTHING },
        ..taking_in::ONE
    },
    taking_in::Size {
        name: "approved, cuts, crashes",
        before: true,
        budget: drops::Budget { drops: 0, approvals: 2, crashes: 2, cuts: 1, ticks: 6, ..taking_in::NOTHING },
        ..taking_in::ONE
    },
    taking_in::Size {
        name: "a share, all faults",
        is_share: true,
        syncs: false,
        budget: drops::Budget { cuts: 2, crashes: 1, losses: 1, ..taking_in::NOTHING },
        ..taking_in::ONE
    },
    taking_in::Size {
        name: "two daemons, all faults",
        daemons: 2,
        budget: drops::Budget { drops: 1, rewrites: 1, crashes: 2, cuts: 1, ..taking_in::NOTHING },
        ..taking_in::ONE
    },
    taking_in::Size {
        name: "two daemons, no locks, all faults",
        daemons: 2,
        locks: taking_in::Locks::None,
        is_share: true,
        budget: drops::Budget { rewrites: 1, crashes: 1, ..taking_in::NOTHING },
        ..taking_in::ONE
    },
    taking_in::Size {
        name: "a sidecar, a cut, a crash",
        sidecars: true,
        budget: drops::Budget { rewrites: 1, crashes: 1, cuts: 1, ..taking_in::NOTHING },
        ..taking_in::ONE
    },
    taking_in::Size {
        name: "a book and rules",
        book: true,
        rules: true,
        budget: drops::Budget { edits: 2, ticks: 7, ..taking_in::NOTHING },
        ..taking_in::ONE
    },
    taking_in::Size {
        name: "wishes, more",
        before: true,
        budget: drops::Budget { drops: 1, approvals: 1, wishes: 2, ticks: 6, ..taking_in::NOTHING },
        ..taking_in::ONE
    },
    taking_in::Size {
        name: "other places, crashes",
        guarded: false,
        budget: drops::Budget { changes: 2, crashes: 1, ticks: 6, ..taking_in::NOTHING },
        ..taking_in::ONE
    },
    taking_in::Size {
        name: "copied records, a cut, crashes",
        daemons: 2,
        budget: drops::Budget { copies: 1, crashes: 2, cuts: 1, ..taking_in::NOTHING },
        ..taking_in::ONE
    },
];

/// One small size, chosen by the environment.
#[test]
fn one_small_size_holds() {
    let wanted = std::env::var(SIZE).unwrap_or_default();
    for size in model::SMALL.iter().filter(|size| size.name == wanted) {
        said(size.name, model::explore(*size));
    }
    for size in drops::SMALL.iter().filter(|size| size.name == wanted) {
        said(size.name, drops::explore(*size));
    }
    for size in queue::SMALL.iter().filter(|size| size.name == wanted) {
        said(size.name, queue::explore(*size));
    }
    for size in mailed::SMALL_MAILS.iter().filter(|size| size.name == wanted) {
        said(size.name, mailed::explore_mails(*size));
    }
}

#[expect(clippy::print_stdout, reason = "a long proof says how far it got")]
fn said(name: &str, (states, time): (usize, std::time::Duration)) {
    println!("{name:<34} {states:>9} states {:>8.1} s", time.as_secs_f64());
}

fn is_wanted(name: &str) -> bool {
    std::env::var(SIZE).is_ok_and(|only| only == name) || std::env::var(SIZE).is_err()
}

#[test]
fn every_large_size_holds() {
    for size in POSTING.iter().filter(|size| is_wanted(size.name)) {
        said(size.name, model::explore(*size));
    }
}

#[test]
fn every_large_size_of_taking_in_holds() {
    for size in TAKING_IN.iter().filter(|size| is_wanted(size.name)) {
        said(size.name, drops::explore(*size));
    }
}
