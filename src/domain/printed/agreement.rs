//! Whether what is printed agrees with the envelope.
//!
//! Asked in this order, so that the strongest sign decides: the address block, the receiver elsewhere on the page,
//! another receiver of the address book, the pages after the first.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::block::{code_of, codes_of, honorific_of};
use super::named::{Person, Spaced, folded_name};
use super::{Addressee, Area, Block, Printed, PrintedPage, block_in, blocks};
use crate::domain::address::{Address, Receiver};
use crate::domain::address_book::AddressBook;

/// A key of the address book of fewer characters may stand on a page by chance.
const SHORTEST_KEY: usize = 5;
/// What follows an amount.
const COUNTERS: [&str; 8] = ["円", "枚", "個", "点", "件", "本", "台", "名"];
/// Offices to which forms are addressed that a letter may have behind its first page.
const OFFICES: [&str; 10] =
    ["市長", "区長", "町長", "村長", "知事", "署長", "局長", "大臣", "校長", "裁判所"];
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
    /// Two engines count different numbers of pages.
    OtherCount,
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "nothing on page 1 can be read",
            Self::NobodyFound => "no address was found on page 1",
            Self::OtherCount => "its pages are counted in two ways",
            Self::Partly => "only a part of the receiver was found on page 1",
        })
    }
}

/// Compares a document with its envelope.
pub fn compare(printed: &Printed, envelope: &PaperEnvelope<'_>) -> PageAgreement {
    let known = Known::of(envelope);
    let first = printed.pages.first().filter(|page| page.is_readable());
    let block = first.and_then(|first| addressed(first, envelope, &known));
    let place = block.as_ref().map(|block| block.area);
    let of_first = match first {
        Some(first) => known.first_page(first, block.as_ref()),
        None => PageAgreement::CannotTell(Unclear::Unreadable),
    };
    if matches!(of_first, PageAgreement::Contradicts(_)) {
        return of_first;
    }
    for (index, page) in printed.pages.iter().enumerate().skip(1) {
        let found = if envelope.area.is_some() {
            // Whatever else stands there is text that goes on.
            let is_address = |block: &Block| {
                block.addressee.postal_code.is_some() || honorific_of(&block.addressee.name).is_some()
            };
            addressed(page, envelope, &known).filter(is_address)
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

/// The block with the addressee of a page: the one in the configured area, or else the first with a postal code, or
/// else the first in the upper part. Blocks of the sender are left out. If another person's name stands above the
/// receiver's block, that name is the addressee, and the block below is a delivery address or the subject.
fn addressed(page: &PrintedPage, envelope: &PaperEnvelope<'_>, known: &Known<'_>) -> Option<Block> {
    if let Some(area) = &envelope.area {
        return block_in(page, area).filter(|block| !known.is_senders(block));
    }
    let mut all = blocks(page);
    all.retain(|block| !known.is_senders(block));
    let with_code = all.iter().position(|block| block.addressee.postal_code.is_some());
    let upper = |block: &Block| block.area.top < page.height * UPPER_PART;
    let above = with_code.and_then(|at| {
        let top = all.get(at)?.area.top;
        let is_above = |block: &Block| block.area.top + block.area.height <= top && upper(block);
        all.iter().take(at).position(|block| is_above(block) && known.is_stranger(block))
    });
    let chosen = above.or(with_code).or_else(|| all.iter().position(upper))?;
    Some(all.swap_remove(chosen))
}

/// The receiver and the sender, as they are compared.
struct Known<'a> {
    receiver: Person<'a>,
    sender: Person<'a>,
    book: Option<&'a AddressBook>,
}

impl<'a> Known<'a> {
    fn of(envelope: &PaperEnvelope<'a>) -> Self {
        Self {
            receiver: Person::of(&envelope.receiver.address),
            sender: Person::of(envelope.sender),
            book: envelope.book,
        }
    }

    /// Whether a block is the sender's own: its name is the sender's, or somebody's at the sender's address, or
    /// that of a department below the sender's name.
    fn is_senders(&self, block: &Block) -> bool {
        let (text, name) = (Spaced::of(&block.text), Spaced::of(&block.addressee.name));
        // Somebody who writes to their own company, or the same building, is not the sender.
        if self.receiver.is_named_in(&text) || !self.sender.is_named_in(&text) {
            return false;
        }
        let honorific = honorific_of(&block.addressee.name).map(|(_, honorific)| honorific);
        let is_department = match block.addressee.postal_code.as_deref() {
            Some(code) => code == self.sender.postal_code,
            None => matches!(honorific, Some("御中" | "宛")),
        };
        is_department || self.sender.is_named_in(&name)
    }

    /// Whether a name is a part of the receiver's, as in a salutation.
    fn is_part_of_receiver(&self, block: &Block) -> bool {
        let name = block.addressee.name.as_str();
        let name = folded_name(honorific_of(name).map_or(name, |(name, _)| name));
        !name.as_str().is_empty() && self.receiver.name.as_str().contains(name.as_str())
    }

    /// Whether a block names somebody who is neither the receiver nor the sender.
    fn is_stranger(&self, block: &Block) -> bool {
        let is_named = self.receiver.is_named_in(&Spaced::of(&block.text));
        !is_named && !self.is_part_of_receiver(block) && !self.is_senders(block)
    }

    /// Whether a block is neither the receiver's nor the sender's.
    fn is_somebody_else(&self, block: &Block) -> bool {
        let is_named = self.receiver.is_named_in(&Spaced::of(&block.text));
        let other_code =
            block.addressee.postal_code.as_deref().is_some_and(|code| code != self.receiver.postal_code);
        (!is_named || other_code) && !self.is_senders(block)
    }

    fn first_page(&self, page: &PrintedPage, block: Option<&Block>) -> PageAgreement {
        let text = page.text();
        let folded = Spaced::of(&text);
        let codes: Vec<String> = page.lines.iter().flat_map(|line| codes_of(&line.text)).collect();
        let has_code = codes.iter().any(|code| code == self.receiver.postal_code);
        let has_name = self.receiver.is_named_in(&folded);
        if let Some(block) = block {
            return self.of_block(block, has_code);
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

    /// The verdict on an address block. `has_code` is of the whole page.
    fn of_block(&self, block: &Block, has_code: bool) -> PageAgreement {
        let is_named = self.receiver.is_named_in(&Spaced::of(&block.text));
        let is_part = self.is_part_of_receiver(block);
        let contradicts =
            || PageAgreement::Contradicts(PageContradiction { page: 1, addressee: block.addressee.clone() });
        match block.addressee.postal_code.as_deref() {
            Some(code) if code == self.receiver.postal_code => match (is_named, is_part) {
                (true, _) => PageAgreement::Agrees,
                (false, true) => PageAgreement::CannotTell(Unclear::Partly),
                // Somebody at the same address, even if the receiver is somewhere on the page.
                (false, false) => contradicts(),
            },
            Some(_other) => contradicts(),
            None if is_named && has_code => PageAgreement::Agrees,
            None if is_named || is_part => PageAgreement::CannotTell(Unclear::Partly),
            None => contradicts(),
        }
    }

    /// Another receiver of the address book whose name or key stands on the page.
    fn another_of_the_book(&self, page: &PrintedPage, text: &Spaced, codes: &[String]) -> Option<Addressee> {
        let words: Vec<&str> = page.lines.iter().flat_map(|line| line.text.split_whitespace()).collect();
        // 10000 円 is an amount.
        let counts =
            |next: Option<&&str>| next.is_some_and(|next| COUNTERS.iter().any(|unit| next.starts_with(unit)));
        let stands_alone = |key: &str| {
            let is_there = |(at, word): (usize, &&str)| *word == key && !counts(words.get(at + 1));
            key.chars().count() >= SHORTEST_KEY && words.iter().enumerate().any(is_there)
        };
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
            let name = honorific_of(&block.addressee.name).map_or("", |(name, _)| name.trim_end());
            let is_labelled = name.split_whitespace().next().is_some_and(|word| word.ends_with('者'));
            let is_office = OFFICES.iter().any(|office| name.ends_with(office));
            let is_form = block.addressee.postal_code.is_none() && (is_office || is_labelled);
            (at_the_place || at_the_top) && !is_form && !self.is_senders(block)
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
