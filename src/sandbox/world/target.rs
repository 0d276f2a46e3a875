//! Upload and download targets, signed so that what was issued cannot be altered.
//!
//! Uploads carry a policy (expiry, exact fields, allowed sizes) signed as AWS signature version 4 signs a
//! browser's POST. Downloads carry key, expiry and signature in their query. The order of the checks and the
//! words of the refusals are those of real object stores.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chrono::TimeDelta;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::ids::Dice;
use super::store_error::{FormError, StoreError};
use crate::base::clock::Time;
use crate::outside::api::wire::format_time;

pub const LARGEST_FILE: u64 = 10_000_000;
pub const SMALLEST_FILE: u64 = 1;
pub const DOWNLOAD_LIFE: TimeDelta = TimeDelta::hours(1);

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const REGION: &str = "ap-northeast-1";
/// The fields that a form must have, in the order in which a missing one is named.
const REQUIRED: [&str; 6] =
    ["key", "policy", "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Signature"];

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Signer {
    access_key: String,
    key: String,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signer(…)")
    }
}

#[derive(Serialize, Deserialize)]
struct Policy {
    expiration: Time,
    conditions: Vec<Condition>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Condition {
    Length(String, u64, u64),
    Match(String, String, String),
}

impl Signer {
    pub fn drawn(dice: Dice) -> Self {
        let access_key = format!("SANDBOX{}", hex::encode_upper(&dice.draw("access key", 0)[..7]));
        Self { access_key, key: hex::encode(dice.draw("signing key", 0)) }
    }

    /// The form fields of an upload target, in the order in which they must be sent.
    pub fn upload_fields(&self, key: &str, now: Time, expires_at: Time) -> Vec<(String, String)> {
        let mut fields = vec![
            ("Content-Type".to_owned(), "application/pdf".to_owned()),
            ("key".to_owned(), key.to_owned()),
            ("X-Amz-Algorithm".to_owned(), ALGORITHM.to_owned()),
            ("X-Amz-Credential".to_owned(), self.credential(now)),
            ("X-Amz-Date".to_owned(), stamp(now)),
        ];
        let mut conditions =
            vec![Condition::Length("content-length-range".into(), SMALLEST_FILE, LARGEST_FILE)];
        conditions.extend(fields.iter().map(|(name, value)| Condition::exactly(name, value)));
        let policy = Policy { expiration: expires_at, conditions };
        let policy = BASE64.encode(serde_json::to_vec(&policy).unwrap_or_default());
        let signature = self.sign(&now.format("%Y%m%d").to_string(), &policy);
        fields.push(("policy".to_owned(), policy));
        fields.push(("X-Amz-Signature".to_owned(), signature));
        fields
    }

    /// Checks the fields of a form and the size of its file. Returns the key on success.
    pub fn check_upload(
        &self,
        fields: &[(String, String)],
        size: u64,
        now: Time,
    ) -> Result<String, StoreError> {
        let field =
            |name: &str| fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str());
        if REQUIRED[1..].iter().all(|name| field(name).is_none()) {
            return Err(StoreError::AccessDenied("Access Denied".into()));
        }
        if let Some(missing) = REQUIRED.into_iter().find(|name| field(name).is_none()) {
            return Err(FormError::MissingField(missing).into());
        }
        let value = |name| field(name).unwrap_or_default();
        let scope: Vec<&str> = value("X-Amz-Credential").split('/').collect();
        if scope[0] != self.access_key {
            return Err(StoreError::UnknownAccessKey(scope[0].to_owned()));
        }
        let (policy, signature) = (value("policy"), value("X-Amz-Signature"));
        let signed = self.sign(scope.get(1).copied().unwrap_or_default(), policy);
        if !bool::from(signed.as_bytes().ct_eq(signature.as_bytes())) {
            return Err(StoreError::SignatureDoesNotMatch {
                access_key: scope[0].to_owned(),
                signed: policy.to_owned(),
                provided: signature.to_owned(),
            });
        }
        read_policy(policy)?.check(fields, size, now)?;
        Ok(value("key").to_owned())
    }

    /// The query of a download address.
    pub fn download_query(&self, key: &str, now: Time) -> String {
        let date = stamp(now);
        let life = DOWNLOAD_LIFE.num_seconds();
        let signature = self.sign_download(key, &date, &life.to_string());
        format!("X-Amz-Date={date}&X-Amz-Expires={life}&X-Amz-Signature={signature}")
    }

    pub fn check_download(&self, key: &str, query: &[(String, String)], now: Time) -> Result<(), StoreError> {
        let value = |name: &str| query.iter().find(|(n, _)| n == name).map_or("", |(_, v)| v.as_str());
        let (date, life) = (value("X-Amz-Date"), value("X-Amz-Expires"));
        let signature = self.sign_download(key, date, life);
        if !bool::from(signature.as_bytes().ct_eq(value("X-Amz-Signature").as_bytes())) {
            return Err(StoreError::AccessDenied("Access Denied".into()));
        }
        let seconds: i64 = life.parse().unwrap_or(0);
        let from =
            chrono::NaiveDateTime::parse_from_str(date, "%Y%m%dT%H%M%SZ").map_or(now, |date| date.and_utc());
        let expires = from + TimeDelta::seconds(seconds);
        if expires <= now {
            return Err(StoreError::RequestExpired { seconds, expires, now });
        }
        Ok(())
    }

    fn credential(&self, now: Time) -> String {
        format!("{}/{}/{REGION}/s3/aws4_request", self.access_key, now.format("%Y%m%d"))
    }

    fn sign(&self, date: &str, text: &str) -> String {
        let secret = format!("AWS4{}", self.key);
        let key = ["s3", "aws4_request"]
            .iter()
            .fold(hmac(&hmac(secret.as_bytes(), date), REGION), |key, part| hmac(&key, part));
        hex::encode(hmac(&key, text))
    }

    fn sign_download(&self, key: &str, date: &str, life: &str) -> String {
        self.sign(date, &format!("GET\n{key}\n{date}\n{life}"))
    }
}

impl Condition {
    fn exactly(name: &str, value: &str) -> Self {
        Self::Match("eq".into(), format!("${name}"), value.to_owned())
    }
}

impl Policy {
    fn check(&self, fields: &[(String, String)], size: u64, now: Time) -> Result<(), StoreError> {
        if self.expiration <= now {
            return Err(StoreError::policy("Policy expired."));
        }
        let mut signed = vec!["policy".to_owned(), "x-amz-signature".to_owned()];
        for condition in &self.conditions {
            if let Condition::Match(kind, name, value) = condition {
                let plain = name.trim_start_matches('$').to_ascii_lowercase();
                let sent = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(&plain));
                if sent.is_none_or(|(_, sent)| sent != value) {
                    let shown = serde_json::json!([kind, name, value]).to_string().replace("\",\"", "\", \"");
                    return Err(StoreError::policy(&format!("Policy Condition failed: {shown}")));
                }
                signed.push(plain);
            }
        }
        let unknown = fields.iter().find(|(name, _)| !signed.contains(&name.to_ascii_lowercase()));
        if let Some((name, _)) = unknown {
            return Err(StoreError::policy(&format!("Extra input fields: {name}")));
        }
        for condition in &self.conditions {
            match condition {
                Condition::Length(_, _, most) if size > *most => {
                    return Err(StoreError::TooLarge { size, most: *most });
                }
                Condition::Length(_, least, _) if size < *least => {
                    return Err(StoreError::TooSmall { size, least: *least });
                }
                Condition::Length(..) | Condition::Match(..) => {}
            }
        }
        Ok(())
    }
}

fn read_policy(text: &str) -> Result<Policy, StoreError> {
    BASE64
        .decode(text)
        .ok()
        .and_then(|json| serde_json::from_slice(&json).ok())
        .ok_or_else(|| StoreError::InvalidPolicy("Invalid JSON.".into()))
}

fn stamp(time: Time) -> String {
    time.format("%Y%m%dT%H%M%SZ").to_string()
}

fn hmac(key: &[u8], text: &str) -> [u8; 32] {
    // A MAC over SHA-256 takes keys of any length, so the empty key is never used.
    Hmac::<Sha256>::new_from_slice(key)
        .map(|mut mac| {
            mac.update(text.as_bytes());
            mac.finalize().into_bytes().into()
        })
        .unwrap_or_default()
}

/// The object store writes times in its XML without milliseconds.
pub fn plain_time(time: Time) -> String {
    format_time(time).split_once('.').map_or_else(String::new, |(seconds, _)| format!("{seconds}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signer_shows_nothing_of_its_key() {
        let signer = Signer::drawn(Dice::new([1; 32]));
        assert_eq!(format!("{signer:?}"), "Signer(…)");
    }
}
