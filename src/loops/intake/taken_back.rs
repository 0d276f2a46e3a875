//! From a person's hand, or from its shelf, back into its claim, with what belongs to it.

use std::io;
use std::path::Path;

use super::hands::shown_path;
use super::meant::lies_at;
use super::shared::Shared;
use crate::domain::drop::{sidecar_ending, sidecars_of, text_name};
use crate::outside::hot::{Hot, SeenEntry};
use crate::outside::store::Original;

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

/// From a person's hand into its claim, under the name it was dropped with.
pub(super) fn take_back(
    shared: &Shared,
    hot: &Hot,
    original: &Original,
    place: &str,
    name: &[u8],
) -> io::Result<()> {
    let claim = original.ulid.as_str();
    // The sidecar before its drop, so that a crash leaves none without the other.
    bring_sidecar(hot, original, Path::new(place), name)?;
    hot.claim(claim, Some(place), &[name])?;
    // While it is still recorded where it lay.
    let rest = hot
        .rename_claimed(claim, name, &original.origin.name)
        .and_then(|()| bring_from_shelf(hot, original))
        .and_then(|()| remove_text_of(hot, original));
    if rest.is_err() {
        // Nobody finds it in that place again, so its claim is looked at anew.
        shared.rest(&original.origin.folder, claim);
    }
    rest
}

/// What was accepted is in its claim; what belongs to it comes along: its sidecar from its shelf, or one that was put
/// into the folder in the meantime.
pub(super) fn bring_along(hot: &Hot, original: &Original) -> io::Result<()> {
    bring_from_shelf(hot, original)?;
    let held = hot.claimed(original.ulid.as_str())?;
    if !held.iter().any(|seen| sidecar_ending(&seen.name).is_some()) {
        let dropped = &original.origin.name;
        let (shelf, name) = lies_at(original).unwrap_or_else(|| (String::new(), dropped.clone()));
        bring_sidecar(hot, original, Path::new(""), &name)?;
        // Another drop may be held under the name that this one had: then the address is for that one.
        if name != *dropped && !hot.is_there(&Path::new(&shelf).join(shown_path(dropped)))? {
            bring_sidecar(hot, original, Path::new(""), dropped)?;
        }
    }
    remove_text_of(hot, original)
}

/// Back into the folder, from a claim that holds no drop.
pub(super) fn put_back(hot: &Hot, claim: &str, held: &[SeenEntry]) -> io::Result<()> {
    for seen in held {
        hot.put_back(claim, &seen.name)?;
    }
    hot.unclaim(claim)
}

/// A power cut may have left the sidecar of a claimed drop in the folder: it is claimed too. Says whether there was one.
pub(super) fn bring_left_behind(hot: &Hot, claim: &str, main: &[u8], held: &[SeenEntry]) -> io::Result<bool> {
    let has_one = held.iter().any(|seen| seen.name != main);
    if has_one || hot.is_there(&shown_path(main))? {
        // It belongs to the drop that lies there.
        return Ok(false);
    }
    for sidecar in sidecars_of(main) {
        if hot.is_there(&shown_path(&sidecar))? {
            hot.claim_from(claim, Path::new(""), &sidecar, &sidecar)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Its sidecar lies beside where it lay, unless one came along already.
fn bring_from_shelf(hot: &Hot, original: &Original) -> io::Result<()> {
    let Some((shelf, name)) = lies_at(original) else { return Ok(()) };
    match bring_sidecar(hot, original, Path::new(&shelf), &name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        brought => brought,
    }
}

/// The sidecars of a name come into the claim, named after the drop as it was dropped.
fn bring_sidecar(hot: &Hot, original: &Original, dir: &Path, name: &[u8]) -> io::Result<()> {
    let claim = original.ulid.as_str();
    for sidecar in sidecars_of(name) {
        if !hot.is_there(&dir.join(shown_path(&sidecar)))? {
            continue;
        }
        let ending = sidecar_ending(&sidecar).unwrap_or_default();
        let dropped = [&original.origin.name, ending].concat();
        match hot.claim_from(claim, dir, &sidecar, &dropped) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            brought => brought?,
        }
    }
    Ok(())
}
