//! The small languages of single values: spans (`1..20`), sizes, days, hours, durations, bursts. The words of shipping
//! and print are those of `domain/letter/order.rs`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use chrono::{NaiveTime, Weekday};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

const DAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Mon),
    ("tue", Weekday::Tue),
    ("wed", Weekday::Wed),
    ("thu", Weekday::Thu),
    ("fri", Weekday::Fri),
    ("sat", Weekday::Sat),
    ("sun", Weekday::Sun),
];

/// A word that is one text in YAML. An unquoted number counts as its text.
macro_rules! word {
    ($type:ident, $name:literal, $pattern:literal, $example:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = from.deserialize_any(Text)?;
                text.parse().map_err(|()| {
                    D::Error::custom(format!("`{text}` is not a valid {}\nwrite {}", $name, $example))
                })
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": ["string", "integer"], "pattern": $pattern, "description": $example})
            }
        }
    };
}

pub(super) use word;

pub(super) struct Text;

impl Visitor<'_> for Text {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one word")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }
}

/// From and to, both included. Either may be open.
fn span<T: PartialOrd>(text: &str, read: impl Fn(&str) -> Option<T>) -> Result<(Option<T>, Option<T>), ()> {
    let Some((from, to)) = text.split_once("..") else {
        return Ok((Some(read(text).ok_or(())?), Some(read(text).ok_or(())?)));
    };
    let side = |text: &str| match text.trim() {
        "" => Ok(None),
        text => read(text).map(Some).ok_or(()),
    };
    let (from, to) = (side(from)?, side(to)?);
    match (&from, &to) {
        (None, None) => Err(()),
        (Some(from), Some(to)) if from > to => Err(()),
        (_, _) => Ok((from, to)),
    }
}

/// A number of pages: `3`, `1..20`, `..8`, `21..`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageRange(pub Option<u32>, pub Option<u32>);

impl FromStr for PageRange {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        span(text, |text| text.trim().parse().ok()).map(|(from, to)| Self(from, to))
    }
}

word!(PageRange, "number of pages", r"^\s*(\d+|\d*\.\.\d+|\d+\.\.)\s*$", "`3`, `1..20`, `..8` or `21..`");

/// A size of a document: `..500kB`, `2MB..`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size(pub Option<u64>, pub Option<u64>);

impl FromStr for Size {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        span(text, bytes).map(|(from, to)| Self(from, to))
    }
}

fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "b" => 1,
        "" if digits == "0" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        _other => return None,
    };
    digits.trim_end().parse::<u64>().ok()?.checked_mul(factor)
}

word!(
    Size,
    "size",
    r"^(0|\d+\s*[kKmM]?[bB])?(\.\.(0|\d+\s*[kKmM]?[bB])?)?$",
    "`..500kB`, `1MB..2MB` or `2MB..`, always with the unit"
);

/// A time of the day: `08:00..17:30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hours(pub NaiveTime, pub NaiveTime);

impl FromStr for Hours {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (from, to) = text.split_once("..").ok_or(())?;
        let read = |text: &str| NaiveTime::parse_from_str(text.trim(), "%H:%M").map_err(drop);
        Ok(Self(read(from)?, read(to)?))
    }
}

word!(
    Hours,
    "time of the day",
    r"^\d{1,2}:\d\d\.\.\d{1,2}:\d\d$",
    "`08:00..17:30`, or over midnight `22:00..06:00`"
);

/// A number of letters within a time: `50 in 10m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Burst(pub u32, pub Duration);

impl FromStr for Burst {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (count, within) = text.split_once(" in ").ok_or(())?;
        let count = count.trim().parse().ok().filter(|count| *count > 0).ok_or(())?;
        let within = humantime::parse_duration(within.trim()).map_err(drop)?;
        (!within.is_zero()).then_some(Self(count, within)).ok_or(())
    }
}

word!(Burst, "burst", r"^\d+ in .+$", "`50 in 10m`");

/// A duration: `2s`, `15m`, `1h 30m`, `30d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length(pub Duration);

impl FromStr for Length {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        humantime::parse_duration(text).map(Self).map_err(drop)
    }
}

word!(Length, "duration", r"^(\d+\s*[a-z]+\s*)+$", "`2s`, `15m`, `1h 30m` or `30d`");

/// A length on paper: `20mm`, `12.5mm`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Millimetres(pub f32);

impl FromStr for Millimetres {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number: f32 = text.strip_suffix("mm").ok_or(())?.trim_end().parse().map_err(drop)?;
        (0.0..=1000.0).contains(&number).then_some(Self(number)).ok_or(())
    }
}

word!(Millimetres, "length", r"^\d+(\.\d+)?\s*mm$", "`20mm` or `12.5mm`");

/// Days of the week: `mon..fri`, `sat`, `[mon, wed]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Days(pub Vec<Weekday>);

impl FromStr for Days {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let day = |text: &str| DAYS.iter().position(|(name, _)| *name == text.trim()).ok_or(());
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let (from, to) = (day(from)?, day(to)?);
        let steps = (to + 7 - from) % 7;
        Ok(Self((0..=steps).map(|step| DAYS[(from + step) % 7].1).collect()))
    }
}

struct DayList;

impl<'de> Visitor<'de> for DayList {
    type Value = Days;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("days, such as mon..fri or [mon, wed]")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Days, E> {
        text.parse().map_err(|()| {
            E::custom(format!("`{text}` is not a day of the week\nwrite `mon..fri`, `sat` or `[mon, wed]`"))
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Days, A::Error> {
        let mut days = Vec::new();
        while let Some(text) = list.next_element::<String>()? {
            days.extend(DayList.visit_str::<A::Error>(&text)?.0);
        }
        Ok(Days(days))
    }
}

impl<'de> Deserialize<'de> for Days {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(DayList)
    }
}

impl JsonSchema for Days {
    fn schema_name() -> Cow<'static, str> {
        "Days".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let day = "(mon|tue|wed|thu|fri|sat|sun)";
        let text = json_schema!({"type": "string", "pattern": format!(r"^{day}(\.\.{day})?$")});
        json_schema!({"anyOf": [text, {"type": "array", "items": text}]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        assert_eq!("1..20".parse(), Ok(PageRange(Some(1), Some(20))));
        assert_eq!("..8".parse(), Ok(PageRange(None, Some(8))));
        assert_eq!("3".parse(), Ok(PageRange(Some(3), Some(3))));
        assert_eq!("21..".parse(), Ok(PageRange(Some(21), None)));
        assert_eq!("7..7".parse(), Ok(PageRange(Some(7), Some(7))));
        assert_eq!("12.5mm".parse(), Ok(Millimetres(12.5)));
        assert_eq!("-1mm".parse::<Millimetres>(), Err(()));
        assert_eq!("NaNmm".parse::<Millimetres>(), Err(()));
        assert_eq!("..500kB".parse(), Ok(Size(None, Some(500_000))));
        assert_eq!("1MB..2MB".parse(), Ok(Size(Some(1_000_000), Some(2_000_000))));
        assert_eq!("fri..mon".parse::<Days>().unwrap().0.len(), 4);
        assert_eq!("50 in 10m".parse(), Ok(Burst(50, Duration::from_mins(10))));
        for wrong in ["", "..", "20..1", "1...2", "a", "-1", "1..2..3"] {
            assert!(wrong.parse::<PageRange>().is_err(), "{wrong}");
        }
        for wrong in ["0 in 10m", "50", "50 in", "50 in 0s", "x in 1m"] {
            assert!(wrong.parse::<Burst>().is_err(), "{wrong}");
        }
        assert!("25:00..26:00".parse::<Hours>().is_err() && "8..9".parse::<Hours>().is_err());
        assert!("monday".parse::<Days>().is_err() && "99XB".parse::<Size>().is_err());
    }
}
