//! One mail of a letter, and when its deadline has provably passed.

use std::fmt;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::base::clock::Time;

/// How long after `confirm_by` an answer of "not found" is evidence that the mail was deleted.
const LATE_BY_SERVER: TimeDelta = TimeDelta::minutes(5);
/// Beyond this time after `confirm_by`, "not found" proves nothing, because a service may have removed mails
/// that were posted.
const TOO_LATE_AFTER: TimeDelta = TimeDelta::hours(72);
/// [`LATE_BY_SERVER`] on our own monotonic clock, for a service that sends no time. One minute longer.
const LATE_BY_WATCH: TimeDelta = TimeDelta::minutes(6);

/// The account whose answers count: a hash of base address, client and account. Answers of another realm are
/// not evidence.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Realm(pub String);

impl fmt::Debug for Realm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Realm({:.8})", self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mail {
    /// The ordinal of this mail within its letter (1 = first).
    pub k: u32,
    pub id: String,
    pub realm: Realm,
    /// The ids of its files, in order.
    pub contents: Vec<String>,
    pub ships_at: Time,
    /// The service's deadline on the service's clock. Used as evidence.
    pub confirm_by: Time,
    /// The deadlines on our clock. Used for planning only.
    pub upload_until: Time,
    pub confirm_until: Time,
}

/// What an answer shows about the time. Our own wall clock is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Evidence {
    /// The answer's `Date`.
    pub server: Option<Time>,
    /// How long this process has known the mail, by the monotonic clock.
    pub watched: TimeDelta,
}

/// What "not found" says about a mail, depending on when it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lateness {
    /// The mail's deadline may not have passed.
    NotYet,
    /// The deadline has certainly passed, and not long ago: the mail was deleted.
    Proof,
    /// So long ago that a posted mail may not be found any more either.
    TooLate,
}

impl Mail {
    /// `window` is the service's own `confirm_by` minus `created_at`. Our wall clock (`now`) counts only if
    /// the service sends no time, and only against a proof.
    pub fn lateness(&self, window: TimeDelta, evidence: &Evidence, now: Time) -> Lateness {
        let (is_late, is_too_late) = match evidence.server {
            Some(server) => {
                (server >= self.confirm_by + LATE_BY_SERVER, server > self.confirm_by + TOO_LATE_AFTER)
            }
            None => (
                evidence.watched >= window + LATE_BY_WATCH,
                evidence.watched > window + TOO_LATE_AFTER || now > self.confirm_until + TOO_LATE_AFTER,
            ),
        };
        if is_too_late {
            Lateness::TooLate
        } else if is_late {
            Lateness::Proof
        } else {
            Lateness::NotYet
        }
    }

    /// From when, on our clock, it is useful to ask whether the mail's deadline has passed.
    pub fn late_from(&self) -> Time {
        self.confirm_until + LATE_BY_WATCH
    }
}
