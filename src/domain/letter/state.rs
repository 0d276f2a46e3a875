//! The state of a letter. Each variant carries the data that is known in it, and nothing else.

use chrono::TimeDelta;

use super::fact::{Certainty, GoneAnswer, Reason};
use super::mail::Mail;
use crate::base::clock::Time;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum State {
    /// Nothing is at the service yet; the mail must be created.
    Admitted,
    /// A mail exists, and the first `uploaded` documents are there.
    Created {
        mail: Mail,
        uploaded: usize,
    },
    /// All documents are there.
    Uploaded {
        mail: Mail,
    },
    /// An intent is open: confirm may have been sent, and is repeated until the answer is definite.
    Confirming {
        open: Open,
        resend: Resend,
    },
    /// An intent is open and must end without a posting: only cancel is sent.
    Withdrawing {
        open: Open,
        then: Then,
    },
    /// Posted.
    Confirmed {
        mail: Mail,
        since: Time,
        seen: Option<ShipForecast>,
        wish: CancelWish,
    },
    Shipped {
        mail: Mail,
        at: Time,
        tracking: Option<String>,
    },
    /// Was confirmed, then cancelled: nothing is posted.
    Cancelled {
        by_us: bool,
    },
    /// Ended before anything was confirmed: nothing is posted.
    Withdrawn,
    /// Ended by a person, and nobody knows whether it was posted.
    Closed,
    /// Waits for a person. `open` is the id of a mail that may have been confirmed.
    Held {
        reason: Reason,
        open: Option<String>,
    },
}

/// An open intent: only confirm, cancel and read of this mail until its outcome is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Open {
    pub mail: Mail,
    /// When the intent was recorded.
    pub since: Time,
    /// The service's own time between creation and `confirm_by`.
    pub window: TimeDelta,
    pub key: Option<Key>,
    /// Why it is shown as held, although the probing continues.
    pub held: Option<Reason>,
}

/// The first key of the two-key rule that proves a mail dead: what confirm or cancel answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub answer: GoneAnswer,
    /// Only a late answer opens the second key.
    pub late: bool,
}

/// Whether the files must be, or were, uploaded a second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resend {
    NotNeeded,
    Wanted,
    Done,
}

/// What a withdrawal leads to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Then {
    End,
    Hold(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShipForecast {
    pub ships_at: Time,
    pub cancellable: bool,
}

/// Whether a person wants a confirmed letter to be cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CancelWish {
    NotAsked,
    Asked,
    Refused(String),
}

/// A state without its data, as letters are listed, counted and searched. An open intent that is shown as
/// held counts as held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    Admitted,
    Created,
    Uploaded,
    Confirming,
    Withdrawing,
    Confirmed,
    Shipped,
    Cancelled,
    Withdrawn,
    Closed,
    Held,
}

impl Stage {
    pub const ALL: [Self; 11] = [
        Self::Admitted,
        Self::Created,
        Self::Uploaded,
        Self::Confirming,
        Self::Withdrawing,
        Self::Confirmed,
        Self::Shipped,
        Self::Cancelled,
        Self::Withdrawn,
        Self::Closed,
        Self::Held,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::Created => "created",
            Self::Uploaded => "uploaded",
            Self::Confirming => "confirming",
            Self::Withdrawing => "withdrawing",
            Self::Confirmed => "confirmed",
            Self::Shipped => "shipped",
            Self::Cancelled => "cancelled",
            Self::Withdrawn => "withdrawn",
            Self::Closed => "closed",
            Self::Held => "held",
        }
    }

    pub fn progress(self) -> Progress {
        match self {
            Self::Admitted | Self::Created | Self::Uploaded | Self::Confirming | Self::Withdrawing => {
                Progress::OnItsWay
            }
            Self::Held => Progress::Held,
            Self::Confirmed => Progress::Followed,
            Self::Shipped | Self::Cancelled | Self::Withdrawn | Self::Closed => Progress::Ended,
        }
    }

    /// Whether it counts for the limits of its folder: it was posted, or may be.
    pub fn counts_for_limits(self) -> bool {
        match self {
            Self::Held | Self::Withdrawn | Self::Cancelled => false,
            Self::Admitted
            | Self::Created
            | Self::Uploaded
            | Self::Confirming
            | Self::Withdrawing
            | Self::Confirmed
            | Self::Shipped
            | Self::Closed => true,
        }
    }
}

/// What a letter waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Progress {
    /// For the service: it is to be posted or withdrawn.
    OnItsWay,
    /// For a person's decision.
    Held,
    /// For its shipment.
    Followed,
    /// For nothing: it has ended.
    Ended,
}

impl State {
    pub fn stage(&self) -> Stage {
        match self {
            Self::Admitted => Stage::Admitted,
            Self::Created { .. } => Stage::Created,
            Self::Uploaded { .. } => Stage::Uploaded,
            Self::Confirming { open, .. } | Self::Withdrawing { open, .. } if open.held.is_some() => {
                Stage::Held
            }
            Self::Confirming { .. } => Stage::Confirming,
            Self::Withdrawing { .. } => Stage::Withdrawing,
            Self::Confirmed { .. } => Stage::Confirmed,
            Self::Shipped { .. } => Stage::Shipped,
            Self::Cancelled { .. } => Stage::Cancelled,
            Self::Withdrawn => Stage::Withdrawn,
            Self::Closed => Stage::Closed,
            Self::Held { .. } => Stage::Held,
        }
    }

    /// The word for lists.
    pub fn word(&self) -> &'static str {
        self.stage().word()
    }

    /// The order in which due letters are taken: 0 for letters with a deadline or an open intent, 1 for those
    /// that begin, 2 for those that are followed.
    pub fn urgency(&self) -> u8 {
        match self {
            Self::Created { .. }
            | Self::Uploaded { .. }
            | Self::Confirming { .. }
            | Self::Withdrawing { .. }
            | Self::Confirmed { wish: CancelWish::Asked, .. } => 0,
            Self::Admitted | Self::Held { .. } => 1,
            Self::Confirmed { wish: CancelWish::NotAsked | CancelWish::Refused(_), .. }
            | Self::Shipped { .. }
            | Self::Cancelled { .. }
            | Self::Withdrawn
            | Self::Closed => 2,
        }
    }

    /// The mail that is open at the service, or the last one that was.
    pub fn mail(&self) -> Option<&Mail> {
        match self {
            Self::Created { mail, .. }
            | Self::Uploaded { mail }
            | Self::Confirmed { mail, .. }
            | Self::Shipped { mail, .. } => Some(mail),
            Self::Confirming { open, .. } | Self::Withdrawing { open, .. } => Some(&open.mail),
            Self::Admitted | Self::Cancelled { .. } | Self::Withdrawn | Self::Closed | Self::Held { .. } => {
                None
            }
        }
    }

    /// Why it waits for a person, if it does.
    pub fn tracking(&self) -> Option<&str> {
        match self {
            Self::Shipped { tracking, .. } => tracking.as_deref(),
            Self::Admitted
            | Self::Created { .. }
            | Self::Uploaded { .. }
            | Self::Confirming { .. }
            | Self::Withdrawing { .. }
            | Self::Confirmed { .. }
            | Self::Cancelled { .. }
            | Self::Withdrawn
            | Self::Closed
            | Self::Held { .. } => None,
        }
    }

    pub fn hold(&self) -> Option<&Reason> {
        match self {
            Self::Held { reason, .. } => Some(reason),
            Self::Confirming { open, .. } | Self::Withdrawing { open, .. } => open.held.as_ref(),
            Self::Admitted
            | Self::Created { .. }
            | Self::Uploaded { .. }
            | Self::Confirmed { .. }
            | Self::Shipped { .. }
            | Self::Cancelled { .. }
            | Self::Withdrawn
            | Self::Closed => None,
        }
    }

    pub fn is_posted(&self) -> bool {
        matches!(self, Self::Confirmed { .. } | Self::Shipped { .. })
    }

    /// Whether nothing more will ever happen to it.
    pub fn is_end(&self) -> bool {
        self.stage().progress() == Progress::Ended
    }

    /// Whether it says that nothing was and nothing will be posted.
    pub fn claims_nothing_posted(&self) -> bool {
        match self {
            Self::Cancelled { .. } | Self::Withdrawn => true,
            Self::Held { reason, .. } => reason.certainty() == Certainty::NothingPosted,
            Self::Admitted
            | Self::Created { .. }
            | Self::Uploaded { .. }
            | Self::Confirming { .. }
            | Self::Withdrawing { .. }
            | Self::Confirmed { .. }
            | Self::Shipped { .. }
            | Self::Closed => false,
        }
    }
}
