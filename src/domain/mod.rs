//! What things are, and what follows from them. Nothing here does I/O or asks for the time.

/// Who a letter goes to and who sends it.
pub mod address;

/// What a letter is, what happened to it, and what follows: the two decisions.
pub mod letter;

/// What a person puts into a folder, and why it may not become a letter.
pub mod drop;

/// CSV to receivers by a key.
pub mod address_book;

/// A folder's rules and the facts of a drop: what will be posted, and why.
pub mod rules;

/// Whether an account's letters may go on, and a service that does not answer is left alone.
pub mod pause;

/// How much a folder may post, and what must not go without a person.
pub mod limits;

/// What operators must hear once, for as long as it lasts.
pub mod alarm;
