//! The account's management: its card, and clients with their secrets.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use minijinja::context;

use super::render::{self, page};
use super::{Named, ServiceState, halted, missing, read_form, view};
use crate::sandbox::answer::no_store;
use crate::sandbox::service::Service;
use crate::sandbox::world::{AccountId, Card, ClientId, Reply, Request as Call, ScreenRefusal};

pub(in crate::sandbox) async fn account(State(service): ServiceState, headers: HeaderMap) -> Response {
    match service.show(|world, _| view::accounts(world)).await {
        Ok(accounts) => page(&headers, "account.html", context! { accounts }),
        Err(_) => halted(),
    }
}

pub(in crate::sandbox) async fn set_card(
    State(service): ServiceState,
    account: Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Ok(Path(account)) = account else { return missing(&headers) };
    let card = match read_form(&service, body).await.get("card").map(String::as_str) {
        Some("ok") => Card::Ok,
        Some("declining") => Card::Declining,
        Some("none") => Card::None,
        Some(_) | None => return StatusCode::BAD_REQUEST.into_response(),
    };
    manage(&service, &headers, Call::SetCard { account: AccountId::new(account), card }).await
}

pub(in crate::sandbox) async fn issue_client(
    State(service): ServiceState,
    account: Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Ok(Path(account)) = account else { return missing(&headers) };
    let mut form = read_form(&service, body).await;
    let call = Call::IssueClient {
        account: AccountId::new(account),
        name: form.remove("name").unwrap_or_default(),
        terms_agreed: form.get("agree").is_some_and(|agree| agree == "yes"),
        chosen: None,
    };
    manage(&service, &headers, call).await
}

pub(in crate::sandbox) async fn reissue_secret(
    State(service): ServiceState,
    names: Named<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Ok(Path((_, client))) = names else { return missing(&headers) };
    if read_form(&service, body).await.get("sure").is_none_or(|sure| sure != "yes") {
        return refuse(&service, &headers, "not_sure").await;
    }
    manage(&service, &headers, Call::ReissueSecret { client: ClientId::new(client), chosen: None }).await
}

/// Carries out a form and shows the account page with the result.
async fn manage(service: &Arc<Service>, headers: &HeaderMap, call: Call) -> Response {
    let outcome = service.call(call).await;
    let Ok(accounts) = service.show(|world, _| view::accounts(world)).await else { return halted() };
    match outcome {
        Ok(Reply::ClientIssued { id, secret }) => {
            let issued = context! { id => id.as_str(), secret => secret.expose() };
            no_store(page(headers, "account.html", context! { accounts, issued }))
        }
        Ok(Reply::Screen(refusal)) => refuse(service, headers, name(refusal)).await,
        Ok(_) => Redirect::to("/account").into_response(),
        Err(_) => halted(),
    }
}

/// The account page with the reason why nothing was done.
async fn refuse(service: &Service, headers: &HeaderMap, why: &str) -> Response {
    let Ok(accounts) = service.show(|world, _| view::accounts(world)).await else { return halted() };
    let refused = render::text(headers, "refusal", why);
    let mut response = page(headers, "account.html", context! { accounts, refused });
    *response.status_mut() = StatusCode::CONFLICT;
    response
}

fn name(refusal: ScreenRefusal) -> &'static str {
    match refusal {
        ScreenRefusal::NoSuchAccount => "no_such_account",
        ScreenRefusal::NoSuchClient => "no_such_client",
        ScreenRefusal::NoSuchMail => "no_such_mail",
        ScreenRefusal::TermsNotAgreed => "terms_not_agreed",
        ScreenRefusal::TooManyClients => "too_many_clients",
        ScreenRefusal::BadName => "bad_name",
        ScreenRefusal::IdTaken => "id_taken",
        ScreenRefusal::BadCredentials => "bad_credentials",
        ScreenRefusal::BadAccountName => "bad_account_name",
    }
}
