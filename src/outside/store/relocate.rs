//! Moves the records to another directory, while the daemon is stopped. At every moment at most one of the two may post.
//! | state | who may post |
//! |---|---|
//! | the new directory is being filled | the old one; the new one is a copy, and is refused as one |
//! | the old one is sealed | nobody: the same command continues |
//! | the new one is bound | the new one |
//! What is submitted meanwhile lies in the old spool before the seal and is taken along after it, or is
//! refused because of the seal.

use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rusqlite::TransactionBehavior;

use super::place::{self, Binding, Standing};
use super::{Desk, Home, StoreError, schema};
use crate::outside::spool::{Spool, own_like, private_directory, private_file, sync_directory};

/// Made anew where the records are.
const LEFT: [&str; 8] = [
    "lock",
    "bell",
    "mailchute.db",
    "mailchute.db-wal",
    "mailchute.db-shm",
    "search.db",
    "search.db-wal",
    "search.db-shm",
];

/// Moves the records. Returns where they are now. `progress` is called for each file.
pub fn relocate(from: &Path, to: &Path, progress: &dyn Fn(&Path)) -> Result<PathBuf, StoreError> {
    let old = Home::at(&fs::canonicalize(from)?);
    if !old.database().exists() {
        return Err(StoreError::Nothing(from.to_owned()));
    }
    let _lock = old.lock()?;
    let mut db = schema::connect(&old.database())?;
    let standing = place::standing(place::beside(&old)?, place::database(&db, &old)?);
    if let Standing::Copied(what) = standing {
        return Err(StoreError::Copied { dir: old.dir().to_owned(), what });
    }
    let new = Home::at(&fs::canonicalize(Home::make(to)?.dir())?);
    match standing {
        Standing::Moved(known) if known != new.dir() => {
            return Err(StoreError::Moved { from: old.dir().to_owned(), to: known });
        }
        Standing::Moved(_) if place::beside(&new)? == Binding::Matches && !new.being_filled().exists() => {
            return Ok(new.dir().to_owned());
        }
        // It was interrupted after the seal: the new directory is complete and must be bound, in both places.
        Standing::Moved(_) => {}
        Standing::Bound | Standing::Unbound | Standing::Copied(_) => {
            let sealing = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            fill(&old, &new, progress)?;
            place::seal(&sealing, &old, new.dir())?;
            sealing.commit()?;
        }
    }
    drop(db);
    let waiting = Spool::open(&old.spool())?;
    waiting.hand_over(&Spool::open(&new.spool())?, &|from, to| {
        progress(from);
        copy_file(from, to)
    })?;
    let mut db = schema::connect(&new.database())?;
    let binding = db.transaction()?;
    place::bind(&binding, &new)?;
    binding.commit()?;
    fs::remove_file(new.being_filled())?;
    sync_directory(new.dir())?;
    Ok(new.dir().to_owned())
}

/// Copies everything durably. A copy states what it was copied from, so it posts nothing.
fn fill(old: &Home, new: &Home, progress: &dyn Fn(&Path)) -> Result<(), StoreError> {
    let records = fs::read(old.name())?;
    let marker = new.being_filled();
    let there: Vec<_> = fs::read_dir(new.dir())?.collect::<io::Result<_>>()?;
    let is_ours = there.is_empty() || fs::read(&marker).is_ok_and(|theirs| theirs == records);
    if !is_ours || new.dir().starts_with(old.dir()) {
        // If it was created just now.
        drop(fs::remove_dir(new.dir()));
        return Err(StoreError::NoRoom(new.dir().to_owned()));
    }
    // What an interrupted attempt left.
    for entry in there.iter().filter(|entry| entry.path() != marker) {
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    own_like(new.dir(), old.dir())?;
    fs::write(&marker, records)?;
    own_like(&marker, old.dir())?;
    fs::File::open(&marker)?.sync_all()?;
    copy_directory(old.dir(), new.dir(), progress)?;
    progress(&old.database());
    private_file(&new.database())?;
    Desk::open(old.dir())?.copy_to(&new.database())?;
    own_like(&new.database(), &old.database())?;
    fs::File::open(new.database())?.sync_all()?;
    sync_directory(new.dir())?;
    Ok(new.dir().parent().map_or(Ok(()), sync_directory)?)
}

fn copy_directory(from: &Path, to: &Path, progress: &dyn Fn(&Path)) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        let is_left = LEFT.iter().any(|left| **left == *entry.file_name());
        // A command that submits a letter first writes it under such a name.
        let is_half = path.extension().is_some_and(|extension| extension == "part");
        if kind.is_dir() {
            private_directory(&target)?;
            own_like(&target, &path)?;
            copy_directory(&path, &target, progress)?;
        } else if kind.is_file() && !is_left && !is_half {
            progress(&path);
            copy_file(&path, &target)?;
        }
    }
    sync_directory(to)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    own_like(to, from)?;
    fs::File::open(to)?.sync_all()
}
