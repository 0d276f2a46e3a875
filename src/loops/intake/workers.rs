//! The threads of intake: workers that take drops in, and looks at folders that a helper reaches.

use std::sync::Arc;

use chrono::TimeDelta;
use tokio::runtime::Handle;
use tokio::task::{Id, JoinError, JoinSet};

use super::busy::Busy;
use super::decide::{Claim, Done, TakeError};
use super::together::carry_out;
use super::watched::{DueLook, Watched};
use super::work::Work;
use super::{
    EndedLook, Intake, IntakeError, MOST_WAITING, READY_PER_WORKER, REST, ReachedBy, UNSETTLED, Worked,
};
use crate::domain::drop::{HeldUp, shown};
use crate::loops::folders::Registered;
use crate::outside::journal;
use crate::outside::store::RecordError;

/// The number of drops at the same time in a folder that a helper reaches: one inspects while the other
/// calls.
const AT_ONCE_APART: usize = 2;

impl Intake {
    /// Looks at a folder whose calls may take long, on a thread of its own.
    pub(super) fn look_beside(&mut self, due: DueLook, mut watched: Watched, mut known: Registered) {
        let name = known.folder.name.clone();
        self.looked_at.insert(name.clone());
        // Watching is a call on its path, and a kernel sees only its own changes there.
        self.hints.watch(&name, &[]);
        watched.reached = ReachedBy::ByHelper;
        watched.max_ready = AT_ONCE_APART * READY_PER_WORKER;
        let is_here = known.hot.as_ref().is_some_and(|hot| !hot.is_apart());
        if is_here && self.shared.reach.is_apart(&known.folder.path) {
            // Something was mounted there since it was opened.
            self.shared.registry.set(&name, None);
            watched.opened = false;
            known.hot = None;
        }
        let (shared, here) = (Arc::clone(&self.shared), Handle::current());
        self.looks.spawn_blocking(move || {
            let looked = match due {
                DueLook::Rest(due) => Ok(due),
                DueLook::KeepEpoch(due) => watched.keep_epoch(&shared, &known).map(|()| due),
                DueLook::Look => here.block_on(watched.look(&shared, &known, None)),
                DueLook::Commands => here.block_on(watched.look_at_commands(&shared, &known)),
            };
            (name, watched, looked)
        });
    }

    /// A folder has been looked at on its own thread.
    fn looked(&mut self, (name, mut watched, looked): EndedLook) -> Result<(), IntakeError> {
        self.looked_at.remove(&name);
        match looked {
            Ok(_due) => {}
            // Nothing can be written at present.
            Err(IntakeError::Record(RecordError::NotWritten(_))) => {
                watched.look_not_before(self.shared.clock.steady() + REST);
            }
            Err(error) => return Err(error),
        }
        self.watched.insert(name.clone(), watched);
        let (ours, others) =
            std::mem::take(&mut self.ended_meanwhile).into_iter().partition(|ended| ended.folder == name);
        self.ended_meanwhile = others;
        let ours: Vec<Worked> = ours;
        ours.into_iter().try_for_each(|ended| self.worked(ended))
    }

    /// Gives each folder in turn a worker, while one is idle, and begins after the folder that got the last one.
    pub(super) fn hand_out(&mut self) {
        if self.watched.values().all(Watched::has_no_work) {
            return;
        }
        if self.places == 0 {
            let waiting = self.shared.spool.arrived().map_or(0, |waiting| waiting.len());
            self.places = MOST_WAITING.saturating_sub(waiting);
        }
        if self.places == 0 {
            self.shared.bells.letters.notify_one();
            return;
        }
        let mut given = true;
        let mut here = self.busy.reached(ReachedBy::Here);
        while given && self.places > 0 {
            given = false;
            let served = self.served.clone();
            let (before, after): (Vec<_>, Vec<_>) = self
                .watched
                .iter_mut()
                .partition(|(name, _)| served.as_ref().is_some_and(|served| *name <= served));
            for (name, watched) in after.into_iter().chain(before) {
                let Some(known) = self.shared.registry.get(name) else { continue };
                let Some(hot) = known.hot else { continue };
                // Drops in a folder that does not answer must not occupy the workers of others.
                let reached = watched.reached;
                let is_free = match reached {
                    ReachedBy::Here => here < self.at_once,
                    ReachedBy::ByHelper => self.busy.in_folder(name) < AT_ONCE_APART,
                };
                if self.places == 0 || !is_free {
                    continue;
                }
                let work = watched.work(self.shared.clock.steady(), self.busy.is_claiming(name));
                if work.is_empty() {
                    continue;
                }
                given = true;
                self.served = Some(name.clone());
                self.places -= 1;
                let are_many = watched.are_many();
                let claim_of = |work: Work| {
                    let (folder, hot) = (Arc::clone(&known.folder), Arc::clone(&hot));
                    let claim = Claim::new(&self.shared, folder, hot, work.claim(&self.shared)?);
                    Some((Claim { is_one_of_many: are_many, ..claim }, work))
                };
                let claims: Vec<_> = work.into_iter().filter_map(claim_of).collect();
                let Some((Claim { ulid, .. }, _)) = claims.first() else { continue };
                let drop = (name.clone(), ulid.clone());
                if self.busy.has(&drop) {
                    watched.laying.remove(ulid);
                    continue;
                }
                if reached == ReachedBy::Here {
                    here += 1;
                }
                let claims_several = claims.len() > 1;
                let worker = begin(&mut self.workers, reached, carry_out(name.clone(), claims));
                self.busy.add(drop, Busy { reached, worker, claims_several });
            }
        }
    }

    /// Handles the next worker or look that ends, and all workers that have ended by then. Never resolves if none is running.
    pub async fn joined(&mut self) -> Result<(), IntakeError> {
        tokio::select! {
            Some(worked) = self.workers.join_next() => {
                self.handle_ended(worked)?;
                while let Some(worked) = self.workers.try_join_next() {
                    self.handle_ended(worked)?;
                }
                Ok(())
            }
            Some(looked) = self.looks.join_next() => match looked {
                Ok(looked) => self.looked(looked),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            else => std::future::pending().await,
        }
    }

    fn handle_ended(&mut self, worked: Result<Vec<Worked>, JoinError>) -> Result<(), IntakeError> {
        match worked {
            Ok(worked) => worked.into_iter().try_for_each(|ended| self.worked(ended)),
            Err(error) => {
                journal::drop_panicked();
                if let Some((folder, ulid)) = self.busy.remove_of(error.id())
                    && self.watched.get_mut(&folder).is_some_and(|watched| watched.laying.remove(&ulid))
                {
                    self.not_laid.insert(ulid, self.shared.clock.steady() + REST);
                }
                Ok(())
            }
        }
    }

    fn worked(&mut self, ended: Worked) -> Result<(), IntakeError> {
        self.busy.remove(&(ended.folder.clone(), ended.ulid.clone()));
        if self.looked_at.contains(&ended.folder) {
            self.ended_meanwhile.push(ended);
            return Ok(());
        }
        let Worked { folder: name, ulid, claim, work, hot, peeked, done } = ended;
        // The folder's file may have been renamed meanwhile. Its claims were listed when it was opened under its new
        // name, perhaps before this one was made.
        let name = match self.shared.registry.get(&name) {
            Some(known) if !self.watched.contains_key(&name) => known.folder.name.clone(),
            Some(_) | None => name,
        };
        let Some(watched) = self.watched.get_mut(&name) else { return Ok(()) };
        if let Work::Laid(ulid) = &work {
            watched.laying.remove(ulid);
        }
        let now = self.shared.clock.steady();
        let open = self.shared.registry.get(&name).and_then(|known| known.hot);
        let is_still_open = open.is_some_and(|open| std::ptr::eq(Arc::as_ptr(&open), hot.as_ptr()));
        let done = match done {
            Ok(done) => done,
            Err(error) => return self.failed(&name, claim, work, error),
        };
        match (done, work) {
            (Done::Free, work) if is_still_open => watched.is_free(work, peeked),
            (Done::Claimed, work) if is_still_open => watched.is_claimed(claim, &work, peeked),
            // It lies in its folder, or the next look finds it.
            (Done::Free, _) => {}
            (Done::Claimed, _) => watched.settles(claim, now),
            (Done::Decided | Done::Nothing, _) => watched.epoch.advanced(now),
            (Done::MadeDirectory, _) => watched.resume(ulid.to_string(), now, None),
            (Done::Lacks(drop), _) => {
                watched.waiting.lacks(drop);
                watched.look_again(now);
            }
            (Done::HasNoEnd(drop, stamp), _) => {
                watched.waiting.has_no_end(drop, stamp);
                watched.look_again(now);
            }
            (Done::RulesUnsettled, work) => {
                watched.is_held_up(&work, HeldUp::Rules, now);
                watched.look_again(now + UNSETTLED);
            }
            (Done::BookUnsettled, work) => {
                watched.is_held_up(&work, HeldUp::Book, now);
                watched.book.drop_waits();
                watched.look_again(now + UNSETTLED);
            }
            (Done::Later(wait, looks), _) => {
                watched.resume(claim, now + TimeDelta::from_std(wait).unwrap_or(REST), Some(looks));
            }
        }
        Ok(())
    }

    /// A drop could not be taken in.
    fn failed(&mut self, name: &str, claim: String, work: Work, error: TakeError) -> Result<(), IntakeError> {
        let Some(watched) = self.watched.get_mut(name) else { return Ok(()) };
        let now = self.shared.clock.steady();
        match (error, work) {
            (TakeError::Record(error @ RecordError::Halted(_)), _) => return Err(error.into()),
            (TakeError::NoRight, work @ (Work::Drop { .. } | Work::Free { .. } | Work::Sidecar { .. })) => {
                if let Some((drop, stamp)) = work.main()
                    && watched.sticks(drop.clone(), stamp, now)
                {
                    journal::no_right_to_claim(name, &shown(drop));
                }
                watched.is_held_up(&work, HeldUp::Right, now);
                watched.look_again(now);
            }
            (error, work) => {
                if let Work::Laid(ulid) = work {
                    self.not_laid.insert(ulid, now + REST);
                }
                journal::not_claimed(name, &error);
                watched.resume(claim, now + REST, None);
            }
        }
        Ok(())
    }
}

/// Starts a worker. Where a helper calls, it has a thread of its own.
fn begin(
    workers: &mut JoinSet<Vec<Worked>>,
    reached: ReachedBy,
    work: impl Future<Output = Vec<Worked>> + Send + 'static,
) -> Id {
    let worker = match reached {
        ReachedBy::Here => workers.spawn(work),
        ReachedBy::ByHelper => {
            let handle = Handle::current();
            workers.spawn_blocking(move || handle.block_on(work))
        }
    };
    worker.id()
}
