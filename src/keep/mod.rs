//! What is kept: sealed PDFs are fetched and laid beside their originals, and what was kept long enough
//! is removed, which the letter's history says.
//!
//! First it is removed, then that is recorded: after a crash in between it is simply done once more.

mod remove;
mod sealed;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::TimeDelta;

use crate::api::Client;
use crate::clock::{Clock, Time};
use crate::hot::Registry;
use crate::journal;
use crate::spool::Spool;
use crate::store::{RecordError, Store};

/// Nobody counts the hours of what is kept for days.
const LOOK: TimeDelta = TimeDelta::hours(1);
/// As far as two clocks may be apart that tell the same time.
const TOGETHER: TimeDelta = TimeDelta::minutes(10);

#[derive(Debug)]
pub struct Keeper {
    store: Arc<Store>,
    registry: Arc<Registry>,
    spool: Spool,
    clock: Clock,
    /// By account.
    clients: BTreeMap<String, Client>,
    looked: Mutex<Option<Time>>,
    /// Since when both clocks have gone on together, by the wall and by the steady one.
    began: Mutex<(Time, TimeDelta)>,
}

impl Keeper {
    pub fn new(
        store: Arc<Store>,
        registry: Arc<Registry>,
        spool: Spool,
        clock: Clock,
        clients: BTreeMap<String, Client>,
    ) -> Self {
        let began = Mutex::new((clock.now(), clock.steady()));
        Self { store, registry, spool, clock, clients, looked: Mutex::default(), began }
    }

    /// Fetches and removes what is due; gives when there will be more.
    pub async fn tick(&self) -> Result<Option<Time>, RecordError> {
        let now = self.clock.now();
        let done = async {
            let next = self.fetch(now).await?;
            if self.begins_look(now) {
                self.remove(now).await?;
            }
            Ok(next)
        };
        match done.await {
            // The disk takes nothing at present.
            Err(RecordError::NotWritten(_)) => Ok(None),
            next => next,
        }
    }

    /// Only once both clocks have gone on together for an hour: a wall clock that jumped removes nothing.
    fn begins_look(&self, now: Time) -> bool {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        let (wall, steady) = (now - began.0, self.clock.steady() - began.1);
        if (wall - steady).abs() > TOGETHER {
            *began = (now, self.clock.steady());
            journal::retention_waits();
            return false;
        }
        if steady < LOOK {
            return false;
        }
        drop(began);
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let due = looked.is_none_or(|looked| now >= looked + LOOK || now < looked);
        if due {
            *looked = Some(now);
        }
        due
    }
}
