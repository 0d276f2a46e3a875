//! What distinguishes a file from a copy of it, and the format in which that is stored.

use std::fmt;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fs_err as fs;

use crate::outside::disk::lasting_id;

/// What distinguishes a file from a copy of it. `None` and an empty machine mean that it is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileIdentity {
    inode: Option<u64>,
    /// In nanoseconds.
    born: Option<u128>,
    /// The id of the file system.
    disk: Option<u64>,
    machine: Option<String>,
}

/// How a place differs from what was written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elsewhere {
    Machine,
    Disk,
    /// Another file with the same contents.
    Copy,
    /// It cannot be read any more.
    Unreadable,
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Machine => "they were made on another machine",
            Self::Disk => "they were made on another file system",
            Self::Copy => "they are a copy, or were put back from one",
            Self::Unreadable => "what says where they were made can't be read",
        })
    }
}

impl FileIdentity {
    /// An identity of which only the machine is known.
    pub(super) fn on(machine: Option<String>) -> Self {
        Self { machine, ..Self::default() }
    }

    pub(super) fn of(file: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(file)?;
        let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        Ok(Self {
            inode: Some(metadata.ino()),
            born: born.map(|born| born.as_nanos()).filter(|born| *born > 0),
            disk: lasting_id(file)?,
            machine: machine(),
        })
    }

    /// How the two identities differ. Only what both know is compared.
    pub(super) fn differs(&self, now: &Self) -> Option<Elsewhere> {
        fn is_another<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
            matches!((one, other), (Some(one), Some(other)) if one != other)
        }
        if is_another(self.machine.as_ref(), now.machine.as_ref()) {
            Some(Elsewhere::Machine)
        } else if is_another(self.disk.as_ref(), now.disk.as_ref()) {
            Some(Elsewhere::Disk)
        } else if is_another(self.inode.as_ref(), now.inode.as_ref())
            || is_another(self.born.as_ref(), now.born.as_ref())
        {
            Some(Elsewhere::Copy)
        } else {
            None
        }
    }
}

const MOVED: &str = "moved";

impl fmt::Display for FileIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line =
            |key: &str, value: Option<String>| value.map_or(Ok(()), |value| writeln!(f, "{key} {value}"));
        line("inode", self.inode.map(|inode| inode.to_string()))?;
        line("born", self.born.map(|born| born.to_string()))?;
        line("disk", self.disk.map(|disk| format!("{disk:016x}")))?;
        line("machine", self.machine.clone())
    }
}

/// What was written down. `None` if it cannot be parsed. A missing line means "not known".
pub(super) fn read(text: &str) -> Option<Result<FileIdentity, PathBuf>> {
    let mut place = FileIdentity::default();
    for line in text.lines() {
        let (key, value) = line.split_once(' ')?;
        match key {
            "inode" => place.inode = Some(value.parse().ok()?),
            "born" => place.born = Some(value.parse().ok()?),
            "disk" => place.disk = Some(u64::from_str_radix(value, 16).ok()?),
            "machine" => place.machine = Some(value.to_owned()),
            MOVED => {
                return Some(Err(PathBuf::from(std::ffi::OsString::from_vec(hex::decode(value).ok()?))));
            }
            _ => return None,
        }
    }
    (place != FileIdentity::default()).then_some(Ok(place))
}

pub(super) fn moved(to: &Path) -> String {
    format!("{MOVED} {}\n", hex::encode(to.as_os_str().as_bytes()))
}

/// The id of this machine, where that is evidence. A container's id may be that of its image, or differ at
/// each start.
fn machine() -> Option<String> {
    let in_container = std::env::var_os("container").is_some()
        || ["/run/.containerenv", "/.dockerenv", "/run/systemd/container"]
            .iter()
            .any(|path| Path::new(path).exists());
    let id = std::fs::read_to_string("/etc/machine-id").ok().filter(|_| !in_container)?;
    let is_id = id.trim().len() == 32 && id.trim().bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_side_can_not_tell_is_no_difference() {
        let full = FileIdentity {
            inode: Some(7),
            born: Some(8),
            disk: Some(9),
            machine: Some("0123456789abcdef0123456789abcdef".to_owned()),
        };
        let alterations: [(FileIdentity, Elsewhere); 4] = [
            (FileIdentity { inode: Some(1), ..full.clone() }, Elsewhere::Copy),
            (FileIdentity { born: Some(1), ..full.clone() }, Elsewhere::Copy),
            (FileIdentity { disk: Some(1), ..full.clone() }, Elsewhere::Disk),
            (FileIdentity { machine: Some("x".to_owned()), ..full.clone() }, Elsewhere::Machine),
        ];
        for (altered, what) in &alterations {
            assert_eq!(full.differs(altered), Some(*what));
        }
        let unknown = [
            FileIdentity { inode: None, ..full.clone() },
            FileIdentity { born: None, ..full.clone() },
            FileIdentity { disk: None, ..full.clone() },
            FileIdentity { machine: None, ..full.clone() },
        ];
        for less in &unknown {
            assert_eq!((full.differs(less), less.differs(&full)), (None, None));
            assert_eq!(read(&less.to_string()), Some(Ok(less.clone())));
        }
        for text in ["", "inode x\n", "nonsense\n", "inode 7\nsomething else\n"] {
            assert_eq!(read(text), None, "{text}");
        }
        let to = Path::new("/a b/\n新しい場所");
        assert_eq!(read(&moved(to)), Some(Err(to.to_owned())));
    }
}
