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
/// Enough for a path and two short names.
const LONGEST: u64 = 8192;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keeper {
    /// The name of the records.
    pub records: String,
    /// The name of this run of the daemon.
    pub run: String,
    pub state: PathBuf,
    /// The daemon's process and the process that holds the lock, which is the same or its helper. Empty if
    /// not known.
    pub daemon: String,
    pub holder: String,
}

/// Identifies a process of this machine, also against a later one with the same number: its number, and its
/// start time in ticks since boot.
fn process(number: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // After the name, which may contain anything, comes the state.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let is_dead = fields.next()? == "Z";
    let started = fields.nth(18)?;
    (!is_dead).then(|| format!("{number}:{started}"))
}

/// The identity of this process.
pub fn this_process() -> String {
    process(&std::process::id().to_string()).unwrap_or_default()
}

fn is_alive(known: &str) -> bool {
    let number = known.split(':').next().filter(|number| !number.is_empty());
    number.and_then(process).is_some_and(|found| found == known)
}

impl Keeper {
    /// Whether these are the same records in another process.
    pub fn is_twin_of(&self, ours: &Self) -> bool {
        !self.records.is_empty()
            && self.records == ours.records
            && self.run != ours.run
            && !self.is_left_over()
    }

    /// Whether this is only the helper of an ended daemon on this machine. It ends when its call returns.
    pub fn is_left_over(&self) -> bool {
        self.daemon != self.holder
            && !self.daemon.is_empty()
            && is_alive(&self.holder)
            && !is_alive(&self.daemon)
    }
}

impl fmt::Display for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = hex::encode(self.state.as_os_str().as_bytes());
        let known = |process: &str| if process.is_empty() { "-".to_owned() } else { process.to_owned() };
        write!(f, "{} {} {state} {} {}", self.records, self.run, known(&self.daemon), known(&self.holder))
    }
}

impl FromStr for Keeper {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split_whitespace();
        let mut word = || words.next().ok_or(());
        let (records, run) = (word()?.to_owned(), word()?.to_owned());
        let state = hex::decode(word()?).map_err(drop)?;
        let state = PathBuf::from(std::ffi::OsString::from_vec(state));
        // Earlier versions wrote nothing more.
        let mut process = || word().ok().filter(|word| *word != "-").unwrap_or_default().to_owned();
        let (daemon, holder) = (process(), process());
        Ok(Self { records, run, state, daemon, holder })
    }
}

/// Writes the owner into a lock file. Without it another process is still refused, but cannot log who holds
/// the lock.
pub(super) fn write(lock: &mut File, keeper: &Keeper) -> io::Result<()> {
    lock.set_len(0)?;
    writeln!(lock, "{}", Keeper { holder: this_process(), ..keeper.clone() })
}

/// Who holds the lock, if the file says so.
pub(super) fn read(lock: impl Into<File>) -> Option<Keeper> {
    let mut text = String::new();
    lock.into().take(LONGEST).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

/// Who uses a folder at this moment that is not open here.
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
        // The lock is free, or the share has no locks.
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
            daemon: "1:2".to_owned(),
            holder: "3:4".to_owned(),
        };
        let ours = keeper("A", "1");
        assert_eq!(ours.to_string().parse(), Ok(ours.clone()));
        for (other, is_twin) in [("A 2", true), ("A 1", false), ("B 2", false), ("B 1", false)] {
            let (records, run) = other.split_once(' ').unwrap();
            assert_eq!(keeper(records, run).is_twin_of(&ours), is_twin, "{other}");
        }
        let earlier = "A 2 2f73".parse::<Keeper>().unwrap();
        assert!(earlier.is_twin_of(&ours) && earlier.state.as_os_str() == "/s");
        // The helper of an ended daemon is on this machine, so it is not another mailchute.
        let (dead, here) = ("1:1".to_owned(), this_process());
        let left = |daemon: &String, holder: &String| Keeper {
            run: "2".to_owned(),
            daemon: daemon.clone(),
            holder: holder.clone(),
            ..ours.clone()
        };
        for (daemon, holder, is_twin) in [
            (&dead, &here, false),
            // The daemon lives; both are on another machine; the daemon itself holds it.
            (&here, &here, true),
            (&here, &dead, true),
            (&dead, &dead, true),
            (&String::new(), &here, true),
        ] {
            assert_eq!(left(daemon, holder).is_twin_of(&ours), is_twin, "{daemon} {holder}");
        }
        for nonsense in ["", "A", "A 1", "A 1 x"] {
            assert_eq!(nonsense.parse::<Keeper>(), Err(()));
        }
    }
}
