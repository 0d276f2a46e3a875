//! Everything that can be done in an open folder, one line each. This process or the folder's helper does it.

use std::io;
use std::path::{Path, PathBuf};

use super::opened::Opened;
use super::wire::{Wire, malformed, put_all, take_all};
use super::{Caller, Content, Hot, MoveWithText, SeenEntry, Stat};

/// Makes a method of [`Hot`] from each line, and what the helper does when it is called by that name. Lists
/// come last, after a semicolon, as slices.
macro_rules! operations {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(; $($list:ident: $item:ty),+)?) -> $answer:ty;)*) => {
        impl Hot {
            $(
                $(#[$doc])*
                pub fn $name(&self, $($arg: $type,)* $($($list: &[$item]),+)?) -> io::Result<$answer> {
                    match &self.way {
                        Caller::Here(opened) => opened.$name($($arg,)* $($($list),+)?),
                        Caller::Helper(helper) => helper.ask(stringify!($name), |_to| {
                            $($arg.put(_to);)*
                            $($(put_all($list, _to);)+)?
                        }),
                    }
                }
            )*
        }

        /// What the helper does with its open folder. The answer goes into `out`.
        pub(super) fn perform(opened: &Opened, name: &str, _from: &mut &[u8], out: &mut Vec<u8>) -> io::Result<()> {
            match name {
                $(stringify!($name) => {
                    $(let $arg: $type = Wire::take(_from)?;)*
                    $($(let $list: Vec<$item> = take_all(_from)?;)+)?
                    opened.$name($($arg,)* $($(&$list),+)?).put(out);
                })*
                _ => return Err(malformed()),
            }
            Ok(())
        }
    };
}

operations! {
    /// The identity of the directory. `None` where it may differ after each mount.
    fn directory() -> Option<String>;
    /// Whether the path still leads to the directory that was opened.
    fn is_still_there() -> bool;
    /// The text of the folder's marker.
    fn marker() -> Option<String>;
    /// Writes a new marker. Returns its time by the file system's clock. Whatever comes later is younger,
    /// unless that clock's steps are too long to wait for.
    fn mark(id: &str) -> i64;
    /// The highest fact number seen here for each set of records. Content that is not text counts as nothing.
    fn epoch() -> Option<String>;
    fn keep_epoch(epoch: &str) -> ();
    /// Makes the moves of a killed run durable, the new place before the old one. If anything is claimed, or
    /// was about to be moved to these paths, it syncs the shelves in their order, these paths, and the
    /// claims.
    fn make_moves_durable(; moved: &Path, shelves: &str) -> ();
    /// Creates the subfolders that people see. What a killed run was about to put there is removed.
    fn make_shelves(; names: &str) -> ();
    /// Gives existing shelves the permissions they should have, as far as we may.
    fn share(; names: &str) -> ();

    /// The content of the folder itself, or of a subfolder.
    fn list(subfolder: Option<&str>) -> Vec<SeenEntry>;
    /// The content of a directory at a path in the folder.
    fn list_at(path: &Path) -> Vec<SeenEntry>;
    /// The content of a directory of the folder, one level deep.
    fn inside(name: &[u8]) -> Vec<SeenEntry>;
    /// Whether the folder has a directory of this name.
    fn is_directory(name: &str) -> bool;
    fn is_there(path: &Path) -> bool;
    /// Whether something lies in a directory of the folder under one of these names.
    fn has_any(dir: &Path; names: &[u8]) -> bool;
    /// The inode of what lies at a path, if anything does.
    fn inode_of(path: &Path) -> Option<u64>;
    /// The beginning and the end of a file where it was dropped.
    fn ends(name: &[u8]) -> (Vec<u8>, Vec<u8>);
    /// The bytes before an offset of a file where it was dropped.
    fn end_at(name: &[u8], at: u64) -> Vec<u8>;
    /// Reads a file where it was dropped. Whatever is decided by this is decided again after the claim.
    fn peek(name: &[u8], largest: u64) -> Content;
    /// Reads a file in a subfolder of the folder.
    fn peek_in(subfolder: &str, name: &[u8], largest: u64) -> Content;
    /// Reads a file at a path in the folder.
    fn read_at(path: &Path, largest: u64) -> Content;
    /// Whether nobody but its owner could have written a file in a subfolder. `seen` is its stat when it was
    /// read.
    fn is_its_owners_in(subfolder: &str, name: &[u8], seen: Stat) -> bool;

    fn claims() -> Vec<String>;
    /// Moves things from the folder itself, or from a subfolder, into a claim, where people cannot reach
    /// them. The move is durable when this returns.
    fn claim(claim: &str, subfolder: Option<&str>; names: &[u8]) -> ();
    /// Claims files that were dropped alone; the name of each is in its claim's. Both directories are synced once
    /// for all of them.
    fn claim_all(; claims: &str) -> Vec<io::Result<()>>;
    /// Writes a part of what will be a claim. `anew` says that it is the first one: what a crash left is
    /// removed.
    fn lay(claim: &str, anew: bool, subfolder: Option<&[u8]>, name: &[u8], bytes: &[u8]) -> ();
    /// What was laid appears as a claim, durably. A claim of that name that exists already stays as it is.
    fn end_lay(claim: &str) -> ();
    /// Moves something from a directory of the folder back into a claim. The name must be free there.
    fn claim_from(claim: &str, dir: &Path, name: &[u8], to: &[u8]) -> ();
    /// The content of a claim. Empty if it does not exist.
    fn claimed(claim: &str) -> Vec<SeenEntry>;
    /// The content of a claimed directory.
    fn claimed_inside(claim: &str, name: &[u8]) -> Vec<SeenEntry>;
    /// The path of what was claimed under a name, by the claim's ULID, with any ending.
    fn find_claimed(ulid: &str, name: &[u8]) -> Option<PathBuf>;
    /// Reads a claimed file. It must be a regular file and must not change meanwhile. `inside` is a claimed
    /// directory.
    fn read(claim: &str, inside: Option<&[u8]>, name: &[u8], largest: u64) -> Content;
    /// Whether nobody but its owner could have written a claimed file. `seen` is its stat when it was read.
    fn is_claim_its_owners(claim: &str, name: &[u8], seen: Stat) -> bool;
    /// Gives a claimed thing the name under which it was dropped.
    fn rename_claimed(claim: &str, name: &[u8], to: &[u8]) -> ();
    fn rename_claim(from: &str, to: &str) -> ();
    /// Moves something from a claim back into the folder itself.
    fn put_back(claim: &str, name: &[u8]) -> ();
    /// Removes an empty claim.
    fn unclaim(claim: &str) -> ();

    /// Moves something between the folder's own directories. `to` must be free. Missing directories are
    /// created. Both ends are durable when this returns.
    fn shelve(from: &Path, to: &Path) -> ();
    /// Moves something together with a text beside it. Both are in the same directory, so one sync is enough.
    fn shelve_with_text(one: MoveWithText<'_>) -> ();
    /// Moves several things out of claims, in their order, each with a text. Each directory is synced once
    /// for all of them.
    fn shelve_all(; all: MoveWithText<'_>) -> Vec<io::Result<()>>;
    /// Moves what is left in a claim (a sidecar) beside its original, under the original's name, and ends the
    /// claim.
    fn shelve_rest(ulid: &str, original: &Path) -> ();
    /// Writes a text for people. They see the old one or the new one, never a part.
    fn write_text(path: &Path, text: &str) -> ();
    /// Writes a file that appears complete, under the first free name. Nothing is ever replaced.
    fn write_new(path: &Path, bytes: &[u8]) -> PathBuf;
    /// Removes a file durably. It need not exist.
    fn remove(path: &Path) -> ();
    /// Removes a file, or the files of a directory, if its hash is one of these. Everything else stays.
    fn remove_tree(path: &Path, largest: u64; hashes: &str) -> ();
}
