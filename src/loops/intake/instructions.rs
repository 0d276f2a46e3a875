//! What people ask by moving or copying a file into `Approve/` or `Cancel/`.
//!
//! The command is durable before the file is taken away from where it lies, so no command is lost, and one
//! that is recorded twice is carried out once. The file goes back to the claims, and the shelf puts it where
//! its letter then says.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;

use super::IntakeError;
use super::approval::{copied, is_anothers};
use super::candidates::{FileMeaning, LaidFile, lies_at, meaning_of, waits};
use super::corrected::{hold, of_another_address};
use super::handed_back::not_taken;
use super::laid_files::LaidFiles;
use super::laid_sidecar::sidecar_alone;
use super::litter::is_litter;
use super::obeyed::{Instruction, Obeyed, obeyed};
use super::shared::Shared;
use super::shelf_names::ShelfNames;
use super::taken_back::{bring_another_sidecar, copied_sidecars, take_back};
use crate::config::Folder;
use crate::domain::drop::{
    Origin, Refusal, StandingLetter, Undecided, Unheard, Waiting, forms_of, pdf_of, showable, shown,
};
use crate::domain::letter::{Command, Number};
use crate::domain::printed::ReceiverDoubt;
use crate::loops::address_beside;
use crate::loops::shelf_places;
use crate::outside::hot::Hot;
use crate::outside::journal;
use crate::outside::store::{Fate, Original, OriginalPlace, Store, StoreError};

/// How long a file must be unchanged: a move is instantaneous, a copy over a network is not.
const SETTLE: Duration = Duration::from_millis(500);
/// The wait before the next look at a file that cannot be judged yet.
const AGAIN: TimeDelta = TimeDelta::seconds(5);
/// If the command changes nothing, the original goes back to its shelf after this time.
const BACK: TimeDelta = TimeDelta::seconds(5);

pub(super) async fn look(
    instructions: &mut LaidFiles,
    shared: &Arc<Shared>,
    folder: &Folder,
    (hot, names): (&Arc<Hot>, &ShelfNames),
    now: TimeDelta,
) -> Result<(), IntakeError> {
    instructions.next = None;
    let incomplete = TimeDelta::from_std(folder.incomplete).unwrap_or(TimeDelta::MAX);
    let places = [Instruction::Approve, Instruction::Cancel].map(|instruction| {
        names.of_instruction(instruction).into_iter().map(move |name| (instruction, name))
    });
    for (instruction, place) in places.into_iter().flatten() {
        let place = place.as_str();
        let Ok(found) = hot.list(Some(place)) else { continue };
        let drops = found.into_iter().filter(|seen| !is_litter(folder, &seen.name));
        let listing = drops.map(|seen| (seen.name.clone(), super::Stamp::of(&seen, 0))).collect();
        let look = instructions.of(place).look(now, SETTLE, listing, |_, _| None);
        instructions.next = [instructions.next, look.next].into_iter().flatten().min();
        for name in look.ready {
            // A sidecar is taken along with its PDF.
            let lies = |pdf: &[u8]| forms_of(pdf).iter().any(|form| instructions.of(place).knows(form));
            if pdf_of(&name).is_some_and(lies) {
                continue;
            }
            // A file that has not the bytes of any letter may still be being copied.
            let until = instructions.of(place).since(&name).unwrap_or(now) + incomplete;
            let path = Path::new(place).join(shown_path(&name));
            let before = instructions.failed.get(&path).copied();
            if let Some((_, again)) = before.filter(|(_, again)| now < *again) {
                instructions.look_again(again);
                continue;
            }
            let is_first = before.is_none();
            let laid = LaidFile { instruction, place, name: &name, is_finished: now >= until, is_first };
            match said(shared, folder, hot, &laid).await {
                Ok(true) => {
                    instructions.of(place).forget(&name);
                    instructions.failed.remove(&path);
                }
                // It may still be being written.
                Ok(false) => instructions.look_again(until.min(now + AGAIN)),
                Err(Failed::Io(error)) => {
                    let (again, is_news) = instructions.fails(path, now);
                    instructions.look_again(again);
                    // A person took it away at this moment.
                    if is_news && error.kind() != io::ErrorKind::NotFound {
                        journal::not_obeyed(&folder.name, &shown(&name), &error);
                    }
                }
                Err(Failed::Intake(error)) => return Err(error),
            }
        }
    }
    // A file that was taken away asks nothing any more.
    instructions.failed.retain(|path, _| hot.is_there(path).unwrap_or(true));
    Ok(())
}

pub(super) enum Failed {
    Io(io::Error),
    Intake(IntakeError),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<E: Into<IntakeError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Intake(error.into())
    }
}

/// Whether a command can still change what becomes of it.
pub(super) fn is_open(shared: &Shared, original: &Original) -> Result<bool, StoreError> {
    Ok(match &original.fate {
        Fate::Letter(number) => {
            shared.store.letter(*number)?.is_some_and(|letter| !StandingLetter::of(&letter).has_ended())
        }
        Fate::Undecided(undecided) => undecided.is_open(),
    })
}

/// Handles one file. Returns whether that is finished.
async fn said(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    laid: &LaidFile<'_>,
) -> Result<bool, Failed> {
    let LaidFile { instruction, place, name, .. } = *laid;
    if let Some(pdf) = pdf_of(name) {
        return sidecar_alone(shared, folder, hot, laid, pdf).await.map(|()| true);
    }
    if instruction == Instruction::Approve
        && folder.names.by_copy
        && let Some(()) = copied(shared, folder, hot, laid).await?
    {
        return Ok(true);
    }
    let (meaning, file) = meaning_of(shared, folder, hot, laid)?;
    match meaning {
        FileMeaning::NotYet if is_left_over(shared, folder, hot, name)? => {
            hot.remove(&Path::new(place).join(shown_path(name)))?;
        }
        FileMeaning::NotYet => return Ok(false),
        FileMeaning::Moved(original) => moved(shared, folder, hot, laid, &original, file).await?,
        FileMeaning::Copied(original) => copy(shared, folder, hot, laid, original, file).await?,
        FileMeaning::Unheard(refusal) => not_taken(shared, folder, hot, place, name, refusal).await?,
    }
    Ok(true)
}

/// The file is a copy: the original is where it was. The copy is removed once its command is durable, and before it the
/// copies of its sidecars: alone, they could be taken for those of another drop of the name.
async fn copy(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    laid: &LaidFile<'_>,
    original: Original,
    file: String,
) -> Result<(), Failed> {
    if let Some(letter) = of_another_address(shared, folder, hot, laid, &original)? {
        hold(shared, &letter, &file).await?;
        let refusal = Refusal::Unheard(Unheard::OtherAddress { letter: letter.number });
        return not_taken(shared, folder, hot, laid.place, laid.name, refusal).await;
    }
    let copies = copied_sidecars(hot, &original, laid.place, laid.name)?;
    if let Fate::Letter(letter) = original.fate {
        let command = laid.instruction.command();
        shared.store.said_in_folder(letter, command, file, shared.clock.now()).await?;
        heard(shared, laid, letter, command);
    } else if let Some((shelf, name)) = lies_at(&original) {
        if waits(&original) {
            bring_another_sidecar(&shared.store, hot, &original, (laid.place, laid.name), &copies)?;
        }
        let there = LaidFile { place: &shelf, name: &name, ..*laid };
        moved(shared, folder, hot, &there, &original, file).await?;
    }
    for copy in copies {
        hot.remove(&copy)?;
    }
    let letter = original.fate.letter().map(|number| shared.store.letter(number)).transpose()?.flatten();
    for other in hot.sidecars_beside(Path::new(laid.place), laid.name)? {
        let path = Path::new(laid.place).join(shown_path(&other));
        if let Some(letter) = &letter
            && !address_beside::asks_for_another(folder, hot, letter, &path)?
        {
            hot.remove(&path)?;
            continue;
        }
        let pdf = showable(&shown(laid.name));
        let refusal = Refusal::SidecarAlone { pdf, taken_in: None };
        not_taken(shared, folder, hot, laid.place, &other, refusal).await?;
    }
    Ok(hot.remove(&Path::new(laid.place).join(shown_path(laid.name)))?)
}

/// The command is durable: wakes the dispatcher, whatever becomes of the file.
fn heard(shared: &Shared, laid: &LaidFile<'_>, letter: Number, command: Command) {
    if laid.is_first {
        journal::said_in_folder(letter, command.word());
    }
    shared.bells.letters.notify_one();
}

/// The file is the original itself.
async fn moved(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    laid: &LaidFile<'_>,
    original: &Original,
    file: String,
) -> Result<(), Failed> {
    let LaidFile { instruction, place, name, .. } = *laid;
    let now = shared.clock.now();
    let is_asked =
        original.fate.letter().is_some() && instruction == Instruction::Approve && folder.names.by_copy;
    let is_proved = !is_asked || is_anothers(original, hot, place, name)?;
    let another = of_another_address(shared, folder, hot, laid, original)?;
    let is_sure = is_proved && another.is_none();
    let is_held = may_be_accepted(original, hot, place, name)?;
    match obeyed(instruction, original.fate.letter().is_some(), is_held, is_sure) {
        Obeyed::PutBack => {
            if let Some(letter) = &another {
                hold(shared, letter, &file).await?;
            }
            take_back(shared, hot, original, place, name)?;
            shared.store.reclaimed(original.ulid.clone(), Some(now)).await?;
        }
        Obeyed::Order(command) => {
            if let Fate::Letter(letter) = original.fate {
                shared.store.said_in_folder(letter, command, file, now).await?;
                heard(shared, laid, letter, command);
            }
            take_back(shared, hot, original, place, name)?;
            shared.store.reclaimed(original.ulid.clone(), Some(now + BACK)).await?;
        }
        Obeyed::Accepted => {
            shared.store.accept(original.ulid.clone(), doubts_of(original)).await?;
            decided_without(shared, folder, hot, original).await?;
            take_back(shared, hot, original, place, name)?;
            shared.store.reclaimed(original.ulid.clone(), None).await?;
            shared.rest(&folder.name, original.ulid.as_str());
        }
        Obeyed::NothingWaits => {
            return not_taken(shared, folder, hot, place, name, Refusal::NothingWaits).await;
        }
        Obeyed::Cancelled => {
            let origin = original.origin.clone();
            // The original is not put away before it is taken back, which follows immediately.
            let (ulid, times) = (original.ulid.clone(), (now, now + BACK));
            shared.store.undecide(ulid, origin, Undecided::Cancelled, None, times).await?;
            take_back(shared, hot, original, place, name)?;
            shared.store.reclaimed(original.ulid.clone(), Some(now)).await?;
        }
    }
    shared.bells.originals.notify_one();
    Ok(())
}

/// A person has decided whose a sidecar is. Held drops of the name that are missing from their shelf do not make the next
/// one wait: whoever has them may bring them back.
async fn decided_without(
    shared: &Shared,
    folder: &Folder,
    hot: &Hot,
    accepted: &Original,
) -> Result<(), Failed> {
    if !matches!(accepted.fate.undecided(), Some(Undecided::Waits(Waiting::SidecarOfTwo))) {
        return Ok(());
    }
    let Origin { folder: folder_name, name, .. } = &accepted.origin;
    let mut missed = shared.store.open_drops_named(folder_name, name)?;
    missed.retain(|drop| {
        drop.ulid != accepted.ulid
            && drop.place == OriginalPlace::Held
            && (lies_at(drop).is_none() || is_away(&shared.store, hot, drop))
            && !is_laid(folder, hot, drop)
    });
    Ok(shared.store.missed(missed.into_iter().map(|drop| drop.ulid).collect()).await?)
}

/// Whether a file with one of a drop's names lies in `Approve` or `Cancel`.
fn is_laid(folder: &Folder, hot: &Hot, drop: &Original) -> bool {
    let names = lies_at(drop).map(|(_, name)| name).into_iter().chain([drop.origin.name.clone()]);
    let paths = names.flat_map(|name| forms_of(&name)).flat_map(|name| {
        [&folder.names.approve, &folder.names.cancel].map(|place| Path::new(place).join(shown_path(&name)))
    });
    paths.into_iter().any(|path| hot.is_there(&path).unwrap_or(true))
}

/// Whether a drop waits on its shelf, or a person has taken it from there and this is that file.
fn may_be_accepted(original: &Original, hot: &Hot, place: &str, name: &[u8]) -> io::Result<bool> {
    if !waits(original) || original.place == OriginalPlace::Held {
        return Ok(waits(original));
    }
    Ok(hot.inode_of(&Path::new(place).join(shown_path(name)))? == original.inode)
}

/// The hashes of the PDFs that a person accepts as they are.
fn doubts_of(original: &Original) -> Vec<String> {
    match &original.fate {
        Fate::Undecided(Undecided::Waits(Waiting::Doubt(doubtful))) => {
            doubtful.iter().map(|doubtful| doubtful.sha256.clone()).collect()
        }
        Fate::Undecided(Undecided::Waits(Waiting::Page(doubt))) => doubt.accepts.clone(),
        Fate::Undecided(Undecided::Waits(Waiting::Print(doubt))) => doubt.accepts.clone(),
        Fate::Undecided(Undecided::Waits(Waiting::Receiver(doubt))) => match doubt.as_ref() {
            ReceiverDoubt::FirstTime { accepts, .. } => accepts.clone(),
            ReceiverDoubt::NotRead { .. } => Vec::new(),
        },
        // Accepted before, by a run that did not finish.
        Fate::Undecided(Undecided::Accepted { doubts }) => doubts.clone(),
        Fate::Undecided(_) | Fate::Letter(_) => Vec::new(),
    }
}

/// Whether an original is no longer where we put it, so that a file elsewhere may be the original. Another may have got its
/// place.
pub(super) fn is_away(store: &Store, hot: &Hot, original: &Original) -> bool {
    let Some(path) = &original.shelved else { return false };
    hot.is_there(&shown_path(path)).is_ok_and(|there| !there)
        || shelf_places::is_anothers(store, hot, original, path).is_ok_and(|anothers| anothers)
}

pub(super) fn shown_path(path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(path).into()
}

/// Whether the file is only the text that lay beside an original which was moved.
fn is_left_over(shared: &Arc<Shared>, folder: &Folder, hot: &Hot, name: &[u8]) -> Result<bool, Failed> {
    let Some(stem) = name.strip_suffix(b".txt") else { return Ok(false) };
    for original in [b".pdf".as_slice(), b".PDF", b""].map(|ending| [stem, ending].concat()) {
        let named = shared.store.originals_named(&folder.name, &original)?;
        if named
            .iter()
            .any(|original| is_away(&shared.store, hot, original) || original.place == OriginalPlace::Claim)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
