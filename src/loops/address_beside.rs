//! Whether the address beside a letter's original is the one that the letter goes to. A person may have corrected it after
//! the letter was taken in.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::config::Folder;
use crate::domain::drop::{INSIDE, shown};
use crate::domain::letter::{LARGEST_DOCUMENT, Letter};
use crate::outside::hot::{Content, Hot};
use crate::outside::spool::Ulid;

/// Whether a sidecar beside a file, or in a subfolder, asks for anything else than the letter.
pub fn is_another(folder: &Folder, hot: &Hot, letter: &Letter, ulid: &Ulid, file: &Path) -> io::Result<bool> {
    for path in sidecars(hot, ulid, file)? {
        if asks_for_another(folder, hot, letter, &path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a sidecar asks for anything else than the letter, or cannot be read. What it leaves out is not compared.
pub fn asks_for_another(folder: &Folder, hot: &Hot, letter: &Letter, sidecar: &Path) -> io::Result<bool> {
    match hot.read_at(sidecar, LARGEST_DOCUMENT) {
        Ok(Content::Whole { bytes, .. }) => {
            let name = shown(sidecar.file_name().unwrap_or_default().as_bytes());
            Ok(!folder.sidecar(&name, bytes).is_ok_and(|sidecar| sidecar.agrees_with(&letter.order)))
        }
        Ok(Content::Changing) => Err(io::Error::new(io::ErrorKind::WouldBlock, "it is being written")),
        Ok(Content::TooLarge(_) | Content::NotAFile(_) | Content::Linked | Content::NoRight) => Ok(true),
        // There is nothing inside a file.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// What may be a sidecar of a file or a subfolder. The folder may have taken the other kind when it was dropped.
fn sidecars(hot: &Hot, ulid: &Ulid, file: &Path) -> io::Result<Vec<PathBuf>> {
    let (dir, name) = (file.parent().unwrap_or(Path::new("")), file.file_name().unwrap_or_default());
    if dir == hot.claims_path() {
        // It was claimed alone, and what lies there beside it belongs to others.
        return Ok(Vec::new());
    }
    let mut beside = hot.sidecars_beside(dir, name.as_bytes())?;
    // Under a name of its own, if that of the original was taken or too long.
    beside.extend(hot.sidecars_beside(dir, ulid.as_str().as_bytes())?);
    let beside = beside.iter().map(|sidecar| dir.join(OsStr::from_bytes(sidecar)));
    Ok(beside.chain(INSIDE.iter().map(|name| file.join(name))).collect())
}
