//! inotify as a hint: something may have changed in a folder, so it must be looked at. The content of an
//! event is never used.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

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
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let mut hinted = tell.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                Ok(event) if event.need_rescan() => hinted.all = true,
                Ok(event) if is_ours(&event) => return,
                Ok(event) => {
                    let dirs = event.paths.iter().flat_map(|path| [Some(path.as_path()), path.parent()]);
                    hinted.folders.extend(dirs.flatten().map(Path::to_owned));
                }
                Err(_) => hinted.all = true,
            }
            drop(hinted);
            wake.notify_one();
        });
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

/// An event that our own reading caused.
fn is_ours(event: &Event) -> bool {
    let written = AccessKind::Close(AccessMode::Write);
    matches!(event.kind, EventKind::Access(kind) if kind != written)
}
