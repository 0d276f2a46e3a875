//! A sidecar that a person put into `Approve` or `Cancel` without its PDF.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::candidates::{LaidFile, lies_at, sidecars_at};
use super::corrected::hold;
use super::handed_back::not_taken;
use super::instructions::{Failed, is_away, is_open, shown_path};
use super::obeyed::Instruction;
use super::shared::Shared;
use crate::config::Folder;
use crate::domain::drop::{Refusal, StandingLetter, showable, shown, sidecars_of};
use crate::domain::letter::{LARGEST_DOCUMENT, Letter};
use crate::loops::address_beside::asks_for_another;
use crate::outside::hot::{Content, Hot};
use crate::outside::store::{Original, OriginalPlace, StoreError};

/// In `Approve` it is put beside the drop that waits under this name, where that drop's approval
/// finds it, or beside the letter that waits, which is not approved then if it has another address. A copy of a sidecar
/// that such a drop has already, or a letter that lies under this name and has not ended, is removed. Any other is handed
/// back, and never put into the folder, where it would decide over another drop of the name.
pub(super) async fn sidecar_alone(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    laid: &LaidFile<'_>,
    pdf: &[u8],
) -> Result<(), Failed> {
    let here = Path::new(laid.place).join(shown_path(laid.name));
    let mut named = shared.store.originals_named(&folder.name, pdf)?;
    let open = shared.store.open_drops_named(&folder.name, pdf)?;
    if laid.instruction == Instruction::Approve
        && let Some(only) = only_one(shared, folder, hot, pdf, (&named, &open))?
        && let Some((shelf, _)) = lies_at(only)
        && !(only.fate.letter().is_some() && has_the_same(hot, only, &here)?)
    {
        let free = std::iter::once(laid.name.to_vec()).chain(sidecars_of(pdf));
        for there in free.map(|name| Path::new(&shelf).join(shown_path(&name))) {
            if !hot.is_there(&there)? {
                if let Some(letter) = waits_as_letter(shared, only)?
                    && asks_for_another(folder, hot, &letter, &here)?
                {
                    hold(shared, &letter, "").await?;
                }
                return Ok(hot.shelve(&here, &there)?);
            }
        }
    }
    named.extend(open);
    if is_copy(shared, hot, &named, &here)? {
        return Ok(hot.remove(&here)?);
    }
    let pdf = showable(&shown(pdf));
    let refusal = Refusal::SidecarAlone { pdf, taken_in: None };
    not_taken(shared, folder, hot, laid.place, laid.name, refusal).await
}

/// Whether one of these that is open has the same sidecar. If another that waits has not, it may be a correction for that.
fn is_copy(shared: &Shared, hot: &Hot, named: &[Original], sidecar: &Path) -> Result<bool, Failed> {
    let mut is_copy = false;
    for original in named {
        if !is_open(shared, original)? {
            continue;
        }
        if has_the_same(hot, original, sidecar)? {
            is_copy = true;
        } else if original.fate.letter().is_none() || waits_as_letter(shared, original)?.is_some() {
            return Ok(false);
        }
    }
    Ok(is_copy)
}

/// The drop that waits without a sidecar, or the letter that waits, if it lies on its shelf and no other drop of the name
/// lacks a sidecar, wherever that is. Of several, nobody knows for which PDF a sidecar is.
fn only_one<'a>(
    shared: &Shared,
    folder: &Folder,
    hot: &Hot,
    pdf: &[u8],
    (named, open): (&'a [Original], &[Original]),
) -> Result<Option<&'a Original>, Failed> {
    let mut held = Vec::new();
    for original in named.iter().filter(|original| original.place == OriginalPlace::Held) {
        if original.fate.letter().is_none() || waits_as_letter(shared, original)?.is_some() {
            held.push(original);
        }
    }
    let [only] = held.as_slice() else { return Ok(None) };
    let is_letter = only.fate.letter().is_some();
    if is_away(&shared.store, hot, only) || !is_letter && !sidecars_at(hot, only)?.is_empty() {
        return Ok(None);
    }
    for other in open.iter().filter(|other| other.ulid != only.ulid) {
        if sidecars_at(hot, other)?.is_empty() {
            return Ok(None);
        }
    }
    // It may correct the address of a letter that was dropped under this name and has another one on its shelf.
    for other in shared.store.letters_in(&folder.name, &folder.names.held, pdf)? {
        if other.ulid != only.ulid && waits_as_letter(shared, &other)?.is_some() {
            return Ok(None);
        }
    }
    Ok(Some(only))
}

/// The letter of an original, if it waits.
fn waits_as_letter(shared: &Shared, original: &Original) -> Result<Option<Letter>, StoreError> {
    let letter = original.fate.letter().map(|number| shared.store.letter(number)).transpose()?.flatten();
    Ok(letter.filter(|letter| StandingLetter::of(letter) == StandingLetter::Waits))
}

/// Whether an original has a sidecar with the bytes of this one.
fn has_the_same(hot: &Hot, original: &Original, sidecar: &Path) -> io::Result<bool> {
    match hot.read_at(sidecar, LARGEST_DOCUMENT)? {
        Content::Whole { bytes, .. } => Ok(sidecars_at(hot, original)?.contains(&bytes)),
        Content::Changing
        | Content::TooLarge(_)
        | Content::NotAFile(_)
        | Content::Linked
        | Content::NoRight => Ok(false),
    }
}
