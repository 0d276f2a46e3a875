//! Proofs that take longer than ordinary tests may.
//!
//! `cargo test --release --test long large -- --nocapture`: the model check in large sizes.
//! `cargo test --release --test long past -- --nocapture`: a long history (`past.rs`).
//! `cargo test --release --test long crowd -- --nocapture`: very many folders and letters, and nothing to do
//! (`crowd.rs`).
//! `cargo test --test long mutants -- --nocapture`: the check is checked (`mutants.rs`).
//! `cargo test --test long guard -- --nocapture`: what one more letter costs in calls (`sweep/guard.rs`).
//! `cargo test --test long sweep_every -- --nocapture`: the real program, killed or failed at every moment
//! (`sweep/mod.rs`).
//! `cargo test --test long power -- --nocapture`: its power cut at every moment (`sweep/power.rs`).

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

mod crowd;
mod flood;
mod large;
mod mutants;
mod past;
mod sweep;
