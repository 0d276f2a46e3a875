//! `mailchute.yaml` and addresses as they are written: private mirrors, which `mod.rs` turns into what the
//! rest uses. Their comments are the descriptions in the JSON Schemas.

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
    /// The accounts that pay. You choose their names.
    pub accounts: BTreeMap<String, AccountSettings>,
    /// The rules files of the folders. Relative to this file.
    #[serde(default = "folders")]
    pub folders: String,
    /// The files of the queues: ways into folders besides dropping files. Relative to this file.
    #[serde(default = "queues")]
    pub queues: String,
    /// Senders that folders and sidecars may name.
    #[serde(default)]
    pub addresses: BTreeMap<String, AddressFile>,
    /// Japan Post's list of postal codes, `utf_ken_all.csv`, relative to this file. Letters whose postal code is
    /// another city's by a list younger than six months wait for a person.
    pub postal_data: Option<PathBuf>,
    /// A font for text whose own font is not in the PDF, for pictures of pages: `NotoSansCJK-Regular.ttc` of Debian's
    /// fonts-noto-cjk. Relative to this file. If missing, it is looked for where Debian puts it.
    pub page_font: Option<PathBuf>,
    /// The time zone for days and hours of arrival, and for all times that people read.
    #[serde(default = "time_zone")]
    pub time_zone: String,
    /// The language of the texts in the folders.
    #[serde(default)]
    pub language: Language,
    #[serde(default)]
    pub network: Network,
    /// How people are notified by e-mail. Without it nobody is.
    pub email: Option<EmailSection>,
    /// A page, probes and metrics over HTTP. Without it only `mailchute status` can ask.
    pub status: Option<StatusSection>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusSection {
    /// An address of this machine and a port: `127.0.0.1:8461`. Or the path of a socket for a proxy that has
    /// a log-in, since mailchute has none: `/run/mailchute-page/socket`.
    pub listen: String,
    /// Letters can be found by their receiver's name too, and the page shows it.
    #[serde(default)]
    pub show_names: bool,
    /// A letter's page shows its envelope and its first page. Only on a socket, for a proxy that has a log-in.
    #[serde(default)]
    pub show_pages: bool,
}

pub(super) const FOLDERS: &str = "folders/*.yaml";

fn folders() -> String {
    FOLDERS.to_owned()
}

pub(super) const QUEUES: &str = "queues/*.yaml";

fn queues() -> String {
    QUEUES.to_owned()
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
    /// Where the secret is, never the secret itself.
    pub client_secret: SecretSource,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Network {
    /// How many letters call the service at the same time, 1 to 64
    pub letters_at_once: usize,
    pub connect_timeout: Length,
    /// A whole call of the API
    pub call_timeout: Length,
    /// A whole upload or download
    pub transfer_timeout: Length,
    /// The first wait before a step is tried again; the others follow from it
    pub quickest_retry: Length,
    /// The longest wait before a step that costs nothing is tried again
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
    /// The sender of the e-mails.
    pub from: Email,
    /// Operators: they get mail about what concerns no folder, such as a paused account, a share that is away, a
    /// full disk.
    #[serde(default)]
    pub operators: Vec<Email>,
    /// The mail server.
    pub smtp: Option<Smtp>,
    /// Instead of a mail server: each e-mail becomes a file here, for trials. Relative to this file.
    pub directory: Option<PathBuf>,
    /// Letters of a folder that ship within this time share one e-mail. 0s for one each.
    #[serde(default = "quarter_hour")]
    pub together: Length,
    /// E-mails about what is held show its first page. It names the receiver, and an e-mail can't be taken back.
    #[serde(default)]
    pub pictures: bool,
    pub digest: Option<DigestTimes>,
    /// Your own templates, named as `mailchute templates DIR` writes them. Relative to this file.
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
    /// Where the password is, never the password itself.
    pub password: Option<SecretSource>,
    /// A PEM file with the authority that signed the server's certificate, instead of the system's.
    pub ca: Option<PathBuf>,
    /// The name by which this machine introduces itself there. Its own name if missing.
    pub hello: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Tls {
    /// The connection becomes TLS before anything else is sent. If it cannot, nothing is sent.
    #[default]
    Starttls,
    /// TLS from the first byte.
    Implicit,
    /// No TLS. Only to this machine itself.
    None,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DigestTimes {
    /// The time, as a cron line in the time zone: `0 18 * * mon-fri`.
    pub at: Cron,
    pub to: Vec<Email>,
}

/// An address. A receiver's also has an honorific.
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
    /// The word after a receiver's name; 様 if missing
    pub honorific: Option<String>,
}
