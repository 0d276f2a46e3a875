//! The folders of the configuration in force, with the handle of each open folder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use tokio::sync::Notify;

use crate::base::clock::Time;
use crate::config::{FilesOnDisk, Folder};
use crate::domain::address::PostalData;
use crate::outside::hot::Hot;

#[derive(Debug, Clone)]
pub struct Registered {
    pub folder: Arc<Folder>,
    /// `None` while it is away.
    pub hot: Option<Arc<Hot>>,
    pub looks: Looks,
}

/// The looks at a folder in this run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Looks {
    pub count: u64,
    pub last: Option<Time>,
    /// How long the last one took.
    pub took: TimeDelta,
    /// Whether the kernel reports what arrives.
    pub hears: bool,
    /// Drops that wait for the sidecar that they need.
    pub lacking: u64,
}

/// The configuration's files when it was decided what is in force.
#[derive(Debug, Default)]
enum DecidedBy {
    /// Not recorded.
    #[default]
    Unknown,
    /// They may be unfinished, so nothing is decided by them yet.
    Unfinished,
    Files(FilesOnDisk),
}

/// The list of postal codes that an administrator gave.
#[derive(Debug, Clone)]
pub struct PostalStanding {
    pub file: PathBuf,
    /// What is in force of it. `None` if the file was never good in this run.
    pub good: Option<Arc<PostalData>>,
    /// Why the file as it is now cannot be used.
    pub trouble: Option<String>,
}

/// Shared by everything that uses folders. A reload replaces its content.
#[derive(Debug, Default)]
pub struct Registry {
    folders: Mutex<BTreeMap<String, Registered>>,
    decided_by: Mutex<DecidedBy>,
    /// The number of such decisions.
    decisions: AtomicU64,
    /// A saved change has mistakes and is not in force.
    has_mistakes: AtomicBool,
    changed: Notify,
    postal_data: Mutex<Option<PostalStanding>>,
    /// Former names of folders, and their present names.
    renamed: Mutex<BTreeMap<String, String>>,
}

impl Registry {
    pub fn new(folders: Vec<Folder>) -> Self {
        let registry = Self::default();
        registry.replace(folders);
        registry
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Registered>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a new configuration in force. A folder that stayed at its place keeps its handle.
    pub fn replace(&self, folders: Vec<Folder>) {
        let mut known = self.lock();
        let mut old = std::mem::take(&mut *known);
        for folder in folders {
            let before = old.remove(&folder.name).filter(|old| old.folder.path == folder.path);
            let (hot, looks) = before.map_or((None, Looks::default()), |old| (old.hot, old.looks));
            known.insert(folder.name.clone(), Registered { folder: Arc::new(folder), hot, looks });
        }
    }

    /// Records what was found of the list of postal codes.
    pub fn saw_postal_data(&self, standing: Option<PostalStanding>) {
        *self.postal_data.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    pub fn postal_data(&self) -> Option<PostalStanding> {
        self.postal_data.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records the files that decided what is in force, or in spite of which it stays in force.
    pub fn decided_by(&self, on_disk: FilesOnDisk) {
        *self.decided_by.lock().unwrap_or_else(PoisonError::into_inner) = DecidedBy::Files(on_disk);
        self.decisions.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of decisions on what is in force. A different number means that the files had settled in
    /// between.
    pub fn decisions(&self) -> u64 {
        self.decisions.load(Ordering::Relaxed)
    }

    /// What is in force was read from files that may be unfinished. Drops wait until they are read again.
    pub fn decided_by_unfinished(&self) {
        *self.decided_by.lock().unwrap_or_else(PoisonError::into_inner) = DecidedBy::Unfinished;
        self.changed.notify_one();
    }

    /// Whether the files of the start were not read again yet.
    pub fn is_unfinished(&self) -> bool {
        let decided_by = self.decided_by.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(&*decided_by, DecidedBy::Unfinished)
    }

    /// Whether a saved change of the configuration has mistakes, so that the previous one is in force.
    pub fn has_mistakes(&self) -> bool {
        self.has_mistakes.load(Ordering::Relaxed)
    }

    pub fn set_has_mistakes(&self, has_mistakes: bool) {
        self.has_mistakes.store(has_mistakes, Ordering::Relaxed);
    }

    /// Whether the configuration's files are these.
    pub fn is_decided_by(&self, on_disk: &FilesOnDisk) -> bool {
        let decided_by = self.decided_by.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(&*decided_by, DecidedBy::Files(files) if files == on_disk)
    }

    /// Whether drops may be decided by this folder's rules: they are in force, and their files are unchanged.
    /// If not, this wakes whoever waits for [`Self::changed`].
    pub fn is_in_force(&self, folder: &Arc<Folder>) -> bool {
        let is_present = self.get(&folder.name).is_some_and(|known| Arc::ptr_eq(&known.folder, folder));
        let decided_by = self.decided_by.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unchanged = match &*decided_by {
            DecidedBy::Unknown => true,
            DecidedBy::Unfinished => false,
            DecidedBy::Files(files) => files.is_unchanged(&folder.file),
        };
        drop(decided_by);
        if !is_unchanged {
            self.changed.notify_one();
        }
        is_present && is_unchanged
    }

    /// Resolves when a drop met files that were changed.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    pub fn all(&self) -> Vec<Registered> {
        self.lock().values().cloned().collect()
    }

    /// The folder of this name, or the one that had it.
    pub fn get(&self, name: &str) -> Option<Registered> {
        let known = self.lock();
        let renamed = self.renamed.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(name).or_else(|| known.get(renamed.get(name)?)).cloned()
    }

    pub fn renamed(&self, renamed: BTreeMap<String, String>) {
        *self.renamed.lock().unwrap_or_else(PoisonError::into_inner) = renamed;
    }

    pub fn looked(&self, name: &str, at: Time, took: TimeDelta, hears: bool, lacking: u64) {
        if let Some(known) = self.lock().get_mut(name) {
            known.looks = Looks { count: known.looks.count + 1, last: Some(at), took, hears, lacking };
        }
    }

    pub fn set(&self, name: &str, hot: Option<Arc<Hot>>) {
        if let Some(known) = self.lock().get_mut(name) {
            known.hot = hot;
        }
    }
}
