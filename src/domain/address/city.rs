//! The cities of a postal code as they are built in, and whether an address names one of them.
//!
//! The table is made by `tests/postal-table`. It grows old: cities merge and new wards appear, so an address that
//! names another city is worth a note and no more. It is text with lines of a fixed width and is searched as it
//! is, so that it takes no memory of its own.

use super::places::PlaceList;
use super::spelling::{Folded, fold};

/// A line is: first code, last code, where the name begins in [`NAMES`]. Sorted. A run of two cities has two lines.
const RUNS: &str = include_str!("cities.txt");
/// The width of a line with its end.
const LINE: usize = 22;
/// A line is a prefecture, a space and a city.
const NAMES: &str = include_str!("city_names.txt");

/// The month of the table.
pub fn table_date() -> &'static str {
    include_str!("cities_date.txt").trim_end()
}

/// A city and its prefecture, as a list of places has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct City<'a> {
    pub(super) prefecture: &'a str,
    pub(super) name: &'a str,
}

/// Every city of a prefecture.
pub(super) fn cities_of(prefecture: &str) -> impl Iterator<Item = &'static str> {
    let all = NAMES.lines().filter_map(|line| line.split_once(' '));
    all.filter(move |(its, _)| *its == prefecture).map(|(_, name)| name)
}

/// The cities of a code. Empty if the code is in no run.
pub(super) fn cities(code: &str) -> Vec<City<'static>> {
    if code.len() != 7 || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let line = |index: usize| RUNS.get(index * LINE..(index + 1) * LINE);
    let first = |index: usize| line(index).and_then(|line| line.get(..7)).unwrap_or_default();
    // The number of lines whose first code is not after this one.
    let (mut low, mut high) = (0, RUNS.len() / LINE);
    while low < high {
        let middle = low.midpoint(high);
        if first(middle) <= code {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let mut found = Vec::new();
    for index in (0..low).rev() {
        let Some(line) = line(index) else { break };
        if line.get(8..15).is_none_or(|last| last < code) {
            break;
        }
        found.extend(line.get(16..21).and_then(|at| at.parse().ok()).and_then(named));
    }
    found.reverse();
    found
}

fn named(at: usize) -> Option<City<'static>> {
    let (prefecture, name) = NAMES.get(at..)?.lines().next()?.split_once(' ')?;
    Some(City { prefecture, name })
}

impl City<'_> {
    /// Whether an address that begins so (city and what follows) names this city. The name is taken with or
    /// without its district (郡) or island, and a designated city without its ward.
    pub(super) fn is_named_by(self, address: &Folded, places: PlaceList<'_>) -> bool {
        let address = address.as_str();
        let full = fold(self.name);
        if address.starts_with(full.as_str()) {
            return true;
        }
        let is_town = full.as_str().ends_with(['町', '村']);
        if let Some(town) = without_district(full.as_str()).filter(|_| is_town) {
            return address.starts_with(town)
                || without_district(address).is_some_and(|address| address.starts_with(town));
        }
        let Some((city, _ward)) = split_ward(self.name) else { return false };
        address
            .strip_prefix(fold(city).as_str())
            .is_some_and(|rest| !self.begins_with_other_ward(city, rest, places))
    }

    /// Whether this is the city's name, in full, without its district, or without its ward.
    fn is_called(self, name: &Folded) -> bool {
        let full = fold(self.name);
        let town = without_district(full.as_str()).filter(|_| full.as_str().ends_with(['町', '村']));
        let city = split_ward(self.name).map(|(city, _)| fold(city));
        name == &full || town == Some(name.as_str()) || city.as_ref() == Some(name)
    }

    /// Whether the text begins with a ward of this city.
    fn begins_with_other_ward(self, city: &str, rest: &str, places: PlaceList<'_>) -> bool {
        let here = places.cities_of(self.prefecture).into_iter();
        let mut wards = here.filter_map(|name| name.strip_prefix(city)).filter(|ward| !ward.is_empty());
        wards.any(|ward| rest.starts_with(fold(ward).as_str()))
    }
}

/// An address as it is written, parted into prefecture, city and the rest by the cities of its postal code. `None`
/// if it names none of them.
pub fn in_city(places: PlaceList<'_>, code: &str, written: &str) -> Option<(String, String, String)> {
    let written = written.trim();
    for city in places.cities(code) {
        let own = written.strip_prefix(city.prefecture);
        if own.is_none() && super::PREFECTURES.iter().any(|prefecture| written.starts_with(prefecture)) {
            continue;
        }
        let rest = own.unwrap_or(written).trim_start();
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
        let mut named = ends.filter_map(|end| rest.split_at_checked(end)).filter(|(name, after)| {
            let is_all = city.is_called(&fold(name));
            is_all && city.is_named_by(&fold(&format!("{name}{after}")), places)
        });
        // 札幌市中央区 rather than 札幌市.
        if let Some((name, after)) = named.next_back() {
            return Some((city.prefecture.to_owned(), name.trim().to_owned(), after.trim().to_owned()));
        }
    }
    None
}

/// 上郡町 of 赤穂郡上郡町, 三宅村 of 三宅島三宅村.
fn without_district(text: &str) -> Option<&str> {
    ['郡', '島'].into_iter().find_map(|mark| {
        let (at, _) = text.char_indices().skip(1).find(|(_, c)| *c == mark)?;
        let rest = text.get(at + mark.len_utf8()..)?;
        (rest.chars().count() > 1).then_some(rest)
    })
}

/// 札幌市 and 中央区 of 札幌市中央区.
fn split_ward(name: &str) -> Option<(&str, &str)> {
    let at = name.find('市')? + '市'.len_utf8();
    let (city, ward) = name.split_at_checked(at)?;
    ward.ends_with('区').then_some((city, ward))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_as_it_is_searched() {
        assert_eq!(RUNS.len() % LINE, 0);
        let mut before = ("", "");
        for line in RUNS.lines() {
            assert_eq!(line.len(), LINE - 1, "{line}");
            let (first, last) = (&line[..7], &line[8..15]);
            assert!(first <= last && (first > before.1 || (first, last) == before), "{line}");
            before = (first, last);
            assert!(named(line[16..21].parse().unwrap()).is_some(), "{line}");
        }
    }

    #[test]
    fn a_code_has_its_cities() {
        for (code, expected) in [
            ("0600001", &["札幌市中央区"][..]),
            ("1000001", &["千代田区"]),
            ("5300001", &["大阪市北区"]),
            // Two cities share this code, in two prefectures.
            ("4980000", &["桑名郡木曽岬町", "弥富市"]),
            ("9999999", &[]),
            ("0000000", &[]),
            ("060000", &[]),
            ("06000０1", &[]),
        ] {
            let found: Vec<_> = cities(code).into_iter().map(|city| city.name).collect();
            assert_eq!(found, expected, "{code}");
        }
    }

    #[test]
    fn an_address_names_its_city_in_the_usual_ways() {
        for (name, address, expected) in [
            ("札幌市中央区", "札幌市中央区北一条西1-1", true),
            ("札幌市中央区", "札幌市 中央区 北一条西1-1", true),
            ("札幌市中央区", "札幌市北一条西1-1", true),
            ("札幌市中央区", "札幌市北区北十条西3", false),
            ("札幌市中央区", "江別市大麻", false),
            ("赤穂郡上郡町", "上郡町大持", true),
            ("赤穂郡上郡町", "赤穂郡上郡町大持", true),
            ("赤穂郡上郡町", "赤穂市加里屋", false),
            ("三宅島三宅村", "三宅村神着", true),
            ("芳賀郡市貝町", "市貝町上根", true),
            ("大島町", "大島町元町", true),
            ("郡山市", "郡山市朝日", true),
            ("郡上市", "郡上市八幡町", true),
            ("大和郡山市", "大和郡山市北郡山町", true),
            ("大和郡山市", "郡山市朝日", false),
            ("西津軽郡鰺ヶ沢町", "鯵ケ沢町舞戸町", true),
            ("龍ケ崎市", "竜ヶ崎市3710", true),
            ("千代田区", "千代田区千代田1-1", true),
            ("千代田区", "中央区銀座", false),
        ] {
            let city = City { prefecture: "北海道", name };
            assert_eq!(city.is_named_by(&fold(address), PlaceList::built_in()), expected, "{name} {address}");
        }
    }
}
