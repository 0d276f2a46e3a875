//! What is outside the process. Each thing has one owner, and only the owner knows its format.

/// Which file systems are not local.
pub mod disk;

/// Our private copy of what will be posted, and the ledger of facts.
pub mod spool;

/// What is known about letters, durable: SQLite, made to agree with the ledger at every start.
pub mod store;

/// The client of the print-and-post service.
pub mod api;

/// Notifies programs.
pub mod hook;

/// What a print job and the daemon say to each other, and the backend of CUPS.
pub mod printing;

/// The page count of a PDF.
pub mod pdf;

/// A mailbox on a mail server, and what mails in it bring.
pub mod imap;

/// A hot folder as a place on a disk.
pub mod hot;

/// What the operator reads.
pub mod journal;
