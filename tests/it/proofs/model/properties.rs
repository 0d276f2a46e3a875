//! What must hold in every state: the invariants of docs/design/invariants.md.

use chrono::TimeDelta;
use mailchute::domain::letter::{Certainty, Fact, Letter, State as Stage, Step};
use mailchute::sandbox::world::Phase;
use stateright::Property;

use super::{Fate, Message, Posting, State};

pub fn all() -> Vec<Property<Posting>> {
    vec![
        Property::always("I1 at most one mail is ever confirmed", |_, state: &State| {
            state.service.confirmed() <= 1
        }),
        Property::always("I2 what is called posted is posted", |_, state: &State| {
            state.believed().all(|letter| match &letter.state {
                Stage::Confirmed { mail, .. } | Stage::Shipped { mail, .. } => {
                    matches!(
                        state.service.phase(&mail.id),
                        Some(Phase::Confirmed { .. } | Phase::Shipped { .. } | Phase::Cancelled { .. })
                    )
                }
                _other => true,
            })
        }),
        Property::always("I3 what is called not posted is not", |_, state: &State| {
            state.believed().all(|letter| !letter.state.claims_nothing_posted() || !state.service.posts())
        }),
        Property::always("I4 what is called dead is deleted", |_, state: &State| {
            state.database.iter().all(|entry| match &entry.0 {
                Fact::Dead { mail } => state.is_gone(*mail),
                _other => true,
            })
        }),
        Property::always("I6 at most one intent is live", |_, state: &State| state.live_intents() <= 1),
        Property::always("I5 I7 I8 I10 I11 as seen at every message", |_, state: &State| {
            state.broken.is_none()
        }),
        Property::always("I16 an end or a hold stays reachable", |model: &Posting, state: &State| {
            !model.size.ends || state.clone().ends(model)
        }),
        Property::sometimes("a letter is posted", |_, state: &State| {
            state.believed().any(|letter| matches!(letter.state, Stage::Confirmed { .. }))
        }),
    ]
}

impl State {
    /// What is believed: by what is durable, and by each daemon at work.
    fn believed(&self) -> impl Iterator<Item = &Letter> {
        self.known.iter().chain(self.daemons.iter().filter_map(|daemon| daemon.letter()))
    }

    fn is_gone(&self, k: u32) -> bool {
        let made = self.database.iter().find_map(|entry| match &entry.0 {
            Fact::Created(mail) if mail.k == k => Some(mail.id.clone()),
            _other => None,
        });
        made.is_some_and(|id| matches!(self.service.phase(&id), None | Some(Phase::Deleted { .. })))
    }

    fn live_intents(&self) -> i32 {
        let count = |entry: &Fact| match entry {
            Fact::Intended { .. } => 1,
            Fact::Dead { .. } => -1,
            _other => 0,
        };
        self.database.iter().map(|entry| count(&entry.0)).sum()
    }

    /// An open intent is never left: I8.
    pub fn watch(&mut self, letter: &Letter, step: &Step) {
        let open = matches!(letter.state, Stage::Confirming { .. } | Stage::Withdrawing { .. });
        let allowed = match step {
            Step::Confirm | Step::Cancel | Step::Read | Step::UploadAgain | Step::Wait(_) | Step::Hold(_) => {
                true
            }
            Step::Create | Step::Upload { .. } | Step::Abandon(_) | Step::Nothing => false,
        };
        if open && !allowed {
            self.broken = Some("I8: an open intent was left");
        }
    }

    /// I5, I10, I11 at the moment a confirm leaves.
    pub fn watch_confirm(&mut self, index: usize, message: &Message) {
        let mail = match message {
            Message::Confirm { mail } => mail,
            Message::Cancel { .. } => {
                self.cancel_sent = true;
                return;
            }
            Message::Create | Message::Upload { .. } | Message::Read { .. } => return,
        };
        let intended = |entries: &[std::sync::Arc<super::Entry>]| {
            let k = entries.iter().find_map(|entry| match &entry.0 {
                Fact::Created(made) if made.id == *mail => Some(made.k),
                _other => None,
            });
            entries.iter().any(|entry| matches!(entry.0, Fact::Intended { mail, .. } if Some(mail) == k))
        };
        if !intended(&self.database) || !intended(&self.ledger) {
            self.broken = Some("I5: confirm was sent before its intent was durable in both places");
        }
        // Two daemons on one store are shut out by its lock; the second one's memory is behind.
        let asked = self.database.iter().any(|entry| entry.0 == Fact::WithdrawalAsked);
        if (self.cancel_sent || asked) && self.daemons.len() == 1 {
            self.broken = Some("I11: confirm was sent after a cancel");
        }
        let realm = self.daemons[index].realm;
        let foreign = self.daemons[index]
            .letter()
            .and_then(|letter| letter.state.mail().cloned())
            .is_some_and(|mail| mail.realm != super::service::realm(realm));
        if foreign {
            self.broken = Some("I10: confirm was sent under another account");
        }
    }

    fn is_settled(&self) -> bool {
        let Some((letter, _)) = self.recovered() else { return false };
        match &letter.state {
            Stage::Shipped { .. } | Stage::Cancelled { .. } | Stage::Withdrawn | Stage::Closed => true,
            Stage::Held { reason, .. } => {
                // A hold that claims too little is fine; one that claims too much is I3's.
                matches!(reason.certainty(), Certainty::NothingPosted | Certainty::Unknown)
            }
            Stage::Confirming { open, .. } | Stage::Withdrawing { open, .. } => open.held.is_some(),
            // Posted; it can only be followed with the credentials that posted it.
            Stage::Confirmed { mail, .. } => {
                self.daemons.iter().all(|daemon| mail.realm != super::service::realm(daemon.realm))
            }
            _other => false,
        }
    }

    /// Nothing goes wrong from here on: does the letter come to its end?
    fn ends(mut self, model: &Posting) -> bool {
        self.left = super::Budget::default();
        self.service.set_card(mailchute::sandbox::world::Card::Ok);
        for _round in 0..60 {
            if self.is_settled() && self.daemons.iter().all(|daemon| !daemon.is_writing()) {
                return true;
            }
            for index in 0..self.daemons.len() {
                if !self.daemons[index].is_up() {
                    self.start(index);
                } else if self.daemons[index].is_writing() {
                    if self.may_write(index) {
                        self.write(model, index);
                    }
                } else {
                    self.step(model, index, Fate::Plain);
                    if !self.daemons[index].is_writing() {
                        // It waits, so time passes.
                        let posted = self.service.posts();
                        self.service.pass(TimeDelta::minutes(if posted { 24 * 60 } else { 37 }));
                    }
                }
            }
        }
        false
    }
}
