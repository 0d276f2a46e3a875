//! The inbox: a list of letters, and beside it the one that is read.

use std::sync::PoisonError;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::{Value, context};

use super::render::page;
use super::{Named, ServiceState, halted, missing, pictures, view};
use crate::sandbox::data::Halted;
use crate::sandbox::finding::Asked;
use crate::sandbox::service::Service;
use crate::sandbox::upload::pdf;
use crate::sandbox::world::{MailId, Standing};

/// What no form of these pages asks counts as nothing.
type AskedOnce = Result<Query<Asked>, QueryRejection>;

const LETTERS_ON_A_PAGE: usize = 50;
const MOST_CALLS_SHOWN: usize = 50;

pub(in crate::sandbox) async fn inbox(
    State(service): ServiceState,
    asked: AskedOnce,
    headers: HeaderMap,
) -> Response {
    let Query(asked) = asked.unwrap_or_default();
    let Ok(desk) = desk(&service, &asked, None).await else { return halted() };
    let is_empty = service.look(|world, _| world.mail_count() == 0);
    let tutorial = is_empty.then(|| view::tutorial(&service));
    page(&headers, "inbox.html", context! { tutorial, ..desk })
}

pub(in crate::sandbox) async fn letter(
    State(service): ServiceState,
    id: Named<String>,
    asked: AskedOnce,
    headers: HeaderMap,
) -> Response {
    let Query(asked) = asked.unwrap_or_default();
    let Ok(Path(id)) = id else { return missing(&headers) };
    let calls = calls_of(&service, Some(&MailId::new(id.as_str())));
    let found = service.show(|world, ledger| {
        let mail = world.mail(&id)?;
        Some(context! {
            mail => view::mail(mail, world.now()),
            envelope => view::envelope(mail),
            timeline => view::timeline(ledger, mail),
            drawn => service.pages.is_some(),
            most_shown => pictures::MOST_SHOWN,
            calls,
        })
    });
    let found = match found.await {
        Ok(Some(found)) => found,
        Ok(None) => return missing(&headers),
        Err(_) => return halted(),
    };
    let Ok(desk) = desk(&service, &asked, Some(&id)).await else { return halted() };
    page(&headers, "inbox.html", context! { ..found, ..desk })
}

/// What stands beside a letter: the list, and what is looked for.
async fn desk(service: &Service, asked: &Asked, open: Option<&str>) -> Result<Value, Halted> {
    // What nobody can have written by the form finds everything.
    let finder = asked.read().unwrap_or_default();
    let found = service.find(&finder, LETTERS_ON_A_PAGE, view::row).await?;
    let query = asked.query();
    Ok(context! {
        rows => found.letters,
        older => found.older.map(|id| id.to_string()),
        asked => context! { q => asked.q.as_str(), state => asked.state.as_str(), method => asked.method.as_str() },
        carry => if query.is_empty() { String::new() } else { format!("?{query}") },
        further => if query.is_empty() { String::new() } else { format!("&{query}") },
        is_narrowed => !query.is_empty(),
        is_older => !asked.before.is_empty(),
        states => Standing::ALL.map(Standing::word),
        open,
        now => view::time(service.clock.now()),
    })
}

fn calls_of(service: &Service, mail: Option<&MailId>) -> Vec<Value> {
    let calls = service.calls.lock().unwrap_or_else(PoisonError::into_inner);
    let newest = calls.newest().filter(|call| mail.is_none_or(|mail| call.mail.as_ref() == Some(mail)));
    let newest: Vec<_> = newest.take(MOST_CALLS_SHOWN).cloned().collect();
    drop(calls);
    newest.iter().map(|call| view::call(call)).collect()
}

/// The newest calls, also those that concern no letter.
pub(in crate::sandbox) async fn calls(State(service): ServiceState, headers: HeaderMap) -> Response {
    page(&headers, "calls.html", context! { calls => calls_of(&service, None) })
}

/// One PDF of a letter, counted from 1, uploaded but perhaps not sealed yet.
pub(in crate::sandbox) async fn document(
    State(service): ServiceState,
    names: Named<(String, usize)>,
    headers: HeaderMap,
) -> Response {
    let Ok(Path((id, number))) = names else { return missing(&headers) };
    let found = service.show(|world, _| {
        let (mail, index) = (world.mail(&id)?, number.checked_sub(1)?);
        let stored = mail.contents.get(index)?.upload.clone()?;
        Some((stored, mail.order.files[index].file_name.clone()))
    });
    let Ok(Some((stored, file_name))) = found.await else { return missing(&headers) };
    match service.document(&stored.blob, &stored.sha256).await {
        Some(bytes) => pdf(bytes, &file_name, &headers),
        None => missing(&headers),
    }
}
