//! Directories and files that only we can read, and the syncs that make their names durable.

use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use fs_err as fs;

/// Creates a directory that only its owner can read, if it does not exist. If root creates it, the owner of its parent
/// gets it.
pub fn directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
        directory(parent)?;
    }
    std::fs::DirBuilder::new().mode(0o700).recursive(true).create(path).map_err(|error| {
        io::Error::new(error.kind(), format!("the directory {} can't be made: {error}", path.display()))
    })?;
    let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return Ok(()) };
    belongs_beside(path, parent)?;
    sync_directory(parent)
}

/// Opens or creates a file that nobody else can read.
pub fn append(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.options_mut().mode(0o600);
    Ok(options.append(true).create(true).open(path)?.into_parts().0)
}

/// Creates a file. It must not exist yet.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.options_mut().mode(0o600);
    Ok(options.write(true).create_new(true).open(path)?.into_parts().0)
}

/// Gives a file the owner of another one: root may do what the daemon's user usually does. Links
/// are not followed.
pub fn own_like(path: &Path, other: &Path) -> io::Result<()> {
    let (now, wanted) = (fs::symlink_metadata(path)?, fs::metadata(other)?);
    if (now.uid(), now.gid()) == (wanted.uid(), wanted.gid()) {
        return Ok(());
    }
    std::os::unix::fs::lchown(path, Some(wanted.uid()), Some(wanted.gid()))
}

/// The same if this process runs as root; nothing otherwise.
pub fn belongs_beside(path: &Path, other: &Path) -> io::Result<()> {
    if rustix::process::geteuid().is_root() { own_like(path, other) } else { Ok(()) }
}

/// Makes the names in a directory durable.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_root_makes_belongs_to_the_owner_of_the_records() {
        let dir = tempfile::tempdir().unwrap();
        let (records, made) = (dir.path().join("records"), dir.path().join("made"));
        fs::write(&records, "").unwrap();
        fs::write(&made, "").unwrap();
        // Only root can give a file away.
        if std::os::unix::fs::chown(&records, Some(4711), Some(4712)).is_err() {
            return;
        }
        own_like(&made, &records).unwrap();
        let made = fs::metadata(&made).unwrap();
        assert_eq!((made.uid(), made.gid()), (4711, 4712));
    }
}
