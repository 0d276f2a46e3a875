//! Moves things into the claims and back.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, Mode, RenameFlags};

use super::opened::{Opened, list, our_dir, seen};
use super::rights::give_shelf;
use super::{CLAIM, CLAIMING, MOVING, MoveStep, OURS, SeenEntry, WAS_THERE, c, kind, open_dir};
use crate::domain::drop::{Kind, pdf_of};

impl Opened {
    /// Moves things from the folder itself, or from a subfolder, into a claim, where people cannot reach
    /// them. The move is durable when this returns.
    pub(super) fn claim(&self, claim: &str, subfolder: Option<&str>, names: &[&[u8]]) -> io::Result<()> {
        let place = self.claim_dir(claim, true)?;
        let from = match subfolder {
            None => self.dir.try_clone()?,
            Some(name) => open_dir(&self.dir, name.as_bytes())?,
        };
        let rename = || names.iter().try_for_each(|name| rename_new(&from, name, &place, name));
        self.go(&CLAIMING, &from, &place, subfolder.is_none(), &rename)
    }

    /// Moves things in the steps of an order.
    pub(super) fn go(
        &self,
        order: &[MoveStep],
        from: &OwnedFd,
        to: &OwnedFd,
        from_folder: bool,
        rename: &dyn Fn() -> io::Result<()>,
    ) -> io::Result<()> {
        for step in order {
            match step {
                MoveStep::SyncClaims => self.sync_claims()?,
                MoveStep::Rename => rename()?,
                MoveStep::SyncTo => fs::fsync(to)?,
                // Other threads take things out of the folder itself at the same time.
                MoveStep::SyncFrom if from_folder => self.sync_folder()?,
                MoveStep::SyncFrom => fs::fsync(from)?,
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
        for claim in &claims {
            fs::fsync(&self.claim_dir(claim, false)?)?;
        }
        // The end of a claim is recorded there.
        fs::fsync(&self.claims)?;
        Ok(fs::fsync(&self.dir)?)
    }

    /// Moves something from a directory of the folder back into a claim. The name must be free there.
    pub(super) fn claim_from(&self, claim: &str, dir: &Path, name: &[u8], to: &[u8]) -> io::Result<()> {
        let place = self.claim_dir(claim, true)?;
        let (from, _) = self.parent(&dir.join("x"), false)?;
        self.go(&CLAIMING, &from, &place, false, &|| rename_new(&from, name, &place, to))
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
        for claim in self.claims_of(ulid)? {
            let held = self.claimed(&claim)?;
            // On a shelf it may have another name.
            let other = || held.iter().find(|seen| pdf_of(&seen.name).is_none());
            if let Some(seen) = held.iter().find(|seen| seen.name == name).or_else(other) {
                return Ok(Some(claims_path().join(claim).join(OsStr::from_bytes(&seen.name))));
            }
        }
        Ok(None)
    }

    pub(super) fn claims_of(&self, ulid: &str) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for claim in [ulid.to_owned(), format!("{ulid}{WAS_THERE}")] {
            match fs::statat(&self.claims, claim.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => found.push(claim),
                Err(rustix::io::Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(found)
    }

    pub(super) fn claim_dir(&self, claim: &str, make: bool) -> io::Result<OwnedFd> {
        if make { our_dir(&self.claims, claim) } else { open_dir(&self.claims, claim.as_bytes()) }
    }

    pub(super) fn rename_claim(&self, from: &str, to: &str) -> io::Result<()> {
        rename_new(&self.claims, from.as_bytes(), &self.claims, to.as_bytes())?;
        Ok(fs::fsync(&self.claims)?)
    }

    /// The content of a claim. Empty if it does not exist.
    pub(super) fn claimed(&self, claim: &str) -> io::Result<Vec<SeenEntry>> {
        match self.claim_dir(claim, false) {
            Ok(dir) => seen(fs::Dir::new(dir)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The content of a claimed directory.
    pub(super) fn claimed_inside(&self, claim: &str, name: &[u8]) -> io::Result<Vec<SeenEntry>> {
        list(&open_dir(self.claim_dir(claim, false)?, name)?)
    }

    /// Removes an empty claim.
    pub(super) fn unclaim(&self, claim: &str) -> io::Result<()> {
        match fs::unlinkat(&self.claims, claim, AtFlags::REMOVEDIR) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves something from a claim back into the folder itself.
    pub(super) fn put_back(&self, claim: &str, name: &[u8]) -> io::Result<()> {
        let from = self.claim_dir(claim, false)?;
        self.go(&MOVING, &from, &self.dir, false, &|| rename_new(&from, name, &self.dir, name))
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

    /// Creates the subfolders that people see.
    pub(super) fn make_shelves(&self, names: &[&str]) -> io::Result<()> {
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
