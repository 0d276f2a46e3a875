//! `/_sandbox/letters` and `/_sandbox/wait`: letters as values, for tests that look at what was posted.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::answer::answer;
use super::controls::{Refused, bad};
use super::data::Halted;
use super::finding::{Asked, Finder, Found};
use super::service::Service;
use super::world::{self, Mail, Reading};
use crate::base::clock::Time;
use crate::outside::api::wire::format_time;

const USUAL_LETTERS: usize = 100;
const MOST_LETTERS: usize = 1000;
const USUAL_WAIT: Duration = Duration::from_secs(10);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    #[serde(default)]
    q: String,
    #[serde(default)]
    state: String,
    #[serde(default)]
    method: String,
    #[serde(default)]
    before: String,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Awaited {
    #[serde(default)]
    q: String,
    #[serde(default)]
    state: String,
    #[serde(default)]
    method: String,
    count: Option<usize>,
    /// For example `10s`.
    timeout: Option<String>,
}

/// The newest letters that fit.
pub(super) async fn letters(
    State(service): State<Arc<Service>>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Response, Refused> {
    let Query(Wanted { q, state, method, before, limit }) = wanted.map_err(bad)?;
    let finder = Asked { q, state, method, before }.read().map_err(bad)?;
    let most = limit.unwrap_or(USUAL_LETTERS);
    if !(1..=MOST_LETTERS).contains(&most) {
        return Err(bad(format!("`limit` must be from 1 to {MOST_LETTERS}")));
    }
    Ok(match found(&service, &finder, most).await {
        Ok(Found { letters, older }) => Json(json!({"letters": letters, "older": older})).into_response(),
        Err(halted) => answer(&service.places, Err(halted)),
    })
}

/// The same, as soon as there are so many.
pub(super) async fn wait(
    State(service): State<Arc<Service>>,
    awaited: Result<Query<Awaited>, QueryRejection>,
) -> Result<Response, Refused> {
    let Query(Awaited { q, state, method, count, timeout: patience }) = awaited.map_err(bad)?;
    let finder = Asked { q, state, method, before: String::new() }.read().map_err(bad)?;
    let count = count.unwrap_or(1);
    if !(1..=MOST_LETTERS).contains(&count) {
        return Err(bad(format!("`count` must be from 1 to {MOST_LETTERS}")));
    }
    let patience = match patience.as_deref().map(humantime::parse_duration) {
        None => USUAL_WAIT,
        Some(Ok(patience)) if patience <= LONGEST_WAIT => patience,
        Some(_) => return Err(bad("`timeout` is a time of at most a minute, such as `10s`")),
    };
    let enough = async {
        let mut live = service.live.subscribe();
        loop {
            live.borrow_and_update();
            let began = Instant::now();
            let found = found(&service, &finder, count.max(USUAL_LETTERS)).await?;
            if found.letters.len() >= count {
                return Ok(found);
            }
            // However much happens, most of the time is for others.
            sleep(began.elapsed() * 4).await;
            if live.changed().await.is_err() || live.borrow().is_none() {
                return Err(Halted);
            }
        }
    };
    Ok(match timeout(patience, enough).await {
        Ok(Ok(Found { letters, older })) => Json(json!({"letters": letters, "older": older})).into_response(),
        Ok(Err(halted)) => answer(&service.places, Err(halted)),
        Err(_) => {
            let there =
                found(&service, &finder, USUAL_LETTERS).await.map(|found| found.letters).unwrap_or_default();
            let error = format!(
                "{} of {count} such letters came within {}",
                there.len(),
                humantime::format_duration(patience)
            );
            (StatusCode::NOT_FOUND, Json(json!({"error": error, "letters": there}))).into_response()
        }
    })
}

async fn found(service: &Service, finder: &Finder, most: usize) -> Result<Found<Value>, Halted> {
    let base = &service.places.base_url;
    service.find(finder, most, |mail, now| value(mail, now, base)).await
}

fn value(mail: &Mail, now: Time, base: &str) -> Value {
    let order = &mail.order;
    let documents: Vec<Value> = mail
        .contents
        .iter()
        .zip(&order.files)
        .enumerate()
        .map(|(index, (content, file))| {
            let stored = content.upload.as_ref();
            let pages = stored.map(|stored| match &stored.reading {
                Reading::Pages(pages) => json!(pages),
                Reading::Unreadable(_) => Value::Null,
            });
            json!({
                "id": content.id, "file_name": file.file_name, "page_count": file.page_count, "color": file.color,
                "duplex": file.duplex, "staple": file.staple, "bind": file.bind,
                "pages": pages, "bytes": stored.map(|stored| stored.size),
                "sha256": stored.map(|stored| &stored.sha256),
                "url": stored.map(|_| format!("{base}/inbox/{}/{}", mail.id, index + 1)),
            })
        })
        .collect();
    json!({
        "id": mail.id, "account": mail.account, "state": mail.standing(),
        "shipping_method": order.shipping_method, "shipping_options": order.shipping_options,
        "receiver_address": order.receiver_address, "sender_address": order.sender_address,
        "reply_letterpack": order.reply_letterpack,
        "amount": world::amount(order), "sheets": world::sheets(&order.files),
        "cancellable": mail.is_cancellable(now), "tracking_number": mail.tracking_number(),
        "created_at": format_time(mail.created_at), "ships_at": format_time(mail.ships_at),
        "documents": documents, "url": format!("{base}/inbox/{}", mail.id),
    })
}
