//! Proofs that take longer than ordinary tests may.
//!
//! `cargo test --test long WORD -- --nocapture`, with `--release` for those that measure: `large` (the model
//! checks in large sizes), `mutants` (the checks are checked), `past` (a long history), `crowd` (very many
//! folders), `flood`, `idle`; `guard` (what a letter costs in calls), `sweep_every` (the real program, killed
//! or failed at every moment), `power` (its power cut at every moment).

#![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

#[expect(clippy::wildcard_enum_match_arm, reason = "a property names the cases it speaks of")]
#[path = "../it/model/mod.rs"]
mod model;

#[path = "../it/taking_in/mod.rs"]
mod taking_in;

#[path = "../it/past.rs"]
mod copies;

#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/simulation/dice.rs"]
mod dice;
#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/journal.rs"]
mod journal;
#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/mailroom.rs"]
mod mailroom;
#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/nasty/mod.rs"]
mod nasty;
#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/program.rs"]
mod program;
#[expect(dead_code, reason = "written for the ordinary tests, which use all of it")]
#[path = "../it/service.rs"]
mod service;

mod crowd;
mod flood;
mod large;
mod mutants;
mod past;
mod postal;
mod printed;
#[expect(clippy::print_stdout, reason = "it is run by a person who reads what it prints")]
mod sampled;
mod sweep;
