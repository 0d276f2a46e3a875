//! The folders of the configuration in force, with the handle of each that can be worked on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;

use super::Hot;
use crate::clock::Time;
use crate::config::Folder;

#[derive(Debug, Clone)]
pub struct Known {
    pub folder: Arc<Folder>,
    /// `None` while it is away.
    pub hot: Option<Arc<Hot>>,
    pub looks: Looks,
}

/// How a folder was looked at in this run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Looks {
    pub count: u64,
    pub last: Option<Time>,
    /// How long the last one took.
    pub took: TimeDelta,
    /// Whether the kernel tells of what arrives.
    pub hears: bool,
}

/// Shared by whoever works in folders; a reload replaces what is in it.
#[derive(Debug, Default)]
pub struct Registry {
    folders: Mutex<BTreeMap<String, Known>>,
}

impl Registry {
    pub fn new(folders: Vec<Folder>) -> Self {
        let registry = Self::default();
        registry.replace(folders);
        registry
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new configuration is in force. What stays where it was keeps its handle.
    pub fn replace(&self, folders: Vec<Folder>) {
        let mut known = self.lock();
        let mut old = std::mem::take(&mut *known);
        for folder in folders {
            let before = old.remove(&folder.name).filter(|old| old.folder.path == folder.path);
            let (hot, looks) = before.map_or((None, Looks::default()), |old| (old.hot, old.looks));
            known.insert(folder.name.clone(), Known { folder: Arc::new(folder), hot, looks });
        }
    }

    pub fn all(&self) -> Vec<Known> {
        self.lock().values().cloned().collect()
    }

    pub fn get(&self, name: &str) -> Option<Known> {
        self.lock().get(name).cloned()
    }

    pub fn looked(&self, name: &str, at: Time, took: TimeDelta, hears: bool) {
        if let Some(known) = self.lock().get_mut(name) {
            known.looks = Looks { count: known.looks.count + 1, last: Some(at), took, hears };
        }
    }

    pub fn set(&self, name: &str, hot: Option<Arc<Hot>>) {
        if let Some(known) = self.lock().get_mut(name) {
            known.hot = hot;
        }
    }
}
