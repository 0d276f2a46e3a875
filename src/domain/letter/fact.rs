//! What is known to have happened to a letter: append-only, never changed, never deleted.
//!
//! Written as JSON into SQLite and the ledger, so a variant or field is only ever added.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Number;
use super::mail::Mail;
use super::order::Order;
use crate::base::clock::Time;

/// Why a posted letter could not be called back; kept in these words.
pub const TOO_LATE: &str = "the time for cancelling is over";
pub const BEING_PACKED: &str = "it is being packed or has been posted";

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// `entry` is its name in the spool.
    Admitted {
        entry: String,
        #[serde(with = "shared")]
        order: Arc<Order>,
    },
    /// A mail exists at the service; until it is confirmed it costs nothing.
    Created(Box<Mail>),
    Uploaded {
        mail: u32,
        document: usize,
    },
    /// Never an intent, so it is left to vanish.
    Abandoned {
        mail: u32,
        why: Abandonment,
    },
    /// From here on confirm may have been sent. `window` is `confirm_by` less `created_at`, in seconds.
    Intended {
        mail: u32,
        window: i64,
    },
    /// Confirm said that a file is missing.
    FilesMissing {
        mail: u32,
    },
    UploadedAgain {
        mail: u32,
    },
    /// Confirm or cancel answered that the mail is gone; the first key only if `late`.
    Gone {
        mail: u32,
        answer: GoneAnswer,
        late: bool,
    },
    /// It was read after all, so the first key is void.
    Reappeared {
        mail: u32,
    },
    Confirmed {
        mail: u32,
    },
    /// Proved by both keys: deleted at the service, never posted.
    Dead {
        mail: u32,
    },
    /// The service will never take these documents; what remains is to prove that it didn't.
    NeverPostable {
        mail: u32,
        why: String,
    },
    WithdrawalAsked,
    /// Asked too late: it is posted.
    NotWithdrawn {
        mail: u32,
        why: String,
    },
    /// Confirmed once, then cancelled: nothing is posted.
    Cancelled {
        mail: u32,
        by_us: bool,
    },
    /// Ended before any mail was confirmed: nothing is posted.
    Withdrawn,
    /// Ended by a person without anybody knowing whether it was posted.
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
    /// It has ended, and this of it is no longer kept.
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
    /// Whom it went to: struck from the records themselves.
    Receiver,
}

impl Kept {
    /// As a column of flags.
    pub fn bit(self) -> u8 {
        match self {
            Self::Documents => 1,
            Self::Original => 2,
            Self::Receiver => 4,
        }
    }
}

impl Fact {
    /// Which mail of its letter it is about.
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

    /// As it is written once nobody's name is kept any more; the only change a written fact ever sees.
    #[must_use]
    pub fn struck(&self) -> Self {
        let Self::Admitted { entry, order } = self else { return self.clone() };
        Self::Admitted { entry: entry.clone(), order: Arc::new(order.struck()) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Abandonment {
    TargetsExpired,
    /// The upload targets were in the memory of a process that ended.
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

/// An order that many share, written as if it were one's own.
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
    /// Each letter of its folder waits for a person.
    Approval,
    /// The same, and others could have written the file, so nobody knows who dropped it.
    OwnerNotProved,
    /// The same documents went to the same receiver before.
    Duplicate(Number),
    Limit(Limit),
    /// The receiver's postal code belongs to this prefecture, and the address says another.
    Elsewhere(String),
    /// The service refused to create it.
    Refused(String),
    UploadRefused(String),
    /// The spool no longer holds what was admitted.
    DocumentDamaged(usize),
    /// The service showed something else than what was meant.
    NotAsMeant(String),
    /// Confirmed by somebody else, and not as it was meant.
    PostedOtherwise(String),
    NeverPostable(String),
    /// As many intents as are allowed, each proved dead.
    TooManyIntents,
    /// No definite answer for a day.
    NoAnswer,
    /// Proved dead after it had been held for want of an answer.
    ProvedAfterDoubt,
    OtherAccount,
    /// Its folder was not in the configuration at a start, so nobody could have called it back.
    NoFolder,
    /// Our own state went back in time or can't be trusted.
    Restored,
}

/// More than a folder sends without being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    LettersPerDay(u32),
    SheetsPerDay(u32),
    Burst {
        letters: u32,
        seconds: u64,
        /// How many there usually are in a day, and how many came in the last one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usually: Option<(u32, u32)>,
    },
}

/// What may be said to a person about a hold. To say the wrong one is a double post by a human hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// Nothing was or will be posted, unless a person lets it go: so it is cancelled before it is sent again.
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
