//! **mailchute**: drop a PDF into a folder; it is printed, posted as paper mail exactly once, and
//! followed until it ships.
//!
//! The rooms, in the order to read them. `tests/it/architecture.rs` holds who may use whom.

/// What time it is: the system's, a faster one, or set by hand.
pub mod clock;
/// A value that cannot be printed.
pub mod secret;

/// The print-and-post service as a client sees it.
pub mod api;

/// The print-and-post service itself, whole, for trials and tests.
pub mod sandbox;

/// A letter's way through the sandbox, shown step by step.
pub mod demo;

/// One file per command.
pub mod cli;
