//! The outcomes of a step: the service's answers, failures on the way, and a person's command.

use serde::{Deserialize, Serialize};

use super::fact::{Abandonment, Reason};
use super::mail::{Evidence, Mail};
use super::shown::Shown;
use crate::base::clock::Time;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Create(CreateAnswer),
    Upload(UploadAnswer),
    UploadAgain(UploadAnswer),
    Read(ReadAnswer),
    Confirm(ConfirmAnswer),
    Cancel(CancelAnswer),
    /// No answer, or an answer that decides nothing, to any question.
    Trouble(Trouble),
    /// Decided without a request.
    Abandon(Abandonment),
    Hold(Reason),
    Wait(Time),
    Nothing,
    /// A person's command.
    Asked(Command),
    /// Our own state went back in time or is damaged.
    Restored,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateAnswer {
    Made(Box<Mail>),
    /// 400 `invalid_request`, 422 `over_weight`: it can never be created as it is.
    Refused(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UploadAnswer {
    Taken {
        document: usize,
    },
    /// The upload targets were in the memory of a process that has ended.
    TargetsLost,
    Refused(String),
    /// The spool no longer has the bytes that were admitted.
    Damaged {
        document: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadAnswer {
    Found(Box<Reading>),
    NotFound(Evidence),
}

/// A mail as the service shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub status: Status,
    pub cancellable: bool,
    pub created_at: Time,
    pub confirm_by: Time,
    pub ships_at: Time,
    pub shipped_at: Option<Time>,
    pub tracking: Option<String>,
    pub shown: Shown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Pending,
    Confirmed,
    Shipped,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmAnswer {
    /// 204, or 409 `mail_already_confirmed`.
    Confirmed,
    PaymentInProgress,
    Declined(Evidence),
    NotFound(Evidence),
    /// 422 `file_not_uploaded`.
    FilesMissing,
    /// 422 `invalid_file`, `page_count_mismatch`.
    NeverPostable(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelAnswer {
    /// 204, or 409 `mail_already_cancelled`.
    Cancelled,
    /// Not confirmed yet, or already being packed.
    NotCancellable,
    WindowExpired,
    NotFound(Evidence),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The request may or may not have had an effect.
    Unknown(String),
    /// The request had no effect. It may be tried again at `soonest`.
    Later { soonest: Option<Time>, why: String },
    /// The account cannot do it until somebody repairs the account.
    Account(AccountProblem),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountProblem {
    CardDeclined,
    CardNotRegistered,
    AccountNotFound,
    /// 401 or 403 with a fresh token too, or the credentials themselves are rejected.
    NotAllowed(String),
    OtherPayment(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    Hold,
    Release,
    Retry,
    Cancel,
}

impl Command {
    pub const ALL: [Self; 4] = [Self::Hold, Self::Release, Self::Retry, Self::Cancel];

    pub fn word(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Release => "release",
            Self::Retry => "retry",
            Self::Cancel => "cancel",
        }
    }
}
