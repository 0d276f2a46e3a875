//! Whether a text names somebody.

use super::Block;
use crate::domain::address::{Address, Folded, fold};

/// A name of fewer characters agrees with nothing by itself.
const SHORTEST_NAME: usize = 3;

/// A person's postal code and the words of the name.
pub(super) struct Person<'a> {
    pub(super) postal_code: &'a str,
    pub(super) name: Folded,
    words: Vec<Folded>,
}

impl<'a> Person<'a> {
    pub(super) fn of(address: &'a Address) -> Self {
        let words = address.name.split_whitespace().map(folded_name);
        Self {
            postal_code: &address.postal_code,
            name: folded_name(&address.name),
            words: words.filter(|word| !word.as_str().is_empty()).collect(),
        }
    }

    /// Whether a text has the name. A company and a person may stand on lines that are apart, in this order: after
    /// a word for an organisation or an office the name may go on later. What is only a part of a longer name is
    /// not the name.
    pub(super) fn is_named_in(&self, text: &Spaced) -> bool {
        let (mut left, mut from) = (self.words.as_slice(), 0);
        while !left.is_empty() {
            let found = (1..=left.len()).rev().find_map(|count| {
                let may_part = count == left.len() || left.get(count - 1).is_some_and(is_unit);
                let name: String = left.iter().take(count).map(Folded::as_str).collect();
                let is_long = name.chars().count() >= 2 || self.words.len() == 1;
                Some((count, text.find(&name, from).filter(|_| may_part && is_long)?))
            });
            let Some((count, end)) = found else { return false };
            left = left.get(count..).unwrap_or_default();
            from = end;
        }
        !self.words.is_empty()
    }

    /// Whether the name is long enough to count by itself.
    pub(super) fn is_distinct(&self) -> bool {
        self.name.as_str().chars().count() >= SHORTEST_NAME
    }
}

/// A name without what kind of company it is, which is written in several ways.
pub(super) fn folded_name(name: &str) -> Folded {
    let folded = fold(name);
    let mut text = folded.as_str().to_owned();
    for (short, long) in
        [("(株)", "株式会社"), ("(有)", "有限会社"), ("(同)", "合同会社"), ("(財)", "財団法人")]
    {
        text = text.replace(short, long);
    }
    fold(&text)
}

/// Whether a word ends the name of an organisation or of an office, so that a person's name may follow on another
/// line.
fn is_unit(word: &Folded) -> bool {
    let word = word.as_str();
    let is_long = word.chars().count() >= 3;
    UNITS.iter().any(|unit| word.contains(unit)) || (is_long && word.ends_with(|c| UNIT_ENDS.contains(c)))
}

const UNITS: [&str; 9] = ["会社", "法人", "組合", "協会", "事務所", "病院", "学校", "学園", "銀行"];
const UNIT_ENDS: &str = "会所院校園学行店部課室係局社事産業設機長役任表団館署庁省";

/// What begins at a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    Nothing,
    Word,
    Line,
}

/// A text in one spelling without spaces, and where its words and lines begin.
pub(super) struct Spaced {
    characters: Vec<char>,
    begins: Vec<Begins>,
}

/// What may stand right before a name.
const BEFORE: &str = "部課室係店所社会長役局院校園館団員方様殿中者先名";
/// What may follow a name at once, in one spelling: ノ and ケ are の and が.
#[rustfmt::skip]
const AFTER: [&str; 18] = [
    "様", "御中", "殿", "先生", "さま", "宛", "行", "氏", "株式会社", "有限会社", "合同会社", "ノ", "は", "ケ", "に",
    "へ", "を", "と",
];

/// Words after the name of a host: the addressee lives or works there (c/o).
const CARE_OF: [&str; 4] = ["様方", "方", "気付", "内"];

impl Spaced {
    pub(super) fn of(text: &str) -> Self {
        let mut spaced = Self { characters: Vec::new(), begins: Vec::new() };
        for line in text.lines() {
            let mut begins = Begins::Line;
            for word in line.split_whitespace().map(folded_name) {
                for c in word.as_str().chars() {
                    spaced.characters.push(c);
                    spaced.begins.push(std::mem::replace(&mut begins, Begins::Nothing));
                }
                begins = if begins == Begins::Line { Begins::Line } else { Begins::Word };
            }
        }
        spaced
    }

    /// Where the name ends, if it stands there after a place, and not within a longer one.
    fn find(&self, name: &str, from: usize) -> Option<usize> {
        let name: Vec<char> = name.chars().collect();
        let places = self.characters.windows(name.len().max(1)).enumerate().skip(from);
        let mut ends =
            places.filter(|(_, window)| *window == name.as_slice()).map(|(at, _)| (at, at + name.len()));
        ends.find(|(start, end)| self.is_apart(*start, *end)).map(|(_, end)| end)
    }

    fn begins(&self, at: usize) -> Begins {
        self.begins.get(at).copied().unwrap_or(Begins::Line)
    }

    fn is_apart(&self, start: usize, end: usize) -> bool {
        let before = start.checked_sub(1).and_then(|at| self.characters.get(at));
        let rest = self.characters.get(end..).unwrap_or_default();
        let follows = |word: &&str| word.chars().eq(rest.iter().take(word.chars().count()).copied());
        // A single character beside it on its line may be a part of the name, written apart.
        let is_single_before = start.checked_sub(1).is_some_and(|at| self.begins(at) != Begins::Nothing);
        let may_precede = |c: &char| !c.is_alphabetic() || BEFORE.contains(*c);
        let begins = match self.begins(start) {
            Begins::Line => true,
            Begins::Word => !is_single_before || before.is_none_or(|c| !c.is_alphabetic()),
            Begins::Nothing => before.is_none_or(may_precede),
        };
        let is_single_after = self.begins(end + 1) != Begins::Nothing;
        let may_follow = rest.first().is_none_or(|c| !c.is_alphabetic()) || AFTER.iter().any(follows);
        let ends = match self.begins(end) {
            Begins::Line => true,
            Begins::Word => !is_single_after || may_follow,
            Begins::Nothing => may_follow,
        };
        let is_care_of = CARE_OF
            .iter()
            .any(|word| follows(word) && self.begins(end + word.chars().count()) != Begins::Nothing);
        let is_late = before == Some(&'故');
        begins && ends && !is_care_of && !is_late
    }
}

/// Whether a block is somebody's own address.
pub(super) fn is_of(address: &Address, block: &Block) -> bool {
    let person = Person::of(address);
    let has_code = block.addressee.postal_code.as_deref().is_none_or(|code| code == person.postal_code);
    has_code && person.is_named_in(&Spaced::of(&block.text))
}
