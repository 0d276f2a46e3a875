//! What the world can be asked, and what it can answer.

use chrono::TimeDelta;

use super::account::{Card, Chosen, ScreenRefusal};
use super::ids::{AccountId, BlobId, ClientId, ContentId, MailId};
use super::mail::Stored;
use super::problem::{Fault, Problem};
use super::store_error::StoreError;
use super::token::{Credentials, OAuthError};
use crate::base::clock::Time;
use crate::base::secret::Secret;
use crate::outside::api::wire::{self, CreateMail};

/// One call: of the API, the authorization server, the object store or the management screen. Bodies come
/// parsed, or with their mistakes, because the world first decides whether the caller may call at all.
#[derive(Debug, Clone)]
pub enum Request {
    IssueToken {
        credentials: Vec<Credentials>,
        grant_type: Option<String>,
        scope: Option<String>,
    },
    RevokeToken {
        credentials: Vec<Credentials>,
        token: Option<Secret>,
    },

    ReadAccount {
        bearer: Option<Secret>,
    },
    CreateMail {
        bearer: Option<Secret>,
        order: Result<Box<CreateMail>, Vec<Fault>>,
    },
    ConfirmMail {
        bearer: Option<Secret>,
        mail: MailId,
        payment: Payment,
    },
    ReadMail {
        bearer: Option<Secret>,
        mail: MailId,
        stale: bool,
    },
    CancelMail {
        bearer: Option<Secret>,
        mail: MailId,
    },
    ReadPdf {
        bearer: Option<Secret>,
        mail: MailId,
        content: ContentId,
    },
    /// A route or method that does not exist, or a body that never came: a token is required first.
    Elsewhere {
        bearer: Option<Secret>,
        problem: Problem,
    },

    Upload {
        fields: UploadFields,
        file: Received,
    },
    Download {
        key: String,
        query: Vec<(String, String)>,
    },

    OpenAccount {
        name: String,
        card: Card,
    },
    CloseAccount {
        account: AccountId,
    },
    SetCard {
        account: AccountId,
        card: Card,
    },
    IssueClient {
        account: AccountId,
        name: String,
        terms_agreed: bool,
        chosen: Option<Chosen>,
    },
    ReissueSecret {
        client: ClientId,
        chosen: Option<Secret>,
    },
    BeginPacking {
        mail: MailId,
    },
    /// Everything is as it was at the beginning, but for the time.
    Reset {
        client: ClientId,
        /// The client's first secret, if it is known.
        secret: Option<Secret>,
        card: Card,
    },

    /// Only lets time pass.
    PassTime,
}

/// How the card company behaves for one confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Payment {
    #[default]
    AsTheCardSays,
    InProgress,
    Declined,
}

/// The form fields before the file, in their order. They are a key, so `Debug` hides them.
#[derive(Clone)]
pub struct UploadFields(pub Vec<(String, String)>);

impl std::fmt::Debug for UploadFields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UploadFields({})", self.0.len())
    }
}

/// The file of an upload.
#[derive(Debug, Clone)]
pub enum Received {
    Kept(Stored),
    /// Over the limit, so its bytes were not kept.
    TooLarge {
        size: u64,
    },
}

impl Received {
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Kept(stored) => stored.size,
            Self::TooLarge { size } => *size,
        }
    }
}

#[derive(Debug, Clone)]
pub enum Reply {
    Token {
        secret: Secret,
        lifetime: TimeDelta,
        scope: String,
    },
    Revoked,
    OAuth(OAuthError),

    Unauthorized,
    Forbidden,
    Problem(Problem),
    Account {
        id: AccountId,
        name: String,
        card_registered: bool,
    },
    Created(Created),
    /// 204.
    Done,
    Mail(Box<wire::Mail>),
    Pdf {
        key: String,
        query: String,
        expires_at: Time,
    },

    Stored,
    Document(Document),
    StoreError(StoreError),

    AccountOpened(AccountId),
    ClientIssued {
        id: ClientId,
        secret: Secret,
    },
    ScreenDone,
    Screen(ScreenRefusal),

    TimePassed,
}

#[derive(Debug, Clone)]
pub struct Created {
    pub id: MailId,
    pub ships_at: Time,
    pub confirm_by: Time,
    pub targets_expire_at: Time,
    pub contents: Vec<CreatedContent>,
}

#[derive(Debug, Clone)]
pub struct CreatedContent {
    pub id: ContentId,
    pub file_name: String,
    pub fields: UploadFields,
}

/// Where the bytes of a document are, and their hash.
#[derive(Debug, Clone)]
pub struct Document {
    pub blob: BlobId,
    pub sha256: String,
    pub file_name: String,
}
