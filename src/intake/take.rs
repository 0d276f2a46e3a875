//! A drop from where it lies into the claims, and looked at there until it is still.

use std::io;

use super::decide::{Claim, Done, TakeError, main_of};
use super::settle::{Name, Stamp};
use super::shared::settle_time;
use super::stamp::stamp_inside;
use super::watched::Work;
use crate::config::LetterKind;
use crate::drop::Kind;
use crate::hot::kind;

/// What a claim was when it was found to be finished.
pub(super) enum Still<'a> {
    /// In the folder.
    Seen(&'a Stamp),
    /// In its claim.
    Looks(u64),
}

impl Claim {
    /// Claims what is to be claimed, and decides it.
    pub(super) async fn take(mut self, work: &Work) -> Result<Done, TakeError> {
        match work {
            Work::Drop { names, stamp, peek, .. } => {
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
                if !self.claim(names)? {
                    return Ok(Done::Nothing);
                }
                self.decide(&Still::Seen(stamp)).await
            }
            // What is not claimed under our eyes may still be written to.
            Work::Claimed(_, looks) if *looks == Some(self.looks()?) => {
                self.decide(&Still::Looks(looks.unwrap_or_default())).await
            }
            Work::Claimed(..) => self.later(),
        }
    }

    /// Says whether there was still something to claim.
    fn claim(&self, names: &[Name]) -> Result<bool, TakeError> {
        match self.hot.claim(&self.dir, None, names) {
            Ok(()) => Ok(true),
            Err(error) => {
                // A sidecar may have been moved before its PDF; without it nothing is posted.
                for seen in &self.hot.claimed(&self.dir)? {
                    self.hot.put_back(&self.dir, &seen.name)?;
                }
                self.hot.unclaim(&self.dir)?;
                if error.kind() == io::ErrorKind::NotFound {
                    // Somebody took it away again.
                    return Ok(false);
                }
                let no_right = error.kind() == io::ErrorKind::PermissionDenied;
                Err(if no_right { TakeError::NoRight } else { error.into() })
            }
        }
    }

    /// Whether a claim is still what it was when it was found to be finished.
    pub(super) fn is_still(&self, still: &Still<'_>) -> Result<bool, TakeError> {
        match still {
            Still::Seen(stamp) => self.is_as_seen(stamp),
            Still::Looks(looks) => Ok(self.looks()? == *looks),
        }
    }

    fn is_as_seen(&self, stamp: &Stamp) -> Result<bool, TakeError> {
        let held = self.hot.claimed(&self.dir)?;
        let Some(main) = main_of(&held) else { return Ok(false) };
        let is_letter =
            self.folder.letter == LetterKind::Subfolder && kind(&main.stat) == Some(Kind::Directory);
        let inside = if is_letter {
            stamp_inside(self.hot.claimed_inside(&self.dir, &main.name)?)
        } else {
            stamp.inside
        };
        Ok(stamp.is_as(main, inside))
    }

    /// To be looked at again: it is decided when it still looks like this then.
    pub(super) fn later(&self) -> Result<Done, TakeError> {
        Ok(Done::Later(settle_time(&self.folder, &self.hot), self.looks()?))
    }

    /// A number that changes with anything in the claim.
    fn looks(&self) -> io::Result<u64> {
        let held = self.hot.claimed(&self.dir)?;
        let mut looks = 0;
        for seen in &held {
            if kind(&seen.stat) == Some(Kind::Directory) {
                looks ^= stamp_inside(self.hot.claimed_inside(&self.dir, &seen.name)?);
            }
        }
        Ok(looks ^ stamp_inside(held))
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
