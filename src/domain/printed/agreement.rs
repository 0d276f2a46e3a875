//! Whether what is printed agrees with the envelope.
//!
//! Asked in this order, so that the strongest sign decides: the address block, the receiver elsewhere on the page,
//! another receiver of the address book, the pages after the first.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::block::{code_of, codes_of};
use super::{Addressee, Area, Block, Printed, PrintedPage, block_in, blocks};
use crate::domain::address::{Address, Folded, Receiver, fold};
use crate::domain::address_book::AddressBook;

/// A name of fewer characters agrees with nothing by itself.
const SHORTEST_NAME: usize = 3;
/// A key of the address book of fewer characters may stand on a page by chance.
const SHORTEST_KEY: usize = 5;
/// A block without a postal code counts only in this part of the page from its top.
const UPPER_PART: f32 = 0.45;
/// A block on a later page begins another letter if it is this near to the place of the first.
const SAME_PLACE: f32 = 20.0;

/// Whom the envelope is for.
#[derive(Debug, Clone, Copy)]
pub struct PaperEnvelope<'a> {
    pub receiver: &'a Receiver,
    pub sender: &'a Address,
    /// The other people to whom it might belong.
    pub book: Option<&'a AddressBook>,
    /// Where the address block is, if the folder says so.
    pub area: Option<Area>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageAgreement {
    Agrees,
    Contradicts(PageContradiction),
    CannotTell(Unclear),
}

/// The page and the envelope are for different people.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageContradiction {
    /// Counted from 1.
    pub page: u32,
    pub addressee: Addressee,
}

impl fmt::Debug for PageContradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageContradiction").field("page", &self.page).finish_non_exhaustive()
    }
}

/// Why it cannot be told whether they agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unclear {
    /// Nothing on the first page can be read: a scan, or fonts that do not say which characters they draw.
    Unreadable,
    /// There is text, and neither the receiver nor anybody else was found.
    NobodyFound,
    /// Something of the receiver was found, but not enough.
    Partly,
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "nothing on page 1 can be read",
            Self::NobodyFound => "no address was found on page 1",
            Self::Partly => "only a part of the receiver was found on page 1",
        })
    }
}

/// Compares a document with its envelope.
pub fn compare(printed: &Printed, envelope: &PaperEnvelope<'_>) -> PageAgreement {
    let Some(first) = printed.pages.first().filter(|page| page.is_readable()) else {
        return PageAgreement::CannotTell(Unclear::Unreadable);
    };
    let known = Known::of(envelope);
    let block = addressed(first, envelope, &known);
    let place = block.as_ref().map(|block| block.area);
    let of_first = known.first_page(first, block.as_ref());
    if matches!(of_first, PageAgreement::Contradicts(_)) {
        return of_first;
    }
    for (index, page) in printed.pages.iter().enumerate().skip(1) {
        let found = if envelope.area.is_some() {
            addressed(page, envelope, &known)
        } else {
            known.begins(page, place)
        };
        if let Some(block) = found.filter(|block| known.is_somebody_else(block)) {
            let page = u32::try_from(index + 1).unwrap_or(u32::MAX);
            return PageAgreement::Contradicts(PageContradiction { page, addressee: block.addressee });
        }
    }
    of_first
}

/// The block that says whom a page is for: in the configured area, or the first with a postal code, or the first in
/// the upper part. The sender's own is none.
fn addressed(page: &PrintedPage, envelope: &PaperEnvelope<'_>, known: &Known<'_>) -> Option<Block> {
    if let Some(area) = &envelope.area {
        return block_in(page, area).filter(|block| !known.is_senders(block));
    }
    let mut all = blocks(page);
    all.retain(|block| !known.is_senders(block));
    let with_code = all.iter().position(|block| block.addressee.postal_code.is_some());
    let upper = |block: &Block| block.area.top < page.height * UPPER_PART;
    let chosen = with_code.or_else(|| all.iter().position(upper))?;
    Some(all.swap_remove(chosen))
}

/// The receiver and the sender, as they are compared.
struct Known<'a> {
    receiver: Person<'a>,
    sender: Person<'a>,
    book: Option<&'a AddressBook>,
}

/// A person's postal code and the parts of the name.
struct Person<'a> {
    postal_code: &'a str,
    name: Folded,
    parts: Vec<Folded>,
}

impl<'a> Person<'a> {
    fn of(address: &'a Address) -> Self {
        let parts = address.name.split_whitespace().map(folded_name);
        Self {
            postal_code: &address.postal_code,
            name: folded_name(&address.name),
            parts: parts.filter(|part| !part.as_str().is_empty()).collect(),
        }
    }

    /// Whether a text has the name: whole, or each of its parts, as a company and a person on two lines.
    fn is_named_in(&self, text: &Folded) -> bool {
        let text = text.as_str();
        let whole = self.name.as_str();
        if whole.is_empty() {
            return false;
        }
        let in_parts = || {
            let long = |part: &Folded| part.as_str().chars().count() >= 2;
            self.parts.len() > 1 && self.parts.iter().all(|part| long(part) && text.contains(part.as_str()))
        };
        text.contains(whole) || in_parts()
    }

    /// Whether the name is long enough to count by itself.
    fn is_distinct(&self) -> bool {
        self.name.as_str().chars().count() >= SHORTEST_NAME
    }
}

/// A name without what kind of company it is, which is written in several ways.
fn folded_name(name: &str) -> Folded {
    let folded = fold(name);
    let mut text = folded.as_str().to_owned();
    for (short, long) in
        [("(株)", "株式会社"), ("(有)", "有限会社"), ("(同)", "合同会社"), ("(財)", "財団法人")]
    {
        text = text.replace(short, long);
    }
    fold(&text)
}

impl<'a> Known<'a> {
    fn of(envelope: &PaperEnvelope<'a>) -> Self {
        Self {
            receiver: Person::of(&envelope.receiver.address),
            sender: Person::of(envelope.sender),
            book: envelope.book,
        }
    }

    fn is_senders(&self, block: &Block) -> bool {
        let has_code = block.addressee.postal_code.as_deref() == Some(self.sender.postal_code);
        let is_named = self.sender.is_named_in(&folded_name(&block.text));
        // Somebody who writes to their own company, or the same building, is not the sender.
        let is_receivers = self.receiver.is_named_in(&folded_name(&block.text));
        !is_receivers && is_named && (has_code || block.addressee.postal_code.is_none())
    }

    /// Whether a block is neither the receiver's nor the sender's.
    fn is_somebody_else(&self, block: &Block) -> bool {
        let is_named = self.receiver.is_named_in(&folded_name(&block.text));
        let other_code =
            block.addressee.postal_code.as_deref().is_some_and(|code| code != self.receiver.postal_code);
        (!is_named || other_code) && !self.is_senders(block)
    }

    fn first_page(&self, page: &PrintedPage, block: Option<&Block>) -> PageAgreement {
        let text = page.text();
        let folded = folded_name(&text);
        let codes: Vec<String> = page.lines.iter().flat_map(|line| codes_of(&line.text)).collect();
        let has_code = codes.iter().any(|code| code == self.receiver.postal_code);
        let has_name = self.receiver.is_named_in(&folded);
        if let Some(block) = block {
            return self.of_block(block, has_code, has_name);
        }
        match (has_code, has_name) {
            (true, true) => PageAgreement::Agrees,
            (true, false) | (false, true) => PageAgreement::CannotTell(Unclear::Partly),
            (false, false) => match self.another_of_the_book(page, &folded, &codes) {
                Some(addressee) => PageAgreement::Contradicts(PageContradiction { page: 1, addressee }),
                None => PageAgreement::CannotTell(Unclear::NobodyFound),
            },
        }
    }

    /// The verdict on an address block. `has_name` and `has_code` are of the whole page.
    fn of_block(&self, block: &Block, has_code: bool, has_name: bool) -> PageAgreement {
        let is_named = self.receiver.is_named_in(&folded_name(&block.text));
        let contradicts =
            || PageAgreement::Contradicts(PageContradiction { page: 1, addressee: block.addressee.clone() });
        match block.addressee.postal_code.as_deref() {
            Some(code) if code == self.receiver.postal_code => match (is_named, has_name) {
                (true, _) => PageAgreement::Agrees,
                // Somebody at the same address, and the receiver is somewhere on the page.
                (false, true) => PageAgreement::CannotTell(Unclear::Partly),
                (false, false) => contradicts(),
            },
            Some(_other) => contradicts(),
            None if is_named && has_code => PageAgreement::Agrees,
            None if is_named || has_name => PageAgreement::CannotTell(Unclear::Partly),
            None => contradicts(),
        }
    }

    /// Another receiver of the address book whose name or key stands on the page.
    fn another_of_the_book(&self, page: &PrintedPage, text: &Folded, codes: &[String]) -> Option<Addressee> {
        let words = || page.lines.iter().flat_map(|line| line.text.split_whitespace());
        let stands_alone = |key: &str| key.chars().count() >= SHORTEST_KEY && words().any(|word| word == key);
        self.book?.receivers().find_map(|(key, receiver)| {
            let other = Person::of(&receiver.address);
            if other.name == self.receiver.name || other.name == self.sender.name {
                return None;
            }
            let has_code = codes.iter().any(|code| code == other.postal_code);
            let is_named = other.is_distinct() && other.is_named_in(text);
            (is_named || stands_alone(key)).then(|| Addressee {
                postal_code: has_code.then(|| other.postal_code.to_owned()),
                name: format!("{} {}", receiver.address.name, receiver.honorific),
            })
        })
    }

    /// A block on a later page where the first page has its own, or one with a postal code at the top.
    fn begins(&self, page: &PrintedPage, place: Option<Area>) -> Option<Block> {
        blocks(page).into_iter().find(|block| {
            let at_the_place = place.is_some_and(|place| {
                (place.left - block.area.left).abs() < SAME_PLACE
                    && (place.top - block.area.top).abs() < SAME_PLACE
            });
            let at_the_top =
                block.addressee.postal_code.is_some() && block.area.top < page.height * UPPER_PART;
            (at_the_place || at_the_top) && !self.is_senders(block)
        })
    }
}

/// What a document says of its addressee, for people: 〒530-0001 … 山本商事 御中.
impl fmt::Display for Addressee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((area, town)) = self.postal_code.as_deref().and_then(|code| code.split_at_checked(3)) {
            write!(f, "〒{area}-{town} … ")?;
        }
        // A code and an address may stand before the name on its line.
        let name = self.name.trim();
        let short = if code_of(name).is_some() { name.rsplit("  ").next().unwrap_or(name) } else { name };
        f.write_str(short)
    }
}

#[cfg(test)]
#[path = "agreement_tests.rs"]
mod tests;
