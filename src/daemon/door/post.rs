//! `POST /v1/letters`: a letter for each key.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use super::letters::{LetterStanding, StandingNow, internal};
use super::problem::{Declined, ProblemKind};
use super::request::{self, Received};
use super::{ANSWER_WITHIN, Door};
use crate::config::{Accept, Queue, Right};
use crate::domain::drop::Refusal;
use crate::domain::incoming::{Incoming, KeyMeans, QueueStep, TAKING, again, content_of};
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
    let folder = door.inside.registry.get(&queue.into).map(|known| known.folder);
    let folder = folder.filter(|folder| folder.accept == Accept::Yes).ok_or_else(|| {
        ProblemKind::FolderClosed
            .saying("Its file says `accept: no`, or is not in force. Repeat it with the same key.")
    })?;
    let place = timeout_at(deadline, Arc::clone(&door.places).acquire_owned()).await;
    let Ok(Ok(place)) = place else { return Err(ProblemKind::Busy.saying("Repeat it with the same key.")) };
    let ulid = door.new_ulid().map_err(|error| request::trouble(&error))?;
    let draft = door.inside.spool.begin_incoming(&ulid).map_err(|error| request::trouble(&error))?;
    let received = request::receive(headers, body, draft, &folder).await?;
    drop(place);
    // What is begun here is brought to its end, even if the program does not wait for it.
    let taking = tokio::spawn({
        let door = Arc::clone(door);
        async move { take(&door, &queue, key, ulid, received).await }
    });
    let ulid = taking.await.map_err(|_| internal())??;
    answer(door, &ulid).await
}

/// Takes it, unless its key was used. Returns what was taken under the key.
async fn take(
    door: &Door,
    queue: &Queue,
    key: String,
    ulid: Ulid,
    received: Received,
) -> Result<Ulid, Declined> {
    let Received { draft, name, documents, fields } = received;
    let content = content_of(&documents, fields.as_ref().map(|fields| &fields.value));
    let lock = door.lock_of(&queue.name, &key);
    let _turn = lock.lock().await;
    let store = &door.inside.store;
    let known = store.incoming_by(&queue.name, &key).map_err(|error| journal_trouble(&error))?;
    match again(known.as_ref().map(|known| (&known.ulid, known.content.as_str())), &content) {
        KeyMeans::Same(before) => return Ok(before.clone()),
        KeyMeans::Another => {
            return Err(ProblemKind::KeyUsed.saying(
                "Nothing was taken. The letter under this key has other documents, file names or fields. Another \
                 letter needs another key.",
            ));
        }
        KeyMeans::New => {}
    }
    let is_open = store.is_queue_open(&queue.name).map_err(|error| journal_trouble(&error))?;
    let incoming = Incoming {
        queue: queue.name.clone(),
        key,
        content,
        folder: queue.into.clone(),
        name,
        owner: queue.owner,
        is_distrusted: !is_open,
        documents,
        sidecar: fields.map(|fields| fields.sidecar),
    };
    let mut draft = Some(draft);
    for step in TAKING {
        match step {
            QueueStep::Keep => {
                let Some(draft) = draft.take() else { continue };
                let incoming = incoming.clone();
                let kept = spawn_blocking(move || draft.keep(&incoming)).await;
                kept.map_err(|_| internal())?.map_err(|error| not_kept(&error))?;
            }
            QueueStep::Record => {
                let at = door.inside.clock.now();
                let taken = store.take_incoming(ulid.clone(), incoming.clone(), at).await;
                if !taken.map_err(|error| not_recorded(&error))? {
                    return Err(internal());
                }
            }
            // Intake takes these steps.
            QueueStep::Lay | QueueStep::Mark | QueueStep::Remove => {}
        }
    }
    journal::taken_by_queue(&queue.name, &queue.into, &ulid);
    door.inside.bells.folders.notify_one();
    Ok(ulid)
}

/// The answer that it has, or has from now on, once its drop is decided.
async fn answer(door: &Door, ulid: &Ulid) -> Result<Response, Declined> {
    let store = &door.inside.store;
    let deadline = Instant::now() + ANSWER_WITHIN;
    let row = store.incoming(ulid).map_err(|error| journal_trouble(&error))?;
    if let Some(kept) = row.as_ref().and_then(kept) {
        return Ok(response(&kept));
    }
    let standing = door.decided(ulid, deadline).await?;
    let (status, body) = match standing {
        StandingNow::Refused(refusal) => {
            return Err(ProblemKind::Refused.saying(why_refused(&refusal)));
        }
        StandingNow::Pending => {
            // It is not kept, so that a repeated request has the decision.
            let body = LetterStanding::pending(ulid);
            return Ok(response(&KeptAnswer { status: StatusCode::ACCEPTED.as_u16(), body }));
        }
        StandingNow::Waits(body) => (StatusCode::ACCEPTED, body),
        StandingNow::Letter(body) => (StatusCode::CREATED, body),
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

fn not_kept(error: &EntryError) -> Declined {
    journal::not_taken_by_queue(error);
    match error {
        EntryError::Io(error) => request::trouble(error),
        EntryError::PerhapsTaken(_)
        | EntryError::Damaged { .. }
        | EntryError::Order(_)
        | EntryError::NoOrder => {
            ProblemKind::Trouble.saying("It is not certain that it was taken. Repeat it with the same key.")
        }
    }
}

fn not_recorded(error: &RecordError) -> Declined {
    journal::not_taken_by_queue(error);
    ProblemKind::Trouble.saying("It is not certain that it was taken. Repeat it with the same key.")
}

pub(super) fn journal_trouble(error: &(dyn std::error::Error + 'static)) -> Declined {
    journal::not_taken_by_queue(error);
    internal()
}
