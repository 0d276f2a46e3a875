//! What is to be posted: decided at admission and never changed afterwards.
//!
//! [`Order::problems`] rejects what the service would reject, so that an admitted letter can be created.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::print_note::PrintNote;
use super::problem::OrderProblem;
use crate::base::clock::Time;
use crate::domain::address::{Address, Misplaced, PlaceDoubt, Receiver, Wrong};

pub const DOCUMENTS_PER_LETTER: usize = 10;
pub const LARGEST_DOCUMENT: u64 = 10_000_000;
pub const PAGES_PER_DOCUMENT: u32 = 2000;
pub const SHEETS_PER_LETTER: u32 = 995;
/// The only paper size that the service has.
pub const PAPER: &str = "a4";

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Order {
    /// The name of the account in the configuration that pays for it.
    pub account: String,
    /// Where it came from, in words that people know: a folder, or the name of a command.
    pub source: String,
    pub shipping: Shipping,
    pub sender: Address,
    pub receiver: Receiver,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_letterpack: Option<ReplyLetterpack>,
    /// The posting time: the letter waits until then, to be posted together with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Time>,
    /// The PDFs as printed are fetched and placed beside the original.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sealed_pdf: bool,
    /// The cost centre that reports list it under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_centre: Option<String>,
    /// Differences between the pages and what the printer makes of them, as people read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub print_notes: Vec<PrintNote>,
    /// What is doubtful about the receiver's postal code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place_doubt: Option<PlaceDoubt>,
    pub documents: Vec<Document>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shipping {
    pub method: Method,
    /// Only with the method `normal`, each at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ShippingOption>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    Normal,
    LetterpackLite,
    LetterpackPlus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShippingOption {
    Express,
    Trackable,
    SimpleRegistered,
    NormalRegistered,
}

impl ShippingOption {
    pub const ALL: [Self; 4] =
        [Self::Express, Self::Trackable, Self::SimpleRegistered, Self::NormalRegistered];
}

impl Method {
    pub const ALL: [Self; 3] = [Self::Normal, Self::LetterpackLite, Self::LetterpackPlus];

    /// The service's word for it. The same holds for the functions below.
    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::LetterpackLite => "letterpack-lite",
            Self::LetterpackPlus => "letterpack-plus",
        }
    }
}

impl ShippingOption {
    pub fn word(self) -> &'static str {
        match self {
            Self::Express => "express",
            Self::Trackable => "trackable",
            Self::SimpleRegistered => "simple-registered",
            Self::NormalRegistered => "normal-registered",
        }
    }
}

impl Shipping {
    /// Whether a tracking number is expected.
    pub fn is_trackable(&self) -> bool {
        match self.method {
            Method::LetterpackLite | Method::LetterpackPlus => true,
            Method::Normal => self.options.iter().any(|option| match option {
                ShippingOption::Trackable
                | ShippingOption::SimpleRegistered
                | ShippingOption::NormalRegistered => true,
                ShippingOption::Express => false,
            }),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReplyLetterpack {
    /// The address of the sender. Without it the service uses its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
}

/// One PDF of a letter, as it lies in the spool.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Document {
    /// The name it had when it was dropped. It is shown, and never used as a path.
    pub name: String,
    pub size: u64,
    pub pages: u32,
    pub sha256: String,
    pub print: Print,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Print {
    #[serde(default)]
    pub color: Color,
    #[serde(default)]
    pub duplex: Duplex,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staple: Option<Staple>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bind: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Color {
    #[default]
    Grayscale,
    Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    #[default]
    Double,
    Single,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Staple {
    TopLeft,
}

impl Color {
    pub fn word(self) -> &'static str {
        match self {
            Self::Grayscale => "grayscale",
            Self::Color => "color",
        }
    }
}

impl Duplex {
    pub fn word(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Single => "single",
        }
    }
}

impl Staple {
    pub fn word(self) -> &'static str {
        match self {
            Self::TopLeft => "top-left",
        }
    }
}

impl Order {
    /// The sheets of all documents together, as the service counts them: splitting a document does not change it.
    pub fn sheets(&self) -> u32 {
        let pages = |duplex: Duplex| {
            let printed = self.documents.iter().filter(|document| document.print.duplex == duplex);
            printed.map(|document| document.pages).fold(0, u32::saturating_add)
        };
        pages(Duplex::Double).div_ceil(2).saturating_add(pages(Duplex::Single))
    }

    /// What the service would reject.
    pub fn problems(&self) -> Vec<OrderProblem> {
        let mut problems: Vec<OrderProblem> =
            self.sender.problems().into_iter().map(OrderProblem::Sender).collect();
        problems.extend(self.receiver.problems().into_iter().map(OrderProblem::Receiver));
        if let Some(address) = self.reply_letterpack.as_ref().and_then(|pack| pack.address.as_ref()) {
            problems.extend(address.problems().into_iter().map(OrderProblem::Reply));
        }
        problems.extend(self.shipping.problems());
        let documents = self.documents.len();
        if documents == 0 || documents > DOCUMENTS_PER_LETTER {
            problems.push(OrderProblem::Documents(documents));
        }
        for (index, document) in self.documents.iter().enumerate() {
            problems.extend(document.problems(index));
        }
        if self.sheets() > SHEETS_PER_LETTER {
            problems.push(OrderProblem::Sheets(self.sheets()));
        }
        problems
    }

    /// Whether the receiver was removed from the order.
    pub fn is_anonymous(&self) -> bool {
        self.receiver.address.name.is_empty()
    }

    /// Why a person must look at its postal code.
    pub fn misplaced(&self) -> Option<&Misplaced> {
        self.place_doubt.as_ref().filter(|doubt| doubt.holds).map(|doubt| &doubt.what)
    }

    /// What the service accepts although it may be wrong.
    pub fn doubts(&self) -> Vec<String> {
        let sender = self.sender.doubts().into_iter().map(OrderProblem::Sender);
        // The receiver's city was compared with the newest list there is.
        let receiver = self.receiver.address.doubts().into_iter();
        let receiver = receiver.filter(|doubt| !matches!(doubt.wrong, Wrong::OtherCity(_)));
        let doubts = sender.chain(receiver.map(OrderProblem::Receiver)).map(|doubt| doubt.to_string());
        doubts.chain(self.place_doubt.iter().map(ToString::to_string)).collect()
    }

    /// The order without its receiver and without file names, which may contain the receiver.
    #[must_use]
    pub fn struck(&self) -> Self {
        let nobody = String::new;
        let address = Address {
            postal_code: nobody(),
            state: nobody(),
            city: nobody(),
            address1: nobody(),
            name: nobody(),
        };
        let receiver = Receiver { address, honorific: nobody() };
        let nameless = |document: &Document| Document { name: nobody(), ..document.clone() };
        Self {
            receiver,
            place_doubt: None,
            documents: self.documents.iter().map(nameless).collect(),
            ..self.clone()
        }
    }
}

impl Shipping {
    pub(crate) fn problems(&self) -> Vec<OrderProblem> {
        let mut problems = Vec::new();
        if !self.options.is_empty() && self.method != Method::Normal {
            problems.push(OrderProblem::OptionsWithoutNormal);
        }
        if self.options.iter().enumerate().any(|(n, option)| self.options[..n].contains(option)) {
            problems.push(OrderProblem::OptionTwice);
        }
        let registered = [ShippingOption::SimpleRegistered, ShippingOption::NormalRegistered];
        if registered.iter().all(|option| self.options.contains(option)) {
            problems.push(OrderProblem::BothRegistered);
        }
        problems
    }
}

impl Document {
    /// `index` is the place of the document in its letter, from 0.
    fn problems(&self, index: usize) -> Vec<OrderProblem> {
        let mut problems = Vec::new();
        if self.size == 0 || self.size > LARGEST_DOCUMENT {
            problems.push(OrderProblem::Size(index, self.size));
        }
        if self.pages == 0 || self.pages > PAGES_PER_DOCUMENT {
            problems.push(OrderProblem::Pages(index, self.pages));
        }
        if self.print.staple.is_some() && self.print.bind {
            problems.push(OrderProblem::StapledAndBound(index));
        }
        problems
    }
}
