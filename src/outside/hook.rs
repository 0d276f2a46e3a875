//! Notifies a program by a signed request, as Standard Webhooks say.
//!
//! Each request has an id that stays the same when it is repeated, a time, and a signature over id, time and body. No
//! redirect is followed. The body of an answer is not read.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, StatusCode};
use sha2::Sha256;

use crate::base::clock::Time;
use crate::base::connection::NoConnection;
use crate::base::secret::Secret;
use crate::outside::api::{BadPlace, Patience, outward};

/// How long a program may take to answer.
pub const PATIENCE: Duration = Duration::from_secs(15);
const LONGEST_RETRY_AFTER: Duration = Duration::from_hours(1);

/// The address of a program. `Debug` shows where it is, without its path, which may contain a key.
#[derive(Clone, PartialEq, Eq)]
pub struct HookUrl {
    url: Secret,
    origin: String,
}

impl HookUrl {
    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub fn expose(&self) -> &str {
        self.url.expose()
    }

    /// Whether it is written as an address of this machine or of a private network.
    pub fn is_private(&self) -> bool {
        outward(self.expose(), false).is_err()
    }
}

impl fmt::Debug for HookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HookUrl({})", self.origin)
    }
}

impl FromStr for HookUrl {
    type Err = BadPlace;

    fn from_str(text: &str) -> Result<Self, BadPlace> {
        let url = outward(text, true)?;
        Ok(Self { url: Secret::new(url.as_str()), origin: url.origin().ascii_serialization() })
    }
}

/// What signs requests.
pub struct HookKey(Vec<u8>);

impl fmt::Debug for HookKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookKey(…)")
    }
}

impl HookKey {
    /// 24 to 64 bytes in base64, with or without `whsec_` before it.
    pub fn of(secret: &Secret) -> Option<Self> {
        let text = secret.expose().trim();
        let bytes = STANDARD.decode(text.strip_prefix("whsec_").unwrap_or(text)).ok()?;
        (24..=64).contains(&bytes.len()).then_some(Self(bytes))
    }

    fn sign(&self, id: &str, at: i64, body: &str) -> Option<String> {
        let mut hmac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        hmac.update(format!("{id}.{at}.{body}").as_bytes());
        Some(format!("v1,{}", STANDARD.encode(hmac.finalize().into_bytes())))
    }
}

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Delivered {
    Taken,
    /// The program says that it is not there any more.
    Gone,
    /// The program does not take this one, which says nothing about others.
    NotThis(String),
    /// Not now: why, and when it asks to be called again.
    Later(String, Option<Duration>),
}

/// A request, apart from its time and its signature.
#[derive(Clone, Copy)]
pub struct HookCall<'a> {
    pub url: &'a HookUrl,
    /// The program may be in a private network.
    pub may_be_private: bool,
    pub id: &'a str,
    pub body: &'a str,
}

impl fmt::Debug for HookCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HookCall({}, {})", self.url.origin(), self.id)
    }
}

/// Sends a request and says what the answer means.
pub async fn call(call: HookCall<'_>, key: &HookKey, now: Time, patience: Duration) -> Delivered {
    let later = |why: &str| Delivered::Later(why.to_owned(), None);
    let Ok(url) = outward(call.url.expose(), call.may_be_private) else {
        return later("it is in a private network, and `private: true` is not set");
    };
    let at = now.timestamp();
    let Some(signature) = key.sign(call.id, at, call.body) else { return later("it can't be signed") };
    let Ok(client) = client(call.may_be_private, patience) else {
        return later("the HTTP client can't be made");
    };
    let request = client
        .post(url)
        .header(CONTENT_TYPE, "application/json")
        .header("webhook-id", call.id)
        .header("webhook-timestamp", at)
        .header("webhook-signature", signature)
        .body(call.body.to_owned());
    match request.send().await {
        Ok(answer) if answer.status().is_success() => Delivered::Taken,
        Ok(answer) if answer.status() == StatusCode::GONE => Delivered::Gone,
        Ok(answer) => {
            let seconds =
                answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            let wait = seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST_RETRY_AFTER));
            let why = format!("it answers {}", answer.status().as_u16());
            let status = answer.status();
            let is_about_all =
                [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS];
            if status.is_client_error() && !is_about_all.contains(&status) {
                Delivered::NotThis(why)
            } else {
                Delivered::Later(why, wait)
            }
        }
        Err(error) => match NoConnection::of(&error) {
            Some(why) => Delivered::Later(why.to_string(), None),
            None if error.is_timeout() => later("it does not answer in time"),
            None if is_kept_out(&error) => {
                later("it is in a private network, and `private: true` is not set")
            }
            None => later("the connection breaks"),
        },
    }
}

fn is_kept_out(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<BadPlace>().is_some_and(|bad| matches!(bad, BadPlace::Private)) {
            return true;
        }
        next = error.source();
    }
    false
}

fn client(may_be_private: bool, call: Duration) -> reqwest::Result<Client> {
    let patience = Patience { connect: call.min(Duration::from_secs(10)), call, ..Patience::default() };
    crate::outside::api::outward_client(&patience, may_be_private)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_kept_out_of_sight() {
        let url: HookUrl = "https://erp.example.jp:8443/in?key=abc".parse().unwrap();
        assert_eq!(url.origin(), "https://erp.example.jp:8443");
        assert!(!format!("{url:?}").contains("abc") && url.expose().ends_with("abc"));
        for wrong in ["http://erp.example.jp/", "https://a:b@erp.example.jp/", "ftp://x/", "erp", ""] {
            assert!(wrong.parse::<HookUrl>().is_err(), "{wrong}");
        }
        assert!("http://127.0.0.1:9/".parse::<HookUrl>().is_ok());
    }

    #[test]
    fn a_key_has_enough_bytes() {
        let key = |text: &str| HookKey::of(&Secret::new(text)).is_some();
        let bytes = STANDARD.encode([7; 24]);
        assert!(key(&bytes) && key(&format!("whsec_{bytes}\n")));
        assert!(!key("whsec_") && !key("correct horse") && !key(&STANDARD.encode([7; 23])));
        assert!(!key(&STANDARD.encode([7; 65])));
    }
}
