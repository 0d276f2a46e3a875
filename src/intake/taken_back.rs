//! From a person's hand, or from its shelf, back into its claim, with what belongs to it.

use std::io;
use std::path::{Path, PathBuf};

use super::hands::shown_path;
use super::shared::Shared;
use crate::drop::{sidecars_of, text_name};
use crate::hot::{Hot, Seen};
use crate::store::Original;

/// The text beside an original that is taken from its shelf: it says what is no more so. It may also lie where a move
/// has ended that was called failed.
pub(super) fn remove_text_of(hot: &Hot, original: &Original) -> io::Result<()> {
    for path in [&original.shelved, &original.moving].into_iter().flatten() {
        let path = shown_path(path);
        let text = text_name(path.file_name().unwrap_or_default().as_encoded_bytes());
        hot.remove(&path.with_file_name(shown_path(&text)))?;
    }
    Ok(())
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

/// From a person's hand into its claim, under the name it was dropped with.
pub(super) fn take_back(
    shared: &Shared,
    hot: &Hot,
    original: &Original,
    place: &str,
    name: &[u8],
) -> io::Result<()> {
    let claim = original.ulid.as_str();
    let together = together(hot, place, name)?;
    let together: Vec<&[u8]> = together.iter().map(AsRef::as_ref).collect();
    hot.claim(claim, Some(place), &together)?;
    // While it is still recorded where it lay.
    let rest = hot
        .rename_claimed(claim, name, &original.origin.name)
        .and_then(|()| bring_sidecar(hot, original, &shelf_of(original)))
        .and_then(|()| remove_text_of(hot, original));
    if rest.is_err() {
        // Nobody finds it in that place again, so its claim is looked at anew.
        shared.rest(&original.origin.folder, claim);
    }
    rest
}

/// What was accepted is in its claim; what belongs to it comes along.
pub(super) fn bring_along(hot: &Hot, original: &Original) -> io::Result<()> {
    let mut dirs = shelf_of(original);
    dirs.push(PathBuf::new());
    bring_sidecar(hot, original, &dirs)?;
    remove_text_of(hot, original)
}

/// Back into the folder, from a claim that holds no drop.
pub(super) fn put_back(hot: &Hot, claim: &str, held: &[Seen]) -> io::Result<()> {
    for seen in held {
        hot.put_back(claim, &seen.name)?;
    }
    hot.unclaim(claim)
}

/// A power cut may have left the sidecar of a claimed drop in the folder: it is claimed too. Says whether there was one.
pub(super) fn bring_left_behind(hot: &Hot, claim: &str, main: &[u8], held: &[Seen]) -> io::Result<bool> {
    let has_one = held.iter().any(|seen| seen.name != main);
    if has_one || hot.is_there(&shown_path(main))? {
        // It belongs to the drop that lies there.
        return Ok(false);
    }
    for sidecar in sidecars_of(main) {
        if hot.is_there(&shown_path(&sidecar))? {
            hot.claim_from(claim, Path::new(""), &sidecar)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// The shelf on which it lay.
fn shelf_of(original: &Original) -> Vec<PathBuf> {
    let shelf = original.shelved.as_deref().map(shown_path);
    shelf.iter().filter_map(|path| path.parent()).map(Path::to_owned).collect()
}

/// Its address lies beside where it lay, or was put into the folder in the meantime.
fn bring_sidecar(hot: &Hot, original: &Original, dirs: &[PathBuf]) -> io::Result<()> {
    let claim = original.ulid.as_str();
    for sidecar in sidecars_of(&original.origin.name) {
        for dir in dirs {
            if !hot.is_there(&dir.join(shown_path(&sidecar)))? {
                continue;
            }
            match hot.claim_from(claim, dir, &sidecar) {
                // It is not there, or one came along already.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {}
                brought => brought?,
            }
        }
    }
    Ok(())
}
