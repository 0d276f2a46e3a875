//! What a drop brings along: beside it, or in its subfolder.

use super::decide::{Claim, TakeError};
use crate::drop::{INSIDE, shown, sidecars_of};
use crate::hot::{Seen, kind};
use crate::rules::Sidecar;

const LARGEST_SIDECAR: u64 = 1 << 20;

impl Claim {
    /// What lies in the claim beside the drop, or in it.
    pub(super) fn sidecar(&self, main: &Seen) -> Result<Option<Result<Sidecar, String>>, TakeError> {
        let (held, inside) = match kind(&main.stat) {
            Some(_) => (self.hot.claimed_inside(&self.dir, &main.name)?, Some(main.name.as_slice())),
            None => (self.hot.claimed(&self.dir)?, None),
        };
        let is_one = |seen: &&Seen| match inside {
            Some(_) => is_inner_sidecar(&seen.name),
            None => sidecars_of(&main.name).any(|name| name == seen.name),
        };
        let Some(seen) = held.iter().find(is_one) else { return Ok(None) };
        Ok(Some(match self.read(inside, &seen.name, LARGEST_SIDECAR)? {
            Ok(bytes) => self.folder.sidecar(&shown(&seen.name), bytes),
            Err(_) => Err(format!("{} can't be read", shown(&seen.name))),
        }))
    }
}

pub(super) fn is_inner_sidecar(name: &[u8]) -> bool {
    INSIDE.iter().any(|known| known.as_bytes() == name)
}
