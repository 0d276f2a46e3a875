//! Laying down what did not come from people, and removing what was kept long enough.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, Mode, OFlags};

use super::content::whole;
use super::corner::open_ours;
use super::moves::rename_new;
use super::{Content, Hot, c, kind, list, open_dir};
use crate::drop::{INSIDE, Kind, numbered};

const MOST_OF_A_NAME: u32 = 1000;

impl Hot {
    /// Writes a file that appears whole, under the first free name; nothing is ever replaced.
    pub fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        let (dir, name) = self.parent(path, true)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let rights = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH;
        let mut file = open_ours(&self.ours, "file.part", flags, rights)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        for n in 1..MOST_OF_A_NAME {
            let (name, _) = numbered(&name, n);
            match rename_new(&self.ours, b"file.part", &dir, &name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                renamed => {
                    renamed?;
                    fs::fsync(&dir)?;
                    return Ok(path.with_file_name(OsStr::from_bytes(&name)));
                }
            }
        }
        Err(io::Error::other("every name is taken"))
    }

    /// Whether a file lies there that is as it should be.
    pub fn holds(&self, path: &Path, largest: u64, is_it: &dyn Fn(&Content) -> bool) -> io::Result<bool> {
        let (dir, name) = self.parent(path, false)?;
        Ok(is_it(&whole(&dir, &name, largest)?))
    }

    /// Removes a file, or a directory of files, as far as it is ours to remove; the rest stays.
    pub fn remove_tree(
        &self,
        path: &Path,
        largest: u64,
        is_ours: &dyn Fn(&Content) -> bool,
    ) -> io::Result<()> {
        let (dir, name) = self.parent(path, false)?;
        let stat = match fs::statat(&dir, c(&name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => return Ok(()),
            stat => stat?,
        };
        if kind(&stat) != Some(Kind::Directory) {
            remove_ours(&dir, &name, largest, is_ours)?;
            return Ok(fs::fsync(&dir)?);
        }
        let inside = open_dir(&dir, &name)?;
        for seen in list(&inside)? {
            if kind(&seen.stat) != Some(Kind::Directory) {
                if INSIDE.iter().any(|known| known.as_bytes() == seen.name) {
                    fs::unlinkat(&inside, c(&seen.name)?, AtFlags::empty())?;
                } else {
                    remove_ours(&inside, &seen.name, largest, is_ours)?;
                }
            }
        }
        match fs::unlinkat(&dir, c(&name)?, AtFlags::REMOVEDIR) {
            // Something in it is a person's.
            Ok(()) | Err(rustix::io::Errno::NOTEMPTY | rustix::io::Errno::NOENT) => Ok(fs::fsync(&dir)?),
            Err(error) => Err(error.into()),
        }
    }
}

fn remove_ours(
    dir: &OwnedFd,
    name: &[u8],
    largest: u64,
    is_ours: &dyn Fn(&Content) -> bool,
) -> io::Result<()> {
    if is_ours(&whole(dir, name, largest)?) {
        fs::unlinkat(dir, c(name)?, AtFlags::empty())?;
    }
    Ok(())
}
