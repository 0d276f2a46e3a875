//! Why a file in `Approve` or `Cancel` is not obeyed, although a letter or drop is known by its name or
//! bytes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::letter::{Letter, Number, State};

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unheard {
    /// Several letters have this name and these bytes.
    Several {
        letters: Vec<Number>,
        #[serde(skip)]
        receivers: Receivers,
    },
    /// This letter has the name or the bytes, but its state does not allow the order.
    Known {
        letter: Number,
        standing: StandingLetter,
        /// Whether the bytes are the letter's.
        same: bool,
    },
    /// A drop of this name waits, but these are not its bytes.
    Changed,
    /// It is a copy of a drop that waits, and copies count for nothing here.
    CopyOfHeld,
    /// It is a copy of a letter that waits, and the address beside it, or beside the original, is not the letter's.
    OtherAddress { letter: Number },
    /// A letter or a waiting drop has this name, but the file could not be read, so nothing could be compared.
    Unread,
}

/// The receivers of several letters, in the order of the letters. Used for the text in their folder, and
/// stored nowhere.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Receivers(pub Vec<String>);

impl fmt::Debug for Receivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receivers(…)")
    }
}

/// A letter's condition, as texts describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandingLetter {
    /// It waits for a person or for its posting time.
    Waits,
    OnItsWay,
    Posted,
    Shipped,
    NotPosted,
    /// Ended, and nobody knows whether it was posted.
    Closed,
}

impl StandingLetter {
    pub fn of(letter: &Letter) -> Self {
        if letter.state.hold().is_some() {
            return Self::Waits;
        }
        match &letter.state {
            State::Admitted if letter.not_before.is_some() && letter.mails == 0 => Self::Waits,
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. } => Self::OnItsWay,
            State::Confirmed { .. } => Self::Posted,
            State::Shipped { .. } => Self::Shipped,
            State::Cancelled { .. } | State::Withdrawn => Self::NotPosted,
            State::Closed => Self::Closed,
            State::Held { .. } => Self::Waits,
        }
    }

    pub fn has_ended(self) -> bool {
        match self {
            Self::Waits | Self::OnItsWay | Self::Posted => false,
            Self::Shipped | Self::NotPosted | Self::Closed => true,
        }
    }
}
