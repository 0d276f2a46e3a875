//! Lays what a queue took into the claims. It is written where nobody looks, and appears whole.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;

use rustix::fs::{self, AtFlags, Mode, OFlags};

use super::moves::rename_new;
use super::opened::{Opened, list, our_dir};
use super::rights::{give_shelf, give_text};
use super::{c, kind, open_dir};
use crate::domain::drop::Kind;

const LAYING: &str = "laying";

impl Opened {
    /// Writes a part of what will be a claim. `anew` says that it is the first one: what a crash left is
    /// removed.
    pub(super) fn lay(
        &self,
        claim: &str,
        anew: bool,
        subfolder: Option<&[u8]>,
        name: &[u8],
        bytes: &[u8],
    ) -> io::Result<()> {
        let laying = our_dir(&self.ours, LAYING)?;
        if anew {
            remove(&laying, claim)?;
        }
        let mut dir = our_dir(&laying, claim)?;
        if let Some(subfolder) = subfolder {
            match fs::mkdirat(&dir, c(subfolder)?, Mode::RWXU) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            dir = open_dir(&dir, subfolder)?;
            // People move it as they move a drop of their own. `doctor` reports what cannot be set.
            drop(give_shelf(&self.dir, &dir));
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut file = File::from(fs::openat(&dir, c(name)?, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(bytes)?;
        give_text(&self.dir, &file);
        file.sync_all()
    }

    /// What was laid appears as a claim, durably. A claim of that name that exists already stays as it is.
    pub(super) fn end_lay(&self, claim: &str) -> io::Result<()> {
        let laying = our_dir(&self.ours, LAYING)?;
        let dir = open_dir(&laying, claim.as_bytes())?;
        for seen in list(&dir)? {
            if kind(&seen.stat) == Some(Kind::Directory) {
                fs::fsync(open_dir(&dir, &seen.name)?)?;
            }
        }
        fs::fsync(&dir)?;
        match rename_new(&laying, claim.as_bytes(), &self.claims, claim.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove(&laying, claim)?,
            renamed => renamed?,
        }
        self.sync_claims()
    }
}

/// Removes what was not laid to its end. It need not exist.
fn remove(laying: &OwnedFd, claim: &str) -> io::Result<()> {
    let dir = match open_dir(laying, claim.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        dir => dir?,
    };
    for seen in list(&dir)? {
        if kind(&seen.stat) == Some(Kind::Directory) {
            let inside = open_dir(&dir, &seen.name)?;
            for seen in list(&inside)? {
                fs::unlinkat(&inside, c(&seen.name)?, AtFlags::empty())?;
            }
            fs::unlinkat(&dir, c(&seen.name)?, AtFlags::REMOVEDIR)?;
        } else {
            fs::unlinkat(&dir, c(&seen.name)?, AtFlags::empty())?;
        }
    }
    Ok(fs::unlinkat(laying, claim, AtFlags::REMOVEDIR)?)
}
