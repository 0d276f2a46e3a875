//! Where Japan Post's list of postal codes is, and the day it was made.

use std::path::PathBuf;

use chrono::{DateTime, NaiveDate};
use chrono_tz::Tz;

use crate::domain::address::PostalData;

/// The list has no date of its own, so its file's time of modification counts: unpacking an archive keeps it.
#[derive(Debug)]
pub struct PostalFile {
    pub file: PathBuf,
    pub(super) zone: Tz,
}

impl PostalFile {
    /// Reads the list as it is now. `Err` if it cannot be used.
    pub fn read(&self) -> Result<PostalData, String> {
        let modified = fs_err::metadata(&self.file).and_then(|stat| stat.modified());
        let modified = DateTime::<chrono::Utc>::from(modified.map_err(|error| error.to_string())?);
        let bytes = fs_err::read(&self.file).map_err(|error| error.to_string())?;
        self.parse(&bytes, modified.timestamp_nanos_opt().unwrap_or_default())
    }

    /// Parses its bytes. `modified` is in nanoseconds since 1970.
    pub fn parse(&self, bytes: &[u8], modified: i64) -> Result<PostalData, String> {
        let as_of: NaiveDate =
            DateTime::from_timestamp_nanos(modified).with_timezone(&self.zone).date_naive();
        PostalData::read(bytes, as_of).map_err(|why| format!("{}: {why}", self.file.display()))
    }
}
