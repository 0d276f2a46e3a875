//! What runs side by side. A loop looks at what is due and does it; loops never name each other. They meet
//! in the store, in the folders in force, and by bells.

/// The folders in force.
pub mod folders;

/// Drops from the hot folders to the spool.
pub mod intake;

/// Letters through their steps.
pub mod dispatch;

/// Originals where their letters say, each with its text.
pub mod originals;

/// What somebody must still be told.
pub mod outbox;

/// Sealed PDFs, and what was kept long enough.
pub mod retention;
