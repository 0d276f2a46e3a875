//! What people read, in two languages. Values in, text out.

/// Texts in folders, and what commands and pages say of a letter.
pub mod texts;

/// What e-mails say.
pub mod message;

/// Pages in a browser: templates, their texts, what goes with them.
pub mod page;
