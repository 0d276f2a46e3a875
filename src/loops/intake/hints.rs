//! inotify as a hint: something may have changed in a folder, so it must be looked at. The content of an
//! event is never used.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::{Config, Event, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

/// What is a hint. Reading is none, because that is what we do ourselves all the time.
const CHANGES: EventKindMask = EventKindMask::CORE.union(EventKindMask::ACCESS_CLOSE);

/// Watches single directories. An overflow counts as a hint for everything.
#[derive(Debug)]
pub(super) struct Hints {
    watcher: Option<RecommendedWatcher>,
    watched: BTreeMap<PathBuf, String>,
    hinted: Arc<Mutex<Hinted>>,
}

#[derive(Debug, Default)]
struct Hinted {
    folders: BTreeSet<PathBuf>,
    /// Events were lost, so everything may have changed.
    all: bool,
}

impl Hints {
    /// `wake` is notified of every hint.
    pub(super) fn new(wake: Arc<Notify>) -> Self {
        let hinted: Arc<Mutex<Hinted>> = Arc::default();
        let tell = Arc::clone(&hinted);
        // It only sets a flag, because a slow handler would make the kernel's queue overflow.
        let hint = move |event: notify::Result<Event>| {
            let mut hinted = tell.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                Ok(event) if event.need_rescan() => hinted.all = true,
                Ok(event) => {
                    let dirs = event.paths.iter().flat_map(|path| [Some(path.as_path()), path.parent()]);
                    hinted.folders.extend(dirs.flatten().map(Path::to_owned));
                }
                Err(_) => hinted.all = true,
            }
            drop(hinted);
            wake.notify_one();
        };
        let watcher = RecommendedWatcher::new(hint, Config::default().with_event_kinds(CHANGES));
        Self { watcher: watcher.ok(), watched: BTreeMap::new(), hinted }
    }

    /// Watches these directories of a folder, and no others of it. Returns whether that is possible.
    pub(super) fn watch(&mut self, folder: &str, dirs: &[PathBuf]) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let wanted: HashSet<&PathBuf> = dirs.iter().collect();
        let gone: Vec<PathBuf> = self
            .watched
            .iter()
            .filter(|(path, owner)| *owner == folder && !wanted.contains(path))
            .map(|(path, _)| path.clone())
            .collect();
        for path in gone {
            // A directory that is gone is no longer watched anyway.
            drop(watcher.unwatch(&path));
            self.watched.remove(&path);
        }
        dirs.iter().all(|path| {
            if let Some(owner) = self.watched.get_mut(path) {
                folder.clone_into(owner);
                return true;
            }
            let fine = watcher.watch(path, RecursiveMode::NonRecursive).is_ok();
            if fine {
                self.watched.insert(path.clone(), folder.to_owned());
            }
            fine
        })
    }

    /// The folders in which something may have happened since the last call.
    pub(super) fn take(&mut self) -> BTreeSet<String> {
        let hinted = std::mem::take(&mut *self.hinted.lock().unwrap_or_else(PoisonError::into_inner));
        let fits = |path: &PathBuf| hinted.all || hinted.folders.contains(path);
        self.watched.iter().filter(|(path, _)| fits(path)).map(|(_, folder)| folder.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Each time we read a file, a thread would wake, and the folder would be looked at again.
    #[tokio::test]
    async fn what_is_written_is_a_hint_and_what_is_read_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let (read, written) = (dir.path().join("read"), dir.path().join("written"));
        for folder in [&read, &written] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("a.pdf"), "%PDF").unwrap();
        }
        let wake = Arc::new(Notify::new());
        let mut hints = Hints::new(Arc::clone(&wake));
        assert!(hints.watch("read", std::slice::from_ref(&read)));
        assert!(hints.watch("written", std::slice::from_ref(&written)));

        assert_eq!(fs::read(read.join("a.pdf")).unwrap(), b"%PDF");
        assert_eq!(fs::read_dir(&read).unwrap().count(), 1);
        // The kernel keeps their order, so what reading caused would be here with this.
        fs::write(written.join("b.pdf"), "%PDF").unwrap();
        wake.notified().await;
        assert_eq!(hints.take(), BTreeSet::from(["written".to_owned()]));

        // An open file that is closed after it was written to is a hint of its own, when it may be the last.
        fs::rename(written.join("b.pdf"), read.join("b.pdf")).unwrap();
        let mut both = BTreeSet::new();
        while both.len() < 2 {
            wake.notified().await;
            both.extend(hints.take());
        }
    }
}
