//! **mailchute**: drop a PDF into a folder; it is printed, posted as paper mail exactly once, and
//! followed until it ships.
//!
//! The rooms, in the order to read them. `tests/it/architecture.rs` holds who may use whom.

/// What a letter is, what happened to it, and what follows: the two decisions.
pub mod letter;

/// Who a letter goes to and who sends it.
pub mod address;

/// What a person puts into a folder, and why it may not become a letter.
pub mod drop;

/// CSV to receivers by a key.
pub mod address_book;

/// A folder's rules and the facts of a drop: what will be posted, and why.
pub mod rules;

/// What office people read, in their language.
pub mod texts;

/// What mails say.
pub mod message;

/// Pages in a browser: templates, their texts in two languages, what goes with them.
pub mod page;

/// May something that costs money be begun now?
pub mod guard;

/// What time it is: the system's, a faster one, or set by hand.
pub mod clock;

/// Waits that double.
pub mod backoff;

/// Who wakes which loop.
pub mod bells;

/// A value that cannot be printed.
pub mod secret;
pub mod sync;

/// Which file systems are not local.
pub mod disk;

/// What is known about letters, durable: SQLite, made one with the ledger at every start.
pub mod store;

/// Our private copy of what will be posted, and the ledger of facts.
pub mod spool;

/// The print-and-post service as a client sees it.
pub mod api;

/// How many pages a PDF has.
pub mod pdf;

/// What the operator reads.
pub mod journal;

/// What an administrator writes, valid by construction.
pub mod config;

/// A hot folder as a place on a disk.
pub mod hot;

/// What people see in the hot folders.
pub mod shelf;

/// Drops from the hot folders to the spool.
pub mod intake;

/// The one loop that takes letters through their steps.
pub mod dispatch;

/// What somebody must still be told.
pub mod owed;

/// Sealed PDFs, and what was kept long enough.
pub mod keep;

/// Wakes the loops at configured times.
pub mod schedule;

/// How everything stands, told over HTTP.
pub mod status;

/// What the service manager is told.
pub mod systemd;

/// The daemon put together: opened, started, stopped in order.
pub mod daemon;

/// The print-and-post service itself, whole, for trials and tests.
pub mod sandbox;

/// A letter's way through the sandbox, shown step by step.
pub mod demo;

/// One file per command.
pub mod cli;
