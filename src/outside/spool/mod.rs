//! Our private copy of what will be posted, byte for byte, and the ledger of facts.
//!
//! An entry is one file: the documents one after another, then the order. It is written beside its place in
//! `new/`, synced, and renamed, so an entry that has its name is complete. When it becomes a letter it is
//! renamed once more, into `letters/`. What queues took lies in `incoming/` until its folder has it. Bytes are compared with their hash whenever they are read for an
//! upload.

mod draft;
mod ending;
mod entry;
mod incoming;
mod ledger;
mod line;
mod private;
mod reading;
mod ulid;

pub use draft::Draft;
pub use entry::{Dropped, Entry, EntryError, Spool, sha256_of};
pub use ledger::{FoundLines, Ledger, LedgerError};
pub use line::{Line, Written};
pub use private::{append as private_file, directory as private_directory, own_like, sync_directory};
pub use ulid::Ulid;
