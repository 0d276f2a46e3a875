//! The bytes of uploaded PDFs: in memory, or as files that are durable before `put` returns.
//!
//! A blob has a name of its own and is never written twice, so what is sealed can't change; whoever
//! reads compares with the hash the world kept.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use fs_err as fs;

use super::world::BlobId;

#[derive(Debug)]
pub(super) enum Blobs {
    Memory(Mutex<HashMap<BlobId, Bytes>>),
    Files(PathBuf),
}

const UNFINISHED: &str = "part";

impl Blobs {
    pub(super) fn in_memory() -> Self {
        Self::Memory(Mutex::default())
    }

    /// Opens the directory and removes what no mail refers to: the rest of a crash.
    pub(super) fn in_directory(dir: PathBuf, known: &[&BlobId]) -> io::Result<Self> {
        fs::create_dir_all(&dir)?;
        for file in fs::read_dir(&dir)? {
            let file = file?;
            let name = file.file_name();
            if !known.iter().any(|blob| name.to_str() == Some(&file_name(blob))) {
                fs::remove_file(file.path())?;
            }
        }
        for blob in known {
            fs::metadata(dir.join(file_name(blob)))?;
        }
        Ok(Self::Files(dir))
    }

    pub(super) async fn put(&self, blob: &BlobId, bytes: Bytes) -> io::Result<()> {
        match self {
            Self::Memory(all) => {
                all.lock().unwrap_or_else(PoisonError::into_inner).insert(blob.clone(), bytes);
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
            Self::Memory(all) => {
                let all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.get(blob).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
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
                blocking(move || {
                    let mut permissions = fs::metadata(&path)?.permissions();
                    permissions.set_readonly(true);
                    fs::set_permissions(&path, permissions)
                })
                .await
            }
        }
    }

    pub(super) async fn discard(&self, blob: &BlobId) -> io::Result<()> {
        match self {
            Self::Memory(all) => {
                all.lock().unwrap_or_else(PoisonError::into_inner).remove(blob);
                Ok(())
            }
            Self::Files(dir) => {
                let path = dir.join(file_name(blob));
                blocking(move || fs::remove_file(path)).await
            }
        }
    }
}

fn file_name(blob: &BlobId) -> String {
    format!("{blob}.pdf")
}

fn write_durably(dir: &Path, blob: &BlobId, bytes: &[u8]) -> io::Result<()> {
    let unfinished = dir.join(format!("{blob}.{UNFINISHED}"));
    let written = write_and_name(&unfinished, &dir.join(file_name(blob)), dir, bytes);
    if written.is_err() {
        // Best effort: the next start removes it too.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

fn write_and_name(unfinished: &Path, finished: &Path, dir: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(unfinished, bytes)?;
    fs::File::open(unfinished)?.sync_all()?;
    fs::rename(unfinished, finished)?;
    fs::File::open(dir)?.sync_all()
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
