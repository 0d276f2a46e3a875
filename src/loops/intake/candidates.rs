//! What is known of a file that a person put into `Approve` or `Cancel`.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::instructions::{Failed, shown_path};
use super::meaning::{Candidate, Itself, Meant, Name, Whereabouts, meant};
use super::obeyed::Instruction;
use super::shared::Shared;
use crate::config::Folder;
use crate::domain::drop::{
    Kind, Receivers, Refusal, StandingLetter, Undecided, Unheard, is_pdf, natural_order, pdf_of, shown,
};
use crate::domain::letter::{DOCUMENTS_PER_LETTER, LARGEST_DOCUMENT, Letter, Number};
use crate::loops::shelf_places::is_anothers;
use crate::outside::hot::{Content, Hot};
use crate::outside::spool::sha256_of;
use crate::outside::store::{Fate, Original, OriginalPlace, Store};

/// The original that is meant.
pub(super) enum FileMeaning {
    Moved(Original),
    /// The file is a copy of the original. The text identifies the file.
    Copied(Original),
    Unheard(Refusal),
    NotYet,
}

/// A file that stands for a command: its place, and whether it has been unchanged long enough to be judged by
/// what it lacks.
pub(super) struct LaidFile<'a> {
    pub instruction: Instruction,
    pub place: &'a str,
    pub name: &'a [u8],
    pub is_finished: bool,
    /// It was not tried before.
    pub is_first: bool,
}

/// The original that a file means, and what distinguishes this file from a later one.
pub(super) fn meaning_of(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Hot,
    laid: &LaidFile<'_>,
) -> Result<(FileMeaning, String), Failed> {
    let Some((read, file)) = read_laid(hot, laid)? else { return Ok((FileMeaning::NotYet, String::new())) };
    let first = read.as_ref().and_then(|read| read.documents.first());
    // A document that is sent to thousands is that of thousands of originals. Those of another name are looked at only if
    // no other decides.
    let of_its_bytes = |only_named: bool| {
        let has_its_inode =
            |original: &Original| read.as_ref().is_some_and(|read| original.inode == Some(read.inode));
        let is_wanted = |original: &Original| {
            !only_named || name_of(original, laid.name) != Name::Another || has_its_inode(original)
        };
        first.map_or(Ok(Vec::new()), |first| shared.store.originals_of(&folder.name, first, is_wanted))
    };
    let copies_count = !(laid.instruction == Instruction::Approve && folder.names.by_copy);
    let mut compared = Vec::new();
    let mut decide = |mut originals: Vec<Original>| {
        originals.sort_by(|one, other| other.ulid.cmp(&one.ulid));
        originals.dedup_by(|one, other| one.ulid == other.ulid);
        for original in originals {
            compared.push(compare(shared, hot, original, laid.name, read.as_ref())?);
        }
        compared.sort_by(|one: &Compared, other| other.original.ulid.cmp(&one.original.ulid));
        compared.dedup_by(|one, other| one.original.ulid == other.original.ulid);
        let candidates: Vec<Candidate> = compared.iter().map(|one| one.candidate).collect();
        Ok::<_, Failed>(meant(&candidates, laid.instruction, copies_count, laid.is_finished))
    };
    let mut named = shared.store.originals_named(&folder.name, laid.name)?;
    named.extend(of_its_bytes(true)?);
    if let Some(read) = &read {
        named.extend(shared.store.drops_of_inode(&folder.name, read.inode)?);
    }
    let mut meant = decide(named)?;
    if !meant.is_by_name() {
        meant = decide(of_its_bytes(false)?)?;
    }
    Ok((meaning(meant, compared, read.is_some()), file))
}

/// What follows from the decision. `is_read` says that more than the file's name is known.
fn meaning(meant: Meant, mut compared: Vec<Compared>, is_read: bool) -> FileMeaning {
    let is_judged = matches!(meant, Meant::Known(_) | Meant::Nothing);
    let may_be_meant = |one: &Compared| one.candidate.is_waiting || one.letter.is_some();
    if !is_read && is_judged && compared.iter().any(may_be_meant) {
        return FileMeaning::Unheard(Refusal::Unheard(Unheard::Unread));
    }
    match meant {
        Meant::Moved(index) => FileMeaning::Moved(compared.swap_remove(index).original),
        Meant::Copied(index) => FileMeaning::Copied(compared.swap_remove(index).original),
        Meant::Several(indices) => FileMeaning::Unheard(Refusal::Unheard(Unheard::Several {
            letters: indices.into_iter().filter_map(|index| compared[index].letter).collect(),
            receivers: Receivers::default(),
        })),
        Meant::Known(index) => {
            let Compared { letter, candidate, .. } = &compared[index];
            FileMeaning::Unheard(match (*letter, candidate.standing) {
                (Some(letter), Some(standing)) => {
                    Refusal::Unheard(Unheard::Known { letter, standing, same: candidate.has_bytes })
                }
                (None, _) | (_, None) => Refusal::NothingWaits,
            })
        }
        Meant::NotYet => FileMeaning::NotYet,
        Meant::Nothing => {
            FileMeaning::Unheard(match compared.iter().find(|one| is_held_under_its_name(one)) {
                Some(one) if one.candidate.has_bytes => Refusal::Unheard(Unheard::CopyOfHeld),
                Some(_) => Refusal::Unheard(Unheard::Changed),
                None => Refusal::NothingWaits,
            })
        }
    }
}

/// An original, compared with a file.
struct Compared {
    original: Original,
    letter: Option<Number>,
    candidate: Candidate,
}

/// Whether a drop waits on its shelf under the file's name.
fn is_held_under_its_name(one: &Compared) -> bool {
    let is_held = one.original.place == OriginalPlace::Held && waits(&one.original);
    is_held && one.candidate.name != Name::Another
}

/// A file or subfolder that could be read, so that more than its name is known.
struct Read {
    /// The SHA-256 of the file, or of each PDF of the subfolder in the order of their names.
    documents: Vec<String>,
    inode: u64,
}

/// Reads what was laid there, with what distinguishes it from a later file. `None` while it is being written. Within,
/// `None` if it can't be read.
fn read_laid(hot: &Hot, laid: &LaidFile<'_>) -> io::Result<Option<(Option<Read>, String)>> {
    Ok(match hot.peek_in(laid.place, laid.name, LARGEST_DOCUMENT)? {
        Content::Whole { bytes, stat } => {
            let file = format!("{} {}", stat.inode, stat.changed);
            Some((Some(Read { documents: vec![sha256_of(&bytes)], inode: stat.inode }), file))
        }
        Content::Changing => None,
        Content::NotAFile(Kind::Directory) => {
            let path = Path::new(laid.place).join(shown_path(laid.name));
            let Some(documents) = documents_at(hot, &path)? else { return Ok(None) };
            let inode = hot.inode_of(&path)?.unwrap_or_default();
            Some((Some(Read { documents, inode }), format!("{inode} directory")))
        }
        Content::TooLarge(_) | Content::NotAFile(_) | Content::Linked | Content::NoRight => {
            Some((None, String::new()))
        }
    })
}

/// The SHA-256 of a PDF, or of each PDF in a subfolder. `None` if it cannot be read.
pub(super) fn documents_of(hot: &Hot, path: &Path) -> io::Result<Option<Vec<String>>> {
    match hot.read_at(path, LARGEST_DOCUMENT)? {
        Content::Whole { bytes, .. } => Ok(Some(vec![sha256_of(&bytes)])),
        Content::NotAFile(Kind::Directory) => documents_at(hot, path),
        Content::Changing
        | Content::TooLarge(_)
        | Content::NotAFile(_)
        | Content::Linked
        | Content::NoRight => Ok(None),
    }
}

/// The SHA-256 of each PDF in a subfolder, in the order of their names. `None` if one is being written.
fn documents_at(hot: &Hot, path: &Path) -> io::Result<Option<Vec<String>>> {
    let mut names: Vec<_> = hot.list_at(path)?.into_iter().map(|seen| seen.name).collect();
    names.retain(|name| is_pdf(name));
    names.sort_by(|one, other| natural_order(&shown(one), &shown(other)));
    let mut documents = Vec::new();
    for name in names.iter().take(DOCUMENTS_PER_LETTER + 1) {
        match hot.read_at(&path.join(shown_path(name)), LARGEST_DOCUMENT)? {
            Content::Whole { bytes, .. } => documents.push(sha256_of(&bytes)),
            Content::Changing => return Ok(None),
            // No document of a letter looks like this.
            Content::TooLarge(_) | Content::NotAFile(_) | Content::Linked | Content::NoRight => {
                documents.push(String::new());
            }
        }
    }
    Ok(Some(documents))
}

/// Compares an original with a file of this name.
fn compare(
    shared: &Shared,
    hot: &Hot,
    original: Original,
    name: &[u8],
    read: Option<&Read>,
) -> Result<Compared, Failed> {
    let letter = match original.fate {
        Fate::Letter(number) => shared.store.letter(number)?,
        Fate::Undecided(_) => None,
    };
    let candidate = candidate(&shared.store, hot, &original, letter.as_ref(), name, read)?;
    Ok(Compared { original, letter: letter.map(|letter| letter.number), candidate })
}

fn name_of(original: &Original, name: &[u8]) -> Name {
    if is_shelved_as(original, name) {
        Name::Shelved
    } else if shown(&original.origin.name) == shown(name) {
        Name::Dropped
    } else {
        Name::Another
    }
}

fn candidate(
    store: &Store,
    hot: &Hot,
    original: &Original,
    letter: Option<&Letter>,
    name: &[u8],
    read: Option<&Read>,
) -> io::Result<Candidate> {
    let is_away = !lies_elsewhere(store, hot, original)?;
    let standing = letter.map(StandingLetter::of);
    let file = match (read, original.inode) {
        (Some(read), Some(inode)) if read.inode == inode => Itself::Yes,
        (Some(_), Some(_)) => Itself::No,
        (None, _) | (_, None) => Itself::Unknown,
    };
    Ok(Candidate {
        name: name_of(original, name),
        file,
        has_bytes: has_bytes(hot, original, letter, read, is_away)?,
        original: match (&original.moving, is_away) {
            (Some(_), is_away) => Whereabouts::Moving { is_away },
            (None, true) if original.shelved.is_none() => Whereabouts::WithoutPlace,
            (None, true) => Whereabouts::Away,
            (None, false) => Whereabouts::There,
        },
        is_waiting: match standing {
            Some(standing) => standing == StandingLetter::Waits,
            // What a person took away is not approved by a copy of it.
            None => waits(original) && (original.place == OriginalPlace::Held || file == Itself::Yes),
        },
        standing,
    })
}

/// Whether the original is on its shelf or in its claim, so that the file is a copy. Records that were made
/// anew may not know where the original lies. Then the file may be the original, and removing it would lose
/// it.
fn lies_elsewhere(store: &Store, hot: &Hot, original: &Original) -> io::Result<bool> {
    if hot.find_claimed(original.ulid.as_str(), &original.origin.name)?.is_some() {
        return Ok(true);
    }
    // A crash may have come after it was moved and before that was recorded.
    for path in [&original.shelved, &original.moving].into_iter().flatten() {
        if hot.is_there(&shown_path(path))? && !is_anothers(store, hot, original, path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a file or subfolder has the bytes of an original. What cannot be read is identified by its name.
fn has_bytes(
    hot: &Hot,
    original: &Original,
    letter: Option<&Letter>,
    read: Option<&Read>,
    away: bool,
) -> io::Result<bool> {
    Ok(match (letter, read) {
        (_, None) => away,
        (Some(letter), Some(read)) => {
            letter.order.documents.iter().map(|document| &document.sha256).eq(&read.documents)
        }
        // It may have been changed since it was put there.
        (None, Some(read)) if !away => lies_there(hot, original, &read.documents)?,
        (None, Some(read)) => original.content.as_ref().is_none_or(|its| *its == content_of(&read.documents)),
    })
}

/// One hash for the documents of a drop. For a single PDF it is the PDF's own.
pub(super) fn content_of(documents: &[String]) -> String {
    match documents {
        [only] => only.clone(),
        _several => sha256_of(documents.join("\n").as_bytes()),
    }
}

fn is_shelved_as(original: &Original, name: &[u8]) -> bool {
    let is_named = |shelved: &OsStr| shown(shelved.as_encoded_bytes()) == shown(name);
    let shelved = [&original.shelved, &original.moving];
    shelved.into_iter().flatten().any(|path| shown_path(path).file_name().is_some_and(is_named))
}

/// Whether it may be accepted or cancelled: it is on its shelf, or was when a person took it away. A run that was killed
/// may have recorded that it is accepted, and no more.
pub(super) fn waits(original: &Original) -> bool {
    original.fate.undecided().is_some_and(Undecided::is_open)
        && matches!(original.place, OriginalPlace::Held | OriginalPlace::Gone)
}

/// Whether these are the bytes of a drop that waits on its shelf.
fn lies_there(hot: &Hot, original: &Original, documents: &[String]) -> io::Result<bool> {
    let path = original.shelved.as_deref().map(shown_path).filter(|_| waits(original));
    let Some(path) = path else { return Ok(false) };
    match documents_of(hot, &path) {
        Ok(there) => Ok(there.as_deref() == Some(documents)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The bytes of the sidecars that an original has: in its claim, and beside it on its shelf.
pub(super) fn sidecars_at(hot: &Hot, original: &Original) -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for seen in hot.claimed(original.ulid.as_str())?.iter().filter(|seen| pdf_of(&seen.name).is_some()) {
        if let Content::Whole { bytes, .. } =
            hot.read(original.ulid.as_str(), None, &seen.name, LARGEST_DOCUMENT)?
        {
            found.push(bytes);
        }
    }
    if let Some((shelf, name)) = lies_at(original) {
        let mut beside = hot.sidecars_beside(Path::new(&shelf), &name)?;
        beside.extend(hot.sidecars_beside(Path::new(&shelf), original.ulid.as_str().as_bytes())?);
        for sidecar in beside {
            match hot.read_at(&Path::new(&shelf).join(shown_path(&sidecar)), LARGEST_DOCUMENT) {
                Ok(Content::Whole { bytes, .. }) => found.push(bytes),
                Ok(_other) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(found)
}

/// The shelf and the name under which an original lies.
pub(super) fn lies_at(original: &Original) -> Option<(String, Vec<u8>)> {
    let path = shown_path(original.shelved.as_deref().or(original.moving.as_deref())?);
    let name = path.file_name()?.as_encoded_bytes().to_vec();
    Some((path.parent().unwrap_or(Path::new("")).to_str()?.to_owned(), name))
}
