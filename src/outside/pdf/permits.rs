//! How many children count pages at the same time.

use std::num::NonZero;
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// Permits to let a child count: one for each core, and two at least, so that one slow PDF does not keep all. More
/// children would only share the cores, and starting one costs more than counting some PDFs.
///
/// While slow PDFs keep all permits there is one more for the others.
#[derive(Debug)]
pub(super) struct ChildPermits {
    free: Semaphore,
    usual: usize,
    /// Only one PDF waits for a permit, the others wait for their turn. So one more child is started if no permit gets
    /// free, and not one for each PDF that waits.
    first: Mutex<()>,
}

/// A permit that is given back when it is dropped.
#[derive(Debug)]
pub(super) struct ChildPermit<'a> {
    permit: Option<SemaphorePermit<'a>>,
    of: &'a ChildPermits,
}

impl ChildPermits {
    pub(super) fn for_cores() -> Self {
        Self::new(std::thread::available_parallelism().map_or(2, NonZero::get).max(2))
    }

    fn new(usual: usize) -> Self {
        Self { free: Semaphore::new(usual), usual, first: Mutex::default() }
    }

    /// A permit. If none gets free within `patience`, one is added.
    pub(super) async fn acquire(&self, patience: Duration) -> ChildPermit<'_> {
        let _first = self.first.lock().await;
        loop {
            if let Ok(permit) = timeout(patience, self.free.acquire()).await {
                return ChildPermit { permit: permit.ok(), of: self };
            }
            self.free.add_permits(1);
        }
    }
}

impl Drop for ChildPermit<'_> {
    fn drop(&mut self) {
        // If as many as usual are free, the slow ones have ended, and what was added because of them is not needed.
        if self.of.free.available_permits() >= self.of.usual {
            self.permit.take().into_iter().for_each(SemaphorePermit::forget);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn one_permit_is_added_while_slow_ones_keep_all_and_is_taken_away_after_that() {
        let permits = ChildPermits::new(2);
        let is_free = async || timeout(SHORT, permits.acquire(LONG)).await.is_ok();
        let (one, other) = (permits.acquire(LONG).await, permits.acquire(LONG).await);
        assert!(!is_free().await, "both are used");
        // Several wait, and one is added for all of them.
        let eight = (0..8).map(|_| async { drop(permits.acquire(SHORT).await) });
        futures_util::future::join_all(eight).await;
        assert_eq!(permits.free.available_permits(), 1);
        assert!(is_free().await, "it stays while they are slow");
        drop((one, other));
        assert_eq!(permits.free.available_permits(), 2, "as many as before");
    }
}
