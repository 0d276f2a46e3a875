//! The dispatcher at work, until the daemon is asked to end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::loops::Loops;
use super::pulse::Pulse;
use super::{LOOKS, wait};
use crate::clock::Clock;
use crate::dispatch::Dispatch;
use crate::journal;
use crate::store::{Bell, Store, StoreError};
use crate::systemd::Manager;

/// What is under way when the daemon is asked to end has this long.
const LAST_REQUESTS: Duration = Duration::from_secs(8);
const LOOKS_WITHOUT_BELL: Duration = Duration::from_secs(2);
/// Ready or not by then.
const READY_AT_LATEST: Duration = Duration::from_mins(1);
/// Not more often the service manager is told how things stand.
const TELLS: Duration = Duration::from_secs(5);

/// The dispatcher at work, and all it listens to.
pub(super) struct Work {
    pub(super) dispatch: Dispatch,
    pub(super) loops: Loops,
    /// Whether every folder has been looked at.
    watching: watch::Receiver<bool>,
    pulse: Pulse,
    pub(super) manager: Arc<Manager>,
    clock: Clock,
    bell: Option<Bell>,
    ready: bool,
    /// When the service manager was told how things stand.
    told: Option<Instant>,
}

impl Work {
    pub(super) fn new(
        dispatch: Dispatch,
        loops: Loops,
        pulse: Pulse,
        manager: Arc<Manager>,
        clock: Clock,
        bell: Option<Bell>,
    ) -> Self {
        let watching = loops.watching.clone();
        Self { dispatch, loops, watching, pulse, manager, clock, bell, ready: false, told: None }
    }

    pub(super) async fn run(
        &mut self,
        store: &Store,
        taken: &Notify,
        stop: impl Future<Output = ()>,
    ) -> anyhow::Result<()> {
        tokio::pin!(stop);
        let longest = if self.bell.is_some() { LOOKS } else { LOOKS_WITHOUT_BELL };
        let ready_by = Instant::now() + READY_AT_LATEST;
        loop {
            self.pulse.begins();
            let next = self.dispatch.tick().await?;
            let tell_again = self.tell(store, ready_by)?;
            self.pulse.rests();
            let mut due = Instant::now() + wait(&self.clock, next, longest);
            let sooner = [tell_again, (!self.ready).then_some(ready_by)];
            due = sooner.into_iter().flatten().fold(due, Instant::min);
            let ready = self.ready;
            tokio::select! {
                biased;
                () = &mut stop => break,
                halted = store.halted() => return Err(halted.into()),
                joined = self.dispatch.joined() => joined?,
                ended = self.loops.ended() => return ended,
                _ = self.watching.changed(), if !ready => {}
                () = rung(self.bell.as_ref()) => {}
                () = taken.notified() => {}
                () = sleep_until(due) => {}
            }
        }
        journal::stopping();
        self.manager.stopping();
        self.dispatch.stop();
        let deadline = Instant::now() + LAST_REQUESTS;
        while !self.dispatch.is_idle() {
            match timeout_at(deadline, self.dispatch.joined()).await {
                Ok(joined) => joined?,
                // What has no answer by now is asked about again at the next start.
                Err(_elapsed) => break,
            }
        }
        Ok(())
    }

    /// Tells the service manager how things stand, and once that we are ready: when the folders are watched
    /// and each account has answered or is known not to. A share that hangs is not waited for longer. Gives
    /// when to tell more.
    fn tell(&mut self, store: &Store, ready_by: Instant) -> Result<Option<Instant>, StoreError> {
        if !self.ready {
            self.ready = self.dispatch.has_heard() && *self.watching.borrow() || Instant::now() >= ready_by;
            if self.ready {
                journal::ready();
                self.manager.ready();
            }
        }
        if !self.manager.is_there() {
            return Ok(None);
        }
        let again = self.told.map(|told| told + TELLS).filter(|again| Instant::now() < *again);
        if again.is_none() {
            self.told = Some(Instant::now());
            self.manager.stands(stands(store)?);
        }
        Ok(again)
    }
}

/// In a line.
fn stands(store: &Store) -> Result<String, StoreError> {
    let (mut posted, mut followed, mut waits) = (0, 0, store.drops_held()?);
    for (state, count) in store.under_way()? {
        match state.as_str() {
            "confirmed" => followed += count,
            "held" => waits += count,
            _to_be_posted => posted += count,
        }
    }
    Ok(format!("{posted} being posted, {followed} followed until they ship, {waits} wait for a person"))
}

async fn rung(bell: Option<&Bell>) {
    match bell {
        Some(bell) => bell.rung().await,
        None => std::future::pending().await,
    }
}
