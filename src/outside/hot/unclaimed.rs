//! What lies at any path, seen and read as a drop is, for commands that only look. Nothing is opened for writing.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{self, AtFlags, Mode, OFlags};

use super::content::{Content, whole};
use super::opened::list;
use super::{SeenEntry, Stat, c, kind};
use crate::domain::drop::Kind;

/// What is at a path if it is not a regular file. A link is not followed.
pub fn kind_at(path: &Path) -> io::Result<Option<Kind>> {
    let (dir, name) = parent(path)?;
    Ok(kind(&Stat::from(fs::statat(dir, c(&name)?, AtFlags::SYMLINK_NOFOLLOW)?)))
}

/// What lies in a directory.
pub fn list_at(path: &Path) -> io::Result<Vec<SeenEntry>> {
    list(&directory(path)?)
}

/// The file at a path.
pub fn read_at(path: &Path, largest: u64) -> io::Result<Content> {
    let (dir, name) = parent(path)?;
    whole(&dir, &name, largest)
}

fn parent(path: &Path) -> io::Result<(OwnedFd, Vec<u8>)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.as_bytes().to_vec();
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((directory(dir)?, name))
}

fn directory(path: &Path) -> io::Result<OwnedFd> {
    Ok(fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}
