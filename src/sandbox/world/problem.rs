//! Every problem that the API can answer with: its code, status and title.
//!
//! The explanations are pages (`pages/texts/`). A test checks that each code has one.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    InvalidRequest,
    CardNotRegistered,
    CardDeclined,
    AccountNotFound,
    MailNotFound,
    MailContentNotFound,
    MailAlreadyConfirmed,
    MailAlreadyCancelled,
    MailNotCancellable,
    MailNotConfirmed,
    CancellationWindowExpired,
    PaymentInProgress,
    OverWeight,
    FileNotUploaded,
    InvalidFile,
    PageCountMismatch,
    InternalServerError,
    // Not in the contract, but required of any HTTP server.
    NotFound,
    MethodNotAllowed,
    RequestTooLarge,
    RequestTimeout,
}

impl Code {
    pub const ALL: [Self; 21] = [
        Self::InvalidRequest,
        Self::CardNotRegistered,
        Self::CardDeclined,
        Self::AccountNotFound,
        Self::MailNotFound,
        Self::MailContentNotFound,
        Self::MailAlreadyConfirmed,
        Self::MailAlreadyCancelled,
        Self::MailNotCancellable,
        Self::MailNotConfirmed,
        Self::CancellationWindowExpired,
        Self::PaymentInProgress,
        Self::OverWeight,
        Self::FileNotUploaded,
        Self::InvalidFile,
        Self::PageCountMismatch,
        Self::InternalServerError,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RequestTooLarge,
        Self::RequestTimeout,
    ];

    pub fn as_str(self) -> &'static str {
        self.row().0
    }

    /// Whether the contract names it. The others are the sandbox's own.
    pub fn is_in_the_contract(self) -> bool {
        !matches!(
            self,
            Self::NotFound | Self::MethodNotAllowed | Self::RequestTooLarge | Self::RequestTimeout
        )
    }

    pub fn status(self) -> u16 {
        self.row().1
    }

    pub fn title(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::InvalidRequest => ("invalid_request", 400, "The request body is invalid"),
            Self::CardNotRegistered => ("card_not_registered", 402, "No credit card is registered"),
            Self::CardDeclined => ("card_declined", 402, "The credit card was declined"),
            Self::AccountNotFound => ("account_not_found", 404, "The account no longer exists"),
            Self::MailNotFound => ("mail_not_found", 404, "There is no such mail request"),
            Self::MailContentNotFound => ("mail_content_not_found", 404, "The mail request has no such file"),
            Self::MailAlreadyConfirmed => {
                ("mail_already_confirmed", 409, "The mail request is already confirmed")
            }
            Self::MailAlreadyCancelled => {
                ("mail_already_cancelled", 409, "The mail request is already cancelled")
            }
            Self::MailNotCancellable => ("mail_not_cancellable", 409, "The mail request cannot be cancelled"),
            Self::MailNotConfirmed => ("mail_not_confirmed", 409, "The mail request is not confirmed"),
            Self::CancellationWindowExpired => {
                ("cancellation_window_expired", 409, "The cancellation period is over")
            }
            Self::PaymentInProgress => {
                ("payment_in_progress", 409, "A payment for this request is in progress")
            }
            Self::OverWeight => ("over_weight", 422, "The mail would have too many sheets"),
            Self::FileNotUploaded => ("file_not_uploaded", 422, "A file was not uploaded"),
            Self::InvalidFile => ("invalid_file", 422, "A file is not a readable PDF"),
            Self::PageCountMismatch => ("page_count_mismatch", 422, "A page count differs from the PDF"),
            Self::InternalServerError => {
                ("internal_server_error", 500, "The service has an unexpected problem")
            }
            Self::NotFound => ("not_found", 404, "There is no such operation"),
            Self::MethodNotAllowed => ("method_not_allowed", 405, "The operation does not know this method"),
            Self::RequestTooLarge => ("request_too_large", 413, "The request body is too large"),
            Self::RequestTimeout => ("request_timeout", 408, "The request body did not arrive in time"),
        }
    }
}

/// One entry of a problem's `errors`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fault {
    pub path: String,
    pub message: String,
    pub content_id: Option<String>,
}

impl Fault {
    pub fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), content_id: None }
    }
}

/// A refused API call, with problem+json.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    pub code: Code,
    pub faults: Vec<Fault>,
}

impl From<Code> for Problem {
    fn from(code: Code) -> Self {
        Self { code, faults: Vec::new() }
    }
}
