//! The access token: fetched once for all callers, before it expires and once after it was refused.

use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::TimeDelta;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::Credentials;
use super::failure::Failure;
use super::line::{LARGEST_ANSWER, Reply, exchange, plain};
use super::meter::{Meter, counted};
use super::places::Places;
use super::wire;
use crate::base::clock::{Clock, Time};
use crate::base::secret::Secret;
use crate::domain::letter::AccountProblem;

pub(super) const SCOPES: [&str; 3] = ["account:read", "mails:read", "mails:write"];
/// A token is renewed this long before its end, or a tenth of its lifetime before if that is shorter.
const EARLY: TimeDelta = TimeDelta::minutes(1);
/// The lifetime of a token that does not state one.
const USUAL_LIFE_SECONDS: u64 = 3600;

#[derive(Debug)]
pub(super) struct Tokens {
    credentials: Credentials,
    clock: Clock,
    /// Locked during a request, so that other callers wait for its answer.
    held: Mutex<Held>,
    /// The number of requests that have failed.
    failures: AtomicU64,
}

#[derive(Debug, Default)]
struct Held {
    token: Option<Token>,
    /// The number of tokens fetched so far.
    generation: u64,
    endpoints: Option<Endpoints>,
    /// The server needs id and secret unencoded.
    raw: bool,
    /// Why the last request that failed did.
    failure: Option<Failure>,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub secret: Secret,
    pub generation: u64,
    renew_at: Time,
}

#[derive(Debug, Clone)]
struct Endpoints {
    token: Url,
    revocation: Url,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    token_endpoint: String,
    revocation_endpoint: Option<String>,
}

impl Tokens {
    pub fn new(credentials: Credentials, clock: Clock) -> Self {
        Self { credentials, clock, held: Mutex::default(), failures: AtomicU64::default() }
    }

    /// A valid token. `refused` is the generation of a token that was not accepted.
    pub async fn get(
        &self,
        http: &Client,
        places: &Places,
        meter: &Meter,
        refused: Option<u64>,
    ) -> Result<Token, Failure> {
        let failed_before = self.failures.load(Ordering::Acquire);
        let mut held = self.held.lock().await;
        if let Some(failure) =
            held.failure.as_ref().filter(|_| self.failures.load(Ordering::Acquire) != failed_before)
        {
            // It failed while this caller waited. If each asked again, an endpoint that hangs would keep all of them in
            // turn, with their permits.
            return Err(failure.clone());
        }
        let now = self.clock.now();
        let good = |token: &&Token| now < token.renew_at && refused != Some(token.generation);
        if let Some(token) = held.token.as_ref().filter(good) {
            return Ok(token.clone());
        }
        let endpoints = match &held.endpoints {
            Some(endpoints) => endpoints.clone(),
            None => held.endpoints.insert(discover(http, places).await).clone(),
        };
        let granted = match self.ask(http, &endpoints, meter, &mut held.raw).await {
            Ok(granted) => granted,
            Err(failure) => {
                held.failure = Some(failure.clone());
                self.failures.fetch_add(1, Ordering::Release);
                return Err(failure);
            }
        };
        held.generation += 1;
        let life = TimeDelta::seconds(i64::from(
            u32::try_from(granted.expires_in.unwrap_or(USUAL_LIFE_SECONDS)).unwrap_or(u32::MAX),
        ));
        let token = Token {
            secret: Secret::new(granted.access_token),
            generation: held.generation,
            renew_at: now + life - EARLY.min(life / 10),
        };
        held.token = Some(token.clone());
        Ok(token)
    }

    /// The time until which the token is used. `None` if there is no token, or one is being fetched.
    pub fn until(&self) -> Option<Time> {
        self.held.try_lock().ok()?.token.as_ref().map(|token| token.renew_at)
    }

    async fn ask(
        &self,
        http: &Client,
        endpoints: &Endpoints,
        meter: &Meter,
        raw: &mut bool,
    ) -> Result<wire::Token, Failure> {
        let form = format!("grant_type=client_credentials&scope={}", encoded(&SCOPES.join(" ")));
        let request = |raw: bool| {
            let post = http.post(endpoints.token.clone()).header(AUTHORIZATION, self.basic(raw));
            post.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form.clone())
        };
        let mut reply = ask_for_token(meter, request(*raw)).await?;
        if reply.status == StatusCode::UNAUTHORIZED && !*raw && self.basic(true) != self.basic(false) {
            let other = ask_for_token(meter, request(true)).await?;
            if other.status.is_success() {
                tracing::warn!("the token endpoint takes id and secret only as they are, not form-encoded");
                *raw = true;
                reply = other;
            }
        }
        let granted: wire::Token = match reply.status {
            StatusCode::OK => reply.json().ok_or_else(|| Failure::nonsense("it is not a token"))?,
            status if status.is_client_error() && !is_temporary(status) => {
                let error = reply.json::<OAuthError>().map(|said| plain(&said.error)).unwrap_or_default();
                let why = format!("the token endpoint answered {} {error}", status.as_u16());
                return Err(Failure::Account(AccountProblem::NotAllowed(why.trim_end().to_owned())));
            }
            _other => {
                let soonest = reply.retry_after.map(|wait| self.clock.now() + wait);
                let why = format!("the token endpoint answered {}", reply.status.as_u16());
                return Err(Failure::Later { soonest, why });
            }
        };
        let missing = granted.scope.as_ref().map_or_else(Vec::new, |scope| {
            let given: Vec<&str> = scope.split_ascii_whitespace().collect();
            SCOPES.into_iter().filter(|scope| !given.contains(scope)).collect()
        });
        if missing.is_empty() {
            return Ok(granted);
        }
        let why = format!("the client may not: {}", missing.join(", "));
        Err(Failure::Account(AccountProblem::NotAllowed(why)))
    }

    /// RFC 6749 requires id and secret to be form-encoded first. Some servers need them unencoded.
    fn basic(&self, raw: bool) -> HeaderValue {
        let encode = |text: &str| -> String { if raw { text.to_owned() } else { encoded(text) } };
        let (id, secret) = (&self.credentials.client_id, self.credentials.client_secret.expose());
        let pair = STANDARD.encode(format!("{}:{}", encode(id), encode(secret)));
        let mut value =
            HeaderValue::from_str(&format!("Basic {pair}")).unwrap_or_else(|_| HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }

    /// Revokes the token at the server. A failure is not an error: the token expires within the hour.
    pub async fn revoke(&self, http: &Client) {
        let mut held = self.held.lock().await;
        let (Some(token), Some(endpoints)) = (held.token.take(), &held.endpoints) else { return };
        let request = http
            .post(endpoints.revocation.clone())
            .header(AUTHORIZATION, self.basic(held.raw))
            .form(&[("token", token.secret.expose()), ("token_type_hint", "access_token")]);
        match exchange(request, LARGEST_ANSWER).await {
            Ok(reply) if reply.status.is_success() => {}
            Ok(reply) => tracing::debug!(status = reply.status.as_u16(), "the token was not revoked"),
            Err(_) => tracing::debug!("the token could not be revoked"),
        }
    }
}

#[derive(Deserialize)]
struct OAuthError {
    error: String,
}

/// Requests a token. Nothing of a letter is sent, so a failure here has no effect on a letter.
async fn ask_for_token(meter: &Meter, request: RequestBuilder) -> Result<Reply, Failure> {
    use super::line::Broken::{Lost, NotSent};
    counted(meter, "token", exchange(request, LARGEST_ANSWER)).await.map_err(|(NotSent(why) | Lost(why))| {
        Failure::Later { soonest: None, why: format!("the token endpoint: {why}") }
    })
}

fn is_temporary(status: StatusCode) -> bool {
    matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}

/// The endpoints from the server's discovery, or the specified ones if it has no discovery.
async fn discover(http: &Client, places: &Places) -> Endpoints {
    let usual = Endpoints { token: places.auth("token"), revocation: places.auth("token/revocation") };
    let request = http.get(places.auth(".well-known/openid-configuration"));
    let Ok(reply) = exchange(request, LARGEST_ANSWER).await else { return usual };
    let found: Option<Discovery> = if reply.status == StatusCode::OK { reply.json() } else { None };
    let Some(found) = found.filter(|found| found.issuer == places.issuer()) else { return usual };
    let token = places.discovered(&found.token_endpoint).unwrap_or(usual.token);
    let revocation = found.revocation_endpoint.and_then(|url| places.discovered(&url));
    Endpoints { token, revocation: revocation.unwrap_or(usual.revocation) }
}

/// Form-encoded, a space as `%20`: some servers decode only that, and none decodes only `+`.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_encoded_so_that_every_server_decodes_it() {
        assert_eq!(encoded("account:read mails:write"), "account%3Aread%20mails%3Awrite");
        assert_eq!(encoded("a+b&c=郵"), "a%2Bb%26c%3D%E9%83%B5");
    }
}
