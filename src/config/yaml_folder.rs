//! A folder's rules file and a sidecar as they are written: private mirrors, turned into what the rest
//! works with in `folder.rs`. Their comments are the descriptions in the JSON Schemas.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::either::{ReceiverKind, Sender};
use super::folder::{Accept, FirstStart, LetterKind, WatchMode};
use super::words::{Burst, Days, Hours, Length, PageRange, Size};
use super::words_people::{Email, Release};
use super::yaml::AddressFile;
use crate::domain::letter::{Color, Duplex, Print, Shipping, Staple};

/// folders/NAME.yaml
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Folder {
    /// The hot folder. Relative to this file.
    pub path: PathBuf,
    /// `no`: nothing is taken in any more; what was goes on, and can be approved and cancelled.
    #[serde(default)]
    pub accept: Accept,
    /// The account that pays; the only one if not given.
    pub account: Option<String>,
    #[serde(default)]
    pub watch: Watch,
    /// What a letter is: a PDF of its own, or a subfolder of 1 to 10 PDFs.
    #[serde(default)]
    pub letter: LetterKind,
    /// A name from mailchute.yaml, or an address written out.
    pub sender: Sender,
    /// `automatic`, `approval`, or posting times as a cron line: `0 15 * * mon-fri`.
    #[serde(default)]
    pub release: Release,
    #[serde(default)]
    pub approval: Approval,
    /// What lies in the folder when it is watched for the first time, or when a share comes back.
    #[serde(default)]
    pub first_start: FirstStart,
    /// How long a PDF waits for the sidecar that it needs before it is held.
    #[serde(default = "ten_minutes")]
    pub sidecar_within: Length,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub duplicates: Duplicates,
    pub address_book: Option<AddressBook>,
    #[serde(default)]
    pub notify: Notify,
    #[serde(default)]
    pub keep: Keep,
    /// What its letters are put down to in `mailchute report`.
    pub cost_centre: Option<String>,
    /// The names of the subfolders that people see.
    #[serde(default)]
    pub shelf: Shelf,
    /// The first rule whose conditions all hold decides.
    #[schemars(length(min = 1))]
    pub rules: Vec<Rule>,
}

fn ten_minutes() -> Length {
    Length(Duration::from_mins(10))
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Watch {
    /// auto asks the filesystem; on a network share only polling sees what others write.
    pub mode: WatchMode,
    /// How long a drop must have been still: 5s, on a network share 15s.
    pub settle: Option<Length>,
    /// How long what may not be whole is waited for before it is judged: 2m.
    pub incomplete: Option<Length>,
    /// How often it is looked at without a hint: 1m, where hints can't be had 5s.
    pub poll: Option<Length>,
    /// Names to be left alone, besides the usual litter: `*.bak`.
    pub ignore: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Approval {
    /// Whoever dropped a file can't approve it: the approver copies it into `Approve`, and the copy
    /// must belong to another user. Needs a share where each person's files are that person's.
    pub not_by_owner: bool,
}

/// Who is told what; `email` in mailchute.yaml says how.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Notify {
    /// With the tracking number, as soon as it is there.
    pub shipped: Vec<Email>,
    pub rejected: Vec<Email>,
    /// What waits for a person, and what to do.
    pub held: Vec<Email>,
    /// How a cancelling ended.
    pub cancelled: Vec<Email>,
    pub card_declined: Vec<Email>,
}

/// What is kept, and for how long.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Keep {
    /// Fetches each PDF as it is printed and lays it beside the original: NAME.sealed.pdf.
    pub sealed_pdf: bool,
    /// mailchute's own copies, after the letter has ended.
    pub spool: Length,
    /// What of a letter lies in Sent and Cancelled, after it has ended; for ever if not given.
    pub originals: Option<Length>,
    /// Receivers and names of files in mailchute's records, after the letter has ended; for ever if not
    /// given. Not before the originals are removed.
    pub history: Option<Length>,
}

impl Default for Keep {
    fn default() -> Self {
        let days = |days: u64| Length(Duration::from_hours(days * 24));
        Self { sealed_pdf: false, spool: days(30), originals: None, history: None }
    }
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Limits {
    /// What is more on a day waits for a person.
    pub letters_per_day: Option<u32>,
    pub sheets_per_day: Option<u32>,
    /// `50 in 10m`: what comes faster waits for a person.
    pub burst: Option<Burst>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Duplicates {
    /// What happens to a letter with the same documents to the same receiver.
    pub action: DuplicateAction,
    /// How long ago the earlier one may have been.
    pub within: Length,
}

impl Default for Duplicates {
    fn default() -> Self {
        Self { action: DuplicateAction::Hold, within: Length(Duration::from_hours(30 * 24)) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum DuplicateAction {
    Hold,
    Allow,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddressBook {
    /// CSV with a line of headings, UTF-8 or as Excel writes it (CP932). Relative to this file.
    pub file: PathBuf,
    /// The heading of the column that rules look in.
    pub key: String,
    /// How long it must have been unchanged before it is used; a minute while its last line has no end.
    #[serde(default = "book_settle")]
    pub settle: Length,
    /// The headings of the other columns, where they are not named as here.
    #[serde(default)]
    pub columns: Columns,
}

fn book_settle() -> Length {
    Length(Duration::from_secs(10))
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Columns {
    pub postal_code: String,
    pub state: String,
    pub city: String,
    pub address1: String,
    pub name: String,
    pub honorific: String,
}

impl Default for Columns {
    fn default() -> Self {
        let [postal_code, state, city, address1, name, honorific] =
            ["postal_code", "state", "city", "address1", "name", "honorific"].map(str::to_owned);
        Self { postal_code, state, city, address1, name, honorific }
    }
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Shelf {
    pub held: Option<String>,
    pub sent: Option<String>,
    pub rejected: Option<String>,
    pub cancelled: Option<String>,
    pub approve: Option<String>,
    pub cancel: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// What people call it.
    pub name: String,
    /// All of these must hold; none means always.
    #[serde(default)]
    pub when: When,
    pub receiver: ReceiverKind,
    /// Instead of the folder's.
    pub sender: Option<Sender>,
    pub shipping: Shipping,
    /// How every document is printed.
    #[serde(default)]
    pub print: Print,
    /// How documents with certain names are printed instead; the first that fits.
    #[serde(default)]
    pub print_files: Vec<PrintFile>,
    /// A letter pack for the answer is enclosed; `{}`, or with the address it returns to.
    pub reply_letterpack: Option<ReplyLetterpack>,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct When {
    /// A regular expression; a group `(?<customer>…)` can be used as `{customer}`.
    pub file_name: Option<String>,
    /// Of all documents together.
    pub pages: Option<PageRange>,
    /// Of all documents together.
    pub size: Option<Size>,
    /// The day of arrival.
    pub weekday: Option<Days>,
    /// The hour of arrival.
    pub time: Option<Hours>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PrintFile {
    /// A regular expression for the document's name.
    pub file_name: String,
    #[serde(default)]
    pub color: Color,
    #[serde(default)]
    pub duplex: Duplex,
    pub staple: Option<Staple>,
    #[serde(default)]
    pub bind: bool,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplyLetterpack {
    pub address: Option<AddressFile>,
}

/// NAME.pdf.yaml beside NAME.pdf
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Sidecar {
    pub receiver: AddressFile,
    /// Instead of the rule's: a name from mailchute.yaml, or an address written out.
    pub sender: Option<Sender>,
    pub shipping: Option<Shipping>,
    pub print: Option<Print>,
    pub reply_letterpack: Option<ReplyLetterpack>,
    /// How many pages there must be in all.
    pub pages: Option<u32>,
}
