//! What became of a letter, and what a program may do about it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::post::journal_trouble;
use super::problem::{Declined, ProblemKind};
use super::{ANSWER_WITHIN, Door};
use crate::config::Right;
use crate::daemon::taking::StandingNow;
use crate::domain::letter::{Command, Number};
use crate::outside::spool::{EntryError, Ulid};
use crate::outside::store::{Answered, Desk, StoreError};

/// How long to wait before asking again what was done.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What became of a letter, without names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct LetterStanding {
    /// Its name here, for its life.
    pub id: String,
    /// Its number in mailchute, once it is a letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter: Option<u64>,
    /// `taken_in` until it is decided; `held`, `rejected`, `cancelled`; or the state of the letter: `admitted`,
    /// `created`, `uploaded`, `confirming`, `confirmed`, `shipped`, `withdrawing`, `withdrawn`, `closed`.
    pub state: String,
    /// Why it is held or rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tracking number, once it has shipped with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracking: Option<String>,
    /// What was done about a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

impl LetterStanding {
    pub(super) fn of(ulid: &Ulid, standing: &StandingNow) -> Self {
        let is = |state: &str, reason: Option<String>| Self {
            id: ulid.to_string(),
            letter: None,
            state: state.to_owned(),
            reason,
            tracking: None,
            answer: None,
        };
        match standing {
            StandingNow::Pending => is("taken_in", None),
            StandingNow::Refused(refusal) => is("rejected", Some(refusal.word().to_owned())),
            StandingNow::Waits(waiting) => is("held", Some(waiting.word().to_owned())),
            StandingNow::Cancelled => is("cancelled", None),
            StandingNow::Letter(letter) => Self {
                letter: Some(letter.number.0),
                tracking: letter.state.tracking().map(str::to_owned),
                ..is(letter.state.word(), letter.state.hold().map(ToString::to_string))
            },
        }
    }

    /// As it is answered to the request that it came with: what the letter does later is not in it.
    pub(super) fn at_first(self) -> Self {
        let state =
            if self.letter.is_some() && self.state != "held" { "admitted".to_owned() } else { self.state };
        Self { state, tracking: None, ..self }
    }
}

impl Door {
    /// Something that the queue of this token took.
    fn of_this_queue(&self, headers: &HeaderMap, right: Right, id: &str) -> Result<Ulid, Declined> {
        let queue = self.admitted(headers, right)?;
        let unknown = || ProblemKind::Unknown.saying("This queue took nothing of this name.");
        let ulid: Ulid = id.parse().map_err(|()| unknown())?;
        let row = self.taking.inside.store.incoming(&ulid).map_err(|error| journal_trouble(&error))?;
        row.filter(|row| row.queue == queue.name).map(|_| ulid).ok_or_else(unknown)
    }

    /// How it stands, as a program reads it.
    fn shown(&self, ulid: &Ulid) -> Result<LetterStanding, Declined> {
        let standing = self.taking.standing(ulid).map_err(|error| journal_trouble(&error))?;
        Ok(LetterStanding::of(ulid, &standing))
    }

    async fn command(
        &self,
        headers: &HeaderMap,
        id: &str,
        (right, command): (Right, Command),
    ) -> Result<LetterStanding, Declined> {
        let ulid = self.of_this_queue(headers, right, id)?;
        let Some(number) = self.shown(&ulid)?.letter else {
            let detail = "It is not a letter, or not yet: a person decides about it in the folder's `Held`.";
            return Err(ProblemKind::NotNow.saying(detail));
        };
        match self.obeyed(Number(number), command).await? {
            Some(Answered { refused: true, text }) => Err(ProblemKind::NotNow.saying(text)),
            Some(Answered { refused: false, text }) => {
                Ok(LetterStanding { answer: Some(text), ..self.shown(&ulid)? })
            }
            None => {
                let text = "recorded; it is carried out as soon as possible".to_owned();
                Ok(LetterStanding { answer: Some(text), ..self.shown(&ulid)? })
            }
        }
    }

    /// What was done about a command, or `None` if that takes long.
    async fn obeyed(&self, number: Number, command: Command) -> Result<Option<Answered>, Declined> {
        let (state, now) = (self.taking.inside.state.clone(), self.taking.inside.clock.now());
        let ordered = spawn_blocking(move || {
            let desk = Desk::open(&state)?;
            let order = desk.order(number, command, now)?;
            Ok::<_, StoreError>((desk, order))
        });
        let (mut desk, order) =
            ordered.await.map_err(|_| internal())?.map_err(|error| journal_trouble(&error))?;
        self.taking.inside.bells.letters.notify_one();
        let deadline = Instant::now() + ANSWER_WITHIN;
        loop {
            let asked = spawn_blocking(move || desk.answer(order).map(|answer| (desk, answer)));
            let answer;
            (desk, answer) = asked.await.map_err(|_| internal())?.map_err(|error| journal_trouble(&error))?;
            if answer.is_some() || Instant::now() >= deadline {
                return Ok(answer);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

pub(super) async fn read(
    State(door): State<Arc<Door>>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<LetterStanding>, Declined> {
    let ulid = door.of_this_queue(&headers, Right::Post, &id)?;
    door.shown(&ulid).map(Json)
}

pub(super) async fn cancel(
    State(door): State<Arc<Door>>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<LetterStanding>, Declined> {
    door.command(&headers, &id, (Right::Cancel, Command::Cancel)).await.map(Json)
}

pub(super) async fn release(
    State(door): State<Arc<Door>>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<LetterStanding>, Declined> {
    door.command(&headers, &id, (Right::Release, Command::Release)).await.map(Json)
}

/// Which document of a letter, counted from 1.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WhichDocument {
    #[serde(default = "first")]
    pub document: usize,
}

fn first() -> usize {
    1
}

/// A document as it was taken, byte for byte.
pub(super) async fn pdf(
    State(door): State<Arc<Door>>,
    headers: HeaderMap,
    Path(id): Path<String>,
    which: Result<Query<WhichDocument>, QueryRejection>,
) -> Result<Response, Declined> {
    let ulid = door.of_this_queue(&headers, Right::Post, &id)?;
    let number = door.shown(&ulid)?.letter;
    let number = number.ok_or_else(|| ProblemKind::NotNow.saying("It is not a letter, or not yet."))?;
    let Ok(Query(WhichDocument { document: which })) = which else {
        return Err(ProblemKind::Unknown.saying("`document` is a number from 1 on."));
    };
    let read = spawn_blocking(move || {
        let Some(letter) = door.taking.inside.store.letter(Number(number))? else { return Ok(None) };
        let Some(n) = which.checked_sub(1).filter(|n| *n < letter.order.documents.len()) else {
            return Ok(None);
        };
        Ok::<_, StoreError>(Some(door.taking.inside.spool.document(&ulid, &letter.order, n)))
    });
    match read.await.map_err(|_| internal())?.map_err(|error| journal_trouble(&error))? {
        None => Err(ProblemKind::Unknown.saying("The letter has no such document.")),
        Some(Ok(bytes)) => Ok(([(header::CONTENT_TYPE, "application/pdf")], bytes).into_response()),
        Some(Err(EntryError::Damaged { .. })) => {
            Err(ProblemKind::NoDocument.saying("The spool's copy was removed, as the folder's `keep` says."))
        }
        Some(Err(error)) => Err(journal_trouble(&error)),
    }
}

/// Something that cannot happen, or that the journal tells.
pub(super) fn internal() -> Declined {
    ProblemKind::Trouble.saying("The journal says why. Repeat it with the same key.")
}
