//! On which file system the contestants write: the usual one, that of a directory, or one on a loop device.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

static GROUND: OnceLock<PathBuf> = OnceLock::new();

/// How large a loop device is. It takes as much of the disk as is written.
const SIZE: u64 = 8 << 30;

/// A file system of its own, which is gone with it.
struct LoopDevice(TempDir);

impl LoopDevice {
    fn make(kind: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().join("image");
        std::fs::File::create(&image).unwrap().set_len(SIZE).unwrap();
        let force = if kind == "ext4" { "-F" } else { "-f" };
        let said = |command: &mut Command| {
            let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        said(Command::new(format!("mkfs.{kind}")).args(["-q", force]).arg(&image));
        let made = Self(dir);
        std::fs::create_dir(made.mounted()).unwrap();
        // On a disk that may rotate, as a virtual one says it does, btrfs waits some milliseconds before each sync for
        // others to join.
        let options = if kind == "btrfs" { "loop,ssd" } else { "loop" };
        said(Command::new("mount").args(["-o", options]).arg(&image).arg(made.mounted()));
        made
    }

    fn mounted(&self) -> PathBuf {
        self.0.path().join("mounted")
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(self.mounted()).status());
    }
}

/// Runs on what the arguments say: `--dir DIR`, or `--on ext4|xfs|btrfs`, which needs root.
pub fn on(arguments: &[String], run: impl FnOnce()) {
    let after = |name: &str| {
        let at = arguments.iter().position(|word| word == name)?;
        Some(arguments.get(at + 1).unwrap_or_else(|| panic!("{name} needs a word after it")).as_str())
    };
    let device = after("--on").map(LoopDevice::make);
    let dir = device.as_ref().map(LoopDevice::mounted).or_else(|| after("--dir").map(PathBuf::from));
    if let Some(dir) = dir {
        GROUND.set(dir).unwrap();
    }
    run();
    drop(device);
}

/// A directory there.
pub fn new_dir() -> TempDir {
    GROUND.get().map_or_else(tempfile::tempdir, tempfile::tempdir_in).unwrap()
}

/// A file there, without a name.
pub fn new_file() -> std::fs::File {
    let dir: Option<&Path> = GROUND.get().map(PathBuf::as_path);
    dir.map_or_else(tempfile::tempfile, tempfile::tempfile_in).unwrap()
}
