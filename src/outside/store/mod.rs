//! What is known about letters, durable: SQLite, with the ledger as its second place.
//!
//! `Store` is the daemon's, one for each state directory: operations of the domain, each one short
//! transaction, written by one thread that commits whatever has gathered. `Desk` is for commands: they
//! read, and write orders that the daemon carries out. An error after which memory could be ahead of the disk
//! ends the daemon (`Halted`); it starts again from what is durable.

mod adopt;
mod alarms;
mod audit;
mod bell;
mod counts;
mod desk;
mod diagnosis;
mod drops;
mod due;
mod emails;
mod epoch;
mod folders;
mod home;
mod incoming;
mod kept;
mod mailed;
mod moves;
mod news;
mod originals;
mod place;
mod read;
mod recovery;
mod relocate;
mod report;
mod rows;
mod said;
mod salvage;
mod schedule;
mod schema;
mod search;
mod snapshot;
mod standing;
mod tally;
mod union;
mod writer;
mod written_to;

use std::io;
use std::path::PathBuf;

pub use audit::Findings;
pub use bell::Bell;
pub use desk::{Answered, Desk, LetterRow, Totals};
pub use drops::{DropRow, FolderRow};
pub use emails::{Addressed, EmailEnd, EmailRow};
pub use epoch::{Epoch, Epochs};
pub use folders::{BegunMarker, KnownFolder};
pub use home::Home;
pub use incoming::{IncomingRow, QueueRow};
pub use kept::{EndedLetter, SealedRow};
pub use mailed::{MailNumber, MailPlace, MailedRow, NewMail, ReplyTo};
pub use moves::{Admission, Record, RecordError};
pub use news::{DropNotice, News, OwedRow};
pub use originals::{Fate, Original, OriginalPlace};
pub use place::{Binding, Elsewhere, Standing as PlaceStanding, standing as place_standing};
pub use read::{AccountCommand, AccountOrder, Dated, PausedRow};
pub use recovery::Report;
pub use relocate::relocate;
pub use report::{Period, Reported};
pub use schedule::Scheduled;
pub use search::{FoundLetters, Listed, Lying, SearchIndex, Sought};
pub use snapshot::{AccountWork, BeforeStep, DueLimits, OpenWork};
pub use standing::{Count, NextLook, Since, Took};
pub use tally::{Tally, Waits};
pub use union::{Agreement, union};
pub use writer::{Halted, Store};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("another mailchute runs on {0}; stop it first, or give this one a `state` of its own")]
    InUse(PathBuf),
    #[error(
        "the database is of version {found} and this mailchute knows version {known}: it was written by a \
         newer one; use that one"
    )]
    Newer { found: i64, known: i64 },
    #[error(
        "the database is of version {found}, and this mailchute needs version {known}: start the daemon with this \
         program, which updates it"
    )]
    Older { found: i64, known: i64 },
    #[error(
        "{0} is on a network filesystem ({1}), where locks and syncs do not hold; put `state` on a local disk"
    )]
    NetworkDisk(PathBuf, &'static str),
    #[error(
        "the records in {dir} do not belong there: {what}. Two sets of the same records would post letters twice. \
         If this is a backup or a copy that is to continue, start once with `mailchute run --after-restore`: every \
         unfinished letter is then held. To move records, stop mailchute and use `mailchute move`, which \
         holds none"
    )]
    Copied { dir: PathBuf, what: Elsewhere },
    #[error(
        "the records in {from} were moved to {to} and post from there: write `state: {to}` in mailchute.yaml"
    )]
    Moved { from: PathBuf, to: PathBuf },
    #[error(
        "moving the records into {dir} was interrupted; with the old `state` in mailchute.yaml run \
         `mailchute move {dir}` once more", dir = .0.display()
    )]
    BeingFilled(PathBuf),
    #[error(
        "{0} can't take the records: it is not empty, or lies within them; name an empty directory elsewhere"
    )]
    NoRoom(PathBuf),
    #[error("there are no records in {0} yet; `mailchute run` makes them")]
    Nothing(PathBuf),
    #[error("the state directory can't be used")]
    Io(#[from] io::Error),
    #[error("the database can't be used")]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Ledger(#[from] crate::outside::spool::LedgerError),
    #[error("a record can't be read")]
    Json(#[from] serde_json::Error),
    #[error("the records of letter {0} are damaged")]
    Damaged(crate::domain::letter::Number),
    #[error("the database is damaged")]
    Broken,
    #[error("what recovery found can't be recorded")]
    Recording(#[source] Box<RecordError>),
}

impl StoreError {
    /// Whether the database file itself is damaged, so that it can be made anew from the ledger.
    pub(crate) fn is_corruption(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            Self::Sqlite(rusqlite::Error::SqliteFailure(error, _)) => {
                matches!(error.code, DatabaseCorrupt | NotADatabase)
            }
            Self::Damaged(_) | Self::Broken => true,
            Self::Sqlite(_)
            | Self::InUse(_)
            | Self::Newer { .. }
            | Self::Older { .. }
            | Self::NetworkDisk(..)
            | Self::Copied { .. }
            | Self::Moved { .. }
            | Self::BeingFilled(_)
            | Self::NoRoom(_)
            | Self::Nothing(_)
            | Self::Io(_)
            | Self::Ledger(_)
            | Self::Json(_)
            | Self::Recording(_) => false,
        }
    }

    fn recording(error: RecordError) -> Self {
        Self::Recording(Box::new(error))
    }
}

pub(crate) fn millis(time: crate::base::clock::Time) -> i64 {
    time.timestamp_millis()
}

pub(crate) fn time(millis: i64) -> crate::base::clock::Time {
    chrono::DateTime::from_timestamp_millis(millis).unwrap_or_default()
}

pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
