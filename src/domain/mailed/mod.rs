//! Mail that brings PDFs: who may post by it, what becomes of it, and in which mailbox it belongs. Pure.

mod proof;

pub use proof::{HeaderField, is_proved};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::drop::QueueDoubt;

/// Who a mail says it is from, and whether that is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SenderSeen {
    /// The queue's file names the sender.
    pub is_listed: bool,
    /// There is one sender, and the mailbox's server says that the mail is from its domain.
    pub is_proved: bool,
    /// No person wrote it, or nobody reads what is answered.
    pub is_automatic: bool,
}

/// Why a mail cannot be posted. Nothing of it was posted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailRefusal {
    /// The queue's file does not name its sender.
    NotListed,
    /// It has no PDF.
    NoPdf,
    /// Beside its PDFs it has something that was perhaps to be posted, too: an archive or an office document.
    Unfit {
        name: String,
    },
    TooLarge {
        size: u64,
    },
    TooManyDocuments {
        found: usize,
    },
}

impl MailRefusal {
    /// The word for the journal.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotListed => "its sender is not in `from`",
            Self::NoPdf => "no PDF",
            Self::Unfit { .. } => "a document that is not a PDF",
            Self::TooLarge { .. } => "too large",
            Self::TooManyDocuments { .. } => "too many documents",
        }
    }
}

/// What is known of a mail before anything of it is taken.
#[derive(Debug)]
pub struct MailSeen {
    pub sender: SenderSeen,
    /// Why it can't be posted, whoever sent it.
    pub fault: Option<MailRefusal>,
    /// It lay in the mailbox before its mails counted.
    pub was_there: bool,
    /// A mail of this Message-ID, or with the same documents of the same sender, came before ([`is_like_it`]).
    pub came_before: bool,
}

/// What follows when a mail is seen for the first time under its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailMeans {
    /// Its documents are taken. Perhaps somebody must look at them.
    Take(Option<QueueDoubt>),
    Reject(MailRefusal),
}

pub fn mail_means(seen: MailSeen) -> MailMeans {
    if !seen.sender.is_listed {
        return MailMeans::Reject(MailRefusal::NotListed);
    }
    match seen.fault {
        Some(fault) => MailMeans::Reject(fault),
        None if !seen.sender.is_proved => MailMeans::Take(Some(QueueDoubt::NotProved)),
        None if seen.came_before => MailMeans::Take(Some(QueueDoubt::MailedAgain)),
        None if seen.was_there => MailMeans::Take(Some(QueueDoubt::WasInMailbox)),
        None => MailMeans::Take(None),
    }
}

/// Whether a mail of the same Message-ID, or with the same documents of the same sender, counts as the same that came
/// before: unless nothing of it was posted. `parts` are its letters, once all are taken; until then any may be posted.
pub fn is_like_it(parts: Option<&[MailedPart]>) -> bool {
    parts.is_none_or(|parts| parts.iter().any(|part| *part != MailedPart::Rejected))
}

impl SenderSeen {
    /// Whether its sender gets an answer. Whoever is not proved may be somebody else's address.
    pub fn is_answered(self) -> bool {
        self.is_listed && self.is_proved && !self.is_automatic
    }
}

/// How one of a mail's letters stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailedPart {
    /// It is not decided, or not posted yet.
    Open,
    Held,
    Rejected,
    Sent,
    Cancelled,
}

/// How a mail stands: each of its letters, with what distinguishes one news of it from the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailStanding {
    pub parts: Vec<(MailedPart, String)>,
    /// Nothing changes any more.
    pub is_final: bool,
}

impl MailStanding {
    /// Where the mail belongs. `None` if it stays where it is.
    pub fn shelf(&self) -> Option<MailShelf> {
        shelf_of(&self.parts.iter().map(|(part, _)| *part).collect::<Vec<_>>())
    }
}

impl fmt::Display for MailStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.parts.iter().map(|(_, word)| word.as_str()).collect();
        f.write_str(&words.join("; "))
    }
}

/// The mailbox in which a mail belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailShelf {
    Held,
    Sent,
    Rejected,
    Cancelled,
}

impl MailShelf {
    pub const ALL: [Self; 4] = [Self::Held, Self::Sent, Self::Rejected, Self::Cancelled];

    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Sent => "sent",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Where a mail belongs whose letters stand so. `None` if it stays where it is.
pub fn shelf_of(parts: &[MailedPart]) -> Option<MailShelf> {
    let has = |part| parts.contains(&part);
    if has(MailedPart::Held) {
        Some(MailShelf::Held)
    } else if has(MailedPart::Open) {
        None
    } else if parts.is_empty() || has(MailedPart::Rejected) {
        Some(MailShelf::Rejected)
    } else if has(MailedPart::Sent) {
        Some(MailShelf::Sent)
    } else {
        Some(MailShelf::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_mail_means() {
        let all = [false, true];
        for (is_listed, is_proved, faulty, was_there, came_before) in all.into_iter().flat_map(|a| {
            all.into_iter().flat_map(move |b| {
                all.into_iter().flat_map(move |c| {
                    all.into_iter().flat_map(move |d| all.into_iter().map(move |e| (a, b, c, d, e)))
                })
            })
        }) {
            let sender = SenderSeen { is_listed, is_proved, is_automatic: false };
            let fault = faulty.then_some(MailRefusal::NoPdf);
            let wanted = match (is_listed, faulty, is_proved, came_before, was_there) {
                (false, ..) => MailMeans::Reject(MailRefusal::NotListed),
                (true, true, ..) => MailMeans::Reject(MailRefusal::NoPdf),
                (true, false, false, ..) => MailMeans::Take(Some(QueueDoubt::NotProved)),
                (true, false, true, true, _) => MailMeans::Take(Some(QueueDoubt::MailedAgain)),
                (true, false, true, false, true) => MailMeans::Take(Some(QueueDoubt::WasInMailbox)),
                (true, false, true, false, false) => MailMeans::Take(None),
            };
            assert_eq!(mail_means(MailSeen { sender, fault, was_there, came_before }), wanted);
        }
    }

    #[test]
    fn a_mail_counts_unless_nothing_of_it_was_posted() {
        use MailedPart::{Cancelled, Held, Open, Rejected, Sent};
        for part in [Open, Held, Sent, Cancelled] {
            assert!(is_like_it(Some(&[Rejected, part])));
        }
        assert!(!is_like_it(Some(&[Rejected])) && !is_like_it(Some(&[])) && is_like_it(None));
    }

    #[test]
    fn only_a_listed_and_proved_person_is_answered() {
        for bits in 0..8_u8 {
            let [is_listed, is_proved, is_automatic] = [bits & 1 > 0, bits & 2 > 0, bits & 4 > 0];
            let sender = SenderSeen { is_listed, is_proved, is_automatic };
            assert_eq!(sender.is_answered(), bits == 3, "{sender:?}");
        }
    }

    #[test]
    fn a_mail_lies_where_its_letters_do() {
        use MailedPart::{Cancelled, Held, Open, Rejected, Sent};
        for (parts, shelf) in [
            (&[][..], Some(MailShelf::Rejected)),
            (&[Open], None),
            (&[Sent, Open], None),
            (&[Sent, Open, Held], Some(MailShelf::Held)),
            (&[Rejected, Held], Some(MailShelf::Held)),
            (&[Sent, Rejected], Some(MailShelf::Rejected)),
            (&[Sent, Cancelled], Some(MailShelf::Sent)),
            (&[Cancelled, Cancelled], Some(MailShelf::Cancelled)),
            (&[Cancelled, Rejected], Some(MailShelf::Rejected)),
        ] {
            assert_eq!(shelf_of(parts), shelf, "{parts:?}");
        }
    }
}
