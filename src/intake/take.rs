//! A drop from where it lies into the claims.

use std::io;

use super::decide::{Claim, Done, TakeError, main_of};
use super::shared::settle_time;
use super::watched::Work;

impl Claim {
    /// Claims what is to be claimed, and decides it.
    pub(super) async fn take(self, work: &Work) -> Result<Done, TakeError> {
        if let Work::Drop { names, stamp, peek, .. } = work {
            if let Some(name) = names.last().filter(|_| *peek) {
                match self.needs_sidecar(name).await {
                    Ok(true) => return Ok(Done::Lacks(name.clone())),
                    Ok(false) => {}
                    Err(TakeError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                        return Ok(Done::Nothing);
                    }
                    Err(error) => return Err(error),
                }
            }
            match self.hot.claim(&self.dir, None, names) {
                Ok(()) => {}
                // Somebody took it away again.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let held = self.hot.claimed(&self.dir)?;
                    for seen in &held {
                        self.hot.put_back(&self.dir, &seen.name)?;
                    }
                    self.hot.unclaim(&self.dir)?;
                    return Ok(Done::Nothing);
                }
                Err(error) => {
                    // Nothing was moved; without right to move, nothing is posted.
                    drop(self.hot.unclaim(&self.dir));
                    return Err(error.into());
                }
            }
            let held = self.hot.claimed(&self.dir)?;
            let same = main_of(&held).is_some_and(|main| stamp.is_as(main));
            if !same {
                return Ok(Done::Later(settle_time(&self.folder, &self.hot)));
            }
        }
        self.decide().await
    }
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claim")
            .field("folder", &self.folder.name)
            .field("dir", &self.dir)
            .finish_non_exhaustive()
    }
}
