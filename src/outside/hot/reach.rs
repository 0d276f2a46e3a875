//! How folders are reached: by this process, or by a helper where a call may never return.
//!
//! The list of mounts decides which, so no file system is asked.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::helper::{Ended, Helper};
use super::wire::{Wire, malformed};
use super::{Away, Hot, Keeper, PATIENCE, Stat, keeper, marker};
use crate::outside::disk::Mounts;

/// How often the opening of a folder is repeated that another helper holds, and the pause between.
const LETS_GO: u32 = 10;
const A_MOMENT: Duration = Duration::from_millis(50);
/// How long the list of mounts is used, and what was found by it. It is needed for each drop.
const FRESH: Duration = Duration::from_secs(1);

/// The mounts at a moment, and where paths led then.
#[derive(Debug)]
struct KnownMounts {
    read: Instant,
    mounts: Arc<Mounts>,
    apart: BTreeMap<PathBuf, bool>,
}

impl KnownMounts {
    fn now() -> Self {
        Self { read: Instant::now(), mounts: Arc::new(Mounts::now()), apart: BTreeMap::new() }
    }
}

/// The helper for questions about one mount. `None` before it was started.
type Asker = Arc<Mutex<Option<Arc<Helper>>>>;

#[derive(Debug)]
pub struct Reach {
    /// This program, which is its own helper.
    program: PathBuf,
    patience: Duration,
    is_always_apart: bool,
    mounts: Mutex<Option<KnownMounts>>,
    ended: Arc<Ended>,
    /// Helpers for questions about folders that are not open, one for each mount. Only who asks about a mount waits for
    /// its helper.
    askers: Mutex<BTreeMap<PathBuf, Asker>>,
}

impl Reach {
    pub fn of(program: &Path) -> Self {
        Self {
            program: program.to_owned(),
            patience: PATIENCE,
            is_always_apart: false,
            mounts: Mutex::default(),
            ended: Arc::default(),
            askers: Mutex::default(),
        }
    }

    /// Sets the time limit for a call on a file system.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Uses a helper for every file system: for tests.
    #[must_use]
    pub fn always_apart(self) -> Self {
        Self { is_always_apart: true, ..self }
    }

    /// Whether a call on this path may never return.
    pub fn is_apart(&self, path: &Path) -> bool {
        if self.is_always_apart {
            return true;
        }
        let (mounts, known) =
            self.with_mounts(|known| (Arc::clone(&known.mounts), known.apart.get(path).copied()));
        // Others need not wait for this.
        let is_apart = known.unwrap_or_else(|| mounts.resolve(&absolute(path)).1);
        self.with_mounts(|known| {
            if Arc::ptr_eq(&known.mounts, &mounts) {
                known.apart.insert(path.to_owned(), is_apart);
            }
        });
        is_apart
    }

    fn mounts(&self) -> Arc<Mounts> {
        self.with_mounts(|known| Arc::clone(&known.mounts))
    }

    fn with_mounts<T>(&self, use_them: impl FnOnce(&mut KnownMounts) -> T) -> T {
        let mut known = self.mounts.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = known.take().filter(|known| known.read.elapsed() < FRESH);
        use_them(known.insert(fresh.unwrap_or_else(KnownMounts::now)))
    }

    /// Whether a call on any of these paths may never return.
    pub fn is_any_apart<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> bool {
        paths.into_iter().any(|path| self.is_apart(path))
    }

    /// Whether calls on all of these paths return.
    pub fn all_answer<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> bool {
        let hangs = |path: &Path| self.stat(path).is_err_and(|error| error.kind() == io::ErrorKind::TimedOut);
        !paths.into_iter().any(|path| self.is_apart(path) && hangs(path))
    }

    /// Opens a folder.
    pub fn open(&self, path: &Path, known: bool, keeper: &Keeper) -> Result<Hot, Away> {
        if !self.is_apart(path) {
            return Hot::open(path, known, keeper);
        }
        let helper = Helper::start(&self.program, path, self.patience, &self.ended).map_err(Away::closed)?;
        let is_taken = |opened: &Result<_, Away>| {
            matches!(opened, Err(Away::NotLetGo | Away::Taken(_) | Away::TakenByTwin(_)))
        };
        let facts = let_go(|| helper.open(path, known, keeper), is_taken)?;
        Ok(Hot::by(helper, path, facts))
    }

    /// Who uses a folder at this moment that is not open here. Helpers that are about to end do not count.
    pub fn twin_at(&self, path: &Path, ours: &Keeper) -> io::Result<Option<Keeper>> {
        let is_twin =
            |found: &io::Result<Option<Keeper>>| matches!(found, Ok(Some(other)) if other.is_twin_of(ours));
        let found = let_go(|| self.keeper_at(path), |found| is_twin(found) && self.is_apart(path));
        Ok(found?.filter(|other| other.is_twin_of(ours)))
    }

    /// The helper that answers questions about a path.
    fn asker(&self, path: &Path) -> io::Result<Arc<Helper>> {
        let mounts = self.mounts();
        let place = mounts.point(&mounts.resolve(&absolute(path)).0).unwrap_or(Path::new("/")).to_owned();
        let asker = {
            let mut askers = self.askers.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(askers.entry(place.clone()).or_default())
        };
        let mut asker = asker.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = asker.take().filter(|asker| asker.is_running()) {
            return Ok(Arc::clone(asker.insert(running)));
        }
        let started = Arc::new(Helper::start(&self.program, &place, self.patience, &self.ended)?);
        Ok(Arc::clone(asker.insert(started)))
    }
}

/// Repeats for a moment an attempt that found a folder taken: the helper of a killed run releases it as soon
/// as its call returns.
fn let_go<T>(mut attempt: impl FnMut() -> T, is_taken: impl Fn(&T) -> bool) -> T {
    let mut left = LETS_GO;
    loop {
        let found = attempt();
        if left == 0 || !is_taken(&found) {
            return found;
        }
        left -= 1;
        std::thread::park_timeout(A_MOMENT);
    }
}

/// Makes a method of [`Reach`] from each line, and what the helper does when it is called by that name.
macro_rules! questions {
    ($($(#[$doc:meta])* fn $name:ident(path: &Path) -> $answer:ty = $here:path;)*) => {
        impl Reach {
            $(
                $(#[$doc])*
                pub fn $name(&self, path: &Path) -> io::Result<$answer> {
                    if self.is_apart(path) {
                        self.asker(path)?.ask(stringify!($name), |to| absolute(path).put(to))
                    } else {
                        $here(path)
                    }
                }
            )*
        }

        /// What a helper without an open folder answers. The answer goes into `out`.
        pub(super) fn answer(name: &str, from: &mut &[u8], out: &mut Vec<u8>) -> io::Result<()> {
            match name {
                $(stringify!($name) => $here(Wire::take(from)?).put(out),)*
                _ => return Err(malformed()),
            }
            Ok(())
        }
    };
}

questions! {
    /// The marker of a folder that is not open, and the identity of its directory.
    fn marker_at(path: &Path) -> Option<(String, String)> = marker::marker_at;
    /// The highest fact numbers in a folder that is not open.
    fn epoch_at(path: &Path) -> Option<String> = marker::epoch_at;
    /// Who uses a folder at this moment that is not open here.
    fn keeper_at(path: &Path) -> Option<Keeper> = keeper::keeper_at;
    /// The names of the claims in a folder that is not open.
    fn claims_at(path: &Path) -> Vec<String> = marker::claims_at;
    /// Whether there is a directory with something in it.
    fn holds_something(path: &Path) -> bool = holds_something;
    /// The stat of a file, with links followed.
    fn stat(path: &Path) -> Stat = stat;
    fn read(path: &Path) -> Vec<u8> = read;
}

/// A helper has another working directory.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn holds_something(path: &Path) -> io::Result<bool> {
    match std::fs::read_dir(path) {
        Ok(mut inside) => Ok(inside.next().is_some()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn stat(path: &Path) -> io::Result<Stat> {
    Ok(Stat::from(rustix::fs::stat(path)?))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs_err::read(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_for_a_moment_only_is_tried_again() {
        let attempts = |free_at: u32| {
            let mut count = 0;
            let attempt = || {
                count += 1;
                count
            };
            let found = let_go(attempt, |count| *count < free_at);
            (found, count)
        };
        assert_eq!(attempts(1), (1, 1));
        assert_eq!(attempts(LETS_GO), (LETS_GO, LETS_GO));
        assert_eq!(attempts(u32::MAX), (LETS_GO + 1, LETS_GO + 1));
    }
}
