//! Two configured folders with one marker, of which nobody can know which one is the recorded one. Neither is
//! used, because letters of it would be approved or cancelled in either.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::timeout;

use super::IntakeError;
use super::shared::Shared;
use crate::config::Folder;
use crate::loops::folders::Registered;
use crate::outside::hot::PATIENCE;
use crate::outside::store::KnownFolder;

/// A directory with a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Marked<'a> {
    path: &'a str,
    directory: &'a str,
}

/// Whether two directories with one marker are rivals. Pure.
fn are_rivals(recorded: Option<&KnownFolder>, one: Marked<'_>, other: Marked<'_>) -> bool {
    let is_known = |marked: Marked<'_>| {
        recorded.is_some_and(|known| match &known.directory {
            Some(directory) => directory == marked.directory,
            None => known.path == marked.path,
        })
    };
    // One directory under two paths, or two of which neither or both are the recorded one.
    one.directory == other.directory || is_known(one) == is_known(other)
}

/// A marker, and the identity of its directory.
type FoundMarker = Option<(String, String)>;

/// The markers of folders when each was last looked at. `None` if no marker was found.
#[derive(Debug, Default)]
pub(super) struct Markers {
    found: Mutex<BTreeMap<String, FoundMarker>>,
    changed: Notify,
}

impl Markers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, FoundMarker>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, folder: &str, found: FoundMarker) {
        self.lock().insert(folder.to_owned(), found);
        self.changed.notify_waiters();
    }

    /// Waits until each of these folders was looked at, or does not answer.
    async fn of_all(&self, folders: &[String]) {
        let all = async {
            loop {
                let mut changed = pin!(self.changed.notified());
                changed.as_mut().enable();
                if folders.iter().all(|folder| self.lock().contains_key(folder)) {
                    return;
                }
                changed.await;
            }
        };
        drop(timeout(PATIENCE, all).await);
    }
}

/// The name of another configured folder that is this one's rival. For a folder that a helper reaches, only
/// its own last look counts, so that nobody waits for a folder that does not answer.
pub(super) async fn rival(shared: &Shared, folder: &Folder) -> Result<Option<String>, IntakeError> {
    let found = shared.reach.marker_at(&folder.path).ok().flatten();
    shared.markers.add(&folder.name, found.clone());
    let Some((marker, directory)) = found.filter(|(marker, _)| !marker.is_empty()) else { return Ok(None) };
    let recorded = shared.store.folder_of(&marker)?;
    let path = folder.path.display().to_string();
    let others = shared.registry.all().into_iter().filter(|other| other.folder.name != folder.name);
    let is_apart = |other: &Registered| shared.reach.is_apart(&other.folder.path);
    let (apart, here): (Vec<_>, Vec<_>) = others.partition(is_apart);
    // It was moved or copied, and so may another folder have been that is looked at in this moment.
    if recorded.as_ref().is_some_and(|known| known.path != path) && shared.reach.is_any_apart(folder.paths())
    {
        let names: Vec<String> = apart.iter().map(|other| other.folder.name.clone()).collect();
        shared.markers.of_all(&names).await;
    }
    let of_here = |other: &Registered| shared.reach.marker_at(&other.folder.path).ok().flatten();
    let of_apart = |other: &Registered| shared.markers.lock().get(&other.folder.name).cloned().flatten();
    let markers = here.iter().map(|other| (other, of_here(other)));
    for (other, found) in markers.chain(apart.iter().map(|other| (other, of_apart(other)))) {
        let Some((its_marker, its_directory)) = found else { continue };
        let its_path = other.folder.path.display().to_string();
        let one = Marked { path: &path, directory: &directory };
        let other_one = Marked { path: &its_path, directory: &its_directory };
        if its_marker == marker && are_rivals(recorded.as_ref(), one, other_one) {
            return Ok(Some(other.folder.name.clone()));
        }
    }
    Ok(None)
}

impl Shared {
    pub(super) fn has_rival(&self, folder: &str) -> bool {
        self.lock_rivals().contains(folder)
    }

    fn lock_rivals(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.rivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Neither is used. The other one is looked at again too.
    pub(super) fn are_rivals(&self, one: &str, other: &str) {
        self.lock_rivals().extend([one.to_owned(), other.to_owned()]);
        self.registry.set(one, None);
        self.registry.set(other, None);
    }

    pub(super) fn has_no_rival(&self, folder: &str) {
        self.lock_rivals().remove(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_directories_with_one_marker_only_the_recorded_one_is_known() {
        let known = |directory: Option<&str>| KnownFolder {
            name: "a".to_owned(),
            path: "/a".to_owned(),
            id: "M".to_owned(),
            directory: directory.map(str::to_owned),
            since: 0,
            posted_before: None,
            trouble: None,
        };
        let at = |path, directory| Marked { path, directory };
        for (recorded, one, other, rivals) in [
            (Some(known(Some("1"))), at("/a", "1"), at("/b", "2"), false),
            (Some(known(Some("1"))), at("/c", "1"), at("/a", "2"), false),
            (Some(known(Some("1"))), at("/a", "3"), at("/b", "2"), true),
            (Some(known(Some("1"))), at("/a", "1"), at("/b", "1"), true),
            (Some(known(None)), at("/a", "1"), at("/b", "2"), false),
            (Some(known(None)), at("/c", "1"), at("/b", "2"), true),
            (None, at("/a", "1"), at("/b", "2"), true),
        ] {
            assert_eq!(are_rivals(recorded.as_ref(), one, other), rivals, "{one:?} {other:?}");
            assert_eq!(are_rivals(recorded.as_ref(), other, one), rivals, "{other:?} {one:?}");
        }
    }
}
