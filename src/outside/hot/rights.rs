//! The permissions of what we create in a folder: the folder's group gets what it has in the folder, others
//! never more. A service's umask and group would lock people out of their shelves and texts.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{self, CWD, Gid, Mode, OFlags, Stat, XattrFlags};
use rustix::io::Errno;

use super::open_dir;
use super::opened::Opened;

const SET_GROUP: u32 = 0o2000;
const LIST: &str = "system.posix_acl_access";
const LIST_OF_NEW: &str = "system.posix_acl_default";
/// The maximum size of an access list.
const LONGEST_LIST: usize = 4096;

/// The mode of a shelf: the group may list and move, and may write if it may write in the folder. Nobody is
/// kept from moving another person's file.
fn of_shelf(folder: u32) -> u32 {
    0o750 | (folder & 0o020) | (folder & 0o007) | (folder & SET_GROUP)
}

/// The mode of a text: everyone who can read the folder can read it.
fn of_text(folder: u32) -> u32 {
    0o640 | (folder & 0o020) | (folder & 0o004)
}

/// Gives a directory that was created in `parent` the permissions of a shelf.
pub(super) fn give_shelf(parent: impl AsFd, shelf: impl AsFd) -> io::Result<()> {
    let folder = fs::fstat(&parent)?;
    give(shelf, &folder, of_shelf(folder.st_mode))
}

/// Gives a text the permissions it should have beside an original. `doctor` reports what cannot be set.
pub(super) fn give_text(folder: impl AsFd, text: impl AsFd) {
    let Ok(stat) = fs::fstat(&folder) else { return };
    let mut list = [0; LONGEST_LIST];
    // A shelf has inherited the default list for its content. A text is created elsewhere.
    if let Ok(length) = fs::fgetxattr(&folder, LIST_OF_NEW, &mut list) {
        let _ = fs::fsetxattr(&text, LIST, &list[..length], XattrFlags::empty());
    }
    drop(give(text, &stat, of_text(stat.st_mode)));
}

fn give(what: impl AsFd, folder: &Stat, mode: u32) -> io::Result<()> {
    let now = fs::fstat(&what)?;
    if now.st_gid != folder.st_gid {
        fs::fchown(&what, None, Some(Gid::from_raw(folder.st_gid)))?;
    }
    if now.st_mode & 0o7777 != mode {
        fs::fchmod(&what, Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

/// Whether people can use a shelf as they use the folder.
fn is_shared(folder: &Stat, shelf: &Stat) -> bool {
    let wanted = of_shelf(folder.st_mode) & 0o777;
    let is_sticky = shelf.st_mode & 0o1000 != 0;
    shelf.st_gid == folder.st_gid && shelf.st_mode & wanted == wanted && !is_sticky
}

impl Opened {
    /// Gives existing shelves the permissions they should have, as far as we may.
    #[expect(clippy::unnecessary_wraps, reason = "a helper may not answer")]
    pub(super) fn share(&self, names: &[&str]) -> io::Result<()> {
        for name in names {
            if let Ok(shelf) = open_dir(&self.dir, name.as_bytes()) {
                drop(give_shelf(&self.dir, shelf));
            }
        }
        Ok(())
    }
}

/// Shelves that the folder's group cannot use, and the command that allows it.
pub fn not_shared(folder: &Path, names: &[&str]) -> Vec<(String, String)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let stat = |path: &Path| {
        let opened = fs::openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())?;
        fs::fstat(opened)
    };
    let Ok(around) = fs::openat(CWD, folder, flags, Mode::empty()).and_then(fs::fstat) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for name in names {
        let path = folder.join(name);
        match stat(&path) {
            Ok(shelf) if is_shared(&around, &shelf) => {}
            Err(Errno::NOENT) => {}
            Ok(_) | Err(_) => {
                let (group, mode, at) = (around.st_gid, of_shelf(around.st_mode), path.display());
                found.push(((*name).to_owned(), format!("`chgrp {group} '{at}' && chmod {mode:o} '{at}'`")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shelves_and_texts_are_the_group_s_as_the_folder_is_and_others_never_get_more() {
        for (folder, shelf, text) in [
            (0o40_770, 0o770, 0o660),
            (0o42_770, 0o2770, 0o660),
            (0o42_775, 0o2775, 0o664),
            (0o41_777, 0o777, 0o664),
            (0o40_700, 0o750, 0o640),
            (0o40_755, 0o755, 0o644),
            (0o40_711, 0o751, 0o640),
        ] {
            assert_eq!((of_shelf(folder), of_text(folder)), (shelf, text), "{folder:o}");
        }
    }
}
