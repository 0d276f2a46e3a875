//! What a worker gets: a drop to claim, a sidecar without its PDF, or a claim.

use super::settle::{Name, Stamp};
use super::shared::Shared;
use crate::outside::hot::WAS_THERE;
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
    },
    /// A sidecar whose PDF did not come: to be claimed and handed back.
    Sidecar((Name, Stamp)),
    /// Claimed already, with its stamp at the last look.
    Claimed(String, Option<u64>),
    /// A queue took it: to be laid into the claims.
    Laid(Ulid),
}

impl Work {
    /// The part that is claimed last.
    pub(super) fn main(&self) -> Option<&(Name, Stamp)> {
        match self {
            Self::Drop { parts, .. } => parts.last(),
            Self::Sidecar(sidecar) => Some(sidecar),
            Self::Claimed(..) | Self::Laid(_) => None,
        }
    }

    /// The claim's directory, and the ULID in its name.
    pub(super) fn claim(&self, shared: &Shared) -> Option<(String, Ulid)> {
        match self {
            Self::Drop { was_there, .. } => {
                let ulid = shared.new_ulid()?;
                let ending = if *was_there { WAS_THERE } else { "" };
                Some((format!("{ulid}{ending}"), ulid))
            }
            Self::Sidecar(_) => {
                let ulid = shared.new_ulid()?;
                Some((ulid.to_string(), ulid))
            }
            Self::Laid(ulid) => Some((ulid.to_string(), ulid.clone())),
            Self::Claimed(dir, _) => Some((dir.clone(), dir.trim_end_matches(WAS_THERE).parse().ok()?)),
        }
    }
}
