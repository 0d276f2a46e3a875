//! Directories with everything in them.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::process::Pid;

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

/// The processes that reach folders below a directory.
pub fn helpers_below(dir: &Path) -> Vec<Pid> {
    let is_one = |process: &std::fs::DirEntry| {
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0).skip(1);
        let (word, place) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        word == b"reach-folders" && place.starts_with(dir.as_os_str().as_encoded_bytes())
    };
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter(is_one);
    let number = |process: std::fs::DirEntry| process.file_name().to_str()?.parse().ok();
    processes.filter_map(number).filter_map(Pid::from_raw).collect()
}

/// Kills a process; it is dead once this returns.
pub fn kill(process: Pid) {
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    while is_alive() {
        std::thread::yield_now();
    }
}
