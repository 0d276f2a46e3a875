//! The meaning of an outcome: everything that one transaction records.

use super::Letter;
use super::fact::{Fact, Kept, Reason};
use super::outcome::AccountProblem;
use super::state::State;
use crate::base::clock::Time;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub facts: Vec<Fact>,
    pub due: Due,
    /// How often the present step has failed so far.
    pub attempts: u32,
    /// What is in the way, in words. `None` if nothing is.
    pub trouble: Option<String>,
    pub owed: Vec<Notice>,
    pub account: Option<AccountNews>,
    /// The answer to the person who gave the command.
    pub answer: Option<Answer>,
}

/// When the letter is looked at next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    Now,
    At(Time),
    /// Never resumes by itself; only a command makes it due.
    Never,
}

/// What people must be told, once for each letter (and mail). A posting has no notice, because the
/// text beside the original shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Notice {
    Held,
    /// No definite answer for 15 minutes.
    Stuck,
    /// It was to be posted, and for an hour a step before that has failed again and again.
    Delayed,
    NotWithdrawn,
    Cancelled,
    /// It was cancelled at the service, but not by us.
    CancelledElsewhere,
    Withdrawn,
    Shipped,
    /// It has not shipped three days after its ship date.
    Overdue,
    /// The PDF that the service sealed differs from what was uploaded.
    SealedOtherwise,
}

/// What a letter's step showed about its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountNews {
    Trouble(AccountProblem),
    /// The account could be read.
    Answers,
    /// A mail was created, so a card is registered.
    CanCreate,
    /// A card was accepted.
    CanPay,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Done(String),
    Refused(String),
}

impl Notice {
    pub const ALL: [Self; 10] = [
        Self::Held,
        Self::Stuck,
        Self::Delayed,
        Self::NotWithdrawn,
        Self::Cancelled,
        Self::CancelledElsewhere,
        Self::Withdrawn,
        Self::Shipped,
        Self::Overdue,
        Self::SealedOtherwise,
    ];

    /// What people must be told of a fact when the step behind it is not known. `letter` already includes the
    /// fact.
    pub fn news_of(fact: &Fact, letter: &Letter) -> Option<Self> {
        match fact {
            Fact::Held(_) => Some(Self::Held),
            Fact::NotWithdrawn { .. } => Some(Self::NotWithdrawn),
            Fact::Shipped { tracking, .. } => {
                (tracking.is_some() || !letter.order.shipping.is_trackable()).then_some(Self::Shipped)
            }
            Fact::Tracked { .. } => Some(Self::Shipped),
            Fact::Cancelled { by_us: false, .. } => Some(Self::CancelledElsewhere),
            Fact::Cancelled { by_us: true, .. } | Fact::Dead { .. } | Fact::Withdrawn => match letter.state {
                State::Cancelled { .. } => Some(Self::Cancelled),
                State::Withdrawn => Some(Self::Withdrawn),
                State::Held { .. } => Some(Self::Held),
                State::Admitted
                | State::Created { .. }
                | State::Uploaded { .. }
                | State::Confirming { .. }
                | State::Withdrawing { .. }
                | State::Confirmed { .. }
                | State::Shipped { .. }
                | State::Closed => None,
            },
            Fact::Admitted { .. }
            | Fact::Created(_)
            | Fact::Uploaded { .. }
            | Fact::Abandoned { .. }
            | Fact::Intended { .. }
            | Fact::Confirmed { .. }
            | Fact::FilesMissing { .. }
            | Fact::UploadedAgain { .. }
            | Fact::Gone { .. }
            | Fact::Reappeared { .. }
            | Fact::NeverPostable { .. }
            | Fact::WithdrawalAsked
            | Fact::Closed
            | Fact::Seen { .. }
            | Fact::Released
            | Fact::Discarded(_) => None,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Stuck => "stuck",
            Self::Delayed => "delayed",
            Self::NotWithdrawn => "not_withdrawn",
            Self::Cancelled => "cancelled",
            Self::CancelledElsewhere => "cancelled_elsewhere",
            Self::Withdrawn => "withdrawn",
            Self::Shipped => "shipped",
            Self::Overdue => "overdue",
            Self::SealedOtherwise => "sealed_otherwise",
        }
    }
}

impl Letter {
    /// This part of the letter is no longer kept. Nothing else changes.
    pub fn discarded(&self, what: Kept) -> Change {
        Change::facts([Fact::Discarded(what)]).due(Due::Never).attempts(self.attempts)
    }
}

impl Change {
    /// A person must look at it before anything else is done.
    pub fn held(reason: Reason) -> Self {
        Self::facts([Fact::Held(reason)]).due(Due::Never).owing(Notice::Held)
    }

    /// Nothing new. The letter is looked at again when `due`.
    pub(super) fn none(due: Due) -> Self {
        Self {
            facts: Vec::new(),
            due,
            attempts: 0,
            trouble: None,
            owed: Vec::new(),
            account: None,
            answer: None,
        }
    }

    /// Records these facts; the next step follows immediately.
    pub(super) fn facts(facts: impl IntoIterator<Item = Fact>) -> Self {
        Self { facts: facts.into_iter().collect(), ..Self::none(Due::Now) }
    }

    pub(super) fn due(self, due: Due) -> Self {
        Self { due, ..self }
    }

    pub(super) fn attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    pub(super) fn trouble(self, trouble: impl Into<String>) -> Self {
        Self { trouble: Some(trouble.into()), ..self }
    }

    pub(super) fn owing(mut self, notice: Notice) -> Self {
        self.owed.push(notice);
        self
    }

    pub(super) fn account(self, news: AccountNews) -> Self {
        Self { account: Some(news), ..self }
    }

    pub(super) fn answering(self, answer: Answer) -> Self {
        Self { answer: Some(answer), ..self }
    }
}
