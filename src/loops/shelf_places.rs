//! Whose a place on a shelf is: a person may have taken an original from it, and another may have got it since.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::outside::hot::Hot;
use crate::outside::store::{Original, Store};

/// Whether another original has this path by now, or is just being moved there. A person took this one from there before.
pub(super) fn is_anothers(store: &Store, hot: &Hot, original: &Original, path: &[u8]) -> io::Result<bool> {
    if store.is_anothers(original, path).map_err(io::Error::other)? {
        return Ok(true);
    }
    // A move that is recorded as begun may have failed, so what lies there counts.
    let lies = hot.inode_of(Path::new(OsStr::from_bytes(path)))?;
    let is_its_own = lies.is_none() || lies == original.inode;
    Ok(!is_its_own && store.another_comes_to(original, path).map_err(io::Error::other)?)
}
