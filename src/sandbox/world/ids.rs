//! Names of things in the world, and the dice from which they are drawn.

use std::borrow::Borrow;
use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )*};
}

ids!(
    AccountId,
    ClientId,
    MailId,
    ContentId,
    /// The name of the stored bytes of one upload. Every upload has a new one.
    BlobId,
    /// The hash of an access token, which itself is not kept.
    TokenHash
);

impl MailId {
    /// The `number` with which it was made, if it was made at `now`.
    pub(super) fn number_at(&self, now: DateTime<Utc>) -> Option<u16> {
        let rest = self.0.strip_prefix(&format!("m{:012x}", now.timestamp_millis()))?;
        u16::from_str_radix(rest.get(..4)?, 16).ok()
    }
}

/// Fresh randomness for one call. The world has none of its own.
#[derive(Clone, Copy)]
pub struct Dice([u8; 32]);

impl fmt::Debug for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dice(…)")
    }
}

impl Dice {
    pub fn new(entropy: [u8; 32]) -> Self {
        Self(entropy)
    }

    /// The `n`th draw for a purpose. The same dice give the same draw.
    pub fn draw(&self, purpose: &str, n: usize) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(purpose.as_bytes());
        hash.update(n.to_be_bytes());
        hash.finalize().into()
    }

    /// `prefix` and 96 random bits.
    pub fn name(&self, prefix: &str, n: usize) -> String {
        format!("{prefix}{}", hex::encode(&self.draw(prefix, n)[..12]))
    }

    /// A mail's id. Ids sort by the time of creation and, within one time, by `number`.
    pub fn mail_id(&self, now: DateTime<Utc>, number: u16) -> MailId {
        MailId(format!(
            "m{:012x}{number:04x}{}",
            now.timestamp_millis(),
            hex::encode(&self.draw("mail", 0)[..10])
        ))
    }
}

pub fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
