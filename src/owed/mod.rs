//! What somebody must still be told: rows of the store, done one by one.
//!
//! For now the journal is who is told; e-mails follow. A row is done when its message is out, so a
//! crash tells it again rather than never.

use std::sync::Arc;

use crate::clock::Clock;
use crate::journal;
use crate::store::{RecordError, Store};

/// Tells what is owed, oldest first.
pub async fn tick(store: &Arc<Store>, clock: &Clock) -> Result<(), RecordError> {
    loop {
        let rows = store.owed()?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in rows {
            journal::owed(&row);
            match store.done(row.id, clock.now()).await {
                // The disk is full: it is told again.
                Err(RecordError::NotWritten(_)) => return Ok(()),
                done => done?,
            }
        }
    }
}
