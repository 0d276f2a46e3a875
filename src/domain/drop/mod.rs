//! What a person puts into a folder, and what becomes of it when it does not become a letter.
//!
//! Pure words, kept as JSON beside the records: a variant or field is only ever added. `texts` says
//! them to people.

mod names;
mod unheard;

use std::cmp::Ordering;
use std::iter::Peekable;
use std::str::Chars;

pub use names::{INSIDE, is_pdf, numbered, pdf_of, showable, shown, sidecar_ending, sidecars_of, text_name};
use serde::{Deserialize, Serialize};
pub use unheard::{Receivers, StandingLetter, Unheard};

use crate::domain::letter::{Number, OrderProblem};

/// Where a letter's original came from. The name is kept as the bytes it had.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    pub folder: String,
    #[serde(with = "hex")]
    pub name: Vec<u8>,
    /// Whose file it was when it was taken in.
    #[serde(default)]
    pub owner: Option<u32>,
}

/// What stands where a PDF was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Directory,
    Symlink,
    Fifo,
    Socket,
    Device,
}

/// Why a PDF's pages are not beyond doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// No PDF, or too damaged to be read.
    Unreadable,
    /// It does not end as a PDF does: not copied to its end.
    Torn,
    /// Its table of contents had to be guessed.
    Repaired,
    Encrypted,
    /// It is encrypted, and can be read without a password.
    Restricted,
    /// It is whole, and something without meaning follows its end.
    Padded,
    /// No pages, or not as many as it says.
    Pages,
    /// A compressed part of it can't be unpacked to its end, or its checksum is wrong.
    Damaged,
    /// Its pages only ask to wait: a form that a program fills in, or a portfolio.
    Placeholder,
    /// It is compressed in a way that few programs know.
    Compression,
    /// A whole block of the disk is zeros in it: usually a copy that was interrupted.
    Hole,
    /// Reading it took more memory or time than any letter does.
    TooMuch,
}

/// Why a drop can't be posted. Nothing was posted of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    NotAFile(Kind),
    /// The file has other names elsewhere, so it may be somebody else's.
    LinkedElsewhere,
    /// The rights of the file do not let us read it.
    NoRight,
    Empty,
    TooLarge {
        size: u64,
    },
    /// Its name does not end in `.pdf`.
    NotPdf,
    Pdf(Doubt),
    /// In a folder of subfolders, a file of its own.
    NotInSubfolder,
    NoDocuments,
    TooManyDocuments {
        found: usize,
    },
    /// Something in a subfolder that is no PDF.
    Unfit {
        name: String,
    },
    NoRule,
    NoReceiver {
        key: String,
    },
    /// The sidecar can't be used.
    Sidecar(String),
    /// Two or more sidecars came with it, and nobody can tell which one is meant.
    SeveralSidecars {
        names: Vec<String>,
    },
    /// It is a sidecar, and its PDF did not come.
    SidecarAlone {
        pdf: String,
    },
    /// It needs a sidecar, and its name leaves no room for the name of one.
    NameTooLong,
    /// It came with a sidecar, but the rule that fits takes none.
    SidecarUnwanted {
        rule: String,
    },
    OtherPages {
        said: u32,
        found: u32,
    },
    /// The service would refuse it.
    NotPostable(Vec<OrderProblem>),
    /// It was moved where things are approved or cancelled, and nothing waits under that name.
    NothingWaits,
    /// The same, and a letter or a drop is known by it.
    Wish(Unheard),
    /// A copy that was to approve a letter belongs to whoever dropped it.
    OwnApproval,
    /// Others than the owner of the file, or of its copy, could have written it.
    OwnerNotProved {
        letter: Number,
    },
}

impl Refusal {
    /// For the journal, where nothing of a drop itself stands.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotAFile(_) => "no file",
            Self::LinkedElsewhere => "a file with other names",
            Self::NoRight => "not readable",
            Self::Empty => "empty",
            Self::TooLarge { .. } => "too large",
            Self::NotPdf => "no PDF by its name",
            Self::Pdf(_) => "a PDF in doubt",
            Self::NotInSubfolder => "not in a subfolder",
            Self::NoDocuments => "no documents",
            Self::TooManyDocuments { .. } => "too many documents",
            Self::Unfit { .. } => "something else among the documents",
            Self::NoRule => "no rule fits",
            Self::NoReceiver { .. } => "not in the address book",
            Self::Sidecar(_) => "a sidecar with mistakes",
            Self::SeveralSidecars { .. } => "several sidecars",
            Self::SidecarAlone { .. } => "a sidecar without its PDF",
            Self::NameTooLong => "no room for a sidecar's name",
            Self::SidecarUnwanted { .. } => "a sidecar where none is wanted",
            Self::OtherPages { .. } => "other pages than said",
            Self::NotPostable(_) => "not postable",
            Self::NothingWaits => "nothing waits for it",
            Self::Wish(Unheard::Several { .. }) => "several letters may be meant",
            Self::Wish(Unheard::Known { .. }) => "its letter can't be approved or cancelled so",
            Self::Wish(Unheard::Changed) => "not the PDF that waits",
            Self::OwnerNotProved { .. } => "approved, and an owner is not proved",
            Self::OwnApproval => "approved by its own sender",
        }
    }
}

/// Why a drop waits for a person before it is known what letter it makes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waiting {
    /// Its sidecar did not come in time.
    Sidecar,
    /// It came without a sidecar, and the sidecar of its name was handed back not long before.
    SidecarHandedBack { sidecar: String },
    /// It lay there when the folder was first watched, or when the share came back.
    WasThere,
    /// The address book can't be used.
    Book(String),
    /// The files of the folder's rules kept changing for too long.
    Rules,
    /// These PDFs can be counted, and may not be whole.
    Doubt(Vec<Doubtful>),
}

/// Why a drop still lies where it was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldUp {
    /// The files of the folder's rules are being changed.
    Rules,
    /// The folder's address book is being changed.
    Book,
    /// We have no right to move it.
    Right,
    /// It was laid where letters are approved or cancelled, and can't be taken up.
    Wish,
}

/// A PDF that a person may take for what it seems to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Doubtful {
    pub doubt: Doubt,
    pub pages: u32,
    /// These bytes and no others.
    pub sha256: String,
}

impl Waiting {
    /// For the journal and lists.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Sidecar => "no sidecar came",
            Self::SidecarHandedBack { .. } => "its sidecar was handed back",
            Self::WasThere => "it was there before",
            Self::Book(_) => "the address book can't be used",
            Self::Rules => "the rules kept changing",
            Self::Doubt(_) => "a PDF in doubt",
        }
    }
}

/// A drop that is no letter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    Refused(Refusal),
    Waits(Waiting),
    /// A person withdrew it before it became a letter.
    Cancelled,
    /// A person lets it go on, so it is decided anew; perhaps as it is, whatever is in doubt of it.
    Accepted {
        /// The bytes that a person has looked at.
        doubts: Vec<String>,
    },
}

/// How people count: `2.pdf` comes before `10.pdf`.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.chars().peekable(), b.chars().peekable());
    loop {
        let (Some(left), Some(right)) = (a.peek().copied(), b.peek().copied()) else {
            return a.peek().is_some().cmp(&b.peek().is_some());
        };
        let order = if left.is_ascii_digit() && right.is_ascii_digit() {
            let (left, right) = (number(&mut a), number(&mut b));
            left.len().cmp(&right.len()).then(left.cmp(&right))
        } else {
            a.next();
            b.next();
            left.cmp(&right)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// The digits that come next, without leading zeros.
fn number(text: &mut Peekable<Chars<'_>>) -> String {
    let mut digits = String::new();
    while let Some(digit) = text.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    digits.trim_start_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_people_count() {
        let mut names = ["10.pdf", "a.pdf", "2.pdf", "1b.pdf", "1.pdf", "01a.pdf", "請求10", "請求9"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["1.pdf", "01a.pdf", "1b.pdf", "2.pdf", "10.pdf", "a.pdf", "請求9", "請求10"]);
        assert_eq!(natural_order("a", "a"), Ordering::Equal);
    }
}
