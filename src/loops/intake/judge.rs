//! Reads and judges the content of a claim by the rules, in the steps of [`JUDGING`].

use super::books::BookNow;
use super::decide::{Claim, TakeError};
use super::documents::OpenedDocument;
use super::held_up::RulesNow;
use super::order::{JUDGING, JudgeStep};
use super::sidecar::Brought;
use super::take::Still;
use crate::domain::address::PostalData;
use crate::domain::drop::{Waiting, shown};
use crate::domain::rules::{DropFacts, Found, Sidecar, Verdict};
use crate::outside::hot::SeenEntry;
use crate::outside::spool::Draft;
use crate::outside::store::StoreError;

/// What was read of a drop.
enum Contents {
    Whole(Vec<Found>, Option<Box<Sidecar>>),
    /// It is decided already, without the rules.
    Decided(Verdict),
    Changing,
}

impl Contents {
    fn of(opened: OpenedDocument, brought: Brought) -> Self {
        match (opened, brought) {
            (OpenedDocument::Changing, _) | (_, Brought::Changing) => Self::Changing,
            // What nobody can approve is refused before a person is asked about it. Of two sidecars on a shelf one could
            // be taken away.
            (OpenedDocument::Refused(refusal), _)
            | (OpenedDocument::Documents(_) | OpenedDocument::Doubtful(_), Brought::Refused(refusal)) => {
                Self::Decided(Verdict::Refuse(refusal))
            }
            (OpenedDocument::Doubtful(doubtful), Brought::Sidecar(_)) => {
                Self::Decided(Verdict::Hold(Waiting::Doubt(doubtful)))
            }
            (OpenedDocument::Documents(documents), Brought::Sidecar(sidecar)) => {
                Self::Whole(documents, sidecar)
            }
        }
    }
}

impl Claim {
    /// The verdict of the rules on a drop. `None` if something that decides has changed meanwhile. The
    /// documents are copied into the draft.
    pub(super) async fn judge(
        &self,
        main: &SeenEntry,
        held: &[SeenEntry],
        accepted: Option<&[String]>,
        still: &Still<'_>,
        draft: &mut Draft,
    ) -> Result<Option<Verdict>, TakeError> {
        let (mut looks, mut read, mut book, mut verdict) = (0, None, BookNow::None, None);
        for step in JUDGING {
            let is_same = match step {
                JudgeStep::Look => {
                    looks = self.looks_of(held)?;
                    true
                }
                JudgeStep::Read => {
                    let opened = self.open(main, accepted.unwrap_or_default(), draft).await;
                    read = Some((opened, self.sidecar(main, held)));
                    true
                }
                JudgeStep::CompareDrop => self.is_still(still, looks)?,
                JudgeStep::Judge => {
                    let Some((opened, brought)) = read.take() else { return Ok(None) };
                    match Contents::of(opened?, brought?) {
                        Contents::Whole(documents, sidecar) => {
                            book = self.shared.book(&self.folder).await;
                            let sidecar = sidecar.as_deref();
                            let accepts = accepted.unwrap_or_default();
                            let postal = self.shared.postal_data(&self.folder).await;
                            let name = shown(&main.name);
                            let lists = (&book, postal.as_deref());
                            let found = self.verdict(&name, &documents, sidecar, lists, accepts)?;
                            // A drop that a person has accepted is not held again. No sidecar in the folder is
                            // meant for what a queue took.
                            verdict = Some(match (accepted, &self.queued) {
                                (Some(_), _) | (None, Some(_)) => found,
                                (None, None) => self.held_for_sidecar(&main.name, sidecar, found)?,
                            });
                            true
                        }
                        Contents::Decided(found) => {
                            verdict = Some(found);
                            true
                        }
                        Contents::Changing => false,
                    }
                }
                JudgeStep::CompareBook => {
                    matches!(book, BookNow::None)
                        || !self.needs_book(&main.name)
                        || self.shared.is_book_the_same(&self.folder, &book).await
                }
                JudgeStep::CompareRules => match self.shared.rules(&self.folder) {
                    RulesNow::InForce => true,
                    RulesNow::Unsettled => false,
                    // They have kept changing for so long that a person must decide.
                    RulesNow::TooLong => {
                        verdict = Some(Verdict::Hold(Waiting::Rules));
                        true
                    }
                },
            };
            if !is_same {
                return Ok(None);
            }
        }
        Ok(verdict)
    }

    /// Whether the address book may decide a drop of this name.
    pub(super) fn needs_book(&self, name: &[u8]) -> bool {
        self.folder.book.is_some() && self.folder.rules.may_need_book(&shown(name))
    }

    pub(super) fn verdict(
        &self,
        name: &str,
        documents: &[Found],
        sidecar: Option<&Sidecar>,
        (book, postal_data): (&BookNow, Option<&PostalData>),
        accepted: &[String],
    ) -> Result<Verdict, StoreError> {
        let book = match book {
            BookNow::None => Ok(None),
            BookNow::Unsettled => Err("it is being written"),
            BookNow::Settled(book) => book.as_ref().as_ref().map(Some).map_err(String::as_str),
        };
        let arrived = self.ulid.time().with_timezone(&self.folder.zone).naive_local();
        let (rules, is_receiver_known) = (&self.folder.rules, false);
        let mut facts = DropFacts {
            name,
            documents,
            arrived,
            sidecar,
            book,
            mailed: self.queued.as_ref().and_then(|queued| queued.mailed.as_ref()),
            accepted,
            is_receiver_known,
            postal_data,
        };
        if let Some(receiver) = rules.printed_receiver(&facts) {
            facts.is_receiver_known = self.shared.store.has_written_to(&rules.folder, &receiver)?;
        }
        Ok(rules.decide(&facts))
    }
}
