//! The verdict on every answer that is no success: decided here once, beside the error.

use reqwest::StatusCode;

use super::line::{Broken, Reply};
use crate::base::clock::Time;
use crate::domain::letter::{AccountProblem, Trouble};

/// What a failure means for whoever asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It may or may not have had its effect.
    Unknown(String),
    /// It had none, or asking again is all there is to do; at the soonest then.
    Later { soonest: Option<Time>, why: String },
    /// Never to be taken as it is.
    Refused(String),
    /// The account can't do it until somebody mends it.
    Account(AccountProblem),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(why) | Self::Refused(why) | Self::Later { why, .. } => f.write_str(why),
            Self::Account(problem) => problem.fmt(f),
        }
    }
}

impl Failure {
    pub(super) fn nonsense(what: &str) -> Self {
        Self::Unknown(format!("the service's answer makes no sense: {what}"))
    }

    /// What it means where nothing can be refused for good: asked about until the answer is definite.
    pub fn trouble(self) -> Trouble {
        match self {
            Self::Unknown(why) | Self::Refused(why) => Trouble::Unknown(why),
            Self::Later { soonest, why } => Trouble::Later { soonest, why },
            Self::Account(problem) => Trouble::Account(problem),
        }
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::NotSent(why) => Self::Later { soonest: None, why },
            Broken::Lost(why) => Self::Unknown(why),
        }
    }
}

/// An answer to a call of the API that is neither its success nor a code the call itself knows.
pub(super) fn verdict(reply: &Reply, now: Time) -> Failure {
    let code = reply.problem().map(|said| said.code);
    let code = code.as_deref();
    let soonest = reply.retry_after.map(|wait| now + wait);
    match (reply.status, code) {
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => Failure::Account(
            AccountProblem::NotAllowed(format!("a new token was answered with {}", reply.status.as_u16())),
        ),
        (StatusCode::NOT_FOUND, Some("account_not_found")) => {
            Failure::Account(AccountProblem::AccountNotFound)
        }
        (StatusCode::PAYMENT_REQUIRED, Some("card_not_registered")) => {
            Failure::Account(AccountProblem::CardNotRegistered)
        }
        (StatusCode::PAYMENT_REQUIRED, Some(other)) => {
            Failure::Account(AccountProblem::OtherPayment(other.to_owned()))
        }
        (
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT | StatusCode::SERVICE_UNAVAILABLE,
            _,
        ) => Failure::Later { soonest, why: reply.summary() },
        (status, _) if status.is_server_error() && soonest.is_some() => {
            Failure::Later { soonest, why: reply.summary() }
        }
        (_any, _) => Failure::Unknown(reply.summary()),
    }
}

/// The same for a create: what the service explains in its own words will not get better.
pub(super) fn verdict_on_create(reply: &Reply, now: Time) -> Failure {
    let verdict = verdict(reply, now);
    match (&verdict, reply.problem()) {
        (Failure::Unknown(_), Some(said)) if is_about_the_letter(reply.status) => {
            Failure::Refused(said.to_string())
        }
        (Failure::Unknown(_) | Failure::Later { .. } | Failure::Refused(_) | Failure::Account(_), _) => {
            verdict
        }
    }
}

fn is_about_the_letter(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 409 | 413 | 415 | 422)
}
