//! Proofs that take longer than ordinary tests may.
//!
//! `cargo test --test long WORD -- --nocapture`, with `--release` for those that measure: `large` (the model
//! checks in large sizes), `mutants` (the checks are checked), `past` (a long history), `crowd` (very many
//! folders), `flood`, `idle`, `door` (programs that post, and a daemon that is killed); `guard` (what a letter costs in calls), `sweep_every` (the real program, killed
//! or failed at every moment), `power` (its power cut at every moment).

#![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

/// The models of the ordinary tests.
#[path = "../it/proofs"]
mod proofs {
    pub mod mailed;
    #[expect(clippy::wildcard_enum_match_arm, reason = "a property names the cases it speaks of")]
    pub mod model;
    pub mod queue;
    pub mod taking_in;
}

/// The rigs of the ordinary tests.
#[path = "../it/rigs"]
mod rigs {
    #[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
    pub mod asked;
    #[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
    pub mod dice;
    #[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
    pub mod door;
    #[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
    pub mod journal;
    #[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
    pub mod mailroom;
    #[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
    pub mod nasty;
    pub mod past;
    #[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
    pub mod program;
    #[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
    pub mod running;
    #[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
    pub mod service;
}

mod crowd;
mod door;
mod flood;
mod large;
mod mutants;
mod past;
mod postal;
mod printed;
#[expect(clippy::print_stdout, reason = "it is run by a person who reads what it prints")]
mod sampled;
mod sweep;
