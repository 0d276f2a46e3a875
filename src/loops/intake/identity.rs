//! Which folder a directory is, by its marker and its own identity. The name is only shown. Pure.

use crate::outside::store::BegunMarker;

/// A directory with the marker of a known folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Met<'a> {
    /// The identity of the recorded directory, and of this one, where they are known.
    pub recorded: Option<&'a str>,
    pub found: Option<&'a str>,
    pub recorded_path: RecordedPath,
}

/// What is at the path that was recorded for the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedPath {
    /// This directory.
    This,
    /// Another directory with the same marker.
    Marked,
    /// No directory, or one with another marker or without one.
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// It is that folder, whatever its present name.
    Known,
    /// The folder was moved into another directory, or put back. It is that folder, and everything in it was
    /// there before.
    Refilled,
    /// A copy of the folder: a folder of its own, with nothing of ours in it.
    Copy,
}

pub fn identity(met: Met<'_>) -> Identity {
    let is_same = match (met.recorded, met.found) {
        (Some(recorded), Some(found)) => Some(recorded == found),
        (None, _) | (_, None) => None,
    };
    match (met.recorded_path, is_same) {
        (RecordedPath::This, Some(true) | None)
        // The directory itself was moved. What has its marker at the old path is a copy.
        | (RecordedPath::Marked | RecordedPath::Gone, Some(true)) => Identity::Known,
        (RecordedPath::This | RecordedPath::Gone, Some(false)) | (RecordedPath::Gone, None) => {
            Identity::Refilled
        }
        (RecordedPath::Marked, Some(false) | None) => Identity::Copy,
    }
}

/// Which records used a folder before it is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormerUser {
    /// None: it has no marker.
    None,
    /// We began to write its marker, and a crash came before it was recorded. Nothing was taken from it.
    Unfinished,
    /// These records know its path, and its marker is gone.
    Emptied,
    /// These records.
    Ours,
    /// These records used the folder of which it is a copy.
    OfOriginal,
    /// Other records.
    Others,
}

/// Which records used a folder with this marker. `identity` is that of a marker that is recorded, `begun` the marker
/// that we began to write at its path, and `is_known_path` says that a folder is recorded there.
pub fn former_user(
    identity: Option<Identity>,
    marker: Option<&str>,
    begun: Option<&BegunMarker>,
    is_known_path: bool,
) -> FormerUser {
    let is_copy = begun.is_some_and(|begun| begun.is_copy);
    let is_begun = begun.is_some_and(|begun| Some(begun.id.as_str()) == marker);
    match (marker, identity) {
        (None, _) if is_known_path || is_copy => FormerUser::Emptied,
        (None, _) => FormerUser::None,
        (Some(_), Some(Identity::Copy)) => FormerUser::OfOriginal,
        (Some(_), Some(Identity::Known | Identity::Refilled)) => FormerUser::Ours,
        (Some(_), None) if is_begun && is_copy => FormerUser::OfOriginal,
        (Some(_), None) if is_begun => FormerUser::Unfinished,
        (Some(_), None) => FormerUser::Others,
    }
}

impl FormerUser {
    /// Whether something in the folder may be posted already.
    pub fn may_have_posted(self) -> bool {
        !matches!(self, Self::None | Self::Unfinished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_its_marker_and_its_directory() {
        use Identity::{Copy, Known, Refilled};
        use RecordedPath::{Gone, Marked, This};
        let rows = [
            // recorded and found directory, what is at the recorded path, what it is
            (Some("1"), Some("1"), This, Known),
            (Some("1"), Some("2"), This, Refilled),
            (None, Some("2"), This, Known),
            (Some("1"), None, This, Known),
            (None, None, This, Known),
            (Some("1"), Some("1"), Gone, Known),
            (Some("1"), Some("2"), Gone, Refilled),
            (None, Some("2"), Gone, Refilled),
            (Some("1"), None, Gone, Refilled),
            (None, None, Gone, Refilled),
            (Some("1"), Some("1"), Marked, Known),
            (Some("1"), Some("2"), Marked, Copy),
            (None, Some("2"), Marked, Copy),
            (Some("1"), None, Marked, Copy),
            (None, None, Marked, Copy),
        ];
        for (recorded, found, recorded_path, expected) in rows {
            let met = Met { recorded, found, recorded_path };
            assert_eq!(identity(met), expected, "{met:?}");
        }
    }

    #[test]
    fn what_lies_in_a_folder_that_was_used_may_be_posted() {
        use FormerUser::{Emptied, None as NoUser, OfOriginal, Others, Ours, Unfinished};
        let begun = |id: &str, is_copy| Some(BegunMarker { id: id.to_owned(), is_copy });
        let rows = [
            // identity, marker, the marker that was begun, whether its path is known; its user, what may be posted
            (None, None, None, false, NoUser, false),
            (None, None, begun("1", false), false, NoUser, false),
            (None, None, None, true, Emptied, true),
            (None, None, begun("1", false), true, Emptied, true),
            (None, None, begun("1", true), false, Emptied, true),
            (None, Some("1"), None, false, Others, true),
            (None, Some("1"), begun("1", false), false, Unfinished, false),
            (None, Some("1"), begun("1", true), false, OfOriginal, true),
            (None, Some("2"), begun("1", false), false, Others, true),
            (None, Some("2"), begun("1", true), true, Others, true),
            (Some(Identity::Known), Some("1"), None, true, Ours, true),
            (Some(Identity::Refilled), Some("1"), begun("2", false), true, Ours, true),
            (Some(Identity::Copy), Some("1"), begun("2", true), false, OfOriginal, true),
        ];
        for (identity, marker, begun, is_known_path, expected, posted) in rows {
            let found = former_user(identity, marker, begun.as_ref(), is_known_path);
            let met = (identity, marker, begun, is_known_path);
            assert_eq!((found, found.may_have_posted()), (expected, posted), "{met:?}");
        }
    }
}
