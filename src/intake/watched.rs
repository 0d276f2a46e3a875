//! One folder as it is watched: opened, looked at, and what of it is finished.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;

use super::books::BookAlarm;
use super::held_up::HeldUp;
use super::hints::Hints;
use super::laid::Hands;
use super::litter::is_litter;
use super::settle::{Name, Settling, Stamp};
use super::shared::{Shared, settle_time, together};
use super::shelf_names::{self, ShelfNames, is_directory};
use super::stamp::stamp_inside;
use super::waiting::Waiting;
use super::wish::Hand;
use super::work::Work;
use super::{IntakeError, epoch, hands};
use crate::config::{Accept, FirstStart, Folder, LetterKind, WatchMode};
use crate::drop::{self, Kind, is_pdf, pdf_of, shown, sidecars_of};
use crate::hot::{Away, Hot, Known, kind};
use crate::texts::{Language, Names};

/// How soon after a look hints lead to another: a large copy gives thousands.
const BREATH: TimeDelta = TimeDelta::milliseconds(100);
/// An away folder is tried again.
pub(super) const TRY_AGAIN: TimeDelta = TimeDelta::seconds(5);
/// Without a hint, in case one was lost.
const SAFETY_LOOK: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_secs(5);
/// Rights may be given to a directory above, which is not seen.
const STUCK_WAITS: TimeDelta = TimeDelta::minutes(1);

#[derive(Debug, Default)]
pub(super) struct Watched {
    pub(super) settling: Settling,
    hands: Hands,
    ready: VecDeque<Work>,
    /// Claims that wait, until when, and what they looked like.
    pub(super) claims: BTreeMap<String, (TimeDelta, Option<u64>)>,
    /// By the steady clock.
    next_look: Option<TimeDelta>,
    last_look: Option<TimeDelta>,
    is_hinted: bool,
    pub(super) waiting: Waiting,
    /// What its filesystem says is not younger than this was there before, unless it is known.
    pub(super) since: i64,
    pub(super) known: HashSet<Name>,
    /// What was there before, by name and inode: it stays so whatever is changed of it later.
    was_there: HashSet<(Name, u64)>,
    /// What we have no right to move, as it was then, and when that is tried again.
    stuck: HashMap<Name, (Stamp, TimeDelta)>,
    path: PathBuf,
    pub(super) epoch: epoch::Told,
    pub(super) trouble: Option<String>,
    /// Whether this run has said how it is.
    pub(super) is_told: bool,
    pub(super) opened: bool,
    /// Whether drops wait for the folder's address book.
    pub(super) book: BookAlarm,
    held_up: HeldUp,
    /// The names of its shelves, and those they were read for.
    shelves: Option<(Names, Language, ShelfNames)>,
}

impl Watched {
    pub(super) fn hinted(&mut self) {
        self.is_hinted = true;
    }

    pub(super) fn has_no_work(&self) -> bool {
        self.ready.is_empty() && self.claims.is_empty()
    }

    /// A claim is decided (again) then.
    pub(super) fn resume(&mut self, dir: String, at: TimeDelta, looks: Option<u64>) {
        self.claims.insert(dir, (at, looks));
    }

    pub(super) fn look_again(&mut self, at: TimeDelta) {
        self.next_look = Some(self.next_look.map_or(at, |next| next.min(at)));
    }

    /// A drop stays where it was dropped.
    pub(super) fn is_held_up(&mut self, work: &Work, why: drop::HeldUp, now: TimeDelta) {
        if let Some((name, _)) = work.main() {
            self.held_up.note(name.clone(), why, now);
        }
    }

    /// A drop can't be moved; says whether that is news.
    pub(super) fn sticks(&mut self, name: Name, stamp: &Stamp, now: TimeDelta) -> bool {
        let before = self.stuck.insert(name, (stamp.clone(), now + STUCK_WAITS));
        before.is_none_or(|(before, _)| before != *stamp)
    }

    pub(super) fn work(&mut self, now: TimeDelta) -> Option<Work> {
        let due = self.claims.iter().find(|(_, (at, _))| *at <= now).map(|(dir, _)| dir.clone());
        if let Some(dir) = due {
            let looks = self.claims.remove(&dir).and_then(|(_, looks)| looks);
            return Some(Work::Claimed(dir, looks));
        }
        self.ready.pop_front()
    }

    /// Looks if it is time to; gives when the next look is due, by the steady clock.
    pub(super) async fn look(
        &mut self,
        shared: &Arc<Shared>,
        known: &Known,
        hints: &mut Hints,
    ) -> Result<TimeDelta, IntakeError> {
        let now = shared.clock.steady();
        if known.folder.path != self.path {
            // Nothing of what was seen elsewhere counts here.
            *self = Self { path: known.folder.path.clone(), trouble: self.trouble.take(), ..Self::default() };
        }
        if known.hot.is_none() {
            self.ready.clear();
        }
        let breath = self.last_look.map_or(now, |last| last + BREATH);
        let mut due = self.next_look.unwrap_or(now);
        if self.is_hinted {
            due = due.min(breath);
        }
        if let Some(hot) = &known.hot {
            self.epoch.tell(&shared.store, hot, now)?;
        }
        // What is finished is taken in before one looks for more.
        if now < due || !self.ready.is_empty() {
            return Ok(self.earliest(due.max(now + TimeDelta::milliseconds(1)), now));
        }
        self.is_hinted = false;
        self.last_look = Some(now);
        let folder = &known.folder;
        self.book.look(shared, folder).await?;
        let looked = match self.opened_with_shelves(shared, known).await? {
            Ok(hot) => match self.scan(shared, folder, &hot) {
                Ok(next) => {
                    // People may have removed them.
                    let furnished = hot.furnish(&[&folder.names.approve, &folder.names.cancel]);
                    let heard = furnished.is_ok() && self.watch(folder, &hot, hints);
                    let names =
                        self.shelves.as_ref().map(|(_, _, shelves)| shelves.clone()).unwrap_or_default();
                    hands::look(&mut self.hands, shared, folder, (&hot, &names), now).await?;
                    self.held_up.look(shared, folder, &hot, self.hands.failed()).await?;
                    self.epoch.compare(&shared.store, now)?;
                    let took = shared.clock.steady() - now;
                    shared.registry.looked(&folder.name, shared.clock.now(), took, heard);
                    Ok(self.after_look(folder, &hot, heard, next, now))
                }
                Err(error) => Err(Away::Closed(error)),
            },
            Err(away) => Err(away),
        };
        let next = match looked {
            Ok(next) => {
                self.tell(shared, folder, None).await?;
                next
            }
            Err(away) => {
                shared.registry.set(&folder.name, None);
                self.opened = false;
                // What comes back is another directory, and must be watched anew.
                hints.watch(&folder.name, &[]);
                self.tell(shared, folder, Some(away.to_string())).await?;
                now + TRY_AGAIN
            }
        };
        self.next_look = Some(next);
        Ok(self.earliest(next, now))
    }

    /// The folder opened, and the names that its shelves have and had.
    async fn opened_with_shelves(
        &mut self,
        shared: &Shared,
        known: &Known,
    ) -> Result<Result<Arc<Hot>, Away>, IntakeError> {
        let hot = match self.opened(shared, known).await? {
            Ok(hot) => hot,
            Err(away) => return Ok(Err(away)),
        };
        let folder = &known.folder;
        let is_known = self
            .shelves
            .as_ref()
            .is_some_and(|(names, language, _)| *names == folder.names && *language == folder.language);
        if !is_known {
            match shelf_names::in_force(shared, folder).await? {
                Ok(names) => self.shelves = Some((folder.names.clone(), folder.language, names)),
                Err(wrong) => return Ok(Err(Away::ShelfName(wrong))),
            }
        }
        Ok(Ok(hot))
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
        [next, self.hands.next()].into_iter().flatten().fold(safety, TimeDelta::min)
    }

    fn watch(&self, folder: &Folder, hot: &Hot, hints: &mut Hints) -> bool {
        let mut dirs = Vec::new();
        if folder.mode == WatchMode::Events || (folder.mode == WatchMode::Auto && !hot.is_remote()) {
            dirs.push(hot.path.clone());
            let names = self.shelves.as_ref().map(|(_, _, shelves)| shelves.clone()).unwrap_or_default();
            let names = [Hand::Approve, Hand::Cancel].map(|hand| names.of_hand(hand)).into_iter().flatten();
            dirs.extend(names.filter(|name| is_directory(folder, name)).map(|name| hot.path.join(name)));
            if folder.letter == LetterKind::Subfolder {
                let names = self.settling.names().map(|name| hot.path.join(shown(name)));
                dirs.extend(names.filter(|path| path.is_dir()));
            }
        }
        hints.watch(&folder.name, &dirs) && !dirs.is_empty()
    }

    /// Looks at everything that is there; what is finished becomes work.
    fn scan(&mut self, shared: &Shared, folder: &Folder, hot: &Hot) -> io::Result<Option<TimeDelta>> {
        let mut listing = Vec::new();
        for seen in hot.list(None)? {
            let is_shelf = |(_, _, shelves): &(_, _, ShelfNames)| shelves.contains(&shown(&seen.name));
            if is_litter(folder, &seen.name) || self.shelves.as_ref().is_some_and(is_shelf) {
                continue;
            }
            let inside = match kind(&seen.stat) {
                Some(Kind::Directory) if folder.letter == LetterKind::Subfolder => {
                    // It may be gone or something else by now; others do not wait for it.
                    let Ok(inside) = hot.inside(&seen.name) else { continue };
                    stamp_inside(inside)
                }
                // Directories of people's own are left alone; one that looks like a PDF is not.
                Some(Kind::Directory) if !is_pdf(&seen.name) => continue,
                Some(_) | None => 0,
            };
            let stamp = Stamp::of(&seen, inside);
            if stamp.times.1 <= self.since && !self.known.contains(&seen.name) {
                self.was_there.insert((seen.name.clone(), stamp.inode));
            }
            listing.push((seen.name, stamp));
        }
        let settle = settle_time(folder, hot);
        self.held_up.retain(&listing);
        self.waiting.lie_alone(&listing, shared.clock.steady());
        let waits = |name: &[u8], settling: &Settling| self.waiting.extra(folder, name, settling);
        let now = shared.clock.steady();
        let look = self.settling.look(now, settle, listing, waits);
        self.stuck.retain(|name, _| self.settling.knows(name));
        self.was_there.retain(|(name, _)| self.settling.knows(name));
        let ready = Some(look.ready).filter(|_| folder.accept == Accept::Yes).unwrap_or_default();
        let finished: HashMap<Name, Stamp> = ready.iter().cloned().collect();
        let sticks = |name: &Name, stamp: &Stamp| {
            self.stuck.get(name).is_some_and(|(before, until)| before == stamp && now < *until)
        };
        for (name, stamp) in ready {
            if sticks(&name, &stamp) {
                continue;
            }
            if pdf_of(&name).is_some() {
                if self.waiting.is_alone(&name) {
                    self.settling.forget(&name);
                    self.ready.push_back(Work::Sidecar((name, stamp)));
                }
                continue;
            }
            let sidecars = sidecars_of(&name).filter(|sidecar| self.settling.knows(sidecar));
            let settled = |sidecar: Name| finished.get(&sidecar).map(|stamp| (sidecar, stamp.clone()));
            let Some(mut parts) = sidecars.map(settled).collect::<Option<Vec<_>>>() else { continue };
            let was_there = folder.first_start == FirstStart::Hold
                && self.was_there.contains(&(name.clone(), stamp.inode));
            self.settling.forget(&name);
            let (lacked, had_no_end) = self.waiting.over(&name, &stamp);
            let is_document =
                !was_there && folder.letter == LetterKind::File && stamp.kind.is_none() && is_pdf(&name);
            let peek =
                is_document && !lacked && parts.is_empty() && folder.rules.may_need_sidecar(&shown(&name));
            parts.push((name, stamp));
            self.ready.push_back(Work::Drop { parts, was_there, peek, may_grow: is_document && !had_no_end });
        }
        Ok(look.next)
    }
}
