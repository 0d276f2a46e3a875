//! Says to open pages that something changed, as server-sent events. A page then fetches itself again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use tokio::sync::OwnedSemaphorePermit;

use super::ServiceState;
use crate::sandbox::service::Service;

/// However much happens, a page hears of it once in this time.
const BREATH: Duration = Duration::from_millis(300);

pub(in crate::sandbox) async fn events(State(service): ServiceState) -> Response {
    let Ok(place) = Arc::clone(&service.listeners).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open\n").into_response();
    };
    // A page that has gone is noticed when something is sent to it.
    let alive = KeepAlive::default().interval(Duration::from_secs(3));
    Sse::new(changes(&service, place)).keep_alive(alive).into_response()
}

fn changes(
    service: &Arc<Service>,
    place: OwnedSemaphorePermit,
) -> impl futures_util::Stream<Item = Result<Event, Infallible>> + use<> {
    let mut live = service.live.subscribe();
    // A page may be older than what changed before it began to listen.
    live.mark_changed();
    unfold((live, place), async |(mut live, place)| {
        live.changed().await.ok()?;
        let count = (*live.borrow_and_update())?;
        tokio::time::sleep(BREATH).await;
        Some((Ok(Event::default().data(count.to_string())), (live, place)))
    })
}
