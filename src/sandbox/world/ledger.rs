//! What happened, entry by entry: the proof that a mail was posted once and charged once.

use serde::{Deserialize, Serialize};

use super::account::Card;
use super::ids::{AccountId, ClientId, ContentId, MailId};
use super::mail::Deletion;
use crate::base::clock::Time;
use crate::outside::api::wire;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    #[serde(with = "wire::timestamp")]
    pub at: Time,
    pub account: AccountId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail: Option<MailId>,
    #[serde(flatten)]
    pub event: Event,
}

impl Event {
    /// The names under which events are written.
    pub const NAMES: [&str; 17] = [
        "account_opened",
        "account_closed",
        "card_set",
        "client_issued",
        "secret_reissued",
        "token_issued",
        "token_revoked",
        "created",
        "uploaded",
        "confirm_attempted",
        "authorized",
        "cancel_attempted",
        "released",
        "deleted",
        "packing_began",
        "shipped",
        "charged",
    ];
}

/// Amounts are in yen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    AccountOpened,
    AccountClosed,
    CardSet {
        card: Card,
    },
    ClientIssued {
        client: ClientId,
    },
    SecretReissued {
        client: ClientId,
    },
    TokenIssued {
        client: ClientId,
        scope: String,
    },
    TokenRevoked {
        client: ClientId,
    },
    Created {
        files: usize,
        sheets: u32,
    },
    Uploaded {
        content: ContentId,
        bytes: u64,
        sha256: String,
    },
    /// `outcome` is `confirmed`, or the code of the refusal.
    ConfirmAttempted {
        outcome: String,
    },
    Authorized {
        amount: u32,
    },
    /// `outcome` is `cancelled`, or the code of the refusal.
    CancelAttempted {
        outcome: String,
    },
    Released {
        amount: u32,
    },
    Deleted {
        why: Deletion,
    },
    PackingBegan,
    Shipped {
        tracking_number: Option<String>,
    },
    Charged {
        amount: u32,
    },
}
