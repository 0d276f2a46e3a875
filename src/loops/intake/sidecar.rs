//! What comes with a drop: beside it, or inside its subfolder.

use super::decide::{Claim, TakeError};
use super::shape::{Unusable, is_inner_sidecar, only_sidecar};
use crate::domain::drop::{Kind, Refusal, shown, sidecars_in_any_form};
use crate::domain::rules::Sidecar;
use crate::outside::hot::{SeenEntry, kind};

pub const LARGEST_SIDECAR: u64 = 1 << 20;

/// The address that came with a drop.
pub(super) enum Brought {
    /// The only sidecar, read completely and parsed. `None` if there is no sidecar.
    Sidecar(Option<Box<Sidecar>>),
    Refused(Refusal),
    /// It was written to while it was read.
    Changing,
}

impl Claim {
    /// The sidecar beside the drop in the claim, or inside a subfolder. `held` is the content of the claim.
    pub(super) fn sidecar(&self, main: &SeenEntry, held: &[SeenEntry]) -> Result<Brought, TakeError> {
        let within;
        let (held, inside) = match kind(&main.stat) {
            Some(Kind::Directory) => {
                within = self.hot.claimed_inside(&self.name, &main.name)?;
                (within.as_slice(), Some(main.name.as_slice()))
            }
            Some(_) | None => (held, None),
        };
        // What is claimed together belongs together.
        let beside = sidecars_in_any_form(&main.name, |_| false);
        let is_one = |seen: &&SeenEntry| match inside {
            Some(_) => is_inner_sidecar(&seen.name),
            None => beside.contains(&seen.name),
        };
        let name = match only_sidecar(held.iter().filter(is_one).map(|seen| seen.name.clone()).collect()) {
            Ok(None) => return Ok(Brought::Sidecar(None)),
            Ok(Some(name)) => name,
            Err(refusal) => return Ok(Brought::Refused(refusal)),
        };
        let understood = match self.read(inside, &name, LARGEST_SIDECAR)? {
            Ok(bytes) => self.folder.sidecar(&shown(&name), bytes),
            Err(Unusable::Changing) => return Ok(Brought::Changing),
            Err(Unusable::Refused(_) | Unusable::Doubtful(_)) => Err(unreadable(&name)),
        };
        Ok(match understood {
            Ok(sidecar) => Brought::Sidecar(Some(Box::new(sidecar))),
            Err(why) => Brought::Refused(Refusal::Sidecar(why)),
        })
    }
}

/// Why a sidecar that lies there cannot be used.
pub fn unreadable(name: &[u8]) -> String {
    format!("{} can't be read", shown(name))
}
