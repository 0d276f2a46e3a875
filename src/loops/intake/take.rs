//! Moves a drop from where it lies into the claims, where it is looked at until it is unchanged.

use std::io;

use super::books::BookNow;
use super::decide::{Claim, Done, TakeError};
use super::held_up::RulesNow;
use super::litter::{is_half_made, is_litter};
use super::settle::{Name, Stamp};
use super::shared::settle_time;
use super::stamp::stamp_inside;
use super::taken_back::put_back;
use super::work::Work;
use crate::config::LetterKind;
use crate::domain::drop::{Kind, is_pdf};
use crate::domain::letter::LARGEST_DOCUMENT;
use crate::outside::hot::{Content, SeenEntry, is_file_claim, kind, last_part};
use crate::outside::pdf::is_pdf_without_end;

/// Files up to this size are read once for all that is asked before the claim. Of a larger one that may still be
/// growing only the ends are read.
const READ_ONCE: u64 = 1 << 20;

/// The stamps of a claim when it was found to be finished.
pub(super) enum Still<'a> {
    /// Each of its parts as it had settled in the folder.
    Settled(&'a [(Name, Stamp)]),
    /// The hash that [`Claim::looks_of`] returned when it had settled in its claim.
    Looks(u64),
}

impl Claim {
    /// Claims and decides a drop. If it can be claimed together with others, it is only looked into.
    pub(super) async fn take(&mut self, work: &Work) -> Result<Done, TakeError> {
        if matches!(work, Work::Claimed(..) | Work::Laid(_)) {
            self.queued = self.shared.store.incoming(&self.ulid)?;
        }
        match work {
            Work::Drop { parts, .. } => {
                if let Some(done) = self.prevented(work).await? {
                    return Ok(done);
                }
                if self.is_one_of_many && work.may_share() {
                    return Ok(Done::Free);
                }
                let names: Vec<&Name> = parts.iter().map(|(name, _)| name).collect();
                if !self.claim(&names)? {
                    return Ok(Done::Nothing);
                }
                self.decide(&Still::Settled(parts)).await
            }
            Work::Sidecar { part, is_over } => self.hand_back(part, *is_over).await,
            Work::Free { part, .. } => {
                if let Some(done) = self.prevented(work).await? {
                    return Ok(done);
                }
                if !self.claim(&[&part.0])? {
                    return Ok(Done::Nothing);
                }
                self.decide(&Still::Settled(std::slice::from_ref(part))).await
            }
            Work::ClaimedTogether(_, part, peeked) => {
                // It came without a sidecar.
                (self.was_alone, self.peeked) = (false, peeked.clone());
                self.decide(&Still::Settled(std::slice::from_ref(part))).await
            }
            // A drop that we did not claim ourselves may still be being written.
            Work::Claimed(_, looks) if *looks == Some(self.looks()?) => {
                self.decide(&Still::Looks(looks.unwrap_or_default())).await
            }
            Work::Claimed(..) => self.later(),
            Work::Laid(_) => {
                self.lay().await?;
                let looks = self.looks()?;
                self.decide(&Still::Looks(looks)).await
            }
        }
    }

    /// The outcome of a drop that must not be claimed at present.
    pub(super) async fn prevented(&mut self, work: &Work) -> Result<Option<Done>, TakeError> {
        let (part, may_grow, peek) = match work {
            Work::Drop { parts, may_grow, peek, was_alone, .. } => {
                self.was_alone = *was_alone;
                (parts.last(), *may_grow, *peek)
            }
            Work::Free { part, may_grow, peeked } => {
                (self.was_alone, self.peeked) = (false, peeked.clone());
                (Some(part), *may_grow, false)
            }
            Work::Sidecar { .. } | Work::Claimed(..) | Work::ClaimedTogether(..) | Work::Laid(_) => {
                return Ok(None);
            }
        };
        let Some((name, stamp)) = part else { return Ok(None) };
        let read = match (peek && stamp.size <= READ_ONCE).then(|| self.hot.peek(name, LARGEST_DOCUMENT)) {
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Done::Nothing)),
            read => read.transpose()?,
        };
        // Its writer finds it under its name while it is left there.
        if may_grow && self.may_grow_still(name, read.as_ref()) {
            return Ok(Some(Done::HasNoEnd(name.clone(), stamp.clone())));
        }
        if peek {
            match self.needs_sidecar(name, read).await {
                Ok(true) => return Ok(Some(Done::Lacks(name.clone()))),
                Ok(false) => {}
                Err(TakeError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Some(Done::Nothing));
                }
                Err(error) => return Err(error),
            }
        }
        if self.needs_book(name) && matches!(self.shared.book(&self.folder).await, BookNow::Unsettled) {
            return Ok(Some(Done::BookUnsettled));
        }
        let unsettled = self.shared.rules(&self.folder) == RulesNow::Unsettled;
        Ok(unsettled.then_some(Done::RulesUnsettled))
    }

    /// Whether it may still be being written. `read` is its content if that was read already.
    fn may_grow_still(&self, name: &[u8], read: Option<&Content>) -> bool {
        match read {
            Some(Content::Whole { bytes, .. }) => is_pdf_without_end(bytes, last_part(bytes)),
            Some(_) | None => self.has_no_end(name),
        }
    }

    /// Whether it may still be being written: a PDF without an end, or a subfolder that has such a PDF, a
    /// file that a program has not finished, or nothing yet. An unreadable file does not count.
    fn has_no_end(&self, name: &[u8]) -> bool {
        let is_endless =
            |name: &[u8]| self.hot.ends(name).is_ok_and(|(head, tail)| is_pdf_without_end(&head, &tail));
        if self.folder.letter == LetterKind::File {
            return is_endless(name);
        }
        let Ok(inside) = self.hot.inside(name) else { return false };
        let is_growing = |seen: &SeenEntry| {
            is_half_made(&seen.name)
                || is_pdf(&seen.name) && is_endless(&[name, b"/", seen.name.as_slice()].concat())
        };
        inside.iter().any(is_growing) || inside.iter().all(|seen| is_litter(&self.folder, &seen.name))
    }

    /// Claims the names. Returns whether there was still something to claim.
    pub(super) fn claim(&mut self, names: &[&Name]) -> Result<bool, TakeError> {
        let bytes: Vec<&[u8]> = names.iter().map(|name| name.as_slice()).collect();
        let mut claimed = self.hot.claim(&self.name, None, &bytes);
        if is_file_claim(&self.name) && claimed.as_ref().is_err_and(is_for_its_name) {
            // The file system has less room for names.
            self.name = self.ulid.to_string();
            claimed = self.hot.claim(&self.name, None, &bytes);
        }
        match claimed {
            Ok(()) => Ok(true),
            Err(error) => self.not_claimed(error).map(|()| false),
        }
    }

    /// `Err` unless somebody took it away again.
    pub(super) fn not_claimed(&self, error: io::Error) -> Result<(), TakeError> {
        // A sidecar may have been moved before its PDF. Without the PDF nothing is posted.
        put_back(&self.hot, &self.name, &self.hot.claimed(&self.name)?)?;
        if error.kind() == io::ErrorKind::NotFound {
            return Ok(());
        }
        let no_right = error.kind() == io::ErrorKind::PermissionDenied;
        Err(if no_right { TakeError::NoRight } else { error.into() })
    }

    /// Whether a claim is unchanged since it had settled, and since `read_from`, its stamp before its first
    /// byte was read.
    ///
    /// The first comparison cannot use the time of change, because the claim's own rename sets it. The second
    /// one does, so that a writer who sets the time of modification back is noticed as well.
    pub(super) fn is_still(&self, still: &Still<'_>, read_from: u64) -> Result<bool, TakeError> {
        let held = self.hot.claimed(&self.name)?;
        if self.looks_of(&held)? != read_from {
            return Ok(false);
        }
        match still {
            Still::Settled(parts) => self.is_as_settled(parts, &held),
            Still::Looks(looks) => Ok(read_from == *looks),
        }
    }

    fn is_as_settled(&self, parts: &[(Name, Stamp)], held: &[SeenEntry]) -> Result<bool, TakeError> {
        if parts.len() != held.len() {
            return Ok(false);
        }
        for (name, stamp) in parts {
            let Some(seen) = held.iter().find(|seen| seen.name == *name) else { return Ok(false) };
            let is_letter =
                self.folder.letter == LetterKind::Subfolder && kind(&seen.stat) == Some(Kind::Directory);
            let inside = if is_letter {
                stamp_inside(self.hot.claimed_inside(&self.name, name)?)
            } else {
                stamp.inside
            };
            if !stamp.is_as(seen, inside) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// It is looked at again, and decided if it still looks like this then.
    pub(super) fn later(&self) -> Result<Done, TakeError> {
        Ok(Done::Later(settle_time(&self.folder, &self.hot), self.looks()?))
    }

    fn looks(&self) -> io::Result<u64> {
        self.looks_of(&self.hot.claimed(&self.name)?)
    }

    /// A hash that changes with anything in the claim.
    pub(super) fn looks_of(&self, held: &[SeenEntry]) -> io::Result<u64> {
        let mut looks = 0;
        for seen in held {
            if kind(&seen.stat) == Some(Kind::Directory) {
                looks ^= stamp_inside(self.hot.claimed_inside(&self.name, &seen.name)?);
            }
        }
        Ok(looks ^ stamp_inside(held.to_vec()))
    }
}

/// Whether a file could not be claimed because of its claim's name.
pub(super) fn is_for_its_name(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidInput)
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claim")
            .field("folder", &self.folder.name)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
