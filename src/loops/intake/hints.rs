//! inotify as a hint: something may have changed in a folder, so it must be looked at. The content of an
//! event is never used.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::event::{ModifyKind, RenameMode};
use notify::{Config, Event, EventKind, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

/// The events that are hints. We read files ourselves all the time, so reading is not among them.
const CHANGES: EventKindMask = EventKindMask::CORE.union(EventKindMask::ACCESS_CLOSE);

/// Watches single directories. An overflow counts as a hint for everything, and so does a new watch for its folder: what
/// happened just before it is not reported.
#[derive(Debug)]
pub(super) struct Hints {
    watcher: Option<RecommendedWatcher>,
    dirs: Arc<Mutex<Dirs>>,
    wake: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Dirs {
    /// The directories that are watched, and whose they are.
    watched: BTreeMap<PathBuf, String>,
    /// The folders in which something may have happened.
    hinted: BTreeSet<String>,
    /// Watched directories that were removed or renamed: what lies there now is another one.
    gone: BTreeSet<PathBuf>,
}

impl Dirs {
    fn note(&mut self, event: notify::Result<Event>) {
        let event = match event {
            Ok(event) if !event.need_rescan() => event,
            // Events were lost, so everything may have changed.
            Ok(_) | Err(_) => return self.hinted.extend(self.watched.values().cloned()),
        };
        for dir in event.paths.iter().flat_map(|path| [Some(path.as_path()), path.parent()]).flatten() {
            if let Some(folder) = self.watched.get(dir)
                && !self.hinted.contains(folder)
            {
                self.hinted.insert(folder.clone());
            }
        }
        if is_away(event.kind) {
            self.gone.extend(event.paths.into_iter().take(1).filter(|path| self.watched.contains_key(path)));
        }
    }
}

impl Hints {
    /// `wake` is notified of every hint.
    pub(super) fn new(wake: Arc<Notify>) -> Self {
        let dirs: Arc<Mutex<Dirs>> = Arc::default();
        let (noting, waking) = (Arc::clone(&dirs), Arc::clone(&wake));
        // It does little, because a slow handler would make the kernel's queue overflow.
        let hint = move |event| {
            lock(&noting).note(event);
            waking.notify_one();
        };
        let watcher = RecommendedWatcher::new(hint, Config::default().with_event_kinds(CHANGES));
        Self { watcher: watcher.ok(), dirs, wake }
    }

    /// Watches these directories of a folder, and no others of it. Returns whether that is possible.
    pub(super) fn watch(&mut self, folder: &str, dirs: &[PathBuf]) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let wanted: HashSet<&PathBuf> = dirs.iter().collect();
        let is_over = |path: &PathBuf, owner: &mut String| *owner == folder && !wanted.contains(path);
        // The lock is released before each call of the watcher, whose thread needs it to answer.
        let over: Vec<_> = lock(&self.dirs).watched.extract_if(.., is_over).collect();
        for (path, _) in over {
            // A directory that is gone is no longer watched anyway.
            drop(watcher.unwatch(&path));
        }
        dirs.iter().all(|path| {
            // It is in the list first, so that no event is lost in between.
            if lock(&self.dirs).watched.insert(path.clone(), folder.to_owned()).is_some() {
                return true;
            }
            let fine = watcher.watch(path, RecursiveMode::NonRecursive).is_ok();
            if fine {
                lock(&self.dirs).hinted.insert(folder.to_owned());
                self.wake.notify_one();
            } else {
                lock(&self.dirs).watched.remove(path);
            }
            fine
        })
    }

    /// The folders in which something may have happened since the last call. A directory that was removed or renamed is
    /// not watched any more, so the next look watches what lies there then.
    pub(super) fn take(&mut self) -> BTreeSet<String> {
        let (hinted, gone) = {
            let mut dirs = lock(&self.dirs);
            let gone = std::mem::take(&mut dirs.gone);
            dirs.watched.retain(|path, _| !gone.contains(path));
            (std::mem::take(&mut dirs.hinted), gone)
        };
        if let Some(watcher) = &mut self.watcher {
            for path in gone {
                drop(watcher.unwatch(&path));
            }
        }
        hinted
    }
}

fn lock(dirs: &Mutex<Dirs>) -> MutexGuard<'_, Dirs> {
    dirs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether an event says that its first path was removed or renamed.
fn is_away(kind: EventKind) -> bool {
    let renamed = [RenameMode::From, RenameMode::Both].map(|mode| EventKind::Modify(ModifyKind::Name(mode)));
    kind.is_remove() || renamed.contains(&kind)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::slice::from_ref;

    use super::*;

    /// Folders with the same names as their directories.
    fn watched<const N: usize>(names: [&str; N]) -> (tempfile::TempDir, Hints, Arc<Notify>) {
        let dir = tempfile::tempdir().unwrap();
        let wake = Arc::new(Notify::new());
        let mut hints = Hints::new(Arc::clone(&wake));
        for name in names {
            let folder = dir.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("a.pdf"), "%PDF").unwrap();
            assert!(hints.watch(name, &[folder]));
        }
        hints.take();
        (dir, hints, wake)
    }

    /// All hints until this folder has one. The kernel keeps the order of events, so those for what was done before are
    /// among them.
    async fn until(folder: &str, hints: &mut Hints, wake: &Notify) -> BTreeSet<String> {
        let mut hinted = BTreeSet::new();
        let waiting = async {
            while !hinted.contains(folder) {
                wake.notified().await;
                hinted.append(&mut hints.take());
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(20), waiting).await.expect("nothing was noticed");
        hinted
    }

    /// Each time we read a file, a thread would wake, and the folder would be looked at again.
    #[tokio::test]
    async fn what_is_written_is_a_hint_and_what_is_read_is_none() {
        let (dir, mut hints, wake) = watched(["read", "written"]);
        let (read, written) = (dir.path().join("read"), dir.path().join("written"));

        assert_eq!(fs::read(read.join("a.pdf")).unwrap(), b"%PDF");
        assert_eq!(fs::read_dir(&read).unwrap().count(), 1);
        fs::write(written.join("b.pdf"), "%PDF").unwrap();
        assert_eq!(until("written", &mut hints, &wake).await, BTreeSet::from(["written".to_owned()]));

        fs::rename(written.join("b.pdf"), read.join("b.pdf")).unwrap();
        until("read", &mut hints, &wake).await;
    }

    /// What was dropped after the folder was listed, and before it was watched, would wait for the next look without a hint.
    #[tokio::test]
    async fn a_new_watch_is_a_hint() {
        let (dir, mut hints, wake) = watched(["folder"]);
        let approve = dir.path().join("Approve");
        fs::create_dir(&approve).unwrap();
        assert!(hints.watch("folder", from_ref(&approve)));
        assert_eq!(until("folder", &mut hints, &wake).await, BTreeSet::from(["folder".to_owned()]));

        assert!(hints.watch("folder", &[approve]));
        assert_eq!(hints.take(), BTreeSet::new(), "it was watched before");
    }

    /// A person deletes `Approve`, or renames it, and it is made again: what is moved there must be noticed.
    #[tokio::test]
    async fn a_directory_that_was_removed_or_renamed_is_watched_again() {
        let (dir, mut hints, wake) = watched(["folder", "last"]);
        let (folder, last) = (dir.path().join("folder"), dir.path().join("last/a.pdf"));
        let approve = folder.join("Approve");
        fs::create_dir(&approve).unwrap();
        assert!(hints.watch("approve", from_ref(&approve)));
        for is_renamed in [false, true] {
            if is_renamed {
                fs::rename(&approve, folder.join("Old")).unwrap();
            } else {
                fs::remove_dir(&approve).unwrap();
            }
            fs::create_dir(&approve).unwrap();
            fs::write(&last, "%PDF").unwrap();
            until("last", &mut hints, &wake).await;

            assert!(hints.watch("approve", from_ref(&approve)));
            hints.take();
            fs::write(approve.join("a.pdf"), "%PDF").unwrap();
            until("approve", &mut hints, &wake).await;
            fs::remove_file(approve.join("a.pdf")).unwrap();
        }
    }
}
