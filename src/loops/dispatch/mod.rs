//! The dispatch loop: takes the next due letters, lets each take its steps, and returns when to look again.
//!
//! What is due, paused or ordered is in the store; a wake-up carries no data. Letters with deadlines and open
//! intents come first, then those that begin, then those that are followed. A worker owns a letter while it
//! works on it.

mod account;
mod carry;
mod intake;
mod memory;
mod perform;
mod permits;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::TimeDelta;
use tokio::task::{JoinError, JoinSet};

pub use account::Account;
use carry::PutDown;
use memory::Memory;
use permits::CallPermits;

use crate::base::bells::Bells;
use crate::base::clock::{Clock, Time};
use crate::domain::letter::{Number, Retry};
use crate::domain::pause::Probe;
use crate::outside::journal;
use crate::outside::spool::{Spool, Ulid};
use crate::outside::store::{
    AccountOrder, AccountWork, DueLimits, Halted, OpenWork, RecordError, Store, StoreError,
};

/// The wait while nothing can be written.
const DISK_REST: TimeDelta = TimeDelta::seconds(10);
/// A smaller difference is a clock being corrected.
const CLOCK_SET_BACK: TimeDelta = TimeDelta::minutes(1);
const URGENCIES: [u8; 3] = [0, 1, FOLLOWED];
/// The urgency of letters that are followed until they ship.
const FOLLOWED: u8 = 2;
/// A call takes less time than recording its answer, and more records share a sync if more letters wait for it.
const LETTERS_PER_CALL: usize = 4;

#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Halted(#[from] Halted),
    /// Our own decision does not fit the records: a defect of the program, not of the disk.
    #[error("a change of a letter or an account can't be recorded")]
    Unrecordable(#[source] RecordError),
    #[error("the spool can't be read")]
    Spool(#[from] std::io::Error),
    #[error("a letter's task ended in a panic")]
    Panic,
}

/// What every worker uses.
#[derive(Debug)]
struct Shared {
    store: Arc<Store>,
    spool: Arc<Spool>,
    accounts: BTreeMap<String, Arc<Account>>,
    clock: Clock,
    retry: Retry,
    memory: Memory,
    permits: CallPermits,
    stopping: AtomicBool,
    bells: Bells,
}

#[derive(Debug)]
pub struct Dispatch {
    shared: Arc<Shared>,
    /// The maximum number of simultaneous calls.
    at_once: usize,
    workers: JoinSet<(Option<Number>, PutDown)>,
    busy: HashSet<Number>,
    /// Of these, the letters that are followed until they ship.
    followed: HashSet<Number>,
    /// Entries of the spool that could not be read, and when that is tried again, if ever.
    unreadable: HashMap<Ulid, Option<Time>>,
    disk_rests: Option<Time>,
    /// The account of the letter that was begun last. The next one is of an account after it, so that none waits for all
    /// letters of another.
    served: Option<String>,
    /// The time at the last tick, by the wall clock and by the monotonic clock.
    seen: (Time, TimeDelta),
}

impl Dispatch {
    pub fn new(
        store: Arc<Store>,
        spool: Spool,
        accounts: Vec<Account>,
        clock: Clock,
        retry: Retry,
        at_once: usize,
        bells: &Bells,
    ) -> Self {
        let accounts =
            accounts.into_iter().map(|account| (account.name.clone(), Arc::new(account))).collect();
        // A clock that was set back while the daemon was down is noticed at the first tick.
        let now = clock.now();
        let recorded = store.last_recorded().ok().flatten();
        let seen = (recorded.map_or(now, |recorded| recorded.max(now)), clock.steady());
        let shared = Shared {
            store,
            spool: Arc::new(spool),
            accounts,
            clock,
            retry,
            memory: Memory::default(),
            permits: CallPermits::new(at_once),
            stopping: AtomicBool::new(false),
            bells: bells.clone(),
        };
        Self {
            shared: Arc::new(shared),
            at_once,
            workers: JoinSet::new(),
            busy: HashSet::new(),
            followed: HashSet::new(),
            unreadable: HashMap::new(),
            disk_rests: None,
            served: None,
            seen,
        }
    }

    pub fn is_idle(&self) -> bool {
        self.workers.is_empty()
    }

    /// Makes each worker stop after its present step.
    pub fn stop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
    }

    /// Looks at everything once, gives work to idle workers, and returns when to look again at the latest.
    pub async fn tick(&mut self) -> Result<Option<Time>, DispatchError> {
        self.notice_clock().await?;
        let now = self.shared.clock.now();
        if let Some(until) = self.disk_rests(now) {
            return Ok(Some(until));
        }
        self.take_in().await?;
        let accounts: Vec<_> = self.shared.accounts.values().cloned().collect();
        let work = self.open_work(&accounts, now).await?;
        if let Some(until) = self.disk_rests(now) {
            return Ok(Some(until));
        }
        if !work.ordered.is_empty() {
            self.shared.permits.notify_of_commands();
        }
        for number in work.ordered {
            let has_room = self.workers.len() < self.most_with_commands();
            self.pick_up(number, false, has_room);
        }
        let mut accounts: Vec<_> = accounts.into_iter().zip(work.accounts).collect();
        let mut next = self.look_at_accounts(&accounts, now).await?;
        let is_before = |name: &String| self.served.as_ref().is_some_and(|served| name <= served);
        accounts.sort_by_key(|(account, _)| is_before(&account.name));
        for urgency in URGENCIES {
            for (account, work) in &accounts {
                next.extend(self.hand_out(account, work, urgency, now).await?);
            }
        }
        Ok(next.into_iter().min())
    }

    /// What can be begun, when the orders about accounts have been obeyed.
    async fn open_work(&mut self, accounts: &[Arc<Account>], now: Time) -> Result<OpenWork, DispatchError> {
        let names: Vec<&str> = accounts.iter().map(|account| account.name.as_str()).collect();
        loop {
            // Before letters and accounts are looked at: when to look again depends on what ended workers have found.
            // Those that end later are waited for in `joined`.
            self.handle_ended_workers()?;
            let most = DueLimits {
                by_urgency: URGENCIES.map(|urgency| match self.free(urgency) {
                    0 => 0,
                    // Those that are in progress are due as well.
                    free => free + self.busy.len(),
                }),
                commanded: self.most_with_commands(),
            };
            let work = self.shared.store.open_work(&names, most, now)?;
            if work.account_orders.is_empty() {
                return Ok(work);
            }
            if !self.obey(&work.account_orders).await? {
                self.disk_rests = Some(self.shared.clock.now() + DISK_REST);
                return Ok(work);
            }
        }
    }

    /// The number of letters that may be in progress when one with a person's command begins, which does not wait for
    /// slow calls.
    fn most_with_commands(&self) -> usize {
        max_letters(self.at_once) + 2 * self.at_once
    }

    /// Until when nothing is begun, because nothing could be written.
    fn disk_rests(&self, now: Time) -> Option<Time> {
        self.disk_rests.filter(|until| now < *until)
    }

    /// If the wall clock was set back, everything due by it would come too late by as much.
    async fn notice_clock(&mut self) -> Result<(), DispatchError> {
        let (now, steady) = (self.shared.clock.now(), self.shared.clock.steady());
        let back = (steady - self.seen.1) - (now - self.seen.0);
        self.seen = (now, steady);
        if back < CLOCK_SET_BACK {
            return Ok(());
        }
        journal::clock_set_back(back);
        self.disk_rests = None;
        for account in self.shared.accounts.values() {
            account.answers(now);
        }
        self.shared.written(self.shared.store.bring_forward(back, now).await)
    }

    /// Ticks until nothing can be done before some later time. For tests, whose clock stands still.
    pub async fn settle(&mut self) -> Result<Option<Time>, DispatchError> {
        loop {
            let next = self.tick().await?;
            if self.workers.is_empty() {
                return Ok(next);
            }
            self.joined().await?;
        }
    }

    /// Handles every ended worker, as soon as there is one. Without workers it never resolves.
    pub async fn joined(&mut self) -> Result<(), DispatchError> {
        let Some(joined) = self.workers.join_next().await else { return std::future::pending().await };
        self.handle_ended(joined)?;
        self.handle_ended_workers()
    }

    /// Handles workers that ended during a look.
    fn handle_ended_workers(&mut self) -> Result<(), DispatchError> {
        while let Some(joined) = self.workers.try_join_next() {
            self.handle_ended(joined)?;
        }
        Ok(())
    }

    fn handle_ended(
        &mut self,
        joined: Result<(Option<Number>, PutDown), JoinError>,
    ) -> Result<(), DispatchError> {
        let (number, how) = joined.map_err(|_| DispatchError::Panic)?;
        if let Some(number) = number {
            self.busy.remove(&number);
            self.followed.remove(&number);
        }
        match how {
            PutDown::Waits => Ok(()),
            PutDown::DiskFull => {
                self.disk_rests = Some(self.shared.clock.now() + DISK_REST);
                Ok(())
            }
            PutDown::Ends(error) => Err(error),
        }
    }

    fn free(&self, urgency: u8) -> usize {
        free_places(self.at_once, urgency, self.workers.len(), self.followed.len())
    }

    /// Returns whether a worker begins with it.
    fn pick_up(&mut self, number: Number, probe: bool, has_room: bool) -> bool {
        let begins = has_room && self.busy.insert(number);
        if begins {
            let shared = Arc::clone(&self.shared);
            self.workers.spawn(async move { (Some(number), shared.carry(number, probe).await) });
        }
        begins
    }

    /// Returns false if that cannot be recorded at present.
    async fn obey(&self, orders: &[AccountOrder]) -> Result<bool, DispatchError> {
        for order in orders {
            journal::account_order(&order.account, order.command.word());
            let recorded = self.shared.store.obey(order.clone(), self.shared.clock.now()).await;
            let is_recorded = recorded.is_ok();
            self.shared.written(recorded)?;
            if !is_recorded {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Hands out an account's letters of one urgency. Returns when more will be due.
    async fn hand_out(
        &mut self,
        account: &Account,
        work: &AccountWork,
        urgency: u8,
        now: Time,
    ) -> Result<Option<Time>, DispatchError> {
        if account.realm().is_none() || (urgency > 0 && account.rests(now).is_some()) {
            return Ok(None);
        }
        let due = &work.due[usize::from(urgency)];
        let free = self.free(urgency);
        let pause = if urgency == 1 { self.shared.pause_now(&account.name, work)? } else { None };
        match pause {
            None if free > 0 => {
                for &number in due {
                    if self.pick_up(number, false, self.free(urgency) > 0) {
                        if urgency == FOLLOWED {
                            self.followed.insert(number);
                        }
                        self.served = Some(account.name.clone());
                    }
                }
            }
            Some(pause) if pause.probe(now) != Some(Probe::ByLetter) => return Ok(None),
            Some(pause) if free > 0 => {
                let first = due.first().copied();
                if let Some(number) = first.filter(|number| !self.busy.contains(number)) {
                    let probing = self.shared.store.probing(&account.name, pause.probing(now)).await;
                    self.shared.written(probing)?;
                    self.pick_up(number, true, true);
                }
            }
            None | Some(_) => {}
        }
        Ok(work.next_due[usize::from(urgency)])
    }
}

/// The maximum number of letters in progress: while most are being recorded, some call. With one call at a
/// time, letters follow one another.
fn max_letters(at_once: usize) -> usize {
    1 + at_once.saturating_sub(1) * LETTERS_PER_CALL
}

/// How many letters of an urgency may be begun, while so many are in progress and so many of these are followed. Those
/// that are followed have a few places of their own, or they would wait as long as others begin. In these they keep no
/// others from beginning.
fn free_places(at_once: usize, urgency: u8, busy: usize, followed: usize) -> usize {
    let own = at_once / 2;
    if urgency == FOLLOWED {
        (max_letters(at_once) + own).saturating_sub(busy)
    } else {
        max_letters(at_once).saturating_sub(busy.saturating_sub(followed.min(own)))
    }
}

impl Shared {
    /// Waits if the disk is full. Any worse failure ends the process.
    fn written(&self, result: Result<(), RecordError>) -> Result<(), DispatchError> {
        self.bells.originals.notify_one();
        match result {
            Ok(()) | Err(RecordError::NotWritten(_)) => Ok(()),
            Err(RecordError::Read(error)) => Err(error.into()),
            Err(RecordError::Sqlite(error)) if RecordError::is_full(&error) => Ok(()),
            Err(RecordError::Sqlite(error)) => Err(StoreError::from(error).into()),
            Err(RecordError::Halted(halted)) => Err(halted.into()),
            Err(error @ (RecordError::Stale(_) | RecordError::Contradiction(..) | RecordError::Json(_))) => {
                Err(DispatchError::Unrecordable(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_letters_that_are_followed_nor_others_keep_all_places() {
        for (at_once, urgency, busy, followed, free) in [
            (8, 1, 0, 0, 29),
            (8, 1, 29, 0, 0),
            (8, FOLLOWED, 29, 0, 4),
            (8, FOLLOWED, 33, 4, 0),
            // They have all places. As soon as one has ended, another letter begins.
            (8, 0, 33, 33, 0),
            (8, 0, 32, 32, 1),
            (8, 1, 32, 32, 1),
            (8, 1, 30, 2, 1),
            (1, 1, 0, 0, 1),
            (1, FOLLOWED, 1, 0, 0),
            (1, 0, 1, 1, 0),
        ] {
            let said = format!("{at_once} calls, urgency {urgency}, {busy} in progress, {followed} followed");
            assert_eq!(free_places(at_once, urgency, busy, followed), free, "{said}");
        }
    }
}
