//! One line of the ledger, and of the database's copy of it: a fact with its position and a checksum.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::base::clock::Time;
use crate::domain::letter::{Fact, Number};

const CHECK: usize = 16;

/// One fact with its position: the `n`th of its letter, the `seq`th of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub seq: u64,
    pub letter: Number,
    pub n: u64,
    pub at: Time,
    pub fact: Fact,
}

/// A line as it is written, with its checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub json: String,
    pub check: String,
}

impl Line {
    pub fn written(&self) -> serde_json::Result<Written> {
        let json = serde_json::to_string(self)?;
        let check = check(&json);
        Ok(Written { json, check })
    }

    #[must_use]
    pub fn struck(&self) -> Self {
        Self { fact: self.fact.struck(), ..self.clone() }
    }

    /// Whether both describe the same fact. One of them may have lost its names already.
    pub fn is_same(&self, other: &Self) -> bool {
        self == other || self.struck() == other.struck()
    }

    /// The line, if its checksum is right.
    pub fn read(json: &str, given: &str) -> Option<Self> {
        (check(json) == given).then(|| serde_json::from_str(json).ok()).flatten()
    }

    /// A line as it is in the file.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (check, json) = std::str::from_utf8(bytes).ok()?.split_once(' ')?;
        Self::read(json, check)
    }
}

fn check(json: &str) -> String {
    let mut text = hex::encode(Sha256::digest(json.as_bytes()));
    text.truncate(CHECK);
    text
}
