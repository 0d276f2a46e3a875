//! `mailchute.yaml` and addresses as they are written: private mirrors, turned into what the rest works
//! with in `mod.rs`. Their comments are the descriptions in the JSON Schemas.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::secret::SecretSource;
use super::words::Length;
use super::words_people::{Cron, Email};
use crate::words::texts::Language;

/// mailchute.yaml
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Main {
    /// Records and spool: a directory of mailchute's own on a local disk. Relative to this file.
    pub state: PathBuf,
    /// Who pays. Names are yours to choose.
    pub accounts: BTreeMap<String, AccountSettings>,
    /// The rules files of the folders. Relative to this file.
    #[serde(default = "folders")]
    pub folders: String,
    /// Senders that folders and sidecars may name.
    #[serde(default)]
    pub addresses: BTreeMap<String, AddressFile>,
    /// Where days and hours of arrival count, and in which times are told.
    #[serde(default = "time_zone")]
    pub time_zone: String,
    /// What office people read in the folders.
    #[serde(default)]
    pub language: Language,
    #[serde(default)]
    pub network: Network,
    /// Without it nobody is told anything by mail.
    pub email: Option<EmailSection>,
    /// A page, probes and metrics over HTTP; without it only `mailchute status` can ask.
    pub status: Option<StatusSection>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusSection {
    /// An address of this machine and a port: `127.0.0.1:8461`; or the path of a socket for a proxy that has
    /// a log-in: `/run/mailchute-page/socket`. There is none here.
    pub listen: String,
    /// Letters are found by their receiver's name too, and the page shows it.
    #[serde(default)]
    pub show_names: bool,
}

pub(super) const FOLDERS: &str = "folders/*.yaml";

fn folders() -> String {
    FOLDERS.to_owned()
}

fn time_zone() -> String {
    "Asia/Tokyo".to_owned()
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountSettings {
    /// Base address of the API.
    pub base_url: String,
    /// Base address of the authorization server.
    pub auth_url: String,
    pub client_id: String,
    /// Never the secret itself, but where it is.
    pub client_secret: SecretSource,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Network {
    /// 1 to 64
    pub letters_at_once: usize,
    pub connect_timeout: Length,
    /// A whole call of the API
    pub call_timeout: Length,
    /// A whole upload or download
    pub transfer_timeout: Length,
    /// The first wait before the same is tried again; others follow from it
    pub quickest_retry: Length,
    /// The longest wait before something free of charge is tried again
    pub slowest_retry: Length,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            letters_at_once: 8,
            connect_timeout: Length(Duration::from_secs(10)),
            call_timeout: Length(Duration::from_mins(1)),
            transfer_timeout: Length(Duration::from_mins(4)),
            quickest_retry: Length(Duration::from_secs(2)),
            slowest_retry: Length(Duration::from_mins(15)),
        }
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EmailSection {
    /// Whom the mails come from.
    pub from: Email,
    /// Who hears of what is no folder's: a paused account, a share that is away, a disk that is full.
    #[serde(default)]
    pub operators: Vec<Email>,
    /// The mail server.
    pub smtp: Option<Smtp>,
    /// Instead of a mail server: each mail becomes a file here, for trials. Relative to this file.
    pub directory: Option<PathBuf>,
    /// Letters of a folder that ship within this time are told in one mail; 0s for one each.
    #[serde(default = "quarter_hour")]
    pub together: Length,
    pub digest: Option<DigestTimes>,
    /// Templates of your own, named as `mailchute templates DIR` writes them. Relative to this file.
    #[serde(default = "templates")]
    pub templates: PathBuf,
}

fn quarter_hour() -> Length {
    Length(Duration::from_mins(15))
}

fn templates() -> PathBuf {
    PathBuf::from("templates")
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Smtp {
    pub host: String,
    /// 587 with starttls, 465 with implicit, 25 with none
    pub port: Option<u16>,
    #[serde(default)]
    pub tls: Tls,
    pub user: Option<String>,
    /// Never the password itself, but where it is.
    pub password: Option<SecretSource>,
    /// A PEM file with the authority that signed the server's certificate, instead of the system's.
    pub ca: Option<PathBuf>,
    /// What this machine calls itself there; its own name if not given.
    pub hello: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Tls {
    /// The connection becomes TLS before anything is said, or nothing is sent.
    #[default]
    Starttls,
    /// TLS from the first byte.
    Implicit,
    /// Only to this machine itself.
    None,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DigestTimes {
    /// When, as a cron line in the time zone: `0 18 * * mon-fri`.
    pub at: Cron,
    pub to: Vec<Email>,
}

/// An address; a receiver's also has an honorific.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddressFile {
    /// 7 digits without a hyphen, in quotes
    #[schemars(regex(pattern = r"^[0-9]{7}$"))]
    pub postal_code: String,
    /// The prefecture, at most 4 characters
    #[schemars(length(min = 1, max = 4))]
    pub state: String,
    pub city: String,
    pub address1: String,
    pub name: String,
    /// What follows a receiver's name; 様 if not given
    pub honorific: Option<String>,
}
