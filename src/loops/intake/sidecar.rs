//! What comes with a drop: beside it, or inside its subfolder.

use super::decide::{Claim, TakeError};
use super::documents::OpenedDocument;
use crate::domain::drop::{INSIDE, Kind, Refusal, showable, shown, sidecars_in_any_form};
use crate::domain::rules::Sidecar;
use crate::outside::hot::{SeenEntry, kind};

const LARGEST_SIDECAR: u64 = 1 << 20;

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
        let found: Vec<&SeenEntry> = held.iter().filter(is_one).collect();
        let seen = match found.as_slice() {
            [] => return Ok(Brought::Sidecar(None)),
            [one] => one,
            several => {
                // Only a person knows which of them is meant.
                let mut names: Vec<String> =
                    several.iter().map(|seen| showable(&shown(&seen.name))).collect();
                names.sort();
                return Ok(Brought::Refused(Refusal::SeveralSidecars { names }));
            }
        };
        let understood = match self.read(inside, &seen.name, LARGEST_SIDECAR)? {
            Ok(bytes) => self.folder.sidecar(&shown(&seen.name), bytes),
            Err(OpenedDocument::Changing) => return Ok(Brought::Changing),
            Err(_) => Err(format!("{} can't be read", shown(&seen.name))),
        };
        Ok(match understood {
            Ok(sidecar) => Brought::Sidecar(Some(Box::new(sidecar))),
            Err(why) => Brought::Refused(Refusal::Sidecar(why)),
        })
    }
}

pub(super) fn is_inner_sidecar(name: &[u8]) -> bool {
    INSIDE.iter().any(|known| known.as_bytes() == name)
}
