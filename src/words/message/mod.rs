//! The content of e-mails: values in; a subject, a plain text and an HTML page out. Pure.
//!
//! Each kind of e-mail has a built-in template in each language, which a file of the configuration may
//! replace. A name from a file is always data: it is shown without control characters, escaped in HTML, and
//! never longer than one line of a header.

mod content;
mod mailbox;
mod sample;
mod templates;

pub use content::{Alert, Digest, DigestNote, DigestRow, EmailContent, EmailKind, Item, tracking_url};
pub use mailbox::Mailbox;
pub use sample::samples;
pub use templates::{Message, TemplateMistake, Templates};
