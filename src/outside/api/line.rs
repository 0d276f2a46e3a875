//! One exchange over HTTP: the answer, within bounds, or how the exchange failed.
//!
//! This module does not know what an answer means. Errors never show an address, because some addresses are
//! keys.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, StatusCode, redirect};
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt as _;
use serde_json::Value;

use super::places::{OnlyPublic, Places};
use crate::base::clock::Time;
use crate::base::connection::NoConnection;

/// No answer of the API needs more.
pub(super) const LARGEST_ANSWER: usize = 1 << 20;
/// Even if the service asks for a longer pause, it is asked again after this time.
const LONGEST_RETRY_AFTER: TimeDelta = TimeDelta::hours(1);

/// The time limits.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    pub connect: Duration,
    /// For a whole exchange with the API.
    pub call: Duration,
    /// For a whole upload or download.
    pub transfer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            call: Duration::from_mins(1),
            transfer: Duration::from_mins(4),
        }
    }
}

pub(super) struct Reply {
    pub status: StatusCode,
    /// The service's own time.
    pub date: Option<Time>,
    pub retry_after: Option<TimeDelta>,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Broken {
    /// Nothing can have reached the service.
    NotSent(String),
    /// The request may have had its effect.
    Lost(String),
}

/// Chooses the TLS provider. Call this before the first client is built; further calls do nothing.
pub fn install_tls() {
    // The second call fails because a provider is installed, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// Trusts this machine's certificate authorities. They are read once and shared, because they are about a
/// hundred files. New ones count after the next start.
fn tls() -> Result<ClientConfig, rustls::Error> {
    static READ: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(read) = READ.get() {
        return Ok(read.clone());
    }
    let mut config = ClientConfig::with_platform_verifier()?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(READ.get_or_init(|| config).clone())
}

fn builder(patience: &Patience) -> reqwest::ClientBuilder {
    let builder = match tls() {
        Ok(tls) => Client::builder().tls_backend_preconfigured(tls),
        // Building the client will report why.
        Err(_) => Client::builder(),
    };
    builder
        .redirect(redirect::Policy::none())
        .no_proxy()
        .connect_timeout(patience.connect)
        .user_agent(concat!("mailchute/", env!("CARGO_PKG_VERSION")))
}

/// A client for the service itself.
pub(super) fn client(patience: &Patience) -> reqwest::Result<Client> {
    builder(patience).timeout(patience.call).build()
}

/// A client for addresses from answers. It has no token and resolves no private addresses.
pub(super) fn transfers(patience: &Patience, places: &Places) -> reqwest::Result<Client> {
    builder(patience).timeout(patience.transfer).dns_resolver(places.resolver()).build()
}

/// A client for addresses that are not the service's.
pub fn outward_client(patience: &Patience, may_be_private: bool) -> reqwest::Result<Client> {
    let builder = builder(patience).timeout(patience.call);
    if may_be_private { builder.build() } else { builder.dns_resolver(Arc::new(OnlyPublic)).build() }
}

/// Sends a request and reads the whole answer.
pub(super) async fn exchange(request: RequestBuilder, largest: usize) -> Result<Reply, Broken> {
    let mut answer = request.send().await.map_err(broken)?;
    let status = answer.status();
    let date = date(answer.headers());
    let retry_after = retry_after(answer.headers(), date);
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| lost(&error))? {
        if body.len() + chunk.len() > largest {
            return Err(Broken::Lost(format!("the answer is longer than {largest} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Reply { status, date, retry_after, body })
}

fn broken(error: reqwest::Error) -> Broken {
    if error.is_connect() || error.is_builder() {
        Broken::NotSent(format!("no connection: {}", cause(&error.without_url())))
    } else {
        lost(&error)
    }
}

fn lost(error: &reqwest::Error) -> Broken {
    let text = if error.is_timeout() { "no answer in time" } else { "the connection broke before an answer" };
    Broken::Lost(text.to_owned())
}

/// In words with a remedy, without an address; or the innermost cause, which is the system's message.
fn cause(error: &reqwest::Error) -> String {
    if let Some(trouble) = NoConnection::of(error) {
        return format!("{trouble}{}", remedy(&trouble));
    }
    if error.is_timeout() {
        return NoConnection::TimedOut.to_string();
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}

fn remedy(trouble: &NoConnection) -> &'static str {
    match trouble {
        NoConnection::UnknownName => "; look at `base_url` and `auth_url`, and at DNS",
        NoConnection::Refused => "; look at `base_url` and `auth_url`, and for a firewall",
        NoConnection::NotYetValid => "; look at the clock of this machine",
        NoConnection::OtherName => "; look at `base_url` and `auth_url`, and whether a proxy is between",
        NoConnection::Untrusted => {
            "; if it should be, install the authority's certificate on this machine (Debian: \
             /usr/local/share/ca-certificates) and start mailchute again"
        }
        NoConnection::NoTls => "; is it the right port?",
        NoConnection::NoRoute
        | NoConnection::TimedOut
        | NoConnection::Expired
        | NoConnection::OtherTls(_) => "",
    }
}

fn date(headers: &HeaderMap) -> Option<Time> {
    http_date(headers.get(DATE)?.to_str().ok()?)
}

fn http_date(text: &str) -> Option<Time> {
    DateTime::parse_from_rfc2822(text).ok().map(|time| time.with_timezone(&Utc))
}

/// Seconds, or a date that is compared with the service's own time.
fn retry_after(headers: &HeaderMap, date: Option<Time>) -> Option<TimeDelta> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u32>() {
        Ok(seconds) => TimeDelta::seconds(i64::from(seconds)),
        Err(_) => http_date(text)? - date?,
    };
    Some(wait.clamp(TimeDelta::zero(), LONGEST_RETRY_AFTER))
}

impl Reply {
    pub fn json<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The service's own code for the failure, and the fields or files that it names.
    pub fn problem(&self) -> Option<ProblemSaid> {
        // Whatever is not there, or odd, hides nothing of the rest: the code decides whether a letter is posted already.
        let problem: Value = self.json()?;
        let text = |key: &str| problem.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let code = text("code").or_else(|| text("type")?.rsplit('/').next())?;
        let items = problem.get("errors").and_then(Value::as_array).into_iter().flatten();
        let paths =
            items.filter_map(|item| item.get("path")?.as_str()).map(plain).filter(|path| !path.is_empty());
        Some(ProblemSaid { code: plain(code), paths: paths.take(20).collect() })
    }

    /// Status and code, in words for a person.
    pub fn summary(&self) -> String {
        match self.problem() {
            Some(said) => format!("the service answered {} {}", self.status.as_u16(), said),
            None => format!("the service answered {}", self.status.as_u16()),
        }
    }
}

/// The code and the places of a problem, without messages, since those may repeat an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProblemSaid {
    pub code: String,
    pub paths: Vec<String>,
}

impl std::fmt::Display for ProblemSaid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.code)?;
        if self.paths.is_empty() { Ok(()) } else { write!(f, " ({})", self.paths.join(", ")) }
    }
}

/// A text that names a field or a code, reduced to characters that are harmless in a terminal and in a log.
pub(super) fn plain(text: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || "._-[]/$".contains(*c);
    text.chars().filter(allowed).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(retry: &str) -> HeaderMap {
        [(RETRY_AFTER, retry.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_bounded() {
        let date = http_date("Fri, 20 Nov 2026 12:00:00 GMT");
        assert_eq!(retry_after(&headers("120"), None), Some(TimeDelta::minutes(2)));
        assert_eq!(retry_after(&headers("99999999"), None), Some(LONGEST_RETRY_AFTER));
        let later = headers("Fri, 20 Nov 2026 12:00:30 GMT");
        assert_eq!(retry_after(&later, date), Some(TimeDelta::seconds(30)));
        assert_eq!(retry_after(&later, None), None);
        assert_eq!(retry_after(&headers("soon"), date), None);
    }

    #[test]
    fn a_problem_is_read_whatever_it_lacks() {
        let code = |body: &str| {
            let reply = Reply {
                status: StatusCode::CONFLICT,
                retry_after: None,
                date: None,
                body: body.as_bytes().to_vec(),
            };
            reply.problem().map(|said| said.code)
        };
        for body in [
            r#"{"type":"x/mail_already_confirmed","title":"","status":409,"code":"mail_already_confirmed"}"#,
            r#"{"code":"mail_already_confirmed"}"#,
            r#"{"code":"mail_already_confirmed","errors":null,"status":"409"}"#,
            r#"{"code":"mail_already_confirmed","errors":[{},{"path":["x"]},7]}"#,
            r#"{"code":"mail_already_confirmed","errors":{"path":"x"},"type":null,"title":[]}"#,
            r#"{"type":"https://x/mail_already_confirmed"}"#,
            r#"{"type":"https://x/mail_already_confirmed","code":""}"#,
        ] {
            assert_eq!(code(body).as_deref(), Some("mail_already_confirmed"), "{body}");
        }
        for body in ["{}", "[]", "", "<html>", r#"{"code":1}"#] {
            assert_eq!(code(body), None, "{body}");
        }
    }

    #[test]
    fn words_of_the_service_are_shown_without_harm() {
        assert_eq!(plain("files[0].page_count\u{1b}[2J\n山田"), "files[0].page_count[2J");
    }
}
