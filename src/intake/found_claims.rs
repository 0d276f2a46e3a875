//! The claims that lie in a folder when it is opened, and whether they are ours.

use std::io;

use super::shared::Shared;
use super::{IntakeError, claims};
use crate::hot::{Away, Hot, WAS_THERE};
use crate::spool::Ulid;

/// Whose the claims of a folder are that was opened.
pub(super) enum Enabled {
    /// Ours; the marker under which these records, and no others, have worked here until now.
    Ours(Option<String>),
    /// Those of the folder it was copied from.
    Copied,
}

/// The claims of a folder that was opened. Those that may not be ours got a name by which they are held.
pub(super) fn claims_of(
    shared: &Shared,
    hot: &Hot,
    enabled: &Enabled,
) -> Result<Result<Vec<String>, Away>, IntakeError> {
    let found = match hot.claims() {
        Ok(found) => found,
        Err(error) => return Ok(Err(Away::closed(error))),
    };
    let mut claims = Vec::new();
    for dir in found {
        let claim = match enabled {
            Enabled::Ours(marker) => distrusted(shared, hot, dir, marker.as_deref())?,
            Enabled::Copied => made_anew(shared, hot, &dir),
        };
        match claim {
            Ok(claim) => claims.push(claim),
            Err(error) => return Ok(Err(Away::no_right(error))),
        }
    }
    Ok(Ok(claims))
}

/// A claim that was copied gets a name of its own, and is held.
fn made_anew(shared: &Shared, hot: &Hot, dir: &str) -> io::Result<String> {
    let Some(ulid) = shared.new_ulid() else { return Err(io::Error::other("no name can be drawn")) };
    let held = format!("{ulid}{WAS_THERE}");
    hot.rename_claim(dir, &held).map(|()| held)
}

/// Whatever may not be ours is held.
fn distrusted(
    shared: &Shared,
    hot: &Hot,
    dir: String,
    our_marker: Option<&str>,
) -> Result<io::Result<String>, IntakeError> {
    let Ok(ulid) = dir.parse::<Ulid>() else { return Ok(Ok(dir)) };
    let is_known = shared.store.original(&ulid)?.is_some() || shared.spool.has(&ulid);
    // Both are named by the time at which they were made.
    let is_since = our_marker.is_some_and(|marker| marker <= ulid.as_str());
    if claims::is_ours(is_known, is_since, hot.is_locked()) {
        return Ok(Ok(dir));
    }
    let held = format!("{dir}{WAS_THERE}");
    Ok(hot.rename_claim(&dir, &held).map(|()| held))
}
