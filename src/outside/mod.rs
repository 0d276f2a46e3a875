//! What is outside the process. Each thing has one owner, who alone knows its format.

/// Which file systems are not local.
pub mod disk;

/// Our private copy of what will be posted, and the ledger of facts.
pub mod spool;

/// What is known about letters, durable: SQLite, made one with the ledger at every start.
pub mod store;

/// The print-and-post service as a client sees it.
pub mod api;

/// How many pages a PDF has.
pub mod pdf;

/// A hot folder as a place on a disk.
pub mod hot;

/// What the operator reads.
pub mod journal;
