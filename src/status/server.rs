//! Facts, probes and metrics over HTTP: always on a socket that only the service's user reaches, on
//! request on an address of this machine. Reading only.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::spawn_blocking;

use super::{Facts, Live, metrics, socket};
use crate::api::Meter;
use crate::clock::Clock;
use crate::journal;

/// Where the facts come from.
#[derive(Clone)]
pub struct Source {
    pub state: PathBuf,
    pub clock: Clock,
    pub meter: Meter,
    pub live: Arc<dyn Fn() -> Live + Send + Sync>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("state", &self.state).finish_non_exhaustive()
    }
}

/// Serves until it is dropped. `listen`: besides the socket in the state directory.
pub async fn serve(source: Source, listen: Option<SocketAddr>) -> io::Result<()> {
    let path = socket(&source.state);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // The state directory lets nobody else in.
    let private = axum::serve(UnixListener::bind(path)?, routes(source.clone()));
    let Some(address) = listen else { return private.await };
    let listener = TcpListener::bind(address).await?;
    journal::status_served(listener.local_addr()?);
    let public = axum::serve(listener, routes(source));
    tokio::try_join!(private.into_future(), public.into_future()).map(drop)
}

fn routes(source: Source) -> Router {
    Router::new()
        .route("/status.json", get(facts))
        .route("/healthz", get(health))
        .route("/healthz/live", get(|| async { "alive\n" }))
        .route("/metrics", get(exposition))
        .layer(middleware::from_fn(guarded))
        .with_state(source)
}

/// A page of somewhere else, in a browser on this machine, gets nothing.
async fn guarded(request: Request, next: Next) -> Response {
    if !is_ours(request.headers()) {
        return (StatusCode::MISDIRECTED_REQUEST, "call it by an address of this machine\n").into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether the host that is asked for is this machine by its address, not a name that somebody points here.
fn is_ours(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return false };
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    name == "localhost" || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

async fn gathered(source: Source) -> Result<Facts, Response> {
    let gather = move || Facts::gather(&source.state, Some((source.live)()), source.clock.now());
    match spawn_blocking(gather).await {
        Ok(Ok(facts)) => Ok(facts),
        Ok(Err(error)) => {
            journal::status_unknown(&error);
            Err(StatusCode::INTERNAL_SERVER_ERROR.into_response())
        }
        Err(_panic) => Err(StatusCode::INTERNAL_SERVER_ERROR.into_response()),
    }
}

async fn facts(State(source): State<Source>) -> Response {
    gathered(source).await.map_or_else(|refused| refused, |facts| Json(facts).into_response())
}

/// 200 once everything is ready, 503 before.
async fn health(State(source): State<Source>) -> Response {
    if (source.live)().ready {
        "ready\n".into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready yet\n").into_response()
    }
}

async fn exposition(State(source): State<Source>) -> Response {
    let counted = source.meter.read();
    match gathered(source).await {
        Ok(facts) => {
            let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            ([(header::CONTENT_TYPE, kind)], metrics::exposition(&facts, &counted)).into_response()
        }
        Err(refused) => refused,
    }
}
