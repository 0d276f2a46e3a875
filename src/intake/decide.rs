//! A claim from what it holds to what becomes of it: read, inspected, copied, decided, recorded.
//!
//! The claim's ULID is the drop's name for life. Whatever was done of this before a crash is found
//! again under it, so that it is simply done once more.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::litter::is_litter;
use super::shared::Shared;
use super::sidecar::is_inner_sidecar;
use super::taken_back;
use crate::config::{Folder, LetterKind};
use crate::drop::{
    Doubtful, Kind, Origin, Refusal, Undecided, Waiting, is_pdf, natural_order, pdf_of, showable, shown,
};
use crate::hot::{Content, Hot, Seen, WAS_THERE, kind};
use crate::journal;
use crate::letter::{DOCUMENTS_PER_LETTER, LARGEST_DOCUMENT};
use crate::pdf::Answer;
use crate::rules::{Facts, Found, Sidecar, Verdict};
use crate::spool::{Draft, Dropped, EntryError, Ulid, sha256_of};
use crate::store::{Original, Place, RecordError, StoreError};

/// What became of a claim.
#[derive(Debug)]
pub(super) enum Done {
    Decided,
    /// There is nothing to decide (any more).
    Nothing,
    /// To be looked at once more after this long, and decided if it looks the same then.
    Later(Duration, u64),
    /// It needs a sidecar and has none; nothing was claimed.
    Lacks(Vec<u8>),
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

/// One claim in the hands of a worker.
pub(super) struct Claim {
    pub(super) shared: Arc<Shared>,
    pub(super) folder: Arc<Folder>,
    pub(super) hot: Arc<Hot>,
    /// Its directory: the ULID, perhaps with [`WAS_THERE`].
    pub(super) dir: String,
    pub(super) ulid: Ulid,
}

/// What is found in a claim, or why nothing can be made of it.
pub(super) enum Opened {
    Documents(Vec<Found>),
    Refused(Refusal),
    Doubtful(Vec<Doubtful>),
    Changing,
}

impl Claim {
    /// Whether a drop that is not claimed yet needs a sidecar. What is said here decides nothing else.
    pub(super) async fn needs_sidecar(&self, name: &[u8]) -> Result<bool, TakeError> {
        let Content::Whole { bytes, .. } = self.hot.peek(name, LARGEST_DOCUMENT)? else { return Ok(false) };
        let Ok(pages) = self.shared.inspector.pages(&bytes).await? else { return Ok(false) };
        let name = shown(name);
        let found = Found { name: name.clone(), size: bytes.len() as u64, pages, sha256: String::new() };
        let verdict = self.verdict(&name, &[found], None).await;
        Ok(matches!(verdict, Verdict::Hold(Waiting::Sidecar)))
    }

    /// The doubts with which a person accepted it, if one did.
    async fn accepted(&self, known: Option<&Original>) -> Result<Option<Vec<String>>, TakeError> {
        let Some(original) = known else { return Ok(None) };
        let Some(Undecided::Accepted { doubts }) = &original.undecided else { return Ok(None) };
        if original.place != Place::Claim {
            // A crash, or an error, came after it was taken from where that was said: the rest of it.
            taken_back::bring_along(&self.hot, original)?;
            self.shared.store.reclaimed(self.ulid.clone(), None).await?;
        }
        Ok(Some(doubts.clone()))
    }

    pub(super) async fn decide(self) -> Result<Done, TakeError> {
        let known = self.shared.store.original(&self.ulid)?;
        let held = self.hot.claimed(&self.dir)?;
        let main = match main_of(&held) {
            Some(main) => main,
            // What is left of it goes where the shelf has laid the original, or it is about to be taken back.
            None if known.is_some() => return Ok(Done::Nothing),
            None => return self.nothing_in(&held),
        };
        let accepted = self.accepted(known.as_ref()).await?;
        if let Some(original) = known.filter(|_| accepted.is_none()) {
            if original.place != Place::Claim {
                // A crash came after a person had moved it and before that was recorded: back to its shelf.
                taken_back::remove_text_of(&self.hot, &original)?;
                self.shared.store.reclaimed(self.ulid, Some(self.shared.clock.now())).await?;
                self.shared.owed.notify_one();
            }
            return Ok(Done::Nothing);
        }
        if self.shared.spool.has(&self.ulid) {
            // Decided before a crash: it is about to be admitted.
            return Ok(Done::Nothing);
        }
        let owner = Some(main.stat.st_uid);
        let origin = Origin { folder: self.folder.name.clone(), name: main.name.clone(), owner };
        if self.dir.ends_with(WAS_THERE) && accepted.is_none() {
            return self.record(origin, Undecided::Waits(Waiting::WasThere)).await;
        }
        let accepted = accepted.unwrap_or_default();
        let mut draft = self.shared.spool.begin(&self.ulid)?;
        let opened = self.open(main, &accepted, &mut draft).await;
        let decided = match opened {
            Ok(Opened::Documents(documents)) => self.judge(main, &documents).await,
            Ok(Opened::Refused(refusal)) => Ok(Verdict::Refuse(refusal)),
            Ok(Opened::Doubtful(doubtful)) => Ok(Verdict::Hold(Waiting::Doubt(doubtful))),
            Ok(Opened::Changing) => {
                draft.discard();
                return self.later();
            }
            Err(error) => Err(error),
        };
        let undecided = match decided {
            Ok(Verdict::Send(mut order, _warnings)) => {
                let now = self.shared.clock.now();
                order.not_before = self.folder.waits_until(now);
                order.sealed_pdf = self.folder.keep.sealed_pdf;
                let terms = self.folder.terms(now);
                draft.finish(&order, Some(&Dropped { origin, terms }))?;
                self.shared.taken.notify_one();
                return Ok(Done::Decided);
            }
            Ok(Verdict::Refuse(refusal)) => Undecided::Refused(refusal),
            Ok(Verdict::Hold(waiting)) => Undecided::Waits(waiting),
            Err(error) => {
                draft.discard();
                return Err(error);
            }
        };
        draft.discard();
        self.record(origin, undecided).await
    }

    async fn open(&self, main: &Seen, accepted: &[String], draft: &mut Draft) -> Result<Opened, TakeError> {
        match kind(&main.stat) {
            Some(Kind::Directory) if self.folder.letter == LetterKind::Subfolder => {
                self.open_subfolder(main, accepted, draft).await
            }
            Some(kind) => Ok(Opened::Refused(Refusal::NotAFile(kind))),
            None if self.folder.letter == LetterKind::Subfolder => {
                Ok(Opened::Refused(Refusal::NotInSubfolder))
            }
            None => self.open_file(main, accepted, draft).await,
        }
    }

    async fn record(&self, origin: Origin, undecided: Undecided) -> Result<Done, TakeError> {
        journal::not_taken(&self.folder.name, &self.ulid, &undecided);
        let at = self.shared.clock.now();
        self.shared.store.undecide(self.ulid.clone(), origin, undecided, at, at).await?;
        self.shared.owed.notify_one();
        Ok(Done::Decided)
    }

    /// A crash came between a sidecar and its PDF, or after everything was put away.
    fn nothing_in(&self, held: &[Seen]) -> Result<Done, TakeError> {
        for seen in held {
            self.hot.put_back(&self.dir, &seen.name)?;
        }
        self.hot.unclaim(&self.dir)?;
        Ok(Done::Nothing)
    }

    async fn open_file(
        &self,
        main: &Seen,
        accepted: &[String],
        draft: &mut Draft,
    ) -> Result<Opened, TakeError> {
        if !is_pdf(&main.name) {
            return Ok(Opened::Refused(Refusal::NotPdf));
        }
        Ok(match self.open_document(None, &main.name, accepted, draft).await? {
            Ok(found) => Opened::Documents(vec![found]),
            Err(other) => other,
        })
    }

    async fn open_subfolder(
        &self,
        main: &Seen,
        accepted: &[String],
        draft: &mut Draft,
    ) -> Result<Opened, TakeError> {
        let mut inside = self.hot.claimed_inside(&self.dir, &main.name)?;
        inside.retain(|seen| !is_litter(&self.folder, &seen.name) && !is_inner_sidecar(&seen.name));
        if let Some(unfit) = inside.iter().find(|seen| !is_pdf(&seen.name) || kind(&seen.stat).is_some()) {
            return Ok(Opened::Refused(Refusal::Unfit { name: shown(&unfit.name) }));
        }
        if inside.is_empty() {
            return Ok(Opened::Refused(Refusal::NoDocuments));
        }
        if inside.len() > DOCUMENTS_PER_LETTER {
            return Ok(Opened::Refused(Refusal::TooManyDocuments { found: inside.len() }));
        }
        inside.sort_by(|a, b| natural_order(&shown(&a.name), &shown(&b.name)));
        let (mut documents, mut doubtful) = (Vec::new(), Vec::new());
        for seen in inside {
            match self.open_document(Some(&main.name), &seen.name, accepted, draft).await? {
                Ok(found) => documents.push(found),
                Err(Opened::Doubtful(more)) => doubtful.extend(more),
                Err(other) => return Ok(other),
            }
        }
        Ok(if doubtful.is_empty() { Opened::Documents(documents) } else { Opened::Doubtful(doubtful) })
    }

    /// One document, read, inspected and copied into the spool: the very same bytes.
    async fn open_document(
        &self,
        inside: Option<&[u8]>,
        name: &[u8],
        accepted: &[String],
        draft: &mut Draft,
    ) -> Result<Result<Found, Opened>, TakeError> {
        let bytes = match self.read(inside, name, LARGEST_DOCUMENT)? {
            Ok(bytes) => bytes,
            Err(other) => return Ok(Err(other)),
        };
        let sha256 = sha256_of(&bytes);
        let pages = match self.shared.inspector.inspect(&bytes).await? {
            Answer::Pages(pages) => pages,
            // The service compares the count before it posts anything.
            Answer::Doubtful { pages, .. } if accepted.contains(&sha256) => pages,
            Answer::Doubtful { pages, doubt } => {
                return Ok(Err(Opened::Doubtful(vec![Doubtful { doubt, pages, sha256 }])));
            }
            Answer::Doubt(doubt) => return Ok(Err(Opened::Refused(Refusal::Pdf(doubt)))),
        };
        draft.add(&bytes)?;
        let name = showable(&shown(name));
        Ok(Ok(Found { name, size: bytes.len() as u64, pages, sha256 }))
    }

    pub(super) fn read(
        &self,
        inside: Option<&[u8]>,
        name: &[u8],
        largest: u64,
    ) -> io::Result<Result<Vec<u8>, Opened>> {
        Ok(match self.hot.read(&self.dir, inside, name, largest)? {
            Content::Whole { bytes, .. } if bytes.is_empty() => Err(Opened::Refused(Refusal::Empty)),
            Content::Whole { bytes, .. } => Ok(bytes),
            Content::TooLarge(size) => Err(Opened::Refused(Refusal::TooLarge { size })),
            Content::NotAFile(kind) => Err(Opened::Refused(Refusal::NotAFile(kind))),
            Content::Linked => Err(Opened::Refused(Refusal::LinkedElsewhere)),
            Content::NoRight => Err(Opened::Refused(Refusal::NoRight)),
            Content::Changing => Err(Opened::Changing),
        })
    }

    async fn judge(&self, main: &Seen, documents: &[Found]) -> Result<Verdict, TakeError> {
        let sidecar = match self.sidecar(main)? {
            Some(Err(why)) => return Ok(Verdict::Refuse(Refusal::Sidecar(why))),
            Some(Ok(sidecar)) => Some(sidecar),
            None => None,
        };
        Ok(self.verdict(&shown(&main.name), documents, sidecar.as_ref()).await)
    }

    async fn verdict(&self, name: &str, documents: &[Found], sidecar: Option<&Sidecar>) -> Verdict {
        let book = self.shared.book(&self.folder).await;
        let book = match &*book {
            Ok(book) => Ok(book.as_ref()),
            Err(why) => Err(why.as_str()),
        };
        let arrived = self.ulid.time().with_timezone(&self.folder.zone).naive_local();
        self.folder.rules.decide(&Facts { name, documents, arrived, sidecar, book })
    }
}

/// The drop itself among what a claim holds.
pub(super) fn main_of(held: &[Seen]) -> Option<&Seen> {
    let is_sidecar =
        |seen: &Seen| pdf_of(&seen.name).is_some_and(|pdf| held.iter().any(|other| other.name == pdf));
    let only_sidecar = held.len() == 1 && pdf_of(&held[0].name).is_some();
    held.iter().find(|seen| !is_sidecar(seen) && !only_sidecar)
}
