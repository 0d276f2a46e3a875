//! The print-and-post service as a client sees it.
//!
//! [`Client`] makes one call at a time and says what its answer means: one of the answers a letter
//! knows, or a [`Failure`] with its verdict. It retries nothing but a refused token, and decides
//! nothing about a letter. `wire` is the words of the line, shared with the sandbox.

mod client;
mod convert;
mod failure;
mod line;
mod meter;
mod places;
mod token;
mod upload;
pub mod wire;

use std::fmt;

pub use client::{Client, Created, KnownMail};
pub use convert::{create_body, reading};
pub use failure::Failure;
pub use line::{Patience, install_tls};
pub use meter::{Counted, Meter, Spans};
pub use places::{BadPlace, Places};
pub use upload::Stored;

use crate::base::secret::Secret;

/// What the account's management page issued.
#[derive(Clone)]
pub struct Credentials {
    pub client_id: String,
    pub client_secret: Secret,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(…)")
    }
}
