//! Drops from the hot folders to the spool.
//!
//! Hints wake, scans decide: a look at what is there finds what has settled, and each finished drop is
//! claimed, copied, inspected and decided by a worker. One slow or bad drop keeps no other waiting. A
//! folder that can't be worked on is away, visibly, and is tried again.

mod alone;
mod approval;
mod books;
mod claims;
mod decide;
mod documents;
mod epoch;
mod hands;
mod held_up;
mod hints;
mod identity;
mod laid;
mod left;
mod litter;
mod meant;
mod open;
mod rival;
mod scan;
mod settle;
mod shared;
mod shelf_names;
mod sidecar;
mod stamp;
mod take;
mod taken_back;
mod waiting;
mod watched;
mod wish;
mod work;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use chrono::TimeDelta;
use tokio::sync::Notify;
use tokio::task::JoinSet;

pub use claims::{Known as KnownClaim, Next, Record, is_ours, next};
use decide::{Claim, Done, TakeError};
pub use epoch::no_other_records;
use hints::Hints;
pub use left::{hold_left_out, left_out};
pub use settle::{Look, Settling, Stamp};
use shared::Shared;
pub use shelf_names::{reused_in, reused_names};
use watched::Watched;
use work::Work;

use crate::clock::{Clock, Time};
use crate::drop::{HeldUp, shown};
use crate::hot::Registry;
use crate::journal;
use crate::pdf::Inspector;
use crate::spool::Spool;
use crate::store::{RecordError, Store, StoreError};

/// Each inspects with a process of its own.
const AT_ONCE: usize = 8;
/// With so many entries before the dispatcher, it is waited for.
const MOST_WAITING: usize = 400;
/// While the files of a folder's rules, or its address book, are being changed.
const UNSETTLED: TimeDelta = TimeDelta::seconds(1);
/// After a drop could not be taken in.
const REST: TimeDelta = TimeDelta::seconds(10);

#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(
        "folder `{0}` was worked on with later records than these: were they put back from a backup? Start \
         once with `mailchute run --after-restore`: every letter that is not finished is then held"
    )]
    OlderRecords(String),
    #[error(
        "a mailchute that runs now works on folder `{folder}` with a copy of these records, in {}: two would post \
         letters twice. Stop one of them; if the copy is to go on, start it once with `mailchute run --after-restore`",
        state.display()
    )]
    Twin { folder: String, state: PathBuf },
}

#[derive(Debug)]
pub struct Intake {
    shared: Arc<Shared>,
    watched: BTreeMap<String, Watched>,
    hints: Hints,
    at_once: usize,
    /// So many may be handed out until those before the dispatcher are counted again.
    places: usize,
    workers: JoinSet<(String, String, Work, Result<Done, TakeError>)>,
    busy: HashSet<(String, String)>,
    /// Whether the registry knows which names folders had in earlier runs.
    knows_names: bool,
}

impl Intake {
    /// `taken` is told when there is something for the dispatcher, `owed` when there is a move,
    /// `wake` when there is a hint.
    pub fn new(
        store: Arc<Store>,
        spool: Spool,
        registry: Arc<Registry>,
        inspector: Inspector,
        clock: Clock,
        bells: &Bells,
    ) -> Self {
        let shared = Shared::new(store, spool, registry, inspector, clock, bells);
        Self {
            shared: Arc::new(shared),
            watched: BTreeMap::new(),
            hints: Hints::new(Arc::clone(&bells.hint)),
            at_once: AT_ONCE,
            places: 0,
            workers: JoinSet::new(),
            busy: HashSet::new(),
            knows_names: false,
        }
    }

    /// So many drops in hand at once, instead of the usual number.
    #[must_use]
    pub fn at_once(self, at_once: usize) -> Self {
        Self { at_once, ..self }
    }

    pub fn is_idle(&self) -> bool {
        self.workers.is_empty()
    }

    /// One look at every folder that is due; gives work to whoever is free, and says when to look again.
    pub async fn tick(&mut self) -> Result<Option<Time>, IntakeError> {
        if !std::mem::replace(&mut self.knows_names, true) {
            self.shared.registry.renamed(self.shared.store.renamed_folders()?);
        }
        let hinted = self.hints.take();
        let folders = self.shared.registry.all();
        let is_there = |name: &String| folders.iter().any(|known| known.folder.name == *name);
        for (gone, _) in self.watched.extract_if(.., |name, _| !is_there(name)) {
            self.hints.watch(&gone, &[]);
        }
        let mut next: Option<TimeDelta> = None;
        for known in folders {
            let name = known.folder.name.clone();
            let mut watched = self.watched.remove(&name).unwrap_or_default();
            if hinted.contains(&name) {
                watched.hinted();
            }
            let looked = watched.look(&self.shared, &known, &mut self.hints).await;
            self.watched.insert(name, watched);
            let due = match looked {
                Ok(due) => due,
                // The disk takes nothing at present.
                Err(IntakeError::Record(RecordError::NotWritten(_))) => self.shared.clock.steady() + REST,
                Err(error) => return Err(error),
            };
            next = Some(next.map_or(due, |next| next.min(due)));
        }
        let now = self.shared.clock.steady();
        let again = std::mem::take(&mut *self.shared.again.lock().unwrap_or_else(PoisonError::into_inner));
        for (name, claim) in again {
            if let Some(watched) = self.watched.get_mut(&name) {
                watched.resume(claim, now, None);
            }
        }
        self.hand_out();
        let steady = self.shared.clock.steady();
        Ok(next.map(|next| self.shared.clock.now() + (next - steady).max(TimeDelta::zero())))
    }

    /// Gives each folder in turn a worker, as long as one is free.
    fn hand_out(&mut self) {
        if self.workers.len() >= self.at_once || self.watched.values().all(Watched::has_no_work) {
            return;
        }
        if self.places == 0 {
            let waiting = self.shared.spool.arrived().map_or(0, |waiting| waiting.len());
            self.places = MOST_WAITING.saturating_sub(waiting);
        }
        if self.places == 0 {
            self.shared.taken.notify_one();
            return;
        }
        let mut given = true;
        while given && self.places > 0 && self.workers.len() < self.at_once {
            given = false;
            for (name, watched) in &mut self.watched {
                let Some(known) = self.shared.registry.get(name) else { continue };
                let is_free = self.places > 0 && self.workers.len() < self.at_once;
                let (Some(hot), true) = (known.hot, is_free) else { continue };
                let Some(work) = watched.work(self.shared.clock.steady()) else { continue };
                given = true;
                self.places -= 1;
                let Some((dir, ulid)) = work.claim(&self.shared) else { continue };
                if !self.busy.insert((name.clone(), dir.clone())) {
                    continue;
                }
                let (shared, folder) = (Arc::clone(&self.shared), known.folder);
                let claim = Claim { shared, folder, hot, dir, ulid, peeked: None };
                let name = name.clone();
                self.workers.spawn(async move {
                    let dir = claim.dir.clone();
                    let done = claim.take(&work).await;
                    (name, dir, work, done)
                });
            }
        }
    }

    /// Waits for a worker; never, if there is none.
    pub async fn joined(&mut self) -> Result<(), IntakeError> {
        let Some(joined) = self.workers.join_next().await else { return std::future::pending().await };
        let Ok((name, dir, work, done)) = joined else {
            // Its claim is taken up again at the next start; nobody else waits for it.
            journal::drop_panicked();
            return Ok(());
        };
        self.busy.remove(&(name.clone(), dir.clone()));
        let Some(watched) = self.watched.get_mut(&name) else { return Ok(()) };
        let now = self.shared.clock.steady();
        match (done, work) {
            (Ok(Done::Decided | Done::Nothing), _) => watched.epoch.advanced(now),
            (Ok(Done::Lacks(drop)), _) => {
                watched.waiting.lacks(drop);
                watched.look_again(now);
            }
            (Ok(Done::HasNoEnd(drop, stamp)), _) => {
                watched.waiting.has_no_end(drop, stamp);
                watched.look_again(now);
            }
            (Ok(Done::RulesUnsettled), work) => {
                watched.is_held_up(&work, HeldUp::Rules, now);
                watched.look_again(now + UNSETTLED);
            }
            (Ok(Done::BookUnsettled), work) => {
                watched.is_held_up(&work, HeldUp::Book, now);
                watched.book.drop_waits();
                watched.look_again(now + UNSETTLED);
            }
            (Ok(Done::Later(wait, looks)), _) => {
                watched.resume(dir, now + TimeDelta::from_std(wait).unwrap_or(REST), Some(looks));
            }
            (Err(TakeError::Record(error @ RecordError::Halted(_))), _) => return Err(error.into()),
            (Err(TakeError::NoRight), work @ (Work::Drop { .. } | Work::Sidecar(_))) => {
                if let Some((drop, stamp)) = work.main()
                    && watched.sticks(drop.clone(), stamp, now)
                {
                    journal::no_right_to_claim(&name, &shown(drop));
                }
                watched.is_held_up(&work, HeldUp::Right, now);
                watched.look_again(now);
            }
            (Err(error), _) => {
                journal::not_claimed(&name, &error);
                watched.resume(dir, now + REST, None);
            }
        }
        Ok(())
    }

    /// Ticks until nothing can be done before some later time: for tests, whose clock stands still.
    pub async fn settle(&mut self) -> Result<Option<Time>, IntakeError> {
        loop {
            let next = self.tick().await?;
            let now = self.shared.clock.now();
            if self.workers.is_empty() && next.is_none_or(|next| next > now) {
                return Ok(next);
            }
            if !self.workers.is_empty() {
                self.joined().await?;
            }
        }
    }
}

/// What the loops tell one another: that there is something to look at.
#[derive(Debug, Clone, Default)]
pub struct Bells {
    pub taken: Arc<Notify>,
    pub owed: Arc<Notify>,
    pub hint: Arc<Notify>,
    /// There may be something to be told.
    pub told: Arc<Notify>,
    /// There may be something to be fetched.
    pub kept: Arc<Notify>,
}
