//! What office people read in their language: the cause and the remedy.
//!
//! Pure: values in, texts out. The folder, terminals and e-mails have the same texts.

mod alert;
mod en;
mod from_page;
mod history;
mod ja;
mod ja_problem;
mod mailed;
mod note;
mod pdf;
mod place;
mod printing;
mod unheard;
mod waits;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use alert::AlertNews;
pub use note::{Noted, Times, note};

use crate::domain::drop::{Doubtful, Refusal, Waiting};
use crate::domain::letter::{BEING_PACKED, Notice, Reason, TOO_LATE};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    #[default]
    En,
    Ja,
}

/// What happened, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    pub cause: String,
    pub remedy: String,
}

impl Advice {
    fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { cause: cause.into(), remedy: remedy.into() }
    }
}

impl std::fmt::Display for Advice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [&self.cause, &self.remedy].map(String::as_str);
        f.write_str(parts.join(" ").trim())
    }
}

impl Language {
    pub fn refusal(self, refusal: &Refusal) -> Advice {
        match self {
            Self::En => en::refusal(refusal),
            Self::Ja => ja::refusal(refusal),
        }
    }

    pub fn waiting(self, waiting: &Waiting, names: &Names) -> Advice {
        match self {
            Self::En => en::waiting(waiting, names),
            Self::Ja => ja::waiting(waiting, names),
        }
    }

    /// Why a letter could not be called back.
    fn too_late(self, why: &str) -> String {
        match (self, why) {
            (Self::Ja, TOO_LATE) => "取消期限を過ぎています".to_owned(),
            (Self::Ja, BEING_PACKED) => "印刷・発送の作業に入っています".to_owned(),
            (Self::En | Self::Ja, why) => why.to_owned(),
        }
    }

    /// A letter waits to be posted together with others.
    fn posting_time(self, time: &str, names: &Names) -> Advice {
        let Names { approve, cancel, .. } = names;
        match self {
            Self::En => Advice::new(
                format!("It is posted together with others on {time}."),
                format!("To post it now, move it into `{approve}`. To give it up, move it into `{cancel}`."),
            ),
            Self::Ja => Advice::new(
                format!("{time}に、ほかの郵便とまとめて郵送します。"),
                format!(
                    "すぐに郵送する場合は「{approve}」に、取りやめる場合は「{cancel}」に移してください。"
                ),
            ),
        }
    }

    /// The cause and the remedy that operators are mailed about a letter in trouble. `is_posted`: it is certain that it
    /// was posted.
    pub fn lasting(self, notice: Notice, is_posted: bool) -> Option<Advice> {
        let (cause, remedy) = match (self, notice) {
            (Self::En, Notice::Overdue) => (
                "It has not shipped three days after its date.",
                "Ask the service what became of it. mailchute continues to follow it.",
            ),
            (Self::En, Notice::Stuck) if is_posted => (
                "It is posted, under other credentials than the present ones, so it can't be followed or cancelled.",
                "Do not send it again. Give the account those credentials again, or ask the service about it.",
            ),
            (Self::En, Notice::Stuck) => (
                "What became of it is not known.",
                "The service gives no definite answer; it is asked again by itself. Do not send it again.",
            ),
            (Self::En, Notice::Delayed) => (
                "It is not posted yet: a step before that fails again and again.",
                "`mailchute show` says why. It is tried again by itself; do not send it again.",
            ),
            (Self::En, Notice::SealedOtherwise) => (
                "The PDF that the service sealed is not the one that was uploaded.",
                "Compare the sealed PDF beside the original with it, and ask the service.",
            ),
            (Self::Ja, Notice::Overdue) => (
                "発送予定日を三日過ぎても発送されていません。",
                "郵送サービスにご確認ください。mailchuteは確認を続けます。",
            ),
            (Self::Ja, Notice::Stuck) if is_posted => (
                "以前の認証情報で郵送済みのため、追跡も取消しもできません。",
                "もう一度送らないでください。以前の認証情報に戻すか、郵送サービスにご確認ください。",
            ),
            (Self::Ja, Notice::Stuck) => (
                "郵送されたかどうか確認できていません。",
                "郵送サービスへの確認を自動で続けています。もう一度送らないでください。",
            ),
            (Self::Ja, Notice::Delayed) => (
                "まだ郵送できていません。準備の段階で失敗を繰り返しています。",
                "原因は`mailchute show`で確認できます。自動で再試行しますので、もう一度送らないでください。",
            ),
            (Self::Ja, Notice::SealedOtherwise) => (
                "郵送サービスが保管したPDFが、送信したPDFと一致しません。",
                "原本の隣にある保管PDFと見比べて、郵送サービスにご確認ください。",
            ),
            (
                Self::En | Self::Ja,
                Notice::Held
                | Notice::NotWithdrawn
                | Notice::Cancelled
                | Notice::CancelledElsewhere
                | Notice::Withdrawn
                | Notice::Shipped,
            ) => return None,
        };
        Some(Advice::new(cause, remedy))
    }

    pub fn hold(self, reason: &Reason, names: &Names) -> Advice {
        match self {
            Self::En => en::hold(reason, names),
            Self::Ja => ja::hold(reason, names),
        }
    }
}

/// What is in doubt of each PDF.
fn doubts(doubtful: &[Doubtful], said: impl Fn(&Doubtful) -> String) -> String {
    doubtful.iter().map(said).collect::<Vec<_>>().join(" ")
}

/// The names of the subfolders that people see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    pub held: String,
    pub sent: String,
    pub rejected: String,
    pub cancelled: String,
    pub approve: String,
    pub cancel: String,
    /// Whether approving needs a copy, which shows who approved.
    pub by_copy: bool,
}

impl Language {
    /// The usual names of the shelves, in the order of [`Names::all`].
    pub const fn shelves(self) -> [&'static str; 6] {
        match self {
            Self::En => ["Held", "Sent", "Rejected", "Cancelled", "Approve", "Cancel"],
            Self::Ja => ["保留", "送付済み", "差し戻し", "取消済み", "承認する", "取り消す"],
        }
    }
}

impl Names {
    pub fn usual(language: Language) -> Self {
        let [held, sent, rejected, cancelled, approve, cancel] = language.shelves().map(str::to_owned);
        Self { held, sent, rejected, cancelled, approve, cancel, by_copy: false }
    }

    pub fn all(&self) -> [&str; 6] {
        [&self.held, &self.sent, &self.rejected, &self.cancelled, &self.approve, &self.cancel]
    }
}
