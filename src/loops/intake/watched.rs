//! One watched folder: opened, looked at, and its finished drops.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;

use super::books::BookAlarm;
use super::found_claims::forgotten;
use super::held_up::HeldUpDrops;
use super::hints::Hints;
use super::laid_files::LaidFiles;
use super::obeyed::Instruction;
use super::open::NotOpened;
use super::settle::{Name, Settling, Stamp};
use super::shared::{Shared, together};
use super::shelf_names::ShelfNames;
use super::together::MOST;
use super::waiting::WaitingDrops;
use super::work::Work;
use super::{IntakeError, ReachedBy, epoch, instructions};
use crate::config::{Folder, LetterKind, WatchMode};
use crate::domain::drop::{self, shown};
use crate::loops::folders::Registered;
use crate::outside::hot::{Away, Hot, ulid_of_claim};
use crate::outside::journal;
use crate::outside::spool::Ulid;
use crate::words::texts::{Language, Names};

/// The minimum time between two looks that hints cause: a large copy causes thousands of hints. While drops wait for a
/// worker, they are offered to one as often.
const BREATH: TimeDelta = TimeDelta::milliseconds(100);
/// The wait before a folder that is away is tried again.
pub(super) const TRY_AGAIN: TimeDelta = TimeDelta::seconds(5);
/// The time between looks without a hint, in case one was lost.
const SAFETY_LOOK: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_secs(5);
/// How often commands are looked for while finished drops put off the next look.
const COMMANDS_EVERY: TimeDelta = TimeDelta::seconds(2);
/// How often claims are looked for on which nobody is working: their worker failed, or the folder was renamed meanwhile.
const FORGOTTEN_EVERY: TimeDelta = TimeDelta::minutes(10);
/// If more are coming, the next ones are claimed together when there are this many.
const ENOUGH_FREE: usize = 8;
/// With this many that are claimed and not decided, no more are claimed.
const ENOUGH_CLAIMED: usize = 8;
/// Permissions may be given to a directory above, which is not seen.
const STUCK_WAITS: TimeDelta = TimeDelta::minutes(1);

#[derive(Debug, Default)]
pub(super) struct Watched {
    pub(super) settling: Settling,
    instructions: LaidFiles,
    pub(super) ready: VecDeque<Work>,
    /// What can be claimed together.
    pub(super) free: VecDeque<Work>,
    /// What was claimed together and is to be decided.
    pub(super) claimed: VecDeque<Work>,
    /// The maximum number of finished drops that wait for a worker. What else was dropped is noticed at the next look, so a
    /// flood must not put it off.
    pub(super) max_ready: usize,
    /// What queues took and workers have, or will get.
    pub(super) laying: BTreeSet<Ulid>,
    /// Claims that wait, until when, and their stamps.
    pub(super) claims: BTreeMap<String, (TimeDelta, Option<u64>)>,
    /// When claims are looked for next on which nobody is working.
    forgotten_at: Option<TimeDelta>,
    /// By the monotonic clock.
    next_look: Option<TimeDelta>,
    last_look: Option<TimeDelta>,
    /// When commands are looked for next, if the next look is put off until then.
    commands_at: Option<TimeDelta>,
    is_hinted: bool,
    pub(super) waiting: WaitingDrops,
    /// What is not younger than this, by the file system's clock, was there before, unless it is recorded.
    pub(super) since: i64,
    pub(super) known: HashSet<Name>,
    /// What is not younger than this may be posted already.
    pub(super) posted_before: Option<i64>,
    /// What was there before, by name and inode. Later changes to it do not count.
    pub(super) was_there: HashMap<(Name, u64), EarlierContent>,
    /// Drops that we have no permission to move, with their stamps, and when that is tried again.
    pub(super) stuck: HashMap<Name, (Stamp, TimeDelta)>,
    path: PathBuf,
    /// The processes that call its file system and that of its address book.
    pub(super) reached: ReachedBy,
    pub(super) epoch: epoch::ToldEpoch,
    pub(super) trouble: Option<String>,
    /// Whether this run has reported its state.
    pub(super) is_told: bool,
    pub(super) opened: bool,
    /// Whether drops wait for the folder's address book.
    pub(super) book: BookAlarm,
    pub(super) held_up: HeldUpDrops,
    /// The names of its shelves, and the configuration for which they were read.
    pub(super) shelves: Option<(Names, Language, ShelfNames)>,
}

/// How content is treated that was in a folder before it was enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EarlierContent {
    /// As `first_start` says.
    AsConfigured,
    /// It is held: the folder was copied, put back, or used with other records.
    MayBePosted,
}

/// What must be done for a folder. Times are of the monotonic clock.
pub(super) enum DueLook {
    /// Nothing until then.
    Rest(TimeDelta),
    /// The number of our last fact is written into it. Nothing else until then.
    KeepEpoch(TimeDelta),
    Look,
    /// A look at `Approve` and `Cancel` only.
    Commands,
}

impl Watched {
    pub(super) fn hinted(&mut self) {
        self.is_hinted = true;
    }

    pub(super) fn has_no_work(&self) -> bool {
        [&self.ready, &self.free, &self.claimed].iter().all(|works| works.is_empty())
            && self.claims.is_empty()
    }

    /// A claim is decided, or decided again, at this time.
    pub(super) fn resume(&mut self, dir: String, at: TimeDelta, looks: Option<u64>) {
        self.claims.insert(dir, (at, looks));
    }

    /// What a queue took is laid and decided.
    pub(super) fn lays(&mut self, ulid: Ulid) {
        if self.laying.insert(ulid.clone()) {
            self.ready.push_back(Work::Laid(ulid));
        }
    }

    /// A claim that was found is decided when it has settled.
    pub(super) fn settles(&mut self, dir: String, now: TimeDelta) {
        self.claims.entry(dir).or_insert((now, None));
    }

    pub(super) fn look_again(&mut self, at: TimeDelta) {
        self.next_look = Some(self.next_look.map_or(at, |next| next.min(at)));
    }

    pub(super) fn look_not_before(&mut self, at: TimeDelta) {
        self.next_look = Some(at);
    }

    /// A drop stays where it was dropped.
    pub(super) fn is_held_up(&mut self, work: &Work, why: drop::HeldUp, now: TimeDelta) {
        if let Some((name, _)) = work.main() {
            self.held_up.note(name.clone(), why, now);
        }
    }

    /// A drop cannot be moved. Returns whether this is its first failure.
    pub(super) fn sticks(&mut self, name: Name, stamp: &Stamp, now: TimeDelta) -> bool {
        let before = self.stuck.insert(name, (stamp.clone(), now + STUCK_WAITS));
        before.is_none_or(|(before, _)| before != *stamp)
    }

    /// What a worker does next: one thing, or drops that it claims together. Empty if there is nothing to do, or only
    /// drops that wait while another worker is claiming.
    pub(super) fn work(&mut self, now: TimeDelta, is_claiming: bool) -> Vec<Work> {
        let due = self.claims.iter().find(|(_, (at, _))| *at <= now).map(|(dir, _)| dir.clone());
        if let Some(dir) = due {
            let looks = self.claims.remove(&dir).and_then(|(_, looks)| looks);
            return vec![Work::Claimed(dir, looks)];
        }
        if !is_claiming && self.claimed.len() < ENOUGH_CLAIMED {
            let plain = self.ready.iter().take_while(|work| work.is_plain()).take(MOST).count();
            if plain > 1 {
                return self.ready.drain(..plain).collect();
            }
            let is_last = !self.ready.front().is_some_and(Work::may_share);
            if self.free.len() >= ENOUGH_FREE || is_last && !self.free.is_empty() {
                return self.free.drain(..self.free.len().min(MOST)).collect();
            }
        }
        if let Some(claimed) = self.claimed.pop_front() {
            return vec![claimed];
        }
        if self.free.len() >= MOST {
            return Vec::new();
        }
        self.ready.pop_front().into_iter().collect()
    }

    /// What must be done here now.
    pub(super) fn due(&mut self, shared: &Shared, known: &Registered) -> DueLook {
        let (folder, now) = (&known.folder, shared.clock.steady());
        if known.folder.path != self.path {
            // What was seen elsewhere does not count here.
            *self = Self { path: known.folder.path.clone(), trouble: self.trouble.take(), ..Self::default() };
        }
        if known.hot.is_none() {
            self.begins_anew();
            self.ready.clear();
            self.laying.clear();
        }
        let due = self.look_due(folder, now);
        // Finished drops are taken in before the next look. Commands do not wait for them.
        if now >= due && self.ready.is_empty() {
            return DueLook::Look;
        }
        if now >= due && self.opened && self.commands_at.is_none_or(|at| now >= at) {
            return DueLook::Commands;
        }
        let soon = if self.ready.is_empty() { TimeDelta::milliseconds(1) } else { BREATH };
        let due = self.earliest(due.max(now + soon), now);
        let is_told = known.hot.is_none() || !self.epoch.is_due(now);
        if is_told { DueLook::Rest(due) } else { DueLook::KeepEpoch(due) }
    }

    /// When the next look is due.
    fn look_due(&self, folder: &Folder, now: TimeDelta) -> TimeDelta {
        let breath = self.last_look.map_or(now, |last| last + BREATH);
        let due = self.next_look.unwrap_or(now);
        // New names of its shelves are in force as soon as they are configured.
        let is_early = self.is_hinted || (self.opened && self.has_other_names(folder));
        if is_early { due.min(breath) } else { due }
    }

    /// Whether finished drops put off a look. Then no queue adds to them.
    pub(super) fn is_behind(&self, folder: &Folder, now: TimeDelta) -> bool {
        !self.ready.is_empty() && now >= self.look_due(folder, now)
    }

    /// Looks at `Approve` and `Cancel`, while finished drops put off the next look. Returns when there is more to do.
    pub(super) async fn look_at_commands(
        &mut self,
        shared: &Arc<Shared>,
        known: &Registered,
    ) -> Result<TimeDelta, IntakeError> {
        let now = shared.clock.steady();
        self.commands_at = Some(now + COMMANDS_EVERY);
        if let (Some(hot), Some((_, _, names))) = (&known.hot, self.shelves.clone()) {
            instructions::look(&mut self.instructions, shared, &known.folder, (hot, &names), now).await?;
        }
        Ok(now + BREATH)
    }

    /// Writes the number of our last fact into the folder, if it is time.
    pub(super) fn keep_epoch(&mut self, shared: &Shared, known: &Registered) -> Result<(), IntakeError> {
        match &known.hot {
            Some(hot) => self.epoch.tell(&shared.store, hot, shared.clock.steady()),
            None => Ok(()),
        }
    }

    /// Looks at the folder. Returns when there is more to do, by the monotonic clock. `hints` is given where
    /// hints are possible.
    pub(super) async fn look(
        &mut self,
        shared: &Arc<Shared>,
        known: &Registered,
        mut hints: Option<&mut Hints>,
    ) -> Result<TimeDelta, IntakeError> {
        let (folder, now) = (&known.folder, shared.clock.steady());
        self.keep_epoch(shared, known)?;
        self.is_hinted = false;
        self.last_look = Some(now);
        self.commands_at = Some(now + COMMANDS_EVERY);
        self.book.look(shared, folder).await?;
        // Its state is shown before a letter needs it.
        shared.postal_data(folder).await;
        let looked = match self.opened_with_shelves(shared, known).await {
            Ok(hot) => match self.scan(shared, folder, &hot) {
                Ok(next) => {
                    // People may have removed them.
                    let made_shelves = hot.make_shelves(&[&folder.names.approve, &folder.names.cancel]);
                    let heard = match &mut hints {
                        Some(hints) => made_shelves.is_ok() && self.watch(folder, &hot, hints),
                        None => false,
                    };
                    let names =
                        self.shelves.as_ref().map(|(_, _, shelves)| shelves.clone()).unwrap_or_default();
                    instructions::look(&mut self.instructions, shared, folder, (&hot, &names), now).await?;
                    self.held_up.look(shared, folder, &hot, self.instructions.failed()).await?;
                    self.epoch.compare(&shared.store, now)?;
                    self.find_forgotten(shared, folder, &hot, now)?;
                    let took = shared.clock.steady() - now;
                    let lacking = self.waiting.lacking(&self.settling);
                    shared.registry.looked(&folder.name, shared.clock.now(), took, heard, lacking);
                    Ok(self.after_look(folder, &hot, heard, next, now))
                }
                Err(error) => Err(Away::closed(error)),
            },
            Err(NotOpened::Away(away)) => Err(*away),
            Err(NotOpened::Ends(error)) => return Err(*error),
        };
        let next = match looked {
            Ok(next) => {
                self.tell(shared, folder, None).await?;
                next
            }
            Err(away) => {
                shared.registry.set(&folder.name, None);
                self.opened = false;
                // A directory that comes back is another one and must be watched anew.
                if let Some(hints) = hints {
                    hints.watch(&folder.name, &[]);
                }
                self.tell(shared, folder, Some(away.to_string())).await?;
                now + TRY_AGAIN
            }
        };
        self.next_look = Some(next);
        Ok(self.earliest(next, now))
    }

    /// Goes on with old claims that are not decided and on which nobody is working.
    fn find_forgotten(
        &mut self,
        shared: &Shared,
        folder: &Folder,
        hot: &Hot,
        now: TimeDelta,
    ) -> Result<(), IntakeError> {
        if self.forgotten_at.is_some_and(|at| now < at) {
            return Ok(());
        }
        self.forgotten_at = Some(now + FORGOTTEN_EVERY);
        // A folder that cannot be listed is away, which its next look says.
        for claim in forgotten(shared, hot, FORGOTTEN_EVERY).map_or(Ok(Vec::new()), |found| found)? {
            if !self.claims.contains_key(&claim) {
                if let Some(ulid) = ulid_of_claim(&claim) {
                    journal::claim_found_again(&folder.name, &ulid);
                }
                self.settles(claim, now);
            }
        }
        Ok(())
    }

    fn earliest(&self, look: TimeDelta, now: TimeDelta) -> TimeDelta {
        let claims = self.claims.values().map(|(at, _)| *at).filter(|at| *at > now).min();
        [claims, self.epoch.due(now)].into_iter().flatten().fold(look, TimeDelta::min)
    }

    fn after_look(
        &self,
        folder: &Folder,
        hot: &Hot,
        heard: bool,
        next: Option<TimeDelta>,
        now: TimeDelta,
    ) -> TimeDelta {
        let usual = if heard && !hot.is_remote() { SAFETY_LOOK } else { POLL };
        let safety = together(now, TimeDelta::from_std(folder.poll.unwrap_or(usual)).unwrap_or(TRY_AGAIN));
        [next, self.instructions.next()].into_iter().flatten().fold(safety, TimeDelta::min)
    }

    fn watch(&self, folder: &Folder, hot: &Hot, hints: &mut Hints) -> bool {
        let mut dirs = Vec::new();
        if folder.mode == WatchMode::Events || (folder.mode == WatchMode::Auto && !hot.is_remote()) {
            dirs.push(hot.path.clone());
            let names = self.shelves.as_ref().map(|(_, _, shelves)| shelves.clone()).unwrap_or_default();
            let names = [Instruction::Approve, Instruction::Cancel]
                .map(|instruction| names.of_instruction(instruction))
                .into_iter()
                .flatten();
            let there = names.filter(|name| hot.is_directory(name).unwrap_or(false));
            dirs.extend(there.map(|name| hot.path.join(name)));
            if folder.letter == LetterKind::Subfolder {
                let names = self.settling.names().map(|name| hot.path.join(shown(name)));
                dirs.extend(names.filter(|path| path.is_dir()));
            }
        }
        hints.watch(&folder.name, &dirs) && !dirs.is_empty()
    }
}
