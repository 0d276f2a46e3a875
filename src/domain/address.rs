//! The receiver and the sender of a letter.
//!
//! `Address::problems` rejects what the service would reject. Addresses are personal data, so `Debug` shows
//! nothing of them.

mod city;
mod lines;
mod mistake;
mod places;
mod postal;
mod postal_data;
mod spelling;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use city::{in_city, table_date};
pub use lines::in_lines;
pub use mistake::{AddressMistake, Field, Wrong};
pub use places::{Misplaced, PlaceDoubt, PlaceList};
pub use postal_data::PostalData;
pub use spelling::{Folded, fold, usual};

const POSTAL_CODE_DIGITS: usize = 7;
const STATE_CHARACTERS: usize = 4;
/// The service does not document its limit. This is our own, and it fits every system in use.
const TEXT_CHARACTERS: usize = 255;

/// As they are written out, from north to south.
pub const PREFECTURES: [&str; 47] = [
    "北海道",
    "青森県",
    "岩手県",
    "宮城県",
    "秋田県",
    "山形県",
    "福島県",
    "茨城県",
    "栃木県",
    "群馬県",
    "埼玉県",
    "千葉県",
    "東京都",
    "神奈川県",
    "新潟県",
    "富山県",
    "石川県",
    "福井県",
    "山梨県",
    "長野県",
    "岐阜県",
    "静岡県",
    "愛知県",
    "三重県",
    "滋賀県",
    "京都府",
    "大阪府",
    "兵庫県",
    "奈良県",
    "和歌山県",
    "鳥取県",
    "島根県",
    "岡山県",
    "広島県",
    "山口県",
    "徳島県",
    "香川県",
    "愛媛県",
    "高知県",
    "福岡県",
    "佐賀県",
    "長崎県",
    "熊本県",
    "大分県",
    "宮崎県",
    "鹿児島県",
    "沖縄県",
];

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    pub postal_code: String,
    pub state: String,
    pub city: String,
    pub address1: String,
    pub name: String,
}

/// An address, with the honorific that follows a receiver's name, such as 様 or 御中.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Receiver {
    pub address: Address,
    pub honorific: String,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Address(…)")
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver(…)")
    }
}

impl Address {
    /// The mistakes for which the service would reject the address. The values themselves are not repeated.
    pub fn problems(&self) -> Vec<AddressMistake> {
        let mut problems = Vec::new();
        let mut say = |field, wrong| problems.push(AddressMistake { field, wrong });
        let digits = self.postal_code.chars().all(|c| c.is_ascii_digit());
        if !digits || self.postal_code.len() != POSTAL_CODE_DIGITS {
            say(Field::PostalCode, Wrong::NotSevenDigits);
        }
        if self.state.chars().count() > STATE_CHARACTERS {
            say(Field::State, Wrong::LongState);
        }
        let texts = [
            (Field::State, &self.state),
            (Field::City, &self.city),
            (Field::Address1, &self.address1),
            (Field::Name, &self.name),
        ];
        problems.extend(texts.into_iter().filter_map(|(field, text)| text_problem(field, text)));
        problems
    }

    /// What the service accepts although it may be wrong.
    pub fn doubts(&self) -> Vec<AddressMistake> {
        if !PREFECTURES.contains(&self.state.as_str()) {
            return vec![AddressMistake { field: Field::State, wrong: Wrong::NoPrefecture }];
        }
        let elsewhere = self.elsewhere().map(Wrong::Elsewhere);
        let wrong = elsewhere.or_else(|| self.other_city().map(Wrong::OtherCity));
        wrong.map(|wrong| AddressMistake { field: Field::PostalCode, wrong }).into_iter().collect()
    }

    /// The cities of the postal code, or its prefectures if its cities are unknown, if the address's own
    /// prefecture is not one of theirs.
    pub fn elsewhere(&self) -> Option<String> {
        PREFECTURES.iter().find(|name| **name == self.state)?;
        let cities = city::cities(&self.postal_code);
        let (theirs, names): (Vec<&str>, Vec<String>) = if cities.is_empty() {
            let spans = postal::prefectures(self.postal_code.parse().ok()?).map(usize::from);
            let names = spans.filter_map(|place| PREFECTURES.get(place).copied());
            names.map(|name| (name, name.to_owned())).unzip()
        } else {
            cities.iter().map(|city| (city.prefecture, format!("{}{}", city.prefecture, city.name))).unzip()
        };
        (!theirs.is_empty() && !theirs.contains(&self.state.as_str())).then(|| names.join("・"))
    }

    /// The cities of the postal code, if the address names none of them. `None` for an unknown code.
    pub fn other_city(&self) -> Option<String> {
        let cities = city::cities(&self.postal_code);
        let address = fold(&format!("{}{}", self.city, self.address1));
        let other = !cities.is_empty()
            && !cities.iter().any(|city| city.is_named_by(&address, PlaceList::built_in()));
        other.then(|| cities.iter().map(|city| city.name).collect::<Vec<_>>().join("・"))
    }
}

impl Receiver {
    pub fn problems(&self) -> Vec<AddressMistake> {
        let mut problems = self.address.problems();
        problems.extend(text_problem(Field::Honorific, &self.honorific));
        problems
    }
}

fn text_problem(field: Field, text: &str) -> Option<AddressMistake> {
    let wrong = if text.trim().is_empty() {
        Wrong::Empty
    } else if text.chars().count() > TEXT_CHARACTERS {
        Wrong::TooLong
    } else if text.chars().any(char::is_control) {
        Wrong::Control
    } else {
        return None;
    };
    Some(AddressMistake { field, wrong })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sapporo() -> Address {
        Address {
            postal_code: "0600001".to_owned(),
            state: "北海道".to_owned(),
            city: "札幌市中央区".to_owned(),
            address1: "北一条西1-1".to_owned(),
            name: "山田 太郎".to_owned(),
        }
    }

    #[test]
    fn a_postal_code_of_another_prefecture_is_noticed() {
        let elsewhere = |code: &str, state: &str| {
            let address = Address { postal_code: code.to_owned(), state: state.to_owned(), ..sapporo() };
            address.elsewhere()
        };
        for (code, state) in [
            ("0600001", "北海道"),
            ("1000001", "東京都"),
            ("5300001", "大阪府"),
            ("9000001", "沖縄県"),
            // Places near borders: Shimamoto, Tsushima, Kisosaki, and Aomori's part of Towada.
            ("6180001", "大阪府"),
            ("8170001", "長崎県"),
            ("4980801", "三重県"),
            ("0185501", "青森県"),
            // A company's own code, within the span of the prefecture next to it.
            ("6848501", "鳥取県"),
            // Two prefectures share this code.
            ("4980000", "愛知県"),
            ("4980000", "三重県"),
        ] {
            assert_eq!(elsewhere(code, state), None, "{code} {state}");
        }
        assert_eq!(elsewhere("1000001", "大阪府").as_deref(), Some("東京都千代田区"));
        assert_eq!(elsewhere("4980000", "東京都").as_deref(), Some("三重県桑名郡木曽岬町・愛知県弥富市"));
        // An unknown code or prefecture is not a doubt.
        for (code, state) in [("9999999", "東京都"), ("1000001", "東京"), ("x", "東京都")] {
            assert_eq!(elsewhere(code, state), None, "{code} {state}");
        }
        let every: std::collections::BTreeSet<u8> =
            (0..=9_999_999).step_by(97).flat_map(postal::prefectures).collect();
        assert_eq!(every.len(), 47, "each has codes");
    }

    #[test]
    fn what_the_service_would_refuse_is_named_without_being_repeated() {
        assert!(sapporo().problems().is_empty());
        let change = |alter: &dyn Fn(&mut Address)| {
            let mut address = sapporo();
            alter(&mut address);
            let problems = address.problems();
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(!problems[0].to_string().contains("山田"));
            problems[0].to_string()
        };
        assert!(change(&|a| a.postal_code = "060-0001".to_owned()).contains("hyphen"));
        assert!(change(&|a| a.postal_code = "０６００００１".to_owned()).starts_with("postal_code"));
        assert!(change(&|a| a.postal_code = "600001".to_owned()).starts_with("postal_code"));
        assert!(change(&|a| a.state = "北海道札幌".to_owned()).starts_with("state"));
        assert!(change(&|a| a.name = "山田\n太郎".to_owned()).starts_with("name"));
        assert!(change(&|a| a.city = " ".to_owned()).starts_with("city"));
        assert!(change(&|a| a.address1 = "北".repeat(256)).starts_with("address1"));
        assert!(!format!("{:?}", sapporo()).contains("山田"));
    }
}
