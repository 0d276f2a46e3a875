//! The door for programs: letters by HTTP, each once for its key. docs/design/queues.md says why it is so.

mod contract;
mod letters;
mod post;
mod problem;
mod request;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
pub use contract::openapi;
use problem::{Declined, ProblemKind};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use crate::config::{ConfigError, HttpWay, Queue, Right};
use crate::daemon::taking::Taking;

/// The number of bodies that are read at the same time.
const READ_AT_ONCE: usize = 16;
/// How long a request waits for its drop to be decided.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A queue that a door serves.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) queue: Queue,
    pub(super) rights: Vec<Right>,
    token_hash: String,
}

impl Served {
    /// Reads its token.
    pub(super) fn of(queue: Queue, http: &HttpWay) -> Result<Self, ConfigError> {
        let token_hash = http.token_hash(&queue.name)?;
        Ok(Self { queue, rights: http.rights.clone(), token_hash })
    }
}

/// The door of some queues, on one listener.
#[derive(Debug)]
pub(super) struct Door {
    taking: Arc<Taking>,
    queues: Vec<Served>,
    places: Arc<Semaphore>,
}

impl Door {
    pub(super) fn of(taking: Arc<Taking>, queues: Vec<Served>) -> Self {
        Self { taking, queues, places: Arc::new(Semaphore::new(READ_AT_ONCE)) }
    }

    pub(super) fn routes(self) -> Router {
        Router::new()
            .route("/v1/letters", post(post::post))
            .route("/v1/letters/{id}", get(letters::read))
            .route("/v1/letters/{id}/pdf", get(letters::pdf))
            .route("/v1/letters/{id}/cancel", post(letters::cancel))
            .route("/v1/letters/{id}/release", post(letters::release))
            .route("/v1/openapi.json", get(contract::serve))
            .route("/v1/{*rest}", axum::routing::any(missing))
            .method_not_allowed_fallback(wrong_method)
            .layer(middleware::from_fn(protected))
            .with_state(Arc::new(self))
    }

    /// The queue whose token the request has, if that token allows this.
    fn admitted(&self, headers: &HeaderMap, right: Right) -> Result<&Queue, Declined> {
        let wrong = "Send `Authorization: Bearer TOKEN` with the token of the queue.";
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = sent.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        let token = token.ok_or_else(|| ProblemKind::Token.saying(wrong))?;
        let hash = hex::encode(Sha256::digest(token.as_bytes()));
        // Every hash is compared, and whole.
        let mut found = None;
        for served in &self.queues {
            if bool::from(served.token_hash.as_bytes().ct_eq(hash.as_bytes())) {
                found = Some(served);
            }
        }
        let served = found.ok_or_else(|| ProblemKind::Token.saying(wrong))?;
        if served.rights.contains(&right) {
            return Ok(&served.queue);
        }
        let (name, word) = (&served.queue.name, right.word());
        Err(ProblemKind::Right
            .saying(format!("Its queue's file, `{name}.yaml`, does not have `{word}` in `rights`.")))
    }
}

async fn missing() -> Declined {
    ProblemKind::Unknown.saying("/v1/openapi.json says what there is.")
}

async fn wrong_method() -> Declined {
    ProblemKind::Method.saying("/v1/openapi.json says what can be done.")
}

async fn protected(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
