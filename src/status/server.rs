//! Facts, probes and metrics over HTTP: always on a socket that only the service's user reaches, on
//! request on an address of this machine. Reading only.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::Listener;
use axum::{Json, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

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
    /// One reads the records at a time.
    pub turn: Arc<Mutex<()>>,
}

const CONNECTIONS: usize = 16;
const FOR_HEAD: Duration = Duration::from_secs(5);
const FOR_ALL: Duration = Duration::from_secs(30);
const BIND_AGAIN: Duration = Duration::from_secs(10);

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("state", &self.state).finish_non_exhaustive()
    }
}

/// Serves until it is dropped, each by itself: a port that is taken is tried again and keeps no command
/// from asking.
pub async fn serve(source: Source, listen: Option<SocketAddr>) {
    tokio::join!(private(source.clone()), public(source, listen));
}

async fn private(source: Source) {
    let path = socket(&source.state);
    drop(std::fs::remove_file(&path));
    // The state directory lets nobody else in.
    match UnixListener::bind(path) {
        Ok(listener) => answer(listener, routes(source)).await,
        Err(error) => journal::no_status(&error),
    }
}

async fn public(source: Source, listen: Option<SocketAddr>) {
    let Some(address) = listen else { return };
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => {
                journal::status_served(listener.local_addr().unwrap_or(address));
                answer(listener, routes(source.clone())).await;
            }
            Err(error) => journal::no_status(&error),
        }
        sleep(BIND_AGAIN).await;
    }
}

/// Whoever on this machine calls and says nothing, or calls often, takes nothing from the letters.
async fn answer(mut listener: impl Listener<Io: Send, Addr: Send>, routes: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let (io, _) = listener.accept().await;
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .half_close(true)
            .header_read_timeout(FOR_HEAD)
            .serve_connection(TokioIo::new(io), TowerToHyperService::new(routes.clone()));
        tokio::spawn(async move {
            // Whatever ends it is the caller's doing.
            let _ = timeout(FOR_ALL, connection).await;
            drop(place);
        });
    }
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
    let turn = Arc::clone(&source.turn);
    let _turn = turn.lock().await;
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
