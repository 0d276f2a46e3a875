//! Two configured folders with one marker, of which nobody can tell which is the one that is known: neither is worked
//! on, since letters of it would be approved or cancelled in either.

use std::collections::BTreeSet;
use std::sync::{MutexGuard, PoisonError};

use super::IntakeError;
use super::shared::Shared;
use crate::config::Folder;
use crate::hot::marker_at;
use crate::store::KnownFolder;

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
    // One directory under two paths, or two of which neither, or both, are the one that was recorded.
    one.directory == other.directory || is_known(one) == is_known(other)
}

/// The name of another configured folder that is this one's rival.
pub(super) fn rival(shared: &Shared, folder: &Folder) -> Result<Option<String>, IntakeError> {
    let Ok(Some((marker, directory))) = marker_at(&folder.path) else { return Ok(None) };
    let path = folder.path.display().to_string();
    for other in shared.registry.all() {
        if other.folder.name == folder.name {
            continue;
        }
        let Ok(Some((its_marker, its_directory))) = marker_at(&other.folder.path) else { continue };
        if its_marker != marker || marker.is_empty() {
            continue;
        }
        let recorded = shared.store.folder_of(&marker)?;
        let its_path = other.folder.path.display().to_string();
        let one = Marked { path: &path, directory: &directory };
        if are_rivals(recorded.as_ref(), one, Marked { path: &its_path, directory: &its_directory }) {
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

    /// The other one is looked at again too, though it is open.
    pub(super) fn are_rivals(&self, one: &str, other: &str) {
        self.lock_rivals().extend([one.to_owned(), other.to_owned()]);
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
