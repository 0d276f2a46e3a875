//! The content of a claim: its documents, read, inspected and copied into the spool.

use std::io;

use super::decide::{Claim, TakeError};
use super::shape::{Inspected, Shape, Unusable, bytes_of, documents_among, inspected, shape};
use crate::domain::drop::{Doubtful, Refusal, showable, shown};
use crate::domain::letter::LARGEST_DOCUMENT;
use crate::domain::rules::Found;
use crate::outside::hot::{SeenEntry, kind};
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
        let (inside, names) = match shape(self.folder.letter, &main.name, kind(&main.stat)) {
            Err(refusal) => return Ok(OpenedDocument::Refused(refusal)),
            Ok(Shape::File) => (None, vec![main.name.clone()]),
            Ok(Shape::Subfolder) => {
                let inside = self.hot.claimed_inside(&self.name, &main.name)?;
                let inside = inside.into_iter().map(|seen| (seen.name, kind(&seen.stat))).collect();
                match documents_among(&self.folder, inside) {
                    Err(refusal) => return Ok(OpenedDocument::Refused(refusal)),
                    Ok(names) => (Some(main.name.as_slice()), names),
                }
            }
        };
        let (mut documents, mut doubtful) = (Vec::new(), Vec::new());
        for name in names {
            match self.open_document(inside, &name, accepted, draft).await? {
                Ok(found) => documents.push(found),
                Err(Unusable::Doubtful(document)) => doubtful.push(document),
                Err(Unusable::Refused(refusal)) => return Ok(OpenedDocument::Refused(refusal)),
                Err(Unusable::Changing) => return Ok(OpenedDocument::Changing),
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
    ) -> Result<Result<Found, Unusable>, TakeError> {
        let bytes = match self.read(inside, name, LARGEST_DOCUMENT)? {
            Ok(bytes) => bytes,
            Err(unusable) => return Ok(Err(unusable)),
        };
        let sha256 = sha256_of(&bytes);
        let answer = match &self.peeked {
            Some(peeked) if peeked.mark == self.shared.mark(&bytes) => peeked.answer.clone(),
            Some(_) | None => self.shared.inspector.inspect(&bytes).await?,
        };
        let Inspected { pages, paper, is_placeholder } =
            match inspected(&self.folder, answer, &sha256, accepted) {
                Ok(inspected) => inspected,
                Err(unusable) => return Ok(Err(unusable)),
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

    pub(super) fn read(
        &self,
        inside: Option<&[u8]>,
        name: &[u8],
        largest: u64,
    ) -> io::Result<Result<Vec<u8>, Unusable>> {
        Ok(bytes_of(self.hot.read(&self.name, inside, name, largest)?))
    }
}
