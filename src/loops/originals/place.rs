//! Where an original belongs. Pure.

use std::path::PathBuf;

use chrono_tz::Tz;

use crate::base::clock::Time;
use crate::domain::drop::Undecided;
use crate::domain::letter::{Letter, State};
use crate::outside::store::OriginalPlace;
use crate::words::texts::Names;

/// Where the original of a letter belongs.
pub(super) fn of_letter(letter: &Letter) -> OriginalPlace {
    if letter.is_on_its_way() {
        // Out of sight, so that nobody drops it again.
        return OriginalPlace::Claim;
    }
    match &letter.state {
        State::Confirmed { .. } | State::Shipped { .. } => OriginalPlace::Sent,
        State::Cancelled { .. } | State::Withdrawn | State::Closed => OriginalPlace::Cancelled,
        // Held, or not begun, so that a person may still change their mind.
        State::Admitted
        | State::Created { .. }
        | State::Uploaded { .. }
        | State::Confirming { .. }
        | State::Withdrawing { .. }
        | State::Held { .. } => OriginalPlace::Held,
    }
}

pub(super) fn of_drop(undecided: &Undecided) -> OriginalPlace {
    match undecided {
        Undecided::Refused(_) => OriginalPlace::Rejected,
        Undecided::Waits(_) => OriginalPlace::Held,
        Undecided::Cancelled => OriginalPlace::Cancelled,
        Undecided::Accepted { .. } => OriginalPlace::Claim,
    }
}

/// The directory of a place within the folder. `None` if it is out of sight.
pub(super) fn dir(place: OriginalPlace, names: &Names, zone: Tz, posted: Option<Time>) -> Option<PathBuf> {
    match place {
        OriginalPlace::Claim | OriginalPlace::Gone => None,
        OriginalPlace::Held => Some(PathBuf::from(&names.held)),
        OriginalPlace::Rejected => Some(PathBuf::from(&names.rejected)),
        OriginalPlace::Cancelled => Some(PathBuf::from(&names.cancelled)),
        OriginalPlace::Sent => {
            let month = posted.unwrap_or_default().with_timezone(&zone).format("%Y-%m").to_string();
            Some(PathBuf::from(&names.sent).join(month))
        }
    }
}
