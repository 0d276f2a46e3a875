//! The model check: the shipped decisions of a letter against the shipped rules of the service, under
//! every order of lost, late, doubled and lying messages, crashes and losses that a size allows.
//!
//! The daemon here performs and records as the real one does, in steps that can be broken off
//! anywhere; what it decides is `Letter::fold`, `next_step`, `after` and `store::union` themselves.

mod daemon;
mod properties;
mod service;
pub mod sizes;

use std::sync::Arc;

use chrono::TimeDelta;
use mailchute::base::clock::Time;
use mailchute::domain::address::{Address, Receiver};
use mailchute::domain::letter::{Command, Document, Fact, Letter, Method, Order, Print, Shipping};
use mailchute::sandbox::world::Card;
use stateright::{Model, Property};

pub use daemon::{Daemon, Entry};
pub use service::{Message, Service};
use sizes::Size;
pub use sizes::{SMALL, explore};

/// What may still go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Budget {
    /// Messages lost, late, doubled, or answered with "busy" or from a lagging replica.
    pub faults: u8,
    /// Answers that are plainly untrue: a 402 or 404 for a mail that stands. The rule of the two keys
    /// holds against one of them, at whatever moment; against two that fit together nothing would.
    pub lies: u8,
    pub crashes: u8,
    /// Jumps of time.
    pub ticks: u8,
    /// A person's commands.
    pub commands: u8,
    /// The database or the ledger lost, or an older database put back.
    pub losses: u8,
    /// Restarts with another account's credentials.
    pub switches: u8,
    /// Changes of the card.
    pub cards: u8,
    /// Our wall clock set wrong by a day.
    pub skews: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    pub service: Service,
    pub ledger: Vec<Arc<Entry>>,
    pub database: Vec<Arc<Entry>>,
    /// The fold of the database.
    pub known: Option<Letter>,
    pub daemons: Vec<Daemon>,
    /// Requests that will arrive later, under this account, and whose answers nobody waits for.
    pub late: Vec<(usize, Message)>,
    /// How far our wall clock is off.
    pub skew: i64,
    pub left: Budget,
    pub cancel_sent: bool,
    pub broken: Option<&'static str>,
}

/// What becomes of a daemon's next message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    Plain,
    /// It never arrives, or is refused with a 500.
    Lost,
    /// It has its effect, and the answer is lost or a 500.
    ReplyLost,
    /// It arrives later, once or twice.
    Late,
    Stray404,
    Stray402,
    Stale,
    PaymentInProgress,
    Declined,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Step(usize, Fate),
    /// The next half of writing: the ledger, then the database.
    Write(usize),
    Crash(usize),
    Start(usize),
    /// With the other account's credentials, or back with the first's.
    Switch(usize),
    Ask(usize, Command),
    /// A late request arrives; kept, it will arrive once more.
    Arrive {
        index: usize,
        keep: bool,
    },
    Pass(i64),
    Card(bool),
    LoseDatabase,
    OlderDatabase,
    LoseLedger,
    SkewClock,
}

pub fn noon() -> Time {
    "2026-11-20T03:00:00Z".parse().unwrap()
}

pub fn order(documents: usize) -> Order {
    let address = |name: &str| Address {
        postal_code: "0600001".into(),
        state: "北海道".into(),
        city: "札幌市".into(),
        address1: "1".into(),
        name: name.into(),
    };
    let document = Document {
        name: "a.pdf".into(),
        size: 100,
        pages: 1,
        sha256: "00".into(),
        print: Print {
            color: mailchute::domain::letter::Color::Grayscale,
            duplex: mailchute::domain::letter::Duplex::Double,
            staple: None,
            bind: false,
        },
    };
    Order {
        account: "main".into(),
        source: "test".into(),
        shipping: Shipping { method: Method::LetterpackLite, options: vec![] },
        sender: address("s"),
        receiver: Receiver { address: address("r"), honorific: "様".into() },
        reply_letterpack: None,
        not_before: None,
        sealed_pdf: false,
        cost_centre: None,
        print_notes: vec![],
        place_doubt: None,
        documents: vec![document; documents],
    }
}

/// The model of one size.
#[derive(Debug, Clone)]
pub struct Posting {
    pub size: Size,
    pub order: Arc<Order>,
}

impl Posting {
    pub fn new(size: Size) -> Self {
        Self { size, order: Arc::new(order(size.documents)) }
    }

    fn faulty(state: &State, index: usize, actions: &mut Vec<Action>) {
        use Fate::{Declined, Late, Lost, PaymentInProgress, Plain, ReplyLost, Stale, Stray402, Stray404};
        let fates: &[Fate] = match state.daemons[index].message(state) {
            None => &[Plain],
            Some(Message::Create | Message::Upload { .. }) => &[Plain, Lost, ReplyLost],
            Some(Message::Read { .. }) => &[Plain, Lost, Stale, Stray404],
            Some(Message::Confirm { .. }) => {
                &[Plain, Lost, ReplyLost, Late, Stray404, Stray402, PaymentInProgress, Declined]
            }
            Some(Message::Cancel { .. }) => &[Plain, Lost, ReplyLost, Late, Stray404],
        };
        let fates = fates.iter().filter(|fate| match fate {
            Plain => true,
            Stray402 | Stray404 => state.left.lies > 0,
            Lost | ReplyLost | Late | Stale | PaymentInProgress | Declined => state.left.faults > 0,
        });
        actions.extend(fates.map(|fate| Action::Step(index, *fate)));
    }
}

impl Model for Posting {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let admitted = Arc::new((
            Fact::Admitted { entry: String::new(), order: Arc::clone(&self.order), queued: None },
            noon(),
        ));
        let mut state = State {
            service: Service::new(noon()),
            ledger: vec![Arc::clone(&admitted)],
            database: vec![admitted],
            known: None,
            daemons: vec![Daemon::default(); self.size.daemons],
            late: vec![],
            skew: 0,
            left: self.size.budget,
            cancel_sent: false,
            broken: None,
        };
        for index in 0..self.size.daemons {
            state.start(index);
        }
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let left = state.left;
        for (index, daemon) in state.daemons.iter().enumerate() {
            if !daemon.is_up() {
                actions.push(Action::Start(index));
                continue;
            }
            if daemon.is_writing() {
                if state.may_write(index) {
                    actions.push(Action::Write(index));
                }
            } else {
                Self::faulty(state, index, actions);
                if left.commands > 0 {
                    let all = [Command::Hold, Command::Release, Command::Retry, Command::Cancel];
                    actions.extend(all.map(|command| Action::Ask(index, command)));
                }
            }
            if left.crashes > 0 {
                actions.push(Action::Crash(index));
            }
            if left.switches > 0 {
                actions.push(Action::Switch(index));
            }
        }
        for index in 0..state.late.len() {
            actions.push(Action::Arrive { index, keep: false });
            if left.faults > 0 {
                actions.push(Action::Arrive { index, keep: true });
            }
        }
        if left.ticks > 0 {
            actions.extend(self.size.jumps.iter().map(|minutes| Action::Pass(*minutes)));
        }
        if left.cards > 0 {
            actions.push(Action::Card(state.service.card() != Card::Ok));
        }
        if left.losses > 0 {
            actions.extend([Action::LoseDatabase, Action::OlderDatabase, Action::LoseLedger]);
        }
        if left.skews > 0 {
            actions.push(Action::SkewClock);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let left = &mut state.left;
        match action {
            Action::Step(index, fate) => {
                match fate {
                    Fate::Plain => {}
                    Fate::Stray402 | Fate::Stray404 => left.lies -= 1,
                    Fate::Lost
                    | Fate::ReplyLost
                    | Fate::Late
                    | Fate::Stale
                    | Fate::PaymentInProgress
                    | Fate::Declined => left.faults -= 1,
                }
                state.step(self, index, fate);
                state.write_undisturbed(self, index);
            }
            Action::Write(index) => state.write(self, index),
            Action::Crash(index) => {
                left.crashes -= 1;
                state.daemons[index].crash();
            }
            Action::Start(index) => state.start(index),
            Action::Switch(index) => {
                left.switches -= 1;
                state.daemons[index].crash();
                state.daemons[index].realm = 1 - state.daemons[index].realm;
            }
            Action::Ask(index, command) => {
                left.commands -= 1;
                state.ask(index, command);
                state.write_undisturbed(self, index);
            }
            Action::Arrive { index, keep } => {
                left.faults -= u8::from(keep);
                state.arrive(self, index, keep);
            }
            Action::Pass(minutes) => {
                left.ticks -= 1;
                state.service.pass(TimeDelta::minutes(minutes));
            }
            Action::Card(works) => {
                left.cards -= 1;
                state.service.set_card(if works { Card::Ok } else { Card::Declining });
            }
            Action::LoseDatabase | Action::OlderDatabase | Action::LoseLedger => {
                left.losses -= 1;
                state.lose(action);
            }
            Action::SkewClock => {
                left.skews -= 1;
                state.skew = if state.skew == 0 { 24 * 60 } else { 0 };
            }
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }

    fn within_boundary(&self, state: &State) -> bool {
        state.service.mails().count() <= self.size.mails
    }
}
