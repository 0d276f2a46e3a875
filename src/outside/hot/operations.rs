//! Everything that can be done in an open folder, one line each: this process does it, or the folder's helper.

use std::io;
use std::path::{Path, PathBuf};

use super::opened::Opened;
use super::wire::{Wire, malformed, put_all, take_all};
use super::{Content, Hot, MoveWithText, SeenEntry, Stat, Way};

/// For each line a method of [`Hot`], and what the helper does when it is asked for it by name. Lists come last, behind
/// a semicolon, as slices.
macro_rules! operations {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(; $($list:ident: $item:ty),+)?) -> $answer:ty;)*) => {
        impl Hot {
            $(
                $(#[$doc])*
                pub fn $name(&self, $($arg: $type,)* $($($list: &[$item]),+)?) -> io::Result<$answer> {
                    match &self.way {
                        Way::Here(opened) => opened.$name($($arg,)* $($($list),+)?),
                        Way::Helper(helper) => helper.ask(stringify!($name), |_to| {
                            $($arg.put(_to);)*
                            $($(put_all($list, _to);)+)?
                        }),
                    }
                }
            )*
        }

        /// What the helper does with a folder it has open; the answer goes into `out`.
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
    /// What tells its directory from another; nothing where that may be another at each mount.
    fn directory() -> Option<String>;
    /// Whether the path still leads to the directory that was opened.
    fn is_still_there() -> bool;
    /// The folder's id.
    fn marker() -> Option<String>;
    /// Writes the marker anew; gives its file system's time. What comes after this is younger, unless that file
    /// system's clock goes in steps too long to wait for.
    fn mark(id: &str) -> i64;
    /// How far records were when they were worked with here; what is no text says nothing.
    fn epoch() -> Option<String>;
    fn keep_epoch(epoch: &str) -> ();
    /// Makes the moves of a run that was killed durable, where each thing is now before where it was: if anything is
    /// claimed, or was about to be moved to these paths, whatever is on the shelves, in their order, at these paths,
    /// and in the claims.
    fn make_last(; moved: &Path, shelves: &str) -> ();
    /// Makes the subfolders people see.
    fn furnish(; names: &str) -> ();
    /// Gives shelves that are there the rights they should have, as far as they are ours to give.
    fn share(; names: &str) -> ();

    /// Everything in the folder itself, or in a subfolder of it.
    fn list(subfolder: Option<&str>) -> Vec<SeenEntry>;
    /// What lies in a directory of the folder, one level deep.
    fn inside(name: &[u8]) -> Vec<SeenEntry>;
    /// Whether there is a directory of this name in the folder.
    fn is_directory(name: &str) -> bool;
    fn is_there(path: &Path) -> bool;
    /// The inode of what lies at a path, if anything does.
    fn inode_of(path: &Path) -> Option<u64>;
    /// The beginning and the end of a file where it was dropped.
    fn ends(name: &[u8]) -> (Vec<u8>, Vec<u8>);
    /// What lies before a place in a file where it was dropped.
    fn end_at(name: &[u8], at: u64) -> Vec<u8>;
    /// Reads a file where it was dropped; what is decided by that is decided again once it is claimed.
    fn peek(name: &[u8], largest: u64) -> Content;
    /// Reads a file in a subfolder of the folder.
    fn peek_in(subfolder: &str, name: &[u8], largest: u64) -> Content;
    /// Reads a file at a path in the folder.
    fn read_at(path: &Path, largest: u64) -> Content;
    /// Whether nobody but its owner could have written a file in a subfolder of the folder, which was seen so.
    fn is_its_owners_in(subfolder: &str, name: &[u8], seen: Stat) -> bool;

    fn claims() -> Vec<String>;
    /// Takes things out of people's reach under a claim's name: from the folder itself, or from a subfolder of it.
    /// Once this returns they are there for good.
    fn claim(claim: &str, subfolder: Option<&str>; names: &[u8]) -> ();
    /// Takes something back into a claim from a directory of the folder, under a name that must be free there.
    fn claim_from(claim: &str, dir: &Path, name: &[u8], to: &[u8]) -> ();
    /// What a claim holds; nothing, if it is not there.
    fn claimed(claim: &str) -> Vec<SeenEntry>;
    /// What a claimed directory holds.
    fn claimed_inside(claim: &str, name: &[u8]) -> Vec<SeenEntry>;
    /// The path of what was claimed under a name, by the claim's ULID, whatever its ending.
    fn find_claimed(ulid: &str, name: &[u8]) -> Option<PathBuf>;
    /// Reads a claimed file, if it is one and does not change meanwhile. `inside`: a claimed directory.
    fn read(claim: &str, inside: Option<&[u8]>, name: &[u8], largest: u64) -> Content;
    /// Whether nobody but its owner could have written a claimed file, which was seen so.
    fn is_claim_its_owners(claim: &str, name: &[u8], seen: Stat) -> bool;
    /// Gives what is claimed the name it was dropped with.
    fn rename_claimed(claim: &str, name: &[u8], to: &[u8]) -> ();
    fn rename_claim(from: &str, to: &str) -> ();
    /// Puts something back from a claim into the folder itself.
    fn put_back(claim: &str, name: &[u8]) -> ();
    /// Removes a claim that holds nothing any more.
    fn unclaim(claim: &str) -> ();

    /// Moves something between the folder's own directories; `to` must be free. Directories on the way are made.
    /// Both ends are durable once this returns.
    fn shelve(from: &Path, to: &Path) -> ();
    /// The same, with a text beside it, in the same directory: one sync is for both.
    fn shelve_told(one: MoveWithText<'_>) -> ();
    /// The same with several that lie in claims, in the same order: a directory is synced once for all of them.
    fn shelve_all(; all: MoveWithText<'_>) -> Vec<io::Result<()>>;
    /// What is left in a claim (a sidecar) is laid beside its original, named after it, and the claim is over.
    fn shelve_rest(ulid: &str, original: &Path) -> ();
    /// Writes a text where people read it: the old one or the new one is there, never half of one.
    fn write_text(path: &Path, text: &str) -> ();
    /// Writes a file that appears whole, under the first free name; nothing is ever replaced.
    fn write_new(path: &Path, bytes: &[u8]) -> PathBuf;
    /// Removes a file for good; it need not be there.
    fn remove(path: &Path) -> ();
    /// Removes a file, or a directory of files, as far as it has one of these hashes; the rest stays.
    fn remove_tree(path: &Path, largest: u64; hashes: &str) -> ();
}
