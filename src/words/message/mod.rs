//! What mails say: values in, a subject, a plain text and an HTML page out. Pure.
//!
//! Each kind of mail has a template in each language, built in, which a file of the configuration may
//! replace. A name from a file is data everywhere: shown without control characters, escaped in HTML,
//! and never more than one line of a header.

mod content;
mod mailbox;
mod sample;
mod templates;

pub use content::{Alert, Digest, DigestRow, EmailContent, EmailKind, Item, tracking_url};
pub use mailbox::Mailbox;
pub use sample::samples;
pub use templates::{Message, TemplateMistake, Templates};
