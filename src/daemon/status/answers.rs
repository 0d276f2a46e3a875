//! Which address gives which answer.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::{Facts, Source, metrics, page, pictures};
use crate::domain::alarm::Raised;
use crate::outside::journal;
use crate::outside::store::{Desk, StoreError};
use crate::words::page::protect;

/// How long a probe waits for the records.
const PATIENCE: Duration = Duration::from_secs(2);
/// Nothing from other hosts, no scripts, no frames.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

pub(super) fn routes(source: Source) -> Router {
    Router::new()
        .route("/", get(page::front))
        .route("/letters", get(page::letters))
        .route("/letters/{letter}", get(page::letter))
        .route("/letters/{letter}/{picture}", get(pictures::picture))
        .route("/style.css", get(page::style))
        .route("/status.json", get(facts))
        .route("/healthz", get(health))
        .route("/healthz/live", get(|| async { "alive\n" }))
        .route("/metrics", get(exposition))
        .fallback(page::missing)
        .layer(middleware::from_fn(protected))
        .with_state(source)
}

async fn protected(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    protect(headers, POLICY);
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Reads the records for one caller at a time.
pub(super) async fn reading<T: Send + 'static>(
    source: &Source,
    read: impl FnOnce(&Source, &Desk) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StatusCode> {
    let turn = Arc::clone(&source.turn).lock_owned().await;
    let source = source.clone();
    let read = move || {
        // A caller that disconnects must not let the next one in before this is done.
        let _turn = turn;
        Desk::open(&source.state).and_then(|desk| read(&source, &desk))
    };
    match spawn_blocking(read).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(error)) => {
            journal::status_unknown(&error);
            Err(StatusCode::INTERNAL_SERVER_ERROR)
        }
        Err(_panic) => Err(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

pub(super) fn gather(source: &Source, desk: &Desk) -> Result<Facts, StoreError> {
    Facts::gather(desk, Some((source.live)()), source.clock.now())
}

async fn facts(State(source): State<Source>) -> Response {
    reading(&source, gather).await.map(Json).into_response()
}

/// 200 once everything is ready, 503 before. A trouble that is no reason for a restart has a line of its own.
async fn health(State(source): State<Source>) -> Response {
    if !(source.live)().ready {
        return (StatusCode::SERVICE_UNAVAILABLE, "not ready yet\n").into_response();
    }
    let troubles = reading(&source, |_, desk| {
        let alarms = desk.alarms()?.into_iter().filter(|raised| raised.fine_since.is_none());
        let line = |raised: Raised| {
            let since = raised.since.format("%Y-%m-%dT%H:%M:%SZ");
            format!("{} since {since}: {}\n", raised.alarm, raised.detail.replace('\n', "; "))
        };
        Ok(alarms.map(line).collect::<String>())
    });
    // Records that cannot be read now are no reason for a restart either.
    let troubles = timeout(PATIENCE, troubles).await.ok().and_then(Result::ok).unwrap_or_default();
    format!("ready\n{troubles}").into_response()
}

async fn exposition(State(source): State<Source>) -> Response {
    let counted = source.meter.read();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    let told = reading(&source, gather).await.map(|facts| metrics::exposition(&facts, &counted));
    told.map(|text| ([(header::CONTENT_TYPE, kind)], text)).into_response()
}
