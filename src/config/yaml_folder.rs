//! A folder's rules file and a sidecar as they are written: private mirrors, which `folder.rs` turns into
//! what the rest uses. Only shipping and print are the types of `domain/letter/order.rs` themselves. The comments are the
//! descriptions in the JSON Schemas.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::either::{ReceiverKind, Sender, WrittenCheck};
use super::folder::{Accept, FirstStart, LetterKind, WatchMode};
use super::notify::Told;
use super::words::{Burst, Days, Hours, Length, Millimetres, PageRange, Size};
use super::words_people::{Email, Release};
use super::yaml::AddressFile;
use crate::domain::letter::{Color, Duplex, Print, Shipping, Staple};

/// folders/NAME.yaml
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Folder {
    /// The hot folder. Relative to this file.
    pub path: PathBuf,
    /// The path by which people know it, for e-mails and texts: `\\server\invoices`, `/Volumes/invoices`.
    pub shown_as: Option<String>,
    /// `no` retires the folder: nothing more is taken in; its letters continue and can be approved and
    /// cancelled.
    #[serde(default)]
    pub accept: Accept,
    /// The account that pays. May be left out if there is only one.
    pub account: Option<String>,
    #[serde(default)]
    pub watch: Watch,
    /// What becomes one letter: a PDF, or a subfolder of 1 to 10 PDFs.
    #[serde(default)]
    pub letter: LetterKind,
    /// A name from mailchute.yaml, or an address written out.
    pub sender: Sender,
    /// `automatic`, `approval`, or posting times as a cron line: `0 15 * * mon-fri`.
    #[serde(default)]
    pub release: Release,
    #[serde(default)]
    pub approval: Approval,
    /// What happens to files that are there when the folder is first watched, or when a share comes back.
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
    /// Whether what is printed is compared with the envelope: `off`, `hold`, or more exactly.
    #[serde(default)]
    pub check_page: WrittenCheck,
    /// What happens to letters that may be printed otherwise than meant.
    #[serde(default)]
    pub check_print: PrintCheck,
    #[serde(default)]
    pub notify: Notify,
    #[serde(default)]
    pub keep: Keep,
    /// The cost centre that its letters have in `mailchute report`.
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
    /// auto asks the file system. On a network share only polling sees what others write.
    pub mode: WatchMode,
    /// How long a drop must be unchanged: 5s, on a network share 15s.
    pub settle: Option<Length>,
    /// How long a drop that may be incomplete must be unchanged before it is decided: 2m.
    pub incomplete: Option<Length>,
    /// How often the folder is looked at without an event: 1m, where events are not available 5s.
    pub poll: Option<Length>,
    /// Names to ignore, besides temporary files of known programs: `*.bak`.
    pub ignore: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Approval {
    /// The person who dropped a file cannot approve it. The approver copies it into `Approve`, and the copy
    /// must belong to another user. Requires a share with per-user file ownership.
    pub not_by_owner: bool,
}

/// Who is notified of what: people by e-mail (`email` in mailchute.yaml says how), and programs by a signed request.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Notify {
    /// With the tracking number, as soon as there is one.
    pub shipped: Vec<Told>,
    pub rejected: Vec<Told>,
    /// Letters and drops that wait for a person, with what to do.
    pub held: Vec<Told>,
    /// How a cancellation ended.
    pub cancelled: Vec<Told>,
    pub card_declined: Vec<Email>,
}

/// What is kept, and for how long.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Keep {
    /// Fetches each PDF as it is printed and places it beside the original: NAME.sealed.pdf.
    pub sealed_pdf: bool,
    /// mailchute's own copies, after the letter has ended.
    pub spool: Length,
    /// The files in Sent and Cancelled, after the letter has ended. For ever if missing.
    pub originals: Option<Length>,
    /// Receivers and file names in mailchute's records, after the letter has ended. For ever if missing. Not
    /// removed before the originals.
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
    /// Beyond this number on a day, letters wait for a person.
    pub letters_per_day: Option<u32>,
    pub sheets_per_day: Option<u32>,
    /// `50 in 10m`: letters that come faster wait for a person.
    pub burst: Option<Burst>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Duplicates {
    /// What happens to a letter with the same documents to the same receiver.
    pub action: DuplicateAction,
    /// How long ago the earlier letter may be.
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
    /// CSV with a heading line, in UTF-8 or as Excel writes it (CP932). Relative to this file.
    pub file: PathBuf,
    /// The heading of the column that rules search.
    pub key: String,
    /// How long it must be unchanged before it is used. One minute while its last line has no line end.
    #[serde(default = "book_settle")]
    pub settle: Length,
    /// The headings of the other columns, where they differ from the names here.
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
    /// The rule's name for people.
    pub name: String,
    /// All of these must hold. Without conditions the rule always matches.
    #[serde(default)]
    pub when: When,
    pub receiver: ReceiverKind,
    /// Instead of the folder's.
    pub sender: Option<Sender>,
    pub shipping: Shipping,
    /// How every document is printed.
    #[serde(default)]
    pub print: Print,
    /// How documents with certain names are printed instead. The first match counts.
    #[serde(default)]
    pub print_files: Vec<PrintFile>,
    /// Encloses a letter pack for the reply: `{}`, or with its return address.
    pub reply_letterpack: Option<ReplyLetterpack>,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct When {
    /// A regular expression. A group `(?<customer>…)` can be used as `{customer}`.
    pub file_name: Option<String>,
    /// Of all documents together.
    pub pages: Option<PageRange>,
    /// Of all documents together.
    pub size: Option<Size>,
    /// The day of arrival.
    pub weekday: Option<Days>,
    /// The hour of arrival.
    pub time: Option<Hours>,
    /// A regular expression for the text of page 1. Its groups can be used as those of `file_name`.
    pub page: Option<String>,
    /// Where on page 1 that text is looked for. Everywhere if missing.
    pub page_area: Option<WrittenArea>,
    /// A regular expression for the subject of the mail that brought it. Its groups can be used, too. It holds for
    /// nothing else than mails.
    pub subject: Option<String>,
    /// A regular expression for an address that the mail is for, such as `post\\+express@`.
    pub to: Option<String>,
}

/// How what is printed is compared with the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PageCheck {
    /// The page is for somebody else than the envelope.
    pub contradiction: OnContradiction,
    /// Nobody can tell from the page whom it is for.
    pub unreadable: OnUnreadable,
    /// Where the address block is. If missing, it is looked for.
    pub area: Option<WrittenArea>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum OnContradiction {
    #[default]
    Hold,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum OnUnreadable {
    #[default]
    GoOn,
    Hold,
}

impl Default for PageCheck {
    fn default() -> Self {
        Self { contradiction: OnContradiction::Hold, unreadable: OnUnreadable::GoOn, area: None }
    }
}

/// The receiver that page 1 of the first document names.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenPageReceiver {
    /// Where the address block is. If missing, it must be the only one on the page.
    pub area: Option<WrittenArea>,
    /// What happens if nothing was posted to this receiver from this folder before.
    pub first_time: FirstTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum FirstTime {
    #[default]
    Hold,
    Send,
}

/// For each: `off`, `note` (it is posted, and the texts say so) or `hold`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PrintCheck {
    /// A page is not A4. `hold` if missing.
    pub size: Option<WrittenAttention>,
    /// A page is A4 landscape. `note` if missing.
    pub landscape: Option<WrittenAttention>,
    /// Text has a font that is not in the PDF. If missing, it is noted where pages are read for something else.
    pub fonts: Option<WrittenAttention>,
    /// A page is blank. If missing, it is noted where pages are read for something else.
    pub blank: Option<WrittenAttention>,
    /// A page has colour and is printed in grayscale. If missing, it is noted where pages are read for something
    /// else.
    pub color: Option<WrittenAttention>,
    /// All the PDF says is that another program is needed. `hold` if missing.
    pub placeholder: Option<WrittenAttention>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum WrittenAttention {
    Off,
    Note,
    Hold,
}

/// A rectangle on a page, from its left and its top: `{left: 20mm, top: 40mm, width: 90mm, height: 45mm}`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenArea {
    pub left: Millimetres,
    pub top: Millimetres,
    pub width: Millimetres,
    pub height: Millimetres,
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
    /// The total number of pages that is required.
    pub pages: Option<u32>,
}
