//! Where a letter stands, each state with what is known in it and nothing else.

use chrono::TimeDelta;

use super::fact::{Certainty, GoneAnswer, Reason};
use super::mail::Mail;
use crate::base::clock::Time;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum State {
    /// Nothing at the service; to be created.
    Admitted,
    /// A mail exists; the first `uploaded` documents are there.
    Created {
        mail: Mail,
        uploaded: usize,
    },
    /// All documents are there.
    Uploaded {
        mail: Mail,
    },
    /// An intent is open: confirm may have been sent, and is sent again until the answer is definite.
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
        seen: Option<Seen>,
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
    /// Ended by a person; nobody knows whether it was posted.
    Closed,
    /// Waits for a person. `open` is the id of a mail that may have been confirmed.
    Held {
        reason: Reason,
        open: Option<String>,
    },
}

/// An open intent: nothing but confirm, cancel and GET of this mail until its outcome is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Open {
    pub mail: Mail,
    /// When the intent was recorded.
    pub since: Time,
    /// The service's own time between creation and `confirm_by`.
    pub window: TimeDelta,
    pub key: Option<Key>,
    /// Shown as held, though the probing goes on.
    pub held: Option<Reason>,
}

/// The first key of the rule that proves a mail dead: what confirm or cancel answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub answer: GoneAnswer,
    /// Only a late answer opens anything.
    pub late: bool,
}

/// Whether the files must be, or were, sent a second time.
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
pub struct Seen {
    pub ships_at: Time,
    pub cancellable: bool,
}

/// Whether a person wants a confirmed letter cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CancelWish {
    NotAsked,
    Asked,
    Refused(String),
}

/// A state without its data, as letters are listed, counted and searched for. An open intent that is shown as held
/// counts as held.
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
}

/// What a letter waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Progress {
    /// The service: it is to be posted or withdrawn.
    OnItsWay,
    /// A person's decision.
    Held,
    /// Its shipment.
    Followed,
    /// Nothing more will happen to it by itself or by a person.
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

    /// The word one lists it by.
    pub fn word(&self) -> &'static str {
        self.stage().word()
    }

    /// What comes first when much is due: 0 for what has a deadline or may have been posted, 1 for
    /// what is to be begun, 2 for what is followed.
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

    /// The mail that stands open at the service, or stood last.
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

    /// Whether nothing more will ever happen to it by itself or by a person.
    pub fn is_end(&self) -> bool {
        self.stage().progress() == Progress::Ended
    }

    /// Whether it is claimed that nothing was and nothing will be posted.
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
