//! What is doubtful about the postal code of a receiver, in words.

use super::Language;
use crate::domain::address::Misplaced;

impl Language {
    /// A whole sentence.
    pub fn misplaced(self, what: &Misplaced) -> String {
        match self {
            Self::En => {
                let said = what.to_string();
                let mut letters = said.chars();
                let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
                format!("{first}{}.", letters.as_str())
            }
            Self::Ja => match what {
                Misplaced::OtherCity(there) => {
                    format!("宛先の郵便番号は{there}のもので、住所の市区町村と一致しません。")
                }
                Misplaced::UnknownCode => "宛先の郵便番号が郵便番号データにありません。".to_owned(),
                Misplaced::OtherTown(there) => {
                    format!("宛先の郵便番号は{there}のものですが、住所にその町名がありません。")
                }
            },
        }
    }
}
