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
use tokio::time::{Instant, timeout};

use super::post::journal_trouble;
use super::problem::{Declined, ProblemKind};
use super::{ANSWER_WITHIN, Door};
use crate::config::Right;
use crate::domain::drop::{Refusal, Undecided};
use crate::domain::letter::{Command, Letter, Number};
use crate::outside::spool::{EntryError, Ulid};
use crate::outside::store::{Answered, Desk, Fate, StoreError};

/// How long to wait before looking again, if no bell rings.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

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

/// How something that a queue took stands.
pub(super) enum StandingNow {
    /// It is not decided yet.
    Pending,
    Refused(Refusal),
    /// A person must look, or has cancelled it.
    Waits(LetterStanding),
    Letter(LetterStanding),
}

impl LetterStanding {
    fn of(ulid: &Ulid, letter: Option<Number>, state: &str, reason: Option<String>) -> Self {
        let letter = letter.map(|number| number.0);
        Self { id: ulid.to_string(), letter, state: state.to_owned(), reason, tracking: None, answer: None }
    }

    pub(super) fn pending(ulid: &Ulid) -> Self {
        Self::of(ulid, None, "taken_in", None)
    }

    /// As it is answered to the request that it came with: what the letter does later is not in it.
    pub(super) fn at_first(self) -> Self {
        let state =
            if self.letter.is_some() && self.state != "held" { "admitted".to_owned() } else { self.state };
        Self { state, tracking: None, ..self }
    }

    fn of_letter(ulid: &Ulid, letter: &Letter) -> Self {
        let reason = letter.state.hold().map(ToString::to_string);
        let tracking = letter.state.tracking().map(str::to_owned);
        Self { tracking, ..Self::of(ulid, Some(letter.number), letter.state.word(), reason) }
    }
}

impl Door {
    fn standing(&self, ulid: &Ulid) -> Result<StandingNow, StoreError> {
        let store = &self.inside.store;
        let Some(original) = store.original(ulid)? else { return Ok(StandingNow::Pending) };
        Ok(match original.fate {
            Fate::Letter(number) => match store.letter(number)? {
                None => StandingNow::Pending,
                Some(letter) => {
                    let standing = LetterStanding::of_letter(ulid, &letter);
                    if letter.state.hold().is_some() {
                        StandingNow::Waits(standing)
                    } else {
                        StandingNow::Letter(standing)
                    }
                }
            },
            Fate::Undecided(Undecided::Refused(refusal)) => StandingNow::Refused(refusal),
            Fate::Undecided(Undecided::Waits(waiting)) => {
                StandingNow::Waits(LetterStanding::of(ulid, None, "held", Some(waiting.word().to_owned())))
            }
            Fate::Undecided(Undecided::Cancelled) => {
                StandingNow::Waits(LetterStanding::of(ulid, None, "cancelled", None))
            }
            Fate::Undecided(Undecided::Accepted { .. }) => StandingNow::Pending,
        })
    }

    /// How it stands once it is decided, or at the deadline.
    pub(super) async fn decided(&self, ulid: &Ulid, deadline: Instant) -> Result<StandingNow, Declined> {
        loop {
            let mut rung = std::pin::pin!(self.inside.bells.decided.notified());
            rung.as_mut().enable();
            let standing = self.standing(ulid).map_err(|error| journal_trouble(&error))?;
            if !matches!(standing, StandingNow::Pending) || Instant::now() >= deadline {
                return Ok(standing);
            }
            let _ = timeout(LOOK_AGAIN, rung).await;
        }
    }

    /// Something that the queue of this token took.
    fn of_this_queue(&self, headers: &HeaderMap, right: Right, id: &str) -> Result<Ulid, Declined> {
        let queue = self.admitted(headers, right)?;
        let unknown = || ProblemKind::Unknown.saying("This queue took nothing of this name.");
        let ulid: Ulid = id.parse().map_err(|()| unknown())?;
        let row = self.inside.store.incoming(&ulid).map_err(|error| journal_trouble(&error))?;
        row.filter(|row| row.queue == queue.name).map(|_| ulid).ok_or_else(unknown)
    }

    /// How it stands, as a program reads it.
    fn shown(&self, ulid: &Ulid) -> Result<LetterStanding, Declined> {
        Ok(match self.standing(ulid).map_err(|error| journal_trouble(&error))? {
            StandingNow::Pending => LetterStanding::pending(ulid),
            StandingNow::Refused(refusal) => {
                LetterStanding::of(ulid, None, "rejected", Some(refusal.word().to_owned()))
            }
            StandingNow::Waits(standing) | StandingNow::Letter(standing) => standing,
        })
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
        let (state, now) = (self.inside.state.clone(), self.inside.clock.now());
        let ordered = spawn_blocking(move || {
            let desk = Desk::open(&state)?;
            let order = desk.order(number, command, now)?;
            Ok::<_, StoreError>((desk, order))
        });
        let (mut desk, order) =
            ordered.await.map_err(|_| internal())?.map_err(|error| journal_trouble(&error))?;
        self.inside.bells.letters.notify_one();
        let deadline = Instant::now() + ANSWER_WITHIN;
        loop {
            let asked = spawn_blocking(move || desk.answer(order).map(|answer| (desk, answer)));
            let answer;
            (desk, answer) = asked.await.map_err(|_| internal())?.map_err(|error| journal_trouble(&error))?;
            if answer.is_some() || Instant::now() >= deadline {
                return Ok(answer);
            }
            tokio::time::sleep(LOOK_AGAIN / 4).await;
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
        let Some(letter) = door.inside.store.letter(Number(number))? else { return Ok(None) };
        let Some(n) = which.checked_sub(1).filter(|n| *n < letter.order.documents.len()) else {
            return Ok(None);
        };
        Ok::<_, StoreError>(Some(door.inside.spool.document(&ulid, &letter.order, n)))
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
