//! What follows from a person's command, and the answer to that person.

use crate::domain::letter::Letter;
use crate::domain::letter::after::POSTED_ELSEWHERE;
use crate::domain::letter::change::{Answer, Change, Due, Notice};
use crate::domain::letter::fact::{Abandonment, Certainty, Fact, Reason};
use crate::domain::letter::next_step::Moment;
use crate::domain::letter::outcome::Command;
use crate::domain::letter::state::{CancelWish, State};

impl Letter {
    pub(super) fn after_asked(&self, command: Command, moment: &Moment) -> Change {
        match command {
            Command::Hold => self.asked_to_hold(),
            Command::Release => self.asked_to_release(),
            Command::Retry => self.asked_to_retry(),
            Command::Cancel => self.asked_to_cancel(moment),
        }
    }

    /// Changes nothing. The letter continues at its time.
    fn refuse(&self, why: impl Into<String>) -> Change {
        self.go_on().answering(Answer::Refused(why.into()))
    }

    /// No change: a person's command must not postpone what is due.
    fn go_on(&self) -> Change {
        let due = match &self.state {
            State::Held { .. } | State::Cancelled { .. } | State::Withdrawn | State::Closed => Due::Never,
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. }
            | State::Confirmed { .. }
            | State::Shipped { .. } => Due::Now,
        };
        Change::none(due).attempts(self.attempts)
    }

    fn asked_to_hold(&self) -> Change {
        match &self.state {
            State::Admitted | State::Created { .. } | State::Uploaded { .. } => self
                .hold(Reason::ByPerson)
                .answering(Answer::Done("held: nothing was posted; `release` lets it continue".to_owned())),
            State::Confirming { .. } => self.refuse(
                "too late to hold: it may have been posted already; `cancel` asks the service to stop it",
            ),
            State::Withdrawing { .. } => self.refuse("it is being withdrawn already"),
            State::Confirmed { .. } => {
                self.refuse("it is posted; `cancel` stops it as long as the service allows it")
            }
            State::Held { .. } => self.refuse("it is held already"),
            State::Shipped { .. } => self.refuse("it has shipped"),
            State::Cancelled { .. } | State::Withdrawn | State::Closed => self.ended(),
        }
    }

    fn ended(&self) -> Change {
        self.refuse(format!("it has ended: {}", self.state.word()))
    }

    fn asked_to_release(&self) -> Change {
        match &self.state {
            State::Held { reason, .. } if reason.certainty() == Certainty::Unknown => self.refuse(
                "it may have been posted; look for it in the service's own list. `cancel` closes it here; if \
                 it was not posted, submit it anew",
            ),
            State::Held { reason: Reason::NeverPostable(_), .. } => {
                self.refuse("its documents can't be posted; `cancel` it and submit better ones")
            }
            State::Held { .. } => {
                Change::facts([Fact::Released]).answering(Answer::Done("released: it continues".to_owned()))
            }
            State::Confirming { .. } | State::Withdrawing { .. } => self
                .refuse("nothing to release: the service is being asked what became of it, until it answers"),
            State::Admitted if self.not_before.is_some() => Change::facts([Fact::Released])
                .answering(Answer::Done("released: it does not wait for its posting time".to_owned())),
            State::Admitted | State::Created { .. } | State::Uploaded { .. } | State::Confirmed { .. } => {
                self.refuse("it is not held")
            }
            State::Shipped { .. } => self.refuse("it has shipped"),
            State::Cancelled { .. } | State::Withdrawn | State::Closed => self.ended(),
        }
    }

    fn asked_to_retry(&self) -> Change {
        match &self.state {
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. }
            | State::Confirmed { .. }
            | State::Shipped { .. } => Change::none(Due::Now)
                .answering(Answer::Done("its next step is taken immediately".to_owned())),
            State::Held { .. } => self.refuse("it is held; `release` lets it continue"),
            State::Cancelled { .. } | State::Withdrawn | State::Closed => self.ended(),
        }
    }

    fn asked_to_cancel(&self, moment: &Moment) -> Change {
        let withdrawn = || Answer::Done("cancelled: nothing was or will be posted".to_owned());
        let asking = if self.is_posted_elsewhere(moment) {
            POSTED_ELSEWHERE
        } else {
            "the service is asked to cancel it; `show` shows how it ends"
        };
        match &self.state {
            State::Admitted => {
                Change::facts([Fact::Withdrawn]).due(Due::Never).owing(Notice::Withdrawn).answering(withdrawn())
            }
            State::Created { mail, .. } | State::Uploaded { mail } => {
                let left = Fact::Abandoned { mail: mail.k, why: Abandonment::Withdrawn };
                Change::facts([left, Fact::Withdrawn])
                    .due(Due::Never)
                    .owing(Notice::Withdrawn)
                    .answering(withdrawn())
            }
            State::Held { reason, .. } => match reason.certainty() {
                Certainty::NothingPosted => Change::facts([Fact::Withdrawn])
                    .due(Due::Never)
                    .owing(Notice::Withdrawn)
                    .answering(withdrawn()),
                Certainty::Unknown => Change::facts([Fact::Closed]).due(Due::Never).answering(Answer::Done(
                    "closed here; whether it was posted is not known: ask the service before sending it again"
                        .to_owned(),
                )),
            },
            State::Confirming { .. }
            | State::Confirmed { wish: CancelWish::NotAsked | CancelWish::Refused(_), .. } => {
                Change::facts([Fact::WithdrawalAsked]).answering(Answer::Done(asking.to_owned()))
            }
            State::Withdrawing { .. } | State::Confirmed { wish: CancelWish::Asked, .. } => {
                self.refuse("it is being withdrawn already")
            }
            State::Shipped { .. } => self.refuse("it has shipped; nothing can call it back"),
            State::Cancelled { .. } | State::Withdrawn | State::Closed => self.ended(),
        }
    }
}
