//! The name of an entry, which is also the name of the drop it came from.

use std::fmt;
use std::io;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::clock::Time;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH: usize = 26;
/// The number of random bits.
const CHANCE: u32 = 80;

/// An entry's name, which it keeps for life: 48 bits of time, 80 random bits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ulid(String);

impl Ulid {
    pub fn new(now: Time) -> io::Result<Self> {
        let mut chance = [0; 10];
        getrandom::fill(&mut chance).map_err(io::Error::other)?;
        let millis = u128::try_from(now.timestamp_millis()).unwrap_or_default() & 0xffff_ffff_ffff;
        Ok(Self::of(chance.iter().fold(millis, |number, byte| (number << 8) | u128::from(*byte))))
    }

    /// No name that is given from this moment on is smaller.
    pub fn earliest(at: Time) -> Self {
        let millis = u128::try_from(at.timestamp_millis()).unwrap_or_default() & 0xffff_ffff_ffff;
        Self::of(millis << CHANCE)
    }

    fn of(number: u128) -> Self {
        let digit = |place: usize| {
            let value = (number >> (5 * (LENGTH - 1 - place))) & 31;
            char::from(ALPHABET[usize::try_from(value).unwrap_or_default()])
        };
        Self((0..LENGTH).map(digit).collect())
    }

    fn number(&self) -> u128 {
        let value = |c: u8| (0..).zip(ALPHABET).find(|(_, digit)| **digit == c).map_or(0, |(value, _)| value);
        self.0.bytes().fold(0, |number, c| (number << 5) | value(c))
    }

    /// A new name. If the last one has the same millisecond, the new one is its successor, so names given one
    /// after another are in that order.
    pub fn after(last: Option<&Self>, now: Time) -> io::Result<Self> {
        let new = Self::new(now)?;
        let last = last.filter(|last| last.time() == new.time());
        Ok(last.map_or(new, |last| Self::of(last.number() + 1)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// When it was made, to the millisecond.
    pub fn time(&self) -> Time {
        let millis = i64::try_from(self.number() >> CHANCE).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_given_one_after_the_other_stand_in_that_order() {
        let now = "2026-11-22T03:00:00.123Z".parse().unwrap();
        let mut names = vec![Ulid::new(now).unwrap()];
        for _name in 0..100 {
            names.push(Ulid::after(names.last(), now).unwrap());
        }
        assert!(names.is_sorted_by(|one, other| one < other), "{names:?}");
        assert!(names.iter().all(|name| name.time() == now && Ok(name) == name.as_str().parse().as_ref()));
        // A clock that was set back is believed.
        let before = now - chrono::TimeDelta::hours(1);
        assert_eq!(Ulid::after(names.last(), before).unwrap().time(), before);
    }
}
