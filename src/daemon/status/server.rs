//! The status over HTTP: always on a socket that only the service's user can use; if configured, also on an
//! address of this machine or on a socket for a proxy. It only reads.

use std::fs::{self, Permissions};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::serve::Listener;
use chrono_tz::Tz;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{sleep, timeout};

use super::{Live, Pictures, answers, socket};
use crate::base::clock::Clock;
use crate::config::Listen;
use crate::outside::api::Meter;
use crate::outside::journal;
use crate::words::texts::Language;

/// Where the facts come from, and how people read them.
#[derive(Clone)]
pub struct Source {
    pub state: PathBuf,
    pub clock: Clock,
    pub meter: Meter,
    pub live: Arc<dyn Fn() -> Live + Send + Sync>,
    /// For a browser that names none.
    pub language: Language,
    pub zone: Tz,
    pub show_names: bool,
    /// Pictures of letters, if people may see them.
    pub pictures: Option<Arc<Pictures>>,
    /// Only one caller reads the records at a time.
    pub turn: Arc<Mutex<()>>,
}

const CONNECTIONS: usize = 16;
const FOR_HEAD: Duration = Duration::from_secs(5);
const FOR_ALL: Duration = Duration::from_secs(30);
const BIND_AGAIN: Duration = Duration::from_secs(10);
/// A socket for a proxy is open to its owner and its group.
const PROXIES: u32 = 0o660;

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("state", &self.state).finish_non_exhaustive()
    }
}

/// Serves until it is dropped. Each listener is independent: a port that is taken is tried again, and
/// commands can ask all the same.
pub async fn serve(source: Source, listen: Option<Listen>) {
    // The state directory lets nobody else in.
    let private = Listen::Socket(socket(&source.state));
    tokio::join!(listening(source.clone(), Some(private)), listening(source, listen));
}

async fn listening(source: Source, listen: Option<Listen>) {
    let Some(listen) = listen else { return };
    let routes = answers::routes(source);
    let mut told = false;
    loop {
        let ended = match &listen {
            Listen::Address(address) => match TcpListener::bind(address).await {
                Ok(listener) => {
                    journal::status_served(listener.local_addr().unwrap_or(*address));
                    let routes = routes.clone().layer(middleware::from_fn(guarded));
                    answer(listener, routes).await;
                    Ok(())
                }
                Err(error) => Err(error),
            },
            Listen::Socket(path) => match bind(path) {
                Ok(listener) => {
                    answer(listener, routes.clone()).await;
                    Ok(())
                }
                Err(error) => Err(error),
            },
        };
        if let Err(error) = ended
            && !std::mem::replace(&mut told, true)
        {
            journal::no_status(&error);
        }
        sleep(BIND_AGAIN).await;
    }
}

/// Replaces what an earlier run left, and nothing else.
fn bind(path: &Path) -> io::Result<UnixListener> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.file_type().is_socket() => match UnixStream::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path)?,
            Ok(_) => return Err(io::Error::new(io::ErrorKind::AddrInUse, "another program listens there")),
            Err(error) => return Err(error),
        },
        Ok(_) => return Err(io::Error::new(io::ErrorKind::AlreadyExists, "what is there is not a socket")),
        Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(PROXIES))?;
    Ok(listener)
}

/// A caller on this machine that sends nothing, or calls often, must not slow down letters.
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

/// A page from elsewhere, in a browser on this machine, gets no answer.
async fn guarded(request: Request, next: Next) -> Response {
    if is_ours(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::MISDIRECTED_REQUEST, "call it by an address of this machine\n").into_response()
}

/// Whether the requested host is an address of this machine, and not a name that somebody points here.
fn is_ours(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return false };
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    name == "localhost" || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
