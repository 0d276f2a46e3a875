//! What things are, and what follows from them. Nothing here does I/O or reads a clock.

/// The receiver and the sender of a letter.
pub mod address;

/// What a letter is, what happened to it, and what follows: the two decisions.
pub mod letter;

/// CSV with receivers by a key.
pub mod address_book;

/// What is printed on a document's pages, and whether it agrees with the envelope.
pub mod printed;

/// What a person puts into a folder, and why it may not become a letter.
pub mod drop;

/// What a queue takes, and what follows when it comes again.
pub mod incoming;

/// Mail that brings PDFs: who may post by it, and in which mailbox it belongs.
pub mod mailed;

/// A folder's rules and the facts of a drop give what will be posted, and why.
pub mod rules;

/// Whether an account's letters may continue, and when a service that does not answer is left alone.
pub mod pause;

/// How much a folder may post, and what needs a person's approval.
pub mod limits;

/// What operators are told once for as long as it lasts.
pub mod alarm;
