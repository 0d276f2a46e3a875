//! **mailchute**: drop a PDF into a folder; it is printed, posted as paper mail exactly once, and followed
//! until it ships.
//!
//! The wings, from the bottom up: each uses only those before it. `tests/it/house/architecture.rs` enforces that,
//! and says which room may use which.

/// Tools that belong to no subject.
pub mod base;

/// What things are, and what follows from them: pure.
pub mod domain;

/// What people read, in two languages: pure.
pub mod words;

/// What is outside the process, each with one owner.
pub mod outside;

/// What an administrator and a clerk write, valid by construction.
pub mod config;

/// What runs at the same time. Loops never name each other; they meet in the store.
pub mod loops;

/// The composed daemon: opened, started and stopped in order.
pub mod daemon;

/// The whole print-and-post service, for trials and tests.
pub mod sandbox;

/// The way of letters through the sandbox, shown step by step.
pub mod demo;

/// One file per command.
pub mod cli;
