//! Reads what was claimed: only regular files with one name that do not change meanwhile.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{self, AtFlags, Mode, OFlags, ResolveFlags};

use super::opened::Opened;
use super::owner::only_the_owner_writes;
use super::{Stat, c, kind, open_dir};
use crate::domain::drop::Kind;

/// The number of bytes read to see how a file begins and ends.
const PART: u64 = 1024;

/// The result of reading a drop's file.
#[derive(Debug)]
pub enum Content {
    Whole {
        bytes: Vec<u8>,
        stat: Stat,
    },
    TooLarge(u64),
    NotAFile(Kind),
    Linked,
    NoRight,
    /// It was written to meanwhile.
    Changing,
}

impl Opened {
    /// Reads a claimed file. It must be a regular file and must not change meanwhile. `inside` is a claimed
    /// directory.
    pub(super) fn read(
        &self,
        claim: &str,
        inside: Option<&[u8]>,
        name: &[u8],
        largest: u64,
    ) -> io::Result<Content> {
        self.with_claimed(claim, inside.unwrap_or(name), |dir, main| match inside {
            Some(_) => whole(&open_dir(dir, main)?, name, largest),
            None => whole(dir, main, largest),
        })
    }

    /// Reads a file in a subfolder of the folder.
    pub(super) fn peek_in(&self, subfolder: &str, name: &[u8], largest: u64) -> io::Result<Content> {
        whole(&open_dir(&self.dir, subfolder.as_bytes())?, name, largest)
    }

    /// Whether nobody but its owner could have written a claimed file. `seen` is its stat when it was read.
    pub(super) fn is_claim_its_owners(&self, claim: &str, name: &[u8], seen: Stat) -> io::Result<bool> {
        self.with_claimed(claim, name, |dir, name| self.is_its_owners(dir, name, seen))
    }

    /// Whether nobody but its owner could have written a file in a subfolder. `seen` is its stat when it was
    /// read.
    pub(super) fn is_its_owners_in(&self, subfolder: &str, name: &[u8], seen: Stat) -> io::Result<bool> {
        self.is_its_owners(&open_dir(&self.dir, subfolder.as_bytes())?, name, seen)
    }

    fn is_its_owners(&self, dir: &OwnedFd, name: &[u8], seen: Stat) -> io::Result<bool> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = beneath(dir, name, flags)?;
        let stat = Stat::from(fs::fstat(&file)?);
        // Another file, or one whose permissions changed since, proves nothing about what was read.
        let is_the_same = (stat.inode, stat.changed) == (seen.inode, seen.changed);
        Ok(is_the_same && only_the_owner_writes(&file, stat.mode, self.facts.remote))
    }

    /// The beginning and the end of a file where it was dropped.
    pub(super) fn ends(&self, name: &[u8]) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = File::from(beneath(&self.dir, name, flags)?);
        let size = file.metadata()?.len();
        let part = |from: u64| {
            let mut part = vec![0; usize::try_from((size - from).min(PART)).unwrap_or_default()];
            file.read_exact_at(&mut part, from)?;
            io::Result::Ok(part)
        };
        Ok((part(0)?, part(size.saturating_sub(PART))?))
    }

    /// The bytes before an offset of a file where it was dropped.
    pub(super) fn end_at(&self, name: &[u8], at: u64) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = File::from(beneath(&self.dir, name, flags)?);
        let length = at.min(PART);
        let mut part = vec![0; usize::try_from(length).unwrap_or_default()];
        file.read_exact_at(&mut part, at - length)?;
        Ok(part)
    }

    /// Reads a file where it was dropped. Whatever is decided by this is decided again after the claim.
    pub(super) fn peek(&self, name: &[u8], largest: u64) -> io::Result<Content> {
        whole(&self.dir, name, largest)
    }
}

/// The last bytes of a file whose whole content was read: as many as are read where only its ends are read.
pub fn last_part(bytes: &[u8]) -> &[u8] {
    let length = bytes.len().min(usize::try_from(PART).unwrap_or(usize::MAX));
    &bytes[bytes.len() - length..]
}

pub(super) fn whole(dir: &OwnedFd, name: &[u8], largest: u64) -> io::Result<Content> {
    let before = Stat::from(fs::statat(dir, c(name)?, AtFlags::SYMLINK_NOFOLLOW)?);
    if let Some(kind) = kind(&before) {
        return Ok(Content::NotAFile(kind));
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match beneath(dir, name, flags) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => return Ok(Content::NoRight),
        Err(error) => return Err(error.into()),
    };
    let stat = Stat::from(fs::fstat(&file)?);
    if let Some(kind) = kind(&stat) {
        return Ok(Content::NotAFile(kind));
    }
    if stat.links > 1 {
        return Ok(Content::Linked);
    }
    let size = stat.size;
    if size > largest {
        return Ok(Content::TooLarge(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    (&file).take(largest + 1).read_to_end(&mut bytes)?;
    let after = Stat::from(fs::fstat(&file)?);
    let same = |a: &Stat, b: &Stat| {
        (a.inode, a.size, a.modified, a.changed) == (b.inode, b.size, b.modified, b.changed)
    };
    let whole = same(&stat, &after) && same(&before, &stat) && bytes.len() as u64 == size;
    Ok(if whole { Content::Whole { bytes, stat: after } } else { Content::Changing })
}

fn beneath(dir: &OwnedFd, name: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let name = CString::new(name).map_err(|_| rustix::io::Errno::INVAL)?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match fs::openat2(dir, &name, flags, Mode::empty(), resolve) {
        // An old kernel, or the filter of a container.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
            fs::openat(dir, &name, flags, Mode::empty())
        }
        opened => opened,
    }
}
