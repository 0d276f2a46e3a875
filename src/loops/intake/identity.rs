//! Which folder a directory is, by its marker and its own identity. The name is only shown. Pure.

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

/// Who used a folder before it is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Nobody: it has no marker.
    New,
    /// We began to write its marker. A crash came before it was recorded, so nothing was taken from it.
    Unfinished,
    /// These records.
    Ours,
    /// Other records, which may have posted what is in it.
    Others,
}

/// Who used a folder with this marker. `identity` is that of a marker that is recorded, and `begun` the marker that we
/// began to write at its path.
pub fn whose(identity: Option<Identity>, marker: Option<&str>, begun: Option<&str>) -> Whose {
    match (marker, identity) {
        (None, _) => Whose::New,
        (Some(_), Some(_)) => Whose::Ours,
        (Some(marker), None) if begun == Some(marker) => Whose::Unfinished,
        (Some(_), None) => Whose::Others,
    }
}

impl Whose {
    /// Whether something in it may be posted already.
    pub fn may_have_posted(self) -> bool {
        matches!(self, Self::Ours | Self::Others)
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
    fn what_lies_in_a_folder_that_others_used_may_be_posted() {
        use Whose::{New, Others, Ours, Unfinished};
        let rows = [
            // identity, marker, the marker that was begun; whose it is, what may be posted
            (None, None, None, New, false),
            (None, None, Some("1"), New, false),
            (None, Some("1"), None, Others, true),
            (None, Some("1"), Some("1"), Unfinished, false),
            (None, Some("2"), Some("1"), Others, true),
            (Some(Identity::Known), Some("1"), None, Ours, true),
            (Some(Identity::Refilled), Some("1"), Some("2"), Ours, true),
            (Some(Identity::Copy), Some("1"), Some("1"), Ours, true),
        ];
        for (identity, marker, begun, expected, posted) in rows {
            let found = whose(identity, marker, begun);
            assert_eq!(
                (found, found.may_have_posted()),
                (expected, posted),
                "{identity:?} {marker:?} {begun:?}"
            );
        }
    }
}
