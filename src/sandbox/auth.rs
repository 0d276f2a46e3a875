//! `/auth`: the OAuth 2.0 server as standard clients expect it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::answer::{answer, reply};
use super::intake::{Trouble, read_body};
use super::service::Service;
use super::world::{Credentials, OAuthError, Reply, Request as Call, Scope};
use crate::base::secret::Secret;

const LARGEST_FORM: usize = 64 << 10;

type Form = BTreeMap<String, String>;

/// The token of an `Authorization: Bearer` header. `None` if there is no such header, or more than one.
#[derive(Debug)]
pub(super) struct Bearer(pub(super) Option<Secret>);

impl<S: Sync> FromRequestParts<S> for Bearer {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(bearer(&parts.headers)))
    }
}

pub(super) fn bearer(headers: &HeaderMap) -> Option<Secret> {
    authorization(headers, "bearer").filter(|token| !token.is_empty()).map(Secret::new)
}

fn authorization<'a>(headers: &'a HeaderMap, scheme: &str) -> Option<&'a str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (given, rest) = value.to_str().ok()?.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}

pub(super) async fn discovery(State(service): State<Arc<Service>>) -> Json<Value> {
    let auth = &service.places.auth_url;
    Json(json!({
        "issuer": auth,
        "authorization_endpoint": format!("{auth}/authorize"),
        "token_endpoint": format!("{auth}/token"),
        "revocation_endpoint": format!("{auth}/token/revocation"),
        "jwks_uri": format!("{auth}/jwks"),
        "scopes_supported": Scope::ALL.map(Scope::as_str),
        "response_types_supported": ["code"],
        "grant_types_supported": ["client_credentials"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        "revocation_endpoint_auth_methods_supported": ["client_secret_basic"],
        "service_documentation": service.places.docs_url,
    }))
}

/// Tokens are opaque and nothing is signed, so there are no keys.
pub(super) async fn jwks() -> Json<Value> {
    Json(json!({"keys": []}))
}

/// Standard libraries expect this endpoint to be named. The contract has no flow behind it.
pub(super) async fn authorize() -> Response {
    let body = json!({
        "error": "unsupported_response_type",
        "error_description": "the authorization code flow is not part of this sandbox; use client_credentials",
    });
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

pub(super) async fn token(State(service): State<Arc<Service>>, request: Request) -> Response {
    let credentials = readings(request.headers());
    let form = read_form(&service, request).await.and_then(|form| agreeing(form, &credentials));
    match form {
        Ok(mut form) => {
            let (grant_type, scope) = (form.remove("grant_type"), form.remove("scope"));
            let call = Call::IssueToken { credentials, grant_type, scope };
            answer(&service.places, service.call(call).await)
        }
        Err(why) => reply(&service.places, Reply::OAuth(why)),
    }
}

pub(super) async fn revocation(State(service): State<Arc<Service>>, request: Request) -> Response {
    let credentials = readings(request.headers());
    let form = read_form(&service, request).await.and_then(|form| agreeing(form, &credentials));
    match form {
        Ok(mut form) => {
            let token = form.remove("token").map(Secret::new);
            answer(&service.places, service.call(Call::RevokeToken { credentials, token }).await)
        }
        Err(why) => reply(&service.places, Reply::OAuth(why)),
    }
}

/// Credentials in the body are another method than the supported one, and two methods are an error.
fn agreeing(form: Form, credentials: &[Credentials]) -> Result<Form, OAuthError> {
    if form.contains_key("client_secret") {
        return Err(if credentials.is_empty() {
            OAuthError::InvalidClient
        } else {
            OAuthError::InvalidRequest("the client authenticates in two ways at once")
        });
    }
    let other = |id: &String| !credentials.iter().any(|reading| reading.id == *id);
    if form.get("client_id").is_some_and(|id| !credentials.is_empty() && other(id)) {
        return Err(OAuthError::InvalidRequest("client_id differs from the one in the Authorization header"));
    }
    Ok(form)
}

/// Both readings of Basic credentials: as they are, and form-decoded as RFC 6749 2.3.1 requires.
fn readings(headers: &HeaderMap) -> Vec<Credentials> {
    let decoded = authorization(headers, "basic")
        .and_then(|text| BASE64.decode(text).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let Some((id, secret)) = decoded.as_deref().and_then(|text| text.split_once(':')) else {
        return Vec::new();
    };
    [(id.to_owned(), secret.to_owned()), (form_decode(id), form_decode(secret))]
        .into_iter()
        .map(|(id, secret)| Credentials { id, secret: Secret::new(secret) })
        .collect()
}

fn form_decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

async fn read_form(service: &Service, request: Request) -> Result<Form, OAuthError> {
    let kind =
        request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(OAuthError::InvalidRequest("the body must be application/x-www-form-urlencoded"));
    }
    let bytes =
        read_body(request.into_body(), LARGEST_FORM, service.patience.body).await.map_err(|trouble| {
            OAuthError::InvalidRequest(match trouble {
                Trouble::TooLarge => "the body is too large",
                Trouble::TooSlow => "the body did not arrive in time",
                Trouble::Broken => "the body did not arrive whole",
            })
        })?;
    let mut form = BTreeMap::new();
    for (name, value) in form_urlencoded::parse(&bytes) {
        if form.insert(name.into_owned(), value.into_owned()).is_some() {
            return Err(OAuthError::InvalidRequest("a parameter is given twice"));
        }
    }
    Ok(form)
}
