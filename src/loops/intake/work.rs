//! What a worker is given: a drop to be claimed, a sidecar without its PDF, or a claim.

use super::settle::{Name, Stamp};
use super::shared::Shared;
use crate::outside::hot::WAS_THERE;
use crate::outside::spool::Ulid;

/// Something to be decided.
#[derive(Debug)]
pub(super) enum Work {
    /// To be claimed: what goes together, each as it had settled; the PDF or subfolder is last.
    Drop {
        parts: Vec<(Name, Stamp)>,
        was_there: bool,
        /// It has no sidecar and may need one: that is looked at before it is claimed.
        peek: bool,
        /// Without an end it is left to its writer for a while.
        may_grow: bool,
    },
    /// A sidecar whose PDF did not come: to be claimed and handed back.
    Sidecar((Name, Stamp)),
    /// Claimed already; what it looked like when it was seen last.
    Claimed(String, Option<u64>),
}

impl Work {
    /// What is to be claimed last.
    pub(super) fn main(&self) -> Option<&(Name, Stamp)> {
        match self {
            Self::Drop { parts, .. } => parts.last(),
            Self::Sidecar(sidecar) => Some(sidecar),
            Self::Claimed(..) => None,
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
            Self::Claimed(dir, _) => Some((dir.clone(), dir.trim_end_matches(WAS_THERE).parse().ok()?)),
        }
    }
}
