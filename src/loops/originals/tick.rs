//! One pass over all originals that are due. Those of a folder that a helper reaches are handled on a thread
//! of their own: its calls may take long, and no other folder waits for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::sync::oneshot::{Receiver, channel};

use super::together::{Planned, TOGETHER};
use super::{AWAY, Placing, Put};
use crate::base::bells::Bells;
use crate::base::clock::{Clock, Time};
use crate::loops::folders::Registry;
use crate::outside::store::{Original, RecordError, Store};

/// While very many originals come, the next pass begins after this time. It notifies the others again, and nobody takes the
/// loop for one that hangs.
const LONGEST_PASS: Duration = Duration::from_secs(10);

/// The shelves of all folders.
#[derive(Debug, Clone)]
pub struct Shelves {
    store: Arc<Store>,
    registry: Arc<Registry>,
    clock: Clock,
    bells: Bells,
    beside: Arc<Beside>,
    /// The last fact at the last pass.
    last_fact: Arc<AtomicU64>,
}

/// The folders whose originals are being put away on threads of their own.
#[derive(Debug, Default)]
struct Beside {
    folders: Mutex<BTreeSet<String>>,
    changed: Notify,
}

impl Beside {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A folder whose originals are being put away on a separate thread. Dropping this value frees it, also in a panic.
struct BusyFolder {
    beside: Arc<Beside>,
    folder: String,
}

impl Drop for BusyFolder {
    fn drop(&mut self) {
        self.beside.lock().remove(&self.folder);
        self.beside.changed.notify_one();
    }
}

impl Shelves {
    pub fn new(store: Arc<Store>, registry: Arc<Registry>, clock: Clock, bells: Bells) -> Self {
        Self { store, registry, clock, bells, beside: Arc::default(), last_fact: Arc::default() }
    }

    /// Puts away what is due. Returns when there will be more.
    pub async fn tick(&self) -> Result<Option<Time>, RecordError> {
        // The outbox and retention are woken by the same events.
        self.bells.mails.notify_one();
        self.bells.kept.notify_one();
        // The index of names follows facts only.
        let last_fact = self.store.last_fact()?;
        if self.last_fact.swap(last_fact, Ordering::Relaxed) != last_fact {
            self.bells.names.notify_one();
        }
        let begun = Instant::now();
        loop {
            let now = self.clock.now();
            let beside = self.beside.lock().clone();
            let (due, next) = self.store.due_originals(now, &beside)?;
            if due.is_empty() {
                return Ok(next);
            }
            let (apart, due): (Vec<_>, Vec<_>) = due.into_iter().partition(|one| self.is_apart(one));
            if !apart.is_empty() {
                self.put_beside(apart);
                continue;
            }
            if !self.put(due).await? {
                // Nothing can be written at present.
                return Ok(Some(now + AWAY));
            }
            if begun.elapsed() > LONGEST_PASS {
                return Ok(Some(now));
            }
        }
    }

    fn is_apart(&self, original: &Original) -> bool {
        let known = self.registry.get(&original.origin.folder);
        known.and_then(|known| known.hot).is_some_and(|hot| hot.is_apart())
    }

    fn put_beside(&self, originals: Vec<Original>) {
        let mut folders = BTreeMap::<String, Vec<Original>>::new();
        for original in originals {
            folders.entry(original.origin.folder.clone()).or_default().push(original);
        }
        for (folder, originals) in folders {
            self.beside.lock().insert(folder.clone());
            let (shelves, here) = (self.clone(), Handle::current());
            let busy = BusyFolder { beside: Arc::clone(&self.beside), folder };
            tokio::task::spawn_blocking(move || {
                let put = here.block_on(shelves.put(originals));
                drop(busy);
                // If nothing can be recorded, the dispatcher reports why. The next pass tries again.
                if matches!(put, Ok(true)) {
                    shelves.bells.originals.notify_one();
                }
            });
        }
    }

    /// Waits until these threads are idle. For tests, whose clock stands still.
    pub async fn settled(&self) {
        while !self.beside.lock().is_empty() {
            self.beside.changed.notified().await;
        }
    }

    /// Returns whether anything could be recorded.
    async fn put(&self, due: Vec<Original>) -> Result<bool, RecordError> {
        let (mut written, mut placing) = (false, Placing::default());
        let mut due = due.into_iter().peekable();
        loop {
            let fresh: Vec<_> = std::iter::from_fn(|| due.next_if(has_no_place)).collect();
            written |= self.put_all(fresh, &mut placing).await?;
            let Some(original) = due.next() else { break };
            // Putting one away may change what is recorded of another's path.
            written |= placing.done().await?;
            match self.store.still_due(&[original])?.pop() {
                Some(original) => written |= self.putting().away(original, &mut placing).await?,
                None => written = true,
            }
        }
        Ok(placing.all_done().await? || written)
    }

    /// Puts away originals whose place is not recorded. While some are moved, another thread plans for the next ones.
    async fn put_all(&self, fresh: Vec<Original>, placing: &mut Placing) -> Result<bool, RecordError> {
        let mut written = false;
        let mut groups = fresh.chunks(TOGETHER);
        let Some(first) = groups.next() else { return Ok(false) };
        let mut planned = self.putting().planned(first)?;
        loop {
            let next = groups.next();
            let planning = next.and_then(|next| self.planning(next));
            written |= self.putting().put_all_away(planned, placing).await?;
            let Some(next) = next else { return Ok(written) };
            let plan = |_panicked| self.putting().planned(next);
            planned = match planning {
                Some(planning) => planning.await.unwrap_or_else(plan)?,
                None => self.putting().planned(next)?,
            };
        }
    }

    /// Plans on another thread. `None` if there can be no other, or if a helper reaches the folder: it does one thing at a
    /// time.
    fn planning(&self, group: &[Original]) -> Option<Receiver<Result<Planned, RecordError>>> {
        if group.iter().any(|original| self.is_apart(original)) {
            return None;
        }
        let (shelves, group, (planned, planning)) = (self.clone(), group.to_vec(), channel());
        let plan = move || drop(planned.send(shelves.putting().planned(&group)));
        thread::Builder::new().name("shelves".to_owned()).spawn(plan).ok()?;
        Some(planning)
    }

    fn putting(&self) -> Put<'_> {
        Put { store: &self.store, registry: &self.registry, clock: &self.clock }
    }
}

fn has_no_place(original: &Original) -> bool {
    original.shelved.is_none() && original.moving.is_none()
}
