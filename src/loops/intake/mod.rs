//! Takes drops from the hot folders into the spool.
//!
//! Hints wake, scans decide: a look at what is there finds what has settled. A worker claims, copies,
//! inspects and decides each finished drop, so one slow or bad drop holds up no other. A folder that cannot
//! be used is away, visibly, and is tried again.

mod alone;
mod approval;
mod books;
mod busy;
mod candidates;
mod claims;
mod corrected;
mod decide;
mod documents;
mod epoch;
mod found_claims;
mod handed_back;
mod held_up;
mod hints;
mod identity;
mod instructions;
mod judge;
mod laid_files;
mod laid_sidecar;
mod lay;
mod left;
mod litter;
mod meaning;
mod obeyed;
mod open;
mod order;
mod postal;
mod rival;
mod scan;
mod settle;
mod shape;
mod shared;
mod shelf_names;
mod sidecar;
mod stamp;
mod take;
mod taken_back;
mod together;
mod waiting;
mod watched;
mod work;
mod workers;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, Weak};

use chrono::TimeDelta;
use tokio::task::JoinSet;

pub use books::patience as book_patience;
use busy::BusyDrops;
pub use claims::{ClaimRecord, KnownClaim, Next, is_ours, next};
use decide::{Done, Peeked, TakeError};
pub use epoch::no_other_records;
use hints::Hints;
pub use identity::{FormerUser, Identity, Met, RecordedPath, former_user, identity};
pub use left::{hold_left_out, left_out};
pub use litter::may_be_dropped;
pub use meaning::{Candidate, Itself, Meant, Name, Whereabouts, meant};
pub use obeyed::{Instruction, Obeyed, obeyed};
pub use order::{JUDGING, JudgeStep};
pub use settle::{Look, Settling, Stamp};
pub use shape::{
    Inspected, NoDrop, Shape, Unusable, bytes_of, documents_among, inspected, is_inner_sidecar, no_drop,
    only_sidecar, shape,
};
use shared::Shared;
pub use shelf_names::{reused_in, reused_names};
pub use sidecar::{LARGEST_SIDECAR, unreadable};
use watched::{DueLook, Watched};
use work::Work;

use crate::base::bells::Bells;
use crate::base::clock::{Clock, Time};
use crate::loops::folders::{Registered, Registry};
use crate::outside::hot::{Hot, Reach};
use crate::outside::pdf::Inspector;
use crate::outside::spool::{Spool, Ulid};
use crate::outside::store::{RecordError, Store, StoreError};

/// The number of workers. Each inspects with a process of its own.
const AT_ONCE: usize = 8;
/// With this number of entries waiting for the dispatcher, intake pauses until it has caught up.
const MOST_WAITING: usize = 400;
/// How many finished drops of a folder may wait for each of its workers.
const READY_PER_WORKER: usize = 500;
/// The wait while the files of a folder's rules, or its address book, are being changed.
const UNSETTLED: TimeDelta = TimeDelta::seconds(1);
/// The wait after a drop could not be taken in.
const REST: TimeDelta = TimeDelta::seconds(10);

#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(
        "folder `{0}` was used with later records than these: were these restored from a backup? Start \
         once with `mailchute run --after-restore`: every letter that is not finished is then held"
    )]
    OlderRecords(String),
    #[error(
        "a running mailchute uses folder `{folder}` with a copy of these records, in {}: two would post \
         letters twice. Stop one of them; if the copy is to continue, start it once with `mailchute run --after-restore`",
        state.display()
    )]
    Twin { folder: String, state: PathBuf },
}

/// The process that calls the file system of a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ReachedBy {
    #[default]
    Here,
    ByHelper,
}

/// The drop of a worker that ended.
#[derive(Debug)]
struct Worked {
    folder: String,
    ulid: Ulid,
    claim: String,
    work: Work,
    /// The open folder in which it was looked into or claimed.
    hot: Weak<Hot>,
    peeked: Option<Peeked>,
    done: Result<Done, TakeError>,
}
/// A look that ended: the folder, and when there is more to do.
type EndedLook = (String, Watched, Result<TimeDelta, IntakeError>);

#[derive(Debug)]
pub struct Intake {
    shared: Arc<Shared>,
    watched: BTreeMap<String, Watched>,
    hints: Hints,
    at_once: usize,
    /// How many drops may be handed out until the entries for the dispatcher are counted again.
    places: usize,
    workers: JoinSet<Vec<Worked>>,
    busy: BusyDrops,
    /// The folder that got the last worker. The next one goes to a folder after it.
    served: Option<String>,
    /// Folders that a helper reaches are looked at in parallel.
    looks: JoinSet<EndedLook>,
    looked_at: HashSet<String>,
    /// Workers that ended in a folder while it was being looked at.
    ended_meanwhile: Vec<Worked>,
    /// Whether the registry knows the former names of folders.
    knows_names: bool,
    /// What queues took and could not be laid, and when that is tried again.
    not_laid: BTreeMap<Ulid, TimeDelta>,
}

impl Intake {
    pub fn new(
        store: Arc<Store>,
        spool: Spool,
        registry: Arc<Registry>,
        inspector: Inspector,
        reach: Arc<Reach>,
        clock: Clock,
        bells: &Bells,
    ) -> Self {
        let shared = Shared::new(store, spool, registry, inspector, reach, clock, bells);
        Self {
            shared: Arc::new(shared),
            watched: BTreeMap::new(),
            hints: Hints::new(Arc::clone(&bells.folders)),
            at_once: AT_ONCE,
            places: 0,
            workers: JoinSet::new(),
            busy: BusyDrops::default(),
            served: None,
            looks: JoinSet::new(),
            looked_at: HashSet::new(),
            ended_meanwhile: Vec::new(),
            knows_names: false,
            not_laid: BTreeMap::new(),
        }
    }

    /// Sets the number of workers.
    #[must_use]
    pub fn at_once(self, at_once: usize) -> Self {
        Self { at_once, ..self }
    }

    pub fn is_idle(&self) -> bool {
        self.workers.is_empty() && self.looks.is_empty()
    }

    /// Looks at every folder that is due, gives work to idle workers, and returns when to look again.
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
            if self.looked_at.contains(&name) {
                continue;
            }
            let mut watched = self.watched.remove(&name).unwrap_or_default();
            if hinted.contains(&name) {
                watched.hinted();
            }
            let due = watched.due(&self.shared, &known);
            let rests = matches!(due, DueLook::Rest(_));
            if !rests && self.shared.reach.is_any_apart(known.folder.paths()) {
                self.look_beside(due, watched, known);
                continue;
            }
            let due = self.look_here(due, &mut watched, &known).await?;
            self.watched.insert(name, watched);
            next = Some(next.map_or(due, |next| next.min(due)));
        }
        let now = self.shared.clock.steady();
        let again = std::mem::take(&mut *self.shared.again.lock().unwrap_or_else(PoisonError::into_inner));
        for (name, claim) in again {
            match self.watched.get_mut(&name) {
                Some(watched) => watched.resume(claim, now, None),
                None if self.looked_at.contains(&name) => self.shared.rest(&name, &claim),
                None => {}
            }
        }
        let laid_again = self.lay_what_queues_took(now)?;
        next = [next, laid_again].into_iter().flatten().min();
        self.hand_out();
        let steady = self.shared.clock.steady();
        Ok(next.map(|next| self.shared.clock.now() + (next - steady).max(TimeDelta::zero())))
    }

    /// Looks at a folder whose calls are short. Returns when there is more to do.
    async fn look_here(
        &mut self,
        due: DueLook,
        watched: &mut Watched,
        known: &Registered,
    ) -> Result<TimeDelta, IntakeError> {
        let looked = match due {
            DueLook::Rest(due) => Ok(due),
            DueLook::KeepEpoch(due) => watched.keep_epoch(&self.shared, known).map(|()| due),
            DueLook::Commands => watched.look_at_commands(&self.shared, known).await,
            DueLook::Look => {
                watched.reached = ReachedBy::Here;
                watched.max_ready = self.at_once * READY_PER_WORKER;
                watched.look(&self.shared, known, Some(&mut self.hints)).await
            }
        };
        match looked {
            // Nothing can be written at present.
            Err(IntakeError::Record(RecordError::NotWritten(_))) => Ok(self.shared.clock.steady() + REST),
            looked => looked,
        }
    }

    /// Ticks until nothing can be done before some later time. For tests, whose clock stands still.
    pub async fn settle(&mut self) -> Result<Option<Time>, IntakeError> {
        loop {
            let next = self.tick().await?;
            let now = self.shared.clock.now();
            if self.is_idle() && next.is_none_or(|next| next > now) {
                return Ok(next);
            }
            if !self.is_idle() {
                self.joined().await?;
            }
        }
    }
}
