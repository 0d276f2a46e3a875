//! What office people read: in their language, the cause and the remedy.
//!
//! Pure: values in, texts out. The same texts stand in the folder, on a terminal and in mails.

mod en;
mod ja;
mod note;

use schemars::JsonSchema;
use serde::Deserialize;

pub use note::{Noted, Times, note};

use crate::drop::{Refusal, Waiting};
use crate::letter::Reason;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    #[default]
    En,
    Ja,
}

/// What happened, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub cause: String,
    pub remedy: String,
}

impl Said {
    fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { cause: cause.into(), remedy: remedy.into() }
    }
}

impl Language {
    pub fn refusal(self, refusal: &Refusal) -> Said {
        match self {
            Self::En => en::refusal(refusal),
            Self::Ja => ja::refusal(refusal),
        }
    }

    pub fn waiting(self, waiting: &Waiting, names: &Names) -> Said {
        match self {
            Self::En => en::waiting(waiting, names),
            Self::Ja => ja::waiting(waiting, names),
        }
    }

    pub fn hold(self, reason: &Reason, names: &Names) -> Said {
        match self {
            Self::En => en::hold(reason, names),
            Self::Ja => ja::hold(reason, names),
        }
    }
}

/// The names of the subfolders that people see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    pub held: String,
    pub sent: String,
    pub rejected: String,
    pub cancelled: String,
    pub approve: String,
    pub cancel: String,
}

impl Names {
    pub fn usual(language: Language) -> Self {
        let names = match language {
            Language::En => ["Held", "Sent", "Rejected", "Cancelled", "Approve", "Cancel"],
            Language::Ja => ["保留", "送付済み", "差し戻し", "取消済み", "承認する", "取り消す"],
        };
        let [held, sent, rejected, cancelled, approve, cancel] = names.map(str::to_owned);
        Self { held, sent, rejected, cancelled, approve, cancel }
    }

    pub fn all(&self) -> [&str; 6] {
        [&self.held, &self.sent, &self.rejected, &self.cancelled, &self.approve, &self.cancel]
    }
}
