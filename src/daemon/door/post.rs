//! `POST /v1/letters`: a letter for each key.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, timeout_at};

use super::letters::{LetterStanding, internal};
use super::problem::{Declined, ProblemKind};
use super::request::{self, Received};
use super::{ANSWER_WITHIN, Door};
use crate::config::Right;
use crate::daemon::taking::{NotTaken, Offer, StandingNow};
use crate::domain::drop::Refusal;
use crate::domain::incoming::content_of;
use crate::outside::journal;
use crate::outside::spool::{EntryError, Ulid};
use crate::outside::store::{IncomingRow, RecordError};
use crate::words::texts::Language;

/// An answer as it is kept, so that it is the same whenever the request is repeated.
#[derive(Debug, Serialize, Deserialize)]
struct KeptAnswer {
    status: u16,
    body: LetterStanding,
}

pub(super) async fn post(State(door): State<Arc<Door>>, headers: HeaderMap, body: Body) -> Response {
    match taken(&door, &headers, body).await {
        Ok(response) => response,
        Err(problem) => {
            let mut response = problem.into_response();
            // The rest of the body may be unread, so the connection can't be used again.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            response
        }
    }
}

async fn taken(door: &Arc<Door>, headers: &HeaderMap, body: Body) -> Result<Response, Declined> {
    let queue = door.admitted(headers, Right::Post)?.clone();
    // The records have its hash, because a program may have put a name into it.
    let key = hex::encode(Sha256::digest(request::key(headers)?.as_bytes()));
    let deadline = Instant::now() + ANSWER_WITHIN;
    let taking = &door.taking;
    let folder = taking.folder(&queue).ok_or_else(|| {
        ProblemKind::FolderClosed
            .saying("Its file says `accept: no`, or is not in force. Repeat it with the same key.")
    })?;
    let place = timeout_at(deadline, Arc::clone(&door.places).acquire_owned()).await;
    let Ok(Ok(place)) = place else { return Err(ProblemKind::Busy.saying("Repeat it with the same key.")) };
    let ulid = taking.new_ulid().map_err(|error| request::trouble(&error))?;
    let draft = taking.inside.spool.begin_incoming(&ulid).map_err(|error| request::trouble(&error))?;
    let Received { draft, name, documents, fields } = request::receive(headers, body, draft, &folder).await?;
    drop(place);
    let content = content_of(&documents, fields.as_ref().map(|fields| &fields.value));
    let sidecar = fields.map(|fields| fields.sidecar);
    let offer = Offer { ulid, draft, key, content, name, documents, sidecar, mailed: None };
    // What is begun here is brought to its end, even if the program does not wait for it.
    let taken = tokio::spawn({
        let taking = Arc::clone(taking);
        async move { taking.take(&queue, offer).await }
    });
    let ulid = taken.await.map_err(|_| internal())?.map_err(|error| not_taken(&error))?;
    answer(door, &ulid).await
}

/// The answer that it has, or has from now on, once its drop is decided.
async fn answer(door: &Door, ulid: &Ulid) -> Result<Response, Declined> {
    let store = &door.taking.inside.store;
    let deadline = Instant::now() + ANSWER_WITHIN;
    let row = store.incoming(ulid).map_err(|error| journal_trouble(&error))?;
    if let Some(kept) = row.as_ref().and_then(kept) {
        return Ok(response(&kept));
    }
    let standing = door.taking.decided(ulid, deadline).await.map_err(|error| journal_trouble(&error))?;
    let body = LetterStanding::of(ulid, &standing);
    let status = match standing {
        StandingNow::Refused(refusal) => {
            return Err(ProblemKind::Refused.saying(why_refused(&refusal)));
        }
        // It is not kept, so that a repeated request has the decision.
        StandingNow::Pending => {
            return Ok(response(&KeptAnswer { status: StatusCode::ACCEPTED.as_u16(), body }));
        }
        StandingNow::Waits(_) | StandingNow::Cancelled => StatusCode::ACCEPTED,
        StandingNow::Letter(letter) if letter.state.hold().is_some() => StatusCode::ACCEPTED,
        StandingNow::Letter(_) => StatusCode::CREATED,
    };
    let kept = KeptAnswer { status: status.as_u16(), body: body.at_first() };
    let json = serde_json::to_string(&kept).map_err(|_| internal())?;
    store.answered(ulid.clone(), json).await.map_err(|error| not_recorded(&error))?;
    // Two requests may have come to different answers at the same time. One of them was kept.
    let row = store.incoming(ulid).map_err(|error| journal_trouble(&error))?;
    Ok(response(&row.as_ref().and_then(self::kept).unwrap_or(kept)))
}

/// In words for a program. Most remedies in the texts are for people with a file.
fn why_refused(refusal: &Refusal) -> String {
    let advice = Language::En.refusal(refusal);
    if *refusal == Refusal::NoLetter {
        return format!("{} {}", advice.cause, advice.remedy);
    }
    advice.cause
}

fn kept(row: &IncomingRow) -> Option<KeptAnswer> {
    serde_json::from_str(row.answer.as_deref()?).ok()
}

fn response(kept: &KeptAnswer) -> Response {
    let status = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::OK);
    let place = format!("/v1/letters/{}", kept.body.id);
    (status, [(header::LOCATION, place)], axum::Json(&kept.body)).into_response()
}

fn not_taken(error: &NotTaken) -> Declined {
    match error {
        NotTaken::KeyUsed => {
            return ProblemKind::KeyUsed.saying(
                "Nothing was taken. The letter under this key has other documents, file names or fields. Another \
                 letter needs another key.",
            );
        }
        NotTaken::Spool(EntryError::Io(cause)) => {
            journal::not_taken_by_queue(error);
            return request::trouble(cause);
        }
        NotTaken::Spool(
            EntryError::PerhapsTaken(_)
            | EntryError::Damaged { .. }
            | EntryError::Order(_)
            | EntryError::NoOrder,
        )
        | NotTaken::Record(_)
        | NotTaken::Store(_)
        | NotTaken::Stopped(_) => journal::not_taken_by_queue(error),
    }
    ProblemKind::Trouble.saying("It is not certain that it was taken. Repeat it with the same key.")
}

fn not_recorded(error: &RecordError) -> Declined {
    journal::not_taken_by_queue(error);
    ProblemKind::Trouble.saying("It is not certain that it was taken. Repeat it with the same key.")
}

pub(super) fn journal_trouble(error: &(dyn std::error::Error + 'static)) -> Declined {
    journal::not_taken_by_queue(error);
    internal()
}
