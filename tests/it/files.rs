//! Directories with everything in them.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Copies files and directories; sockets and the like stay behind.
pub fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Records that were copied here count as those of before: as a copy of the whole disk would, or what a power
/// cut leaves.
pub fn stands_here(state: &Path) {
    let place = state.join("spool/ledger/place");
    if let Ok(metadata) = place.metadata() {
        std::fs::write(&place, format!("inode {}\n", metadata.ino())).unwrap();
    }
}
