//! Why an order cannot be posted as it is, as values. The words here are English; other languages are in
//! `words`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::order::{DOCUMENTS_PER_LETTER, LARGEST_DOCUMENT, PAGES_PER_DOCUMENT, SHEETS_PER_LETTER};
use crate::domain::address::AddressMistake;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderProblem {
    Sender(AddressMistake),
    Receiver(AddressMistake),
    /// The return address of a reply letter pack.
    Reply(AddressMistake),
    OptionsWithoutNormal,
    OptionTwice,
    BothRegistered,
    Documents(usize),
    Sheets(u32),
    /// Index of the document (from 0), and its size.
    Size(usize, u64),
    Pages(usize, u32),
    StapledAndBound(usize),
    /// In words, as earlier versions stored it.
    #[serde(untagged)]
    Told(String),
}

impl fmt::Display for OrderProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sender(mistake) => write!(f, "sender: {mistake}"),
            Self::Receiver(mistake) => write!(f, "receiver: {mistake}"),
            Self::Reply(mistake) => write!(f, "reply_letterpack: {mistake}"),
            Self::OptionsWithoutNormal => f.write_str("options go with the method `normal` only"),
            Self::OptionTwice => f.write_str("an option is given twice"),
            Self::BothRegistered => f.write_str("choose one kind of registered mail"),
            Self::Documents(found) => {
                write!(f, "a letter has 1 to {DOCUMENTS_PER_LETTER} documents, not {found}")
            }
            Self::Sheets(found) => write!(
                f,
                "{found} sheets in all; one letter takes at most {SHEETS_PER_LETTER}: make two of it, or print both sides"
            ),
            Self::Size(document, bytes) => {
                write!(f, "document {}: {bytes} bytes; 1 to {LARGEST_DOCUMENT} can be posted", document + 1)
            }
            Self::Pages(document, pages) => {
                write!(f, "document {}: {pages} pages; 1 to {PAGES_PER_DOCUMENT} can be posted", document + 1)
            }
            Self::Told(text) => f.write_str(text),
            Self::StapledAndBound(document) => {
                write!(f, "document {}: staple it or bind it, not both", document + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_earlier_versions_kept_in_words_is_still_read() {
        let kept = r#"["receiver: name: must not be empty", {"sheets": 996}]"#;
        let read: Vec<OrderProblem> = serde_json::from_str(kept).unwrap();
        assert_eq!(
            read,
            [OrderProblem::Told("receiver: name: must not be empty".to_owned()), OrderProblem::Sheets(996)]
        );
    }
}
