//! The verdict on every answer that is not a success. It is decided here, once.

use reqwest::StatusCode;

use super::line::{Broken, Reply};
use crate::base::clock::Time;
use crate::domain::letter::{AccountProblem, Trouble};

/// What a failure means for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The request may or may not have had its effect.
    Unknown(String),
    /// The request had no effect, or can only be repeated. Not before `soonest`.
    Later { soonest: Option<Time>, why: String },
    /// The request can never be accepted as it is.
    Refused(String),
    /// The account cannot do it until somebody repairs the account.
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

    /// The meaning where nothing can be refused finally: ask until the answer is definite.
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

/// The verdict on an answer of the API that is neither a success nor a code that the call itself handles.
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

/// The verdict on an answer to a create request. A refusal that the service explains is final.
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
