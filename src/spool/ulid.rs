//! The name of an entry, which is also the name of the drop it came from.

use std::fmt;
use std::io;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::clock::Time;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH: usize = 26;

/// An entry's name for life: 48 bits of time, 80 of chance.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ulid(String);

impl Ulid {
    pub fn new(now: Time) -> io::Result<Self> {
        let mut chance = [0; 10];
        getrandom::fill(&mut chance).map_err(io::Error::other)?;
        let millis = u128::try_from(now.timestamp_millis()).unwrap_or_default() & 0xffff_ffff_ffff;
        let number = chance.iter().fold(millis, |number, byte| (number << 8) | u128::from(*byte));
        let digit = |place: usize| {
            let value = (number >> (5 * (LENGTH - 1 - place))) & 31;
            char::from(ALPHABET[usize::try_from(value).unwrap_or_default()])
        };
        Ok(Self((0..LENGTH).map(digit).collect()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// When it was made, to the millisecond.
    pub fn time(&self) -> Time {
        let value = |c: u8| (0..).zip(ALPHABET).find(|(_, digit)| **digit == c).map_or(0, |(value, _)| value);
        let millis = self.0.bytes().take(10).fold(0_i64, |number, c| (number << 5) | value(c));
        chrono::DateTime::from_timestamp_millis(millis).unwrap_or_default()
    }
}

impl fmt::Display for Ulid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Ulid {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let right = text.len() == LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte));
        right.then(|| Self(text.to_owned())).ok_or(())
    }
}
