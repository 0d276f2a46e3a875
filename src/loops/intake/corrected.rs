//! A letter is not approved while an address beside its original is not its own: a person may have corrected it.

use std::path::Path;
use std::sync::Arc;

use super::candidates::LaidFile;
use super::instructions::{Failed, shown_path};
use super::obeyed::Instruction;
use super::shared::Shared;
use crate::config::Folder;
use crate::domain::drop::StandingLetter;
use crate::domain::letter::{Command, Letter};
use crate::loops::address_beside;
use crate::loops::shelf_places::is_anothers;
use crate::outside::hot::Hot;
use crate::outside::journal;
use crate::outside::store::Original;

/// The letter that a file would approve, if an address that goes with the file or its original is not the letter's.
pub(super) fn of_another_address(
    shared: &Shared,
    folder: &Folder,
    hot: &Hot,
    laid: &LaidFile<'_>,
    original: &Original,
) -> Result<Option<Letter>, Failed> {
    let number = original.fate.letter().filter(|_| laid.instruction == Instruction::Approve);
    let letter = number.map(|number| shared.store.letter(number)).transpose()?.flatten();
    let Some(letter) = letter.filter(|letter| StandingLetter::of(letter) == StandingLetter::Waits) else {
        return Ok(None);
    };
    // In the order in which files are moved, from the shelf to the claim, so that no sidecar is missed on its way.
    let mut files = Vec::new();
    for path in [&original.shelved, &original.moving].into_iter().flatten() {
        if !is_anothers(&shared.store, hot, original, path)? {
            files.push(shown_path(path));
        }
    }
    files.push(Path::new(laid.place).join(shown_path(laid.name)));
    // A run that was killed may have taken back the sidecar and not the PDF.
    files.push(hot.claimed_path(original.ulid.as_str(), &original.origin.name));
    for file in files {
        if address_beside::is_another(folder, hot, &letter, &original.ulid, &file)? {
            return Ok(Some(letter));
        }
    }
    Ok(None)
}

/// A letter that only waits for its posting time would go to its own address then. It waits for a person now. `file` tells
/// this file from a later one, and may be empty.
pub(super) async fn hold(shared: &Arc<Shared>, letter: &Letter, file: &str) -> Result<(), Failed> {
    if letter.state.hold().is_none() {
        let now = shared.clock.now();
        shared.store.said_in_folder(letter.number, Command::Hold, file.to_owned(), now).await?;
        journal::said_in_folder(letter.number, Command::Hold.word());
        shared.bells.letters.notify_one();
    }
    Ok(())
}
