//! Pages for people: the inbox, the controls, the account's management, the explanations of problems.
//!
//! Rendered on the server, readable without scripts and on a phone, in Japanese or English.

mod account;
mod bars;
mod controls;
mod inbox;
mod live;
mod pictures;
mod render;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;

use super::intake::read_body;
use super::service::Service;
use super::world::Code;
use crate::words::page::{STYLE, protect};
pub(super) use account::{account, issue_client, reissue_secret, set_card};
pub(super) use controls::{carry_out, controls};
pub(super) use inbox::{calls, document, inbox, letter};
pub(super) use live::events;
pub(super) use pictures::{PageAlbum, page as page_picture};
use render::page;

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

/// The data cannot be written any more, and the sandbox is about to end.
fn halted() -> Response {
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
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

/// What this sandbox decides where the contract is silent, as its document says it.
pub(super) async fn decisions(headers: HeaderMap) -> Response {
    const DOCUMENT: &str = include_str!("../../../docs/design/sandbox.md");
    let (_, rest) = DOCUMENT.split_once("\n## Decisions").unwrap_or_default();
    let section = rest.split("\n## ").next().unwrap_or_default();
    let rows =
        section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    // The first row is the head of the table.
    let rows: Vec<_> = rows.skip(1).map(|(silent, decided)| context! { silent, decided }).collect();
    page(&headers, "decisions.html", context! { rows })
}

pub(super) async fn style() -> Response {
    asset("text/css; charset=utf-8", STYLE)
}

pub(super) async fn script() -> Response {
    asset("text/javascript; charset=utf-8", include_str!("templates/sandbox.js"))
}

/// The letter that the tutorial posts.
pub(super) async fn example() -> Response {
    asset("application/pdf", include_bytes!("templates/letter.pdf"))
}

fn asset(kind: &'static str, content: impl IntoResponse) -> Response {
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
