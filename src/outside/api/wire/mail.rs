//! A mail as `GET` shows it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Address, timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Pending,
    Confirmed,
    Shipped,
    Cancelled,
}

/// `GET /v1/mails/{mailId}`. The contract leaves open which fields of an address and of a file are present.
/// So fields that are only compared may be missing, and any word is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    pub id: String,
    pub status: Status,
    pub cancellable: bool,
    #[serde(with = "timestamp")]
    pub created_at: DateTime<Utc>,
    #[serde(with = "timestamp")]
    pub scheduled_to_ship_at: DateTime<Utc>,
    #[serde(with = "timestamp")]
    pub confirm_by: DateTime<Utc>,
    #[serde(default, with = "timestamp::option", skip_serializing_if = "Option::is_none")]
    pub shipped_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipping_method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipping_options: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracking_number: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_address: Option<ShownAddress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_address: Option<ShownAddress>,
    #[serde(default, skip_serializing_if = "Enclosed::is_unsaid")]
    pub reply_letterpack: Enclosed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<Vec<Content>>,
}

/// An address in an answer.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShownAddress {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address1: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Present for a receiver only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub honorific: Option<String>,
}

impl std::fmt::Debug for ShownAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ShownAddress(…)")
    }
}

impl From<Address> for ShownAddress {
    fn from(address: Address) -> Self {
        let Address { postal_code, state, city, address1, name, honorific } = address;
        Self {
            postal_code: Some(postal_code),
            state: Some(state),
            city: Some(city),
            address1: Some(address1),
            name: Some(name),
            honorific,
        }
    }
}

/// Whether a reply letter pack is enclosed, in an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Enclosed {
    Pack {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<ShownAddress>,
    },
    /// `null`: none is enclosed.
    Nothing,
    /// The field is missing.
    #[default]
    #[serde(skip)]
    Unsaid,
}

impl Enclosed {
    fn is_unsaid(&self) -> bool {
        *self == Self::Unsaid
    }
}

/// A file in an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_count: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper_size: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplex: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staple: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<bool>,
}

impl Mail {
    /// Removes all fields that the contract does not promise.
    pub fn make_sparse(&mut self) {
        for address in [&mut self.sender_address, &mut self.receiver_address] {
            *address = address.take().map(|_| ShownAddress::default());
        }
        if let Enclosed::Pack { address } = &mut self.reply_letterpack {
            *address = None;
        }
        for content in self.contents.iter_mut().flatten() {
            *content = Content { id: std::mem::take(&mut content.id), ..Content::default() };
        }
    }
}
