//! Four eyes: in some folders the person who dropped a letter cannot approve it.
//!
//! A moved file keeps its owner, so the approver copies the original, and the copy belongs to its maker. An
//! owner is evidence only if nobody else could have written the file (I24). Otherwise one person alone could
//! write what another seems to drop or approve.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::candidates::LaidFile;
use super::corrected::{hold, of_another_address};
use super::handed_back::not_taken;
use super::instructions::{Failed, is_away, is_open, shown_path};
use super::shared::Shared;
use crate::config::Folder;
use crate::domain::drop::{Receivers, Refusal, Unheard};
use crate::domain::letter::{Command, LARGEST_DOCUMENT, Letter};
use crate::outside::hot::{Content, Hot, Stat};
use crate::outside::journal;
use crate::outside::spool::sha256_of;
use crate::outside::store::{Original, OriginalPlace};

/// The owner of a file, compared with the owner of the original.
enum OwnerIs {
    Anothers,
    /// The person who dropped the original.
    TheSame,
    /// Others could have written the file or the original.
    NotProved,
}

fn whose(original: &Original, hot: &Hot, place: &str, name: &[u8], seen: Stat) -> io::Result<OwnerIs> {
    Ok(match original.origin.owner {
        Some(owner) if owner == seen.owner => OwnerIs::TheSame,
        Some(_) if hot.is_its_owners_in(place, name, seen)? => OwnerIs::Anothers,
        Some(_) | None => OwnerIs::NotProved,
    })
}

/// Whether the file there certainly belongs to another person than the one who dropped the original.
pub(super) fn is_anothers(original: &Original, hot: &Hot, place: &str, name: &[u8]) -> io::Result<bool> {
    let Content::Whole { stat, .. } = hot.peek_in(place, name, LARGEST_DOCUMENT)? else { return Ok(false) };
    Ok(matches!(whose(original, hot, place, name, stat)?, OwnerIs::Anothers))
}

/// A copy of a waiting letter's original, put here by the approver. `None` if it is not such a copy.
pub(super) async fn copied(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    laid: &LaidFile<'_>,
) -> Result<Option<()>, Failed> {
    let LaidFile { place, name, .. } = *laid;
    let Content::Whole { bytes, stat } = hot.peek_in(place, name, LARGEST_DOCUMENT)? else { return Ok(None) };
    let (content, file) = (sha256_of(&bytes), format!("{} {}", stat.inode, stat.changed));
    let mut matching = Vec::new();
    for original in shared.store.originals_named(&folder.name, name)? {
        let is_waiting = original.place == OriginalPlace::Held && !is_away(&shared.store, hot, &original);
        let Some(number) = original.fate.letter().filter(|_| is_waiting) else { continue };
        let same =
            |letter: &Letter| matches!(letter.order.documents.as_slice(), [only] if only.sha256 == content);
        if shared.store.letter(number)?.as_ref().is_some_and(same) {
            matching.push((original, number));
        }
    }
    if matching.is_empty() {
        return Ok(None);
    }
    // It may be an original that was moved here, and whose place another has got.
    let is_itself = |original: &Original| original.shelved.is_none() && original.inode == Some(stat.inode);
    let mut moved = shared.store.drops_of_inode(&folder.name, stat.inode)?;
    moved.retain(|drop| drop.content.as_ref() == Some(&content) && is_itself(drop));
    moved.extend(shared.store.originals_of(&folder.name, &content, is_itself)?);
    for original in &moved {
        if is_open(shared, original)? {
            return Ok(None);
        }
    }
    let (original, number) = match matching.as_slice() {
        [] => return Ok(None),
        [(original, number)] => (original, *number),
        several => {
            let letters = several.iter().map(|(_, number)| *number).collect();
            let refusal = Refusal::Unheard(Unheard::Several { letters, receivers: Receivers::default() });
            return not_taken(shared, folder, hot, place, name, refusal).await.map(Some);
        }
    };
    if let Some(letter) = of_another_address(shared, folder, hot, laid, original)? {
        hold(shared, &letter, &file).await?;
        let refusal = Refusal::Unheard(Unheard::OtherAddress { letter: letter.number });
        return not_taken(shared, folder, hot, place, name, refusal).await.map(Some);
    }
    let refusal = match whose(original, hot, place, name, stat)? {
        OwnerIs::Anothers => None,
        OwnerIs::TheSame => Some(Refusal::OwnApproval),
        OwnerIs::NotProved => Some(Refusal::OwnerNotProved { letter: number }),
    };
    if let Some(refusal) = refusal {
        return not_taken(shared, folder, hot, place, name, refusal).await.map(Some);
    }
    shared.store.said_in_folder(number, Command::Release, file, shared.clock.now()).await?;
    journal::said_in_folder(number, Command::Release.word());
    // The spool has exactly these bytes.
    hot.remove(&Path::new(place).join(shown_path(name)))?;
    shared.bells.letters.notify_one();
    Ok(Some(()))
}
