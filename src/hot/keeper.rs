//! The owner of a folder's lock. Its lock file names the records and the run that hold it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::fs::{self, CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::OURS;

pub(super) const LOCK: &str = "lock";
/// A path and two short names.
const LONGEST: u64 = 8192;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keeper {
    /// The name of the records.
    pub records: String,
    /// This run of the daemon.
    pub run: String,
    pub state: PathBuf,
}

impl Keeper {
    /// Whether these are the same records, in another process.
    pub fn is_twin_of(&self, ours: &Self) -> bool {
        !self.records.is_empty() && self.records == ours.records && self.run != ours.run
    }
}

impl fmt::Display for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.records, self.run, hex::encode(self.state.as_os_str().as_bytes()))
    }
}

impl FromStr for Keeper {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split_whitespace();
        let mut word = || words.next().ok_or(());
        let (records, run) = (word()?.to_owned(), word()?.to_owned());
        let state = hex::decode(word()?).map_err(drop)?;
        Ok(Self { records, run, state: PathBuf::from(std::ffi::OsString::from_vec(state)) })
    }
}

/// Writes the owner into a lock file. Without it another process is still refused, and cannot log who holds it.
pub(super) fn write(lock: &mut File, keeper: &Keeper) -> io::Result<()> {
    lock.set_len(0)?;
    writeln!(lock, "{keeper}")
}

/// Returns who holds the lock, if the file names it.
pub(super) fn read(lock: impl Into<File>) -> Option<Keeper> {
    let mut text = String::new();
    lock.into().take(LONGEST).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

/// Who works at this moment on a folder that is not opened.
pub fn keeper_at(folder: &Path) -> io::Result<Option<Keeper>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let open = || {
        let ours = fs::openat(CWD, folder.join(OURS), flags | OFlags::DIRECTORY, Mode::empty())?;
        fs::openat(ours, LOCK, flags | OFlags::NONBLOCK, Mode::empty())
    };
    let lock = match open() {
        Ok(lock) => lock,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match fs::flock(&lock, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Ok(read(lock)),
        // Free, or on a share that knows no locks.
        Ok(()) | Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_has_the_same_records_in_another_run() {
        let keeper = |records: &str, run: &str| Keeper {
            records: records.to_owned(),
            run: run.to_owned(),
            state: PathBuf::from("/var/lib/mail chute\n"),
        };
        let ours = keeper("A", "1");
        assert_eq!(ours.to_string().parse(), Ok(ours.clone()));
        for (other, is_twin) in [("A 2", true), ("A 1", false), ("B 2", false), ("B 1", false)] {
            let (records, run) = other.split_once(' ').unwrap();
            assert_eq!(keeper(records, run).is_twin_of(&ours), is_twin, "{other}");
        }
        for nonsense in ["", "A", "A 1", "A 1 x"] {
            assert_eq!(nonsense.parse::<Keeper>(), Err(()));
        }
    }
}
