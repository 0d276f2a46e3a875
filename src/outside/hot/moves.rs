//! Moves things into the claims and back.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, Mode, RenameFlags};

use super::claim_name::{claim_of_file, file_in};
use super::opened::{Opened, entry, list, our_dir, seen};
use super::rights::give_shelf;
use super::{
    CLAIM, CLAIMING, CLAIMING_ALONE, MOVING, MoveStep, OURS, SeenEntry, WAS_THERE, c, kind, open_dir,
};
use crate::base::sync::Syncs;
use crate::domain::drop::{Kind, pdf_of};
use crate::outside::spool::Ulid;

/// A directory at one end of a move.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) dir: &'a OwnedFd,
    /// Its syncs, if other threads move things there at the same time.
    syncs: Option<&'a Syncs>,
}

impl<'a> End<'a> {
    pub(super) fn own(dir: &'a OwnedFd) -> Self {
        Self { dir, syncs: None }
    }

    fn sync(self) -> io::Result<()> {
        let sync = || Ok(fs::fsync(self.dir)?);
        self.syncs.map_or_else(sync, |syncs| syncs.sync(sync))
    }
}

impl Opened {
    fn folder_end(&self) -> End<'_> {
        End { dir: &self.dir, syncs: Some(&self.folder_syncs) }
    }

    fn claims_end(&self) -> End<'_> {
        End { dir: &self.claims, syncs: Some(&self.claims_syncs) }
    }

    /// Moves things from the folder itself, or from a subfolder, into a claim, where people cannot reach
    /// them. The move is durable when this returns.
    pub(super) fn claim(&self, claim: &str, subfolder: Option<&str>, names: &[&[u8]]) -> io::Result<()> {
        if let (Some(alone), None, [name]) = (file_in(claim), subfolder, names)
            && alone.as_bytes() == *name
        {
            let rename = || rename_new(&self.dir, name, &self.claims, claim.as_bytes());
            return self.go(&CLAIMING_ALONE, self.folder_end(), self.claims_end(), &rename);
        }
        let place = self.claim_dir(claim, true)?;
        let other;
        let from = match subfolder {
            None => self.folder_end(),
            Some(name) => {
                other = open_dir(&self.dir, name.as_bytes())?;
                End::own(&other)
            }
        };
        let rename = || names.iter().try_for_each(|name| rename_new(from.dir, name, &place, name));
        self.go(&CLAIMING, from, End::own(&place), &rename)
    }

    /// Claims files that were dropped alone, of which each claim has the name. All moves are durable when this
    /// returns.
    pub(super) fn claim_all(&self, claims: &[&str]) -> io::Result<Vec<io::Result<()>>> {
        let renamed = RefCell::new(Vec::new());
        let rename = |claim: &&str| {
            let name = file_in(claim).ok_or(io::ErrorKind::InvalidInput)?;
            rename_new(&self.dir, name.as_bytes(), &self.claims, claim.as_bytes())
        };
        let rename_all = || {
            renamed.replace(claims.iter().map(rename).collect());
            Ok(())
        };
        self.go(&CLAIMING_ALONE, self.folder_end(), self.claims_end(), &rename_all)?;
        Ok(renamed.into_inner())
    }

    /// Moves things in the steps of an order.
    pub(super) fn go(
        &self,
        order: &[MoveStep],
        from: End<'_>,
        to: End<'_>,
        rename: &dyn Fn() -> io::Result<()>,
    ) -> io::Result<()> {
        for step in order {
            match step {
                MoveStep::SyncClaims => self.claims_end().sync()?,
                MoveStep::Rename => rename()?,
                MoveStep::SyncTo => to.sync()?,
                MoveStep::SyncFrom => from.sync()?,
            }
        }
        Ok(())
    }

    /// Makes the moves of a killed run durable, the new place before the old one. If anything is claimed, or
    /// was about to be moved to these paths, it syncs the shelves in their order, these paths, and the
    /// claims.
    pub(super) fn make_moves_durable(&self, moved: &[&Path], shelves: &[&str]) -> io::Result<()> {
        let claims = self.claims()?;
        if claims.is_empty() && moved.is_empty() {
            return Ok(());
        }
        let mut dirs: Vec<PathBuf> = Vec::new();
        for shelf in shelves {
            let inside = match self.list(Some(shelf)) {
                Ok(inside) => inside.into_iter().filter(|seen| kind(&seen.stat) == Some(Kind::Directory)),
                // It is created later.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            dirs.extend(inside.map(|seen| Path::new(shelf).join(OsStr::from_bytes(&seen.name))));
            dirs.push(PathBuf::from(shelf));
        }
        let moved: BTreeSet<&Path> = moved.iter().filter_map(|path| path.parent()).collect();
        dirs.extend(moved.into_iter().map(Path::to_owned));
        for dir in dirs {
            match self.parent(&dir.join("x"), false) {
                Ok((dir, _)) => fs::fsync(&dir)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        for claim in claims.iter().filter(|claim| file_in(claim).is_none()) {
            fs::fsync(&self.claim_dir(claim, false)?)?;
        }
        // The end of a claim is recorded there, and so is a file that was claimed alone.
        fs::fsync(&self.claims)?;
        Ok(fs::fsync(&self.dir)?)
    }

    /// Moves something from a directory of the folder back into a claim. The name must be free there.
    pub(super) fn claim_from(&self, claim: &str, dir: &Path, name: &[u8], to: &[u8]) -> io::Result<()> {
        let place = self.claim_dir(claim, true)?;
        let (from, _) = self.parent(&dir.join("x"), false)?;
        self.go(&CLAIMING, End::own(&from), End::own(&place), &|| rename_new(&from, name, &place, to))
    }

    /// Gives a claimed thing the name under which it was dropped.
    pub(super) fn rename_claimed(&self, claim: &str, name: &[u8], to: &[u8]) -> io::Result<()> {
        if name == to {
            return Ok(());
        }
        let place = self.claim_dir(claim, false)?;
        rename_new(&place, name, &place, to)?;
        Ok(fs::fsync(&place)?)
    }

    /// The path of what was claimed under a name, by the claim's ULID, with any ending.
    pub(super) fn find_claimed(&self, ulid: &str, name: &[u8]) -> io::Result<Option<PathBuf>> {
        let alone = ulid.parse::<Ulid>().ok().and_then(|ulid| claim_of_file(&ulid, name));
        if let Some(claim) = alone {
            match self.has_claim(&claim) {
                Ok(true) => return Ok(Some(claims_path().join(claim))),
                Ok(false) => {}
                // The file system has less room for names, so it was claimed into a directory.
                Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {}
                Err(error) => return Err(error),
            }
        }
        for claim in self.claims_of(ulid)? {
            let held = self.claimed(&claim)?;
            // On a shelf it may have another name.
            let other = || held.iter().find(|seen| pdf_of(&seen.name).is_none());
            if let Some(seen) = held.iter().find(|seen| seen.name == name).or_else(other) {
                return Ok(Some(claimed_path(&claim, &seen.name)));
            }
        }
        Ok(None)
    }

    pub(super) fn claims_of(&self, ulid: &str) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for claim in [ulid.to_owned(), format!("{ulid}{WAS_THERE}")] {
            if self.has_claim(&claim)? {
                found.push(claim);
            }
        }
        Ok(found)
    }

    fn has_claim(&self, claim: &str) -> io::Result<bool> {
        match fs::statat(&self.claims, claim, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Does something with a claimed thing: in its directory, under its name there.
    pub(super) fn with_claimed<T>(
        &self,
        claim: &str,
        name: &[u8],
        go: impl FnOnce(&OwnedFd, &[u8]) -> io::Result<T>,
    ) -> io::Result<T> {
        if file_in(claim).is_some() {
            return go(&self.claims, claim.as_bytes());
        }
        go(&self.claim_dir(claim, false)?, name)
    }

    pub(super) fn claim_dir(&self, claim: &str, make: bool) -> io::Result<OwnedFd> {
        if make { our_dir(&self.claims, claim) } else { open_dir(&self.claims, claim.as_bytes()) }
    }

    /// Gives a claim the name of a directory. A file that was claimed alone is put into one.
    pub(super) fn rename_claim(&self, from: &str, to: &str) -> io::Result<()> {
        if let Some(name) = file_in(from) {
            let place = self.claim_dir(to, true)?;
            let rename = || rename_new(&self.claims, from.as_bytes(), &place, name.as_bytes());
            return self.go(&CLAIMING, self.claims_end(), End::own(&place), &rename);
        }
        rename_new(&self.claims, from.as_bytes(), &self.claims, to.as_bytes())?;
        self.sync_claims()
    }

    /// The content of a claim. Empty if it does not exist.
    pub(super) fn claimed(&self, claim: &str) -> io::Result<Vec<SeenEntry>> {
        if let Some(name) = file_in(claim) {
            if !self.has_claim(claim)? {
                return Ok(Vec::new());
            }
            let alone = entry(&self.claims, c(claim.as_bytes())?);
            let alone = alone.ok_or_else(|| io::Error::other("it can't be looked at"))?;
            return Ok(vec![SeenEntry { name: name.into(), ..alone }]);
        }
        match self.claim_dir(claim, false) {
            Ok(dir) => seen(fs::Dir::new(dir)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The content of a claimed directory.
    pub(super) fn claimed_inside(&self, claim: &str, name: &[u8]) -> io::Result<Vec<SeenEntry>> {
        self.with_claimed(claim, name, |dir, name| list(&open_dir(dir, name)?))
    }

    /// Removes an empty claim.
    pub(super) fn unclaim(&self, claim: &str) -> io::Result<()> {
        if file_in(claim).is_some() {
            return Ok(());
        }
        match fs::unlinkat(&self.claims, claim, AtFlags::REMOVEDIR) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves something from a claim back into the folder itself.
    pub(super) fn put_back(&self, claim: &str, name: &[u8]) -> io::Result<()> {
        self.with_claimed(claim, name, |from, claimed| {
            let from_end = if file_in(claim).is_some() { self.claims_end() } else { End::own(from) };
            self.go(&MOVING, from_end, self.folder_end(), &|| rename_new(from, claimed, &self.dir, name))
        })
    }

    /// The directory of a path within the folder, and the path's last part.
    pub(super) fn parent(&self, path: &Path, make: bool) -> io::Result<(OwnedFd, Vec<u8>)> {
        let mut parts: Vec<&[u8]> = path.iter().map(OsStrExt::as_bytes).collect();
        let name = parts.pop().ok_or_else(|| io::Error::other("a path without a name"))?;
        let mut dir = self.dir.try_clone()?;
        for part in parts {
            dir = match open_dir(&dir, part) {
                Err(error) if make && error.kind() == io::ErrorKind::NotFound => {
                    make_dir(&dir, part)?;
                    open_dir(&dir, part)?
                }
                opened => opened?,
            };
        }
        Ok((dir, name.to_vec()))
    }

    /// Creates the subfolders that people see. What a killed run was about to put there is removed.
    pub(super) fn make_shelves(&self, names: &[&str]) -> io::Result<()> {
        self.remove_parts()?;
        for name in names {
            drop(self.parent(&Path::new(name).join("x"), true)?);
        }
        Ok(())
    }
}

/// The path of the claims within the folder.
pub(super) fn claims_path() -> PathBuf {
    Path::new(OURS).join(CLAIM)
}

/// The path of a claimed thing within the folder.
pub(super) fn claimed_path(claim: &str, name: &[u8]) -> PathBuf {
    let claims = claims_path().join(claim);
    if file_in(claim).is_some() { claims } else { claims.join(OsStr::from_bytes(name)) }
}

/// Creates a durable directory for people. Another process may create it at the same time.
fn make_dir(at: &OwnedFd, name: &[u8]) -> io::Result<()> {
    let rights = Mode::RWXU | Mode::RWXG | Mode::ROTH | Mode::XOTH;
    match fs::mkdirat(at, c(name)?, rights) {
        Ok(()) => {
            // What cannot be set is reported by `doctor`.
            drop(give_shelf(at, open_dir(at, name)?));
            Ok(fs::fsync(at)?)
        }
        Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Renames without replacing anything. A rename over a network may report an error although it worked.
pub(super) fn rename_new(from: &OwnedFd, name: &[u8], to: &OwnedFd, as_name: &[u8]) -> io::Result<()> {
    let (name, as_name) = (c(name)?, c(as_name)?);
    let there = |dir: &OwnedFd, name: &CString| fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    let renamed = match fs::renameat_with(from, &name, to, &as_name, RenameFlags::NOREPLACE) {
        // Not every network file system supports the flag.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if !there(to, &as_name) => {
            fs::renameat(from, &name, to, &as_name)
        }
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => Err(rustix::io::Errno::EXIST),
        renamed => renamed,
    };
    match renamed {
        Ok(()) => Ok(()),
        Err(error) if error != rustix::io::Errno::EXIST && !there(from, &name) && there(to, &as_name) => {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_whose_answer_was_lost_counts_as_done_and_nothing_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let open = OwnedFd::from(std::fs::File::open(dir.path()).unwrap());
        let write = |name: &str| std::fs::write(dir.path().join(name), name).unwrap();
        write("b");
        assert!(rename_new(&open, b"a", &open, b"b").is_ok(), "it is where it should be");
        write("a");
        let error = rename_new(&open, b"a", &open, b"b").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(dir.path().join("b")).unwrap(), "b");
        let error = rename_new(&open, b"c", &open, b"d").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "it is nowhere");
    }
}
