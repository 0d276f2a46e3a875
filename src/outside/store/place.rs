//! Binds the records to their place, so that a copy of them is refused: only one set of records posts (I23).
//!
//! A file beside the ledger states its own identity (inode, birth time, file system, machine), and so does
//! the database for its own file. A copy states the identity of what it was copied from. The file beside the
//! ledger is made anew at each start, so old contents written over it in place are detected too.

mod file;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use rusqlite::{Connection, OptionalExtension as _};

pub use file::Elsewhere;
use file::{FileIdentity, moved, read};

use super::{Home, StoreError};
use crate::outside::spool::{own_like, private_file, sync_directory};

/// What is written down of a file, compared with the file itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    Missing,
    Matches,
    Differs(Elsewhere),
    /// The records were moved there for ever.
    Moved(PathBuf),
}

/// What may be done with records at this place.
#[derive(Debug, PartialEq, Eq)]
pub enum Standing {
    Bound,
    /// They were never bound to a place.
    Unbound,
    Copied(Elsewhere),
    Moved(PathBuf),
}

/// Decides by the file beside the ledger and by the database.
pub fn standing(beside: Binding, database: Binding) -> Standing {
    match (beside, database) {
        (Binding::Moved(to), _) | (_, Binding::Moved(to)) => Standing::Moved(to),
        // A database of these records may have been restored alone. The ledger has what it lacks.
        (
            Binding::Matches,
            Binding::Missing | Binding::Matches | Binding::Differs(Elsewhere::Copy | Elsewhere::Unreadable),
        )
        // The ledger is lost or damaged, and the database is not.
        | (Binding::Missing | Binding::Differs(Elsewhere::Unreadable), Binding::Matches) => Standing::Bound,
        (Binding::Missing, Binding::Missing) => Standing::Unbound,
        (Binding::Differs(what), _) | (_, Binding::Differs(what)) => Standing::Copied(what),
    }
}

fn held_against(text: &str, file: &Path) -> io::Result<Binding> {
    Ok(match read(text) {
        None => Binding::Differs(Elsewhere::Unreadable),
        Some(Err(to)) => Binding::Moved(to),
        Some(Ok(known)) => known.differs(&FileIdentity::of(file)?).map_or(Binding::Matches, Binding::Differs),
    })
}

/// What the file beside the ledger says.
pub(super) fn beside(home: &Home) -> io::Result<Binding> {
    match fs::read(home.place()) {
        Ok(bytes) => held_against(&String::from_utf8_lossy(&bytes), &home.place()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Binding::Missing),
        Err(error) => Err(error),
    }
}

/// What the database says of its own file.
pub(super) fn database(db: &Connection, home: &Home) -> Result<Binding, StoreError> {
    let said = |key: &str| -> rusqlite::Result<Option<String>> {
        db.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
    };
    if let Some(text) = said("place")? {
        return Ok(held_against(&text, &home.database())?);
    }
    // Earlier versions stored only the machine.
    let machine = said("machine")?.filter(|machine| !machine.is_empty());
    let known = FileIdentity::on(machine);
    let now = FileIdentity::of(&home.database())?;
    Ok(known.differs(&now).map_or(Binding::Missing, Binding::Differs))
}

/// Binds these records to this place. The file beside the ledger is durable before the database names it.
pub(super) fn bind(db: &Connection, home: &Home) -> Result<(), StoreError> {
    match write_beside(home, |new| Ok(FileIdentity::of(new)?.to_string())) {
        // The file of an earlier start is still valid.
        Err(error) if error.kind() == io::ErrorKind::StorageFull && home.place().exists() => {}
        written => written?,
    }
    say(db, &FileIdentity::of(&home.database())?.to_string())
}

/// These records were moved, and never post from here again.
pub(super) fn seal(db: &Connection, home: &Home, to: &Path) -> Result<(), StoreError> {
    write_beside(home, |_| Ok(moved(to)))?;
    say(db, &moved(to))
}

fn write_beside(home: &Home, text: impl FnOnce(&Path) -> io::Result<String>) -> io::Result<()> {
    let new = home.place().with_extension("new");
    let mut file = private_file(&new)?;
    file.set_len(0)?;
    file.write_all(text(&new)?.as_bytes())?;
    file.sync_all()?;
    own_like(&new, &home.ledger())?;
    fs::rename(&new, home.place())?;
    sync_directory(&home.ledger())
}

fn say(db: &Connection, text: &str) -> Result<(), StoreError> {
    let sql = "INSERT INTO meta VALUES ('place', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1";
    db.execute(sql, [text])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_done_with_records_that_stand_somewhere() {
        use Elsewhere::{Copy, Disk, Machine, Unreadable};
        let to = || PathBuf::from("/new");
        let places = [
            Binding::Missing,
            Binding::Matches,
            Binding::Differs(Machine),
            Binding::Differs(Disk),
            Binding::Differs(Copy),
            Binding::Differs(Unreadable),
            Binding::Moved(to()),
        ];
        for beside in &places {
            for database in &places {
                let is_there = |found: &Binding| matches!(found, Binding::Differs(Machine | Disk));
                let expected = match (beside, database) {
                    (Binding::Moved(_), _) | (_, Binding::Moved(_)) => Standing::Moved(to()),
                    (Binding::Missing, Binding::Missing) => Standing::Unbound,
                    (Binding::Matches, found) if !is_there(found) => Standing::Bound,
                    (Binding::Missing | Binding::Differs(Unreadable), Binding::Matches) => Standing::Bound,
                    (Binding::Differs(what), _) | (_, Binding::Differs(what)) => Standing::Copied(*what),
                    (found, _) => panic!("{found:?}"),
                };
                let found = standing(beside.clone(), database.clone());
                assert_eq!(found, expected, "{beside:?}, {database:?}");
            }
        }
    }

    #[test]
    fn a_copy_a_second_name_in_place_and_a_move_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (dir.path().join("one"), dir.path().join("other"));
        std::fs::write(&one, "x").unwrap();
        let place = FileIdentity::of(&one).unwrap();
        let text = place.to_string();
        assert_eq!(read(&text), Some(Ok(place.clone())));
        assert_eq!(held_against(&text, &one).unwrap(), Binding::Matches);
        std::fs::copy(&one, &other).unwrap();
        assert_eq!(held_against(&text, &other).unwrap(), Binding::Differs(Elsewhere::Copy));
        std::fs::rename(&one, &other).unwrap();
        assert_eq!(held_against(&text, &other).unwrap(), Binding::Matches);
    }
}
