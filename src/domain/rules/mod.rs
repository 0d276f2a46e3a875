//! A folder's rules and the facts of a drop: the first rule whose conditions all hold decides.
//!
//! Pure. Besides the decision it gives the verdict of each condition and the source of the address.

mod explain;
mod key;
mod past;
mod route;

use std::sync::Arc;

use chrono::{NaiveDateTime, NaiveTime, Weekday};
use regex::Regex;

pub use explain::{Checked, Explanation, Tried};
pub use key::fill;
pub use past::Again;

use crate::domain::address::{Address, PlaceList, PostalData, Receiver};
use crate::domain::drop::{Refusal, Waiting};
use crate::domain::incoming::MailTags;
use crate::domain::letter::{Order, Print, ReplyLetterpack, Shipping};
use crate::domain::printed::{Area, CheckPage, CheckPrint, OtherPaper, Printed, receiver_on};

/// Everything that decides which letter a drop becomes.
#[derive(Debug)]
pub struct Rules {
    /// The folder's name, which becomes the letter's source.
    pub folder: String,
    pub account: String,
    pub cost_centre: Option<String>,
    /// Whether what is printed is compared with the envelope.
    pub check_page: Option<CheckPage>,
    /// What is looked for that may be printed otherwise than meant.
    pub check_print: CheckPrint,
    pub rules: Vec<Rule>,
}

#[derive(Debug)]
pub struct Rule {
    pub name: String,
    /// Its line in its file.
    pub line: usize,
    pub when: When,
    pub receiver: ReceiverFrom,
    pub sender: Address,
    pub shipping: Shipping,
    pub print: Print,
    pub print_files: Vec<(Arc<Regex>, Print)>,
    pub reply_letterpack: Option<ReplyLetterpack>,
}

/// Conditions, all of which must hold. Spans include both ends.
#[derive(Debug, Default)]
pub struct When {
    pub file_name: Option<Arc<Regex>>,
    pub pages: Option<(Option<u32>, Option<u32>)>,
    pub size: Option<(Option<u64>, Option<u64>)>,
    pub weekday: Option<Vec<Weekday>>,
    pub time: Option<(NaiveTime, NaiveTime)>,
    /// Something in the text of page 1.
    pub page: Option<OnPage>,
    /// For the subject of the mail that brought it.
    pub subject: Option<Arc<Regex>>,
    /// For an address that the mail is for.
    pub to: Option<Arc<Regex>>,
}

/// A text that page 1 of the first document must have, perhaps in one place.
#[derive(Debug, Clone)]
pub struct OnPage {
    pub text: Arc<Regex>,
    pub area: Option<Area>,
}

#[derive(Debug)]
pub enum ReceiverFrom {
    Written(Receiver),
    /// A key for the address book. It may contain `{group}`s of the file name and of the page.
    Book(String),
    Sidecar,
    /// What the address block on page 1 of the first document says.
    Page(PageReceiver),
}

/// How a receiver is taken from a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageReceiver {
    /// Where the address block is. If missing, it must be the only one.
    pub area: Option<Area>,
    /// A letter to a receiver to whom the folder never posted is on hold until a person approves it.
    pub holds_strangers: bool,
}

/// What is known of a drop when it is decided.
#[derive(Debug)]
pub struct DropFacts<'a> {
    /// Its name, normalised (NFC).
    pub name: &'a str,
    pub documents: &'a [Found],
    /// When it arrived, in the folder's time zone.
    pub arrived: NaiveDateTime,
    pub sidecar: Option<&'a Sidecar>,
    /// The receivers, or why the address book cannot be used.
    pub book: Result<Option<&'a crate::domain::address_book::AddressBook>, &'a str>,
    /// The mail that brought it, if one did.
    pub mailed: Option<&'a MailTags>,
    /// What a person has accepted of it.
    pub accepted: &'a [String],
    /// The receiver that is printed on it was written to before from this folder.
    pub is_receiver_known: bool,
    /// Japan Post's list, if an administrator gave it.
    pub postal_data: Option<&'a PostalData>,
}

impl<'a> DropFacts<'a> {
    fn places(&self) -> PlaceList<'a> {
        self.postal_data.map_or_else(PlaceList::built_in, |data| PlaceList::new(data, self.arrived.date()))
    }
}

/// One PDF as it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub name: String,
    pub size: u64,
    pub pages: u32,
    pub sha256: String,
    pub paper: OtherPaper,
    /// All it says is that another program is needed.
    pub is_placeholder: bool,
    /// What is printed on its pages, if the rules ask for it.
    pub printed: Option<Printed>,
}

/// What a drop contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sidecar {
    pub receiver: Receiver,
    pub sender: Option<Address>,
    pub shipping: Option<Shipping>,
    pub print: Option<Print>,
    pub reply_letterpack: Option<ReplyLetterpack>,
    pub pages: Option<u32>,
}

impl Sidecar {
    /// Whether a letter with this order is what it asks for.
    pub fn agrees_with(&self, order: &Order) -> bool {
        let pages: u32 = order.documents.iter().map(|document| document.pages).sum();
        let asks_for = |print: &Print| order.documents.iter().all(|document| document.print == *print);
        self.receiver == order.receiver
            && self.sender.as_ref().is_none_or(|sender| *sender == order.sender)
            && self.shipping.as_ref().is_none_or(|shipping| *shipping == order.shipping)
            && (self.reply_letterpack.is_none() || self.reply_letterpack == order.reply_letterpack)
            && self.print.as_ref().is_none_or(asks_for)
            && self.pages.is_none_or(|said| said == pages)
    }
}

#[derive(Debug)]
pub enum Verdict {
    /// What will be posted, and which parts of it may be wrong.
    Send(Box<Order>, Vec<String>),
    Refuse(Refusal),
    Hold(Waiting),
}

impl Rules {
    /// Decides what becomes of a drop.
    pub fn decide(&self, facts: &DropFacts<'_>) -> Verdict {
        let fits = |rule: &&Rule| rule.when.holds(facts);
        match self.rules.iter().find(fits) {
            Some(rule) => self.apply(rule, facts).2,
            None => Verdict::Refuse(Refusal::NoRule),
        }
    }

    /// Whether the text of pages decides anything.
    pub fn read_pages(&self) -> bool {
        self.check_page.is_some()
            || self.check_print.reads_pages
            || self.match_pages()
            || self.write_to_pages()
    }

    /// Whether a rule takes the receiver from a page.
    fn write_to_pages(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule.receiver, ReceiverFrom::Page(_)))
    }

    /// The receiver that is printed on a drop, if its rule takes it from there and it can be read.
    pub fn printed_receiver(&self, facts: &DropFacts<'_>) -> Option<Receiver> {
        let rule = self.rules.iter().find(|rule| rule.when.holds(facts))?;
        let ReceiverFrom::Page(page) = &rule.receiver else { return None };
        let printed = facts.documents.first()?.printed.as_ref()?;
        receiver_on(printed, page.area, &rule.sender, facts.places()).ok()
    }

    /// The places on page 1 that a rule, or the check of pages, reads by themselves.
    pub fn areas(&self, rule: Option<usize>) -> Vec<Area> {
        let rule = rule.and_then(|rule| self.rules.get(rule));
        let matched = rule.and_then(|rule| rule.when.page.as_ref()?.area);
        let taken = rule.and_then(|rule| match &rule.receiver {
            ReceiverFrom::Page(page) => page.area,
            ReceiverFrom::Written(_) | ReceiverFrom::Book(_) | ReceiverFrom::Sidecar => None,
        });
        let checked = self.check_page.as_ref().and_then(|check| check.area);
        [matched, taken, checked].into_iter().flatten().collect()
    }

    /// Whether a rule has a condition for the text of a page.
    pub fn match_pages(&self) -> bool {
        self.rules.iter().any(|rule| rule.when.page.is_some())
    }

    /// Whether a drop of this name may need a sidecar, as far as its name shows.
    pub fn may_need_sidecar(&self, name: &str) -> bool {
        self.may_need(name, |receiver| matches!(receiver, ReceiverFrom::Sidecar))
    }

    /// Whether a drop of this name may need the address book, as far as its name shows.
    pub fn may_need_book(&self, name: &str) -> bool {
        self.may_need(name, |receiver| matches!(receiver, ReceiverFrom::Book(_)))
    }

    fn may_need(&self, name: &str, is_it: impl Fn(&ReceiverFrom) -> bool) -> bool {
        let fits = |rule: &&Rule| rule.when.file_name.as_ref().is_none_or(|regex| regex.is_match(name));
        for rule in self.rules.iter().filter(fits) {
            if is_it(&rule.receiver) {
                return true;
            }
            // A rule whose only condition is the name ends the search.
            if rule.when.is_name_only() {
                return false;
            }
        }
        false
    }
}

impl When {
    fn is_name_only(&self) -> bool {
        let Self { file_name: _, pages, size, weekday, time, page, subject, to } = self;
        let is_of_mail = subject.is_some() || to.is_some();
        !is_of_mail
            && pages.is_none()
            && size.is_none()
            && weekday.is_none()
            && time.is_none()
            && page.is_none()
    }
}
