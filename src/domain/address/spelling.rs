//! One spelling for what Japanese addresses and names write in several: old and new forms of characters, small
//! and large kana, hyphens and spaces. For comparing only; nothing is ever sent in this form.

use unicode_normalization::UnicodeNormalization as _;

/// A text in one spelling.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Folded(String);

impl Folded {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What was folded may be a name or an address, so it is not shown.
impl std::fmt::Debug for Folded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Folded(…)")
    }
}

/// Each character and the one that stands for it.
#[rustfmt::skip]
const SAME: [(char, char); 97] = [
    ('ヶ', 'ケ'), ('が', 'ケ'), ('ガ', 'ケ'), ('ヵ', 'カ'), ('之', 'ノ'), ('乃', 'ノ'), ('の', 'ノ'), ('ッ', 'ツ'),
    ('っ', 'ツ'), ('つ', 'ツ'), ('郞', '郎'), ('髙', '高'), ('﨑', '崎'), ('嵜', '崎'), ('碕', '崎'), ('澤', '沢'), ('濱', '浜'),
    ('濵', '浜'), ('邊', '辺'), ('邉', '辺'), ('齋', '斎'), ('齊', '斎'), ('斉', '斎'), ('嶋', '島'), ('嶌', '島'),
    ('曾', '曽'), ('龍', '竜'), ('櫻', '桜'), ('壽', '寿'), ('廣', '広'), ('國', '国'), ('藏', '蔵'), ('瀧', '滝'),
    ('檜', '桧'), ('籠', '篭'), ('鰺', '鯵'), ('諫', '諌'), ('礪', '砺'), ('蘂', '蕊'), ('頸', '頚'), ('麴', '麹'),
    ('蘆', '芦'), ('竈', '竃'), ('淵', '渕'), ('渊', '渕'), ('舘', '館'), ('惠', '恵'), ('眞', '真'), ('圓', '円'),
    ('條', '条'), ('來', '来'), ('與', '与'), ('萬', '万'), ('會', '会'), ('學', '学'), ('靜', '静'), ('德', '徳'),
    ('縣', '県'), ('區', '区'), ('鄕', '郷'), ('鹽', '塩'), ('鐵', '鉄'), ('黑', '黒'), ('彌', '弥'), ('榮', '栄'),
    ('當', '当'), ('佛', '仏'), ('寶', '宝'), ('藝', '芸'), ('龜', '亀'), ('桒', '桑'), ('埜', '野'), ('峯', '峰'),
    ('栁', '柳'), ('冨', '富'), ('曻', '昇'), ('𠮷', '吉'), ('恆', '恒'), ('號', '号'), ('聲', '声'), ('豐', '豊'),
    ('轉', '転'), ('邨', '村'), ('驛', '駅'), ('鷗', '鴎'), ('檮', '梼'), ('穗', '穂'), ('繩', '縄'), ('莊', '荘'),
    ('薗', '園'), ('讚', '讃'), ('仝', '同'), ('〇', '零'), ('ゑ', 'え'), ('ヱ', 'エ'), ('ゐ', 'い'), ('ヰ', 'イ'),
];

/// Radicals that browsers write into PDFs instead of the characters, and that NFKC leaves as they are.
#[rustfmt::skip]
const RADICALS: [(char, char); 35] = [
    ('⺟', '母'), ('⺠', '民'), ('⺩', '王'), ('⺮', '竹'), ('⺶', '羊'), ('⻁', '虎'), ('⻄', '西'), ('⻅', '見'),
    ('⻆', '角'), ('⻉', '貝'), ('⻋', '車'), ('⻑', '長'), ('⻒', '長'), ('⻗', '雨'), ('⻘', '青'), ('⻙', '韋'),
    ('⻚', '頁'), ('⻜', '飛'), ('⻝', '食'), ('⻞', '食'), ('⻡', '首'), ('⻢', '馬'), ('⻣', '骨'), ('⻤', '鬼'),
    ('⻥', '魚'), ('⻦', '鳥'), ('⻨', '麦'), ('⻩', '黄'), ('⻫', '斉'), ('⻬', '斉'), ('⻭', '歯'), ('⻮', '歯'),
    ('⻯', '竜'), ('⻰', '竜'), ('⻲', '亀'),
];

/// The text in usual characters: NFKC, and no radicals.
pub fn usual(text: &str) -> String {
    let is_radical = |c: char| ('\u{2e80}'..='\u{2eff}').contains(&c);
    let known = |c: char| RADICALS.iter().find(|(radical, _)| *radical == c).map_or(c, |(_, usual)| *usual);
    text.nfkc().map(|c| if is_radical(c) { known(c) } else { c }).collect()
}

/// Spaces, hyphens of all kinds and middle dots are nothing.
fn is_nothing(c: char) -> bool {
    let is_dash = matches!(c, '-' | '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '─' | '━' | '－' | 'ｰ');
    let is_selector =
        matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{200b}'..='\u{200d}');
    c.is_whitespace() || is_dash || is_selector || matches!(c, '・' | '･' | '·' | '.' | ',' | '、' | '。')
}

/// The text in one spelling. A hyphen between two digits stays, so that 1-12 is not 11-2.
pub fn fold(text: &str) -> Folded {
    let mut folded = String::with_capacity(text.len());
    let mut parted = false;
    for c in usual(text).chars() {
        if is_nothing(c) {
            parted |= folded.ends_with(|last: char| last.is_ascii_digit());
            continue;
        }
        if parted && c.is_ascii_digit() {
            folded.push('-');
        }
        parted = false;
        let c = SAME.iter().find(|(other, _)| *other == c).map_or(c, |(_, usual)| *usual);
        folded.extend(c.to_lowercase());
    }
    Folded(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_several_ways_is_one() {
        for (one, other) in [
            ("髙橋 﨑子", "高橋崎子"),
            ("鎌ケ谷市", "鎌ヶ谷市"),
            ("霞が関", "霞ヶ関"),
            ("株式会社　ＡＢＣ", "株式会社abc"),
            ("１－２－３", "1-2-3"),
            ("⼭⽥", "山田"),
            ("⻑⾕川 ⻘⽊", "長谷川青木"),
            ("葛\u{e0100}飾区", "葛飾区"),
        ] {
            assert_eq!(fold(one).as_str(), fold(other).as_str(), "{one} {other}");
        }
        for (one, other) in [("1-12", "11-2"), ("山田", "山本"), ("1 2", "12")] {
            assert_ne!(fold(one).as_str(), fold(other).as_str(), "{one} {other}");
        }
    }

    #[test]
    fn each_character_stands_once() {
        let mut all: Vec<char> = SAME.iter().map(|(one, _)| *one).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), SAME.len());
        for (_, usual) in SAME {
            let chained = SAME.iter().any(|(one, other)| *one == usual && *other != usual);
            assert!(!chained, "{usual} stands for itself");
        }
    }
}
