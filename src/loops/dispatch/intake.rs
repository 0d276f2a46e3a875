//! Makes letters of what `submit` put into the spool.

use std::sync::Arc;

use chrono::TimeDelta;

use super::{Dispatch, DispatchError};
use crate::outside::journal;
use crate::outside::spool::{EntryError, Spool, Ulid};
use crate::outside::store::{Admission, RecordError};

/// The number of entries taken at a time, so that letters on their way do not wait for a thousand new ones.
const AT_A_TIME: usize = 200;
/// The wait after an entry could not be read.
const READ_AGAIN: TimeDelta = TimeDelta::seconds(30);

impl Dispatch {
    pub(super) async fn take_in(&mut self) -> Result<(), DispatchError> {
        let arrived = self.shared.spool.arrived()?;
        let now = self.shared.clock.now();
        let readable = |ulid: &Ulid| match self.unreadable.get(ulid) {
            None => true,
            Some(again) => again.is_some_and(|again| now >= again),
        };
        let new: Vec<Ulid> = arrived.into_iter().filter(readable).take(AT_A_TIME).collect();
        if new.is_empty() {
            return Ok(());
        }
        let mut admitted = Vec::new();
        let spool = Arc::clone(&self.shared.spool);
        let read = tokio::task::spawn_blocking(move || {
            let entries = new.into_iter().map(|ulid| (spool.entry(&ulid), ulid));
            entries.collect::<Vec<_>>()
        });
        for (entry, ulid) in read.await.map_err(|_| DispatchError::Panic)? {
            match entry {
                Ok(entry) => admitted.push(Admission {
                    ulid,
                    order: Arc::new(entry.order),
                    at: self.shared.clock.now(),
                    dropped: entry.dropped,
                }),
                Err(error) => {
                    journal::unreadable_entry(&ulid, &error);
                    // A wrong order stays wrong. A disk may recover.
                    let never = matches!(error, EntryError::Order(_) | EntryError::NoOrder);
                    self.unreadable.insert(ulid, (!never).then_some(now + READ_AGAIN));
                }
            }
        }
        let mut taken = Vec::new();
        let admitting = admitted.into_iter().map(|admission| {
            let known = self.shared.accounts.contains_key(&admission.order.account);
            (admission.ulid.clone(), known, self.shared.store.admit(admission))
        });
        for (ulid, known, admitted) in admitting.collect::<Vec<_>>() {
            match admitted.await {
                Ok(number) => {
                    journal::admitted(number, known);
                    taken.push(ulid);
                    // It may be held from its beginning.
                    self.shared.bells.originals.notify_one();
                    self.shared.bells.decided.notify_waiters();
                }
                // They stay where they are and are looked at again.
                Err(RecordError::NotWritten(_)) => break,
                Err(error) => return self.shared.written(Err(error)),
            }
        }
        let spool: Arc<Spool> = Arc::clone(&self.shared.spool);
        let moved = tokio::task::spawn_blocking(move || spool.take_in(&taken));
        Ok(moved.await.map_err(|_| DispatchError::Panic)??)
    }
}
