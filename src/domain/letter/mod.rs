//! What a letter is, what happened to it, and what follows: pure, without clock or I/O.
//!
//! A letter is the fold of its `Fact`s. Two functions decide everything: `Letter::next_step` says what to
//! do, `Letter::after` what an outcome means. A timer, a lost reply, a restart and a person's command all
//! go this way. The invariants are in docs/design/invariants.md, with the tests that hold them.

mod after;
mod change;
mod check;
mod contradicted;
mod fact;
mod fold;
mod mail;
mod next_step;
mod order;
mod outcome;
mod print_note;
mod problem;
mod retry;
mod shown;
mod state;
mod words;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use after::POSTED_ELSEWHERE;
pub use change::{AccountNews, Answer, Change, Due, Notice};
pub use check::file_name;
pub use fact::{
    Abandonment, BEING_PACKED, Certainty, Fact, GoneAnswer, Kept, Limit, QueuedAs, Reason, TOO_LATE,
};
pub use fold::Contradiction;
pub use mail::{Evidence, Lateness, Mail, Realm};
pub use next_step::{Moment, Start, Step};
pub use order::{
    Color, DOCUMENTS_PER_LETTER, Document, Duplex, LARGEST_DOCUMENT, Method, Order, PAGES_PER_DOCUMENT,
    PAPER, Print, ReplyLetterpack, SHEETS_PER_LETTER, Shipping, ShippingOption, Staple,
};
pub use outcome::{
    AccountProblem, CancelAnswer, Command, ConfirmAnswer, CreateAnswer, Outcome, ReadAnswer, Reading, Status,
    Trouble, UploadAnswer,
};
pub use print_note::{PrintNote, PrintTrouble};
pub use problem::OrderProblem;
pub use retry::Retry;
pub use shown::{Shown, ShownAddress, ShownFile, ShownReply};
pub use state::{CancelWish, Key, Open, Progress, Resend, ShipForecast, Stage, State, Then};
pub use words::largest_unit;

use crate::base::clock::Time;

/// A letter's number, which it keeps for life: `#17`.
///
/// ```
/// use mailchute::domain::letter::Number;
///
/// assert_eq!(Number(17).to_string(), "#17");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Number(pub u64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// A letter as its facts describe it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Letter {
    pub number: Number,
    /// Its name in the spool.
    pub entry: String,
    pub order: Arc<Order>,
    pub admitted_at: Time,
    /// The letter waits until then, unless a person releases it.
    pub not_before: Option<Time>,
    pub state: State,
    /// How many mails were created for it, and how many of them got an intent.
    pub mails: u32,
    pub intents: u32,
    /// The number of its facts. A writer must have seen all of them.
    pub facts: u64,
    /// How often the present step has failed. Stored beside the facts, not among them.
    pub attempts: u32,
}

impl Letter {
    /// Whether it is about to be posted or withdrawn, and waits for nobody.
    pub fn is_on_its_way(&self) -> bool {
        match &self.state {
            // It has not begun before its posting time.
            State::Admitted => self.not_before.is_none() || self.mails > 0,
            State::Created { .. } | State::Uploaded { .. } => true,
            State::Confirming { .. } | State::Withdrawing { .. } => self.state.hold().is_none(),
            State::Confirmed { .. }
            | State::Shipped { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Closed
            | State::Held { .. } => false,
        }
    }
}
