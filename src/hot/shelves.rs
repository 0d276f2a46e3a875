//! On the shelves of a hot folder: originals, and the texts beside them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{self, AtFlags, Mode, OFlags};

use super::moves::rename_new;
use super::{Hot, MOVING, c};

/// Where a text is written before it is put beside its original.
const PART: &str = "text.part";

impl Hot {
    /// Moves something between the folder's own directories; `to` must be free. Directories on the way
    /// are made. Both ends are durable once this returns.
    pub fn shelve(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_dir, from_name) = self.parent(from, false)?;
        let (to_dir, to_name) = self.parent(to, true)?;
        self.go(&MOVING, &from_dir, &to_dir, false, &|| rename_new(&from_dir, &from_name, &to_dir, &to_name))
    }

    /// The same, with a text beside it, in the same directory: one sync is for both.
    pub fn shelve_told(&self, from: &Path, to: &Path, text: (&[u8], &str)) -> io::Result<()> {
        let (from_dir, from_name) = self.parent(from, false)?;
        let (to_dir, to_name) = self.parent(to, true)?;
        let (text_name, words) = text;
        self.write_part(words)?;
        self.go(&MOVING, &from_dir, &to_dir, false, &|| {
            rename_new(&from_dir, &from_name, &to_dir, &to_name)?;
            self.put_text(&to_dir, text_name)
        })
    }

    pub fn is_there(&self, path: &Path) -> io::Result<bool> {
        let (dir, name) = match self.parent(path, false) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match fs::statat(&dir, c(&name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a text where people read it: the old one or the new one is there, never half of one.
    pub fn write_text(&self, path: &Path, text: &str) -> io::Result<()> {
        let (dir, name) = self.parent(path, true)?;
        self.write_part(text)?;
        self.put_text(&dir, &name)?;
        Ok(fs::fsync(&dir)?)
    }

    fn write_part(&self, text: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let rights = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH;
        let mut file = File::from(fs::openat(&self.ours, PART, flags, rights)?);
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    fn put_text(&self, dir: &OwnedFd, name: &[u8]) -> io::Result<()> {
        Ok(fs::renameat(&self.ours, PART, dir, c(name)?)?)
    }

    /// Removes a file for good; it need not be there.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = match self.parent(path, false) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        match fs::unlinkat(&dir, c(&name)?, AtFlags::empty()) {
            Ok(()) => Ok(fs::fsync(&dir)?),
            Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// What is left in a claim (a sidecar) is laid beside its original, and the claim is over.
    pub fn shelve_rest(&self, ulid: &str, dir: &Path) -> io::Result<()> {
        for claim in self.claims_of(ulid)? {
            for seen in self.claimed(&claim)? {
                let from = self.claims_path().join(&claim).join(OsStr::from_bytes(&seen.name));
                let to = dir.join(OsStr::from_bytes(&seen.name));
                match self.shelve(&from, &to) {
                    // An older one lies there; this one is kept under a name of its own.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        let other = [ulid.as_bytes(), b"-", &seen.name].concat();
                        self.shelve(&from, &dir.join(OsStr::from_bytes(&other)))?;
                    }
                    moved => moved?,
                }
            }
            self.unclaim(&claim)?;
        }
        Ok(())
    }
}
