//! The shelves of a hot folder: originals, and the texts beside them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};
use std::thread;

use rustix::fs::{self, AtFlags, Mode, OFlags};

use super::marker::open_ours;
use super::moves::{End, claimed_path, claims_path, rename_new};
use super::opened::{Opened, list};
use super::rights::give_text;
use super::{MOVING, MoveStep, c};
use crate::domain::drop::{pdf_of, sidecar_ending};

/// The name under which a text is written before it is moved beside its original. Those that are written together
/// have numbers.
const PART: &str = "text.part";
/// The number of threads that sync texts which are written together.
const SYNCING: usize = 8;

/// Something to move, with the name and content of the text beside it.
#[derive(Debug, Clone, Copy)]
pub struct MoveWithText<'a> {
    pub from: &'a Path,
    pub to: &'a Path,
    pub text: (&'a [u8], &'a str),
}

impl Opened {
    /// Moves something between the folder's own directories. `to` must be free. Missing directories are
    /// created. Both ends are durable when this returns.
    pub(super) fn shelve(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_dir, from_name) = self.parent(from, false)?;
        let (to_dir, to_name) = self.parent(to, true)?;
        self.go(&MOVING, End::own(&from_dir), End::own(&to_dir), &|| {
            rename_new(&from_dir, &from_name, &to_dir, &to_name)
        })
    }

    /// Moves something together with a text beside it. Both are in the same directory, so one sync is enough.
    pub(super) fn shelve_with_text(&self, one: MoveWithText<'_>) -> io::Result<()> {
        let (from_dir, _) = self.parent(one.from, false)?;
        let (to_dir, _) = self.parent(one.to, true)?;
        self.go(&MOVING, End::own(&from_dir), End::own(&to_dir), &|| {
            let _turn = self.turn();
            self.write_part(PART, one.text.1)?.sync_all()?;
            self.rename_with_text(PART, &one)
        })
    }

    /// Moves several things out of claims, in their order, each with a text. Each directory is synced once
    /// for all of them, and the directory of the claims once for all claims that end.
    #[expect(clippy::unnecessary_wraps, reason = "a helper may not answer")]
    pub(super) fn shelve_all(&self, all: &[MoveWithText<'_>]) -> io::Result<Vec<io::Result<()>>> {
        let mut moved: Vec<io::Result<()>> = all.iter().map(|_| Ok(())).collect();
        for step in &MOVING {
            match step {
                // They are durable already.
                MoveStep::SyncClaims => {}
                MoveStep::Rename => moved = self.rename_all(all),
                MoveStep::SyncTo => {
                    let mut synced = BTreeMap::new();
                    each(all, &mut moved, |one| {
                        let sync = || Ok(fs::fsync(&self.parent(one.to, false)?.0)?);
                        let synced = synced.entry(one.to.parent()).or_insert_with(sync);
                        synced.as_ref().copied().map_err(same)
                    });
                }
                MoveStep::SyncFrom => {
                    each(all, &mut moved, |one| self.leave_claim(one.from));
                    if let Err(error) = self.sync_claims() {
                        each(all, &mut moved, |_| Err(same(&error)));
                    }
                }
            }
        }
        Ok(moved)
    }

    /// All texts are written before the first is synced, and synced at the same time: a file system with a journal
    /// then writes that once for several of them.
    fn rename_all(&self, all: &[MoveWithText<'_>]) -> Vec<io::Result<()>> {
        let _turn = self.turn();
        let parts: Vec<String> = (0..all.len()).map(part).collect();
        let write = |(one, part): (&MoveWithText<'_>, &String)| self.write_part(part, one.text.1);
        let texts: Vec<_> = all.iter().zip(&parts).map(write).collect();
        let synced = sync_all(&texts);
        drop(texts);
        let rename = |((one, part), synced): ((&MoveWithText<'_>, &String), io::Result<()>)| {
            let moved = synced.and_then(|()| self.rename_with_text(part, one));
            if moved.is_err() {
                // It contains names.
                let _ = fs::unlinkat(&self.ours, part.as_str(), AtFlags::empty());
            }
            moved
        };
        all.iter().zip(&parts).zip(synced).map(rename).collect()
    }

    fn rename_with_text(&self, part: &str, one: &MoveWithText<'_>) -> io::Result<()> {
        let (to_dir, to_name) = self.parent(one.to, true)?;
        let (text_name, _) = one.text;
        if fs::statat(&to_dir, c(text_name)?, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if is_claim_itself(one.from) {
            let from_name = one.from.file_name().unwrap_or_default().as_bytes();
            rename_new(&self.claims, from_name, &to_dir, &to_name)?;
        } else {
            let (from_dir, from_name) = self.parent(one.from, false)?;
            rename_new(&from_dir, &from_name, &to_dir, &to_name)?;
        }
        self.put_text(part, &to_dir, text_name)
    }

    /// Removes a claim that is empty now; the sync of all claims makes that durable. If it is not empty, it
    /// is synced itself. A file that was claimed alone had none.
    fn leave_claim(&self, from: &Path) -> io::Result<()> {
        if is_claim_itself(from) {
            return Ok(());
        }
        let claim = self.parent(from, false)?.0;
        let name = from.parent().and_then(Path::file_name).unwrap_or_default();
        match fs::unlinkat(&self.claims, name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(()),
            Err(_) => Ok(fs::fsync(&claim)?),
        }
    }

    pub(super) fn is_there(&self, path: &Path) -> io::Result<bool> {
        Ok(self.inode_of(path)?.is_some())
    }

    pub(super) fn inode_of(&self, path: &Path) -> io::Result<Option<u64>> {
        let (dir, name) = match self.parent(path, false) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        inode_in(&dir, &name)
    }

    pub(super) fn has_any(&self, dir: &Path, names: &[&[u8]]) -> io::Result<bool> {
        let dir = match self.parent(&dir.join("x"), false) {
            Ok((dir, _)) => dir,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        for name in names {
            if inode_in(&dir, name)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes a text for people. They see the old one or the new one, never a part.
    pub(super) fn write_text(&self, path: &Path, text: &str) -> io::Result<()> {
        let (dir, name) = self.parent(path, true)?;
        let _turn = self.turn();
        self.write_part(PART, text)?.sync_all()?;
        self.put_text(PART, &dir, &name)?;
        Ok(fs::fsync(&dir)?)
    }

    /// Two that write texts would write over each other's.
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_part(&self, part: &str, text: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let rights = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH;
        let mut file = open_ours(&self.ours, part, flags, rights)?;
        give_text(&self.dir, &file);
        file.write_all(text.as_bytes())?;
        Ok(file)
    }

    fn put_text(&self, part: &str, dir: &OwnedFd, name: &[u8]) -> io::Result<()> {
        Ok(fs::renameat(&self.ours, part, dir, c(name)?)?)
    }

    /// Removes texts that a killed run left half-written: they contain names.
    pub(super) fn remove_parts(&self) -> io::Result<()> {
        let _turn = self.turn();
        let is_part = |name: &[u8]| name.starts_with(b"text") && name.ends_with(b".part");
        for seen in list(&self.ours)?.into_iter().filter(|seen| is_part(&seen.name)) {
            // Where something else lies, no text can be written, and that is reported then.
            let _ = fs::unlinkat(&self.ours, c(&seen.name)?, AtFlags::empty());
        }
        Ok(())
    }

    /// Removes a file durably. It need not exist.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = match self.parent(path, false) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        match fs::unlinkat(&dir, c(&name)?, AtFlags::empty()) {
            // Another thread may have removed it, and not have synced that yet.
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(fs::fsync(&dir)?),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves what is left in a claim (a sidecar) beside its original and ends the claim. The sidecar is named
    /// after the original's name there, so that of several originals with one name each has its own sidecar. If the
    /// original is in the claim again, because a person has just moved it to `Approve` or `Cancel`, nothing is moved.
    pub(super) fn shelve_rest(&self, ulid: &str, original: &Path) -> io::Result<()> {
        let dir = original.parent().unwrap_or(Path::new(""));
        let shelved = original.file_name().unwrap_or_default().as_bytes();
        for claim in self.claims_of(ulid)? {
            let held = self.claimed(&claim)?;
            if held.iter().any(|seen| pdf_of(&seen.name).is_none()) {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "it has been taken up again"));
            }
            for seen in held {
                let from = claimed_path(&claim, &seen.name);
                let ending = sidecar_ending(&seen.name).unwrap_or_default();
                let name = [shelved, ending].concat();
                match self.shelve(&from, &dir.join(OsStr::from_bytes(&name))) {
                    // Another file is there, or the name is too long, so it gets a name of its own.
                    Err(error)
                        if matches!(
                            error.kind(),
                            io::ErrorKind::AlreadyExists | io::ErrorKind::InvalidFilename
                        ) =>
                    {
                        let other = [ulid.as_bytes(), ending].concat();
                        self.shelve(&from, &dir.join(OsStr::from_bytes(&other)))?;
                    }
                    moved => moved?,
                }
            }
            self.unclaim(&claim)?;
        }
        Ok(())
    }
}

/// Whether a path is a file that was claimed alone, without a directory of its own.
fn is_claim_itself(from: &Path) -> bool {
    from.parent() == Some(claims_path().as_path())
}

/// The inode of what lies in a directory under a name, if anything does.
fn inode_in(dir: &OwnedFd, name: &[u8]) -> io::Result<Option<u64>> {
    match fs::statat(dir, c(name)?, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat.st_ino)),
        // Another form of a name may be too long for the file system.
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NAMETOOLONG) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The name under which one of several texts is written.
fn part(n: usize) -> String {
    if n == 0 { PART.to_owned() } else { format!("text-{n}.part") }
}

/// Syncs files at the same time. What could not be opened stays an error.
fn sync_all(files: &[io::Result<File>]) -> Vec<io::Result<()>> {
    let sync = |file: &io::Result<File>| file.as_ref().map_err(same)?.sync_all();
    let sync_each = move |some: &[io::Result<File>]| some.iter().map(sync).collect::<Vec<_>>();
    let mut some = files.chunks(files.len().div_ceil(SYNCING).max(1));
    let here = some.next().unwrap_or_default();
    thread::scope(|scope| {
        let beside = |some| {
            let thread = thread::Builder::new().name("texts".to_owned());
            (some, thread.spawn_scoped(scope, move || sync_each(some)).ok())
        };
        let threads: Vec<_> = some.map(beside).collect();
        let mut synced = sync_each(here);
        for (some, thread) in threads {
            synced.extend(match thread {
                Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // There can be no other thread.
                None => sync_each(some),
            });
        }
        synced
    })
}

/// Continues with those that have succeeded so far.
fn each<'a>(
    all: &[MoveWithText<'a>],
    moved: &mut [io::Result<()>],
    mut go: impl FnMut(&MoveWithText<'a>) -> io::Result<()>,
) {
    for (one, moved) in all.iter().zip(moved).filter(|(_, moved)| moved.is_ok()) {
        *moved = go(one);
    }
}

/// The same error, for everybody who waited for the operation.
fn same(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}
