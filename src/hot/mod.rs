//! A hot folder as a place on a disk: what lies in it, taken into the claims, read, and moved about.
//!
//! Everything goes by handles of directories that were opened once, beneath them and without following
//! links, so no name leads out of the folder. A rename never replaces anything. Nothing is ever
//! unlinked that has no durable successor.

mod content;
mod corner;
mod keeper;
mod keeping;
mod moves;
mod order;
mod owner;
mod registry;
mod rights;
mod shelves;

use std::ffi::CString;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

pub use content::Content;
pub use corner::{claimed_at, claims_at, epoch_at, marker_at};
pub use keeper::{Keeper, keeper_at};
pub use order::{CLAIMING, MOVING, MoveStep};
pub use registry::{Known, Registry};
pub use rights::not_shared;
use rustix::fs::{self, AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, Stat};
pub use shelves::Told;

use crate::disk::not_local;
use crate::drop::Kind;
use crate::sync::Syncs;

const OURS: &str = ".mailchute";
const CLAIM: &str = "claim";
/// The end of a claim's name, if it holds what lay in the folder before its drops counted.
pub const WAS_THERE: &str = ".there";

#[derive(Debug)]
pub struct Hot {
    pub path: PathBuf,
    dir: OwnedFd,
    ours: OwnedFd,
    claims: OwnedFd,
    remote: bool,
    is_locked: bool,
    /// What time it was when it was opened, by the file system's own clock.
    pub opened_at: i64,
    claims_syncs: Syncs,
    folder_syncs: Syncs,
    /// Held as long as the folder is ours.
    _lock: File,
}

/// Why a folder can't be worked on at present.
#[derive(Debug, thiserror::Error)]
pub enum Away {
    #[error("it can't be opened: {0}")]
    Closed(#[source] io::Error),
    #[error(
        "its directory .mailchute is gone: its share is not mounted, or it was emptied; if that was on purpose, make an empty .mailchute in it and what lies there is held"
    )]
    NotOurs,
    #[error("{0}")]
    ShelfName(String),
    #[error(
        "it has the same marker as the folder {0}, and nobody can tell which of the two it is: leave one of them out \
         of the configuration, or empty the .mailchute of the copy"
    )]
    Rival(String),
    #[error(
        "its directory .mailchute belongs to another user, or others may write in it: somebody put it there; if it is \
         right, `chown -R` it to mailchute's user and `chmod 700` it"
    )]
    OthersCorner,
    #[error("nothing can be made or moved in it: {0}; give mailchute's user the right to write there")]
    NoRight(#[source] io::Error),
    #[error("another mailchute works on it{}", .0.as_ref().map(|keeper| format!(", with the records in {}", keeper.state.display())).unwrap_or_default())]
    Taken(Option<Keeper>),
    #[error(
        "another mailchute works on it with a copy of these records, in {}: two would post letters twice; stop \
         one of them and remove its copy, or start it once with `mailchute run --after-restore`",
        .0.state.display()
    )]
    TakenByTwin(Keeper),
}

/// A name in a directory and what it is.
#[derive(Debug, Clone)]
pub struct Seen {
    pub name: Vec<u8>,
    pub stat: Stat,
    pub readable: bool,
}

fn c(name: &[u8]) -> io::Result<CString> {
    CString::new(name).map_err(io::Error::other)
}

fn open_dir(at: impl AsFd, name: &[u8]) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(fs::openat(at, c(name)?, flags, Mode::empty())?)
}

/// Opens or makes a directory that only we can look into.
fn our_dir(at: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    match fs::mkdirat(at.as_fd(), name, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => open_dir(at, name.as_bytes()),
        Err(error) => Err(error.into()),
    }
}

/// An inode's number is given again when its file is gone, so when it was made is said as well.
fn directory(metadata: &Metadata) -> io::Result<String> {
    let born = match metadata.created() {
        Ok(born) => born.duration_since(UNIX_EPOCH).map_or(0, |born| born.as_nanos()),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => 0,
        Err(error) => return Err(error),
    };
    Ok(format!("{} {born}", metadata.ino()))
}

/// Whether other machines may write there without the kernel's hearing of it.
fn is_remote(kind: fs::FsWord) -> bool {
    #[expect(clippy::cast_sign_loss, reason = "a magic number; its sign differs by machine")]
    let kind = kind as u64;
    not_local(kind).is_some()
}

/// What stands there instead of a file.
pub fn kind(stat: &Stat) -> Option<Kind> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => None,
        FileType::Directory => Some(Kind::Directory),
        FileType::Symlink => Some(Kind::Symlink),
        FileType::Fifo => Some(Kind::Fifo),
        FileType::Socket => Some(Kind::Socket),
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Some(Kind::Device),
    }
}

/// When a file was last changed or moved, as its filesystem says, in nanoseconds.
pub fn changed(stat: &Stat) -> i64 {
    stat.st_ctime.wrapping_mul(1_000_000_000).wrapping_add(stat.st_ctime_nsec)
}

pub fn modified(stat: &Stat) -> i64 {
    stat.st_mtime.wrapping_mul(1_000_000_000).wrapping_add(stat.st_mtime_nsec)
}

impl Hot {
    /// Opens a folder and makes our corner in it; `known`: it was enabled before, so the corner must be
    /// there. Gives the marker's text, empty if it was made just now.
    pub fn open(path: &Path, known: bool, keeper: &Keeper) -> Result<Self, Away> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = fs::openat(CWD, path, flags, Mode::empty()).map_err(|error| Away::Closed(error.into()))?;
        if known && fs::statat(&dir, OURS, AtFlags::SYMLINK_NOFOLLOW).is_err() {
            return Err(Away::NotOurs);
        }
        let ours = our_dir(&dir, OURS).map_err(Away::NoRight)?;
        let opened_at = match corner::is_ours_alone(&ours) {
            Ok((true, now)) => now,
            Ok((false, _)) => return Err(Away::OthersCorner),
            Err(error) => return Err(Away::NoRight(error)),
        };
        let claims = our_dir(&ours, CLAIM).map_err(Away::NoRight)?;
        let flags = OFlags::RDWR | OFlags::CREATE;
        let lock =
            corner::open_ours(&ours, keeper::LOCK, flags, Mode::RUSR | Mode::WUSR).map_err(Away::NoRight)?;
        let is_locked = match fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(match keeper::read(lock) {
                    Some(other) if other.is_twin_of(keeper) => Away::TakenByTwin(other),
                    other => Away::Taken(other),
                });
            }
            // Some shares know no locks; a claim has one winner all the same.
            Err(_) => false,
        };
        let mut lock = lock;
        drop(keeper::write(&mut lock, keeper));
        // Our corner lasts before anything is taken into it.
        for made_in in [&dir, &ours] {
            fs::fsync(made_in).map_err(|error| Away::NoRight(error.into()))?;
        }
        let remote = fs::fstatfs(&dir).is_ok_and(|disk| is_remote(disk.f_type));
        Ok(Self {
            path: path.to_owned(),
            dir,
            ours,
            claims,
            remote,
            is_locked,
            opened_at,
            claims_syncs: Syncs::default(),
            folder_syncs: Syncs::default(),
            _lock: lock,
        })
    }

    /// The same of a folder that is not opened.
    pub fn is_remote_at(path: &Path) -> bool {
        fs::statfs(path).is_ok_and(|disk| is_remote(disk.f_type))
    }

    /// Whether other machines can write here without our hearing of it.
    pub fn is_remote(&self) -> bool {
        self.remote
    }

    /// What tells its directory from another; nothing where that may be another at each mount.
    pub fn directory(&self) -> io::Result<Option<String>> {
        if self.remote {
            Ok(None)
        } else {
            directory(&File::from(self.dir.try_clone()?).metadata()?).map(Some)
        }
    }

    fn sync_claims(&self) -> io::Result<()> {
        self.claims_syncs.sync(|| Ok(fs::fsync(&self.claims)?))
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.folder_syncs.sync(|| Ok(fs::fsync(&self.dir)?))
    }

    /// Whether a lock keeps others from working here.
    pub fn is_locked(&self) -> bool {
        self.is_locked
    }

    /// Whether the path still leads to the directory that was opened.
    pub fn is_still_there(&self) -> bool {
        let (Ok(here), Ok(there)) = (fs::fstat(&self.dir), fs::stat(&self.path)) else { return false };
        let ours = fs::statat(&self.dir, OURS, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        ours && (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
    }

    /// Everything in the folder itself, or in a subfolder of it.
    pub fn list(&self, subfolder: Option<&str>) -> io::Result<Vec<Seen>> {
        match subfolder {
            None => list(&self.dir),
            Some(name) => match open_dir(&self.dir, name.as_bytes()) {
                Ok(dir) => list(&dir),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
                Err(error) => Err(error),
            },
        }
    }

    /// What lies in a directory of the folder, one level deep.
    pub fn inside(&self, name: &[u8]) -> io::Result<Vec<Seen>> {
        list(&open_dir(&self.dir, name)?)
    }

    pub fn claims(&self) -> io::Result<Vec<String>> {
        let names =
            list(&self.claims)?.into_iter().map(|seen| String::from_utf8_lossy(&seen.name).into_owned());
        Ok(names.collect())
    }
}

fn list(dir: &OwnedFd) -> io::Result<Vec<Seen>> {
    seen(fs::Dir::read_from(dir)?)
}

fn seen(mut dir: fs::Dir) -> io::Result<Vec<Seen>> {
    let mut found = Vec::new();
    while let Some(entry) = dir.read() {
        let name = entry?.file_name().to_owned();
        if matches!(name.as_bytes(), b"." | b"..") {
            continue;
        }
        let at = dir.fd()?;
        // If it is gone by now, or can't be looked at, it keeps no other waiting.
        if let Ok(stat) = fs::statat(at, &name, AtFlags::SYMLINK_NOFOLLOW) {
            let readable = fs::accessat(at, &name, fs::Access::READ_OK, AtFlags::EACCESS).is_ok();
            found.push(Seen { name: name.into_bytes(), stat, readable });
        }
    }
    Ok(found)
}
