//! A hot folder as a place on a disk: what lies in it is claimed, read and moved.
//!
//! Everything uses handles of directories that were opened once, beneath them and without following links, so
//! no name leads out of the folder. A rename never replaces anything. Nothing is unlinked before its
//! successor is durable. A file system that is not local is called by a helper process, because a call on it
//! may never return.

mod away;
mod claim_name;
mod content;
mod helper;
mod keeper;
mod keeping;
mod lay;
mod marker;
mod moves;
mod opened;
mod operations;
mod order;
mod owner;
mod reach;

mod rights;
mod shelves;
mod unclaimed;
mod wire;

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use away::Away;
pub use claim_name::{WAS_THERE, claim_of_file, fits_in_claim, is_file_claim, ulid_of_claim, was_there};
pub use content::{Content, last_part};
use helper::Helper;
pub use helper::{is_helper, serve};
pub use keeper::{Keeper, this_process};
pub use marker::{claimed_at, claims_at};
use opened::{FolderFacts, Opened};
pub use order::{CLAIMING, CLAIMING_ALONE, MOVING, MoveStep};
pub use reach::Reach;

pub use rights::not_shared;
use rustix::fs::{self, FileType, Mode, OFlags};
pub use shelves::MoveWithText;
pub use unclaimed::{kind_at, list_at, read_at};

use crate::domain::drop::{Kind, forms_of, is_pdf, sidecars_in_any_form};
use crate::outside::spool::Ulid;

/// How long a call on a file system that is not local may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

const OURS: &str = ".mailchute";
const CLAIM: &str = "claim";

/// An open hot folder.
#[derive(Debug)]
pub struct Hot {
    pub path: PathBuf,
    facts: FolderFacts,
    way: Caller,
}

/// The process that calls the file system.
#[derive(Debug)]
enum Caller {
    /// This process.
    Here(Opened),
    /// A helper process, because a call may never return.
    Helper(Helper),
}

/// A name in a directory, and what it is.
#[derive(Debug, Clone)]
pub struct SeenEntry {
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

/// A file's stat. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub inode: u64,
    pub mode: u32,
    pub links: u64,
    pub owner: u32,
    pub size: u64,
    pub modified: i64,
    /// When it was last written, moved, or given other permissions.
    pub changed: i64,
}

impl From<fs::Stat> for Stat {
    fn from(stat: fs::Stat) -> Self {
        let time = |seconds: i64, nanos: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos);
        Self {
            inode: stat.st_ino,
            mode: stat.st_mode,
            links: stat.st_nlink,
            owner: stat.st_uid,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: time(stat.st_mtime, stat.st_mtime_nsec),
            changed: time(stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

/// What is there if it is not a regular file.
pub fn kind(stat: &Stat) -> Option<Kind> {
    match FileType::from_raw_mode(stat.mode) {
        FileType::RegularFile => None,
        FileType::Directory => Some(Kind::Directory),
        FileType::Symlink => Some(Kind::Symlink),
        FileType::Fifo => Some(Kind::Fifo),
        FileType::Socket => Some(Kind::Socket),
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Some(Kind::Device),
    }
}

impl Hot {
    /// Opens a folder in this process and creates our directory in it. `known` says that the folder was
    /// enabled before, so our directory must exist.
    pub fn open(path: &Path, known: bool, keeper: &Keeper) -> Result<Self, Away> {
        let opened = Opened::open(path, known, keeper)?;
        Ok(Self { path: path.to_owned(), facts: opened.facts, way: Caller::Here(opened) })
    }

    /// A folder that a helper has opened.
    fn by(helper: Helper, path: &Path, facts: FolderFacts) -> Self {
        Self { path: path.to_owned(), facts, way: Caller::Helper(helper) }
    }

    /// Whether a folder that is not open is on a file system that is not local.
    pub fn is_remote_at(path: &Path) -> bool {
        fs::statfs(path).is_ok_and(|disk| opened::is_remote(disk.f_type))
    }

    /// Whether other machines can write here without the kernel's notice.
    pub fn is_remote(&self) -> bool {
        self.facts.remote
    }

    /// Whether a lock keeps other processes from using the folder.
    pub fn is_locked(&self) -> bool {
        self.facts.is_locked
    }

    /// The file system's time when the folder was opened, in nanoseconds.
    pub fn opened_at(&self) -> i64 {
        self.facts.opened_at
    }

    /// Whether a call may take as long as [`PATIENCE`], so that others must not wait for it.
    pub fn is_apart(&self) -> bool {
        matches!(self.way, Caller::Helper(_))
    }

    /// The sidecars of a name that lie in a directory of the folder. Those of a PDF that lies there under another form
    /// of the name are its own. What is no PDF has none, except under the ULID of its drop.
    pub fn sidecars_beside(&self, dir: &Path, name: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let is_ulid = || std::str::from_utf8(name).is_ok_and(|name| name.parse::<Ulid>().is_ok());
        if !is_pdf(name) && !is_ulid() {
            return Ok(Vec::new());
        }
        let lies = |name: &[u8]| self.is_there(&dir.join(OsStr::from_bytes(name)));
        let mut others = Vec::new();
        for form in forms_of(name).into_iter().filter(|form| form != name) {
            if lies(&form)? {
                others.push(form);
            }
        }
        let mut sidecars = Vec::new();
        for sidecar in sidecars_in_any_form(name, |form| others.iter().any(|other| other == form)) {
            if lies(&sidecar)? {
                sidecars.push(sidecar);
            }
        }
        Ok(sidecars)
    }

    /// The path of the claims within the folder.
    pub fn claims_path(&self) -> PathBuf {
        moves::claims_path()
    }

    /// The path of a claimed thing within the folder.
    pub fn claimed_path(&self, claim: &str, name: &[u8]) -> PathBuf {
        moves::claimed_path(claim, name)
    }
}
