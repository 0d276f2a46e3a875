//! The model's daemon: what it remembers, what it has in hand, and how it performs what is decided.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use mailchute::guard::{Counts, Terms, Weighed};
use mailchute::hot::{CLAIMING, MOVING, MoveStep};
use mailchute::intake::{KnownClaim, Next, Record, Stamp, is_ours, next};
use mailchute::letter::Number;

use super::disk::{Dir, Disk, File};
use super::looks::{settling, stamp};
use super::sizes::{Locks, Size};
use super::{Bytes, State};

/// A drop must be still for so many ticks.
const SETTLE: i64 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Daemon {
    /// Once it knows the folder: what was there before.
    was_there: Option<BTreeSet<usize>>,
    /// The marker it laid into the folder, and the first claim after that.
    mark: (u8, u8),
    pub rows: Vec<Row>,
    /// Entries that wait for the dispatcher.
    pub spool: Vec<Entry>,
    pub up: Option<Up>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    claim: u8,
    drop: u8,
    bytes: Bytes,
    by_person: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Row {
    claim: u8,
    drop: u8,
    bytes: Bytes,
    what: What,
    /// Where it is recorded to lie; `None` if it is gone.
    place: Option<Dir>,
    /// Where it was about to be moved.
    moving: Option<Dir>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Waits,
    Accepted,
    Letter { held: bool, posted: bool, by_person: bool },
}

/// What a crash takes away.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Up {
    pub is_open: bool,
    /// The folder was away.
    came_back: bool,
    /// Names, what they looked like, and since when.
    seen: Vec<(u8, Stamp, i64)>,
    /// To be decided: the claim, and what it looked like since when.
    claims: Vec<(u8, Option<(u8, i64)>)>,
    pub hand: Option<Hand>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Hand {
    Claim { claim: u8, file: usize, version: u8, step: usize },
    Decide { claim: u8, version: u8 },
    Shelve { row: usize, file: usize, from: Dir, to: Dir, step: usize },
    TakeBack { row: usize, file: usize, step: usize },
}

impl Row {
    fn belongs(&self) -> Dir {
        match self.what {
            What::Waits | What::Letter { held: true, .. } => Dir::Held,
            What::Letter { posted: true, .. } => Dir::Sent,
            What::Accepted | What::Letter { .. } => Dir::Claim(self.claim),
        }
    }

    pub fn is_due(&self) -> bool {
        // What a person accepts is taken back by whoever hears it, and by nobody else.
        self.what != What::Accepted && self.place.is_some_and(|place| place != self.belongs())
    }

    pub fn may_go(&self) -> bool {
        matches!(self.what, What::Letter { held: false, posted: false, .. })
    }
}

/// The drop in a claim.
fn held(disk: &Disk, claim: u8) -> Option<usize> {
    disk.lying(Dir::Claim(claim)).next().map(|(file, _)| file)
}

impl Daemon {
    pub fn start(&mut self) {
        self.up = Some(Up::default());
    }

    /// The server of its share was cut off; perhaps that is noticed.
    pub fn lose_sight(&mut self, noticed: bool) {
        let Some(up) = self.up.as_mut().filter(|up| up.is_open && noticed) else { return };
        (up.is_open, up.came_back, up.hand) = (false, true, None);
    }

    pub fn has_bytes_of(&self, drop: u8) -> bool {
        let is_letter = |row: &Row| row.drop == drop && matches!(row.what, What::Letter { .. });
        self.rows.iter().any(is_letter) || self.spool.iter().any(|entry| entry.drop == drop)
    }

    pub fn has_claim_due(&self, state: &State) -> bool {
        let is_due = |(claim, looks): &(u8, Option<(u8, i64)>)| match (looks, held(&state.disk, *claim)) {
            (Some((version, since)), Some(file)) => {
                state.disk.files[file].version != *version || state.now - since >= SETTLE
            }
            (Some((_, since)), None) => state.now - since >= SETTLE,
            (None, _) => true,
        };
        self.up.as_ref().is_some_and(|up| up.claims.iter().any(is_due))
    }

    fn row_of(&self, claim: u8) -> Option<usize> {
        self.rows.iter().position(|row| row.claim == claim)
    }

    fn knows(&self, claim: u8) -> (Option<Record>, bool) {
        let record = self.row_of(claim).map(|row| Record {
            accepted: self.rows[row].what == What::Accepted,
            in_claim: self.rows[row].place == Some(Dir::Claim(claim)),
        });
        (record, self.spool.iter().any(|entry| entry.claim == claim))
    }

    fn up(&mut self) -> &mut Up {
        self.up.as_mut().unwrap()
    }
}

impl State {
    pub fn open(&mut self, size: &Size, index: usize) {
        let daemon = &mut self.daemons[index];
        let is_new = daemon.was_there.is_none() || daemon.mark.0 != self.disk.marker;
        let up = daemon.up.as_mut().unwrap();
        if is_new || up.came_back {
            let known = |file: &File| {
                let is_seen = up.seen.iter().any(|(seen, _, _)| *seen == file.name);
                up.came_back && is_seen && file.at() == Some(Dir::Folder)
            };
            // Older than the marker is whatever there is, wherever it lies: a cut may bring it back.
            let old = self.disk.files.iter().enumerate().filter(|(_, file)| !known(file));
            daemon.was_there.get_or_insert_default().extend(old.map(|(file, _)| file));
        }
        if is_new {
            self.disk.marker += 1;
            daemon.mark = (self.disk.marker, self.next_claim);
        }
        (up.is_open, up.came_back) = (true, false);
        let begun: Vec<Dir> = daemon.rows.iter().filter_map(|row| row.moving).collect();
        self.disk.make_last(&begun);
        let mut claims = Vec::new();
        for claim in self.disk.claims() {
            let (record, in_spool) = daemon.knows(claim);
            let is_since = !is_new && daemon.mark.1 <= claim;
            if !is_ours(record.is_some() || in_spool, is_since, size.locks != Locks::None) {
                self.disk.was_there.insert(claim);
            }
            claims.push((claim, None));
        }
        daemon.up().claims = claims;
    }

    /// One look at the folder and at where people say yes; the first that is finished is taken in hand.
    pub fn look(&mut self, index: usize) {
        let said = self.disk.lying(Dir::Approve).map(|(file, found)| (file, found.drop)).next();
        let daemon = &mut self.daemons[index];
        if let Some((file, drop)) = said {
            let is_away = self.disk.lying(Dir::Held).all(|(_, found)| found.drop != drop);
            let row = daemon.rows.iter().position(|row| {
                let waits = row.place == Some(Dir::Held) || row.what == What::Accepted;
                row.drop == drop && waits && is_away
            });
            if let Some(row) = row {
                daemon.accept(row);
                daemon.up().hand = Some(Hand::TakeBack { row, file, step: 0 });
            } else {
                // Nobody waits for that: it is laid aside, with a text.
                for step in MOVING {
                    self.disk.go(step, file, Dir::Approve, Dir::Held);
                }
            }
            return;
        }
        let listing: Vec<(Vec<u8>, Stamp)> = self
            .disk
            .lying(Dir::Folder)
            .map(|(file, found)| (vec![found.name], stamp(file, found.version)))
            .collect();
        let mut settling = settling(&daemon.up().seen);
        let settle = std::time::Duration::from_secs(SETTLE.unsigned_abs());
        let look = settling.look(TimeDelta::seconds(self.now), settle, listing.clone(), |_, _| None);
        let seen = listing
            .iter()
            .map(|(name, stamp)| (name[0], stamp.clone(), settling.since(name).unwrap().num_seconds()));
        let mut seen: Vec<_> = seen.collect();
        if let Some((name, stamp)) = look.ready.first() {
            seen.retain(|(seen, _, _)| *seen != name[0]);
            let file = usize::try_from(stamp.inode).unwrap();
            let claim = self.next_claim;
            self.next_claim += 1;
            if daemon.was_there.as_ref().is_some_and(|old| old.contains(&file)) {
                self.disk.was_there.insert(claim);
            }
            self.disk.make_place(claim);
            let version = u8::try_from(stamp.size).unwrap();
            daemon.up().hand = Some(Hand::Claim { claim, file, version, step: 0 });
        }
        daemon.up().seen = seen;
    }

    /// A claim that is looked at until it is still, and then decided.
    pub fn resume(&mut self, index: usize) {
        let up = self.daemons[index].up();
        for place in 0..up.claims.len() {
            let (claim, looks) = up.claims[place];
            let version = held(&self.disk, claim).map_or(0, |file| self.disk.files[file].version);
            match looks {
                Some((seen, since)) if seen == version => {
                    if self.now - since >= SETTLE {
                        up.claims.remove(place);
                        up.hand = Some(Hand::Decide { claim, version });
                        return;
                    }
                }
                Some(_) | None => {
                    up.claims[place].1 = Some((version, self.now));
                    return;
                }
            }
        }
    }

    pub fn go(&mut self, index: usize) {
        let Some(hand) = self.daemons[index].up().hand.take() else { return };
        let next = match hand {
            Hand::Claim { claim, file, version, step } => self.claiming(claim, file, version, step),
            Hand::Decide { claim, version } => self.decide(index, claim, version),
            Hand::Shelve { row, file, from, to, step } => {
                self.moving(index, MOVING.as_slice(), row, file, (from, to), step)
            }
            Hand::TakeBack { row, file, step } => {
                let claim = self.daemons[index].rows[row].claim;
                self.disk.make_place(claim);
                self.moving(index, CLAIMING.as_slice(), row, file, (Dir::Approve, Dir::Claim(claim)), step)
            }
        };
        self.daemons[index].up().hand = next;
    }

    fn claiming(&mut self, claim: u8, file: usize, version: u8, step: usize) -> Option<Hand> {
        if !self.disk.go(CLAIMING[step], file, Dir::Folder, Dir::Claim(claim)) {
            // Somebody took it away again.
            self.disk.unclaim(claim);
            return None;
        }
        if step + 1 < CLAIMING.len() {
            return Some(Hand::Claim { claim, file, version, step: step + 1 });
        }
        Some(Hand::Decide { claim, version })
    }

    fn decide(&mut self, index: usize, claim: u8, version: u8) -> Option<Hand> {
        let daemon = &mut self.daemons[index];
        let (record, in_spool) = daemon.knows(claim);
        let file = held(&self.disk, claim);
        let was_there = self.disk.was_there.contains(&claim);
        let row = daemon.row_of(claim);
        let in_claim = Some(Dir::Claim(claim));
        match (next(KnownClaim { holds_drop: file.is_some(), record, in_spool, was_there }), file) {
            (Next::Judge, Some(file)) => {
                let file = &self.disk.files[file];
                if file.version != version {
                    let looks = (file.version, self.now);
                    daemon.up().claims.push((claim, Some(looks)));
                    return None;
                }
                let bytes = (if self.same { 0 } else { file.drop }, file.version);
                if self.disk.has_twins(file.drop) {
                    // A file of two names is refused.
                    let (what, place) = (What::Waits, in_claim);
                    daemon.record(Row { claim, drop: file.drop, bytes, what, place, moving: None });
                    return None;
                }
                let by_person = row.is_some();
                daemon.spool.push(Entry { claim, drop: file.drop, bytes, by_person });
            }
            (Next::Hold, Some(file)) => {
                let file = &self.disk.files[file];
                let bytes = (file.drop, file.version);
                daemon.record(Row {
                    claim,
                    drop: file.drop,
                    bytes,
                    what: What::Waits,
                    place: in_claim,
                    moving: None,
                });
            }
            (Next::BringAlong, _) => {
                daemon.rows[row?].place = in_claim;
                return Some(Hand::Decide { claim, version });
            }
            (Next::BackToShelf, _) => daemon.rows[row?].place = in_claim,
            (Next::Clear, _) => self.disk.unclaim(claim),
            (Next::Leave | Next::Judge | Next::Hold, _) => {}
        }
        None
    }

    pub fn admit(&mut self, index: usize) {
        let daemon = &mut self.daemons[index];
        let Entry { claim, drop, bytes, by_person } = daemon.spool.remove(0);
        let is_letter = |row: &Row| matches!(row.what, What::Letter { .. });
        if daemon.rows.iter().any(|row| row.claim == claim && is_letter(row)) {
            return;
        }
        let guarded = self.guarded;
        let twin =
            daemon.rows.iter().filter(|_| guarded).position(|row| is_letter(row) && row.bytes == bytes);
        let counts = Counts { duplicate_of: twin.map(|row| Number(row as u64 + 1)), ..Counts::default() };
        let terms = Terms::default();
        let held = terms.hold(&counts, &Weighed { sheets: 1, elsewhere: None }).is_some();
        let what = What::Letter { held, posted: false, by_person };
        let row = Row { claim, drop, bytes, what, place: Some(Dir::Claim(claim)), moving: None };
        daemon.record(row);
    }

    pub fn post(&mut self, index: usize, row: usize) {
        let one = self.daemons.len() == 1;
        let row = &mut self.daemons[index].rows[row];
        let What::Letter { posted, by_person, .. } = &mut row.what else { return };
        *posted = true;
        if row.bytes.1 % 2 == 1 {
            self.broken = Some("a half written document is posted");
        }
        if !*by_person {
            if self.posted.iter().any(|(_, bytes)| *bytes == row.bytes) && self.guarded && one {
                self.broken = Some("I17: a duplicate is posted");
            }
            self.posted.push((row.drop, row.bytes));
        }
    }

    /// An original goes where its row says, if it is found.
    pub fn shelve(&mut self, index: usize, row: usize) {
        let daemon = &mut self.daemons[index];
        let (known, to) = (&daemon.rows[row], daemon.rows[row].belongs());
        let at = |dir: Dir| self.disk.lying(dir).find(|(_, file)| file.drop == known.drop);
        let places = [known.moving, known.place, Some(to), Some(Dir::Claim(known.claim))];
        let found = places.into_iter().flatten().find_map(|dir| at(dir).map(|(file, _)| (file, dir)));
        match found {
            Some((_, from)) if from == to => {
                (daemon.rows[row].place, daemon.rows[row].moving) = (Some(to), None);
            }
            Some((file, from)) => {
                daemon.rows[row].moving = Some(to);
                daemon.up().hand = Some(Hand::Shelve { row, file, from, to, step: 0 });
            }
            // A person has it in hand, and is heard first.
            None if known.place == Some(Dir::Held) && at(Dir::Approve).is_some() => {}
            None => daemon.rows[row].place = None,
        }
    }

    fn moving(
        &mut self,
        index: usize,
        order: &[MoveStep],
        row: usize,
        file: usize,
        (from, to): (Dir, Dir),
        step: usize,
    ) -> Option<Hand> {
        if !self.disk.go(order[step], file, from, to) {
            return None;
        }
        let is_back = from == Dir::Approve;
        let step = step + 1;
        if step < order.len() {
            let shelve = Hand::Shelve { row, file, from, to, step };
            return Some(if is_back { Hand::TakeBack { row, file, step } } else { shelve });
        }
        let daemon = &mut self.daemons[index];
        (daemon.rows[row].place, daemon.rows[row].moving) = (Some(to), None);
        let claim = daemon.rows[row].claim;
        if is_back {
            daemon.up().claims.push((claim, None));
        } else {
            self.disk.unclaim(claim);
        }
        None
    }

    pub fn by_a_person(&mut self, file: usize) {
        self.disk.go(MoveStep::Rename, file, Dir::Held, Dir::Approve);
    }
}

impl Daemon {
    fn record(&mut self, row: Row) {
        match self.row_of(row.claim) {
            Some(known) => self.rows[known] = row,
            None => self.rows.push(row),
        }
    }

    /// A person's word, before anything is moved.
    fn accept(&mut self, row: usize) {
        self.rows[row].what = match self.rows[row].what {
            What::Waits | What::Accepted => What::Accepted,
            What::Letter { posted, held: _, by_person: _ } => {
                What::Letter { held: false, posted, by_person: true }
            }
        };
    }
}
