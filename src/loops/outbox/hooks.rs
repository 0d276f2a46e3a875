//! Requests to programs: one for each row of news, signed, repeated until they are taken or for five days.
//!
//! A request is composed from what is true when it is sent. Its id stays the same, so a program that gets it twice can
//! see that. A program that does not answer as it should is left alone for a while, with everything that waits for it.
//! What was tried less often is then tried first, so one that is never taken holds up no other.

use std::sync::Arc;

use chrono::{SecondsFormat, TimeDelta};
use serde::Serialize;

use super::{Outbox, route};
use crate::base::clock::Time;
use crate::config::{Hook, HookEvent};
use crate::domain::drop::{Undecided, showable, shown};
use crate::domain::letter::State;
use crate::outside::hook::{Delivered, HookCall, PATIENCE, call};
use crate::outside::journal;
use crate::outside::store::{EmailEnd, EmailRow, News, OwedRow, RecordError, StoreError};

/// How long the others wait that a program may still take.
const LONGEST_REST: TimeDelta = TimeDelta::minutes(5);

/// What a program gets.
#[derive(Serialize)]
struct HookBody {
    /// `letter.shipped`, `drop.held`.
    r#type: String,
    /// When it happened.
    timestamp: String,
    data: HookData,
}

/// How the letter or the drop stands now.
#[derive(Default, Serialize)]
struct HookData {
    folder: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    letter: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drop: Option<String>,
    state: String,
    /// The number of facts known of the letter: of two requests, the one with the higher number is younger.
    #[serde(skip_serializing_if = "Option::is_none")]
    fact: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tracking: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shipped_at: Option<String>,
    /// With `names: true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receiver: Option<String>,
}

impl Outbox {
    /// Sends what is due until the round ends. Returns when there is more; what is due later is known with the e-mails.
    pub(super) async fn call_hooks(&self, ends: TimeDelta) -> Result<Option<Time>, RecordError> {
        loop {
            let due = self.store.due_hooks(self.clock.now())?;
            if due.is_empty() {
                return Ok(None);
            }
            let mut resting: Vec<String> = Vec::new();
            for row in due {
                if self.clock.steady() >= ends {
                    return Ok(Some(self.clock.now()));
                }
                if resting.contains(&row.recipient) {
                    continue;
                }
                if !self.call_one(&row).await? {
                    resting.push(row.recipient);
                }
            }
        }
    }

    /// Returns false if the program is left alone for a while.
    async fn call_one(&self, row: &EmailRow) -> Result<bool, RecordError> {
        let now = self.clock.now();
        let Some(hook) = self.hook_of(row) else {
            journal::hook_gone(row.id, &row.recipient);
            self.store.end_email(row, EmailEnd::Obsolete, now).await?;
            return Ok(true);
        };
        let Some(body) = self.body(row, hook.names)? else {
            self.store.end_email(row, EmailEnd::Obsolete, now).await?;
            return Ok(true);
        };
        let id = format!("msg_{}", self.name_of(row)?);
        self.store.begin_email(row.id, now).await?;
        let delivered = match hook.key() {
            Ok(key) => {
                let request =
                    HookCall { url: &hook.url, may_be_private: hook.is_private, id: &id, body: &body };
                call(request, &key, now, PATIENCE.min(self.mailer.patience)).await
            }
            Err(why) => Delivered::Later(why.to_string(), None),
        };
        let origin = hook.url.origin();
        let is_over = now - row.first_at >= route::GIVEN_UP_AFTER && row.attempts >= route::GIVEN_UP_TRIES;
        let refused = match delivered {
            Delivered::Taken => {
                journal::hook_taken(row.id, &row.kind, origin);
                self.store.end_email(row, EmailEnd::Sent, now).await?;
                return Ok(true);
            }
            Delivered::Gone => "it answers 410".to_owned(),
            Delivered::NotThis(why) | Delivered::Later(why, _) if is_over => why,
            Delivered::NotThis(why) => {
                journal::hook_not_this(row.id, origin, &why);
                self.store.email_later(row.id, now + route::again(row.attempts), why).await?;
                return Ok(true);
            }
            Delivered::Later(why, wait) => {
                let asked = wait.and_then(|wait| TimeDelta::from_std(wait).ok()).unwrap_or_default();
                let again = route::again(row.attempts);
                let others = now + asked.max(again.min(LONGEST_REST));
                journal::hook_later(row.id, origin, &why, others);
                self.store.hook_later(row, now + asked.max(again), others, why).await?;
                return Ok(false);
            }
        };
        journal::hook_refused(row.id, origin, &refused);
        self.store.end_email(row, EmailEnd::Refused(refused), now).await?;
        Ok(true)
    }

    /// The program, if it is still configured.
    fn hook_of(&self, row: &EmailRow) -> Option<Arc<Hook>> {
        let (known, event) = (self.registry.get(&row.folder)?, HookEvent::of(&row.kind)?);
        let hooks = &known.folder.notify.hooks;
        hooks.iter().find(|hook| hook.event == event && hook.id() == row.recipient).cloned()
    }

    /// `None` if there is nothing that could be said.
    fn body(&self, row: &EmailRow, names: bool) -> Result<Option<String>, StoreError> {
        let told = self.store.news_of(row.id)?;
        let Some(told) = told.first() else { return Ok(None) };
        let data = match told.news() {
            Some(News::Letter { number, .. }) => {
                let letter = match self.store.letter(number) {
                    Ok(Some(letter)) => letter,
                    // A damaged letter cannot be described. The start reports it.
                    Ok(None) | Err(StoreError::Damaged(_)) => return Ok(None),
                    Err(error) => return Err(error),
                };
                let mut data = HookData {
                    folder: letter.order.source.clone(),
                    letter: Some(number.0),
                    state: letter.state.word().to_owned(),
                    fact: Some(letter.facts),
                    ..HookData::default()
                };
                if let State::Shipped { at, tracking, .. } = &letter.state {
                    data.shipped_at = Some(moment(*at));
                    data.tracking.clone_from(tracking);
                }
                if names && !letter.order.is_anonymous() {
                    let receiver = &letter.order.receiver;
                    data.receiver = Some(format!("{} {}", receiver.address.name, receiver.honorific));
                    let original = self.store.original_of(number)?;
                    data.file = original.map(|original| showable(&shown(&original.origin.name)));
                }
                data
            }
            Some(News::Drop { ulid, .. }) => {
                let Some(original) = self.store.original(&ulid)? else { return Ok(None) };
                let state = match original.fate.undecided() {
                    Some(Undecided::Refused(_)) => "rejected",
                    Some(Undecided::Waits(_)) => "held",
                    Some(Undecided::Cancelled) => "cancelled",
                    Some(Undecided::Accepted { .. }) => "accepted",
                    None => "letter",
                };
                HookData {
                    folder: original.origin.folder.clone(),
                    letter: original.fate.letter().map(|number| number.0),
                    drop: Some(ulid.as_str().to_owned()),
                    state: state.to_owned(),
                    file: names.then(|| showable(&shown(&original.origin.name))),
                    ..HookData::default()
                }
            }
            Some(
                News::AccountPaused { .. }
                | News::AccountWorks { .. }
                | News::Alarm { .. }
                | News::Unwanted { .. }
                | News::Digest { .. }
                | News::Mail { .. },
            )
            | None => return Ok(None),
        };
        let body = HookBody { r#type: kind_of(told), timestamp: moment(told.at), data };
        Ok(serde_json::to_string(&body).ok())
    }
}

/// `letter.shipped`, `drop.held`.
fn kind_of(told: &OwedRow) -> String {
    match told.notice.strip_prefix("drop_") {
        Some(notice) => format!("drop.{notice}"),
        None => format!("letter.{}", told.notice),
    }
}

fn moment(time: Time) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
