//! Listens on an address of this machine or on a socket, and serves pages and answers by HTTP.

use std::fs::{self, Permissions};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::config::Listen;

const FOR_HEAD: Duration = Duration::from_secs(5);
const BIND_AGAIN: Duration = Duration::from_secs(10);
/// A socket for a proxy is open to its owner and its group.
const PROXIES: u32 = 0o660;

/// How many callers are served, and how long one connection may last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Callers {
    pub(super) at_once: usize,
    pub(super) longest: Duration,
}

/// Whoever reads the status is done soon.
pub(super) const READERS: Callers = Callers { at_once: 16, longest: Duration::from_secs(30) };
/// Programs keep their connections, and send documents on them.
pub(super) const PROGRAMS: Callers = Callers { at_once: 64, longest: Duration::from_mins(10) };

/// What the journal says of a listener.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tells {
    /// It listens on this address.
    pub(super) served: fn(SocketAddr),
    /// It cannot listen.
    pub(super) failed: fn(&io::Error),
}

/// Serves until it is dropped. A port that is taken is tried again.
pub(super) async fn listening(listen: Listen, routes: Router, callers: Callers, tells: Tells) {
    let mut told = false;
    loop {
        let ended = match &listen {
            Listen::Address(address) => match TcpListener::bind(address).await {
                Ok(listener) => {
                    (tells.served)(listener.local_addr().unwrap_or(*address));
                    let routes = routes.clone().layer(middleware::from_fn(guarded));
                    answer(listener, routes, callers).await;
                    Ok(())
                }
                Err(error) => Err(error),
            },
            Listen::Socket(path) => match bind(path, PROXIES) {
                Ok(listener) => {
                    answer(listener, routes.clone(), callers).await;
                    Ok(())
                }
                Err(error) => Err(error),
            },
        };
        if let Err(error) = ended
            && !std::mem::replace(&mut told, true)
        {
            (tells.failed)(&error);
        }
        sleep(BIND_AGAIN).await;
    }
}

/// Replaces what an earlier run left, and nothing else. An error names the socket.
pub(super) fn bind(path: &Path, mode: u32) -> io::Result<UnixListener> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    bound(path, mode).map_err(named)
}

fn bound(path: &Path, mode: u32) -> io::Result<UnixListener> {
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
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    Ok(listener)
}

/// A caller on this machine that sends nothing, or calls often, must not slow down letters.
async fn answer(mut listener: impl Listener<Io: Send, Addr: Send>, routes: Router, callers: Callers) {
    let places = Arc::new(Semaphore::new(callers.at_once));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let (io, _) = listener.accept().await;
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .half_close(true)
            .header_read_timeout(FOR_HEAD)
            .serve_connection(TokioIo::new(io), TowerToHyperService::new(routes.clone()));
        tokio::spawn(async move {
            // Whatever ends it is the caller's doing.
            let _ = timeout(callers.longest, connection).await;
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
