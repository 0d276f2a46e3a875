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

/// A person's postal code and the words of the name.
struct Person<'a> {
    postal_code: &'a str,
    name: Folded,
    words: Vec<Folded>,
}

impl<'a> Person<'a> {
    fn of(address: &'a Address) -> Self {
        let words = address.name.split_whitespace().map(folded_name);
        Self {
            postal_code: &address.postal_code,
            name: folded_name(&address.name),
            words: words.filter(|word| !word.as_str().is_empty()).collect(),
        }
    }

    /// Whether a text has the name, or its words in several places: a company and a person on two lines. What is
    /// only a part of a longer name is not the name.
    fn is_named_in(&self, text: &Spaced) -> bool {
        let mut left = self.words.as_slice();
        while !left.is_empty() {
            let begins = |count: &usize| {
                let name: String = left.iter().take(*count).map(Folded::as_str).collect();
                let is_long = name.chars().count() >= 2 || self.words.len() == 1;
                is_long && text.has(&name)
            };
            let Some(count) = (1..=left.len()).rev().find(begins) else { return false };
            left = left.get(count..).unwrap_or_default();
        }
        !self.words.is_empty()
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

/// A text in one spelling without spaces, and where its words begin.
struct Spaced {
    characters: Vec<char>,
    begins: Vec<bool>,
}

/// What may stand right before a name.
const BEFORE: &str = "部課室係店所社会長役局院校園館団員方様殿中者先名";
/// What may follow a name at once, in one spelling: ノ and ケ are の and が.
#[rustfmt::skip]
const AFTER: [&str; 19] = [
    "様", "御中", "殿", "先生", "さま", "宛", "行", "方", "氏", "株式会社", "有限会社", "合同会社", "ノ", "は", "ケ", "に",
    "へ", "を", "と",
];

impl Spaced {
    fn of(text: &str) -> Self {
        let mut spaced = Self { characters: Vec::new(), begins: Vec::new() };
        for word in text.split_whitespace().map(folded_name) {
            for (index, c) in word.as_str().chars().enumerate() {
                spaced.characters.push(c);
                spaced.begins.push(index == 0);
            }
        }
        spaced
    }

    /// Whether the name stands there, and not within a longer one.
    fn has(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let places = self.characters.windows(name.len().max(1)).enumerate();
        places
            .filter(|(_, window)| *window == name.as_slice())
            .any(|(at, _)| self.is_apart(at, at + name.len()))
    }

    fn is_apart(&self, start: usize, end: usize) -> bool {
        let is_word = |at: usize| self.begins.get(at).copied().unwrap_or(true);
        let before = start.checked_sub(1).and_then(|at| self.characters.get(at));
        let may_precede = |c: &char| !c.is_alphabetic() || BEFORE.contains(*c);
        let rest = self.characters.get(end..).unwrap_or_default();
        let follows = |word: &&str| word.chars().eq(rest.iter().take(word.chars().count()).copied());
        let may_follow = rest.first().is_none_or(|c| !c.is_alphabetic()) || AFTER.iter().any(follows);
        (is_word(start) || before.is_none_or(may_precede)) && (is_word(end) || may_follow)
    }
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
        let is_named = self.sender.is_named_in(&Spaced::of(&block.text));
        // Somebody who writes to their own company, or the same building, is not the sender.
        let is_receivers = self.receiver.is_named_in(&Spaced::of(&block.text));
        !is_receivers && is_named && (has_code || block.addressee.postal_code.is_none())
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
        let is_named = self.receiver.is_named_in(&Spaced::of(&block.text));
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
    fn another_of_the_book(&self, page: &PrintedPage, text: &Spaced, codes: &[String]) -> Option<Addressee> {
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
