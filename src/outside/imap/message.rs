//! A mail as it lies in a mailbox: its header, and the PDFs in it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use encoding_rs::Encoding;
use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders as _, PartType};
use percent_encoding::percent_decode_str;
use regex::Regex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::domain::drop::showable;
use crate::domain::mailed::HeaderField;

/// The most parts that are looked at. A mail with more is refused.
const MOST_PARTS: usize = 1000;
const USUAL_NAME: &str = "document.pdf";
/// Endings of files that somebody may believe are posted.
const UNFIT: [&str; 24] = [
    "zip", "7z", "rar", "lzh", "tar", "gz", "tgz", "doc", "docx", "docm", "xls", "xlsx", "xlsm", "ppt",
    "pptx", "odt", "ods", "odp", "rtf", "tif", "tiff", "xps", "p7m", "eml",
];
const UNFIT_TYPES: [(&str, &str); 8] = [
    ("application", "zip"),
    ("application", "x-zip-compressed"),
    ("application", "ms-tnef"),
    ("application", "pkcs7-mime"),
    ("application", "x-pkcs7-mime"),
    ("application", "msword"),
    ("message", "partial"),
    ("message", "external-body"),
];
/// The beginnings of addresses at which nobody reads an answer.
const UNREAD: [&str; 7] =
    ["mailer-daemon", "postmaster", "no-reply", "noreply", "no_reply", "donotreply", "do-not-reply"];

/// A mail that was read.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailMessage {
    pub header: Vec<HeaderField>,
    /// All addresses in its `From`, in lower case.
    pub from: Vec<String>,
    /// The only address in its only `From`.
    pub sender: Option<String>,
    pub message_id: Option<String>,
    pub subject: String,
    /// The addresses that it is for.
    pub to: Vec<String>,
    /// No person wrote it, or nobody reads an answer.
    pub is_automatic: bool,
    pub pdfs: Vec<AttachedPdf>,
    /// Something in it that is neither a PDF nor can be left out without a word.
    pub unfit: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedPdf {
    pub name: String,
    #[serde(with = "as_base64")]
    pub bytes: Vec<u8>,
}

mod as_base64 {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        BASE64_STANDARD.decode(<&str>::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// Without names, addresses and subject.
impl fmt::Debug for MailMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MailMessage").field("pdfs", &self.pdfs).finish_non_exhaustive()
    }
}

impl fmt::Debug for AttachedPdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttachedPdf").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl MailMessage {
    fn empty(header: Vec<HeaderField>) -> Self {
        Self {
            header,
            from: Vec::new(),
            sender: None,
            message_id: None,
            subject: String::new(),
            to: Vec::new(),
            is_automatic: true,
            pdfs: Vec::new(),
            unfit: None,
        }
    }

    /// A mail of which only the header is read, so that its sender is answered.
    pub(super) fn unreadable(raw: &[u8]) -> Self {
        let header = || MessageParser::default().parse_headers(raw);
        let message = std::panic::catch_unwind(header).ok().flatten();
        let read =
            message.map_or_else(|| Self::empty(header_of(raw)), |message| Self::by_header(raw, &message));
        Self { unfit: Some("?".to_owned()), ..read }
    }

    /// Reads a mail. Whatever cannot be read in it is not in it. A mail from a stranger may end the process: see
    /// [`Self::read_apart`].
    pub fn read(raw: &[u8]) -> Self {
        let Some(message) = MessageParser::default().parse(raw).filter(|message| !message.parts.is_empty())
        else {
            return Self::empty(header_of(raw));
        };
        let mut found = Found::default();
        found.look_at(&message);
        Self { pdfs: found.pdfs, unfit: found.unfit, ..Self::by_header(raw, &message) }
    }

    fn by_header(raw: &[u8], message: &Message<'_>) -> Self {
        let header = header_of(raw);
        let addresses = |name: &str| addresses_of(message, name);
        let from = addresses("From");
        let is_one = header.iter().filter(|field| field.name == "from").count() == 1 && from.len() == 1;
        let sender = from.first().filter(|address| is_one && is_plain(address)).cloned();
        let mut to: Vec<String> = ["To", "Cc"].into_iter().flat_map(addresses).collect();
        to.extend(delivered_to(&header));
        to.sort_unstable();
        to.dedup();
        Self {
            is_automatic: is_automatic(&header, &from),
            sender,
            from,
            message_id: message.message_id().map(str::to_owned),
            subject: message.subject().unwrap_or_default().to_owned(),
            to,
            pdfs: Vec::new(),
            unfit: None,
            header,
        }
    }
}

/// A name that is written in several pieces (RFC 2231), some of which may end within a character.
fn name_in_pieces(header: &str) -> Option<String> {
    static PIECE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?i)\b(?:file)?name\*(\d{1,3})(\*?)=("[^"]*"|[^;\s]*)"#).ok());
    let mut pieces = BTreeMap::new();
    for found in PIECE.as_ref()?.captures_iter(header) {
        let n: u16 = found[1].parse().ok()?;
        pieces.entry(n).or_insert((!found[2].is_empty(), found[3].trim_matches('"').to_owned()));
    }
    let (mut bytes, mut label) = (Vec::new(), "utf-8".to_owned());
    for (n, (is_encoded, mut text)) in pieces {
        if n == 0
            && is_encoded
            && let [charset, _language, rest] = text.splitn(3, '\'').collect::<Vec<_>>().as_slice()
        {
            (label, text) = ((*charset).to_owned(), (*rest).to_owned());
        }
        if is_encoded {
            bytes.extend(percent_decode_str(&text));
        } else {
            bytes.extend(text.bytes());
        }
    }
    let (name, _, has_errors) = Encoding::for_label(label.as_bytes())?.decode(&bytes);
    (!has_errors && !name.is_empty()).then(|| name.into_owned())
}

/// The SHA-256 of a mail's bytes.
pub fn mail_hash(raw: &[u8]) -> String {
    hex::encode(Sha256::digest(raw))
}

#[derive(Default)]
struct Found {
    pdfs: Vec<AttachedPdf>,
    unfit: Option<String>,
}

impl Found {
    fn look_at(&mut self, message: &Message<'_>) {
        if message.parts.len() > MOST_PARTS {
            self.unfit = Some(format!("{} parts", message.parts.len()));
            return;
        }
        for part in &message.parts {
            if let PartType::Multipart(_) = part.body {
                continue;
            }
            let name = part.attachment_name().map(str::trim).unwrap_or_default();
            // Whoever reads each piece by itself finds halves of characters.
            let whole = name.contains(char::REPLACEMENT_CHARACTER).then(|| {
                let (from, to) = (part.offset_header as usize, part.offset_body as usize);
                name_in_pieces(&String::from_utf8_lossy(message.raw_message().get(from..to)?))
            });
            let whole = whole.flatten();
            let name = whole.as_deref().unwrap_or(name);
            let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default();
            let is = |(kind, sub): (&str, &str)| part.is_content_type(kind, sub);
            // Scanners and telephones give a PDF neither an ending nor its kind.
            let begins = part.contents().starts_with(b"%PDF-");
            if begins || ending == "pdf" || is(("application", "pdf")) || is(("application", "x-pdf")) {
                let name = if name.is_empty() { USUAL_NAME } else { name };
                self.pdfs.push(AttachedPdf { name: name.to_owned(), bytes: part.contents().to_vec() });
            } else if UNFIT.contains(&ending.as_str())
                || UNFIT_TYPES.into_iter().any(is)
                || ending == "dat" && name.eq_ignore_ascii_case("winmail.dat")
            {
                self.unfit.get_or_insert_with(|| unfit_name(part, name));
            } else if let PartType::Message(inner) = &part.body {
                // A forwarded mail: what is in it was not necessarily meant.
                let mut inside = Self::default();
                inside.look_at(inner);
                if let Some(name) = inside.pdfs.into_iter().map(|pdf| pdf.name).next().or(inside.unfit) {
                    self.unfit.get_or_insert(name);
                }
            }
        }
    }
}

fn unfit_name(part: &MessagePart<'_>, name: &str) -> String {
    let kind = part.content_type().map_or("", |kind| kind.c_type.as_ref());
    let sub = part.content_type().and_then(|kind| kind.c_subtype.as_deref()).unwrap_or_default();
    if name.is_empty() { showable(&format!("{kind}/{sub}")) } else { showable(name) }
}

/// The fields of a header, folded lines joined. It is read by itself, and not by whoever reads the parts, so that
/// nothing is missing that a mail server sees.
fn header_of(raw: &[u8]) -> Vec<HeaderField> {
    let mut fields: Vec<HeaderField> = Vec::new();
    for line in raw.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
        if line.is_empty() {
            break;
        }
        if line.starts_with([' ', '\t']) {
            if let Some(last) = fields.last_mut() {
                last.value.push(' ');
                last.value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push(HeaderField { name: name.trim().to_lowercase(), value: value.trim().to_owned() });
        }
    }
    fields
}

/// For whom the mail server itself put it into the mailbox. What stands below the first `Received` came with the mail.
fn delivered_to(header: &[HeaderField]) -> impl Iterator<Item = String> {
    let above = header.iter().take_while(|field| field.name != "received");
    let is_such = |field: &&HeaderField| matches!(field.name.as_str(), "delivered-to" | "x-original-to");
    above.filter(is_such).map(|field| field.value.trim_matches(['<', '>']).to_lowercase())
}

fn addresses_of(message: &Message<'_>, name: &str) -> Vec<String> {
    let values = message.header_values(name.to_owned());
    let all = values.filter_map(|value| value.as_address());
    let addresses = all.flat_map(mail_parser::Address::iter).filter_map(|address| address.address.as_deref());
    addresses.map(|address| address.trim().to_lowercase()).collect()
}

fn is_plain(address: &str) -> bool {
    address.split_once('@').is_some_and(|(local, domain)| {
        let is_atom = |c: char| !c.is_whitespace() && !c.is_control() && !"<>()[]\\,;:\"@".contains(c);
        !local.is_empty()
            && local.chars().all(is_atom)
            && !domain.is_empty()
            && domain.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-')
    })
}

fn is_automatic(header: &[HeaderField], from: &[String]) -> bool {
    let says = |field: &HeaderField| {
        let value = field.value.to_lowercase();
        match field.name.as_str() {
            "auto-submitted" => !value.starts_with("no"),
            "precedence" => ["bulk", "list", "junk", "auto_reply"].contains(&value.as_str()),
            "return-path" => value == "<>",
            "content-type" => value.starts_with("multipart/report"),
            "x-auto-response-suppress" | "x-autoreply" | "feedback-id" => true,
            name => name.starts_with("list-"),
        }
    };
    header.iter().any(says) || from.iter().any(|from| UNREAD.iter().any(|unread| from.starts_with(unread)))
}
