//! The JSON of `docs/spec`, type by type; the one owner of that format.
//!
//! Client and sandbox share it, so it contains no rules: the sandbox checks what is allowed, and `letter`
//! guarantees it. Words whose full list the contract does not show (`color`, `duplex`, `staple`) are strings
//! here.

use chrono::{DateTime, SecondsFormat, Utc};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

mod mail;

pub use mail::{Content, Enclosed, Mail, ShownAddress, Status};

/// A time as the service writes it: UTC with milliseconds.
pub mod timestamp {
    use super::{DateTime, Utc};
    use chrono::Datelike as _;
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    pub fn serialize<S: Serializer>(time: &DateTime<Utc>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::format_time(*time))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DateTime<Utc>, D::Error> {
        let time = DateTime::<Utc>::deserialize(from)?;
        // What is added to a time must not lead beyond the last one.
        if (2000..9990).contains(&time.year()) {
            Ok(time)
        } else {
            Err(D::Error::custom("the year is out of range"))
        }
    }

    /// A time that may be missing.
    pub mod option {
        use super::{DateTime, Deserialize, Deserializer, Serializer, Utc};

        #[derive(Deserialize)]
        struct Read(#[serde(with = "super")] DateTime<Utc>);

        pub fn serialize<S: Serializer>(time: &Option<DateTime<Utc>>, to: S) -> Result<S::Ok, S::Error> {
            match time {
                Some(time) => super::serialize(time, to),
                None => to.serialize_none(),
            }
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<DateTime<Utc>>, D::Error> {
            Option::<Read>::deserialize(from).map(|read| read.map(|Read(time)| time))
        }
    }
}

pub fn format_time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShippingMethod {
    Normal,
    LetterpackLite,
    LetterpackPlus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShippingOption {
    Express,
    Trackable,
    SimpleRegistered,
    NormalRegistered,
}

impl ShippingMethod {
    pub const ALL: [Self; 3] = [Self::Normal, Self::LetterpackLite, Self::LetterpackPlus];

    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::LetterpackLite => "letterpack-lite",
            Self::LetterpackPlus => "letterpack-plus",
        }
    }
}

impl ShippingOption {
    pub const ALL: [Self; 4] =
        [Self::Express, Self::Trackable, Self::SimpleRegistered, Self::NormalRegistered];

    pub fn word(self) -> &'static str {
        match self {
            Self::Express => "express",
            Self::Trackable => "trackable",
            Self::SimpleRegistered => "simple-registered",
            Self::NormalRegistered => "normal-registered",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Address {
    pub postal_code: String,
    pub state: String,
    pub city: String,
    pub address1: String,
    pub name: String,
    /// Present for a receiver only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub honorific: Option<String>,
}

/// Addresses are personal data, and `Debug` output ends up in logs.
impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Address(…)")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReplyLetterpack {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

/// One file of a create request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct File {
    pub file_name: String,
    pub page_count: u32,
    #[serde(default = "a4")]
    pub paper_size: String,
    pub color: String,
    pub duplex: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staple: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind: Option<bool>,
}

fn a4() -> String {
    "a4".to_owned()
}

/// `POST /v1/mails`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CreateMail {
    pub shipping_method: ShippingMethod,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shipping_options: Vec<ShippingOption>,
    pub sender_address: Address,
    pub receiver_address: Address,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_letterpack: Option<ReplyLetterpack>,
    pub files: Vec<File>,
}

/// The answer to `POST /v1/mails`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedMail {
    pub id: String,
    #[serde(with = "timestamp")]
    pub scheduled_to_ship_at: DateTime<Utc>,
    #[serde(with = "timestamp")]
    pub confirm_by: DateTime<Utc>,
    pub contents: Vec<CreatedContent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedContent {
    pub id: String,
    pub file_name: String,
    pub upload: UploadTarget,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadTarget {
    pub url: String,
    /// In the order in which they must be sent.
    pub fields: IndexMap<String, String>,
    #[serde(with = "timestamp")]
    pub expires_at: DateTime<Utc>,
}

/// The fields are a key to the upload and must not appear in logs.
impl std::fmt::Debug for UploadTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UploadTarget").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// `GET /v1/mails/{mailId}/contents/{contentId}/pdf`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownloadTarget {
    pub url: String,
    #[serde(with = "timestamp")]
    pub expires_at: DateTime<Utc>,
}

/// Whoever has the address can read the letter.
impl std::fmt::Debug for DownloadTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DownloadTarget").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// The answer of the token endpoint.
#[derive(Clone, Serialize, Deserialize)]
pub struct Token {
    pub access_token: String,
    pub token_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u64>,
    /// The scopes that were granted, separated by spaces. Missing if they are those requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// An error of the API itself (`application/problem+json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    pub code: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ProblemItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProblemItem {
    pub path: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Times {
        #[serde(with = "timestamp")]
        at: DateTime<Utc>,
        #[serde(default, with = "timestamp::option")]
        perhaps: Option<DateTime<Utc>>,
    }

    #[test]
    fn a_time_beyond_all_times_makes_no_sense() {
        let read = |at: &str, perhaps: &str| {
            let times = serde_json::from_str(&format!(r#"{{"at":"{at}","perhaps":{perhaps}}}"#));
            times.map(|Times { at, perhaps }| (at.to_rfc3339(), perhaps.is_some())).ok()
        };
        let usual = "2026-11-29T00:00:00.000Z";
        assert_eq!(read(usual, "null"), Some(("2026-11-29T00:00:00+00:00".to_owned(), false)));
        assert_eq!(read(usual, &format!("\"{usual}\"")).map(|(_, perhaps)| perhaps), Some(true));
        for wrong in ["+262142-12-31T00:00:00Z", "9999-12-31T23:59:59Z", "1970-01-01T00:00:00Z"] {
            assert_eq!(read(wrong, "null"), None, "{wrong}");
            assert_eq!(read(usual, &format!("\"{wrong}\"")), None, "{wrong}");
        }
    }
}
