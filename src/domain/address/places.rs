//! Which cities a postal code has, by the newest list there is, and what that says of an address.

use std::fmt;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::city::{self, City};
use super::postal_data::PostalData;
use super::spelling::fold;
use super::{Address, POSTAL_CODE_DIGITS};

/// The list that is asked: the one built in, or Japan Post's own that an administrator gave.
#[derive(Debug, Clone, Copy)]
pub struct PlaceList<'a> {
    data: Option<&'a PostalData>,
    today: NaiveDate,
}

/// What is wrong with an address, as far as a list of places knows. It contains places, never the address itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Misplaced {
    /// The postal code belongs to the city given here, and the address names another.
    OtherCity(String),
    /// Nothing is known of the postal code.
    UnknownCode,
    /// The postal code belongs to this part of the city, and the address does not name it.
    OtherTown(String),
}

/// A doubt about the receiver's address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlaceDoubt {
    pub what: Misplaced,
    /// The list is recent enough that a person must look. Otherwise it is a note.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds: bool,
}

impl<'a> PlaceList<'a> {
    /// What the program brings. Nothing waits because of it.
    pub fn built_in() -> Self {
        Self { data: None, today: NaiveDate::MIN }
    }

    pub fn new(data: &'a PostalData, today: NaiveDate) -> Self {
        Self { data: Some(data), today }
    }

    pub(super) fn cities(self, code: &str) -> Vec<City<'a>> {
        let by_data = self.data.map(|data| data.cities(code)).unwrap_or_default();
        if by_data.is_empty() { city::cities(code) } else { by_data }
    }

    /// Every city of a prefecture.
    pub(super) fn cities_of(self, prefecture: &str) -> Vec<&'a str> {
        match self.data {
            Some(data) => data.cities_of(prefecture),
            None => city::cities_of(prefecture).collect(),
        }
    }

    /// What the list has against an address. Nothing, if the prefecture is wrong already.
    pub fn doubt(self, address: &Address) -> Option<PlaceDoubt> {
        if address.elsewhere().is_some() || address.postal_code.len() != POSTAL_CODE_DIGITS {
            return None;
        }
        let is_recent = self.data.is_some_and(|data| data.is_recent(self.today));
        let code = address.postal_code.as_str();
        let known = self.data.map(|data| data.cities(code)).unwrap_or_default();
        // The codes of companies stand only in the list that is built in, which may be old.
        let asks_built_in = known.is_empty() && (self.data.is_none() || may_be_of_a_company(code));
        let holds = is_recent && !asks_built_in;
        let cities = if asks_built_in { city::cities(code) } else { known };
        if cities.is_empty() {
            return Some(PlaceDoubt { what: Misplaced::UnknownCode, holds });
        }
        let written = fold(&format!("{}{}", address.city, address.address1));
        if !cities.iter().any(|city| city.is_named_by(&written, self)) {
            let names = cities.iter().map(|city| city.name).collect::<Vec<_>>().join("・");
            return Some(PlaceDoubt { what: Misplaced::OtherCity(names), holds });
        }
        let towns = self.data.map(|data| data.towns(code)).unwrap_or_default();
        let names_one = towns.iter().any(|town| town.is_empty() || names_town(written.as_str(), town));
        if towns.is_empty() || names_one {
            return None;
        }
        let names = towns.join("・");
        Some(PlaceDoubt { what: Misplaced::OtherTown(names), holds: false })
    }
}

/// Codes of companies that do not have the usual form, by `tests/postal-table`. Sorted.
const COMPANIES: &str = include_str!("company_codes.txt");

/// Whether a code that is no town's may be a company's or a post office box's: nearly all of these have a fourth digit
/// of 7 or more, or a sixth of 8 or more.
fn may_be_of_a_company(code: &str) -> bool {
    let is_at_least = |place: usize, digit| code.as_bytes().get(place).is_some_and(|found| *found >= digit);
    is_at_least(3, b'7') || is_at_least(5, b'8') || COMPANIES.lines().any(|company| company == code)
}

/// Whether an address has a town. 大字 and 字 may be written or left out.
fn names_town(address: &str, town: &str) -> bool {
    let plain = |text: &str| text.replace("大字", "").replace('字', "");
    let (address, town) = (plain(address), plain(fold(town).as_str()));
    address.contains(&town)
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherCity(there) => {
                write!(f, "the receiver's postal code belongs to {there}, and the address names another city")
            }
            Self::UnknownCode => f.write_str("the receiver's postal code is unknown"),
            Self::OtherTown(there) => {
                write!(f, "the receiver's postal code is that of {there}, which the address does not name")
            }
        }
    }
}

impl fmt::Display for PlaceDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.what, if self.holds { "; it waits for a person" } else { "" })
    }
}
