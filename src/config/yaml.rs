//! The YAML as it is written: private mirrors, turned into what the rest works with in `mod.rs`.
//!
//! No anchors, no aliases, one document; an unknown or double key is a mistake with its place.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

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

/// Where a secret is; never the secret itself.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SecretSource {
    Credential(String),
    File(PathBuf),
    Env(String),
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
    humantime::parse_duration(&text).map_err(|_| {
        serde::de::Error::custom(format!("`{text}` is no duration: write `2s`, `15m` or `1h 30m`"))
    })
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

/// Reads `mailchute.yaml`. A secret written out is refused before anything could repeat it.
pub(super) fn read_main(text: &str) -> Result<Main, String> {
    const KEY: &str = "client_secret";
    for (number, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices(KEY) {
            let Some(value) = line[at + KEY.len()..].trim_start_matches(['"', '\'', ' ']).strip_prefix(':')
            else {
                continue;
            };
            let value = value.trim_start();
            if !(value.is_empty() || value.starts_with('{') || value.starts_with('#')) {
                return Err(format!(
                    "line {}: {KEY}: never the secret itself, but where it is: {{credential: NAME}}, \
                     {{file: PATH}} or {{env: NAME}}",
                    number + 1
                ));
            }
        }
    }
    read(text)
}

/// Reads one document; a mistake tells its line and shows it.
fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    if let Some(line) = text.lines().position(|line| line.starts_with('\t')) {
        return Err(format!("line {}: it is indented with a tab; YAML wants spaces", line + 1));
    }
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::Error,
        merge_keys: serde_saphyr::options::MergeKeyPolicy::Error,
        strict_booleans: true,
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
