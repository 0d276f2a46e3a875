//! From facts to a state. A fact that cannot follow is a contradiction and never ignored.

use std::sync::Arc;

use chrono::TimeDelta;

use super::fact::{Certainty, Fact, Reason};
use super::mail::Mail;
use super::order::Order;
use super::state::{CancelWish, Key, Open, Resend, ShipForecast, State, Then};
use super::{Letter, Number};
use crate::base::clock::Time;

/// These facts cannot all be true. The letter is not touched any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the fact `{fact}` can't follow when a letter is {state}")]
pub struct Contradiction {
    pub fact: &'static str,
    pub state: &'static str,
}

impl Letter {
    pub fn admitted(number: Number, entry: String, order: Arc<Order>, at: Time) -> Self {
        Self {
            number,
            entry,
            not_before: order.not_before,
            order,
            admitted_at: at,
            state: State::Admitted,
            mails: 0,
            intents: 0,
            facts: 1,
            attempts: 0,
        }
    }

    /// The letter that these facts describe. The first one must be its admission.
    pub fn fold(
        number: Number,
        facts: impl IntoIterator<Item = (Fact, Time)>,
    ) -> Result<Option<Self>, Contradiction> {
        let mut letter: Option<Self> = None;
        for (fact, at) in facts {
            match (&mut letter, fact) {
                (None, Fact::Admitted { entry, order, queued: _ }) => {
                    letter = Some(Self::admitted(number, entry, order, at));
                }
                (None, other) => return Err(Contradiction { fact: other.word(), state: "not admitted" }),
                (Some(letter), fact) => letter.apply(&fact, at)?,
            }
        }
        Ok(letter)
    }

    /// Applies one more fact.
    pub fn apply(&mut self, fact: &Fact, at: Time) -> Result<(), Contradiction> {
        let contradiction = Contradiction { fact: fact.word(), state: self.state.word() };
        let next = self.following(fact, at).ok_or(contradiction)?;
        match fact {
            Fact::Created(mail) => self.mails = mail.k,
            Fact::Intended { .. } => self.intents += 1,
            Fact::Released => (self.intents, self.not_before) = (0, None),
            Fact::Admitted { .. }
            | Fact::Uploaded { .. }
            | Fact::Abandoned { .. }
            | Fact::FilesMissing { .. }
            | Fact::UploadedAgain { .. }
            | Fact::Gone { .. }
            | Fact::Reappeared { .. }
            | Fact::Confirmed { .. }
            | Fact::Dead { .. }
            | Fact::NeverPostable { .. }
            | Fact::WithdrawalAsked
            | Fact::NotWithdrawn { .. }
            | Fact::Cancelled { .. }
            | Fact::Withdrawn
            | Fact::Closed
            | Fact::Seen { .. }
            | Fact::Shipped { .. }
            | Fact::Tracked { .. }
            | Fact::Held(_)
            | Fact::Discarded(_) => {}
        }
        self.state = next;
        self.facts += 1;
        Ok(())
    }

    /// The state after this fact. `None` if the fact cannot follow.
    fn following(&self, fact: &Fact, at: Time) -> Option<State> {
        match fact {
            Fact::Admitted { .. } => None,
            Fact::Created(mail) => self.when_created(mail),
            Fact::Uploaded { mail, document } => self.when_uploaded(*mail, *document),
            Fact::Abandoned { mail, why: _ } => self.pending(*mail).map(|_| State::Admitted),
            Fact::Intended { mail, window } => self.when_intended(*mail, *window, at),
            Fact::FilesMissing { mail } => self.when_resend(*mail, Resend::NotNeeded, Resend::Wanted),
            Fact::UploadedAgain { mail } => self.when_resend(*mail, Resend::Wanted, Resend::Done),
            Fact::Gone { mail, answer, late } => {
                self.with_key(*mail, Some(Key { answer: *answer, late: *late }))
            }
            Fact::Reappeared { mail } => self.with_key(*mail, None),
            Fact::Confirmed { mail } => self.when_confirmed(*mail, at),
            Fact::Dead { mail } => self.when_dead(*mail),
            Fact::NeverPostable { mail, why } => self.when_never_postable(*mail, why),
            Fact::WithdrawalAsked => self.when_withdrawal_asked(),
            Fact::NotWithdrawn { mail, why } => self.when_not_withdrawn(*mail, why),
            Fact::Cancelled { mail, by_us } => self.when_cancelled(*mail, *by_us),
            Fact::Withdrawn => {
                (self.state == State::Admitted || self.is_safely_held()).then_some(State::Withdrawn)
            }
            Fact::Closed => {
                let doubtful = matches!(&self.state, State::Held { .. }) && !self.is_safely_held();
                doubtful.then_some(State::Closed)
            }
            Fact::Seen { mail, ships_at, cancellable } => {
                self.when_seen(*mail, ShipForecast { ships_at: *ships_at, cancellable: *cancellable })
            }
            Fact::Shipped { mail, at, tracking } => self.when_shipped(*mail, *at, tracking.as_ref()),
            Fact::Tracked { mail, tracking } => self.when_tracked(*mail, tracking),
            Fact::Held(reason) => self.when_held(reason),
            Fact::Discarded(_) => self.state.is_end().then(|| self.state.clone()),
            Fact::Released => {
                let waits = self.state == State::Admitted && self.not_before.is_some();
                (waits || self.is_safely_held()).then_some(State::Admitted)
            }
        }
    }
}

impl Letter {
    fn when_created(&self, mail: &Mail) -> Option<State> {
        let next = self.state == State::Admitted && mail.k == self.mails + 1;
        next.then(|| State::Created { mail: mail.clone(), uploaded: 0 })
    }

    /// Whether it is held, and nothing was or will be posted.
    fn is_safely_held(&self) -> bool {
        let State::Held { reason, .. } = &self.state else { return false };
        reason.certainty() == Certainty::NothingPosted
    }

    /// The mail `k`, if it exists at the service without an intent.
    fn pending(&self, k: u32) -> Option<&Mail> {
        let (State::Created { mail, .. } | State::Uploaded { mail }) = &self.state else { return None };
        (mail.k == k).then_some(mail)
    }

    fn when_uploaded(&self, k: u32, document: usize) -> Option<State> {
        let State::Created { mail, uploaded } = &self.state else { return None };
        if mail.k != k || *uploaded != document {
            return None;
        }
        let mail = mail.clone();
        let uploaded = document + 1;
        let all = uploaded == self.order.documents.len();
        Some(if all { State::Uploaded { mail } } else { State::Created { mail, uploaded } })
    }

    fn when_intended(&self, k: u32, window: i64, at: Time) -> Option<State> {
        let State::Uploaded { mail } = &self.state else { return None };
        let window = TimeDelta::try_seconds(window)?;
        let open = Open { mail: mail.clone(), since: at, window, key: None, held: None };
        (mail.k == k).then_some(State::Confirming { open, resend: Resend::NotNeeded })
    }

    fn when_resend(&self, k: u32, from: Resend, to: Resend) -> Option<State> {
        let State::Confirming { open, resend } = &self.state else { return None };
        (open.mail.k == k && *resend == from).then(|| State::Confirming { open: open.clone(), resend: to })
    }

    fn with_key(&self, k: u32, key: Option<Key>) -> Option<State> {
        let mut state = self.state.clone();
        let (State::Confirming { open, .. } | State::Withdrawing { open, .. }) = &mut state else {
            return None;
        };
        open.key = key;
        (open.mail.k == k).then_some(state)
    }

    fn when_confirmed(&self, k: u32, at: Time) -> Option<State> {
        let (State::Confirming { open, .. } | State::Withdrawing { open, .. }) = &self.state else {
            return None;
        };
        let withdrawing = matches!(self.state, State::Withdrawing { .. });
        let wish = if withdrawing { CancelWish::Asked } else { CancelWish::NotAsked };
        let mail = open.mail.clone();
        (mail.k == k).then_some(State::Confirmed { mail, since: at, seen: None, wish })
    }

    fn when_dead(&self, k: u32) -> Option<State> {
        if let State::Confirming { open, .. } = &self.state {
            return (open.mail.k == k).then_some(State::Admitted);
        }
        let State::Withdrawing { open, then } = &self.state else { return None };
        (open.mail.k == k).then(|| then.state(State::Withdrawn))
    }

    fn when_never_postable(&self, k: u32, why: &str) -> Option<State> {
        let State::Confirming { open, .. } = &self.state else { return None };
        let then = Then::Hold(why.to_owned());
        (open.mail.k == k).then(|| State::Withdrawing { open: open.clone(), then })
    }

    fn when_withdrawal_asked(&self) -> Option<State> {
        if let State::Confirming { open, .. } = &self.state {
            return Some(State::Withdrawing { open: open.clone(), then: Then::End });
        }
        let mut state = self.state.clone();
        let State::Confirmed { wish, .. } = &mut state else { return None };
        (std::mem::replace(wish, CancelWish::Asked) != CancelWish::Asked).then_some(state)
    }

    fn when_not_withdrawn(&self, k: u32, why: &str) -> Option<State> {
        let mut state = self.state.clone();
        let State::Confirmed { mail, wish, .. } = &mut state else { return None };
        let fits = mail.k == k && *wish == CancelWish::Asked;
        *wish = CancelWish::Refused(why.to_owned());
        fits.then_some(state)
    }

    fn when_cancelled(&self, k: u32, by_us: bool) -> Option<State> {
        if let State::Withdrawing { open, then } = &self.state {
            return (open.mail.k == k).then(|| then.state(State::Cancelled { by_us }));
        }
        let State::Confirmed { mail, .. } = &self.state else { return None };
        (mail.k == k).then_some(State::Cancelled { by_us })
    }

    fn when_seen(&self, k: u32, seen: ShipForecast) -> Option<State> {
        let mut state = self.state.clone();
        let State::Confirmed { mail, seen: known, .. } = &mut state else { return None };
        let fits = mail.k == k;
        *known = Some(seen);
        fits.then_some(state)
    }

    fn when_shipped(&self, k: u32, at: Time, tracking: Option<&String>) -> Option<State> {
        let State::Confirmed { mail, .. } = &self.state else { return None };
        let tracking = tracking.cloned();
        (mail.k == k).then(|| State::Shipped { mail: mail.clone(), at, tracking })
    }

    fn when_tracked(&self, k: u32, tracking: &str) -> Option<State> {
        let State::Shipped { mail, at, tracking: None } = &self.state else { return None };
        let tracking = Some(tracking.to_owned());
        (mail.k == k).then(|| State::Shipped { mail: mail.clone(), at: *at, tracking })
    }

    fn when_held(&self, reason: &Reason) -> Option<State> {
        let held = |open: Option<String>| Some(State::Held { reason: reason.clone(), open });
        let mut state = self.state.clone();
        match (&mut state, reason) {
            (State::Admitted, _) => held(None),
            (State::Created { mail, .. } | State::Uploaded { mail }, Reason::Restored) => {
                held(Some(mail.id.clone()))
            }
            (State::Confirming { open, .. } | State::Withdrawing { open, .. }, Reason::Restored) => {
                held(Some(open.mail.id.clone()))
            }
            (State::Held { open, .. }, Reason::Restored) => held(open.take()),
            (
                State::Confirming { open, .. } | State::Withdrawing { open, .. },
                Reason::NoAnswer | Reason::OtherAccount,
            ) => {
                open.held = Some(reason.clone());
                Some(state)
            }
            (_, _) => None,
        }
    }
}

impl Then {
    fn state(&self, end: State) -> State {
        match self {
            Self::End => end,
            Self::Hold(why) => State::Held { reason: Reason::NeverPostable(why.clone()), open: None },
        }
    }
}
