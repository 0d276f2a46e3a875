//! What a person puts into a folder, and what becomes of it if it does not become a letter.
//!
//! These values are stored as JSON, so variants and fields are only ever added. `texts` has the sentences for
//! people.

mod names;
mod unheard;
mod waiting;

use std::cmp::Ordering;
use std::iter::Peekable;
use std::str::Chars;

pub use names::{
    INSIDE, forms_of, is_pdf, numbered, pdf_of, showable, shown, sidecar_ending, sidecars_in_any_form,
    sidecars_of, text_name,
};
use serde::{Deserialize, Serialize};
pub use unheard::{Receivers, StandingLetter, Unheard};

use crate::domain::letter::{Number, OrderProblem};
use crate::domain::printed::{PageDoubt, PrintDoubt, ReceiverDoubt};

/// Where a letter's original came from. The name is kept as the bytes it had.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    pub folder: String,
    #[serde(with = "hex")]
    pub name: Vec<u8>,
    /// The owner of the file when it was taken in.
    #[serde(default)]
    pub owner: Option<u32>,
}

/// What was found instead of a PDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Directory,
    Symlink,
    Fifo,
    Socket,
    Device,
}

/// Why the page count of a PDF is in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// Not a PDF, or too damaged to read.
    Unreadable,
    /// The end of a PDF is missing, so it was not copied completely.
    Torn,
    /// Its cross-reference table had to be reconstructed.
    Repaired,
    Encrypted,
    /// It is encrypted, but can be read without a password.
    Restricted,
    /// It is complete, and padding follows its end.
    Padded,
    /// It has no pages, or their number differs from the number it states.
    Pages,
    /// A compressed stream cannot be inflated to its end, or its checksum is wrong.
    Damaged,
    /// Its pages show only a placeholder: a dynamic form or a portfolio.
    Placeholder,
    /// It uses a compression that few programs support.
    Compression,
    /// It contains a whole disk block of zeros, usually from an interrupted copy.
    Hole,
    /// Reading it took more memory or time than any letter needs.
    TooMuch,
}

/// Why what a rule's expressions match may be another receiver's key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyDoubt {
    /// Another digit is right beside it.
    Cut { key: String },
    /// Two expressions find different ones.
    Differs { keys: [String; 2] },
}

/// Why a drop cannot be posted. Nothing of it was posted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    NotAFile(Kind),
    /// The file has other hard links, so it may be somebody else's file.
    LinkedElsewhere,
    /// The file's permissions do not let us read it.
    NoRight,
    Empty,
    TooLarge {
        size: u64,
    },
    /// Its name does not end in `.pdf`.
    NotPdf,
    Pdf(Doubt),
    /// A single file, in a folder that takes subfolders.
    NotInSubfolder,
    NoDocuments,
    TooManyDocuments {
        found: usize,
    },
    /// A subfolder contains something that is not a PDF.
    Unfit {
        name: String,
    },
    NoRule,
    NoReceiver {
        key: String,
    },
    /// The key of its receiver may not be the one that is meant.
    KeyUnclear(KeyDoubt),
    /// The sidecar cannot be used.
    Sidecar(String),
    /// Two or more sidecars came with it, and nobody can know which one is meant.
    SeveralSidecars {
        names: Vec<String>,
    },
    /// It is a sidecar that was saved again under its name meanwhile.
    SidecarReplaced {
        name: String,
    },
    /// A queue took it without a receiver, and the rule that matches takes none from anywhere else.
    NoLetter,
    /// It is a sidecar whose PDF did not come, or had been taken in without it as this letter.
    SidecarAlone {
        pdf: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken_in: Option<Number>,
    },
    /// It needs a sidecar, but its name is so long that a sidecar's name would be too long.
    NameTooLong,
    /// It came with a sidecar, but the rule that matches takes none.
    SidecarUnwanted {
        rule: String,
    },
    OtherPages {
        said: u32,
        found: u32,
    },
    /// The service would reject it.
    NotPostable(Vec<OrderProblem>),
    /// It was put into `Approve` or `Cancel`, and nothing waits under that name.
    NothingWaits,
    /// It was put into `Approve` or `Cancel`, and a letter or a drop is known by its name or its bytes.
    #[serde(rename = "wish")]
    Unheard(Unheard),
    /// The copy that was to approve a letter belongs to the person who dropped the letter.
    OwnApproval,
    /// People other than the owner of the file, or of its copy, could have written it.
    OwnerNotProved {
        letter: Number,
    },
}

impl Refusal {
    /// Whether it is about something that a person wanted of a letter or a drop, which may be posted all the same.
    pub fn is_of_an_order(&self) -> bool {
        matches!(
            self,
            Self::NothingWaits | Self::Unheard(_) | Self::OwnApproval | Self::OwnerNotProved { .. }
        )
    }

    /// The word for the journal. It contains nothing of the drop itself.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotAFile(_) => "no file",
            Self::LinkedElsewhere => "a file with several hard links",
            Self::NoRight => "not readable",
            Self::Empty => "empty",
            Self::TooLarge { .. } => "too large",
            Self::NotPdf => "a name that is not that of a PDF",
            Self::Pdf(_) => "a PDF in doubt",
            Self::NotInSubfolder => "not in a subfolder",
            Self::NoDocuments => "no documents",
            Self::TooManyDocuments { .. } => "too many documents",
            Self::Unfit { .. } => "a file that is not a PDF among the documents",
            Self::NoRule => "no rule fits",
            Self::NoReceiver { .. } => "not in the address book",
            Self::KeyUnclear(_) => "the receiver's number is not clear",
            Self::Sidecar(_) => "a sidecar with mistakes",
            Self::SeveralSidecars { .. } => "several sidecars",
            Self::SidecarReplaced { .. } => "a sidecar that was saved again",
            Self::NoLetter => "no receiver came with it",
            Self::SidecarAlone { .. } => "a sidecar without its PDF",
            Self::NameTooLong => "no room for a sidecar's name",
            Self::SidecarUnwanted { .. } => "a sidecar where none is wanted",
            Self::OtherPages { .. } => "another number of pages than stated",
            Self::NotPostable(_) => "not postable",
            Self::NothingWaits => "nothing waits under its name",
            Self::Unheard(Unheard::Several { .. }) => "several letters may be meant",
            Self::Unheard(Unheard::Known { .. }) => "its letter can't be approved or cancelled this way",
            Self::Unheard(Unheard::Changed) => "not the PDF that waits",
            Self::Unheard(Unheard::CopyOfHeld) => "a copy of what waits",
            Self::Unheard(Unheard::OtherAddress { .. }) => "the address beside it is not its letter's",
            Self::Unheard(Unheard::Unread) => "it can't be compared with what waits",
            Self::OwnerNotProved { .. } => "approved, and an owner is not proved",
            Self::OwnApproval => "approved by the person who dropped it",
        }
    }
}

/// Why a drop waits for a person before its letter is decided.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waiting {
    /// Its sidecar did not come in time.
    Sidecar,
    /// It came without a sidecar, soon after the sidecar of its name was handed back.
    SidecarHandedBack { sidecar: String },
    /// It came with a sidecar while another drop of its name waits for one, so nobody knows for which of them it is.
    SidecarOfTwo,
    /// It was already there when the folder was first watched, or when the share came back.
    WasThere,
    /// The address book cannot be used.
    Book(String),
    /// The files with the folder's rules kept changing for too long.
    Rules,
    /// The pages of these PDFs can be counted, but the PDFs may be incomplete.
    Doubt(Vec<Doubtful>),
    /// What is printed and the envelope may be for different people.
    Page(Box<PageDoubt>),
    /// It may be printed otherwise than meant.
    Print(PrintDoubt),
    /// The receiver was to be taken from its page.
    Receiver(Box<ReceiverDoubt>),
    /// A queue took it.
    Queue {
        queue: String,
        look: QueueDoubt,
        /// The letter that its print job is already.
        #[serde(default)]
        letter: Option<Number>,
    },
}

/// Why a person must look at what a queue took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueDoubt {
    /// It may have been posted by records that were lost.
    Lost,
    /// It was printed, and its printer waits for approval.
    Printed,
    /// A document of its print job was handed in before.
    PrintedAgain,
    /// It came by mail, and the mailbox's server does not say that the mail is from its sender.
    NotProved,
    /// Its mail came before, or another one of the same sender with the same documents.
    MailedAgain,
    /// Its documents are in its mail more than once.
    MailedTwice,
    /// Its mail lay in the mailbox before mails counted there.
    WasInMailbox,
}

/// Why a drop still lies where it was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldUp {
    /// The files with the folder's rules are being changed.
    Rules,
    /// The folder's address book is being changed.
    Book,
    /// We have no permission to move it.
    Right,
    /// It lies in `Approve` or `Cancel` and cannot be moved from there.
    Instruction,
}

/// A PDF in doubt that a person may accept.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Doubtful {
    pub doubt: Doubt,
    pub pages: u32,
    /// Accepting it covers these bytes and no others.
    pub sha256: String,
}

/// What became of a drop that is not a letter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undecided {
    Refused(Refusal),
    Waits(Waiting),
    /// A person withdrew it before it became a letter.
    Cancelled,
    /// A person has accepted it, so it is decided again, in spite of the doubts listed here.
    Accepted {
        /// The SHA-256 of each PDF in doubt that the person has looked at, and what [`PageDoubt`] covers.
        doubts: Vec<String>,
    },
}

impl Undecided {
    /// Whether it waits for a person, or has a person's word and is decided again.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Waits(_) | Self::Accepted { .. } => true,
            Self::Refused(_) | Self::Cancelled => false,
        }
    }
}

/// Compares names as people count: `2.pdf` comes before `10.pdf`.
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

/// The digits that follow, without leading zeros.
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
