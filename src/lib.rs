//! **mailchute**: drop a PDF into a folder; it is printed, posted as paper mail exactly once, and
//! followed until it ships.
//!
//! The wings, from the ground up: each uses only those before it. `tests/it/architecture.rs` holds that, and
//! which room may use which.

/// Tools without a subject.
pub mod base;

/// What things are, and what follows from them: pure.
pub mod domain;

/// What people read, in two languages: pure.
pub mod words;

/// What is outside the process, each with one owner.
pub mod outside;

/// What an administrator and a clerk write, valid by construction.
pub mod config;

/// What runs side by side; loops never name each other and meet in the store.
pub mod loops;

/// The daemon put together: opened, started, stopped in order.
pub mod daemon;

/// The print-and-post service itself, whole, for trials and tests.
pub mod sandbox;

/// A letter's way through the sandbox, shown step by step.
pub mod demo;

/// One file per command.
pub mod cli;
