//! What a worker gets: a drop to claim, a sidecar without its PDF, or a claim.

use super::decide::Peeked;
use super::settle::{Name, Stamp};
use super::shared::Shared;
use crate::outside::hot::{WAS_THERE, claim_of_file, fits_in_claim, ulid_of_claim};
use crate::outside::spool::Ulid;

/// Something to decide.
#[derive(Debug)]
pub(super) enum Work {
    /// To be claimed: what belongs together, each with its stamp when it had settled. The PDF or subfolder is
    /// last.
    Drop {
        parts: Vec<(Name, Stamp)>,
        was_there: bool,
        /// It has no sidecar and may need one, which is checked before it is claimed.
        peek: bool,
        /// While it has no end, it is left to its writer for a while.
        may_grow: bool,
        /// Its sidecar may have been there before it, so it may be meant for a letter of the name that was taken in without one.
        was_alone: bool,
    },
    /// A sidecar without its PDF, to be claimed and handed back: if its wait is over, or else only if its PDF was taken in
    /// without it.
    Sidecar { part: (Name, Stamp), is_over: bool },
    /// Claimed already, with its stamp at the last look.
    Claimed(String, Option<u64>),
    /// A file that was dropped alone and looked into, and is to be claimed together with others.
    Free { part: (Name, Stamp), may_grow: bool, peeked: Option<Peeked> },
    /// A file that was claimed together with others, with its stamp when it had settled, and what was counted in it.
    ClaimedTogether(String, (Name, Stamp), Option<Peeked>),
    /// A queue took it: to be laid into the claims.
    Laid(Ulid),
}

impl Work {
    /// The part that is claimed last.
    pub(super) fn main(&self) -> Option<&(Name, Stamp)> {
        match self {
            Self::Drop { parts, .. } => parts.last(),
            Self::Sidecar { part, .. } | Self::Free { part, .. } => Some(part),
            Self::Claimed(..) | Self::ClaimedTogether(..) | Self::Laid(_) => None,
        }
    }

    /// Whether it may be claimed together with others: a file that was dropped alone, whose name fits in its claim's.
    pub(super) fn may_share(&self) -> bool {
        match self {
            Self::Drop { parts, was_there: false, .. } => {
                matches!(parts.as_slice(), [(name, stamp)] if stamp.kind.is_none() && fits_in_claim(name))
            }
            Self::Free { .. } => true,
            Self::Drop { .. }
            | Self::Sidecar { .. }
            | Self::Claimed(..)
            | Self::ClaimedTogether(..)
            | Self::Laid(_) => false,
        }
    }

    /// Whether that can be done without a look at its content.
    pub(super) fn is_plain(&self) -> bool {
        self.may_share() && !matches!(self, Self::Drop { peek: true, .. })
    }

    /// The claim, and the ULID in its name.
    pub(super) fn claim(&self, shared: &Shared) -> Option<(String, Ulid)> {
        match self {
            Self::Drop { was_there: true, .. } => {
                let ulid = shared.new_ulid()?;
                Some((format!("{ulid}{WAS_THERE}"), ulid))
            }
            Self::Drop { parts, .. } => {
                let ulid = shared.new_ulid()?;
                let alone = match parts.as_slice() {
                    [(name, stamp)] if stamp.kind.is_none() => claim_of_file(&ulid, name),
                    _ => None,
                };
                Some((alone.unwrap_or_else(|| ulid.to_string()), ulid))
            }
            Self::Free { part: (name, _), .. } => {
                let ulid = shared.new_ulid()?;
                Some((claim_of_file(&ulid, name).unwrap_or_else(|| ulid.to_string()), ulid))
            }
            Self::Sidecar { .. } => {
                let ulid = shared.new_ulid()?;
                Some((ulid.to_string(), ulid))
            }
            Self::Laid(ulid) => Some((ulid.to_string(), ulid.clone())),
            Self::Claimed(claim, _) | Self::ClaimedTogether(claim, ..) => {
                Some((claim.clone(), ulid_of_claim(claim)?))
            }
        }
    }
}
