//! The second of the two decisions: what an outcome means.
//!
//! An outcome that answers a question this state does not ask changes nothing: the letter is looked at again,
//! and its state decides what to ask.

mod asked;
mod follow;
mod open;
mod pending;

use chrono::TimeDelta;

use super::change::{AccountNews, Change, Due, Notice};
use super::fact::{Abandonment, Certainty, Fact, Reason};
use super::next_step::Moment;
use super::outcome::{Outcome, ReadAnswer, Trouble, UploadAnswer};
use super::state::{CancelWish, Open, Resend, State};
use super::{Letter, retry};
use crate::base::clock::Time;

/// The trouble of a letter that was posted under credentials other than the current ones.
pub const POSTED_ELSEWHERE: &str =
    "it is posted, under another account's credentials: with these it can't be followed or cancelled";

impl Letter {
    pub fn after(&self, outcome: &Outcome, moment: &Moment) -> Change {
        match outcome {
            Outcome::Create(answer) => self.after_create(answer),
            Outcome::Upload(answer) => self.after_upload(answer, moment),
            Outcome::UploadAgain(answer) => self.after_upload_again(answer),
            Outcome::Read(answer) => self.after_read(answer, moment),
            Outcome::Confirm(answer) => self.after_confirm(answer, moment),
            Outcome::Cancel(answer) => self.after_cancel(answer, moment),
            Outcome::Trouble(trouble) => self.after_trouble(trouble, moment),
            Outcome::Abandon(why) => self.after_abandon(*why, moment),
            Outcome::Hold(reason) => self.hold(reason.clone()),
            Outcome::Wait(until) => self.after_wait(*until, moment),
            Outcome::Nothing => Change::none(Due::Never),
            Outcome::Asked(command) => self.after_asked(*command, moment),
            Outcome::Restored => self.after_restored(),
        }
    }

    /// The outcome answers nothing that this state asks.
    fn out_of_step(&self) -> Change {
        Change::none(Due::Now).attempts(self.attempts)
    }

    fn after_read(&self, answer: &ReadAnswer, moment: &Moment) -> Change {
        match &self.state {
            State::Uploaded { mail } => self.after_check(mail, answer, moment),
            State::Confirming { open, .. } | State::Withdrawing { open, .. } => {
                self.after_second_key(open, answer, moment)
            }
            State::Confirmed { mail, .. } | State::Shipped { mail, .. } => {
                self.after_following(mail, answer, moment)
            }
            State::Admitted
            | State::Created { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Closed
            | State::Held { .. } => self.out_of_step(),
        }
    }

    fn after_trouble(&self, trouble: &Trouble, moment: &Moment) -> Change {
        let change = match &self.state {
            State::Confirming { open, .. } | State::Withdrawing { open, .. } => self.ask_again(open, moment),
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirmed { .. }
            | State::Shipped { .. } => self.try_again(moment),
            State::Cancelled { .. } | State::Withdrawn | State::Closed | State::Held { .. } => {
                return self.out_of_step();
            }
        };
        match trouble {
            Trouble::Unknown(why) => change.trouble(why),
            Trouble::Later { soonest, why } => {
                let due = match (change.due, soonest) {
                    (Due::At(time), Some(soonest)) => Due::At(time.max(*soonest)),
                    (due @ (Due::At(_) | Due::Now | Due::Never), _) => due,
                };
                change.due(due).trouble(why)
            }
            Trouble::Account(problem) => {
                change.trouble(problem.to_string()).account(AccountNews::Trouble(problem.clone()))
            }
        }
    }

    /// Repeats a step that costs nothing, each time a little later.
    fn try_again(&self, moment: &Moment) -> Change {
        let is_cancel_asked = matches!(self.state, State::Confirmed { wish: CancelWish::Asked, .. });
        let wait = match (is_cancel_asked, self.attempts % 2) {
            (true, 0) => moment.retry.ordinary(self.attempts / 2, moment.jitter),
            // The read between two cancels does not delay the second.
            (true, _odd) => TimeDelta::zero(),
            (false, _any) => moment.retry.ordinary(self.attempts, moment.jitter),
        };
        let change = Change::none(Due::At(moment.now + wait)).attempts(self.attempts + 1);
        if self.is_delayed(moment) { change.owing(Notice::Delayed) } else { change }
    }

    /// Whether operators must be mailed that it is not posted, although it is not on hold.
    fn is_delayed(&self, moment: &Moment) -> bool {
        let begins = matches!(self.state, State::Admitted | State::Created { .. } | State::Uploaded { .. });
        let since = self.not_before.map_or(self.admitted_at, |time| time.max(self.admitted_at));
        begins && self.attempts >= retry::DELAYED_ATTEMPTS && moment.now - since >= retry::DELAYED_AFTER
    }

    /// Repeats the question about an open intent that has no definite answer. After a while this is reported,
    /// after a day the letter is shown as held. The question is never given up.
    fn ask_again(&self, open: &Open, moment: &Moment) -> Change {
        let so_long = moment.now - open.since;
        let wait = moment.retry.open_intent(self.attempts, so_long, moment.jitter);
        let mut change = Change::none(Due::At(moment.now + wait)).attempts(self.attempts + 1);
        if so_long >= retry::ALARM_AFTER {
            change = change.owing(Notice::Stuck);
        }
        if so_long >= retry::HOLD_AFTER && open.held.is_none() {
            change.facts.push(Fact::Held(Reason::NoAnswer));
            change = change.owing(Notice::Held);
        }
        change
    }

    fn after_abandon(&self, why: Abandonment, moment: &Moment) -> Change {
        let (State::Created { mail, .. } | State::Uploaded { mail }) = &self.state else {
            return self.out_of_step();
        };
        let left = Change::facts([Fact::Abandoned { mail: mail.k, why }]).attempts(self.attempts);
        match why {
            // If the deadlines are always too short, mails must not be created without a pause.
            Abandonment::TargetsExpired | Abandonment::DeadlineNear => {
                let again = self.try_again(moment);
                let left = left.due(again.due).attempts(again.attempts).trouble(why.to_string());
                again.owed.into_iter().fold(left, Change::owing)
            }
            Abandonment::TargetsLost
            | Abandonment::UploadRefused
            | Abandonment::OtherAccount
            | Abandonment::NotFound
            | Abandonment::NotAsMeant
            | Abandonment::Held
            | Abandonment::Withdrawn => left,
        }
    }

    /// Nothing can be done until then. A letter that was posted by another account cannot be followed by this
    /// one, and operators must be told of it.
    fn after_wait(&self, until: Time, moment: &Moment) -> Change {
        let change = Change::none(Due::At(until)).attempts(self.attempts);
        if self.state == State::Admitted && self.not_before == Some(until) {
            change.trouble("it waits to be posted together with others")
        } else if self.is_posted_elsewhere(moment) {
            change.trouble(POSTED_ELSEWHERE).owing(Notice::Stuck)
        } else {
            change
        }
    }

    /// Whether it was posted under credentials other than the current ones.
    fn is_posted_elsewhere(&self, moment: &Moment) -> bool {
        match &self.state {
            State::Confirmed { mail, .. } | State::Shipped { mail, .. } => {
                !moment.realm.0.is_empty() && mail.realm != moment.realm
            }
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Closed
            | State::Held { .. } => false,
        }
    }

    /// Puts the letter on hold. A mail at the service that has no intent is abandoned first.
    fn hold(&self, reason: Reason) -> Change {
        let due = match &self.state {
            State::Confirming { .. } | State::Withdrawing { .. } => Due::Now,
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirmed { .. }
            | State::Shipped { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Closed
            | State::Held { .. } => Due::Never,
        };
        let left = match &self.state {
            State::Created { mail, .. } | State::Uploaded { mail } => {
                Some(Fact::Abandoned { mail: mail.k, why: Abandonment::Held })
            }
            State::Admitted | State::Confirming { .. } | State::Withdrawing { .. } => None,
            State::Confirmed { .. }
            | State::Shipped { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Closed
            | State::Held { .. } => return self.out_of_step(),
        };
        Change::facts(left.into_iter().chain([Fact::Held(reason)])).due(due).owing(Notice::Held)
    }

    /// Our latest facts may be missing, so nothing unfinished is trusted or touched.
    fn after_restored(&self) -> Change {
        match &self.state {
            State::Held { reason, .. } if reason.certainty() == Certainty::Unknown => {
                Change::none(Due::Never)
            }
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. }
            | State::Held { .. } => {
                Change::facts([Fact::Held(Reason::Restored)]).due(Due::Never).owing(Notice::Held)
            }
            State::Confirmed { .. } | State::Shipped { .. } => Change::none(Due::Now),
            State::Cancelled { .. } | State::Withdrawn | State::Closed => Change::none(Due::Never),
        }
    }

    fn after_upload_again(&self, answer: &UploadAnswer) -> Change {
        let State::Confirming { open, resend: Resend::Wanted } = &self.state else {
            return self.out_of_step();
        };
        let done = Change::facts([Fact::UploadedAgain { mail: open.mail.k }]).attempts(self.attempts);
        match answer {
            UploadAnswer::Taken { .. } => done,
            UploadAnswer::TargetsLost => done.trouble("the files can't be sent again"),
            UploadAnswer::Refused(why) => done.trouble(why),
            UploadAnswer::Damaged { document } => {
                done.trouble(format!("document {} in the spool is damaged", document + 1))
            }
        }
    }
}
