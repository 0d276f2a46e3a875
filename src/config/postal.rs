//! Where Japan Post's list of postal codes is, and the day it was made.

use std::fs::File;
use std::io::{self, Read as _};
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
    /// Reads the list as it is now. `Err` says why it cannot be used, without naming it.
    pub fn read(&self) -> Result<PostalData, String> {
        let why = |error: io::Error| error.to_string();
        let mut file = File::open(&self.file).map_err(why)?;
        let modified = file.metadata().and_then(|stat| stat.modified()).map_err(why)?;
        let modified = DateTime::<chrono::Utc>::from(modified);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(why)?;
        self.parse(&bytes, modified.timestamp_nanos_opt().unwrap_or_default())
    }

    /// The same of its bytes. `modified` is in nanoseconds since 1970.
    pub fn parse(&self, bytes: &[u8], modified: i64) -> Result<PostalData, String> {
        let as_of: NaiveDate =
            DateTime::from_timestamp_nanos(modified).with_timezone(&self.zone).date_naive();
        PostalData::read(bytes, as_of)
    }
}
