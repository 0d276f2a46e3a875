//! Tools that belong to no subject.

/// The time: the system's, a faster one, or one set by hand.
pub mod clock;

/// A value that cannot be printed.
pub mod secret;

/// One sync that serves everybody who asks for it at the same time.
pub mod sync;

/// Waits that double after each failure.
pub mod backoff;

/// Which bell wakes which loop.
pub mod bells;

/// Why a connection cannot be made.
pub mod connection;

/// Whether a task ended in a panic.
pub mod tasks;

/// Text as other programs save it.
pub mod encoding;
