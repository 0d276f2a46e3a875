//! Where an original is now.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::NotShelved;
use super::place;
use crate::base::clock::Time;
use crate::config::Folder;
use crate::domain::drop::{Kind, forms_of, numbered};
use crate::domain::letter::{LARGEST_DOCUMENT, Letter};
use crate::outside::hot::{Content, Hot};
use crate::outside::spool::sha256_of;
use crate::outside::store::{Original, OriginalPlace, Store};

/// The maximum number of originals with one name that are searched.
const NAMESAKES: u32 = 20;

/// The path at which an original was last put, whether that was recorded or not: if it is at none of its places, a
/// move that was begun has ended.
pub(super) fn last_place(original: &Original) -> Option<PathBuf> {
    let path = original.moving.as_deref().or(original.shelved.as_deref());
    path.map(|path| PathBuf::from(OsStr::from_bytes(path)))
}

/// Whether it is in `Approve` or `Cancel`, about to be handled.
pub(super) fn in_hand(original: &Original, folder: &Folder, hot: &Hot) -> bool {
    let Some(path) = last_place(original) else { return false };
    let Some(name) = path.file_name() else { return false };
    let places = [&folder.names.approve, &folder.names.cancel];
    let paths = places.into_iter().flat_map(|place| {
        forms_of(name.as_bytes()).into_iter().map(move |form| Path::new(place).join(OsStr::from_bytes(&form)))
    });
    paths.into_iter().any(|path| hot.is_there(&path).unwrap_or(true))
}

/// The present path of an original in its folder: in its claim, where it was being moved to, or on its shelf.
/// A path may belong to another original by now, because a failed move leaves its name to others.
pub(super) fn find(store: &Store, original: &Original, hot: &Hot) -> Result<Option<PathBuf>, NotShelved> {
    if let Some(claimed) = hot.find_claimed(original.ulid.as_str(), &original.origin.name)? {
        return Ok(Some(claimed));
    }
    for path in [&original.moving, &original.shelved].into_iter().flatten() {
        let at = PathBuf::from(OsStr::from_bytes(path));
        if hot.is_there(&at)? && !store.is_anothers(original, path)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Records that were made anew, or put back, do not know where an original lies. On a shelf it is recognised
/// by its name and bytes, if no other original is known to be there.
pub(super) fn on_a_shelf(
    store: &Store,
    original: &Original,
    letter: Option<&Letter>,
    folder: &Folder,
    hot: &Hot,
    posted: Option<Time>,
) -> Result<Option<PathBuf>, NotShelved> {
    let Some(letter) = letter else { return Ok(None) };
    let shelves = [OriginalPlace::Sent, OriginalPlace::Held, OriginalPlace::Cancelled];
    for dir in shelves.into_iter().filter_map(|shelf| place::dir(shelf, &folder.names, folder.zone, posted)) {
        for n in 1..=NAMESAKES {
            let (name, _) = numbered(&original.origin.name, n);
            let path = dir.join(OsStr::from_bytes(&name));
            if store.is_anothers(original, path.as_os_str().as_bytes())? {
                continue;
            }
            match hot.read_at(&path, LARGEST_DOCUMENT) {
                Ok(content) if is_of(letter, &content) => return Ok(Some(path)),
                Ok(_) => {}
                // A person may have taken the first of them away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(None)
}

fn is_of(letter: &Letter, content: &Content) -> bool {
    match (letter.order.documents.as_slice(), content) {
        ([only], Content::Whole { bytes, .. }) => only.sha256 == sha256_of(bytes),
        // A subfolder is recognised by its name.
        (_, Content::NotAFile(Kind::Directory)) => true,
        (_, _) => false,
    }
}
