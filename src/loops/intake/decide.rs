//! Decides a claim: its content is read, inspected, copied, decided and recorded.
//!
//! The claim's ULID is the drop's name for life. Whatever was done of this before a crash is found under it,
//! so everything can simply be done again.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::claims::{ClaimRecord, KnownClaim, Next, next};
use super::settle::Stamp;
use super::shared::Shared;
use super::take::Still;
use super::taken_back;
use crate::base::clock::Time;
use crate::config::Folder;
use crate::domain::drop::{
    Origin, QueueDoubt, Refusal, Undecided, Waiting, pdf_of, showable, shown, sidecars_of,
};
use crate::domain::letter::LARGEST_DOCUMENT;
use crate::domain::printed::OtherPaper;
use crate::domain::rules::{Found, Verdict};
use crate::outside::hot::{Content, Hot, SeenEntry, is_file_claim, was_there};
use crate::outside::journal;
use crate::outside::pdf::Inspection;
use crate::outside::spool::{Dropped, EntryError, Ulid};
use crate::outside::store::{Fate, IncomingRow, Original, OriginalPlace, RecordError, StoreError};

/// The outcome of work on a claim.
#[derive(Debug)]
pub(super) enum Done {
    Decided,
    /// Nothing prevents its claim. It is claimed together with others.
    Free,
    /// It was claimed together with others, and is to be decided.
    Claimed,
    /// There is nothing to decide, or not any more.
    Nothing,
    /// The files of its folder's rules are being changed. Nothing was claimed.
    RulesUnsettled,
    /// The address book that it needs is being changed. Nothing was claimed.
    BookUnsettled,
    /// It is looked at again after this time, and decided if it looks the same then.
    Later(Duration, u64),
    /// A sidecar came while the file was settling in its claim, which became a directory for both, named by the
    /// ULID. It is looked at again.
    MadeDirectory,
    /// It needs a sidecar and has none. Nothing was claimed.
    Lacks(Vec<u8>),
    /// It begins as a PDF but has no end yet. Nothing was claimed.
    HasNoEnd(Vec<u8>, Stamp),
}

#[derive(Debug, thiserror::Error)]
pub(super) enum TakeError {
    #[error("it can't be moved")]
    NoRight,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Spool(#[from] EntryError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What was counted in a file where it was dropped.
#[derive(Debug, Clone)]
pub(super) struct Peeked {
    /// What [`Shared::mark`] made of its bytes.
    pub(super) mark: u64,
    pub(super) answer: Inspection,
}

/// One claim that a worker is working on.
pub(super) struct Claim {
    pub(super) shared: Arc<Shared>,
    pub(super) folder: Arc<Folder>,
    pub(super) hot: Arc<Hot>,
    /// Its name among the claims, which begins with the ULID.
    pub(super) name: String,
    pub(super) ulid: Ulid,
    /// Whether its sidecar may have been there before it. What is claimed already when the daemon starts may have one.
    pub(super) was_alone: bool,
    /// Whether others wait that can be claimed together with it.
    pub(super) is_one_of_many: bool,
    /// What was counted before the claim, so that the same bytes are not inspected twice.
    pub(super) peeked: Option<Peeked>,
    /// What is recorded of it if a queue took it.
    pub(super) queued: Option<IncomingRow>,
}

impl Claim {
    pub(super) fn new(
        shared: &Arc<Shared>,
        folder: Arc<Folder>,
        hot: Arc<Hot>,
        (name, ulid): (String, Ulid),
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            folder,
            hot,
            name,
            ulid,
            was_alone: true,
            is_one_of_many: false,
            peeked: None,
            queued: None,
        }
    }

    /// Whether a drop that is not claimed yet needs a sidecar. The answer decides nothing else. `read` is its content if
    /// that was read already.
    pub(super) async fn needs_sidecar(
        &mut self,
        name: &[u8],
        read: Option<Content>,
    ) -> Result<bool, TakeError> {
        let content = if let Some(read) = read { read } else { self.hot.peek(name, LARGEST_DOCUMENT)? };
        let Content::Whole { bytes, .. } = content else { return Ok(false) };
        let answer = self.shared.inspector.inspect(&bytes).await?;
        let size = bytes.len() as u64;
        let (Inspection::Pages(pages) | Inspection::OtherPaper { pages, .. }) = answer else {
            return Ok(false);
        };
        let printed = if self.folder.rules.match_pages() {
            Some(self.shared.inspector.printed(&bytes).await?)
        } else {
            None
        };
        self.peeked = Some(Peeked { mark: self.shared.mark(&bytes), answer });
        if sidecars_of(name).next().is_none() {
            // Such a sidecar cannot exist, so it is not waited for.
            return Ok(false);
        }
        let name = shown(name);
        let found = Found {
            name: name.clone(),
            size,
            pages,
            sha256: String::new(),
            paper: OtherPaper::default(),
            is_placeholder: false,
            printed,
        };
        let book = self.shared.book(&self.folder).await;
        let verdict = self.verdict(&name, &[found], None, (&book, None), &[])?;
        Ok(matches!(verdict, Verdict::Hold(Waiting::Sidecar)))
    }

    pub(super) async fn decide(&self, still: &Still<'_>) -> Result<Done, TakeError> {
        let held = self.hot.claimed(&self.name)?;
        let main = main_of(&held);
        let original = self.shared.store.original(&self.ulid)?;
        let known = KnownClaim {
            holds_drop: main.is_some(),
            record: original.as_ref().map(record_of),
            in_spool: self.shared.spool.has(&self.ulid),
            was_there: was_there(&self.name),
        };
        match (next(known), main, original) {
            (Next::Judge, Some(main), original) => {
                // A drop that a person has accepted has its sidecar with it, and is recorded. What a queue took was
                // laid whole.
                let is_found =
                    matches!(still, Still::Looks(_)) && original.is_none() && self.queued.is_none();
                if is_found && is_file_claim(&self.name) {
                    if taken_back::is_left_behind(&self.hot, &main.name)? {
                        self.hot.rename_claim(&self.name, self.ulid.as_str())?;
                        return Ok(Done::MadeDirectory);
                    }
                } else if is_found && taken_back::bring_left_behind(&self.hot, &self.name, &main.name)? {
                    return self.later();
                }
                let accepted = original.and_then(accepted);
                self.take_in(main, &held, accepted.as_deref(), still).await
            }
            (Next::Hold, Some(main), _) => {
                self.record(self.origin(main), Undecided::Waits(Waiting::WasThere)).await
            }
            (Next::BringAlong, _, Some(original)) => {
                taken_back::bring_along(&self.shared.store, &self.hot, &original)?;
                self.shared.store.reclaimed(self.ulid.clone(), None).await?;
                Box::pin(self.decide(still)).await
            }
            (Next::BackToShelf, _, Some(original)) => {
                taken_back::remove_text_of(&self.shared.store, &self.hot, &original)?;
                self.shared.store.reclaimed(self.ulid.clone(), Some(self.shared.clock.now())).await?;
                self.shared.bells.originals.notify_one();
                Ok(Done::Nothing)
            }
            (Next::Clear, _, _) => self.nothing_in(&held).await,
            (Next::Leave | Next::Judge | Next::Hold | Next::BringAlong | Next::BackToShelf, _, _) => {
                Ok(Done::Nothing)
            }
        }
    }

    pub(super) fn origin(&self, main: &SeenEntry) -> Origin {
        let owner = self.queued.as_ref().map_or(Some(main.stat.owner), |queued| queued.owner);
        Origin { folder: self.folder.name.clone(), name: main.name.clone(), owner }
    }

    /// Reads, inspects, copies and judges a drop, and records the outcome. If something that decides changed
    /// meanwhile, the drop settles again.
    async fn take_in(
        &self,
        main: &SeenEntry,
        held: &[SeenEntry],
        accepted: Option<&[String]>,
        still: &Still<'_>,
    ) -> Result<Done, TakeError> {
        let mut draft = self.shared.spool.begin(&self.ulid)?;
        let look = self.must_be_seen()?;
        let undecided = match self.judge(main, held, accepted, still, &mut draft).await {
            Ok(Some(Verdict::Send(..)))
                if let Some(waiting) = look
                    && accepted.is_none() =>
            {
                Undecided::Waits(waiting)
            }
            Ok(Some(Verdict::Hold(Waiting::Sidecar))) if self.queued.is_some() => {
                Undecided::Refused(Refusal::NoLetter)
            }
            Ok(Some(Verdict::Send(mut order, _warnings))) => {
                let now = self.shared.clock.now();
                order.not_before = self.folder.waits_until(now);
                order.sealed_pdf = self.folder.keep.sealed_pdf;
                draft.appear(&order, Some(&self.dropped(main, now)?))?;
                self.shared.bells.letters.notify_one();
                return Ok(Done::Decided);
            }
            Ok(Some(Verdict::Refuse(refusal))) => Undecided::Refused(refusal),
            Ok(Some(Verdict::Hold(waiting))) => Undecided::Waits(waiting),
            Ok(None) => return self.later(),
            Err(error) => return Err(error),
        };
        drop(draft);
        self.record(self.origin(main), undecided).await
    }

    /// Why a person must look at what a queue took.
    fn must_be_seen(&self) -> Result<Option<Waiting>, StoreError> {
        let Some((queued, look)) = self.queued.as_ref().and_then(|queued| Some((queued, queued.look?)))
        else {
            return Ok(None);
        };
        let letter = match look {
            QueueDoubt::PrintedAgain => self.shared.store.letter_of_job(&self.ulid)?,
            QueueDoubt::Lost
            | QueueDoubt::Printed
            | QueueDoubt::NotProved
            | QueueDoubt::MailedAgain
            | QueueDoubt::MailedTwice
            | QueueDoubt::WasInMailbox => None,
        };
        Ok(Some(Waiting::Queue { queue: queued.queue.clone(), look, letter }))
    }

    /// The source of a letter, and the terms of its folder. Its owner counts only if nobody else could have
    /// written the file.
    fn dropped(&self, main: &SeenEntry, now: Time) -> Result<Dropped, TakeError> {
        let mut origin = self.origin(main);
        let mut terms = self.folder.terms(now);
        let is_file_of_a_person = self.queued.is_none();
        if self.folder.names.by_copy
            && is_file_of_a_person
            && !self.hot.is_claim_its_owners(&self.name, &main.name, main.stat)?
        {
            terms.owner_not_proved = true;
            origin.owner = None;
        }
        Ok(Dropped { origin, terms })
    }

    pub(super) async fn record(&self, origin: Origin, undecided: Undecided) -> Result<Done, TakeError> {
        journal::not_taken(&self.folder.name, &self.ulid, &undecided);
        let at = self.shared.clock.now();
        let content = content_of(&self.hot, &self.name, &origin.name);
        self.shared.store.undecide(self.ulid.clone(), origin, undecided, content, (at, at)).await?;
        self.shared.bells.originals.notify_one();
        self.shared.bells.decided.notify_waiters();
        Ok(Done::Decided)
    }

    /// A crash came between a sidecar and its PDF, or after everything was put away. If a person has saved the
    /// sidecar again meanwhile, the newer one counts and this one is handed back.
    pub(super) async fn nothing_in(&self, held: &[SeenEntry]) -> Result<Done, TakeError> {
        match (taken_back::put_back(&self.hot, &self.name, held), held) {
            (Err(error), [sidecar, ..]) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let name = showable(&shown(&sidecar.name));
                self.record(self.origin(sidecar), Undecided::Refused(Refusal::SidecarReplaced { name })).await
            }
            (done, _) => Ok(done.map(|()| Done::Nothing)?),
        }
    }
}

/// The PDF or subfolder in a claim. The rest are its sidecars.
pub(super) fn main_of(held: &[SeenEntry]) -> Option<&SeenEntry> {
    held.iter().find(|seen| pdf_of(&seen.name).is_none())
}

/// The hash of a claimed PDF, or of the PDFs of a claimed subfolder. `None` if it cannot be read, so that only its
/// name identifies it.
pub(super) fn content_of(hot: &Hot, claim: &str, name: &[u8]) -> Option<String> {
    let path = hot.claimed_path(claim, name);
    let documents = super::candidates::documents_of(hot, &path).ok().flatten()?;
    Some(super::candidates::content_of(&documents))
}

pub(super) fn record_of(original: &Original) -> ClaimRecord {
    let accepted = matches!(original.fate, Fate::Undecided(Undecided::Accepted { .. }));
    ClaimRecord { accepted, in_claim: original.place == OriginalPlace::Claim }
}

/// The doubts with which a person accepted it, if a person did.
fn accepted(original: Original) -> Option<Vec<String>> {
    match original.fate {
        Fate::Undecided(Undecided::Accepted { doubts }) => Some(doubts),
        Fate::Undecided(_) | Fate::Letter(_) => None,
    }
}
