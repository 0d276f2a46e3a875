//! One mail of a letter, and when its time is provably over.

use std::fmt;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::base::clock::Time;

/// How long after `confirm_by` a mail that answers "not found" may be believed to be deleted.
const LATE_BY_SERVER: TimeDelta = TimeDelta::minutes(5);
/// Longer after `confirm_by` than this, "not found" proves nothing: a service may have forgotten mails that
/// were posted.
const TOO_LATE_AFTER: TimeDelta = TimeDelta::hours(72);
/// The first on our own steady clock, where the service tells no time: one minute more.
const LATE_BY_WATCH: TimeDelta = TimeDelta::minutes(6);

/// Whose answers count: a hash of base address, client and account. Another realm's are no evidence.
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
    /// The how manieth of its letter, from 1.
    pub k: u32,
    pub id: String,
    pub realm: Realm,
    /// The ids of its files, in order.
    pub contents: Vec<String>,
    pub ships_at: Time,
    /// The service's deadline on the service's clock: for evidence.
    pub confirm_by: Time,
    /// The deadlines on our clock: for planning only.
    pub upload_until: Time,
    pub confirm_until: Time,
}

/// What an answer tells about the time, none of it by our own wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Evidence {
    /// The answer's `Date`.
    pub server: Option<Time>,
    /// How long this process has steadily known that the mail exists.
    pub watched: TimeDelta,
}

/// What "not found" says of a mail, by when it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lateness {
    /// Its deadline may not have passed.
    NotYet,
    /// Its deadline has passed beyond doubt, and not long ago: it was deleted.
    Proof,
    /// So long ago that a mail which was posted may not be found any more either.
    TooLate,
}

impl Mail {
    /// `window` is the service's own `confirm_by` less `created_at`. Our wall clock (`now`) counts only where
    /// the service tells no time, and only against a proof.
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

    /// When, by our clock, it is worth asking whether it is late.
    pub fn late_from(&self) -> Time {
        self.confirm_until + LATE_BY_WATCH
    }
}
