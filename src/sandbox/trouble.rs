//! Applies the ordered fault to a call of its endpoint.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use hyper::body::Frame;

use super::answer;
use super::calls::{Concerns, Suffered};
use super::faults::{Endpoint, Kind, Order};
use super::intake::{DRAINED, read_body};
use super::service::Service;
use super::upload;
use super::world::{Code, OAuthError, Reply, StoreError};

/// Marks an answer that must never leave: the connection is closed instead.
#[derive(Debug, Clone, Copy)]
pub(super) struct HangUp;

/// Tells a handler which fault of its own kind was ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Twist(pub(super) Kind);

pub(super) async fn inflict(
    State((service, endpoint)): State<(Arc<Service>, Endpoint)>,
    mut request: Request,
    next: Next,
) -> Response {
    let ordered = service.faults.lock().unwrap_or_else(PoisonError::into_inner).next(endpoint);
    let Some(order) = ordered else { return next.run(request).await };
    if order.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(order.delay_ms)).await;
    }
    let suffered = Suffered(order.fault);
    let mut response = match order.fault {
        Kind::Delay => next.run(request).await,
        Kind::Cut => hang_up(),
        Kind::LoseReply => in_place_of(&next.run(request).await, hang_up()),
        Kind::TruncateReply => truncate(next.run(request).await).await,
        Kind::Status if order.after_work => {
            in_place_of(&next.run(request).await, instead(&service, endpoint, order))
        }
        Kind::Status => {
            // A caller that is still sending would see a reset instead of the answer.
            let _ = read_body(request.into_body(), DRAINED, service.patience.body).await;
            instead(&service, endpoint, order)
        }
        Kind::PaymentInProgress | Kind::Decline | Kind::Stale => {
            request.extensions_mut().insert(Twist(order.fault));
            next.run(request).await
        }
    };
    response.extensions_mut().insert(suffered);
    response
}

/// Another answer about the same letter.
fn in_place_of(done: &Response, mut other: Response) -> Response {
    if let Some(concerns) = done.extensions().get::<Concerns>() {
        other.extensions_mut().insert(concerns.clone());
    }
    other
}

fn hang_up() -> Response {
    let mut response = Response::default();
    response.extensions_mut().insert(HangUp);
    response
}

async fn truncate(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let whole = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    if whole.is_empty() {
        let mut response = hang_up();
        response.extensions_mut().extend(parts.extensions);
        return response;
    }
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(whole.len()));
    let half = Half { left: Some(whole.slice(..whole.len() / 2)), told: false };
    Response::from_parts(parts, Body::new(half))
}

/// The first half of a body, sent before the connection is closed.
struct Half {
    left: Option<Bytes>,
    told: bool,
}

impl hyper::body::Body for Half {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(half) = self.left.take() {
            return Poll::Ready(Some(Ok(Frame::data(half))));
        }
        if !self.told {
            // Waiting once makes the connection send what it has.
            self.told = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())))
    }
}

/// The ordered answer: with the ordered body, or as the service itself or a gateway before it fails.
fn instead(service: &Service, endpoint: Endpoint, order: Order) -> Response {
    let status = order.status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or_default();
    let bodiless = [StatusCode::NO_CONTENT, StatusCode::RESET_CONTENT, StatusCode::NOT_MODIFIED];
    let mut response = match order.body {
        Some(body) => body.into_response(),
        None if bodiless.contains(&status) => Response::default(),
        None => own_failure(service, endpoint, status),
    };
    *response.status_mut() = status;
    if let Some(seconds) = order.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(kind) = order.content_type.and_then(|kind| HeaderValue::from_str(&kind).ok()) {
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    response
}

fn own_failure(service: &Service, endpoint: Endpoint, status: StatusCode) -> Response {
    let html =
        || axum::response::Html(format!("<html><body><h1>{status}</h1></body></html>")).into_response();
    match endpoint {
        Endpoint::Upload | Endpoint::Download => upload::refusal(&match status.as_u16() {
            403 => StoreError::AccessDenied("Access Denied".to_owned()),
            503 => StoreError::SlowDown,
            _ => StoreError::Internal,
        }),
        Endpoint::Token | Endpoint::Revocation if status == StatusCode::UNAUTHORIZED => {
            answer::reply(&service.places, Reply::OAuth(OAuthError::InvalidClient))
        }
        Endpoint::Token | Endpoint::Revocation | Endpoint::Discovery => html(),
        Endpoint::Account
        | Endpoint::Create
        | Endpoint::Read
        | Endpoint::Confirm
        | Endpoint::Cancel
        | Endpoint::Pdf => match status.as_u16() {
            401 => answer::reply(&service.places, Reply::Unauthorized),
            403 => answer::reply(&service.places, Reply::Forbidden),
            500 => answer::problem(&service.places, Code::InternalServerError.into()),
            _ => html(),
        },
    }
}
