//! The model's daemon: what it holds in memory, how it performs and how it records.

use std::sync::Arc;

use chrono::TimeDelta;
use mailchute::base::clock::Time;
use mailchute::domain::letter::{CancelAnswer, CancelWish, ConfirmAnswer, ReadAnswer};
use mailchute::domain::letter::{
    Change, Command, Evidence, Fact, Letter, Mail, Moment, Number, Outcome, Retry, Start, State as Stage,
    Step, Trouble, UploadAnswer,
};
use mailchute::outside::store::{Agreement, union};
use mailchute::sandbox::world::{Created, Reply};

use super::service::{self, Treatment, outcome};
use super::{Action, Fate, Message, Posting, State};

pub type Entry = (Fact, Time);
type Fields = Vec<(String, String)>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Daemon {
    up: Option<Up>,
    pub realm: usize,
}

/// What a crash takes away.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Up {
    letter: Letter,
    /// Where to upload for mail `k`.
    targets: Option<(u32, Vec<Fields>)>,
    /// Since when its steady clock has run for the letter's present mail.
    since: Time,
    writing: Option<Writing>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Writing {
    facts: Vec<Arc<Entry>>,
    attempts: u32,
    in_ledger: bool,
}

impl Daemon {
    pub fn is_up(&self) -> bool {
        self.up.is_some()
    }

    pub fn is_writing(&self) -> bool {
        self.up.as_ref().is_some_and(|up| up.writing.is_some())
    }

    fn holds_the_lock(&self) -> bool {
        self.up.as_ref().and_then(|up| up.writing.as_ref()).is_some_and(|writing| writing.in_ledger)
    }

    pub fn crash(&mut self) {
        self.up = None;
    }

    pub fn letter(&self) -> Option<&Letter> {
        self.up.as_ref().map(|up| &up.letter)
    }

    fn next_step(&self, state: &State) -> Option<Step> {
        let up = self.up.as_ref()?;
        Some(up.letter.next_step(&self.moment(state)))
    }

    fn moment(&self, state: &State) -> Moment {
        Moment {
            now: state.our_now(),
            jitter: 0,
            realm: service::realm(self.realm),
            start: Start::Go,
            retry: Retry::default(),
        }
    }

    /// What goes out on the line next, if anything.
    pub fn message(&self, state: &State) -> Option<Message> {
        let up = self.up.as_ref()?;
        let mail = || up.letter.state.mail().map(|mail| mail.id.clone()).unwrap_or_default();
        let upload = |document: usize| {
            let (k, fields) = up.targets.as_ref()?;
            let current = up.letter.state.mail().is_some_and(|mail| mail.k == *k);
            current.then(|| Message::Upload { fields: fields[document].clone(), document })
        };
        match self.next_step(state)? {
            Step::Create => Some(Message::Create),
            Step::Upload { document } => upload(document),
            Step::UploadAgain => upload(0),
            Step::Read => Some(Message::Read { mail: mail() }),
            Step::Confirm => Some(Message::Confirm { mail: mail() }),
            Step::Cancel => Some(Message::Cancel { mail: mail() }),
            Step::Abandon(_) | Step::Hold(_) | Step::Wait(_) | Step::Nothing => None,
        }
    }
}

impl State {
    pub fn our_now(&self) -> Time {
        self.service.now() + TimeDelta::minutes(self.skew)
    }

    /// The database's lock: from the first half of writing to the second nobody else writes.
    pub fn may_write(&self, index: usize) -> bool {
        self.daemons.iter().enumerate().all(|(other, daemon)| other == index || !daemon.holds_the_lock())
    }

    /// Everything durable, made one; a contradiction is held.
    pub fn recovered(&self) -> Option<(Letter, Agreement)> {
        let (facts, agreement) = union(self.database.clone(), self.ledger.clone(), |one, other| one == other);
        let facts = facts.iter().map(|entry| (entry.0.clone(), entry.1));
        Letter::fold(Number(1), facts).ok().flatten().map(|letter| (letter, agreement))
    }

    pub fn start(&mut self, index: usize) {
        let running = (0..self.daemons.len()).any(|other| other != index && self.daemons[other].is_up());
        let known = if running {
            // Another one is at work on this store: only what it has committed counts.
            let facts = self.database.iter().map(|entry| (entry.0.clone(), entry.1));
            Letter::fold(Number(1), facts).ok().flatten().map(|letter| (letter, Agreement::Same))
        } else {
            self.recovered()
        };
        self.known = known.as_ref().map(|(letter, _)| letter.clone());
        let Some((letter, agreement)) = known else {
            self.broken = Some("I7: facts contradict each other");
            return;
        };
        if !running {
            let (whole, _) = union(self.database.clone(), self.ledger.clone(), |one, other| one == other);
            self.database.clone_from(&whole);
            self.ledger = whole;
        }
        let since = self.service.now();
        let mut up = Up { letter, targets: None, since, writing: None };
        if agreement == Agreement::Contradiction {
            let moment = self.daemons[index].moment(self);
            let change = up.letter.after(&Outcome::Restored, &moment);
            up.writing = writing(&change, self.our_now());
        }
        self.daemons[index].up = Some(up);
    }

    pub fn step(&mut self, model: &Posting, index: usize, fate: Fate) {
        let Some(step) = self.daemons[index].next_step(self) else { return };
        let letter = self.daemons[index].letter().unwrap().clone();
        self.watch(&letter, &step);
        let message = self.daemons[index].message(self);
        let outcome = match (&step, message) {
            (Step::Abandon(why), _) => Outcome::Abandon(*why),
            (Step::Hold(reason), _) => Outcome::Hold(reason.clone()),
            (Step::Wait(time), _) => Outcome::Wait(*time),
            (Step::Nothing, _) => Outcome::Nothing,
            (Step::Upload { .. }, None) => Outcome::Upload(UploadAnswer::TargetsLost),
            (Step::UploadAgain, None) => Outcome::UploadAgain(UploadAnswer::TargetsLost),
            (_, None) => return,
            (_, Some(message)) => self.send(model, index, &letter, message, fate),
        };
        let outcome = match (step, outcome) {
            (Step::UploadAgain, Outcome::Upload(answer)) => Outcome::UploadAgain(answer),
            (_, outcome) => outcome,
        };
        self.conclude(index, &outcome);
    }

    fn send(
        &mut self,
        model: &Posting,
        index: usize,
        letter: &Letter,
        message: Message,
        fate: Fate,
    ) -> Outcome {
        let realm = self.daemons[index].realm;
        self.watch_confirm(index, &message);
        let unknown = Outcome::Trouble(Trouble::Unknown("no answer".into()));
        let treatment = match fate {
            Fate::Lost => return unknown,
            Fate::Late => {
                self.late.push((realm, message));
                return unknown;
            }
            Fate::Stale => Treatment::Stale,
            Fate::PaymentInProgress => Treatment::PaymentInProgress,
            Fate::Declined => Treatment::Declined,
            Fate::Plain | Fate::ReplyLost | Fate::Stray404 | Fate::Stray402 => Treatment::Plain,
        };
        let since = self.daemons[index].up.as_ref().unwrap().since;
        let now = self.service.now();
        let evidence = Evidence { server: model.size.dates.then_some(now), watched: now - since };
        match (fate, &message) {
            (Fate::Stray404, Message::Read { .. }) => return Outcome::Read(ReadAnswer::NotFound(evidence)),
            (Fate::Stray404, Message::Cancel { .. }) => {
                return Outcome::Cancel(CancelAnswer::NotFound(evidence));
            }
            (Fate::Stray404, _) => return Outcome::Confirm(ConfirmAnswer::NotFound(evidence)),
            (Fate::Stray402, _) => return Outcome::Confirm(ConfirmAnswer::Declined(evidence)),
            (_, _) => {}
        }
        let reply = self.service.call(realm, &model.order, &message, treatment);
        if fate == Fate::ReplyLost {
            return unknown;
        }
        let k = letter.mails + 1;
        if let Reply::Created(created) = &reply {
            let fields = created.contents.iter().map(|content| content.fields.0.clone()).collect();
            let up = self.daemons[index].up.as_mut().unwrap();
            up.targets = Some((k, fields));
            up.since = now;
        }
        let skew = TimeDelta::minutes(self.skew);
        let made = |created: &Created| Mail {
            k,
            id: created.id.to_string(),
            realm: service::realm(realm),
            contents: vec![],
            ships_at: created.ships_at,
            confirm_by: created.confirm_by,
            upload_until: created.targets_expire_at + skew,
            confirm_until: created.confirm_by + skew,
        };
        outcome(&message, reply, evidence, made)
    }

    pub fn ask(&mut self, index: usize, command: Command) {
        self.conclude(index, &Outcome::Asked(command));
    }

    fn conclude(&mut self, index: usize, outcome: &Outcome) {
        let moment = self.daemons[index].moment(self);
        let now = self.our_now();
        let up = self.daemons[index].up.as_mut().unwrap();
        let change = up.letter.after(outcome, &moment);
        up.writing = writing(&change, now);
        if up.writing.is_none() {
            up.letter.attempts = turn(&up.letter, change.attempts);
        }
    }

    /// Where nothing can come in between, a step and its writing are one.
    pub fn write_undisturbed(&mut self, model: &Posting, index: usize) {
        let left = self.left;
        if self.daemons.len() == 1 && left.crashes == 0 && left.losses == 0 && left.switches == 0 {
            self.write(model, index);
            self.write(model, index);
        }
    }

    /// Ledger, then database; whoever finds that others wrote in between looks again.
    pub fn write(&mut self, model: &Posting, index: usize) {
        let up = self.daemons[index].up.as_mut().unwrap();
        let Some(writing) = up.writing.as_mut() else { return };
        if !writing.in_ledger {
            let seen = up.letter.facts;
            if model.size.checks_version && seen != self.database.len() as u64 {
                self.daemons[index].crash();
                self.start(index);
                return;
            }
            writing.in_ledger = true;
            self.ledger.extend(writing.facts.iter().cloned());
            return;
        }
        let Some(writing) = up.writing.take() else { return };
        for entry in &writing.facts {
            if up.letter.apply(&entry.0, entry.1).is_err() {
                self.broken = Some("I7: a change contradicts the letter");
                return;
            }
        }
        up.letter.attempts = turn(&up.letter, writing.attempts);
        self.database.extend(writing.facts);
        self.known = Some(Letter { attempts: 0, ..up.letter.clone() });
    }

    pub fn arrive(&mut self, model: &Posting, index: usize, keep: bool) {
        let (realm, message) = if keep { self.late[index].clone() } else { self.late.remove(index) };
        self.service.call(realm, &model.order, &message, Treatment::Plain);
    }

    pub fn lose(&mut self, action: Action) {
        let crashed = |daemons: &mut Vec<Daemon>| daemons.iter_mut().for_each(Daemon::crash);
        crashed(&mut self.daemons);
        match action {
            Action::LoseDatabase => self.database.clear(),
            Action::OlderDatabase => self.database.truncate(self.database.len() / 2),
            Action::LoseLedger => self.ledger.clear(),
            _other => {}
        }
    }
}

fn writing(change: &Change, now: Time) -> Option<Writing> {
    if change.facts.is_empty() {
        return None;
    }
    let facts = change.facts.iter().map(|fact| Arc::new((fact.clone(), now))).collect();
    Some(Writing { facts, attempts: change.attempts, in_ledger: false })
}

/// Only the turn of questions about a cancellation depends on the count, so the model keeps no more of it.
fn turn(letter: &Letter, attempts: u32) -> u32 {
    match &letter.state {
        Stage::Withdrawing { .. } | Stage::Confirmed { wish: CancelWish::Asked, .. } => attempts % 2,
        _other => 0,
    }
}
