//! The end of a file of the spool: what the documents before it are, as JSON, then its length.

use std::os::unix::fs::FileExt as _;

use fs_err as fs;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::entry::EntryError;

/// The number of bytes that state the length.
const LENGTH: usize = 8;
const LONGEST: u64 = 1 << 20;

pub(super) fn of(last: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut ending = serde_json::to_vec_pretty(last)?;
    let length = ending.len() as u64;
    ending.extend(length.to_be_bytes());
    Ok(ending)
}

pub(super) fn read<T: DeserializeOwned>(file: &fs::File) -> Result<T, EntryError> {
    let end = file.metadata()?.len().checked_sub(LENGTH as u64).ok_or(EntryError::NoOrder)?;
    let mut length = [0; LENGTH];
    file.file().read_exact_at(&mut length, end)?;
    let length = u64::from_be_bytes(length);
    let begin = end.checked_sub(length).filter(|_| length <= LONGEST);
    let begin = begin.ok_or(EntryError::NoOrder)?;
    let mut json = vec![0; usize::try_from(length).unwrap_or_default()];
    file.file().read_exact_at(&mut json, begin)?;
    Ok(serde_json::from_slice(&json)?)
}
