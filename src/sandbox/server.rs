//! Connections: accepted up to a limit, closed when slow, with answers dated by the sandbox's clock.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service as HttpService;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt as _;

use super::service::Service;
use super::trouble::HangUp;

const CONNECTIONS: usize = 1024;
/// Callers beyond that who are told so at the same time. Others are only disconnected.
const REFUSALS: usize = 64;
const LAST_ANSWERS: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
#[error("hung up as a fault ordered")]
struct HungUp;

/// Serves until `stop`, then finishes the answers that are under way.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    service: Arc<Service>,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Probably there are no file descriptors left: existing connections must end first.
                    tracing::warn!(error = &error as &dyn std::error::Error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        let _ = stream.set_nodelay(true);
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            // It is told at once, instead of waiting for another one to end.
            if let Ok(turn) = Arc::clone(&refusals).try_acquire_owned() {
                tokio::spawn(refuse(stream, turn));
            }
            continue;
        };
        let answering = answering(router.clone(), Arc::clone(&service));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // A caller that has finished sending may still be reading.
            .half_close(true)
            .header_read_timeout(service.patience.head)
            .serve_connection(TokioIo::new(stream), answering);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // Whatever ends a connection here is the caller's doing, or an ordered fault.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    service.ends();
    let _ = tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await;
}

/// Answers a connection too many. What it has sent by then is read, so that closing does not take the answer away.
async fn refuse(mut stream: TcpStream, _turn: OwnedSemaphorePermit) {
    const ANSWER: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 21\r\n\
        Retry-After: 1\r\nConnection: close\r\n\r\ntoo many connections\n";
    let answered = async {
        stream.write_all(ANSWER).await?;
        stream.shutdown().await?;
        let mut sent = [0; 4096];
        while stream.read(&mut sent).await? > 0 {}
        std::io::Result::Ok(())
    };
    let _ = tokio::time::timeout(Duration::from_secs(5), answered).await;
}

/// Routes a request and dates its answer.
fn answering(
    router: Router,
    service: Arc<Service>,
) -> impl HttpService<Request<Incoming>, Response = Response<Body>, Error = HungUp, Future: Send + 'static> {
    hyper::service::service_fn(move |request: Request<Incoming>| {
        let (router, service) = (router.clone(), Arc::clone(&service));
        async move {
            let response: Result<Response<Body>, Infallible> = router.oneshot(request.map(Body::new)).await;
            let Ok(mut response) = response;
            if response.extensions().get::<HangUp>().is_some() {
                return Err(HungUp);
            }
            let date = service.clock.now().format("%a, %d %b %Y %H:%M:%S GMT").to_string();
            if let Ok(date) = HeaderValue::from_str(&date) {
                response.headers_mut().insert(header::DATE, date);
            }
            Ok(response)
        }
    })
}
