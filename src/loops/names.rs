//! Keeps the index of names up to date, by which letters are found. Searching works without it, more slowly.

use std::sync::Arc;

use chrono::TimeDelta;
use tokio::task::spawn_blocking;

use crate::base::clock::{Clock, Time};
use crate::outside::journal;
use crate::outside::store::{SearchIndex, Store};

/// After some of the work others get their turn.
const REST: TimeDelta = TimeDelta::milliseconds(20);
/// The wait after it failed.
const AGAIN: TimeDelta = TimeDelta::minutes(10);

/// The number of parts of the work that are done at a time.
const PARTS: u32 = 8;

#[derive(Debug)]
pub struct NamesIndexer {
    store: Arc<Store>,
    clock: Clock,
    /// Whether the journal says already that it cannot be written.
    has_failed: bool,
}

impl NamesIndexer {
    pub fn new(store: Arc<Store>, clock: Clock) -> Self {
        Self { store, clock, has_failed: false }
    }

    /// Follows some of the facts. Returns when to continue.
    pub async fn tick(&mut self) -> Option<Time> {
        let store = Arc::clone(&self.store);
        let followed = spawn_blocking(move || SearchIndex::follow(&store, PARTS));
        match followed.await {
            Ok(Ok(is_behind)) => {
                self.has_failed = false;
                is_behind.then(|| self.clock.now() + REST)
            }
            Ok(Err(error)) => {
                if !std::mem::replace(&mut self.has_failed, true) {
                    journal::names_not_followed(&error);
                }
                Some(self.clock.now() + AGAIN)
            }
            // It panicked, which says so itself, or everything ends.
            Err(_) => Some(self.clock.now() + AGAIN),
        }
    }
}
