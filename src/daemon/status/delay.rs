//! Why nothing happens to a letter that is neither held nor ended, if that is not the letter's own doing.

use super::Live;
use crate::base::clock::Time;
use crate::domain::letter::Letter;
use crate::domain::pause::Cause;
use crate::outside::store::{LetterRow, PausedRow};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delay<'a> {
    /// Its account is paused.
    Paused { since: Time, cause: &'a Cause },
    /// The daemon does not run.
    NotRunning,
    /// The daemon was started with a configuration without its account.
    UnknownAccount,
    /// The service does not answer its account.
    Silent { since: Time, why: Option<&'a str> },
    /// Its account was not read yet.
    Unread,
    /// It is posted at this time.
    Until(Time),
}

impl<'a> Delay<'a> {
    /// The first of the causes that is so. `live` is `None` if no daemon runs.
    pub fn of(
        row: &LetterRow,
        letter: &Letter,
        paused: &'a [PausedRow],
        live: Option<&'a Live>,
        now: Time,
    ) -> Option<Self> {
        if row.due_at.is_none() || letter.state.hold().is_some() {
            return None;
        }
        if let Some(PausedRow { pause, .. }) = paused.iter().find(|paused| paused.account == row.account) {
            return Some(Self::Paused { since: pause.since, cause: &pause.cause });
        }
        let Some(live) = live else { return Some(Self::NotRunning) };
        let Some(account) = live.accounts.iter().find(|account| account.name == row.account) else {
            return Some(Self::UnknownAccount);
        };
        if let Some(since) = account.silent_since {
            return Some(Self::Silent { since, why: account.silent_why.as_deref() });
        }
        if !account.known {
            return Some(Self::Unread);
        }
        letter.not_before.filter(|until| *until > now).map(Self::Until)
    }
}
