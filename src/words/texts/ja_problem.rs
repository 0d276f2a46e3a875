//! What is wrong with an order, in Japanese.

use crate::domain::address::{AddressMistake, Field, Wrong};
use crate::domain::letter::{
    DOCUMENTS_PER_LETTER, LARGEST_DOCUMENT, OrderProblem, PAGES_PER_DOCUMENT, SHEETS_PER_LETTER,
};

pub(super) fn problem(problem: &OrderProblem) -> String {
    match problem {
        OrderProblem::Sender(mistake) => address("差出人", mistake),
        OrderProblem::Receiver(mistake) => address("宛先", mistake),
        OrderProblem::Reply(mistake) => address("返信用レターパックの返送先", mistake),
        OrderProblem::OptionsWithoutNormal => "オプションは普通郵便（normal）でのみ使えます。".to_owned(),
        OrderProblem::OptionTwice => "同じオプションが二度指定されています。".to_owned(),
        OrderProblem::BothRegistered => "書留の種類は一つだけ指定してください。".to_owned(),
        OrderProblem::Documents(found) => {
            format!("書類が{found}個あります。一通に入れられるのは1～{DOCUMENTS_PER_LETTER}個です。")
        }
        OrderProblem::Sheets(found) => format!(
            "全部で{found}枚になります。一通で送れるのは{SHEETS_PER_LETTER}枚までです。二通に分けるか、両面印刷にしてください。"
        ),
        OrderProblem::Size(document, bytes) => {
            format!(
                "{}番目の書類の大きさが{bytes}バイトあります。郵送できるのは1～{LARGEST_DOCUMENT}バイトです。",
                document + 1
            )
        }
        OrderProblem::Pages(document, pages) => {
            format!(
                "{}番目の書類が{pages}ページあります。郵送できるのは1～{PAGES_PER_DOCUMENT}ページです。",
                document + 1
            )
        }
        OrderProblem::Told(text) => format!("{text}。"),
        OrderProblem::StapledAndBound(document) => {
            format!("{}番目の書類は、ホチキス留めと製本を同時に指定できません。", document + 1)
        }
    }
}

/// The field's name in the file is part of the text.
fn address(whose: &str, AddressMistake { field, wrong }: &AddressMistake) -> String {
    let key = field.key();
    let what = match field {
        Field::PostalCode => "郵便番号",
        Field::State => "都道府県",
        Field::City => "市区町村",
        Field::Address1 => "住所",
        Field::Name => "氏名",
        Field::Honorific => "敬称",
    };
    let wrong = match wrong {
        Wrong::NotSevenDigits => "ハイフンなしの半角数字7桁で書いてください",
        Wrong::LongState => "都道府県名だけを書いてください（例: 神奈川県）",
        Wrong::Empty => "入力されていません",
        Wrong::TooLong => "長すぎます（255文字まで）",
        Wrong::Control => "改行などの制御文字が含まれています",
        Wrong::NoPrefecture => "都道府県名ではありません",
        Wrong::OtherCity(there) => {
            return format!("{whose}の郵便番号は{there}のものです（市区町村の表による）。");
        }
        Wrong::Elsewhere(there) => return format!("{whose}の郵便番号は{there}のものです。"),
    };
    format!("{whose}の{what}（{key}）: {wrong}。")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::drop::Refusal;
    use crate::words::texts::Language;

    #[test]
    fn what_cannot_be_posted_is_said_in_japanese_and_without_the_address() {
        let mistake = |field, wrong| AddressMistake { field, wrong };
        for (given, said) in [
            (
                OrderProblem::Sheets(1000),
                "全部で1000枚になります。一通で送れるのは995枚までです。二通に分けるか、両面印刷にしてください。",
            ),
            (
                OrderProblem::Pages(0, 2001),
                "1番目の書類が2001ページあります。郵送できるのは1～2000ページです。",
            ),
            (
                OrderProblem::Receiver(mistake(Field::PostalCode, Wrong::NotSevenDigits)),
                "宛先の郵便番号（postal_code）: ハイフンなしの半角数字7桁で書いてください。",
            ),
            (
                OrderProblem::Sender(mistake(Field::Name, Wrong::Empty)),
                "差出人の氏名（name）: 入力されていません。",
            ),
        ] {
            assert_eq!(
                Language::Ja.refusal(&Refusal::NotPostable(vec![given])).cause,
                format!("このままでは郵送できません。{said}")
            );
        }
    }
}
