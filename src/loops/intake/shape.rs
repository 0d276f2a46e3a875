//! What something is as a drop, and why its files cannot be posted: decided on names, kinds and answers alone. Intake
//! asks this about what it claims, and `explain` about what lies anywhere.

use serde::Serialize;

use super::litter::is_litter;
use crate::config::{Folder, LetterKind};
use crate::domain::drop::{
    Doubt, Doubtful, INSIDE, Kind, Refusal, is_pdf, natural_order, pdf_of, showable, shown,
};
use crate::domain::letter::DOCUMENTS_PER_LETTER;
use crate::domain::printed::{Attention, OtherPaper};
use crate::outside::hot::Content;
use crate::outside::pdf::Inspection;

/// Why something in a folder is no drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoDrop {
    /// A temporary or hidden file, a shelf, or a name that the folder ignores.
    Ignored,
    /// A directory where each PDF is a letter. It is somebody's own.
    OwnDirectory,
    /// It goes with its PDF.
    Sidecar,
}

/// Why something in a folder is no drop. `None` if it is one.
pub fn no_drop(folder: &Folder, name: &[u8], kind: Option<Kind>) -> Option<NoDrop> {
    if is_litter(folder, name) {
        Some(NoDrop::Ignored)
    } else if folder.letter == LetterKind::File && kind == Some(Kind::Directory) && !is_pdf(name) {
        Some(NoDrop::OwnDirectory)
    } else if pdf_of(name).is_some() {
        Some(NoDrop::Sidecar)
    } else {
        None
    }
}

/// Where the documents of a drop are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// It is the only document itself.
    File,
    /// They lie in it.
    Subfolder,
}

/// What a drop is by its name and kind, or why it is rejected before anything of it is read.
pub fn shape(letter: LetterKind, name: &[u8], kind: Option<Kind>) -> Result<Shape, Refusal> {
    match (letter, kind) {
        (LetterKind::Subfolder, Some(Kind::Directory)) => Ok(Shape::Subfolder),
        (LetterKind::File | LetterKind::Subfolder, Some(kind)) => Err(Refusal::NotAFile(kind)),
        (LetterKind::Subfolder, None) => Err(Refusal::NotInSubfolder),
        (LetterKind::File, None) if is_pdf(name) => Ok(Shape::File),
        (LetterKind::File, None) => Err(Refusal::NotPdf),
    }
}

/// The names of a subfolder's documents, in their order. `inside` is everything that lies in it.
pub fn documents_among(
    folder: &Folder,
    mut inside: Vec<(Vec<u8>, Option<Kind>)>,
) -> Result<Vec<Vec<u8>>, Refusal> {
    inside.retain(|(name, _)| !is_litter(folder, name) && !is_inner_sidecar(name));
    if let Some((unfit, _)) = inside.iter().find(|(name, kind)| !is_pdf(name) || kind.is_some()) {
        return Err(Refusal::Unfit { name: showable(&shown(unfit)) });
    }
    if inside.is_empty() {
        return Err(Refusal::NoDocuments);
    }
    if inside.len() > DOCUMENTS_PER_LETTER {
        return Err(Refusal::TooManyDocuments { found: inside.len() });
    }
    let mut names: Vec<_> = inside.into_iter().map(|(name, _)| name).collect();
    names.sort_by(|a, b| natural_order(&shown(a), &shown(b)));
    Ok(names)
}

/// Whether a file in a subfolder is a sidecar of the whole letter.
pub fn is_inner_sidecar(name: &[u8]) -> bool {
    INSIDE.iter().any(|known| known.as_bytes() == name)
}

/// The sidecar of a drop, if there is one. `found` are all that it could be: only a person knows which of several is
/// meant.
pub fn only_sidecar(mut found: Vec<Vec<u8>>) -> Result<Option<Vec<u8>>, Refusal> {
    if found.len() < 2 {
        return Ok(found.pop());
    }
    let mut names: Vec<String> = found.iter().map(|name| showable(&shown(name))).collect();
    names.sort();
    Err(Refusal::SeveralSidecars { names })
}

/// Why a file is not a document of a letter.
#[derive(Debug)]
pub enum Unusable {
    Refused(Refusal),
    Doubtful(Doubtful),
    /// It was written to while it was read.
    Changing,
}

/// The bytes of a document, or why it cannot be one.
pub fn bytes_of(content: Content) -> Result<Vec<u8>, Unusable> {
    Err(match content {
        Content::Whole { bytes, .. } if bytes.is_empty() => Unusable::Refused(Refusal::Empty),
        Content::Whole { bytes, .. } => return Ok(bytes),
        Content::TooLarge(size) => Unusable::Refused(Refusal::TooLarge { size }),
        Content::NotAFile(kind) => Unusable::Refused(Refusal::NotAFile(kind)),
        Content::Linked => Unusable::Refused(Refusal::LinkedElsewhere),
        Content::NoRight => Unusable::Refused(Refusal::NoRight),
        Content::Changing => Unusable::Changing,
    })
}

/// What was found out about a document that can be posted.
#[derive(Debug)]
pub struct Inspected {
    pub pages: u32,
    pub paper: OtherPaper,
    pub is_placeholder: bool,
}

/// Whether a document can be posted after its inspection. `accepted` are the documents in doubt that a person accepts,
/// by their hashes.
pub fn inspected(
    folder: &Folder,
    answer: Inspection,
    sha256: &str,
    accepted: &[String],
) -> Result<Inspected, Unusable> {
    let takes_placeholders = folder.rules.check_print.placeholder != Attention::Hold;
    let upright = |pages| Inspected { pages, paper: OtherPaper::default(), is_placeholder: false };
    match answer {
        Inspection::Pages(pages) => Ok(upright(pages)),
        Inspection::OtherPaper { pages, paper } => Ok(Inspected { paper, ..upright(pages) }),
        // The service compares the count before it posts anything.
        Inspection::Doubtful { pages, .. } if accepted.iter().any(|hash| hash == sha256) => {
            Ok(upright(pages))
        }
        Inspection::Doubtful { pages, doubt: Doubt::Placeholder } if takes_placeholders => {
            Ok(Inspected { is_placeholder: true, ..upright(pages) })
        }
        Inspection::Doubtful { pages, doubt } => {
            Err(Unusable::Doubtful(Doubtful { doubt, pages, sha256: sha256.to_owned() }))
        }
        Inspection::Doubt(doubt) => Err(Unusable::Refused(Refusal::Pdf(doubt))),
    }
}
