//! The values for the templates of e-mails. Every text in them is ready to be read.

use serde::Serialize;

/// The kinds of e-mail. Each has a template of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EmailKind {
    Shipped,
    Held,
    Rejected,
    Cancelled,
    CardDeclined,
    /// To operators: something is wrong, or is right again.
    Alert,
    /// To operators: letters that a person must look at.
    Letters,
    Digest,
    /// To the sender of a mail that brought documents.
    Reply,
}

impl EmailKind {
    pub const ALL: [Self; 9] = [
        Self::Shipped,
        Self::Held,
        Self::Rejected,
        Self::Cancelled,
        Self::CardDeclined,
        Self::Alert,
        Self::Letters,
        Self::Digest,
        Self::Reply,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Shipped => "shipped",
            Self::Held => "held",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::CardDeclined => "card_declined",
            Self::Alert => "alert",
            Self::Letters => "letters",
            Self::Digest => "digest",
            Self::Reply => "reply",
        }
    }

    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Everything that a template may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct EmailContent {
    /// The folder's name. Empty if the e-mail is about no folder.
    pub folder: String,
    /// Where people find it: its path as they know it (`shown_as`), else as this machine does.
    pub place: Option<String>,
    pub items: Vec<Item>,
    /// The number of entries beyond those shown.
    pub more: usize,
    /// Whether somebody must look at one of them.
    pub held: bool,
    /// Whether one of them is about something that a person wanted of a letter, which may be posted all the same.
    pub orders: bool,
    pub alert: Option<Alert>,
    pub digest: Option<Digest>,
}

/// A letter, or a drop that is not a letter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Item {
    #[serde(skip)]
    pub number: Option<u64>,
    /// The drop, if it is not a letter.
    #[serde(skip)]
    pub drop: Option<String>,
    /// Whether it is about something that a person wanted of a letter.
    #[serde(skip)]
    pub is_order: bool,
    /// `#17`
    pub letter: Option<String>,
    pub folder: String,
    pub file: Option<String>,
    pub receiver: Option<String>,
    pub pages: Option<u32>,
    /// What happened: a headline, then the cause with its remedy.
    pub headline: String,
    pub cause: Option<String>,
    pub remedy: Option<String>,
    pub posted: Option<String>,
    pub shipped: Option<String>,
    pub tracking: Option<String>,
    pub tracking_url: Option<String>,
    /// The Content-ID of a picture of its page, which is a part of the e-mail: `<img src="cid:…">`.
    pub picture: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Alert {
    /// Whether the trouble is over.
    pub over: bool,
    pub title: String,
    pub cause: String,
    pub remedy: String,
    pub since: String,
}

/// What happened in a period, and what waits for a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Digest {
    pub from: String,
    pub to: String,
    pub folders: Vec<DigestRow>,
    pub total: DigestRow,
    pub waiting: Vec<Item>,
    /// The number of waiting letters beyond those shown.
    pub more: usize,
    /// Letters that may be printed otherwise than meant, the first of them.
    pub notes: Vec<DigestNote>,
    pub alarms: Vec<Alert>,
}

/// What may be printed otherwise than meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DigestNote {
    pub folder: String,
    pub letter: String,
    pub file: String,
    pub note: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DigestRow {
    pub folder: String,
    pub posted: u32,
    pub sheets: u32,
    pub shipped: u32,
    pub held: u32,
    pub rejected: u32,
    pub cancelled: u32,
}

impl DigestRow {
    pub fn add(&mut self, other: &Self) {
        self.posted += other.posted;
        self.sheets += other.sheets;
        self.shipped += other.shipped;
        self.held += other.held;
        self.rejected += other.rejected;
        self.cancelled += other.cancelled;
    }
}

/// The page on which Japan Post shows a letter's progress.
pub fn tracking_url(number: &str) -> String {
    let number: String = number.chars().filter(char::is_ascii_alphanumeric).collect();
    format!(
        "https://trackings.post.japanpost.jp/services/srv/search/direct?reqCodeNo1={number}&searchKind=S002&locale=ja"
    )
}
