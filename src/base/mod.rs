//! Tools without a subject.

/// What time it is: the system's, a faster one, or set by hand.
pub mod clock;

/// A value that cannot be printed.
pub mod secret;

/// One sync for all who ask for it at the same time.
pub mod sync;

/// Waits that double.
pub mod backoff;

/// Who wakes which loop.
pub mod bells;
