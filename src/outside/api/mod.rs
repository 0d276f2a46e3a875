//! The client of the print-and-post service.
//!
//! `Client` makes one call at a time and returns what its answer means: one of the answers that a letter
//! knows, or a `Failure` with its verdict. It repeats a call only after a refused token, and decides
//! nothing about a letter. `wire` is the JSON format, shared with the sandbox.

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
pub use line::{Patience, install_tls, outward_client};
pub use meter::{Counted, Meter, Spans};
pub use places::{BadPlace, Places, outward};
pub use upload::Stored;

use crate::base::secret::Secret;

/// Credentials that the account's management page issued.
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
