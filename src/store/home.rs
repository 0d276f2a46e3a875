//! The state directory: where everything is, whose it is, and what it may not stand on.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::StoreError;
use crate::spool::private_directory;

/// Filesystems on which locks, syncs and SQLite's shared memory are not to be relied on.
const NETWORK: [(u64, &str); 6] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x517b, "SMB"),
    (0x0102_1997, "9p"),
    (0x00c3_6400, "Ceph"),
];

const LOCK_PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);

/// The name of a kind of filesystem that is over a network.
fn network(kind: u64) -> Option<&'static str> {
    NETWORK.iter().find(|(magic, _)| *magic == kind).map(|(_, name)| *name)
}

#[derive(Debug, Clone)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// Makes the directory if it is not there, and refuses one that can't be relied on.
    pub fn make(dir: &Path) -> Result<Self, StoreError> {
        private_directory(dir)?;
        let kind = rustix::fs::statfs(dir).map_err(io::Error::from)?.f_type;
        #[expect(clippy::cast_sign_loss, reason = "a magic number; its sign differs by machine")]
        let kind = kind as u64 & 0xffff_ffff;
        match network(kind) {
            Some(name) => Err(StoreError::NetworkDisk(dir.to_owned(), name)),
            None => Ok(Self { dir: dir.to_owned() }),
        }
    }

    /// One that is there.
    pub fn existing(dir: &Path) -> Result<Self, StoreError> {
        let home = Self { dir: dir.to_owned() };
        if home.database().exists() { Ok(home) } else { Err(StoreError::Nothing(dir.to_owned())) }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn database(&self) -> PathBuf {
        self.dir.join("mailchute.db")
    }

    pub fn spool(&self) -> PathBuf {
        self.dir.join("spool")
    }

    pub fn ledger(&self) -> PathBuf {
        self.dir.join("spool").join("ledger")
    }

    /// The name of these records.
    pub fn name(&self) -> PathBuf {
        self.ledger().join("name")
    }

    /// Where commands knock so that the daemon looks at once.
    pub fn bell(&self) -> PathBuf {
        self.dir.join("bell")
    }

    /// Ours alone until the file is dropped.
    pub(super) fn lock(&self) -> Result<File, StoreError> {
        let file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.dir.join("lock"))?
            .into_parts()
            .0;
        // One that is just ending, or a child it was starting when it was killed, has it for a moment.
        let patience = std::time::Instant::now() + LOCK_PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if std::time::Instant::now() > patience => {
                    return Err(StoreError::InUse(self.dir.clone()));
                }
                Err(TryLockError::WouldBlock) => std::thread::park_timeout(LOCK_PATIENCE / 20),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
    }

    /// Puts a broken database out of the way, where a person can look at it.
    pub(super) fn put_aside(&self, now: crate::clock::Time) -> io::Result<PathBuf> {
        let stamp = now.format("%Y%m%dT%H%M%S");
        let aside = self.dir.join(format!("mailchute.db.damaged-{stamp}"));
        fs::rename(self.database(), &aside)?;
        for ending in ["-wal", "-shm"] {
            let path = self.dir.join(format!("mailchute.db{ending}"));
            if path.exists() {
                fs::rename(&path, format!("{}{ending}", aside.display()))?;
            }
        }
        Ok(aside)
    }
}

/// This machine, as far as it can tell itself from another.
pub(super) fn machine() -> String {
    std::fs::read_to_string("/etc/machine-id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_filesystems_are_known_by_their_magic_and_local_ones_are_not() {
        // As the kernel's linux/magic.h has them.
        for (magic, name) in
            [(0x6969, "NFS"), (0xff53_4d42, "CIFS"), (0xfe53_4d42, "SMB"), (0x0102_1997, "9p")]
        {
            assert_eq!(network(magic), Some(name));
        }
        for local in [0xef53_u64, 0x5846_5342, 0x9123_683e, 0x0102_1994] {
            assert_eq!(network(local), None);
        }
    }
}
