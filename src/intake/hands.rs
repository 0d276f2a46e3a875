//! What people say by moving a file: into `Approve/` to let it go, into `Cancel/` to withdraw it.
//!
//! The order is durable before the file is taken away from where it was moved, so nothing that was
//! said is lost; said twice it is done once. The file goes back to the claims, and the shelf puts it
//! where its letter then says.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;

use super::IntakeError;
use super::decide::WAS_THERE;
use super::litter::is_litter;
use super::settle::Settling;
use super::shared::Shared;
use crate::config::Folder;
use crate::drop::{Origin, Refusal, Undecided, pdf_of, sidecars_of, text_name};
use crate::hot::Hot;
use crate::journal;
use crate::letter::Command;
use crate::store::{Original, Place};

/// A move is at once, a copy over a network is not.
const SETTLE: Duration = Duration::from_millis(500);
/// If what was said changes nothing, the original goes back to its shelf after this.
const BACK: TimeDelta = TimeDelta::seconds(5);

#[derive(Debug, Default)]
pub(super) struct Hands {
    approve: Settling,
    cancel: Settling,
    next: Option<TimeDelta>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hand {
    Approve,
    Cancel,
}

impl Hands {
    pub(super) fn next(&self) -> Option<TimeDelta> {
        self.next
    }
}

pub(super) async fn look(
    hands: &mut Hands,
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    now: TimeDelta,
) -> Result<(), IntakeError> {
    hands.next = None;
    for hand in [Hand::Approve, Hand::Cancel] {
        let (place, settling) = match hand {
            Hand::Approve => (&folder.names.approve, &mut hands.approve),
            Hand::Cancel => (&folder.names.cancel, &mut hands.cancel),
        };
        let Ok(found) = hot.list(Some(place)) else { continue };
        let drops = found.into_iter().filter(|seen| !is_litter(folder, &seen.name));
        let listing = drops.map(|seen| (seen.name.clone(), super::Stamp::of(&seen, 0))).collect();
        let look = settling.look(now, SETTLE, listing, |_, _| None);
        hands.next = [hands.next, look.next].into_iter().flatten().min();
        for (name, _) in look.ready {
            if let Some(pdf) = pdf_of(&name) {
                // It is taken along with its PDF; alone it goes where its PDF will look for it.
                if !settling.knows(pdf) {
                    let from = std::path::Path::new(place).join(shown_path(&name));
                    drop(hot.shelve(&from, &shown_path(&name)));
                }
                continue;
            }
            match said(shared, folder, hot, hand, place, &name).await {
                Ok(()) => settling.forget(&name),
                Err(Failed::Io(error)) => journal::not_obeyed(&folder.name, &error),
                Err(Failed::Intake(error)) => return Err(error),
            }
        }
    }
    Ok(())
}

enum Failed {
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

async fn said(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    hand: Hand,
    place: &str,
    name: &[u8],
) -> Result<(), Failed> {
    let original = match name.strip_suffix(b".txt") {
        // The text was moved along with its original, or alone: it says nothing by itself.
        Some(_) if shared.store.original_named(&folder.name, name)?.is_none() => {
            return Ok(hot.remove_text(&std::path::Path::new(place).join(shown_path(name)))?);
        }
        Some(_) | None => shared.store.original_named(&folder.name, name)?,
    };
    let Some(original) = original.filter(|original| is_away(hot, original)) else {
        return nothing_waits(shared, folder, hot, place, name).await;
    };
    let now = shared.clock.now();
    match (original.letter, hand) {
        (Some(letter), hand) => {
            let command = match hand {
                Hand::Approve => Command::Release,
                Hand::Cancel => Command::Cancel,
            };
            shared.store.said_in_folder(letter, command, now).await?;
            journal::said_in_folder(letter, command.word());
            hot.claim(original.ulid.as_str(), Some(place), &together(hot, place, name)?)?;
            shared.store.reclaimed(original.ulid.clone(), now + BACK).await?;
            shared.taken.notify_one();
        }
        (None, Hand::Approve) if original.place == Place::Held => {
            hot.claim(original.ulid.as_str(), Some(place), &together(hot, place, name)?)?;
            bring_sidecar(hot, &original, name)?;
            shared.store.forget_undecided(original.ulid.clone()).await?;
            shared.rest(&folder.name, original.ulid.as_str());
        }
        (None, Hand::Approve) => return nothing_waits(shared, folder, hot, place, name).await,
        (None, Hand::Cancel) => {
            hot.claim(original.ulid.as_str(), Some(place), &together(hot, place, name)?)?;
            shared.store.reclaimed(original.ulid.clone(), now).await?;
            let origin = original.origin.clone();
            shared.store.undecide(original.ulid.clone(), origin, Undecided::Cancelled, now).await?;
        }
    }
    // Its text said what is no more so.
    if let Some(shelved) = &original.shelved {
        let path = shown_path(shelved);
        let text = text_name(path.file_name().unwrap_or_default().as_encoded_bytes());
        hot.remove_text(&path.with_file_name(shown_path(&text)))?;
    }
    shared.owed.notify_one();
    Ok(())
}

/// Whether an original is no more where we put it: somebody moved it, and what lies elsewhere is it.
fn is_away(hot: &Hot, original: &Original) -> bool {
    let Some(path) = &original.shelved else { return false };
    hot.is_there(&shown_path(path)).is_ok_and(|there| !there)
}

fn shown_path(path: &[u8]) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(path).into()
}

/// What was moved with it: its sidecar, before it.
fn together<'a>(hot: &Hot, place: &str, name: &'a [u8]) -> io::Result<Vec<std::borrow::Cow<'a, [u8]>>> {
    let mut names = Vec::new();
    for sidecar in sidecars_of(name) {
        if hot.is_there(&std::path::Path::new(place).join(shown_path(&sidecar)))? {
            names.push(sidecar.into());
        }
    }
    names.push(name.into());
    Ok(names)
}

/// Its address may have been put into the folder in the meantime.
fn bring_sidecar(hot: &Hot, original: &Original, name: &[u8]) -> io::Result<()> {
    for sidecar in sidecars_of(name) {
        match hot.claim(original.ulid.as_str(), None, &[sidecar]) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
    Ok(())
}

async fn nothing_waits(
    shared: &Arc<Shared>,
    folder: &Folder,
    hot: &Arc<Hot>,
    place: &str,
    name: &[u8],
) -> Result<(), Failed> {
    let Some(ulid) = shared.new_ulid() else { return Ok(()) };
    let origin = Origin { folder: folder.name.clone(), name: name.to_vec() };
    // Were the daemon to die here, it would be held as something that lay there: never taken for a drop.
    hot.claim(&format!("{ulid}{WAS_THERE}"), Some(place), &[name])?;
    let refused = Undecided::Refused(Refusal::NothingWaits);
    shared.store.undecide(ulid, origin, refused, shared.clock.now()).await?;
    shared.owed.notify_one();
    Ok(())
}
