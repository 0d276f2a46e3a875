//! The content of a claim: its documents, read, inspected and copied into the spool.

use std::io;

use super::decide::{Claim, TakeError};
use super::litter::is_litter;
use super::sidecar::is_inner_sidecar;
use crate::config::LetterKind;
use crate::domain::drop::{Doubt, Doubtful, Kind, Refusal, is_pdf, natural_order, showable, shown};
use crate::domain::letter::{DOCUMENTS_PER_LETTER, LARGEST_DOCUMENT};
use crate::domain::printed::{Attention, OtherPaper};
use crate::domain::rules::Found;
use crate::outside::hot::{Content, SeenEntry, kind};
use crate::outside::pdf::Inspection;
use crate::outside::spool::{Draft, sha256_of};

/// The content of a claim, or why it cannot be used.
pub(super) enum OpenedDocument {
    Documents(Vec<Found>),
    Refused(Refusal),
    Doubtful(Vec<Doubtful>),
    Changing,
}

impl Claim {
    pub(super) async fn open(
        &self,
        main: &SeenEntry,
        accepted: &[String],
        draft: &mut Draft,
    ) -> Result<OpenedDocument, TakeError> {
        match kind(&main.stat) {
            Some(Kind::Directory) if self.folder.letter == LetterKind::Subfolder => {
                self.open_subfolder(main, accepted, draft).await
            }
            Some(kind) => Ok(OpenedDocument::Refused(Refusal::NotAFile(kind))),
            None if self.folder.letter == LetterKind::Subfolder => {
                Ok(OpenedDocument::Refused(Refusal::NotInSubfolder))
            }
            None => self.open_file(main, accepted, draft).await,
        }
    }

    async fn open_file(
        &self,
        main: &SeenEntry,
        accepted: &[String],
        draft: &mut Draft,
    ) -> Result<OpenedDocument, TakeError> {
        if !is_pdf(&main.name) {
            return Ok(OpenedDocument::Refused(Refusal::NotPdf));
        }
        Ok(match self.open_document(None, &main.name, accepted, draft).await? {
            Ok(found) => OpenedDocument::Documents(vec![found]),
            Err(other) => other,
        })
    }

    async fn open_subfolder(
        &self,
        main: &SeenEntry,
        accepted: &[String],
        draft: &mut Draft,
    ) -> Result<OpenedDocument, TakeError> {
        let mut inside = self.hot.claimed_inside(&self.name, &main.name)?;
        inside.retain(|seen| !is_litter(&self.folder, &seen.name) && !is_inner_sidecar(&seen.name));
        if let Some(unfit) = inside.iter().find(|seen| !is_pdf(&seen.name) || kind(&seen.stat).is_some()) {
            return Ok(OpenedDocument::Refused(Refusal::Unfit { name: showable(&shown(&unfit.name)) }));
        }
        if inside.is_empty() {
            return Ok(OpenedDocument::Refused(Refusal::NoDocuments));
        }
        if inside.len() > DOCUMENTS_PER_LETTER {
            return Ok(OpenedDocument::Refused(Refusal::TooManyDocuments { found: inside.len() }));
        }
        inside.sort_by(|a, b| natural_order(&shown(&a.name), &shown(&b.name)));
        let (mut documents, mut doubtful) = (Vec::new(), Vec::new());
        for seen in inside {
            match self.open_document(Some(&main.name), &seen.name, accepted, draft).await? {
                Ok(found) => documents.push(found),
                Err(OpenedDocument::Doubtful(more)) => doubtful.extend(more),
                Err(other) => return Ok(other),
            }
        }
        Ok(if doubtful.is_empty() {
            OpenedDocument::Documents(documents)
        } else {
            OpenedDocument::Doubtful(doubtful)
        })
    }

    /// One document, read, inspected and copied into the spool: exactly the same bytes.
    async fn open_document(
        &self,
        inside: Option<&[u8]>,
        name: &[u8],
        accepted: &[String],
        draft: &mut Draft,
    ) -> Result<Result<Found, OpenedDocument>, TakeError> {
        let bytes = match self.read(inside, name, LARGEST_DOCUMENT)? {
            Ok(bytes) => bytes,
            Err(other) => return Ok(Err(other)),
        };
        let sha256 = sha256_of(&bytes);
        let answer = match &self.peeked {
            Some((peeked, answer)) if *peeked == bytes => answer.clone(),
            Some(_) | None => self.shared.inspector.inspect(&bytes).await?,
        };
        let mut is_placeholder = false;
        let (pages, paper) = match answer {
            Inspection::Pages(pages) => (pages, OtherPaper::default()),
            Inspection::OtherPaper { pages, paper } => (pages, paper),
            // The service compares the count before it posts anything.
            Inspection::Doubtful { pages, .. } if accepted.contains(&sha256) => {
                (pages, OtherPaper::default())
            }
            Inspection::Doubtful { pages, doubt: Doubt::Placeholder } if self.takes_placeholders() => {
                is_placeholder = true;
                (pages, OtherPaper::default())
            }
            Inspection::Doubtful { pages, doubt } => {
                return Ok(Err(OpenedDocument::Doubtful(vec![Doubtful { doubt, pages, sha256 }])));
            }
            Inspection::Doubt(doubt) => return Ok(Err(OpenedDocument::Refused(Refusal::Pdf(doubt)))),
        };
        draft.add(&bytes)?;
        let printed = if self.folder.rules.read_pages() {
            Some(self.shared.inspector.printed(&bytes).await?)
        } else {
            None
        };
        let name = showable(&shown(name));
        let size = bytes.len() as u64;
        Ok(Ok(Found { name, size, pages, sha256, paper, is_placeholder, printed }))
    }

    fn takes_placeholders(&self) -> bool {
        self.folder.rules.check_print.placeholder != Attention::Hold
    }

    pub(super) fn read(
        &self,
        inside: Option<&[u8]>,
        name: &[u8],
        largest: u64,
    ) -> io::Result<Result<Vec<u8>, OpenedDocument>> {
        Ok(match self.hot.read(&self.name, inside, name, largest)? {
            Content::Whole { bytes, .. } if bytes.is_empty() => Err(OpenedDocument::Refused(Refusal::Empty)),
            Content::Whole { bytes, .. } => Ok(bytes),
            Content::TooLarge(size) => Err(OpenedDocument::Refused(Refusal::TooLarge { size })),
            Content::NotAFile(kind) => Err(OpenedDocument::Refused(Refusal::NotAFile(kind))),
            Content::Linked => Err(OpenedDocument::Refused(Refusal::LinkedElsewhere)),
            Content::NoRight => Err(OpenedDocument::Refused(Refusal::NoRight)),
            Content::Changing => Err(OpenedDocument::Changing),
        })
    }
}
