//! Why a folder cannot be used at present.

use std::io;

use super::wire::{Wire, malformed, tagged};
use super::{Keeper, PATIENCE};

#[derive(Debug, thiserror::Error)]
pub enum Away {
    #[error("it can't be opened: {0}; look whether it is there and its share is mounted")]
    Closed(#[source] io::Error),
    #[error(
        "it does not answer: its file system has returned no call for {} seconds (is the server down?); nothing in \
         it is taken in or moved until it answers again",
        PATIENCE.as_secs()
    )]
    NoAnswer,
    #[error("its helper process ended; another one is started")]
    HelperEnded,
    #[error(
        "a call that an earlier run of mailchute made in it has not returned yet; it is resumed when it has"
    )]
    NotLetGo,
    #[error(
        "its directory .mailchute is gone: its share is not mounted, or it was emptied; if that was on purpose, make an empty .mailchute in it and what lies there is held"
    )]
    NotOurs,
    #[error("{0}")]
    ShelfName(String),
    #[error(
        "it has the same marker as the folder {0}, and nobody can tell which of the two it is: leave one of them out \
         of the configuration, or write `first_start: hold` into the file of the copy and empty its .mailchute"
    )]
    Rival(String),
    #[error(
        "its directory .mailchute belongs to another user, or others may write in it: somebody put it there; if it is \
         right, `chown -R` it to mailchute's user and `chmod 700` it"
    )]
    OthersCorner,
    #[error("nothing can be made or moved in it: {0}; give mailchute's user the right to write there")]
    NoRight(#[source] io::Error),
    #[error("another mailchute uses it{}", .0.as_ref().map(|keeper| format!(", with the records in {}", keeper.state.display())).unwrap_or_default())]
    Taken(Option<Keeper>),
    #[error(
        "another mailchute uses it with a copy of these records, in {}: two would post letters twice; stop \
         one of them and remove its copy, or start it once with `mailchute run --after-restore`",
        .0.state.display()
    )]
    TakenByTwin(Keeper),
}

impl Away {
    /// A call on an open folder failed.
    pub fn closed(error: io::Error) -> Self {
        Self::of(&error).unwrap_or(Self::Closed(error))
    }

    /// Something could not be created or moved.
    pub fn no_right(error: io::Error) -> Self {
        Self::of(&error).unwrap_or(Self::NoRight(error))
    }

    /// The reason if the calling helper failed, whatever was called.
    fn of(error: &io::Error) -> Option<Self> {
        let causes = [
            (io::ErrorKind::TimedOut, Self::NoAnswer),
            (io::ErrorKind::ConnectionAborted, Self::HelperEnded),
        ];
        causes.into_iter().find(|(kind, _)| *kind == error.kind()).map(|(_, away)| away)
    }

    /// Whether the folder was there all the time, as far as is known. `trouble` is what was reported about
    /// it.
    pub fn was_there(trouble: &str) -> bool {
        [Self::NoAnswer, Self::HelperEnded, Self::NotLetGo].iter().any(|away| away.to_string() == trouble)
    }
}

/// Only what opening a folder may return. The other reasons are found by intake.
impl Wire<'_> for Away {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Closed(error) => tagged(0, error, out),
            Self::NotOurs => tagged(1, &(), out),
            Self::OthersCorner => tagged(2, &(), out),
            Self::NoRight(error) => tagged(3, error, out),
            Self::Taken(keeper) => tagged(4, keeper, out),
            Self::TakenByTwin(keeper) => tagged(5, keeper, out),
            Self::NotLetGo => tagged(6, &(), out),
            Self::ShelfName(_) | Self::Rival(_) | Self::NoAnswer | Self::HelperEnded => {
                tagged(0, &io::Error::other("away"), out);
            }
        }
    }
    fn take(from: &mut &[u8]) -> io::Result<Self> {
        Ok(match u8::take(from)? {
            0 => Self::Closed(Wire::take(from)?),
            1 => Self::NotOurs,
            2 => Self::OthersCorner,
            3 => Self::NoRight(Wire::take(from)?),
            4 => Self::Taken(Wire::take(from)?),
            5 => Self::TakenByTwin(Wire::take(from)?),
            6 => Self::NotLetGo,
            _ => return Err(malformed()),
        })
    }
}
