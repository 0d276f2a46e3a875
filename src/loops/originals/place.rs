//! Where an original belongs. Pure.

use std::path::PathBuf;

use chrono_tz::Tz;

use crate::base::clock::Time;
use crate::domain::drop::Undecided;
use crate::domain::letter::{Letter, State};
use crate::outside::store::Place;
use crate::words::texts::Names;

/// Where the original of a letter belongs.
pub(super) fn of_letter(letter: &Letter) -> Place {
    if letter.is_on_its_way() {
        // Out of sight, so that nobody drops it again.
        return Place::Claim;
    }
    match &letter.state {
        State::Confirmed { .. } | State::Shipped { .. } => Place::Sent,
        State::Cancelled { .. } | State::Withdrawn | State::Closed => Place::Cancelled,
        // Held, or not begun, so that a person may still have another mind.
        State::Admitted
        | State::Created { .. }
        | State::Uploaded { .. }
        | State::Confirming { .. }
        | State::Withdrawing { .. }
        | State::Held { .. } => Place::Held,
    }
}

pub(super) fn of_drop(undecided: &Undecided) -> Place {
    match undecided {
        Undecided::Refused(_) => Place::Rejected,
        Undecided::Waits(_) => Place::Held,
        Undecided::Cancelled => Place::Cancelled,
        Undecided::Accepted { .. } => Place::Claim,
    }
}

/// The directory of a place within the folder; none for what is out of sight.
pub(super) fn dir(place: Place, names: &Names, zone: Tz, posted: Option<Time>) -> Option<PathBuf> {
    match place {
        Place::Claim | Place::Gone => None,
        Place::Held => Some(PathBuf::from(&names.held)),
        Place::Rejected => Some(PathBuf::from(&names.rejected)),
        Place::Cancelled => Some(PathBuf::from(&names.cancelled)),
        Place::Sent => {
            let month = posted.unwrap_or_default().with_timezone(&zone).format("%Y-%m").to_string();
            Some(PathBuf::from(&names.sent).join(month))
        }
    }
}
