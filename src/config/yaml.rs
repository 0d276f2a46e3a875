//! The YAML as it is written: private mirrors, turned into what the rest works with in `mod.rs`.
//!
//! No anchors, no aliases, one document; an unknown or double key is a mistake with its place.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::address::{Address, Receiver};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Main {
    pub state: PathBuf,
    pub accounts: BTreeMap<String, Account>,
    #[serde(default)]
    pub network: Network,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Account {
    pub base_url: String,
    pub auth_url: String,
    pub client_id: String,
    pub client_secret: SecretSource,
}

/// Where a secret is; never the secret itself. Whatever else stands there is not repeated.
#[derive(Debug)]
pub(super) enum SecretSource {
    Credential(String),
    File(PathBuf),
    Env(String),
}

const WHERE: &str = "client_secret: never the secret itself, but where it is: {credential: NAME}, {file: PATH} \
                     or {env: NAME}";

impl<'de> Deserialize<'de> for SecretSource {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Place)
    }
}

struct Place;

impl<'de> Visitor<'de> for Place {
    type Value = SecretSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("where a secret is")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SecretSource, A::Error> {
        let wrong = || A::Error::custom(WHERE);
        let (key, value): (String, String) = map.next_entry().map_err(|_| wrong())?.ok_or_else(wrong)?;
        if map.next_key::<IgnoredAny>().map_err(|_| wrong())?.is_some() {
            return Err(wrong());
        }
        match key.as_str() {
            "credential" => Ok(SecretSource::Credential(value)),
            "file" => Ok(SecretSource::File(value.into())),
            "env" => Ok(SecretSource::Env(value)),
            _other => Err(wrong()),
        }
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_unit<E: Error>(self) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<SecretSource, A::Error> {
        Err(A::Error::custom(WHERE))
    }
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Network {
    pub letters_at_once: usize,
    #[serde(deserialize_with = "duration")]
    pub connect_timeout: Duration,
    #[serde(deserialize_with = "duration")]
    pub call_timeout: Duration,
    #[serde(deserialize_with = "duration")]
    pub transfer_timeout: Duration,
    #[serde(deserialize_with = "duration")]
    pub quickest_retry: Duration,
    #[serde(deserialize_with = "duration")]
    pub slowest_retry: Duration,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            letters_at_once: 8,
            connect_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_mins(1),
            transfer_timeout: Duration::from_mins(4),
            quickest_retry: Duration::from_secs(2),
            slowest_retry: Duration::from_mins(15),
        }
    }
}

fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(from)?;
    humantime::parse_duration(&text)
        .map_err(|_| Error::custom(format!("`{text}` is no duration: write `2s`, `15m` or `1h 30m`")))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AddressFile {
    postal_code: String,
    state: String,
    city: String,
    address1: String,
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceiverFile {
    postal_code: String,
    state: String,
    city: String,
    address1: String,
    name: String,
    #[serde(default = "sama")]
    honorific: String,
}

fn sama() -> String {
    "様".to_owned()
}

/// Reads `mailchute.yaml`. Its lines are not shown: a secret may stand in one by mistake.
pub(super) fn read_main(text: &str) -> Result<Main, String> {
    read_with(text, false)
}

/// Reads one document; a mistake tells its line and shows it.
fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    read_with(text, true)
}

fn read_with<'a, T: Deserialize<'a>>(text: &'a str, with_snippet: bool) -> Result<T, String> {
    if let Some(line) = text.lines().position(|line| line.starts_with('\t')) {
        return Err(format!("line {}: it is indented with a tab; YAML wants spaces", line + 1));
    }
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::Error,
        merge_keys: serde_saphyr::options::MergeKeyPolicy::Error,
        strict_booleans: true,
        with_snippet: with_snippet,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 0 },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

pub(super) fn address(text: &str) -> Result<Address, String> {
    let AddressFile { postal_code, state, city, address1, name } = read(text)?;
    Ok(Address { postal_code, state, city, address1, name })
}

pub(super) fn receiver(text: &str) -> Result<Receiver, String> {
    let ReceiverFile { postal_code, state, city, address1, name, honorific } = read(text)?;
    Ok(Receiver { address: Address { postal_code, state, city, address1, name }, honorific })
}
