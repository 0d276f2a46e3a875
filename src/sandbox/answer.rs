//! Writes a [`Reply`] as HTTP: statuses, media types and headers, each in one place.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::json;

use super::calls::Concerns;
use super::data::Halted;
use super::places::Places;
use super::upload;
use super::world::{Code, Created, OAuthError, Problem, Reply};
use crate::outside::api::wire;

/// The answer to a call of the API, the authorization server or the object store.
pub(super) fn answer(places: &Places, outcome: Result<Reply, Halted>) -> Response {
    match outcome {
        Ok(said) => reply(places, said),
        Err(Halted) => problem(places, Code::InternalServerError.into()),
    }
}

pub(super) fn reply(places: &Places, reply: Reply) -> Response {
    match reply {
        Reply::Token { secret, lifetime, scope } => no_store(Json(wire::Token {
            access_token: secret.expose().to_owned(),
            token_type: "Bearer".to_owned(),
            expires_in: Some(lifetime.num_seconds().unsigned_abs()),
            scope: Some(scope),
        })),
        Reply::Revoked => no_store(StatusCode::OK),
        Reply::OAuth(error) => oauth(error),
        Reply::Unauthorized => unauthorized(StatusCode::UNAUTHORIZED),
        Reply::Forbidden => unauthorized(StatusCode::FORBIDDEN),
        Reply::Problem(found) => problem(places, found),
        Reply::Account { id, name, card_registered } => {
            Json(json!({"id": id, "name": name, "card_registered": card_registered})).into_response()
        }
        Reply::Created(mail) => {
            let concerns = Extension(Concerns(mail.id.clone()));
            (StatusCode::CREATED, concerns, Json(created(places, mail))).into_response()
        }
        Reply::Done | Reply::Stored | Reply::ScreenDone | Reply::TimePassed => {
            StatusCode::NO_CONTENT.into_response()
        }
        Reply::Mail(mail) => Json(*mail).into_response(),
        Reply::Pdf { key, query, expires_at } => {
            let url = format!("{}/{key}?{query}", places.download_url);
            Json(wire::DownloadTarget { url, expires_at }).into_response()
        }
        Reply::StoreError(error) => upload::refusal(&error),
        Reply::Screen(refusal) => {
            (StatusCode::CONFLICT, Json(json!({"error": refusal.to_string()}))).into_response()
        }
        Reply::AccountOpened(id) => (StatusCode::CREATED, Json(json!({"account": id}))).into_response(),
        Reply::ClientIssued { id, secret } => {
            let body = json!({"client_id": id, "client_secret": secret.expose()});
            no_store((StatusCode::CREATED, Json(body)))
        }
        // The bytes of a document are elsewhere, and its route fetches them.
        Reply::Document(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

fn created(places: &Places, mail: Created) -> wire::CreatedMail {
    let contents = mail.contents.into_iter().map(|content| wire::CreatedContent {
        id: content.id.to_string(),
        file_name: content.file_name,
        upload: wire::UploadTarget {
            url: places.upload_url.clone(),
            fields: content.fields.0.into_iter().collect(),
            expires_at: mail.targets_expire_at,
        },
    });
    wire::CreatedMail {
        id: mail.id.to_string(),
        scheduled_to_ship_at: mail.ships_at,
        confirm_by: mail.confirm_by,
        contents: contents.collect(),
    }
}

/// More errors than this help nobody, and a body of nothing but mistakes would be answered by a longer one.
const MOST_ERRORS: usize = 100;

pub(super) fn problem(places: &Places, problem: Problem) -> Response {
    let code = problem.code;
    let errors = problem.faults.into_iter().take(MOST_ERRORS);
    let body = wire::Problem {
        kind: format!("{}/problems/{}", places.docs_url, code.as_str()),
        title: code.title().to_owned(),
        status: code.status(),
        code: code.as_str().to_owned(),
        errors: errors
            .map(|fault| wire::ProblemItem {
                path: fault.path,
                message: fault.message,
                content_id: fault.content_id,
            })
            .collect(),
    };
    let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(body)).into_response();
    let kind = HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    if code == Code::RequestTimeout {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn unauthorized(status: StatusCode) -> Response {
    let mut response = (status, Json(json!({"message": "Unauthorized"}))).into_response();
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn oauth(error: OAuthError) -> Response {
    let (status, code, description) = match error {
        OAuthError::InvalidRequest(why) => (StatusCode::BAD_REQUEST, "invalid_request", why),
        OAuthError::InvalidClient => (
            StatusCode::UNAUTHORIZED,
            "invalid_client",
            "the client is unknown, or its secret is another one; use HTTP Basic (client_secret_basic)",
        ),
        OAuthError::InvalidGrant => {
            (StatusCode::BAD_REQUEST, "invalid_grant", "the token was issued to another client")
        }
        OAuthError::UnsupportedGrantType => {
            (StatusCode::BAD_REQUEST, "unsupported_grant_type", "only client_credentials is supported")
        }
    };
    let body = json!({"error": code, "error_description": description});
    let mut response = no_store((status, Json(body)));
    if status == StatusCode::UNAUTHORIZED {
        let basic = HeaderValue::from_static("Basic realm=\"mailchute sandbox\", charset=\"UTF-8\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, basic);
    }
    response
}

pub(super) fn no_store(response: impl IntoResponse) -> Response {
    let headers = [(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")];
    (headers, response).into_response()
}
