//! Four eyes: in some folders whoever dropped a letter can't approve it.
//!
//! A file that is moved stays whose it was, so the approver copies the original; a copy belongs to whoever
//! made it. An owner is evidence only if nobody else could have written the file (I24): where others may, one
//! person alone could write what another seems to drop, or to approve.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::hands::{Failed, is_away, not_taken, shown_path};
use super::shared::Shared;
use crate::config::Folder;
use crate::domain::drop::Refusal;
use crate::domain::letter::{Command, LARGEST_DOCUMENT, Letter};
use crate::outside::hot::{Content, Hot, Stat};
use crate::outside::journal;
use crate::outside::spool::sha256_of;
use crate::outside::store::{Original, Place};

/// Whose a file is, in the eyes of who dropped the original.
enum Hand {
    Anothers,
    /// Of who dropped the original.
    TheSame,
    /// Others could have written the file, or the original.
    NotProved,
}

fn whose(original: &Original, hot: &Hot, place: &str, name: &[u8], seen: Stat) -> io::Result<Hand> {
    Ok(match original.origin.owner {
        Some(owner) if owner == seen.owner => Hand::TheSame,
        Some(_) if hot.is_its_owners_in(place, name, seen)? => Hand::Anothers,
        Some(_) | None => Hand::NotProved,
    })
}

/// Whether what lies there certainly belongs to another than who dropped the original.
pub(super) fn is_anothers(original: &Original, hot: &Hot, place: &str, name: &[u8]) -> io::Result<bool> {
    let Content::Whole { stat, .. } = hot.peek_in(place, name, LARGEST_DOCUMENT)? else { return Ok(false) };
    Ok(matches!(whose(original, hot, place, name, stat)?, Hand::Anothers))
}

/// A copy of a letter that waits, laid here by whoever approves it. `None` if it is none.
pub(super) async fn copied(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    place: &str,
    name: &[u8],
) -> Result<Option<()>, Failed> {
    let Content::Whole { bytes, stat } = hot.peek_in(place, name, LARGEST_DOCUMENT)? else { return Ok(None) };
    let (content, file) = (sha256_of(&bytes), format!("{} {}", stat.inode, stat.changed));
    for original in shared.store.originals_named(&folder.name, name)? {
        let Some(number) =
            original.fate.letter().filter(|_| original.place == Place::Held && !is_away(hot, &original))
        else {
            continue;
        };
        let letter = shared.store.letter(number)?;
        let same =
            |letter: &Letter| matches!(letter.order.documents.as_slice(), [only] if only.sha256 == content);
        if !letter.as_ref().is_some_and(same) {
            continue;
        }
        let refusal = match whose(&original, hot, place, name, stat)? {
            Hand::Anothers => None,
            Hand::TheSame => Some(Refusal::OwnApproval),
            Hand::NotProved => Some(Refusal::OwnerNotProved { letter: number }),
        };
        if let Some(refusal) = refusal {
            return not_taken(shared, folder, hot, place, name, refusal).await.map(Some);
        }
        shared.store.said_in_folder(number, Command::Release, file, shared.clock.now()).await?;
        journal::said_in_folder(number, Command::Release.word());
        // The spool has these very bytes.
        hot.remove(&Path::new(place).join(shown_path(name)))?;
        shared.bells.letters.notify_one();
        return Ok(Some(()));
    }
    Ok(None)
}
