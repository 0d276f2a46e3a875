//! The order as the service shows it. `None` means that the service does not show the field.

use std::fmt;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    pub method: Option<String>,
    pub options: Option<Vec<String>>,
    pub sender: ShownAddress,
    pub receiver: ShownAddress,
    pub reply: ShownReply,
    /// In the order of the documents.
    pub files: Option<Vec<ShownFile>>,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub struct ShownAddress {
    pub postal_code: Option<String>,
    pub state: Option<String>,
    pub city: Option<String>,
    pub address1: Option<String>,
    pub name: Option<String>,
    /// Present for a receiver only.
    pub honorific: Option<String>,
}

impl fmt::Debug for ShownAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShownAddress(…)")
    }
}

/// Whether a reply letter pack is enclosed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ShownReply {
    #[default]
    Unsaid,
    Nothing,
    Pack(ShownAddress),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownFile {
    pub name: Option<String>,
    pub pages: Option<u32>,
    pub paper: Option<String>,
    pub color: Option<String>,
    pub duplex: Option<String>,
    pub staple: Option<String>,
    pub bind: Option<bool>,
}
