//! The bytes of uploaded PDFs: in memory, up to a bound, or as files that are durable when `put` returns.
//!
//! Each blob has a name of its own and is never written twice, so what is sealed cannot change. A reader
//! compares it with the hash in the world.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use fs_err as fs;

use super::world::{BlobId, World};

#[derive(Debug)]
pub(super) enum Blobs {
    Memory(Mutex<InMemory>),
    Files(PathBuf),
}

#[derive(Debug)]
pub(super) struct InMemory {
    all: HashMap<BlobId, Bytes>,
    bytes: usize,
    most: usize,
}

/// The beginning of every blob's name.
pub(super) const PREFIX: &str = "b";
const UNFINISHED: &str = "part";

impl Blobs {
    /// In memory, at most so many bytes.
    pub(super) fn in_memory(most: usize) -> Self {
        Self::Memory(Mutex::new(InMemory { all: HashMap::new(), bytes: 0, most }))
    }

    /// Whether a file of this size is within the bound.
    pub(super) fn has_room_for(&self, size: usize) -> bool {
        match self {
            Self::Memory(held) => {
                let held = lock(held);
                held.bytes + size <= held.most
            }
            Self::Files(_) => true,
        }
    }

    /// Opens the directory and finishes what a crash interrupted: unknown uploads are removed, sealed ones
    /// made read-only. Files with other names are left alone.
    pub(super) fn in_directory(dir: PathBuf, world: &World) -> io::Result<Self> {
        if !dir.exists() {
            std::fs::DirBuilder::new().mode(0o700).create(&dir)?;
        }
        let known: HashSet<String> = world.blobs().map(file_name).collect();
        for file in fs::read_dir(&dir)? {
            let file = file?;
            let name = file.file_name().into_string().unwrap_or_default();
            if is_ours(&name) && !known.contains(&name) && file.file_type()?.is_file() {
                fs::remove_file(file.path())?;
            }
        }
        for blob in world.sealed() {
            if let Err(error) = make_read_only(&dir.join(file_name(blob))) {
                tracing::error!(error = &error as &dyn std::error::Error, "a sealed PDF is missing");
            }
        }
        Ok(Self::Files(dir))
    }

    pub(super) async fn put(&self, blob: &BlobId, bytes: Bytes) -> io::Result<()> {
        match self {
            Self::Memory(held) => {
                let held = &mut *lock(held);
                if held.bytes + bytes.len() > held.most {
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
                held.bytes += bytes.len();
                held.all.insert(blob.clone(), bytes);
                Ok(())
            }
            Self::Files(dir) => {
                let (dir, blob) = (dir.clone(), blob.clone());
                blocking(move || write_durably(&dir, &blob, &bytes)).await
            }
        }
    }

    pub(super) async fn read(&self, blob: &BlobId) -> io::Result<Bytes> {
        match self {
            Self::Memory(held) => {
                lock(held).all.get(blob).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
            }
            Self::Files(dir) => {
                let path = dir.join(file_name(blob));
                blocking(move || fs::read(path).map(Bytes::from)).await
            }
        }
    }

    pub(super) async fn seal(&self, blob: &BlobId) -> io::Result<()> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Files(dir) => {
                let path = dir.join(file_name(blob));
                blocking(move || make_read_only(&path)).await
            }
        }
    }

    pub(super) async fn discard(&self, blob: &BlobId) -> io::Result<()> {
        match self {
            Self::Memory(held) => {
                let held = &mut *lock(held);
                held.bytes -= held.all.remove(blob).map_or(0, |bytes| bytes.len());
                Ok(())
            }
            Self::Files(dir) => {
                let path = dir.join(file_name(blob));
                blocking(move || fs::remove_file(path)).await
            }
        }
    }
}

fn lock(held: &Mutex<InMemory>) -> MutexGuard<'_, InMemory> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn file_name(blob: &BlobId) -> String {
    format!("{blob}.pdf")
}

/// Whether this module gave the name: of a blob, complete or unfinished.
fn is_ours(name: &str) -> bool {
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let digits = stem.strip_prefix(PREFIX).unwrap_or_default();
    digits.len() == 24
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && ["pdf", UNFINISHED].contains(&ending)
}

fn make_read_only(path: &Path) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    if !permissions.readonly() {
        permissions.set_readonly(true);
        fs::set_permissions(path, permissions)?;
    }
    Ok(())
}

fn write_durably(dir: &Path, blob: &BlobId, bytes: &[u8]) -> io::Result<()> {
    let unfinished = dir.join(format!("{blob}.{UNFINISHED}"));
    let written = write_and_name(&unfinished, &dir.join(file_name(blob)), dir, bytes);
    if written.is_err() {
        // If this fails, the next start removes it.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

fn write_and_name(unfinished: &Path, finished: &Path, dir: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.options_mut().mode(0o600);
    let mut file = options.write(true).create_new(true).open(unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(unfinished, finished)?;
    fs::File::open(dir)?.sync_all()
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
