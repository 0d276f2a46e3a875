//! The state directory: its paths, its owner, and the file systems on which it may not be.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::StoreError;
use super::place::{self, Binding};
use crate::base::clock::Time;
use crate::outside::disk::not_local;
use crate::outside::spool::private_directory;

const LARGE: u64 = 64 * 1024 * 1024;
const LOCK_PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);

#[derive(Debug, Clone)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// Creates the directory if needed, and refuses one that cannot be relied on.
    pub fn make(dir: &Path) -> Result<Self, StoreError> {
        private_directory(dir)?;
        let kind = rustix::fs::statfs(dir).map_err(io::Error::from)?.f_type;
        #[expect(clippy::cast_sign_loss, reason = "a magic number; its sign differs by machine")]
        let kind = kind as u64;
        match not_local(kind) {
            Some(name) => Err(StoreError::NetworkDisk(dir.to_owned(), name)),
            None => Self { dir: dir.to_owned() }.not_moved(),
        }
    }

    /// Without checking what is there.
    pub(super) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// An existing directory.
    pub fn existing(dir: &Path) -> Result<Self, StoreError> {
        let home = Self { dir: dir.to_owned() };
        if home.database().exists() { home.not_moved() } else { Err(StoreError::Nothing(dir.to_owned())) }
    }

    /// Refuses a directory whose records were moved elsewhere: no daemon would carry out a command given to
    /// it.
    fn not_moved(self) -> Result<Self, StoreError> {
        match place::beside(&self)? {
            Binding::Moved(to) => Err(StoreError::Moved { from: self.dir, to }),
            Binding::Missing | Binding::Matches | Binding::Differs(_) => Ok(self),
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn database(&self) -> PathBuf {
        self.dir.join("mailchute.db")
    }

    /// The index of the names in the records, which is made from them.
    pub(super) fn search_index(&self) -> PathBuf {
        self.dir.join("search.db")
    }

    pub fn spool(&self) -> PathBuf {
        self.dir.join("spool")
    }

    pub fn ledger(&self) -> PathBuf {
        self.dir.join("spool").join("ledger")
    }

    /// The file with the name of these records.
    pub fn name(&self) -> PathBuf {
        self.ledger().join("name")
    }

    /// The file that says where these records belong.
    pub(super) fn place(&self) -> PathBuf {
        self.ledger().join("place")
    }

    /// Exists while records are being moved here.
    pub(super) fn being_filled(&self) -> PathBuf {
        self.dir.join("being-filled")
    }

    /// The socket on which commands wake the daemon.
    pub fn bell(&self) -> PathBuf {
        self.dir.join("bell")
    }

    /// Locks the directory for this process until the file is dropped.
    pub(super) fn lock(&self) -> Result<File, StoreError> {
        let file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.dir.join("lock"))?
            .into_parts()
            .0;
        // A process that is just ending, or a child that a killed one was starting, holds it for a moment.
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

    pub(super) fn is_locked(&self) -> bool {
        let lock = fs::File::open(self.dir.join("lock"));
        lock.is_ok_and(|lock| matches!(lock.file().try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Whether reading everything takes long. Up to this size database and ledger are compared completely at
    /// a start; beyond it, their ends.
    pub fn is_large(&self) -> io::Result<bool> {
        Ok(fs::metadata(self.database())?.len() > LARGE)
    }

    /// Whatever its size, the database is checked at the next start.
    pub fn doubt(&self) -> io::Result<()> {
        fs::File::create(self.doubted())?;
        self.sync()
    }

    pub(super) fn is_doubted(&self) -> bool {
        self.doubted().exists()
    }

    pub(super) fn trust(&self) -> io::Result<()> {
        if self.is_doubted() { fs::remove_file(self.doubted()) } else { Ok(()) }
    }

    fn doubted(&self) -> PathBuf {
        self.dir.join("mailchute.db.doubted")
    }

    /// Moves a damaged database aside, where a person can look at it. From then on it is known that another
    /// one is being made.
    pub(super) fn put_aside(&self, now: Time) -> io::Result<PathBuf> {
        let aside = self.free_name(now);
        self.begin_rebuild(Some(&aside))?;
        self.move_database(&aside)?;
        Ok(aside)
    }

    /// A database is about to be made from the ledger. `aside` is where the previous one will be.
    pub(super) fn begin_rebuild(&self, aside: Option<&Path>) -> io::Result<()> {
        let name = aside.and_then(Path::file_name).unwrap_or_default();
        let new = self.marker().with_extension("new");
        let mut file = fs::File::create(&new)?;
        file.write_all(name.as_encoded_bytes())?;
        file.sync_all()?;
        fs::rename(&new, self.marker())?;
        self.sync()
    }

    /// The path of a new database, with nothing there.
    pub(super) fn new_database(&self) -> io::Result<PathBuf> {
        for ending in ["", "-wal", "-shm"] {
            let path = self.dir.join(format!("mailchute.db.new{ending}"));
            if path.exists() {
                fs::remove_file(&path)?;
            }
        }
        Ok(self.dir.join("mailchute.db.new"))
    }

    pub(super) fn put_in_place(&self, new: &Path) -> io::Result<()> {
        fs::rename(new, self.database())?;
        self.sync()
    }

    /// Whether a start that was making a database ended before it was finished.
    pub(super) fn is_rebuilding(&self) -> bool {
        self.marker().exists()
    }

    /// Begins again. Returns the path of the previous database, if there was one. Whatever is in its place
    /// now is put aside too.
    pub(super) fn rebuild_again(&self, now: Time) -> io::Result<Option<PathBuf>> {
        let name = fs::read_to_string(self.marker())?;
        let aside = Some(name).filter(|name| !name.is_empty()).map(|name| self.dir.join(name));
        if self.database().exists() {
            match aside.as_ref().filter(|aside| !aside.exists()) {
                Some(aside) => self.move_database(aside)?,
                None => self.move_database(&self.free_name(now))?,
            }
        }
        Ok(aside)
    }

    pub(super) fn rebuilt(&self) -> io::Result<()> {
        fs::remove_file(self.marker())?;
        self.sync()
    }

    fn marker(&self) -> PathBuf {
        self.dir.join("mailchute.db.rebuilding")
    }

    fn free_name(&self, now: Time) -> PathBuf {
        let stamp = now.format("%Y%m%dT%H%M%S");
        let names = (0..).map(|n| match n {
            0 => format!("mailchute.db.damaged-{stamp}"),
            n => format!("mailchute.db.damaged-{stamp}-{n}"),
        });
        let mut paths = names.map(|name| self.dir.join(name));
        paths.find(|path| !path.exists()).unwrap_or_default()
    }

    fn move_database(&self, aside: &Path) -> io::Result<()> {
        // Its other files go first: a database without its log would look complete.
        for ending in ["-wal", "-shm", ""] {
            let path = self.dir.join(format!("mailchute.db{ending}"));
            match fs::rename(&path, format!("{}{ending}", aside.display())) {
                // A command that was reading may have removed the log and its index just now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                moved => moved?,
            }
        }
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        fs::File::open(&self.dir)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_doubted_until_it_is_trusted_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        assert!(!home.is_doubted());
        home.doubt().unwrap();
        assert!(Home::at(dir.path()).is_doubted(), "the next start knows it");
        home.trust().unwrap();
        assert!(!home.is_doubted());
        home.trust().unwrap();
    }
}
