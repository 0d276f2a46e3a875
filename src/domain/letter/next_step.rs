//! The first of the two decisions: what to do with a letter now.

use chrono::TimeDelta;

use super::Letter;
use super::fact::{Abandonment, Reason};
use super::mail::{Mail, Realm};
use super::retry::Retry;
use super::state::{CancelWish, Open, Resend, State};
use crate::base::clock::Time;

/// The time before the deadline by which confirm must begin, so that a slow answer still finds the mail.
const CONFIRM_MARGIN: TimeDelta = TimeDelta::minutes(2);
/// The time before a target expires by which the last upload must begin.
const UPLOAD_MARGIN: TimeDelta = TimeDelta::seconds(10);
/// How long a trackable letter is read again while its tracking number is missing.
const TRACKING_COMES_WITHIN: TimeDelta = TimeDelta::days(30);
/// How often a letter of another account is looked at again.
const OTHER_ACCOUNT_AGAIN: TimeDelta = TimeDelta::hours(1);

/// What a decision uses besides the letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    pub now: Time,
    /// Randomness for the next wait.
    pub jitter: u8,
    /// The account whose answers we get at present.
    pub realm: Realm,
    /// Whether something that costs money may be begun.
    pub start: Start,
    pub retry: Retry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Go,
    WaitUntil(Time),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Create,
    Upload {
        document: usize,
    },
    /// Uploads all documents again to the same mail.
    UploadAgain,
    Read,
    Confirm,
    Cancel,
    Abandon(Abandonment),
    Hold(Reason),
    Wait(Time),
    Nothing,
}

impl Letter {
    pub fn next_step(&self, moment: &Moment) -> Step {
        match &self.state {
            State::Admitted => match (self.not_before, moment.start) {
                (Some(time), _) if moment.now < time => Step::Wait(time),
                (_, Start::Go) => Step::Create,
                (_, Start::WaitUntil(time)) => Step::Wait(time),
            },
            State::Created { mail, uploaded } => before_upload(mail, *uploaded, moment),
            State::Uploaded { mail } => before_confirm(mail, moment),
            State::Confirming { open, resend } => open.probe(moment, || match resend {
                Resend::Wanted if moment.now + UPLOAD_MARGIN < open.mail.upload_until => Step::UploadAgain,
                Resend::Wanted | Resend::NotNeeded | Resend::Done => Step::Confirm,
            }),
            State::Withdrawing { open, then: _ } => open.probe(moment, || self.cancel_or_read()),
            State::Confirmed { mail, wish, .. } => {
                if mail.realm != moment.realm {
                    return Step::Wait(moment.now + OTHER_ACCOUNT_AGAIN);
                }
                match wish {
                    CancelWish::Asked => self.cancel_or_read(),
                    CancelWish::NotAsked | CancelWish::Refused(_) => Step::Read,
                }
            }
            State::Shipped { mail, at, tracking } => {
                if tracking.is_some()
                    || !self.order.shipping.is_trackable()
                    || moment.now >= *at + TRACKING_COMES_WITHIN
                {
                    Step::Nothing
                } else if mail.realm == moment.realm {
                    Step::Read
                } else {
                    Step::Wait(moment.now + OTHER_ACCOUNT_AGAIN)
                }
            }
            State::Cancelled { .. } | State::Withdrawn | State::Closed | State::Held { .. } => Step::Nothing,
        }
    }

    /// Alternates between the two. A shipped mail answers "not cancellable" for ever, and an answer to cancel may always
    /// be lost, so only a read shows that it has shipped or is cancelled.
    fn cancel_or_read(&self) -> Step {
        match self.attempts % 2 {
            0 => Step::Cancel,
            _odd => Step::Read,
        }
    }
}

fn before_upload(mail: &Mail, uploaded: usize, moment: &Moment) -> Step {
    if mail.realm != moment.realm {
        Step::Abandon(Abandonment::OtherAccount)
    } else if moment.now + UPLOAD_MARGIN >= mail.upload_until {
        Step::Abandon(Abandonment::TargetsExpired)
    } else {
        Step::Upload { document: uploaded }
    }
}

fn before_confirm(mail: &Mail, moment: &Moment) -> Step {
    if mail.realm != moment.realm {
        return Step::Abandon(Abandonment::OtherAccount);
    }
    if moment.now + CONFIRM_MARGIN >= mail.confirm_until {
        return Step::Abandon(Abandonment::DeadlineNear);
    }
    match moment.start {
        Start::Go => Step::Read,
        Start::WaitUntil(time) => Step::Wait(time),
    }
}

impl Open {
    /// The late second key if the first one is there, otherwise the question of this intent. Nothing is sent
    /// as another account, whose answers would not be evidence.
    fn probe(&self, moment: &Moment, ask: impl FnOnce() -> Step) -> Step {
        if self.mail.realm != moment.realm {
            return match self.held {
                Some(_) => Step::Wait(moment.now + OTHER_ACCOUNT_AGAIN),
                None => Step::Hold(Reason::OtherAccount),
            };
        }
        match self.key {
            Some(key) if key.late => Step::Read,
            Some(_) | None => ask(),
        }
    }
}
