//! Our directory in a folder: the folder's marker, and the highest fact number that was seen there.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{self, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::claim_name::is_file_claim;
use super::opened::{Opened, directory};
use super::{CLAIM, OURS, Stat};

const MARKER: &str = "folder";
const NEW_MARKER: &str = "folder.new";
const EPOCH: &str = "epoch";
const NEW_EPOCH: &str = "epoch.new";
const PROBE: &str = "probe";
/// The maximum size of our own small files.
const LONGEST: u64 = 8192;
/// Local file systems use the time of the kernel's last tick: 1 to 10 ms.
const CLOCK_STEP: Duration = Duration::from_millis(1);
const CLOCK_STEPS: usize = 20;

impl Opened {
    /// The text of the folder's marker.
    pub(super) fn marker(&self) -> io::Result<Option<String>> {
        text(&self.ours, MARKER)
    }

    /// Writes a new marker. Returns its time by the file system's clock. Whatever comes later is younger,
    /// unless that clock's steps are too long to wait for.
    pub(super) fn mark(&self, id: &str) -> io::Result<i64> {
        // It appears complete, so what lies there is always a whole one.
        let mut file = create(&self.ours, NEW_MARKER)?;
        file.write_all(id.as_bytes())?;
        file.sync_all()?;
        let marked = Stat::from(fs::fstat(&file)?).changed;
        for _ in 0..CLOCK_STEPS {
            // A second write shows the file system's time.
            file.rewind()?;
            file.write_all(id.as_bytes())?;
            if Stat::from(fs::fstat(&file)?).changed > marked {
                break;
            }
            std::thread::park_timeout(CLOCK_STEP);
        }
        file.sync_all()?;
        fs::renameat(&self.ours, NEW_MARKER, &self.ours, MARKER)?;
        fs::fsync(&self.ours)?;
        Ok(marked)
    }

    /// The highest fact number seen here for each set of records. Content that is not text counts as nothing.
    pub(super) fn epoch(&self) -> io::Result<Option<String>> {
        text(&self.ours, EPOCH)
    }

    pub(super) fn keep_epoch(&self, epoch: &str) -> io::Result<()> {
        let mut file = create(&self.ours, NEW_EPOCH)?;
        file.write_all(epoch.as_bytes())?;
        file.sync_all()?;
        Ok(fs::renameat(&self.ours, NEW_EPOCH, &self.ours, EPOCH)?)
    }
}

/// The highest fact numbers in a folder that is not open.
pub fn epoch_at(folder: &Path) -> io::Result<Option<String>> {
    text_at(folder, EPOCH)
}

/// The marker of a folder that is not open, and the identity of its directory.
pub fn marker_at(folder: &Path) -> io::Result<Option<(String, String)>> {
    let Some(marker) = text_at(folder, MARKER)? else { return Ok(None) };
    Ok(Some((marker, directory(&fs_err::metadata(folder)?)?)))
}

fn text_at(folder: &Path, name: &str) -> io::Result<Option<String>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match fs::openat(CWD, folder.join(OURS), flags, Mode::empty()) {
        Ok(ours) => text(&ours, name),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The names of the claims in a folder that is not open.
pub fn claims_at(folder: &Path) -> io::Result<Vec<String>> {
    let entries = fs_err::read_dir(folder.join(OURS).join(CLAIM))?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// The number of files in such a claim. 0 if the claim is gone.
pub fn claimed_at(folder: &Path, claim: &str) -> usize {
    let claimed = folder.join(OURS).join(CLAIM).join(claim);
    if is_file_claim(claim) {
        return usize::from(claimed.symlink_metadata().is_ok());
    }
    fs_err::read_dir(claimed).map_or(0, Iterator::count)
}

/// Opens or creates one of our own files. Somebody may have put something else there under its name, on which
/// a process could wait for ever.
pub(super) fn open_ours(ours: impl AsFd, name: &str, flags: OFlags, rights: Mode) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(fs::openat(ours, name, flags, rights)?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other(format!("{name} is not a file"))) }
}

fn create(ours: impl AsFd, name: &str) -> io::Result<File> {
    open_ours(ours, name, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC, Mode::RUSR | Mode::WUSR)
}

/// Whether nobody else may write in our directory, and the file system's time in nanoseconds. Where a file
/// system keeps no owners and modes they prove nothing; a file of our own is created to find out.
pub(super) fn is_ours_alone(ours: impl AsFd) -> io::Result<(bool, i64)> {
    let user = rustix::process::geteuid().as_raw();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let _ = fs::unlinkat(&ours, PROBE, AtFlags::empty());
    let made = fs::fstat(open_ours(&ours, PROBE, flags, Mode::RUSR | Mode::WUSR)?)?;
    fs::unlinkat(&ours, PROBE, AtFlags::empty())?;
    let keeps_rights = made.st_uid == user && made.st_mode & 0o777 == 0o600;
    let directory = fs::fstat(&ours)?;
    let is_ours = !keeps_rights || (directory.st_uid == user && directory.st_mode & 0o022 == 0);
    Ok((is_ours, Stat::from(made).changed))
}

fn text(ours: impl AsFd, name: &str) -> io::Result<Option<String>> {
    match open_ours(ours, name, OFlags::RDONLY, Mode::empty()) {
        Ok(file) => {
            let mut bytes = Vec::new();
            file.take(LONGEST).read_to_end(&mut bytes)?;
            Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
