//! One mail request: its phases, its deadlines, and what `GET` shows of it.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::ids::{AccountId, BlobId, ContentId, MailId};
use crate::base::clock::Time;
use crate::outside::api::wire::{self, CreateMail};

pub const TARGET_LIFE: TimeDelta = TimeDelta::minutes(5);
pub const CONFIRM_WITHIN: TimeDelta = TimeDelta::minutes(30);
pub const CANCEL_WITHIN: TimeDelta = TimeDelta::minutes(30);
const BILLED_AFTER: TimeDelta = TimeDelta::hours(1);
const REMEMBERED_AFTER_DELETION: TimeDelta = TimeDelta::hours(24);

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mail {
    pub id: MailId,
    pub account: AccountId,
    pub order: CreateMail,
    pub contents: Vec<Content>,
    pub created_at: Time,
    pub ships_at: Time,
    pub packing_since: Option<Time>,
    pub phase: Phase,
    /// What a stale reader still sees. `None` before the first transition.
    pub previous: Option<Phase>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Content {
    pub id: ContentId,
    pub upload: Option<Stored>,
}

/// An uploaded file without its bytes, which are elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stored {
    pub blob: BlobId,
    pub size: u64,
    pub sha256: String,
    pub reading: Reading,
}

/// The result of reading a PDF.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    Pages(u32),
    Unreadable(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Pending,
    Confirmed {
        at: Time,
        amount: u32,
    },
    Cancelled {
        confirmed_at: Time,
        at: Time,
    },
    Shipped {
        confirmed_at: Time,
        at: Time,
        amount: u32,
        tracking_number: Option<String>,
        billed_at: Option<Time>,
    },
    /// Gone for every caller. Remembered for a day for the inbox and for stale reads.
    Deleted {
        at: Time,
        why: Deletion,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deletion {
    ConfirmByPassed,
    CardDeclined,
}

/// A mail's state as people speak of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Pending,
    Confirmed,
    Packing,
    Shipped,
    Cancelled,
    /// Deleted since the card was declined.
    Declined,
    /// Deleted since it was not confirmed in time.
    Expired,
}

impl Standing {
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Confirmed,
        Self::Packing,
        Self::Shipped,
        Self::Cancelled,
        Self::Declined,
        Self::Expired,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Packing => "packing",
            Self::Shipped => "shipped",
            Self::Cancelled => "cancelled",
            Self::Declined => "declined",
            Self::Expired => "expired",
        }
    }
}

impl Mail {
    pub fn standing(&self) -> Standing {
        match &self.phase {
            Phase::Pending => Standing::Pending,
            Phase::Confirmed { .. } if self.packing_since.is_some() => Standing::Packing,
            Phase::Confirmed { .. } => Standing::Confirmed,
            Phase::Cancelled { .. } => Standing::Cancelled,
            Phase::Shipped { .. } => Standing::Shipped,
            Phase::Deleted { why: Deletion::CardDeclined, .. } => Standing::Declined,
            Phase::Deleted { why: Deletion::ConfirmByPassed, .. } => Standing::Expired,
        }
    }

    pub fn tracking_number(&self) -> Option<&str> {
        match &self.phase {
            Phase::Shipped { tracking_number, .. } => tracking_number.as_deref(),
            Phase::Pending | Phase::Confirmed { .. } | Phase::Cancelled { .. } | Phase::Deleted { .. } => {
                None
            }
        }
    }

    pub fn confirm_by(&self) -> Time {
        self.created_at + CONFIRM_WITHIN
    }

    pub fn targets_expire_at(&self) -> Time {
        self.created_at + TARGET_LIFE
    }

    pub fn cancel_until(&self) -> Time {
        self.created_at + CANCEL_WITHIN
    }

    /// The documents uploaded so far.
    pub fn blobs(&self) -> Vec<BlobId> {
        self.contents.iter().filter_map(|content| Some(content.upload.as_ref()?.blob.clone())).collect()
    }

    pub fn is_deleted(&self) -> bool {
        matches!(self.phase, Phase::Deleted { .. })
    }

    pub fn is_cancellable(&self, now: Time) -> bool {
        matches!(self.phase, Phase::Confirmed { .. })
            && self.packing_since.is_none()
            && now < self.cancel_until()
    }

    /// When time alone changes this mail next.
    pub fn next_due(&self) -> Option<Time> {
        match &self.phase {
            Phase::Pending => Some(self.confirm_by()),
            Phase::Confirmed { .. } => Some(self.ships_at),
            Phase::Cancelled { .. } => None,
            Phase::Shipped { at, billed_at, .. } => billed_at.is_none().then_some(*at + BILLED_AFTER),
            Phase::Deleted { at, .. } => Some(*at + REMEMBERED_AFTER_DELETION),
        }
    }

    /// Whether nothing more happens to it, neither by a call nor by time.
    pub fn has_ended(&self) -> bool {
        self.next_due().is_none()
    }

    pub fn content(&self, id: &ContentId) -> Option<(usize, &Content)> {
        self.contents.iter().enumerate().find(|(_, content)| content.id == *id)
    }

    /// The mail as `GET` shows it, or as it was before its last transition. `None` is a 404.
    pub fn view(&self, now: Time, stale: bool) -> Option<wire::Mail> {
        let phase = if stale { self.previous.as_ref()? } else { &self.phase };
        let (status, shipped_at, tracking_number) = match phase {
            Phase::Pending => (wire::Status::Pending, None, None),
            Phase::Confirmed { .. } => (wire::Status::Confirmed, None, None),
            Phase::Cancelled { .. } => (wire::Status::Cancelled, None, None),
            Phase::Shipped { at, tracking_number, .. } => {
                (wire::Status::Shipped, Some(*at), tracking_number.clone())
            }
            Phase::Deleted { .. } => return None,
        };
        let order = &self.order;
        Some(wire::Mail {
            id: self.id.to_string(),
            status,
            cancellable: status == wire::Status::Confirmed
                && self.packing_since.is_none()
                && now < self.cancel_until(),
            created_at: self.created_at,
            scheduled_to_ship_at: self.ships_at,
            confirm_by: self.confirm_by(),
            shipped_at,
            shipping_method: Some(order.shipping_method.word().to_owned()),
            shipping_options: Some(order.shipping_options.iter().map(|one| one.word().to_owned()).collect()),
            tracking_number,
            sender_address: Some(order.sender_address.clone().into()),
            receiver_address: Some(order.receiver_address.clone().into()),
            reply_letterpack: order.reply_letterpack.as_ref().map_or(wire::Enclosed::Nothing, |pack| {
                wire::Enclosed::Pack { address: pack.address.clone().map(Into::into) }
            }),
            contents: Some(
                self.contents.iter().zip(&order.files).map(|(content, file)| shown(content, file)).collect(),
            ),
        })
    }
}

fn shown(content: &Content, file: &wire::File) -> wire::Content {
    let file = file.clone();
    wire::Content {
        id: content.id.to_string(),
        file_name: Some(file.file_name),
        page_count: Some(file.page_count),
        paper_size: Some(file.paper_size),
        color: Some(file.color),
        duplex: Some(file.duplex),
        staple: file.staple,
        bind: file.bind,
    }
}
