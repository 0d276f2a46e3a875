//! Why a request was not done: `application/problem+json` (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be wrong with a request. Each has a status, a name and a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProblemKind {
    Token,
    Right,
    Unknown,
    Method,
    KeyMissing,
    KeyUsed,
    NotMultipart,
    Malformed,
    TooSlow,
    TooLarge,
    Fields,
    Refused,
    NotNow,
    NoDocument,
    FolderClosed,
    Busy,
    Trouble,
}

impl ProblemKind {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::Right => StatusCode::FORBIDDEN,
            Self::Unknown => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::KeyMissing | Self::Malformed => StatusCode::BAD_REQUEST,
            Self::KeyUsed | Self::NotNow => StatusCode::CONFLICT,
            Self::NotMultipart => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Fields | Self::Refused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::NoDocument => StatusCode::GONE,
            Self::FolderClosed | Self::Busy | Self::Trouble => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Its name, and its title.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Token => ("token", "There is no token, or it is not valid here."),
            Self::Right => ("right", "The token does not allow this."),
            Self::Unknown => ("unknown", "There is no such thing here."),
            Self::Method => ("method", "This can't be done here."),
            Self::KeyMissing => ("key-missing", "The header Idempotency-Key is missing or can't be used."),
            Self::KeyUsed => ("key-used", "This Idempotency-Key stands for a letter with other contents."),
            Self::NotMultipart => ("not-multipart", "The body is not multipart/form-data."),
            Self::Malformed => ("malformed", "The body can't be read."),
            Self::TooSlow => ("too-slow", "The body did not come in time."),
            Self::TooLarge => ("too-large", "The body is too large."),
            Self::Fields => ("fields", "There are mistakes in the request."),
            Self::Refused => ("refused", "The folder's rules refuse it."),
            Self::NotNow => ("not-now", "That can't be done with this letter now."),
            Self::NoDocument => ("no-document", "The document is not kept any more."),
            Self::FolderClosed => ("folder-closed", "The folder takes nothing in at present."),
            Self::Busy => ("busy", "Too many requests are being read."),
            Self::Trouble => ("trouble", "It can't be taken at present."),
        }
    }

    pub(super) fn saying(self, detail: impl Into<String>) -> Declined {
        let (name, title) = self.words();
        Declined {
            r#type: format!("urn:mailchute:problem:{name}"),
            title: title.to_owned(),
            status: self.status().as_u16(),
            detail: detail.into(),
            errors: Vec::new(),
        }
    }
}

/// What is wrong, and what helps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Declined {
    /// Its name, for programs: `urn:mailchute:problem:…`
    pub r#type: String,
    pub title: String,
    pub status: u16,
    /// What is wrong in this case, and what helps.
    pub detail: String,
    /// All mistakes of the request, each with its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FieldError {
    /// `#/letter/receiver/postal_code`, `#/document/0`
    pub pointer: String,
    pub detail: String,
}

impl Declined {
    pub(super) fn with(self, errors: Vec<FieldError>) -> Self {
        Self { errors, ..self }
    }
}

impl IntoResponse for Declined {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const ALL: [ProblemKind; 17] = [
        ProblemKind::Token,
        ProblemKind::Right,
        ProblemKind::Unknown,
        ProblemKind::Method,
        ProblemKind::KeyMissing,
        ProblemKind::KeyUsed,
        ProblemKind::NotMultipart,
        ProblemKind::Malformed,
        ProblemKind::TooSlow,
        ProblemKind::TooLarge,
        ProblemKind::Fields,
        ProblemKind::Refused,
        ProblemKind::NotNow,
        ProblemKind::NoDocument,
        ProblemKind::FolderClosed,
        ProblemKind::Busy,
        ProblemKind::Trouble,
    ];

    #[test]
    fn each_problem_has_a_name_of_its_own_and_is_an_error() {
        let names: BTreeSet<&str> = ALL.iter().map(|wrong| wrong.words().0).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|wrong| wrong.status().as_u16() >= 400));
    }
}
