//! The door for programs: letters by HTTP, each once for its key. docs/design/queues.md says why it is so.

mod contract;
mod doors;
mod letters;
mod post;
mod problem;
mod request;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
pub use contract::openapi;
pub use doors::Doors;
use problem::{Declined, ProblemKind};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use crate::base::bells::Bells;
use crate::base::clock::Clock;
use crate::config::{ConfigError, Queue, Right};
use crate::loops::folders::Registry;
use crate::outside::spool::{Spool, Ulid};
use crate::outside::store::Store;

/// The number of bodies that are read at the same time.
const READ_AT_ONCE: usize = 16;
/// How long a request waits for its drop to be decided.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// What all doors share.
#[derive(Debug, Clone)]
pub struct Inside {
    pub store: Arc<Store>,
    pub spool: Spool,
    pub registry: Arc<Registry>,
    pub clock: Clock,
    pub bells: Bells,
    /// The directory of the records.
    pub state: PathBuf,
}

/// A queue, and a key in it.
type QueueKey = (String, String);
/// Whoever holds it uses the key.
type Turn = tokio::sync::Mutex<()>;

/// The door of some queues, on one listener.
#[derive(Debug)]
pub struct Door {
    inside: Inside,
    /// Each queue, and the hash of its token.
    queues: Vec<(Queue, String)>,
    places: Arc<Semaphore>,
    /// Those who hold a key at this moment.
    keys: Mutex<HashMap<QueueKey, Weak<Turn>>>,
    last_ulid: Mutex<Option<Ulid>>,
}

impl Door {
    /// Reads the tokens of these queues. Two with the same token could not be told apart.
    pub fn of(inside: Inside, queues: Vec<Queue>) -> Result<Self, ConfigError> {
        let hashed = |queue: Queue| Ok((queue.token_hash()?, queue)).map(|(hash, queue)| (queue, hash));
        let queues = queues.into_iter().map(hashed).collect::<Result<Vec<_>, ConfigError>>()?;
        Ok(Self {
            inside,
            queues,
            places: Arc::new(Semaphore::new(READ_AT_ONCE)),
            keys: Mutex::default(),
            last_ulid: Mutex::default(),
        })
    }

    pub fn routes(self) -> Router {
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
        for (queue, known) in &self.queues {
            if bool::from(known.as_bytes().ct_eq(hash.as_bytes())) {
                found = Some(queue);
            }
        }
        let queue = found.ok_or_else(|| ProblemKind::Token.saying(wrong))?;
        if queue.rights.contains(&right) {
            return Ok(queue);
        }
        let (name, word) = (&queue.name, right.word());
        Err(ProblemKind::Right
            .saying(format!("Its queue's file, `{name}.yaml`, does not have `{word}` in `rights`.")))
    }

    /// One request at a time uses a key. The others wait.
    fn lock_of(&self, queue: &str, key: &str) -> Arc<Turn> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|_, lock| lock.strong_count() > 0);
        let name = (queue.to_owned(), key.to_owned());
        let known = keys.get(&name).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let lock = Arc::default();
            keys.insert(name, Arc::downgrade(&lock));
            lock
        })
    }

    fn new_ulid(&self) -> std::io::Result<Ulid> {
        let mut last = self.last_ulid.lock().unwrap_or_else(PoisonError::into_inner);
        let new = Ulid::after(last.as_ref(), self.inside.clock.now())?;
        *last = Some(new.clone());
        Ok(new)
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
