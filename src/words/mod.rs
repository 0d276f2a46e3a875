//! What people read, in two languages. Values in, text out.

/// Texts in folders, and how commands and pages describe a letter.
pub mod texts;

/// The content of e-mails.
pub mod message;

/// Pages in a browser: templates and their texts.
pub mod page;
