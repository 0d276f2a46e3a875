//! Writes files that did not come from people, and removes what was kept long enough.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, Mode, OFlags};

use super::content::whole;
use super::marker::open_ours;
use super::moves::rename_new;
use super::opened::{Opened, list};
use super::{Content, Stat, c, kind, open_dir};
use crate::domain::drop::{INSIDE, Kind, numbered};
use crate::outside::spool::sha256_of;

const MOST_OF_A_NAME: u32 = 1000;

impl Opened {
    /// Writes a file that appears complete, under the first free name. Nothing is ever replaced.
    pub(super) fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
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

    /// Reads a file at a path in the folder.
    pub(super) fn read_at(&self, path: &Path, largest: u64) -> io::Result<Content> {
        let (dir, name) = self.parent(path, false)?;
        whole(&dir, &name, largest)
    }

    /// Removes a file, or the files of a directory, if its hash is one of these. Everything else stays.
    pub(super) fn remove_tree(&self, path: &Path, largest: u64, hashes: &[&str]) -> io::Result<()> {
        let (dir, name) = self.parent(path, false)?;
        let stat = match fs::statat(&dir, c(&name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => return Ok(()),
            stat => Stat::from(stat?),
        };
        if kind(&stat) != Some(Kind::Directory) {
            remove_ours(&dir, &name, largest, hashes)?;
            return Ok(fs::fsync(&dir)?);
        }
        let inside = open_dir(&dir, &name)?;
        for seen in list(&inside)? {
            if kind(&seen.stat) != Some(Kind::Directory) {
                if INSIDE.iter().any(|known| known.as_bytes() == seen.name) {
                    fs::unlinkat(&inside, c(&seen.name)?, AtFlags::empty())?;
                } else {
                    remove_ours(&inside, &seen.name, largest, hashes)?;
                }
            }
        }
        match fs::unlinkat(&dir, c(&name)?, AtFlags::REMOVEDIR) {
            // It contains something that belongs to a person.
            Ok(()) | Err(rustix::io::Errno::NOTEMPTY | rustix::io::Errno::NOENT) => Ok(fs::fsync(&dir)?),
            Err(error) => Err(error.into()),
        }
    }
}

fn remove_ours(dir: &OwnedFd, name: &[u8], largest: u64, hashes: &[&str]) -> io::Result<()> {
    let content = whole(dir, name, largest)?;
    if matches!(content, Content::Whole { bytes, .. } if hashes.contains(&sha256_of(&bytes).as_str())) {
        fs::unlinkat(dir, c(name)?, AtFlags::empty())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::hot::keeper::Keeper;

    #[test]
    fn a_file_gets_the_first_free_name_and_an_error_is_not_a_name_that_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let keeper = Keeper {
            records: "A".to_owned(),
            run: "1".to_owned(),
            state: PathBuf::from("/s"),
            daemon: String::new(),
            holder: String::new(),
        };
        let opened = Opened::open(dir.path(), false, &keeper).unwrap();
        let write = |name: &str| opened.write_new(&dir.path().join(name), b"%PDF");
        for name in ["a.pdf", "a (2).pdf"] {
            assert_eq!(write("a.pdf").unwrap(), dir.path().join(name));
        }
        let error = write("no file is called\0this.pdf").unwrap_err();
        assert!(error.to_string().contains("nul byte"), "{error}");
    }
}
