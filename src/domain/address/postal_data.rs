//! Japan Post's own list of towns, `utf_ken_all.csv` or the older `KEN_ALL.CSV`, as an administrator gives it.
//!
//! It has 124,000 rows, so it is kept small: nine bytes for a row, and the names of the towns in one text. Both are
//! made in the place where they stay, because what is freed in pieces remains with the process.

use std::collections::{BTreeSet, HashMap};

use chrono::{NaiveDate, TimeDelta};

use super::PREFECTURES;
use super::city::City;
use crate::base::encoding::decode;

/// An older list may lack new wards and merged cities.
const RECENT: TimeDelta = TimeDelta::days(183);
// Where these stand in a row.
const CODE: usize = 2;
const PREFECTURE: usize = 6;
const CITY: usize = 7;
const TOWN: usize = 8;

/// Its `Debug` leaves out the rows.
pub struct PostalData {
    as_of: NaiveDate,
    /// The number of different codes.
    codes: usize,
    /// Prefecture and city.
    cities: Vec<(Box<str>, Box<str>)>,
    /// Sorted by code.
    rows: Vec<Row>,
    /// The names of all towns, one after the other.
    towns: String,
}

impl std::fmt::Debug for PostalData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostalData")
            .field("as_of", &self.as_of)
            .field("codes", &self.codes)
            .finish_non_exhaustive()
    }
}

/// The code in three bytes, the number of its city in two, the length of its town's name in one, and where the name
/// begins in three.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row([u8; 9]);

impl Row {
    /// `None` if a part does not fit.
    fn new(code: u32, city: usize, length: usize, begin: usize) -> Option<Self> {
        let three = |number: u32| {
            let [0, bytes @ ..] = number.to_be_bytes() else { return None };
            Some(bytes)
        };
        let mut row = [0; 9];
        row[..3].copy_from_slice(&three(code)?);
        row[3..5].copy_from_slice(&u16::try_from(city).ok()?.to_be_bytes());
        row[5] = u8::try_from(length).ok()?;
        row[6..].copy_from_slice(&three(u32::try_from(begin).ok()?)?);
        Some(Self(row))
    }

    fn code(self) -> u32 {
        let [high, middle, low, ..] = self.0;
        u32::from_be_bytes([0, high, middle, low])
    }

    fn city(self) -> usize {
        let [_, _, _, high, low, ..] = self.0;
        u16::from_be_bytes([high, low]).into()
    }

    fn town(self, towns: &str) -> &str {
        let [.., length, high, middle, low] = self.0;
        let begin = u32::from_be_bytes([0, high, middle, low]) as usize;
        towns.get(begin..begin + usize::from(length)).unwrap_or_default()
    }
}

impl PostalData {
    /// Reads the file. `as_of` is the day it was made.
    pub fn read(bytes: &[u8], as_of: NaiveDate) -> Result<Self, String> {
        let text = decode(bytes)?;
        let (mut cities, mut numbers) = (Vec::new(), HashMap::new());
        let mut rows = Vec::with_capacity(text.bytes().filter(|byte| *byte == b'\n').count() + 1);
        let mut towns = String::with_capacity(rows.capacity() * 32);
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let mut fields = csv::StringRecord::new();
        while reader.read_record(&mut fields).map_err(|error| format!("it is not CSV: {error}"))? {
            let wrong = || {
                format!("row {} is not a row of Japan Post's list of towns (utf_ken_all.csv)", rows.len() + 1)
            };
            let field = |place| fields.get(place).map(str::trim).ok_or_else(wrong);
            let digits = field(CODE)?;
            let is_code = digits.len() == 7 && digits.bytes().all(|byte| byte.is_ascii_digit());
            let code: u32 = digits.parse().ok().filter(|_| is_code).ok_or_else(wrong)?;
            let (prefecture, city) = (field(PREFECTURE)?, field(CITY)?);
            if !PREFECTURES.contains(&prefecture) || city.is_empty() {
                return Err(wrong());
            }
            let next = cities.len();
            let number = *numbers.entry(format!("{prefecture} {city}")).or_insert_with(|| {
                cities.push((Box::from(prefecture), Box::from(city)));
                next
            });
            let town = town(field(TOWN)?);
            let row = Row::new(code, number, town.len(), towns.len()).ok_or_else(wrong)?;
            towns.push_str(town);
            rows.push(row);
        }
        let found = cities.iter().map(|(prefecture, _)| prefecture).collect::<BTreeSet<_>>().len();
        if found < PREFECTURES.len() {
            return Err(format!(
                "it has {found} of the {} prefectures, so it ends early or is a part; take the whole list",
                PREFECTURES.len()
            ));
        }
        rows.sort_unstable();
        towns.shrink_to_fit();
        let codes = rows.chunk_by(|a, b| a.code() == b.code()).count();
        Ok(Self { as_of, codes, cities, rows, towns })
    }

    pub fn as_of(&self) -> NaiveDate {
        self.as_of
    }

    /// The number of different codes.
    pub fn codes(&self) -> usize {
        self.codes
    }

    /// Whether it is recent enough that a letter waits because of it.
    pub fn is_recent(&self, today: NaiveDate) -> bool {
        today.signed_duration_since(self.as_of) <= RECENT
    }

    pub(super) fn cities(&self, code: &str) -> Vec<City<'_>> {
        let mut numbers: Vec<usize> = self.rows(code).iter().map(|row| row.city()).collect();
        numbers.dedup();
        let named = numbers.into_iter().filter_map(|number| self.cities.get(number));
        named.map(|(prefecture, name)| City { prefecture, name }).collect()
    }

    /// Its towns. An empty one stands for every part of the city.
    pub(super) fn towns(&self, code: &str) -> Vec<&str> {
        self.rows(code).iter().map(|row| row.town(&self.towns)).collect()
    }

    pub(super) fn cities_of(&self, prefecture: &str) -> Vec<&str> {
        let here = self.cities.iter().filter(|(its, _)| **its == *prefecture);
        here.map(|(_, name)| &**name).collect()
    }

    fn rows(&self, code: &str) -> &[Row] {
        let code = code.parse().ok().filter(|_| code.len() == 7).unwrap_or(u32::MAX);
        let begin = self.rows.partition_point(|row| row.code() < code);
        let end = self.rows.partition_point(|row| row.code() <= code);
        self.rows.get(begin..end).unwrap_or_default()
    }
}

/// The town's name alone. Empty if the row stands for a whole city, or for several towns.
fn town(written: &str) -> &str {
    let alone = written.split('（').next().unwrap_or_default();
    let is_whole = alone == "以下に掲載がない場合"
        || alone.ends_with("の次に番地がくる場合")
        || (alone.ends_with("一円") && alone != "一円");
    // The older file breaks a long town into several rows.
    let is_part = alone.contains(['）', '、', '～', '「']);
    if is_whole || is_part { "" } else { alone }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row for each prefecture, and these.
    fn list(rows: &[(&str, &str, &str, &str)]) -> Vec<u8> {
        let row = |code: &str, prefecture: &str, city: &str, town: &str| {
            format!(
                "01101,\"060  \",\"{code}\",\"ホ\",\"サ\",\"イ\",\"{prefecture}\",\"{city}\",\"{town}\",0,0,0,0,0,0\n"
            )
        };
        let whole = "以下に掲載がない場合";
        let every = PREFECTURES.iter().enumerate();
        let every =
            every.map(|(number, prefecture)| row(&format!("99900{number:02}"), prefecture, "見本市", whole));
        let these = rows.iter().map(|(code, prefecture, city, town)| row(code, prefecture, city, town));
        every.chain(these).collect::<String>().into_bytes()
    }

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn a_code_has_the_cities_and_towns_of_its_rows() {
        let many: Vec<String> = (0..300).map(|number| format!("01{number:05}")).collect();
        let mut rows: Vec<(&str, &str, &str, &str)> = many
            .iter()
            .rev()
            .map(|code| (code.as_str(), "北海道", "札幌市中央区", "大通西（１～１９丁目）"))
            .collect();
        rows.extend([("0100064", "北海道", "札幌市北区", "北十条西"); 70]);
        let data = PostalData::read(&list(&rows), day("2026-10-31")).unwrap();
        assert_eq!(data.codes(), 347);
        for code in &many {
            let cities: Vec<&str> = data.cities(code).iter().map(|city| city.name).collect();
            let expected: &[&str] = if code == "0100064" {
                &["札幌市中央区", "札幌市北区"]
            } else {
                &["札幌市中央区"]
            };
            assert_eq!(cities, expected, "{code}");
            assert_eq!(data.towns(code)[0], "大通西");
        }
        assert_eq!(data.towns("0100064").len(), 71);
        for code in ["0000000", "0100300", "9999999", "010006", "０１０００６４", ""] {
            assert!(data.cities(code).is_empty() && data.towns(code).is_empty(), "{code}");
        }
        assert_eq!(data.towns("9990000"), [""]);
        assert_eq!(data.cities_of("東京都"), ["見本市"]);
    }

    #[test]
    fn a_town_is_the_name_that_an_address_has() {
        for (written, expected) in [
            ("旭ケ丘", "旭ケ丘"),
            ("大通西（１～１９丁目）", "大通西"),
            ("以下に掲載がない場合", ""),
            ("阿智村の次に番地がくる場合", ""),
            ("利島村一円", ""),
            ("一円", "一円"),
            ("１９丁目）", ""),
            ("甲、乙", ""),
        ] {
            assert_eq!(town(written), expected, "{written}");
        }
    }

    #[test]
    fn what_is_not_the_whole_list_is_refused_with_its_place() {
        let read = |bytes: &[u8]| PostalData::read(bytes, day("2026-10-31")).map(|_| ()).unwrap_err();
        let whole = list(&[]);
        read(&whole[..whole.len() / 2]);
        let lines = |count: usize| {
            whole.split_inclusive(|byte| *byte == b'\n').take(count).flatten().copied().collect::<Vec<u8>>()
        };
        assert!(read(&lines(46)).contains("46 of the 47 prefectures"), "{}", read(&lines(46)));
        assert!(read(b"").contains("0 of the 47"));
        assert!(read(b"customer,postal_code\n1,0600001\n").contains("row 1 is not"));
        assert!(read(&[whole.clone(), b"1,2,06000,,,,x\n".to_vec()].concat()).contains("row 48 is not"));
        let (cp932, ..) = encoding_rs::SHIFT_JIS.encode(std::str::from_utf8(&whole).unwrap());
        assert_eq!(PostalData::read(&cp932, day("2026-10-31")).unwrap().codes(), 47);
    }

    #[test]
    fn a_list_is_recent_for_six_months() {
        let data = PostalData::read(&list(&[]), day("2026-04-30")).unwrap();
        assert!(data.is_recent(day("2026-04-30")) && data.is_recent(day("2026-10-30")));
        assert!(!data.is_recent(day("2026-10-31")));
        assert!(data.is_recent(day("2026-01-01")), "a clock that is behind");
    }
}
