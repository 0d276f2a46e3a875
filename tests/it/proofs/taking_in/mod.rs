//! The model check of taking in: the shipped decisions on what is finished, what a claim is, whose it is,
//! which folder this is, which letter a person means and whether these records may post, and the shipped
//! orders of moves, syncs and comparisons, under every order of writing, editing, crashes, power cuts,
//! losses, copies, a second daemon and people's wishes that a size allows.

mod daemon;
mod disk;
mod inputs;
mod judging;
mod looks;
mod people;
pub mod sizes;
mod taking;
mod wishes;

use std::collections::BTreeSet;

use stateright::{Model, Property};

use daemon::{Daemon, Hand};
use disk::{Dir, Disk, Part};
use inputs::Input;
use people::{Change, Place};
use sizes::{Locks, Size};
pub use sizes::{SMALL, explore};

/// What may still happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    pub drops: u8,
    /// Times that a file is written anew when it was whole.
    pub rewrites: u8,
    pub ticks: u8,
    pub crashes: u8,
    /// Power cuts; of a share: of its server.
    pub cuts: u8,
    /// Times that a person moves something to where it is approved.
    pub approvals: u8,
    /// Times that a person copies something there, or moves or copies it to where it is cancelled.
    pub wishes: u8,
    /// Times that the address book or the rules are edited.
    pub edits: u8,
    /// Times that the folder is moved, copied or restored.
    pub changes: u8,
    /// State directories lost.
    pub losses: u8,
    /// State directories copied.
    pub copies: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    pub disk: Disk,
    pub daemons: Vec<Daemon>,
    pub now: i64,
    pub next_claim: u8,
    pub next_drop: u8,
    /// What was posted without a person's word: drop and bytes.
    pub posted: Vec<(u8, Bytes)>,
    pub left: Budget,
    /// Every drop has the same bytes.
    pub same: bool,
    /// Whether duplicates are held.
    pub guarded: bool,
    pub book: Input,
    pub rules: Input,
    pub place: Place,
    /// Claims that a person has cancelled before they were posted.
    pub withdrawn: BTreeSet<u8>,
    pub broken: Option<&'static str>,
}

/// What a document is known by.
pub type Bytes = (u8, u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Drop(u8),
    Write(usize),
    Tick,
    /// A person moves or copies an original to where something is said about it.
    Wish {
        file: usize,
        to: Dir,
        by_copy: bool,
    },
    EditBook,
    EditRules,
    Change(Change),
    CopyState {
        database: bool,
    },
    Start(usize),
    /// The rules are read again.
    Reload(usize),
    Crash(usize),
    /// One step of what a daemon has in hand.
    Go(usize),
    Open(usize),
    Look(usize),
    Resume(usize),
    Admit(usize),
    Post(usize, usize),
    Shelve(usize, usize),
    /// One of the ways in which a cut may end; a share's daemons may notice it.
    Cut {
        way: usize,
        noticed: bool,
        /// Entries whose names were not synced are lost.
        loses: bool,
    },
    LoseState(usize),
}

#[derive(Debug, Clone)]
pub struct TakingIn {
    pub size: Size,
}

impl TakingIn {
    fn daemon_actions(&self, state: &State, index: usize, actions: &mut Vec<Action>) {
        let daemon = &state.daemons[index];
        let Some(up) = &daemon.up else { return actions.push(Action::Start(index)) };
        if self.size.rules && up.rules != Some(state.rules.version) {
            actions.push(Action::Reload(index));
        }
        if up.hand.is_some() {
            actions.push(Action::Go(index));
        } else if !up.is_open {
            actions.extend(state.may_open(self.size.locks, index).then_some(Action::Open(index)));
        } else {
            actions.push(Action::Look(index));
            actions.extend(daemon.has_claim_due(state).then_some(Action::Resume(index)));
            let due = daemon.rows.iter().enumerate().filter(|(_, row)| row.is_due(daemon));
            actions.extend(due.map(|(row, _)| Action::Shelve(index, row)));
        }
        if !daemon.spool.is_empty() {
            actions.push(Action::Admit(index));
        }
        let ready = daemon.rows.iter().enumerate().filter(|(_, row)| row.may_go());
        actions.extend(ready.map(|(row, _)| Action::Post(index, row)));
    }
}

impl Model for TakingIn {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut disk = Disk::default();
        disk.syncs = self.size.syncs;
        if self.size.before {
            disk.create(0, Part::Pdf, 0);
            disk.files[0].version = 2;
        }
        vec![State {
            disk,
            daemons: vec![Daemon::default(); self.size.daemons],
            now: 0,
            next_claim: 0,
            next_drop: 1,
            posted: vec![],
            left: self.size.budget,
            same: self.size.same,
            guarded: self.size.guarded,
            book: Input::default(),
            rules: Input::default(),
            place: Place::default(),
            withdrawn: BTreeSet::new(),
            broken: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        state.people(&self.size, actions);
        let left = state.left;
        for index in 0..state.daemons.len() {
            self.daemon_actions(state, index, actions);
            if left.crashes > 0 && state.daemons[index].up.is_some() {
                actions.push(Action::Crash(index));
            }
            if left.losses > 0 && state.daemons[index] != Daemon::default() {
                actions.push(Action::LoseState(index));
            }
        }
        if left.cuts > 0 {
            for way in 0..state.disk.ways() {
                actions.push(Action::Cut { way, noticed: true, loses: false });
                let may_lose =
                    state.daemons.iter().any(|daemon| daemon.spool.iter().any(|entry| !entry.lasts));
                // The spool is on no share.
                let other = if self.size.is_share {
                    Some(Action::Cut { way, noticed: false, loses: false })
                } else {
                    may_lose.then_some(Action::Cut { way, noticed: true, loses: true })
                };
                actions.extend(other);
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        state.act(&self.size, action);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("nothing breaks", |_, state| state.broken.is_none()),
            Property::<Self>::always("no drop is posted twice", |_, state| {
                let of = |drop: u8| state.posted.iter().filter(|(posted, _)| *posted == drop).count();
                (0..state.next_drop).all(|drop| of(drop) <= 1)
            }),
            Property::<Self>::always("no drop is lost", |_, state| {
                let durable = |file: &disk::File| {
                    let recorded = |daemon: &Daemon| daemon.has_bytes_of(file.drop);
                    let lies = |other: &disk::File| {
                        (other.drop, other.part) == (file.drop, file.part) && other.at().is_some()
                    };
                    state.disk.files.iter().any(lies) || state.daemons.iter().any(recorded)
                };
                state.disk.files.iter().all(durable)
            }),
            Property::<Self>::always("what was there before is not posted", |model, state| {
                !model.size.before || model.size.takes || state.posted.iter().all(|(drop, _)| *drop != 0)
            }),
            Property::<Self>::always("what a first start takes is not held", |model, state| {
                let Size { takes, budget, .. } = model.size;
                !takes || budget.losses > 0 || state.disk.was_there.is_empty()
            }),
            Property::<Self>::always("an end is reached", |model, state| {
                !model.size.ends || state.clone().end(model).is_ok()
            }),
            Property::<Self>::sometimes("a drop is posted", |_, state| !state.posted.is_empty()),
            Property::<Self>::sometimes("two are claimed together", |_, state| {
                let hands = state.daemons.iter().filter_map(|daemon| daemon.up.as_ref()?.hand.as_ref());
                hands.into_iter().any(|hand| matches!(hand, Hand::ClaimTogether { .. }))
            }),
        ]
    }
}

impl State {
    fn act(&mut self, size: &Size, action: Action) {
        match action {
            Action::Drop(name) => self.drop(size, name),
            Action::Write(index) => {
                let file = &mut self.disk.files[index];
                self.left.rewrites -= u8::from(file.version.is_multiple_of(2));
                file.version += 1;
                file.pause = 0;
            }
            Action::Tick => {
                self.left.ticks -= 1;
                self.pass();
            }
            Action::Wish { file, to, by_copy } => self.wish(file, to, by_copy),
            Action::EditBook | Action::EditRules => {
                let input = if action == Action::EditBook { &mut self.book } else { &mut self.rules };
                self.left.edits -= u8::from(!input.is_being_written());
                input.write();
            }
            Action::Change(change) => self.change(change),
            Action::CopyState { database } => self.copy_state(database),
            Action::Start(index) => self.daemons[index].start(index),
            Action::Reload(index) => self.reload(index),
            Action::Crash(index) => {
                self.left.crashes -= 1;
                self.daemons[index].up = None;
            }
            Action::Go(index) => self.go(size, index),
            Action::Open(index) => self.open(size, index),
            Action::Look(index) => self.look(size, index),
            Action::Resume(index) => self.resume(index),
            Action::Admit(index) => self.admit(size, index),
            Action::Post(index, row) => self.post(index, row),
            Action::Shelve(index, row) => self.shelve(index, row),
            Action::Cut { way, noticed, loses } => {
                self.left.cuts -= 1;
                self.disk.cut(way);
                for daemon in &mut self.daemons {
                    daemon.spool.retain(|entry| entry.lasts || !loses);
                    if size.is_share {
                        daemon.lose_sight(noticed);
                    } else {
                        daemon.up = None;
                    }
                }
            }
            Action::LoseState(index) => {
                self.left.losses -= 1;
                self.daemons[index] = Daemon::default();
            }
        }
    }

    pub fn pass(&mut self) {
        self.now += 1;
        for file in &mut self.disk.files {
            file.pause += u8::from(file.version % 2 == 1);
        }
        for input in [&mut self.book, &mut self.rules] {
            input.pause += u8::from(input.is_being_written());
        }
    }

    /// Whether the folder can be opened: no other has it, as far as its locks tell.
    fn may_open(&self, locks: Locks, index: usize) -> bool {
        let has = |daemon: &Daemon| daemon.up.as_ref().is_some_and(|up| up.is_open);
        locks != Locks::Work
            || self.daemons.iter().enumerate().all(|(other, daemon)| other == index || !has(daemon))
    }

    /// A sidecar whose PDF was claimed without it is handed back after a while.
    fn rests(&self, file: &disk::File) -> bool {
        match file.at() {
            Some(Dir::Held | Dir::Done | Dir::Elsewhere) | None => true,
            Some(Dir::Folder) => {
                let is_its_pdf = |other: &disk::File| other.part == Part::Pdf && other.name == file.name;
                file.part == Part::Sidecar
                    && !self.disk.lying(Dir::Folder).any(|(_, other)| is_its_pdf(other))
            }
            Some(Dir::Claim(_) | Dir::Approve | Dir::Cancel) => false,
        }
    }

    /// Nothing goes wrong from here on, and every drop comes to its end; otherwise where it rests.
    pub fn end(mut self, model: &TakingIn) -> Result<(), Box<Self>> {
        self.left = sizes::OVER;
        if (0..self.disk.files.len()).any(|file| self.disk.has_twins(file)) {
            // It is refused under each of its names, or its other name is in the way and the journal says so.
            return Ok(());
        }
        if model.size.is_share {
            // What its server forgot unnoticed is found at the next start.
            self.daemons.iter_mut().for_each(|daemon| daemon.up = None);
        }
        for _round in 0..200 {
            let mut actions = Vec::new();
            for index in 0..self.daemons.len() {
                model.daemon_actions(&self, index, &mut actions);
            }
            for index in 0..self.disk.files.len() {
                let file = &mut self.disk.files[index];
                file.version += file.version % 2;
            }
            for input in [&mut self.book, &mut self.rules] {
                input.version += input.version % 2;
            }
            let at_rest = self.disk.files.iter().all(|file| self.rests(file));
            let busy = actions.iter().filter(|action| !matches!(action, Action::Look(_)));
            let mut next = busy.filter_map(|action| model.next_state(&self, *action));
            if let Some(next) = next.next() {
                self = next;
                continue;
            }
            if at_rest {
                return Ok(());
            }
            let looks: Vec<Action> = (0..self.daemons.len()).map(Action::Look).collect();
            let looked = looks.into_iter().filter(|look| actions.contains(look));
            match looked.into_iter().find_map(|look| model.next_state(&self, look)) {
                Some(next) => self = next,
                None => self.pass(),
            }
        }
        Err(Box::new(self))
    }
}
