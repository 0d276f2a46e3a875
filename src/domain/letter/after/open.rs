//! An open intent: confirm or cancel on the same mail until the answer is definite.

use chrono::TimeDelta;

use crate::domain::letter::Letter;
use crate::domain::letter::change::{AccountNews, Change, Due, Notice};
use crate::domain::letter::fact::{BEING_PACKED, Fact, GoneAnswer, Reason, TOO_LATE};
use crate::domain::letter::mail::{Evidence, Lateness};
use crate::domain::letter::next_step::Moment;
use crate::domain::letter::outcome::{AccountProblem, CancelAnswer, ConfirmAnswer, ReadAnswer, Status};
use crate::domain::letter::state::{CancelWish, Key, Open, Resend, State, Then};

/// The number of intents that may be proved dead before a person must look.
const INTENTS: u32 = 3;
/// The delay before the first look at a confirmed letter.
const FIRST_LOOK: TimeDelta = TimeDelta::minutes(1);

impl Letter {
    pub(super) fn after_confirm(&self, answer: &ConfirmAnswer, moment: &Moment) -> Change {
        let State::Confirming { open, resend } = &self.state else { return self.out_of_step() };
        let mail = open.mail.k;
        match answer {
            ConfirmAnswer::Confirmed => Change::facts([Fact::Confirmed { mail }])
                .due(Due::At(moment.now + FIRST_LOOK))
                .account(AccountNews::CanPay),
            ConfirmAnswer::PaymentInProgress => {
                let wait = moment.retry.payment(moment.jitter).max(TimeDelta::zero());
                let change = self.ask_again(open, moment).trouble("the card company is still processing it");
                let busy = moment.now - open.since < TimeDelta::minutes(15);
                if busy { change.due(Due::At(moment.now + wait)).attempts(self.attempts) } else { change }
            }
            ConfirmAnswer::Declined(evidence) => self
                .gone(open, GoneAnswer::Declined, evidence, moment)
                .trouble("the card was declined")
                .account(AccountNews::Trouble(AccountProblem::CardDeclined)),
            ConfirmAnswer::NotFound(evidence) => self.gone(open, GoneAnswer::NotFound, evidence, moment),
            ConfirmAnswer::FilesMissing => {
                let change = self.ask_again(open, moment).trouble("a file is not there yet");
                match resend {
                    Resend::NotNeeded => {
                        Change { facts: [vec![Fact::FilesMissing { mail }], change.facts].concat(), ..change }
                    }
                    Resend::Wanted | Resend::Done => change,
                }
            }
            ConfirmAnswer::NeverPostable(why) => {
                Change::facts([Fact::NeverPostable { mail, why: why.clone() }]).owing(Notice::Held)
            }
        }
    }

    /// Records the first key of the two-key rule. An answer that is not late is only a hint.
    fn gone(&self, open: &Open, answer: GoneAnswer, evidence: &Evidence, moment: &Moment) -> Change {
        let late = match open.mail.lateness(open.window, evidence, moment.now) {
            Lateness::NotYet => false,
            Lateness::Proof => true,
            Lateness::TooLate => return self.gone_too_late(open, moment),
        };
        let key = Key { answer, late };
        let news = (open.key != Some(key)).then_some(Fact::Gone { mail: open.mail.k, answer, late });
        let wait = self.ask_again(open, moment);
        let due = if late { Due::Now } else { wait.due.not_before_late(open, answer, moment) };
        Change { facts: news.into_iter().chain(wait.facts).collect(), due, ..wait }
            .trouble("the service does not know the mail; it is asked again once its time is over")
    }

    /// The service's answers no longer prove whether the letter was posted, so an operator must find out.
    fn gone_too_late(&self, open: &Open, moment: &Moment) -> Change {
        let mut change = self.ask_again(open, moment).trouble(
            "the service does not know the mail, and so long after its deadline that proves nothing",
        );
        let held = Fact::Held(Reason::NoAnswer);
        if open.held.is_none() && !change.facts.contains(&held) {
            change.facts.push(held);
            change = change.owing(Notice::Held);
        }
        change
    }

    /// The read after a late first key. Only "not found", and only if it is late too, closes the intent.
    pub(super) fn after_second_key(&self, open: &Open, answer: &ReadAnswer, moment: &Moment) -> Change {
        let mail = open.mail.k;
        match answer {
            ReadAnswer::Found(reading) => self.after_reading_open(open, reading.status, moment),
            ReadAnswer::NotFound(evidence) => {
                match open.mail.lateness(open.window, evidence, moment.now) {
                    Lateness::Proof if open.key.is_some_and(|key| key.late) => {}
                    Lateness::Proof | Lateness::NotYet => return self.ask_again(open, moment),
                    Lateness::TooLate => return self.gone_too_late(open, moment),
                }
                let dead = Fact::Dead { mail };
                match &self.state {
                    State::Confirming { .. } if open.held.is_some() => {
                        Change::facts([dead, Fact::Held(Reason::ProvedAfterDoubt)])
                            .due(Due::Never)
                            .owing(Notice::Held)
                    }
                    State::Confirming { .. } if self.intents >= INTENTS => {
                        Change::facts([dead, Fact::Held(Reason::TooManyIntents)])
                            .due(Due::Never)
                            .owing(Notice::Held)
                    }
                    State::Confirming { .. } => Change::facts([dead]),
                    State::Withdrawing { then, .. } => {
                        let notice = match then {
                            Then::End => Notice::Withdrawn,
                            Then::Hold(_) => Notice::Held,
                        };
                        Change::facts([dead]).due(Due::Never).owing(notice)
                    }
                    State::Admitted
                    | State::Created { .. }
                    | State::Uploaded { .. }
                    | State::Confirmed { .. }
                    | State::Shipped { .. }
                    | State::Cancelled { .. }
                    | State::Withdrawn
                    | State::Closed
                    | State::Held { .. } => self.out_of_step(),
                }
            }
        }
    }

    /// The mail exists, so a first key is void. The reading may be stale, so only confirm or cancel decides
    /// where the mail stands. But a shipped mail stays shipped.
    fn after_reading_open(&self, open: &Open, status: Status, moment: &Moment) -> Change {
        let mail = open.mail.k;
        let shipped = status == Status::Shipped;
        if shipped && matches!(self.state, State::Withdrawing { .. }) {
            return self.too_late(mail, BEING_PACKED, moment);
        }
        let void = open.key.is_some().then_some(Fact::Reappeared { mail });
        let wait = self.ask_again(open, moment);
        Change { facts: void.into_iter().chain(wait.facts).collect(), ..wait }
    }

    pub(super) fn after_cancel(&self, answer: &CancelAnswer, moment: &Moment) -> Change {
        match &self.state {
            State::Withdrawing { open, then } => self.after_cancel_of_open(open, then, answer, moment),
            State::Confirmed { mail, wish: CancelWish::Asked, .. } => {
                let mail = mail.k;
                match answer {
                    CancelAnswer::Cancelled => Change::facts([Fact::Cancelled { mail, by_us: true }])
                        .due(Due::Never)
                        .owing(Notice::Cancelled),
                    CancelAnswer::NotCancellable => self.too_late(mail, BEING_PACKED, moment),
                    CancelAnswer::WindowExpired => self.too_late(mail, TOO_LATE, moment),
                    CancelAnswer::NotFound(_) => {
                        self.try_again(moment).trouble("the service does not know the confirmed mail")
                    }
                }
            }
            State::Confirmed { wish: CancelWish::NotAsked | CancelWish::Refused(_), .. }
            | State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Shipped { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Closed
            | State::Held { .. } => self.out_of_step(),
        }
    }

    fn after_cancel_of_open(
        &self,
        open: &Open,
        then: &Then,
        answer: &CancelAnswer,
        moment: &Moment,
    ) -> Change {
        let mail = open.mail.k;
        match answer {
            CancelAnswer::Cancelled => {
                let notice = match then {
                    Then::End => Notice::Cancelled,
                    Then::Hold(_) => Notice::Held,
                };
                Change::facts([Fact::Cancelled { mail, by_us: true }]).due(Due::Never).owing(notice)
            }
            CancelAnswer::WindowExpired => self.too_late(mail, TOO_LATE, moment),
            CancelAnswer::NotCancellable => {
                self.ask_again(open, moment).trouble("it is not confirmed yet, or already being packed")
            }
            CancelAnswer::NotFound(evidence) => self.gone(open, GoneAnswer::NotFound, evidence, moment),
        }
    }

    /// The letter is posted, which is reported to the person who wanted it back.
    pub(super) fn too_late(&self, mail: u32, why: &str, moment: &Moment) -> Change {
        let confirmed = matches!(self.state, State::Withdrawing { .. }).then_some(Fact::Confirmed { mail });
        let refused = Fact::NotWithdrawn { mail, why: why.to_owned() };
        Change::facts(confirmed.into_iter().chain([refused]))
            .due(Due::At(moment.now + FIRST_LOOK))
            .owing(Notice::NotWithdrawn)
    }
}

impl Due {
    /// A declined card deletes the mail, so asking again before the deadline shows nothing new.
    fn not_before_late(self, open: &Open, answer: GoneAnswer, moment: &Moment) -> Self {
        let late_from = open.mail.late_from();
        match (self, answer) {
            (Self::At(_), GoneAnswer::Declined) if moment.now < late_from => Self::At(late_from),
            (Self::At(time), GoneAnswer::NotFound) if moment.now < late_from => Self::At(time.min(late_from)),
            (due @ (Self::At(_) | Self::Now | Self::Never), _) => due,
        }
    }
}
