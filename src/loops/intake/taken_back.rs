//! Moves an original from `Approve`, `Cancel` or its shelf back into its claim, with what belongs to it.

use std::io;
use std::path::{Path, PathBuf};

use super::candidates::{lies_at, sidecars_at};
use super::instructions::shown_path;
use super::shared::Shared;
use crate::domain::drop::{pdf_of, sidecar_ending, sidecars_of, text_name};
use crate::domain::letter::LARGEST_DOCUMENT;
use crate::loops::shelf_places::is_anothers;
use crate::outside::hot::{Content, Hot, SeenEntry};
use crate::outside::store::{Original, Store};

/// Removes the text beside an original that is taken from its shelf, since it is no longer true. The text may
/// also lie where a move has ended that was reported as failed.
pub(super) fn remove_text_of(store: &Store, hot: &Hot, original: &Original) -> io::Result<()> {
    for path in [&original.shelved, &original.moving].into_iter().flatten() {
        if is_anothers(store, hot, original, path)? {
            continue;
        }
        let path = shown_path(path);
        let text = text_name(path.file_name().unwrap_or_default().as_encoded_bytes());
        hot.remove(&path.with_file_name(shown_path(&text)))?;
    }
    Ok(())
}

/// Moves an original from where a person put it into its claim, under the name with which it was dropped.
pub(super) fn take_back(
    shared: &Shared,
    hot: &Hot,
    original: &Original,
    place: &str,
    name: &[u8],
) -> io::Result<()> {
    let claim = original.ulid.as_str();
    // The sidecar before its drop, so that a crash leaves neither without the other.
    bring_sidecar(&shared.store, hot, original, Path::new(place), name)?;
    hot.claim(claim, Some(place), &[name])?;
    // While its old place is still recorded.
    let rest = hot
        .rename_claimed(claim, name, &original.origin.name)
        .and_then(|()| bring_along(&shared.store, hot, original));
    if rest.is_err() {
        // It will not be found at that place again, so its claim is looked at.
        shared.rest(&original.origin.folder, claim);
    }
    rest
}

/// An original is in its claim. What belongs to it comes along: its sidecar from its shelf, and none from the folder,
/// where a sidecar belongs to a PDF that lies or comes there. Its text is removed.
pub(super) fn bring_along(store: &Store, hot: &Hot, original: &Original) -> io::Result<()> {
    bring_from_shelf(store, hot, original)?;
    remove_text_of(store, hot, original)
}

/// Moves everything back into the folder, from a claim that holds no drop.
pub(super) fn put_back(hot: &Hot, claim: &str, held: &[SeenEntry]) -> io::Result<()> {
    for seen in held {
        hot.put_back(claim, &seen.name)?;
    }
    hot.unclaim(claim)
}

/// A power cut may have left the sidecar of a claimed drop in the folder, or a person has put a newer one there while the
/// drop settled in its claim. It is claimed too. Returns whether there was one.
pub(super) fn bring_left_behind(hot: &Hot, claim: &str, main: &[u8]) -> io::Result<bool> {
    if hot.is_there(&shown_path(main))? {
        // It belongs to the drop that lies there.
        return Ok(false);
    }
    let mut has_come = false;
    for sidecar in hot.sidecars_beside(Path::new(""), main)? {
        match bring_one(hot, claim, main, Path::new(""), &sidecar) {
            Ok(()) => has_come = true,
            // There are as many as there can be, or it has just been taken away.
            Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(has_come)
}

/// Whether a sidecar of a claimed drop lies in the folder, and no other drop of its name.
pub(super) fn is_left_behind(hot: &Hot, main: &[u8]) -> io::Result<bool> {
    Ok(!hot.is_there(&shown_path(main))? && !hot.sidecars_beside(Path::new(""), main)?.is_empty())
}

/// The sidecars beside a copy of an original that are copies of its own.
pub(super) fn copied_sidecars(
    hot: &Hot,
    original: &Original,
    place: &str,
    name: &[u8],
) -> io::Result<Vec<PathBuf>> {
    let known = sidecars_at(hot, original)?;
    let mut copies = Vec::new();
    for sidecar in hot.sidecars_beside(Path::new(place), name)? {
        let path = Path::new(place).join(shown_path(&sidecar));
        if let Content::Whole { bytes, .. } = hot.read_at(&path, LARGEST_DOCUMENT)?
            && known.contains(&bytes)
        {
            copies.push(path);
        }
    }
    Ok(copies)
}

/// A copy of a held drop was put somewhere with a sidecar. If the drop has no such sidecar, it comes along: of two
/// different ones only a person knows which one counts.
pub(super) fn bring_another_sidecar(
    store: &Store,
    hot: &Hot,
    original: &Original,
    (place, name): (&str, &[u8]),
    copies: &[PathBuf],
) -> io::Result<()> {
    if hot.sidecars_beside(Path::new(place), name)?.len() == copies.len() {
        return Ok(());
    }
    bring_sidecar(store, hot, original, Path::new(place), name)
}

/// Brings the sidecar from beside the original's former place.
fn bring_from_shelf(store: &Store, hot: &Hot, original: &Original) -> io::Result<()> {
    let Some((shelf, name)) = lies_at(original) else { return Ok(()) };
    let path = Path::new(&shelf).join(shown_path(&name));
    if !is_anothers(store, hot, original, path.as_os_str().as_encoded_bytes())? {
        bring_sidecar(store, hot, original, Path::new(&shelf), &name)?;
    }
    // Under a name of its own, if the original's name was too long for it.
    bring_sidecar(store, hot, original, Path::new(&shelf), original.ulid.as_str().as_bytes())
}

/// Moves the sidecars of a name into the claim, under the name with which the drop was dropped.
fn bring_sidecar(store: &Store, hot: &Hot, original: &Original, dir: &Path, name: &[u8]) -> io::Result<()> {
    let claim = original.ulid.as_str();
    for sidecar in hot.sidecars_beside(dir, name)? {
        let its_pdf = pdf_of(&sidecar).filter(|pdf| *pdf != name).map(|pdf| dir.join(shown_path(pdf)));
        if let Some(path) = its_pdf
            && is_anothers(store, hot, original, path.as_os_str().as_encoded_bytes())?
        {
            // A PDF of another form belongs there, wherever a person has just put it.
            continue;
        }
        match bring_one(hot, claim, &original.origin.name, dir, &sidecar) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            brought => brought?,
        }
    }
    Ok(())
}

/// Moves a sidecar into a claim, under the name that belongs to the drop there. If that is taken, it gets another ending:
/// a drop with two sidecars is refused, since only a person knows which one counts.
fn bring_one(hot: &Hot, claim: &str, dropped: &[u8], dir: &Path, sidecar: &[u8]) -> io::Result<()> {
    let own = sidecar_ending(sidecar).unwrap_or_default();
    let others = sidecars_of(dropped).filter(|name| !name.ends_with(own));
    let mut brought = Ok(());
    for name in std::iter::once([dropped, own].concat()).chain(others) {
        brought = hot.claim_from(claim, dir, sidecar, &name);
        if !matches!(&brought, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
    }
    brought
}
