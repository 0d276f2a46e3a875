//! Whether somebody was written to before.

use rusqlite::{Connection, params};

use super::{Desk, Store, StoreError};
use crate::domain::address::{Address, Receiver, fold};

/// The newest letters of a folder that are looked at.
const LATEST: i64 = 10_000;

impl Store {
    /// Whether one of the folder's latest letters to this receiver at this address was posted.
    pub fn has_written_to(&self, folder: &str, receiver: &Receiver) -> Result<bool, StoreError> {
        has_written_to(&self.reader(), folder, &receiver.address)
    }
}

impl Desk {
    /// The same, without the daemon.
    pub fn has_written_to(&self, folder: &str, receiver: &Receiver) -> Result<bool, StoreError> {
        has_written_to(self.db(), folder, &receiver.address)
    }
}

fn has_written_to(db: &Connection, folder: &str, sought: &Address) -> Result<bool, StoreError> {
    let sql = "SELECT json_extract(line, '$.fact.admitted.order.receiver.address') FROM fact
               JOIN (SELECT number FROM letter WHERE source = ?1 AND state IN ('confirmed', 'shipped')
                     ORDER BY admitted_at DESC LIMIT ?2) ON letter = number
               WHERE n = 0 AND json_extract(line, '$.fact.admitted.order.receiver.address.postal_code') = ?3";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![folder, LATEST, sought.postal_code])?;
    while let Some(row) = rows.next()? {
        let address =
            row.get::<_, Option<String>>(0)?.and_then(|json| serde_json::from_str::<Address>(&json).ok());
        let is_same = |address: &Address| {
            let line = |address: &Address| {
                fold(
                    &[&address.state, &address.city, &address.address1, &address.name]
                        .map(String::as_str)
                        .concat(),
                )
            };
            line(address) == line(sought)
        };
        if address.as_ref().is_some_and(is_same) {
            return Ok(true);
        }
    }
    Ok(false)
}
