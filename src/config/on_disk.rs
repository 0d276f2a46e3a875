//! The configuration's files as they are on the disk, so that a change is noticed without an event. Whoever
//! decides by a configuration asks whether its files are unchanged since they were read.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::main_file;
use crate::base::clock::Time;

/// Inode, size, and the times of modification and change. `None` if there is no such file.
type Stamp = Option<(u64, u64, (i64, i64), (i64, i64))>;

/// `mailchute.yaml` and the rules files it names, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilesOnDisk {
    main: PathBuf,
    files: BTreeMap<PathBuf, Stamp>,
    /// A hash of all contents. It changes even if no stamp does.
    contents: u64,
}

impl FilesOnDisk {
    pub fn look(main: &Path) -> Self {
        let paths = main_file::rules_of(main).into_iter().chain([main.to_owned()]);
        let files: BTreeMap<PathBuf, Stamp> = paths.map(|path| (path.clone(), stamp(&path))).collect();
        let mut hasher = DefaultHasher::new();
        for path in files.keys() {
            std::fs::read(path).ok().hash(&mut hasher);
        }
        Self { main: main.to_owned(), files, contents: hasher.finish() }
    }

    /// Whether a file was written, or moved here, within `age`. This uses the time of change, which nobody
    /// can set. A time in the future counts as now.
    pub fn is_younger_than(&self, age: Duration, now: Time) -> bool {
        let mut changes = self.files.values().flatten().filter_map(|(_, _, _, (seconds, nanos))| {
            chrono::DateTime::from_timestamp(*seconds, u32::try_from(*nanos).ok()?)
        });
        changes.any(|changed| (now - changed).to_std().map_or(true, |ago| ago < age))
    }

    /// Whether the main file and this rules file are unchanged. A rules file that the main file did not name
    /// decides nothing: the main file had mistakes, and the previous rules stay in force.
    pub fn is_unchanged(&self, rules: &Path) -> bool {
        let is_same = |path: &Path| self.files.get(path).is_none_or(|known| *known == stamp(path));
        is_same(&self.main) && is_same(rules)
    }
}

fn stamp(path: &Path) -> Stamp {
    let meta = std::fs::metadata(path).ok()?;
    let times = ((meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()));
    Some((meta.ino(), meta.len(), times.0, times.1))
}
