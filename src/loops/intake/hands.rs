//! What people say by moving a file: into `Approve/` to let it go, into `Cancel/` to withdraw it.
//!
//! The order is durable before the file is taken away from where it was moved, so nothing that was
//! said is lost; said twice it is done once. The file goes back to the claims, and the shelf puts it
//! where its letter then says.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;

use super::IntakeError;
use super::approval::{copied, is_anothers};
use super::decide::content_of;
use super::laid::Hands;
use super::litter::is_litter;
use super::meant::{Laid, Wish, lies_at, wish};
use super::shared::Shared;
use super::shelf_names::ShelfNames;
use super::taken_back::{bring_along, take_back};
use super::wish::{Hand, Obeyed, obeyed};
use crate::config::Folder;
use crate::domain::drop::{Origin, Refusal, Undecided, Waiting, pdf_of, shown};
use crate::domain::letter::{Command, Number};
use crate::outside::hot::{Hot, WAS_THERE};
use crate::outside::journal;
use crate::outside::store::{Fate, Original, Place};

/// A move is at once, a copy over a network is not.
const SETTLE: Duration = Duration::from_millis(500);
/// What can't be judged yet is looked at again after this.
const AGAIN: TimeDelta = TimeDelta::seconds(5);
/// If what was said changes nothing, the original goes back to its shelf after this.
const BACK: TimeDelta = TimeDelta::seconds(5);

pub(super) async fn look(
    hands: &mut Hands,
    shared: &Arc<Shared>,
    folder: &Folder,
    (hot, names): (&Arc<Hot>, &ShelfNames),
    now: TimeDelta,
) -> Result<(), IntakeError> {
    hands.next = None;
    let incomplete = TimeDelta::from_std(folder.incomplete).unwrap_or(TimeDelta::MAX);
    let places = [Hand::Approve, Hand::Cancel]
        .map(|hand| names.of_hand(hand).into_iter().map(move |name| (hand, name)));
    for (hand, place) in places.into_iter().flatten() {
        let place = place.as_str();
        let Ok(found) = hot.list(Some(place)) else { continue };
        let drops = found.into_iter().filter(|seen| !is_litter(folder, &seen.name));
        let listing = drops.map(|seen| (seen.name.clone(), super::Stamp::of(&seen, 0))).collect();
        let look = hands.of(place).look(now, SETTLE, listing, |_, _| None);
        hands.next = [hands.next, look.next].into_iter().flatten().min();
        for (name, _) in look.ready {
            if let Some(pdf) = pdf_of(&name) {
                // It is taken along with its PDF; alone it goes where its PDF will look for it.
                if !hands.of(place).knows(pdf) {
                    let from = Path::new(place).join(shown_path(&name));
                    drop(hot.shelve(&from, &shown_path(&name)));
                }
                continue;
            }
            // What has not the bytes of any letter may be being copied.
            let until = hands.of(place).since(&name).unwrap_or(now) + incomplete;
            let path = Path::new(place).join(shown_path(&name));
            let before = hands.failed.get(&path).copied();
            if let Some((_, again)) = before.filter(|(_, again)| now < *again) {
                hands.next = Some(hands.next.map_or(again, |next| next.min(again)));
                continue;
            }
            let is_first = before.is_none();
            let laid = Laid { hand, place, name: &name, is_finished: now >= until, is_first };
            let said = said(shared, folder, hot, &laid).await;
            match said {
                Ok(true) => {
                    hands.of(place).forget(&name);
                    hands.failed.remove(&path);
                }
                // It may be being written.
                Ok(false) => {
                    let again = until.min(now + AGAIN);
                    hands.next = Some(hands.next.map_or(again, |next| next.min(again)));
                }
                Err(Failed::Io(error)) => {
                    let (again, is_news) = hands.fails(path, now);
                    hands.next = Some(hands.next.map_or(again, |next| next.min(again)));
                    // A person took it away at this moment.
                    if is_news && error.kind() != io::ErrorKind::NotFound {
                        journal::not_obeyed(&folder.name, &shown(&name), &error);
                    }
                }
                Err(Failed::Intake(error)) => return Err(error),
            }
        }
    }
    // What was taken away says nothing any more.
    hands.failed.retain(|path, _| hot.is_there(path).unwrap_or(true));
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

/// Says whether it is done with the file.
async fn said(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    laid: &Laid<'_>,
) -> Result<bool, Failed> {
    let Laid { hand, place, name, .. } = *laid;
    if hand == Hand::Approve
        && folder.names.by_copy
        && let Some(()) = copied(shared, folder, hot, place, name).await?
    {
        return Ok(true);
    }
    let (wish, file) = wish(shared, folder, hot, laid)?;
    match wish {
        Wish::NotYet if is_left_over(shared, folder, hot, name)? => {
            hot.remove(&Path::new(place).join(shown_path(name)))?;
        }
        Wish::NotYet => return Ok(false),
        Wish::Moved(original) => moved(shared, folder, hot, laid, original, file).await?,
        Wish::Copied(original) => copy(shared, folder, hot, laid, original, file).await?,
        Wish::Unheard(refusal) => not_taken(shared, folder, hot, place, name, refusal).await?,
    }
    Ok(true)
}

/// The file is a copy: the original is where it was, and the copy goes away once what it says is durable.
async fn copy(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    laid: &Laid<'_>,
    original: Original,
    file: String,
) -> Result<(), Failed> {
    if let Fate::Letter(letter) = original.fate {
        let command = laid.hand.command();
        shared.store.said_in_folder(letter, command, file, shared.clock.now()).await?;
        heard(shared, laid, letter, command);
    } else if let Some((shelf, name)) = lies_at(&original) {
        let there = Laid { place: &shelf, name: &name, ..*laid };
        moved(shared, folder, hot, &there, original, file).await?;
    }
    Ok(hot.remove(&Path::new(laid.place).join(shown_path(laid.name)))?)
}

/// The order is durable: the dispatcher is woken, whatever becomes of the file.
fn heard(shared: &Shared, laid: &Laid<'_>, letter: Number, command: Command) {
    if laid.is_first {
        journal::said_in_folder(letter, command.word());
    }
    shared.bells.letters.notify_one();
}

/// The original itself lies there.
async fn moved(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    laid: &Laid<'_>,
    original: Original,
    file: String,
) -> Result<(), Failed> {
    let Laid { hand, place, name, .. } = *laid;
    let now = shared.clock.now();
    let is_asked = original.fate.letter().is_some() && hand == Hand::Approve && folder.names.by_copy;
    let is_proved = !is_asked || is_anothers(&original, hot, place, name)?;
    match obeyed(hand, original.fate.letter().is_some(), original.place == Place::Held, is_proved) {
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
            bring_along(hot, &original)?;
            shared.store.reclaimed(original.ulid.clone(), None).await?;
            shared.rest(&folder.name, original.ulid.as_str());
        }
        Obeyed::NothingWaits => {
            return not_taken(shared, folder, hot, place, name, Refusal::NothingWaits).await;
        }
        Obeyed::Cancelled => {
            let origin = original.origin.clone();
            // Put away not before it is taken back, which is at once.
            let (ulid, times) = (original.ulid.clone(), (now, now + BACK));
            shared.store.undecide(ulid, origin, Undecided::Cancelled, None, times).await?;
            take_back(shared, hot, &original, place, name)?;
            shared.store.reclaimed(original.ulid.clone(), Some(now)).await?;
        }
    }
    shared.bells.originals.notify_one();
    Ok(())
}

/// The hashes of the PDFs that a person takes as they are.
fn doubts_of(original: &Original) -> Vec<String> {
    match &original.fate {
        Fate::Undecided(Undecided::Waits(Waiting::Doubt(doubtful))) => {
            doubtful.iter().map(|doubtful| doubtful.sha256.clone()).collect()
        }
        // Said before, by a run that did not come to the rest.
        Fate::Undecided(Undecided::Accepted { doubts }) => doubts.clone(),
        Fate::Undecided(_) | Fate::Letter(_) => Vec::new(),
    }
}

/// Whether an original is no more where we put it: somebody moved it, and what lies elsewhere is it.
pub(super) fn is_away(hot: &Hot, original: &Original) -> bool {
    let Some(path) = &original.shelved else { return false };
    hot.is_there(&shown_path(path)).is_ok_and(|there| !there)
}

pub(super) fn shown_path(path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(path).into()
}

/// Whether it is only the text that lay beside an original which was moved.
fn is_left_over(shared: &Arc<Shared>, folder: &Folder, hot: &Hot, name: &[u8]) -> Result<bool, Failed> {
    let Some(stem) = name.strip_suffix(b".txt") else { return Ok(false) };
    for original in [b".pdf".as_slice(), b".PDF", b""].map(|ending| [stem, ending].concat()) {
        let named = shared.store.originals_named(&folder.name, &original)?;
        if named.iter().any(|original| is_away(hot, original) || original.place == Place::Claim) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What was said is not done, and the folder says why.
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
    // Were the daemon to die here, it would be held as something that lay there: never taken for a drop.
    let claim = format!("{ulid}{WAS_THERE}");
    hot.claim(&claim, Some(place), &[name])?;
    let content = content_of(hot, &claim, name);
    let (refused, now) = (Undecided::Refused(refusal), shared.clock.now());
    shared.store.undecide(ulid, origin, refused, content, (now, now)).await?;
    shared.bells.originals.notify_one();
    Ok(())
}
