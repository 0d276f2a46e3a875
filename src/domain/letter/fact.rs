//! What happened to a letter: facts that are only appended, never changed or deleted.
//!
//! Stored as JSON in SQLite and in the ledger, so variants and fields are only ever added.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Number;
use super::mail::Mail;
use super::order::Order;
use crate::base::clock::Time;
use crate::domain::address::Misplaced;

/// Why a posted letter could not be called back. Stored in these words.
pub const TOO_LATE: &str = "the time for cancelling is over";
pub const BEING_PACKED: &str = "it is being packed or has been posted";

/// What a queue knows a letter by. Two hashes, so it names nobody.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct QueuedAs {
    pub queue: String,
    pub key: String,
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// `entry` is the letter's name in the spool.
    Admitted {
        entry: String,
        #[serde(with = "shared")]
        order: Arc<Order>,
        /// What its queue knows it by, if it came by one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queued: Option<Box<QueuedAs>>,
    },
    /// A mail exists at the service. It costs nothing until it is confirmed.
    Created(Box<Mail>),
    Uploaded {
        mail: u32,
        document: usize,
    },
    /// The mail never had an intent and is left to expire.
    Abandoned {
        mail: u32,
        why: Abandonment,
    },
    /// From here on confirm may have been sent. `window` is `confirm_by` minus `created_at`, in seconds.
    Intended {
        mail: u32,
        window: i64,
    },
    /// Confirm answered that a file is missing.
    FilesMissing {
        mail: u32,
    },
    UploadedAgain {
        mail: u32,
    },
    /// Confirm or cancel answered that the mail is gone. It is the first key only if `late`.
    Gone {
        mail: u32,
        answer: GoneAnswer,
        late: bool,
    },
    /// The mail could be read after all, so the first key is void.
    Reappeared {
        mail: u32,
    },
    Confirmed {
        mail: u32,
    },
    /// Proved by both keys: deleted at the service and never posted.
    Dead {
        mail: u32,
    },
    /// The service will never accept these documents. It remains to be proved that it did not post them.
    NeverPostable {
        mail: u32,
        why: String,
    },
    WithdrawalAsked,
    /// The cancellation came too late: the letter is posted.
    NotWithdrawn {
        mail: u32,
        why: String,
    },
    /// Confirmed, then cancelled: nothing is posted.
    Cancelled {
        mail: u32,
        by_us: bool,
    },
    /// Ended before any mail was confirmed: nothing is posted.
    Withdrawn,
    /// Ended by a person, while nobody knew whether it was posted.
    Closed,
    Seen {
        mail: u32,
        ships_at: Time,
        cancellable: bool,
    },
    Shipped {
        mail: u32,
        at: Time,
        tracking: Option<String>,
    },
    Tracked {
        mail: u32,
        tracking: String,
    },
    Held(Reason),
    Released,
    /// The letter has ended, and this part of it is no longer kept.
    Discarded(Kept),
}

/// What is kept of a letter for some time after its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// Our own copies of its documents.
    Documents,
    /// What people see in its folder.
    Original,
    /// The receiver: removed from the records themselves.
    Receiver,
}

impl Kept {
    /// Its bit in a column of flags.
    pub fn bit(self) -> u8 {
        match self {
            Self::Documents => 1,
            Self::Original => 2,
            Self::Receiver => 4,
        }
    }
}

impl Fact {
    /// The ordinal of the letter's mail that the fact is about.
    pub fn mail(&self) -> Option<u32> {
        match self {
            Self::Created(mail) => Some(mail.k),
            Self::Uploaded { mail, .. }
            | Self::Abandoned { mail, .. }
            | Self::Intended { mail, .. }
            | Self::FilesMissing { mail }
            | Self::UploadedAgain { mail }
            | Self::Gone { mail, .. }
            | Self::Reappeared { mail }
            | Self::Confirmed { mail }
            | Self::Dead { mail }
            | Self::NeverPostable { mail, .. }
            | Self::NotWithdrawn { mail, .. }
            | Self::Cancelled { mail, .. }
            | Self::Seen { mail, .. }
            | Self::Shipped { mail, .. }
            | Self::Tracked { mail, .. } => Some(*mail),
            Self::Admitted { .. }
            | Self::WithdrawalAsked
            | Self::Withdrawn
            | Self::Closed
            | Self::Held(_)
            | Self::Released
            | Self::Discarded(_) => None,
        }
    }

    /// The fact without names, as it is written once names are no longer kept. No other change is ever made
    /// to a fact.
    #[must_use]
    pub fn struck(&self) -> Self {
        let Self::Admitted { entry, order, queued } = self else { return self.clone() };
        Self::Admitted { entry: entry.clone(), order: Arc::new(order.struck()), queued: queued.clone() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Abandonment {
    TargetsExpired,
    /// The upload targets were in the memory of a process that has ended.
    TargetsLost,
    UploadRefused,
    DeadlineNear,
    OtherAccount,
    NotFound,
    NotAsMeant,
    Held,
    Withdrawn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoneAnswer {
    /// 402 `card_declined`.
    Declined,
    /// 404 `mail_not_found`.
    NotFound,
}

/// An order that many letters share, serialized as if each had its own.
mod shared {
    use super::{Arc, Order};
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub fn serialize<S: Serializer>(order: &Arc<Order>, to: S) -> Result<S::Ok, S::Error> {
        order.as_ref().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Order>, D::Error> {
        Order::deserialize(from).map(Arc::new)
    }
}

/// Why a letter waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    ByPerson,
    /// Every letter of its folder waits for a person.
    Approval,
    /// Every letter of its folder waits for a person, and it is not proved who dropped this one, because
    /// others could have written the file.
    OwnerNotProved,
    /// The same documents went to the same receiver before.
    Duplicate(Number),
    Limit(Limit),
    /// The postal code belongs to this prefecture, but the address names another.
    Elsewhere(String),
    /// A recent list of postal codes says that the code is another city's, or does not have it.
    Misplaced(Misplaced),
    /// The service rejected its creation.
    Refused(String),
    UploadRefused(String),
    /// The spool no longer has the bytes that were admitted.
    DocumentDamaged(usize),
    /// The service showed something other than what was ordered.
    NotAsMeant(String),
    /// Confirmed by somebody else, and not as it was ordered.
    PostedOtherwise(String),
    NeverPostable(String),
    /// The maximum number of intents was reached, and each was proved dead.
    TooManyIntents,
    /// No definite answer for a day.
    NoAnswer,
    /// Proved dead after it had been held for want of an answer.
    ProvedAfterDoubt,
    OtherAccount,
    /// Its folder was not in the configuration at a start, so nobody could have called it back.
    NoFolder,
    /// Our own state went back in time or cannot be trusted.
    Restored,
}

/// More letters than a folder may send without approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    LettersPerDay(u32),
    SheetsPerDay(u32),
    Burst {
        letters: u32,
        seconds: u64,
        /// The usual number in a day, and the number in the last day.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usually: Option<(u32, u32)>,
    },
}

/// What a person may be told about a hold. The wrong one makes people post a letter twice by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// Nothing was or will be posted unless a person releases the letter. So it must be cancelled before it
    /// is sent again.
    NothingPosted,
    /// It may have been posted: do not send it again.
    Unknown,
}

impl Reason {
    pub fn certainty(&self) -> Certainty {
        match self {
            Self::ByPerson
            | Self::Approval
            | Self::OwnerNotProved
            | Self::Duplicate(_)
            | Self::Limit(_)
            | Self::Elsewhere(_)
            | Self::Misplaced(_)
            | Self::Refused(_)
            | Self::UploadRefused(_)
            | Self::DocumentDamaged(_)
            | Self::NotAsMeant(_)
            | Self::NeverPostable(_)
            | Self::TooManyIntents
            | Self::NoFolder
            | Self::ProvedAfterDoubt => Certainty::NothingPosted,
            Self::PostedOtherwise(_) | Self::NoAnswer | Self::OtherAccount | Self::Restored => {
                Certainty::Unknown
            }
        }
    }
}
