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
use super::candidates::{FileMeaning, LaidFile, lies_at, meaning_of, sidecars_at, waits};
use super::decide::content_of;
use super::laid_files::LaidFiles;
use super::litter::is_litter;
use super::obeyed::{Instruction, Obeyed, obeyed};
use super::shared::Shared;
use super::shelf_names::ShelfNames;
use super::taken_back::{bring_another_sidecar, copied_sidecars, take_back};
use crate::config::Folder;
use crate::domain::drop::{
    Origin, Refusal, StandingLetter, Undecided, Waiting, forms_of, is_pdf, pdf_of, showable, shown,
};
use crate::domain::letter::{Command, LARGEST_DOCUMENT, Number};
use crate::domain::printed::ReceiverDoubt;
use crate::outside::hot::{Content, Hot, WAS_THERE};
use crate::outside::journal;
use crate::outside::store::{Fate, Original, OriginalPlace, StoreError};

/// The name of a sidecar in its claim if it lay alone in `Approve` or `Cancel`.
const ALONE: &[u8] = b"address";
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
            if let Some(pdf) = pdf_of(&name) {
                // A sidecar is taken along with its PDF.
                if !forms_of(pdf).iter().any(|form| instructions.of(place).knows(form)) {
                    match sidecar_alone(shared, folder, hot, (instruction, place), &name, pdf).await {
                        Ok(()) | Err(Failed::Io(_)) => {}
                        Err(Failed::Intake(error)) => return Err(error),
                    }
                }
                continue;
            }
            // A file that has not the bytes of any letter may still be being copied.
            let until = instructions.of(place).since(&name).unwrap_or(now) + incomplete;
            let path = Path::new(place).join(shown_path(&name));
            let before = instructions.failed.get(&path).copied();
            if let Some((_, again)) = before.filter(|(_, again)| now < *again) {
                instructions.next = Some(instructions.next.map_or(again, |next| next.min(again)));
                continue;
            }
            let is_first = before.is_none();
            let laid = LaidFile { instruction, place, name: &name, is_finished: now >= until, is_first };
            let said = said(shared, folder, hot, &laid).await;
            match said {
                Ok(true) => {
                    instructions.of(place).forget(&name);
                    instructions.failed.remove(&path);
                }
                // It may still be being written.
                Ok(false) => {
                    let again = until.min(now + AGAIN);
                    instructions.next = Some(instructions.next.map_or(again, |next| next.min(again)));
                }
                Err(Failed::Io(error)) => {
                    let (again, is_news) = instructions.fails(path, now);
                    instructions.next = Some(instructions.next.map_or(again, |next| next.min(again)));
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

/// A sidecar without its PDF. In `Approve` it is put beside the drop that waits under this name, where that drop's approval
/// finds it. A copy of a sidecar that such a drop has already, or a letter that has not ended, is removed. Any other is
/// handed back, and never put into the folder, where it would decide over another drop of the name.
async fn sidecar_alone(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    (instruction, place): (Instruction, &str),
    name: &[u8],
    pdf: &[u8],
) -> Result<(), Failed> {
    let here = Path::new(place).join(shown_path(name));
    let mut named = shared.store.originals_named(&folder.name, pdf)?;
    let is_held =
        |original: &&Original| original.fate.letter().is_none() && original.place == OriginalPlace::Held;
    let open = shared.store.open_drops_named(&folder.name, pdf)?;
    let is_taken_aside = |drop: &Original| drop.place == OriginalPlace::Held && lies_at(drop).is_none();
    // If there are several, or a person has one in hand, nobody knows for which PDF the sidecar is.
    if instruction == Instruction::Approve
        && !open.iter().any(is_taken_aside)
        && let [original] = named.iter().filter(is_held).collect::<Vec<_>>().as_slice()
        && !is_away(hot, original)
        && let Some((shelf, _)) = lies_at(original)
    {
        let there = Path::new(&shelf).join(shown_path(name));
        if sidecars_at(hot, original)?.is_empty() && !hot.is_there(&there)? {
            return Ok(hot.shelve(&here, &there)?);
        }
    }
    if let Content::Whole { bytes, .. } = hot.read_at(&here, LARGEST_DOCUMENT)? {
        named.extend(open);
        for original in &named {
            if is_open(shared, original)? && sidecars_at(hot, original)?.contains(&bytes) {
                return Ok(hot.remove(&here)?);
            }
        }
    }
    let pdf = showable(&shown(pdf));
    not_taken(shared, folder, hot, place, name, Refusal::SidecarAlone { pdf }).await
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
    if instruction == Instruction::Approve
        && folder.names.by_copy
        && let Some(()) = copied(shared, folder, hot, place, name).await?
    {
        return Ok(true);
    }
    let (meaning, file) = meaning_of(shared, folder, hot, laid)?;
    match meaning {
        FileMeaning::NotYet if is_left_over(shared, folder, hot, name)? => {
            hot.remove(&Path::new(place).join(shown_path(name)))?;
        }
        FileMeaning::NotYet => return Ok(false),
        FileMeaning::Moved(original) => moved(shared, folder, hot, laid, original, file).await?,
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
        moved(shared, folder, hot, &there, original, file).await?;
    }
    for copy in copies {
        hot.remove(&copy)?;
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
    original: Original,
    file: String,
) -> Result<(), Failed> {
    let LaidFile { instruction, place, name, .. } = *laid;
    let now = shared.clock.now();
    let is_asked =
        original.fate.letter().is_some() && instruction == Instruction::Approve && folder.names.by_copy;
    let is_proved = !is_asked || is_anothers(&original, hot, place, name)?;
    let is_held = may_be_accepted(&original, hot, place, name)?;
    match obeyed(instruction, original.fate.letter().is_some(), is_held, is_proved) {
        Obeyed::PutBack => {
            take_back(shared, hot, &original, place, name)?;
            shared.store.reclaimed(original.ulid.clone(), Some(now)).await?;
        }
        Obeyed::Order(command) => {
            if let Fate::Letter(letter) = original.fate {
                shared.store.said_in_folder(letter, command, file, now).await?;
                heard(shared, laid, letter, command);
            }
            take_back(shared, hot, &original, place, name)?;
            shared.store.reclaimed(original.ulid.clone(), Some(now + BACK)).await?;
        }
        Obeyed::Accepted => {
            shared.store.accept(original.ulid.clone(), doubts_of(&original)).await?;
            take_back(shared, hot, &original, place, name)?;
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
            take_back(shared, hot, &original, place, name)?;
            shared.store.reclaimed(original.ulid.clone(), Some(now)).await?;
        }
    }
    shared.bells.originals.notify_one();
    Ok(())
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

/// Whether an original is no longer where we put it, so that a file elsewhere may be the original.
pub(super) fn is_away(hot: &Hot, original: &Original) -> bool {
    let Some(path) = &original.shelved else { return false };
    hot.is_there(&shown_path(path)).is_ok_and(|there| !there)
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
        if named.iter().any(|original| is_away(hot, original) || original.place == OriginalPlace::Claim) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The command is not carried out, and a text in the folder says why.
pub(super) async fn not_taken(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    place: &str,
    name: &[u8],
    refusal: Refusal,
) -> Result<(), Failed> {
    let Some(ulid) = shared.new_ulid() else { return Ok(()) };
    let origin = Origin { folder: folder.name.clone(), name: name.to_vec(), owner: None };
    // If the daemon dies here, it is held as something that was there before, and never taken for a drop. A sidecar that
    // is alone gets another name there, because a claim with sidecars only is put back into the folder.
    let claim = format!("{ulid}{WAS_THERE}");
    let claimed_as = if pdf_of(name).is_some() { ALONE } else { name };
    hot.claim_from(&claim, Path::new(place), name, claimed_as)?;
    // The sidecars of a PDF come after it, for the same reason. Left alone, they would be taken for those of another drop
    // of the name.
    let sidecars = if is_pdf(name) { hot.sidecars_beside(Path::new(place), name) } else { Ok(Vec::new()) };
    for sidecar in sidecars.unwrap_or_default() {
        if let Err(error) = hot.claim(&claim, Some(place), &[&sidecar])
            && error.kind() != io::ErrorKind::NotFound
        {
            journal::not_obeyed(&folder.name, &shown(&sidecar), &error);
        }
    }
    let content = content_of(hot, &claim, claimed_as);
    let (refused, now) = (Undecided::Refused(refusal), shared.clock.now());
    shared.store.undecide(ulid, origin, refused, content, (now, now)).await?;
    shared.bells.originals.notify_one();
    Ok(())
}
