//! What is known of a file that a person laid where letters are approved or cancelled.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::hands::{Failed, shown_path};
use super::shared::Shared;
use super::wish::{Candidate, Hand, Itself, Meant, Name, Whereabouts, meant};
use crate::config::Folder;
use crate::domain::drop::{Receivers, Refusal, StandingLetter, Undecided, Unheard};
use crate::domain::letter::{LARGEST_DOCUMENT, Letter};
use crate::outside::hot::{Content, Hot};
use crate::outside::spool::sha256_of;
use crate::outside::store::{Fate, Original, Place};

/// Which original is meant.
pub(super) enum Wish {
    Moved(Original),
    /// The file is a copy of it; which file it is.
    Copied(Original),
    Unheard(Refusal),
    NotYet,
}

/// The file that says something: where it lies, and whether it has been unchanged long enough to be judged by what
/// it lacks.
pub(super) struct Laid<'a> {
    pub hand: Hand,
    pub place: &'a str,
    pub name: &'a [u8],
    pub is_finished: bool,
    /// It was not tried before.
    pub is_first: bool,
}

/// Which original is meant by a file, and what tells this file from a later one.
pub(super) fn wish(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Hot,
    laid: &Laid<'_>,
) -> Result<(Wish, String), Failed> {
    let (read, file) = match hot.peek_in(laid.place, laid.name, LARGEST_DOCUMENT)? {
        Content::Whole { bytes, stat } => {
            let content = sha256_of(&bytes);
            let file = format!("{} {}", stat.inode, stat.changed);
            (Some(Read { bytes, content, inode: stat.inode }), file)
        }
        Content::Changing => return Ok((Wish::NotYet, String::new())),
        Content::TooLarge(_) | Content::NotAFile(_) | Content::Linked | Content::NoRight => {
            (None, String::new())
        }
    };
    let mut known = shared.store.originals_named(&folder.name, laid.name)?;
    if let Some(Read { content, .. }) = &read {
        known.extend(shared.store.originals_of(&folder.name, content)?);
    }
    known.sort_by(|one, other| other.ulid.cmp(&one.ulid));
    known.dedup_by(|one, other| one.ulid == other.ulid);
    let mut candidates = Vec::new();
    let mut letters = Vec::new();
    for original in &known {
        let letter = match original.fate {
            Fate::Letter(number) => shared.store.letter(number)?,
            Fate::Undecided(_) => None,
        };
        candidates.push(candidate(hot, original, letter.as_ref(), laid.name, read.as_ref())?);
        letters.push(letter);
    }
    let copies_count = !(laid.hand == Hand::Approve && folder.names.by_copy);
    let meant = meant(&candidates, laid.hand, copies_count, laid.is_finished);
    let number = |index: usize| letters[index].as_ref().map(|letter| letter.number);
    let wish = match meant {
        Meant::Moved(index) => Wish::Moved(known.swap_remove(index)),
        Meant::Copied(index) => Wish::Copied(known.swap_remove(index)),
        Meant::Several(indices) => Wish::Unheard(Refusal::Wish(Unheard::Several {
            letters: indices.into_iter().filter_map(number).collect(),
            receivers: Receivers::default(),
        })),
        Meant::Known(index) => Wish::Unheard(match (number(index), candidates[index].standing) {
            (Some(letter), Some(standing)) => {
                Refusal::Wish(Unheard::Known { letter, standing, same: candidates[index].has_bytes })
            }
            (None, _) | (_, None) => Refusal::NothingWaits,
        }),
        Meant::NotYet => Wish::NotYet,
        Meant::Nothing if known.iter().any(waits) => Wish::Unheard(Refusal::Wish(Unheard::Changed)),
        Meant::Nothing => Wish::Unheard(Refusal::NothingWaits),
    };
    Ok((wish, file))
}

/// A file that could be read, of which more than its name is known.
struct Read {
    bytes: Vec<u8>,
    /// Its SHA-256.
    content: String,
    inode: u64,
}

/// What speaks for and against an original, for a file of this name.
fn candidate(
    hot: &Hot,
    original: &Original,
    letter: Option<&Letter>,
    name: &[u8],
    read: Option<&Read>,
) -> io::Result<Candidate> {
    let is_away = !lies_elsewhere(hot, original)?;
    let standing = letter.map(StandingLetter::of);
    Ok(Candidate {
        name: if is_shelved_as(original, name) {
            Name::Shelved
        } else if original.origin.name == name {
            Name::Dropped
        } else {
            Name::Another
        },
        file: match (read, original.inode) {
            (Some(read), Some(inode)) if read.inode == inode => Itself::Yes,
            (Some(_), Some(_)) => Itself::No,
            (None, _) | (_, None) => Itself::Unknown,
        },
        has_bytes: has_bytes(hot, original, letter, read, is_away)?,
        original: match (&original.moving, is_away) {
            (Some(_), is_away) => Whereabouts::Moving { is_away },
            (None, true) => Whereabouts::Away,
            (None, false) => Whereabouts::There,
        },
        is_waiting: standing.map_or_else(|| waits(original), |standing| standing == StandingLetter::Waits),
        standing,
    })
}

/// Whether the original is on its shelf or in its claim, so that another file is a copy of it. Records that were
/// made anew may not know where it lies: then this may be it, and a copy would be taken away for good.
fn lies_elsewhere(hot: &Hot, original: &Original) -> io::Result<bool> {
    if hot.find_claimed(original.ulid.as_str(), &original.origin.name)?.is_some() {
        return Ok(true);
    }
    // A crash may have come after it was moved and before that was recorded.
    for path in [&original.shelved, &original.moving].into_iter().flatten() {
        if hot.is_there(&shown_path(path))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a file has the bytes of an original. What could not be read, as a subfolder, is known by its name.
fn has_bytes(
    hot: &Hot,
    original: &Original,
    letter: Option<&Letter>,
    read: Option<&Read>,
    away: bool,
) -> io::Result<bool> {
    Ok(match (letter, read) {
        (_, None) => away,
        (Some(letter), Some(read)) => has_these(letter, &read.content),
        // It may have been changed since it was put there.
        (None, Some(read)) if !away => lies_there(hot, original, &read.bytes)?,
        (None, Some(read)) => original.content.as_ref().is_none_or(|its| *its == read.content),
    })
}

fn has_these(letter: &Letter, content: &str) -> bool {
    matches!(letter.order.documents.as_slice(), [only] if only.sha256 == content)
}

fn is_shelved_as(original: &Original, name: &[u8]) -> bool {
    let shelved = original.shelved.as_deref().map(shown_path);
    shelved.is_some_and(|path| path.file_name().is_some_and(|shelved| shelved.as_encoded_bytes() == name))
}

fn waits(original: &Original) -> bool {
    matches!(original.fate, Fate::Undecided(Undecided::Waits(_))) && original.place == Place::Held
}

/// Whether these are the bytes of a drop that waits on its shelf.
fn lies_there(hot: &Hot, original: &Original, bytes: &[u8]) -> io::Result<bool> {
    let path = original.shelved.as_deref().map(shown_path).filter(|_| waits(original));
    let Some(path) = path else { return Ok(false) };
    match hot.read_at(&path, LARGEST_DOCUMENT) {
        Ok(content) => Ok(matches!(content, Content::Whole { bytes: there, .. } if there == bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The shelf and the name under which an original lies.
pub(super) fn lies_at(original: &Original) -> Option<(String, Vec<u8>)> {
    let path = shown_path(original.shelved.as_deref()?);
    let name = path.file_name()?.as_encoded_bytes().to_vec();
    Some((path.parent().unwrap_or(Path::new("")).to_str()?.to_owned(), name))
}
