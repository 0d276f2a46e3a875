//! The drops that workers have.

use std::collections::BTreeMap;

use tokio::task::Id;

use super::ReachedBy;
use crate::outside::spool::Ulid;

/// The folder, and the drop.
type Key = (String, Ulid);

#[derive(Debug, Default)]
pub(super) struct BusyDrops(BTreeMap<Key, Busy>);

/// The worker of a drop.
#[derive(Debug)]
pub(super) struct Busy {
    pub(super) reached: ReachedBy,
    pub(super) worker: Id,
    /// The worker is claiming it together with others.
    pub(super) claims_several: bool,
}

impl BusyDrops {
    pub(super) fn add(&mut self, drop: Key, busy: Busy) {
        self.0.insert(drop, busy);
    }

    /// Whether a worker is claiming drops of a folder together.
    pub(super) fn is_claiming(&self, folder: &str) -> bool {
        self.0.iter().any(|((of, _), busy)| of == folder && busy.claims_several)
    }

    pub(super) fn has(&self, drop: &Key) -> bool {
        self.0.contains_key(drop)
    }

    pub(super) fn remove(&mut self, drop: &Key) {
        self.0.remove(drop);
    }

    /// Removes the drop of a worker that ended without saying which it had.
    pub(super) fn remove_of(&mut self, worker: Id) -> Option<Key> {
        self.0.extract_if(.., |_, busy| busy.worker == worker).map(|(drop, _)| drop).next()
    }

    /// How many workers have drops in folders that are reached so.
    pub(super) fn reached(&self, reached: ReachedBy) -> usize {
        self.0.values().filter(|busy| busy.reached == reached).count()
    }

    pub(super) fn in_folder(&self, folder: &str) -> usize {
        self.0.keys().filter(|(of, _)| of == folder).count()
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;

    use super::*;
    use crate::base::clock::Clock;

    #[tokio::test]
    async fn a_worker_that_panicked_has_no_drop_any_more() {
        let mut drops = BusyDrops::default();
        let mut workers = JoinSet::new();
        for folder in ["a", "b"] {
            let ulid = Ulid::new(Clock::system().now()).unwrap();
            let handle = workers.spawn(async move { assert_eq!(folder, "b") });
            let busy = Busy { reached: ReachedBy::Here, worker: handle.id(), claims_several: true };
            drops.add((folder.to_owned(), ulid), busy);
        }
        while let Some(ended) = workers.join_next().await {
            if let Err(error) = ended {
                assert_eq!(drops.remove_of(error.id()).unwrap().0, "a");
            }
        }
        assert_eq!((drops.is_claiming("a"), drops.is_claiming("b")), (false, true));
        assert_eq!((drops.reached(ReachedBy::Here), drops.in_folder("a"), drops.in_folder("b")), (1, 0, 1));
    }
}
