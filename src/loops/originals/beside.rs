//! What lies beside an original: its text, and what else was claimed with it.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::config::Folder;
use crate::domain::drop::{
    Receivers, Refusal, Undecided, Unheard, showable, shown, sidecar_ending, sidecars_in_any_form, text_name,
};
use crate::loops::shelf_places::is_anothers;
use crate::outside::hot::Hot;
use crate::outside::spool::sha256_of;
use crate::outside::store::{Original, Store, StoreError};
use crate::words::texts::{Noted, Times, note};

/// Clears the shelf that an original left: its text is removed, its sidecar goes along. A run that ended may
/// have moved it before, and another may have got its place.
pub(super) fn leave_shelf(
    store: &Store,
    original: &Original,
    hot: &Hot,
    found: &Path,
    now_at: &Path,
) -> io::Result<()> {
    let mut shelves = vec![found];
    if let Some(path) = &original.shelved
        && !is_anothers(store, hot, original, path)?
    {
        shelves.insert(0, Path::new(OsStr::from_bytes(path)));
    }
    let is_left = |was: &&Path| *was != now_at && !was.starts_with(hot.claims_path());
    for was in shelves.into_iter().filter(is_left) {
        hot.remove(&text_of(was))?;
        let dir = was.parent().unwrap_or(Path::new(""));
        let mut sidecars = hot.sidecars_beside(dir, was.file_name().unwrap_or_default().as_bytes())?;
        // Under a name of its own, if that of the original was taken or too long.
        sidecars.extend(hot.sidecars_beside(dir, original.ulid.as_str().as_bytes())?);
        for sidecar in sidecars {
            let old = dir.join(OsStr::from_bytes(&sidecar));
            let own = sidecar_ending(&sidecar).unwrap_or_default();
            // Several come along, too: only a person knows which one counts. Each keeps its ending if it can.
            let (same, others): (Vec<_>, Vec<_>) =
                sidecar_paths(now_at).into_iter().partition(|new| new.as_os_str().as_bytes().ends_with(own));
            for new in same.into_iter().chain(others).filter(|new| *new != old) {
                if !hot.is_there(&new)? {
                    hot.shelve(&old, &new)?;
                    break;
                }
            }
        }
    }
    Ok(())
}

/// The paths that a sidecar of an original at this path may have, those of its own form first.
fn sidecar_paths(path: &Path) -> Vec<PathBuf> {
    let names = sidecars_in_any_form(path.file_name().unwrap_or_default().as_bytes(), |_| false);
    names.iter().map(|name| path.with_file_name(OsStr::from_bytes(name))).collect()
}

pub(super) fn text_of(path: &Path) -> PathBuf {
    let text = text_name(path.file_name().unwrap_or_default().as_bytes());
    path.with_file_name(OsStr::from_bytes(&text))
}

/// A drop that is not a letter, with the receivers of the letters that its text names.
pub(super) fn with_receivers<'a>(
    store: &Store,
    undecided: Option<&'a Undecided>,
) -> Result<Option<Cow<'a, Undecided>>, StoreError> {
    let Some(Undecided::Refused(Refusal::Unheard(Unheard::Several { letters, .. }))) = undecided else {
        return Ok(undecided.map(Cow::Borrowed));
    };
    let mut receivers = Receivers::default();
    for number in letters {
        let letter = match store.letter(*number) {
            // Its receiver can't be read. The start reports it.
            Err(StoreError::Damaged(_)) => None,
            letter => letter?,
        };
        receivers.0.push(letter.map(|letter| letter.order.receiver.address.name.clone()).unwrap_or_default());
    }
    let unheard = Unheard::Several { letters: letters.clone(), receivers };
    Ok(Some(Cow::Owned(Undecided::Refused(Refusal::Unheard(unheard)))))
}

/// The text beside an original.
pub(super) fn text_for(original: &Original, folder: &Folder, about: &Noted<'_>, times: Times) -> String {
    let name = showable(&shown(&original.origin.name));
    note(folder.language, &folder.names, folder.zone, &name, about, times)
}

/// Completes an original on its shelf: writes its text if it is new, different or missing, and moves what
/// else was claimed with it. Returns what the text was made from.
pub(super) fn complete(
    original: &Original,
    hot: &Hot,
    path: &Path,
    text: &str,
    is_written: bool,
) -> io::Result<String> {
    let made_of = sha256_of(text.as_bytes());
    let text_path = text_of(path);
    let is_new = !is_written && (original.told.as_ref() != Some(&made_of) || !hot.is_there(&text_path)?);
    if is_new {
        hot.write_text(&text_path, text)?;
    }
    hot.shelve_rest(original.ulid.as_str(), path)?;
    Ok(made_of)
}
