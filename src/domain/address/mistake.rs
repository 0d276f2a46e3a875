//! What is wrong with an address, as values. The words here are English; other languages are in `words`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::city::table_date;
use super::{POSTAL_CODE_DIGITS, STATE_CHARACTERS, TEXT_CHARACTERS};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    PostalCode,
    State,
    City,
    Address1,
    Name,
    Honorific,
}

impl Field {
    /// The key under which the field is written in every file.
    pub fn key(self) -> &'static str {
        match self {
            Self::PostalCode => "postal_code",
            Self::State => "state",
            Self::City => "city",
            Self::Address1 => "address1",
            Self::Name => "name",
            Self::Honorific => "honorific",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wrong {
    NotSevenDigits,
    LongState,
    Empty,
    TooLong,
    Control,
    NoPrefecture,
    /// The postal code belongs to the prefecture given here.
    Elsewhere(String),
    /// The postal code belongs to the city given here, as far as the built-in table knows.
    OtherCity(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AddressMistake {
    pub field: Field,
    pub wrong: Wrong,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSevenDigits => {
                write!(f, "write {POSTAL_CODE_DIGITS} digits without a hyphen, in quotes: \"0600001\"")
            }
            Self::LongState => {
                write!(f, "at most {STATE_CHARACTERS} characters, the prefecture alone: \"神奈川県\"")
            }
            Self::Empty => f.write_str("must not be empty"),
            Self::TooLong => write!(f, "at most {TEXT_CHARACTERS} characters"),
            Self::Control => f.write_str("has a line break or another control character in it"),
            Self::NoPrefecture => f.write_str("none of the 47 prefectures"),
            Self::Elsewhere(there) => write!(f, "it belongs to {there}, not to this `state`"),
            Self::OtherCity(there) => {
                write!(f, "it belongs to {there}, not to this `city` (as of {})", table_date())
            }
        }
    }
}

impl fmt::Display for AddressMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field.key(), self.wrong)
    }
}
