//! What runs at the same time. A loop looks at what is due and does it. Loops never name each other; they
//! meet in the store, in the folders in force, and by bells.

/// The folders in force.
pub mod folders;

/// Whose a place on a shelf is.
pub mod shelf_places;

/// Whether an address beside a letter's original is the letter's.
pub mod address_beside;

/// Drops from the hot folders to the spool.
pub mod intake;

/// Letters through their steps.
pub mod dispatch;

/// Originals to where their letters say, each with its text.
pub mod originals;

/// News for people, as e-mails.
pub mod outbox;

/// The index of names, by which letters are found.
pub mod names;

/// Sealed PDFs, and the removal of what was kept long enough.
pub mod retention;
