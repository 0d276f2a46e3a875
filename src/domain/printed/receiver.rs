//! The receiver as an address block names it. Nothing is guessed: a block that can be read in two ways gives none.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::block::{code_places, honorific_of};
use super::named::is_of;
use super::{Addressee, Area, Block, Printed, block_in, blocks};
use crate::domain::address::{Address, PlaceList, Receiver, in_city};

/// Why no receiver can be taken from a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoReceiver {
    /// Nothing on the page can be read.
    Unreadable,
    /// There is no address block with a postal code.
    NoBlock,
    /// There are several.
    SeveralBlocks,
    /// The block has several postal codes, or several names.
    Several,
    /// The address does not name the city of its postal code, or the code is not known.
    OtherCity,
    /// It is not clear which lines are the address and which the name.
    Lines,
}

impl fmt::Display for NoReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "nothing on page 1 can be read",
            Self::NoBlock => "there is no address with a postal code and a name on page 1",
            Self::SeveralBlocks => "there are several addresses on page 1",
            Self::Several => "the address on page 1 has several postal codes or names",
            Self::OtherCity => "the address on page 1 is not in the city of its postal code",
            Self::Lines => "it is not clear where on page 1 the address ends and the name begins",
        })
    }
}

/// Words that an organisation's name ends with or has.
#[rustfmt::skip]
const ORGANISATIONS: [&str; 27] = [
    "会社", "(株)", "(有)", "法人", "組合", "協会", "連合会", "事務所", "病院", "医院", "クリニック", "学校", "学園", "大学",
    "銀行", "信用金庫", "役所", "役場", "センター", "研究所", "商店", "支店", "営業所", "工場", "部", "課", "室御中",
];
/// Words of a line that goes on with an address.
const PLACES: [&str; 12] =
    ["ビル", "マンション", "号室", "丁目", "番地", "アパート", "ハイツ", "コーポ", "荘", "棟", "階", "団地"];

/// The receiver in the area, or in the only address block of page 1 that is not the sender's.
pub fn receiver_on(
    printed: &Printed,
    area: Option<Area>,
    sender: &Address,
    places: PlaceList<'_>,
) -> Result<Receiver, (NoReceiver, Option<String>)> {
    let page = printed.pages.first().filter(|page| page.is_readable());
    let page = page.ok_or((NoReceiver::Unreadable, None))?;
    let block = if let Some(area) = area {
        block_in(page, &area)
    } else {
        let mut found = blocks(page);
        found.retain(|block| !is_of(sender, block));
        if found.len() > 1 {
            return Err((NoReceiver::SeveralBlocks, None));
        }
        found.pop()
    };
    let block = block.ok_or((NoReceiver::NoBlock, None))?;
    receiver_of(&block, places).map_err(|why| (why, Some(block.text)))
}

fn receiver_of(block: &Block, places: PlaceList<'_>) -> Result<Receiver, NoReceiver> {
    let lines: Vec<&str> = block.text.lines().map(str::trim).collect();
    let codes: Vec<_> = lines.iter().flat_map(|line| code_places(line)).collect();
    let [(_, postal_code)] = codes.as_slice() else {
        return Err(if codes.is_empty() { NoReceiver::NoBlock } else { NoReceiver::Several });
    };
    let mut named = lines.iter().enumerate().filter_map(|(at, line)| Some((at, honorific_of(line)?)));
    let (at, (name, honorific)) = named.next().ok_or(NoReceiver::NoBlock)?;
    if named.next().is_some() || at + 1 != lines.len() || !code_places(name).is_empty() {
        return Err(NoReceiver::Several);
    }
    let before = lines.get(..at).unwrap_or_default().iter().map(|line| without_code(line));
    let before: Vec<String> = before.filter(|line| !line.is_empty()).collect();
    // An address ends where an organisation begins.
    let is_organisation = |line: &String| ORGANISATIONS.iter().any(|word| line.contains(word));
    let goes_on = |line: &String| {
        line.chars().any(|c| c.is_ascii_digit()) || PLACES.iter().any(|word| line.contains(word))
    };
    let mut address = String::new();
    let mut organisation = Vec::new();
    for (index, line) in before.iter().enumerate() {
        let is_first = index == 0 || in_city(places, postal_code, &address).is_none();
        if organisation.is_empty() && (is_first || goes_on(line) && !is_organisation(line)) {
            if !address.is_empty() && !is_first {
                address.push(' ');
            }
            address.push_str(line);
        } else if is_organisation(line) && !goes_on(line) {
            organisation.push(line.as_str());
        } else {
            return Err(NoReceiver::Lines);
        }
    }
    let (state, city, rest) = in_city(places, postal_code, &address).ok_or(NoReceiver::OtherCity)?;
    if rest.is_empty() {
        return Err(NoReceiver::Lines);
    }
    let name = organisation.into_iter().chain([name]).collect::<Vec<_>>().join(" ");
    let address = Address { postal_code: postal_code.clone(), state, city, address1: rest, name };
    Ok(Receiver { address, honorific: honorific.to_owned() })
}

/// The line without its postal code and the mark before it.
fn without_code(line: &str) -> String {
    let characters: Vec<char> = line.chars().collect();
    let Some((place, _)) = code_places(line).into_iter().next() else { return line.to_owned() };
    let before: String = characters.get(..place.start).unwrap_or_default().iter().collect();
    let after: String = characters.get(place.end..).unwrap_or_default().iter().collect();
    format!("{} {}", before.trim_end().trim_end_matches('〒'), after.trim_start()).trim().to_owned()
}

/// Why a drop waits whose receiver was to be taken from its page.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiverDoubt {
    /// Nobody was written to there before. `who` is `None` where names must not be shown.
    FirstTime { who: Option<ReadReceiver>, accepts: Vec<String> },
    /// What was read of the block, where names may be shown.
    NotRead { why: NoReceiver, read: Option<ReadReceiver> },
}

/// What was read of a receiver, for people.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReadReceiver(pub String);

impl fmt::Debug for ReadReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadReceiver(…)")
    }
}

impl ReceiverDoubt {
    /// The same without names, for where names must not be shown.
    #[must_use]
    pub fn without_people(&self) -> Self {
        match self {
            Self::FirstTime { who: _, accepts } => Self::FirstTime { who: None, accepts: accepts.clone() },
            Self::NotRead { why, read: _ } => Self::NotRead { why: *why, read: None },
        }
    }
}

impl ReadReceiver {
    pub fn of(receiver: &Receiver) -> Self {
        let Address { postal_code, state, city, address1, .. } = &receiver.address;
        let addressee = Addressee { postal_code: None, ..Addressee::on_envelope(receiver) };
        let code = postal_code.split_at_checked(3).map_or_else(String::new, |(a, b)| format!("〒{a}-{b} "));
        Self(format!("{code}{state}{city}{address1} {addressee}"))
    }

    /// The lines of a block.
    pub fn of_block(text: &str) -> Self {
        Self(text.lines().collect::<Vec<_>>().join(" / "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PrintedLine, PrintedPage};
    use super::*;

    fn sender() -> Address {
        Address {
            postal_code: "1000001".to_owned(),
            state: "東京都".to_owned(),
            city: "千代田区".to_owned(),
            address1: "千代田1-1".to_owned(),
            name: "株式会社サンプル".to_owned(),
        }
    }

    fn read(text: &str, area: Option<Area>) -> Result<String, NoReceiver> {
        let lines = (0_u8..).zip(text.split('/')).map(|(n, line)| {
            let top = 40.0 + f32::from(n) * 6.0;
            let right = 20.0 + f32::from(u8::try_from(line.chars().count()).unwrap()) * 3.9;
            PrintedLine { text: line.to_owned(), left: 20.0, top, right, bottom: top + 4.0 }
        });
        let page =
            PrintedPage { width: 210.0, height: 297.0, lines: lines.collect(), ..PrintedPage::default() };
        let receiver =
            receiver_on(&Printed { pages: vec![page], count: 1 }, area, &sender(), PlaceList::built_in())
                .map_err(|(why, _)| why)?;
        let Receiver { address, honorific } = receiver;
        let Address { postal_code, state, city, address1, name } = address;
        Ok([postal_code, state, city, address1, name, honorific].join("|"))
    }

    #[test]
    fn a_receiver_is_taken_from_a_block_that_is_read_in_one_way_only() {
        let yamada = "0600001|北海道|札幌市中央区|北一条西1-1|山田 太郎|様";
        for (text, expected) in [
            ("〒060-0001/北海道札幌市中央区北一条西1-1/山田 太郎 様", Ok(yamada)),
            ("〒060-0001/札幌市中央区北一条西1-1/山田 太郎 様", Ok(yamada)),
            ("〒060-0001 北海道札幌市中央区北一条西1-1/山田 太郎 様", Ok(yamada)),
            ("〒060-0001/北海道札幌市中央区/北一条西1-1/山田 太郎 様", Ok(yamada)),
            (
                "〒060-0001/北海道札幌市中央区北一条西1-1/見本ビル3階/山田 太郎 様",
                Ok("0600001|北海道|札幌市中央区|北一条西1-1 見本ビル3階|山田 太郎|様"),
            ),
            (
                "〒060-0001/北海道札幌市中央区北一条西1-1/株式会社見本/総務部/佐藤 花子 様",
                Ok("0600001|北海道|札幌市中央区|北一条西1-1|株式会社見本 総務部 佐藤 花子|様"),
            ),
            (
                "〒530-0001/大阪府大阪市北区梅田1-1-1/山本商事株式会社 御中",
                Ok("5300001|大阪府|大阪市北区|梅田1-1-1|山本商事株式会社|御中"),
            ),
            // The ward may be left out, and the district too.
            (
                "〒060-0001/札幌市北一条西1-1/山田 太郎 様",
                Ok("0600001|北海道|札幌市|北一条西1-1|山田 太郎|様"),
            ),
            ("〒678-1231/兵庫県上郡町上郡500/山田 太郎 様", Ok("6781231|兵庫県|上郡町|上郡500|山田 太郎|様")),
            ("〒530-0001/北海道札幌市中央区北一条西1-1/山田 太郎 様", Err(NoReceiver::OtherCity)),
            ("〒060-0001/東京都札幌市中央区北一条西1-1/山田 太郎 様", Err(NoReceiver::OtherCity)),
            ("〒060-0001/北海道札幌市北区北一条西1-1/山田 太郎 様", Err(NoReceiver::OtherCity)),
            ("〒999-9999/北海道札幌市中央区北一条西1-1/山田 太郎 様", Err(NoReceiver::OtherCity)),
            ("〒060-0001/北海道札幌市中央区北一条西1-1/グリーン札幌/山田 太郎 様", Err(NoReceiver::Lines)),
            (
                "〒060-0001/北海道札幌市中央区北一条西1-1/株式会社見本/第2ビル/山田 太郎 様",
                Err(NoReceiver::Lines),
            ),
            ("〒060-0001/北海道札幌市中央区/山田 太郎 様", Err(NoReceiver::Lines)),
            (
                "〒060-0001/北海道札幌市中央区北一条西1-1/株式会社見本 御中/佐藤 花子 様",
                Err(NoReceiver::Several),
            ),
            ("〒060-0001/北海道札幌市中央区北一条西1-1/山田 太郎", Err(NoReceiver::NoBlock)),
            ("北海道札幌市中央区北一条西1-1/山田 太郎 様", Err(NoReceiver::NoBlock)),
            ("〒100-0001/東京都千代田区千代田1-1/株式会社サンプル 御中", Err(NoReceiver::NoBlock)),
            (
                "〒060-0001/北海道札幌市中央区北一条西1-1/山田 太郎 様////〒530-0001/大阪府大阪市北区梅田1-1/山本商事 御中",
                Err(NoReceiver::SeveralBlocks),
            ),
        ] {
            assert_eq!(read(text, None).as_deref(), expected.as_ref().map(|found| *found), "{text}");
        }
        assert_eq!(read("", None), Err(NoReceiver::Unreadable));
        // In the area one of two is meant.
        let two = "〒060-0001/北海道札幌市中央区北一条西1-1/山田 太郎 様////〒530-0001/大阪府大阪市北区梅田1-1/山本商事 御中";
        let area = Area { left: 10.0, top: 35.0, width: 120.0, height: 25.0 };
        assert_eq!(read(two, Some(area)).as_deref(), Ok(yamada));
    }

    #[test]
    fn what_was_read_is_shown_to_people_and_not_in_debug() {
        let receiver = Receiver { address: sender(), honorific: "御中".to_owned() };
        let read = ReadReceiver::of(&receiver);
        assert_eq!(read.0, "〒100-0001 東京都千代田区千代田1-1 株式会社サンプル 御中");
        let doubt = ReceiverDoubt::FirstTime { who: Some(read), accepts: Vec::new() };
        assert!(!format!("{doubt:?}").contains('千'));
        assert_eq!(doubt.without_people(), ReceiverDoubt::FirstTime { who: None, accepts: Vec::new() });
    }
}
