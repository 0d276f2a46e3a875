//! Pages for people: the inbox, one letter, the account's management, the explanations of problems.
//!
//! Rendered on the server, readable without scripts and on a phone, in Japanese or English.

mod pictures;
mod render;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use serde::Deserialize;

use super::answer::no_store;
use super::intake::read_body;
use super::service::Service;
use super::upload::pdf;
use super::world::{AccountId, Card, ClientId, Code, MailId, Reply, Request as Call, ScreenRefusal};
use crate::words::page::protect;
pub(super) use pictures::{PageAlbum, page as page_picture};
use render::page;

const LETTERS_ON_A_PAGE: usize = 50;
const LARGEST_FORM: usize = 16 << 10;
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

type ServiceState = State<Arc<Service>>;
type Named<T> = Result<Path<T>, PathRejection>;

pub(super) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // A browser's own viewer needs what the policy forbids to pages.
    let is_pdf = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/pdf");
    protect(headers, POLICY);
    if is_pdf {
        headers.remove(header::CONTENT_SECURITY_POLICY);
    }
    response
}

pub(super) async fn front() -> Redirect {
    Redirect::to("/inbox")
}

#[derive(Deserialize)]
pub(super) struct PageQuery {
    before: Option<String>,
}

pub(super) async fn inbox(
    State(service): ServiceState,
    Query(turn): Query<PageQuery>,
    headers: HeaderMap,
) -> Response {
    let shown = service.show(|world, _| {
        let before = turn.before.map(MailId::new);
        let newest_first = world.mails_before(before.as_ref()).rev();
        let shown: Vec<_> = newest_first.take(LETTERS_ON_A_PAGE + 1).collect();
        let more = shown.len() > LETTERS_ON_A_PAGE;
        let page = &shown[..shown.len().min(LETTERS_ON_A_PAGE)];
        let older = page.last().filter(|_| more).map(|mail| mail.id.to_string());
        (page.iter().map(|mail| view::mail(mail, world.now())).collect::<Vec<_>>(), older)
    });
    let Ok((mails, older)) = shown.await else { return halted() };
    page(&headers, "inbox.html", context! { mails, older, now => view::time(service.clock.now()) })
}

pub(super) async fn letter(State(service): ServiceState, id: Named<String>, headers: HeaderMap) -> Response {
    let Ok(Path(id)) = id else { return missing(&headers) };
    let found = service.show(|world, ledger| {
        let mail = world.mail(&id)?;
        Some(context! {
            mail => view::mail(mail, world.now()),
            envelope => view::envelope(mail),
            timeline => view::timeline(ledger, mail),
            drawn => service.pages.is_some(),
            most_shown => pictures::MOST_SHOWN,
        })
    });
    match found.await {
        Ok(Some(found)) => page(&headers, "letter.html", found),
        Ok(None) => missing(&headers),
        Err(_) => halted(),
    }
}

/// One PDF of a letter, counted from 1, uploaded but perhaps not sealed yet.
pub(super) async fn document(
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
        Some(bytes) => pdf(bytes, &file_name),
        None => missing(&headers),
    }
}

pub(super) async fn account(State(service): ServiceState, headers: HeaderMap) -> Response {
    match service.show(|world, _| view::accounts(world)).await {
        Ok(accounts) => page(&headers, "account.html", context! { accounts }),
        Err(_) => halted(),
    }
}

pub(super) async fn set_card(
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

pub(super) async fn issue_client(
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

pub(super) async fn reissue_secret(
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

/// The data cannot be written any more, and the sandbox is about to end.
fn halted() -> Response {
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
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

/// A form that does not arrive completely counts as an empty one, which every screen refuses.
async fn read_form(service: &Service, body: Body) -> BTreeMap<String, String> {
    let bytes = read_body(body, LARGEST_FORM, service.patience.body).await.unwrap_or_default();
    form_urlencoded::parse(&bytes).into_owned().collect()
}

fn row(code: Code) -> minijinja::Value {
    context! { code => code.as_str(), status => code.status(), title => code.title() }
}

pub(super) async fn problems(headers: HeaderMap) -> Response {
    page(&headers, "problems.html", context! { codes => Code::ALL.map(row) })
}

pub(super) async fn problem(code: Named<String>, headers: HeaderMap) -> Response {
    let code = code.map(|Path(code)| code).unwrap_or_default();
    match Code::ALL.into_iter().find(|known| known.as_str() == code) {
        Some(code) => page(&headers, "problem.html", context! { code => row(code) }),
        None => missing(&headers),
    }
}

pub(super) async fn style() -> Response {
    asset("text/css; charset=utf-8", include_str!("templates/sandbox.css"))
}

pub(super) async fn script() -> Response {
    asset("text/javascript; charset=utf-8", include_str!("templates/refresh.js"))
}

fn asset(kind: &'static str, content: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "max-age=60")], content).into_response()
}

pub(super) async fn not_found(headers: HeaderMap) -> Response {
    missing(&headers)
}

fn missing(headers: &HeaderMap) -> Response {
    let mut response = page(headers, "missing.html", context! {});
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}
