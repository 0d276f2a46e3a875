//! The model check of queues: the shipped decisions on a key that comes again (`again`), on a print job that comes
//! again (`job_means`), on where work resumes (`resumes`), and the shipped orders of steps (`TAKING`, `LAYING`),
//! under every order of requests, repeats, lost answers, crashes, refusals, holds and lost records that a size
//! allows.

mod printing;
mod recovery;
pub mod sizes;

use std::collections::{BTreeMap, BTreeSet};

use mailchute::domain::incoming::{KeyMeans, KnownIncoming, LAYING, QueueStep, TAKING, again, resumes};
use stateright::{Model, Property};

use sizes::Size;
pub use sizes::{SMALL, explore};

/// What may still happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    pub requests: u8,
    pub crashes: u8,
    pub refusals: u8,
    pub holds: u8,
    /// Databases made anew from the ledger.
    pub losses: u8,
}

/// What a program sends: its key, and its content.
pub type Sent = (u8, u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// It waits for its key.
    Asks,
    Takes(usize),
    Answers(u8),
    /// It says that it has its answer.
    Acknowledges(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    sent: Sent,
    id: u8,
    /// Whether a person must look: the queue was closed when its key was looked up, or its job came before.
    distrusted: bool,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Row {
    key: Option<u8>,
    content: u8,
    distrusted: bool,
    marked: bool,
    /// The printing system has its answer.
    acknowledged: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    Letter,
    Held,
    Refused,
}

/// Whether keys may be missing: then the queue is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Records {
    Kept,
    /// The database was made anew, and nothing was started since.
    JustLost,
    Lost,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    up: bool,
    requests: Vec<Request>,
    /// The spool's files, durable.
    kept: BTreeMap<u8, (Sent, bool)>,
    rows: BTreeMap<u8, Row>,
    /// Letters have their keys in the ledger.
    ledger: BTreeMap<u8, Sent>,
    /// The folder: claims, and originals on shelves.
    claims: BTreeSet<u8>,
    shelved: BTreeSet<u8>,
    fates: BTreeMap<u8, Fate>,
    /// The next step of what intake has in hand.
    laying: BTreeMap<u8, usize>,
    records: Records,
    /// What each was, for the properties.
    was: BTreeMap<u8, Sent>,
    /// Posted without a person.
    posted: Vec<u8>,
    /// What programs have an answer for: this is taken.
    answered: BTreeSet<(Sent, u8)>,
    /// What printing systems are done with. They hand it in again only if somebody prints it again.
    done: BTreeSet<u8>,
    printer: bool,
    next: u8,
    left: Budget,
    broken: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Send(Sent),
    /// One step of a request.
    Go(usize),
    /// One step of laying something.
    Lay(u8),
    Decide(u8, Fate),
    Crash,
    Start,
    Lose,
}

#[derive(Debug, Clone)]
pub struct Queue {
    pub size: Size,
}

impl Model for Queue {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            up: true,
            requests: Vec::new(),
            kept: BTreeMap::new(),
            rows: BTreeMap::new(),
            ledger: BTreeMap::new(),
            claims: BTreeSet::new(),
            shelved: BTreeSet::new(),
            fates: BTreeMap::new(),
            laying: BTreeMap::new(),
            records: Records::Kept,
            was: BTreeMap::new(),
            posted: Vec::new(),
            answered: BTreeSet::new(),
            done: BTreeSet::new(),
            printer: self.size.is_printer,
            next: 0,
            left: self.size.budget,
            broken: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if !state.up {
            actions.push(Action::Start);
            actions.extend((state.left.losses > 0).then_some(Action::Lose));
            return;
        }
        if state.left.requests > 0 {
            actions.extend(self.size.sends.iter().map(|sent| Action::Send(*sent)));
        }
        actions.extend((0..state.requests.len()).filter(|n| state.may_go(*n)).map(Action::Go));
        actions.extend(
            state.rows.iter().filter(|(id, row)| state.has_work(**id, **row)).map(|(id, _)| Action::Lay(*id)),
        );
        for id in state.claims.iter().filter(|id| state.is_undecided(**id)) {
            actions.push(Action::Decide(*id, Fate::Letter));
            actions.extend((state.left.refusals > 0).then_some(Action::Decide(*id, Fate::Refused)));
            actions.extend((state.left.holds > 0).then_some(Action::Decide(*id, Fate::Held)));
        }
        actions.extend((state.left.crashes > 0).then_some(Action::Crash));
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        state.act(action);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("nothing breaks", |_, state| state.broken.is_none()),
            Property::<Self>::always("a key is posted once", |_, state| {
                let keys: BTreeSet<u8> = state.posted.iter().map(|id| state.was[id].0).collect();
                keys.len() == state.posted.len()
            }),
            Property::<Self>::always("what was answered is somewhere", |_, state| {
                state.answered.iter().all(|(_, id)| state.has(*id))
            }),
            Property::<Self>::always("an answer is about what was sent", |_, state| {
                state.answered.iter().all(|(sent, id)| state.was[id] == *sent)
            }),
            Property::<Self>::always("the same has the same answer", |model, state| {
                let can_differ = model.size.budget.refusals > 0 || model.size.budget.losses > 0;
                let can_differ = can_differ || model.size.is_printer;
                let sent: BTreeSet<Sent> = state.answered.iter().map(|(sent, _)| *sent).collect();
                can_differ || sent.len() == state.answered.len()
            }),
            Property::<Self>::always("an end is reached", |model, state| state.clone().ends(model)),
            Property::<Self>::sometimes("a letter is posted", |_, state| !state.posted.is_empty()),
        ]
    }
}

impl State {
    fn has(&self, id: u8) -> bool {
        self.kept.contains_key(&id)
            || self.claims.contains(&id)
            || self.shelved.contains(&id)
            || self.fates.contains_key(&id)
    }

    /// A key is used by one request at a time.
    fn may_go(&self, n: usize) -> bool {
        let request = &self.requests[n];
        let has_key =
            |other: &Request| other.sent.0 == request.sent.0 && matches!(other.phase, Phase::Takes(_));
        match request.phase {
            Phase::Asks => !self.requests.iter().any(has_key),
            Phase::Takes(_) | Phase::Answers(_) | Phase::Acknowledges(_) => true,
        }
    }

    fn has_work(&self, id: u8, row: Row) -> bool {
        !row.marked || self.laying.contains_key(&id)
    }

    fn is_undecided(&self, id: u8) -> bool {
        !self.fates.contains_key(&id) && !self.laying.contains_key(&id)
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Send(sent) => {
                self.left.requests -= 1;
                let id = self.next;
                self.next += 1;
                self.was.insert(id, sent);
                self.requests.push(Request { sent, id, distrusted: false, phase: Phase::Asks });
                self.requests.sort();
            }
            Action::Go(n) => self.go(n),
            Action::Lay(id) => self.lay(id),
            Action::Decide(id, fate) => self.decide(id, fate),
            Action::Crash => {
                self.left.crashes -= 1;
                self.up = false;
                self.requests.clear();
                self.laying.clear();
            }
            Action::Start => self.start(),
            Action::Lose => self.lose(),
        }
    }

    fn go(&mut self, n: usize) {
        let Request { sent: (key, content), id, distrusted, phase } = self.requests[n];
        match phase {
            Phase::Asks if self.printer => self.hand_in(n),
            Phase::Asks => {
                let known = self.rows.iter().find(|(_, row)| row.key == Some(key));
                let known = known.map(|(id, row)| (*id, row.content.to_string()));
                let known = known.as_ref().map(|(id, content)| (*id, content.as_str()));
                match again(known, &content.to_string()) {
                    KeyMeans::New => {
                        self.requests[n].distrusted = self.records != Records::Kept;
                        self.requests[n].phase = Phase::Takes(0);
                    }
                    KeyMeans::Same(id) => self.requests[n].phase = Phase::Answers(id),
                    KeyMeans::Another => drop(self.requests.remove(n)),
                }
            }
            Phase::Takes(at) => {
                match TAKING[at] {
                    QueueStep::Keep => drop(self.kept.insert(id, ((key, content), distrusted))),
                    QueueStep::Record if self.is_used(key) && !self.printer => {
                        self.requests.remove(n);
                        return;
                    }
                    QueueStep::Record => {
                        let (marked, acknowledged) = (false, false);
                        let row = Row { key: Some(key), content, distrusted, marked, acknowledged };
                        self.rows.insert(id, row);
                    }
                    QueueStep::Lay | QueueStep::Mark | QueueStep::Remove => {
                        self.broken = Some("not a step of the door");
                    }
                }
                let is_last = at + 1 == TAKING.len();
                self.requests[n].phase = if is_last { Phase::Answers(id) } else { Phase::Takes(at + 1) };
            }
            Phase::Answers(id) => {
                let request = self.requests.remove(n);
                if self.fates.get(&id) != Some(&Fate::Refused) {
                    self.answered.insert((request.sent, id));
                    if self.printer {
                        self.requests.push(Request { phase: Phase::Acknowledges(id), ..request });
                    }
                }
            }
            Phase::Acknowledges(id) => {
                self.requests.remove(n);
                // It was refused meanwhile, and its job may come again.
                if let Some(row) = self.rows.get_mut(&id).filter(|row| row.key.is_some()) {
                    row.acknowledged = true;
                    self.done.insert(id);
                }
            }
        }
        self.requests.sort();
    }

    fn is_used(&self, key: u8) -> bool {
        self.rows.values().any(|row| row.key == Some(key))
    }

    fn lay(&mut self, id: u8) {
        let row = self.rows[&id];
        let at = self.laying.get(&id).copied().unwrap_or_else(|| {
            let is_there = self.fates.contains_key(&id) || self.claims.contains(&id);
            let first = resumes(KnownIncoming { is_marked: row.marked, is_there });
            LAYING.iter().position(|step| *step == first).unwrap()
        });
        match LAYING[at] {
            // What the spool lost is reported, and waits.
            QueueStep::Lay if !self.kept.contains_key(&id) => return,
            QueueStep::Lay => drop(self.claims.insert(id)),
            QueueStep::Mark => self.rows.get_mut(&id).unwrap().marked = true,
            QueueStep::Remove => drop(self.kept.remove(&id)),
            QueueStep::Keep | QueueStep::Record => self.broken = Some("not a step of intake"),
        }
        if at + 1 == LAYING.len() {
            self.laying.remove(&id);
        } else {
            self.laying.insert(id, at + 1);
        }
    }

    fn decide(&mut self, id: u8, wanted: Fate) {
        // A claim that the records do not know is held.
        let is_trusted = self.rows.get(&id).is_some_and(|row| !row.distrusted);
        let fate = if is_trusted { wanted } else { Fate::Held };
        match fate {
            Fate::Letter => {
                self.posted.push(id);
                let key = self.rows[&id].key.map(|key| (key, self.rows[&id].content));
                self.ledger.extend(key.map(|sent| (id, sent)));
            }
            Fate::Held if is_trusted => self.left.holds -= 1,
            Fate::Held => {}
            Fate::Refused => {
                self.left.refusals -= 1;
                self.rows.get_mut(&id).unwrap().key = None;
            }
        }
        self.fates.insert(id, fate);
        self.claims.remove(&id);
        self.shelved.insert(id);
    }

    /// Nothing goes wrong from here on: whether everything that is kept, recorded or claimed is decided.
    fn ends(mut self, model: &Queue) -> bool {
        self.left = Budget { requests: 0, crashes: 0, refusals: 0, holds: 0, losses: 0 };
        for _round in 0..100 {
            let mut actions = Vec::new();
            model.actions(&self, &mut actions);
            match actions.into_iter().find_map(|action| model.next_state(&self, action)) {
                Some(next) => self = next,
                None => break,
            }
        }
        let is_decided = |id: &u8| self.fates.contains_key(id) || self.shelved.contains(id);
        self.kept.is_empty() && self.claims.is_empty() && self.rows.keys().all(is_decided)
    }
}
