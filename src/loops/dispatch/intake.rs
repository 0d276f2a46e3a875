//! Makes letters of entries that have arrived in the spool.

use std::io;
use std::sync::Arc;

use chrono::TimeDelta;

use super::{Dispatch, DispatchError};
use crate::outside::journal;
use crate::outside::spool::{Entry, EntryError, Spool, Ulid};
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
        let mut readable = arrived.into_iter().filter(readable);
        let new: Vec<Ulid> = readable.by_ref().take(AT_A_TIME).collect();
        let are_more = readable.next().is_some();
        if new.is_empty() {
            return Ok(());
        }
        let mut admitted = Vec::new();
        for (entry, ulid) in self.entries(new).await? {
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
        let admitting = admitted.into_iter().map(|admission| {
            let known = self.shared.accounts.contains_key(&admission.order.account);
            (admission.ulid.clone(), known, self.shared.store.admit(admission))
        });
        let (mut taken, mut written) = (Vec::new(), Ok(()));
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
                Err(RecordError::NotWritten(_)) => {}
                // What is on the disk is not certain any more.
                Err(error @ RecordError::Halted(_)) => return self.shared.written(Err(error)),
                Err(error) => written = written.and(Err(error)),
            }
        }
        // The next look comes immediately, though no worker may end before it.
        if are_more && !taken.is_empty() {
            self.shared.bells.letters.notify_one();
        }
        // Whatever was admitted is moved before it is handed out, whether the others could be written or not.
        let spool: Arc<Spool> = Arc::clone(&self.shared.spool);
        let moved = tokio::task::spawn_blocking(move || spool.take_in(&taken));
        moved.await.map_err(|_| DispatchError::Panic)??;
        self.shared.written(written)
    }

    /// Entries with their content. Their names are durable before any of them is admitted.
    async fn entries(&self, new: Vec<Ulid>) -> Result<Vec<(Result<Entry, EntryError>, Ulid)>, DispatchError> {
        let spool = Arc::clone(&self.shared.spool);
        let read = tokio::task::spawn_blocking(move || {
            spool.keep_arrived()?;
            let entries = new.into_iter().map(|ulid| (spool.entry(&ulid), ulid));
            Ok::<_, io::Error>(entries.collect())
        });
        Ok(read.await.map_err(|_| DispatchError::Panic)??)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::bells::Bells;
    use crate::base::clock::Clock;
    use crate::domain::letter::{Order, Retry};
    use crate::outside::spool::sha256_of;
    use crate::outside::store::Store;

    fn order(document: &[u8]) -> Order {
        let address = json!({"postal_code": "0600001", "state": "北海道", "city": "札幌市", "address1": "1", "name": "n"});
        serde_json::from_value(json!({
            "account": "main", "source": "test", "sender": address,
            "shipping": {"method": "letterpack-lite", "options": []},
            "receiver": {"address": address, "honorific": "様"},
            "documents": [{
                "name": "a.pdf", "size": document.len(), "pages": 1, "sha256": sha256_of(document), "print": {},
            }],
        }))
        .unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_admitted_entry_is_moved_though_another_could_not_be_admitted() {
        let dir = tempfile::tempdir().unwrap();
        let (clock, bells) = (Clock::system(), Bells::default());
        let store = Arc::new(Store::open(dir.path(), clock.now(), false).unwrap().0);
        let spool = Spool::open(&store.home().spool()).unwrap();
        let mut ulids = Vec::new();
        for document in [b"1", b"2"] {
            ulids.push(Ulid::new(clock.now()).unwrap());
            spool.put(ulids.last().unwrap(), &order(document), &[document.to_vec()]).unwrap();
        }
        let [first, second] = ulids.try_into().unwrap();
        let refuse = format!(
            "CREATE TRIGGER refused BEFORE INSERT ON letter WHEN NEW.ulid = '{first}'
             BEGIN SELECT RAISE(ABORT, 'refused'); END"
        );
        rusqlite::Connection::open(store.home().database()).unwrap().execute_batch(&refuse).unwrap();
        let retry = Retry::default();
        let mut dispatch = Dispatch::new(store, spool.clone(), Vec::new(), clock, retry, 8, &bells);
        dispatch.take_in().await.unwrap_err();
        assert_eq!((spool.arrived().unwrap(), spool.taken_in().unwrap()), (vec![first], vec![second]));
    }
}
