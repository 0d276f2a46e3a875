//! Says to open pages that something changed, as server-sent events. A page then fetches itself again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;

use super::ServiceState;
use crate::sandbox::service::Service;

/// Open pages beyond that fetch themselves again after some seconds instead.
const MOST_LISTENING: usize = 64;
/// However much happens, a page hears of it once in this time.
const BREATH: Duration = Duration::from_millis(300);

pub(in crate::sandbox) async fn events(State(service): ServiceState) -> Response {
    if service.live.receiver_count() >= MOST_LISTENING {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open\n").into_response();
    }
    Sse::new(changes(&service)).keep_alive(KeepAlive::default()).into_response()
}

fn changes(service: &Arc<Service>) -> impl futures_util::Stream<Item = Result<Event, Infallible>> + use<> {
    let mut live = service.live.subscribe();
    // A page may be older than what changed before it began to listen.
    live.mark_changed();
    unfold(live, async |mut live| {
        live.changed().await.ok()?;
        let count = (*live.borrow_and_update())?;
        tokio::time::sleep(BREATH).await;
        Some((Ok(Event::default().data(count.to_string())), live))
    })
}
