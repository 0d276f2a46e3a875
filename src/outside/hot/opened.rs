//! A folder opened in this process: the handles of its directories.

use std::ffi::CString;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use rustix::fs::{self, AtFlags, CWD, FlockOperation, Mode, OFlags};

use super::{Away, CLAIM, Keeper, OURS, SeenEntry, Stat, keeper, kind, marker, open_dir};
use crate::base::sync::Syncs;
use crate::domain::drop::Kind;
use crate::outside::disk::not_local;

#[derive(Debug)]
pub(super) struct Opened {
    pub(super) dir: OwnedFd,
    pub(super) ours: OwnedFd,
    pub(super) claims: OwnedFd,
    path: PathBuf,
    pub(super) facts: FolderFacts,
    pub(super) claims_syncs: Syncs,
    pub(super) folder_syncs: Syncs,
    /// Held while texts are written, which have the same names until each is in its place.
    pub(super) texts: Mutex<()>,
    /// Held for as long as the folder is ours.
    _lock: File,
}

/// What does not change while a folder is open.
#[derive(Debug, Clone, Copy)]
pub(super) struct FolderFacts {
    pub(super) remote: bool,
    pub(super) is_locked: bool,
    /// The file system's time when the folder was opened.
    pub(super) opened_at: i64,
}

/// Opens or creates a directory that only we can read.
pub(super) fn our_dir(at: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    match fs::mkdirat(at.as_fd(), name, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => open_dir(at, name.as_bytes()),
        Err(error) => Err(error.into()),
    }
}

/// Inode and birth time, because the number of an inode is used again once its file is gone.
pub(super) fn directory(metadata: &Metadata) -> io::Result<String> {
    let born = match metadata.created() {
        Ok(born) => born.duration_since(UNIX_EPOCH).map_or(0, |born| born.as_nanos()),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => 0,
        Err(error) => return Err(error),
    };
    Ok(format!("{} {born}", metadata.ino()))
}

/// Whether other machines may write there without the kernel's notice.
pub(super) fn is_remote(kind: fs::FsWord) -> bool {
    #[expect(clippy::cast_sign_loss, reason = "a magic number; its sign differs by machine")]
    let kind = kind as u64;
    not_local(kind).is_some()
}

impl Opened {
    /// Opens a folder and creates our directory in it. `known` says that the folder was enabled before, so
    /// our directory must exist.
    pub(super) fn open(path: &Path, known: bool, keeper: &Keeper) -> Result<Self, Away> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = fs::openat(CWD, path, flags, Mode::empty()).map_err(|error| Away::Closed(error.into()))?;
        if known && fs::statat(&dir, OURS, AtFlags::SYMLINK_NOFOLLOW).is_err() {
            return Err(Away::NotOurs);
        }
        let ours = our_dir(&dir, OURS).map_err(Away::NoRight)?;
        let opened_at = match marker::is_ours_alone(&ours) {
            Ok((true, now)) => now,
            Ok((false, _)) => return Err(Away::OthersCorner),
            Err(error) => return Err(Away::NoRight(error)),
        };
        let claims = our_dir(&ours, CLAIM).map_err(Away::NoRight)?;
        let flags = OFlags::RDWR | OFlags::CREATE;
        let lock =
            marker::open_ours(&ours, keeper::LOCK, flags, Mode::RUSR | Mode::WUSR).map_err(Away::NoRight)?;
        let is_locked = match fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(match keeper::read(lock) {
                    Some(other) if other.is_left_over() => Away::NotLetGo,
                    Some(other) if other.is_twin_of(keeper) => Away::TakenByTwin(other),
                    other => Away::Taken(other),
                });
            }
            // Some shares have no locks. A claim still has only one winner.
            Err(_) => false,
        };
        let mut lock = lock;
        drop(keeper::write(&mut lock, keeper));
        // `.mailchute` is durable before anything is claimed into it.
        for made_in in [&dir, &ours] {
            fs::fsync(made_in).map_err(|error| Away::NoRight(error.into()))?;
        }
        let remote = fs::fstatfs(&dir).is_ok_and(|disk| is_remote(disk.f_type));
        Ok(Self {
            path: path.to_owned(),
            dir,
            ours,
            claims,
            facts: FolderFacts { remote, is_locked, opened_at },
            claims_syncs: Syncs::default(),
            folder_syncs: Syncs::default(),
            texts: Mutex::default(),
            _lock: lock,
        })
    }

    /// The identity of the directory. `None` where it may differ after each mount.
    pub(super) fn directory(&self) -> io::Result<Option<String>> {
        if self.facts.remote {
            Ok(None)
        } else {
            directory(&File::from(self.dir.try_clone()?).metadata()?).map(Some)
        }
    }

    pub(super) fn sync_claims(&self) -> io::Result<()> {
        self.claims_syncs.sync(|| Ok(fs::fsync(&self.claims)?))
    }

    /// Whether the path still leads to the directory that was opened.
    pub(super) fn is_still_there(&self) -> io::Result<bool> {
        let here = fs::fstat(&self.dir)?;
        let Ok(there) = fs::stat(&self.path) else { return Ok(false) };
        let ours = fs::statat(&self.dir, OURS, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        Ok(ours && (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino))
    }

    /// The content of the folder itself, or of a subfolder.
    pub(super) fn list(&self, subfolder: Option<&str>) -> io::Result<Vec<SeenEntry>> {
        match subfolder {
            None => list(&self.dir),
            Some(name) => match open_dir(&self.dir, name.as_bytes()) {
                Ok(dir) => list(&dir),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
                Err(error) => Err(error),
            },
        }
    }

    /// The content of a directory at a path in the folder.
    pub(super) fn list_at(&self, path: &Path) -> io::Result<Vec<SeenEntry>> {
        let (dir, name) = self.parent(path, false)?;
        list(&open_dir(&dir, &name)?)
    }

    /// The content of a directory of the folder, one level deep.
    pub(super) fn inside(&self, name: &[u8]) -> io::Result<Vec<SeenEntry>> {
        list(&open_dir(&self.dir, name)?)
    }

    pub(super) fn is_directory(&self, name: &str) -> io::Result<bool> {
        match fs::statat(&self.dir, name, AtFlags::empty()) {
            Ok(stat) => Ok(kind(&Stat::from(stat)) == Some(Kind::Directory)),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn claims(&self) -> io::Result<Vec<String>> {
        let names =
            list(&self.claims)?.into_iter().map(|seen| String::from_utf8_lossy(&seen.name).into_owned());
        Ok(names.collect())
    }
}

pub(super) fn list(dir: &OwnedFd) -> io::Result<Vec<SeenEntry>> {
    seen(fs::Dir::read_from(dir)?)
}

pub(super) fn seen(mut dir: fs::Dir) -> io::Result<Vec<SeenEntry>> {
    let mut found = Vec::new();
    while let Some(next) = dir.read() {
        let name = next?.file_name().to_owned();
        if matches!(name.as_bytes(), b"." | b"..") {
            continue;
        }
        found.extend(entry(dir.fd()?, name));
    }
    Ok(found)
}

/// What has a name in a directory. An entry that is gone by now, or cannot be looked at, must not hold up
/// others.
pub(super) fn entry(at: impl AsFd, name: CString) -> Option<SeenEntry> {
    let stat = fs::statat(&at, &name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let readable = fs::accessat(&at, &name, fs::Access::READ_OK, AtFlags::EACCESS).is_ok();
    Some(SeenEntry { name: name.into_bytes(), stat: Stat::from(stat), readable })
}
