//! The text in the folder itself about what lies and waits there. Also the remark in other texts while a
//! change of the rules is not in force.

use super::{Language, Names};
use crate::domain::drop::HeldUp;

impl Language {
    pub const ALL: [Self; 2] = [Self::En, Self::Ja];

    /// The name of the text in the folder itself.
    pub fn waits_name(self) -> &'static str {
        match self {
            Self::En => "THESE FILES WAIT.txt",
            Self::Ja => "待機中のファイル.txt",
        }
    }

    /// The whole text, in the form of the notes beside originals.
    pub fn waits(self, drops: &[(String, HeldUp)]) -> String {
        let first = match self {
            Self::En => "These files are not posted yet:",
            Self::Ja => "次のファイルはまだ郵送されていません。",
        };
        let lines = drops.iter().map(|(name, why)| format!("{name}: {}", self.held_up(*why)));
        let lines: Vec<String> = [first.to_owned(), String::new()].into_iter().chain(lines).collect();
        format!("\u{feff}{}\r\n", lines.join("\r\n"))
    }

    fn held_up(self, why: HeldUp) -> &'static str {
        match (self, why) {
            (Self::En, HeldUp::Rules) => {
                "the rules of this folder are being changed. It continues by itself when they are saved."
            }
            (Self::En, HeldUp::Book) => {
                "the address book is missing, does not answer, keeps changing, or its last line has no end. It continues by itself when \
                 the book is saved whole."
            }
            (Self::En, HeldUp::Right) => {
                "mailchute has no permission to move it. Copy it into the folder instead of moving it, and remove this one; \
                 or ask the administrator."
            }
            (Self::En, HeldUp::Instruction) => {
                "it can't be processed, so nothing is approved or cancelled by it yet. It is tried again by itself; ask \
                 the administrator."
            }
            (Self::Ja, HeldUp::Rules) => {
                "フォルダーの規則が変更中です。変更が保存されると、自動で処理を再開します。"
            }
            (Self::Ja, HeldUp::Book) => {
                "住所録がないか、応答しないか、変更中か、最後の行が途中で終わっています。住所録が保存されると、自動で処理を再開します。"
            }
            (Self::Ja, HeldUp::Instruction) => {
                "受け付けられないため、まだ承認・取消できていません。自動で再試行します。サーバーの管理者にご相談ください。"
            }
            (Self::Ja, HeldUp::Right) => {
                "mailchuteに移動する権限がありません。移動ではなくコピーで入れ直して元のファイルを削除するか、サーバーの管理者にご相談ください。"
            }
        }
    }

    /// What the text beside a letter that waits says, if the sidecar beside it is not the letter's.
    pub fn other_address(self, names: &Names) -> String {
        let Names { approve, cancel, .. } = names;
        match self {
            Self::En => format!(
                "The file with an address that lies beside it asks for something else than this letter, or can't be read. \
                 So the letter is not approved by moving it into `{approve}`. If the letter is right, take that file away \
                 first. If the file is right, move the letter into `{cancel}`, and then put the PDF and the file into the \
                 folder together."
            ),
            Self::Ja => format!(
                "横にある宛先ファイルの内容が、この手紙と違うか、読み取れません。そのため「{approve}」に移しても承認されません。この手紙が正しい場合は、先に宛先ファイルを取り除いてください。宛先ファイルが正しい場合は、この手紙を「{cancel}」に移してから、PDFと宛先ファイルを一緒にフォルダーに入れてください。"
            ),
        }
    }

    /// The end of a text that was written while a saved change of the rules has a mistake.
    pub fn old_rules(self) -> &'static str {
        match self {
            Self::En => {
                "A change of the rules was saved and is not in force, because it has a mistake. The previous rules decided."
            }
            Self::Ja => {
                "保存された規則の変更に誤りがあるため、まだ有効になっていません。変更前の規則で処理しました。"
            }
        }
    }
}
