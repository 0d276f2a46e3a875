//! The claims that a folder contains when it is opened, and whether they are ours.

use std::io;

use chrono::TimeDelta;

use super::claims;
use super::claims::{KnownClaim, Next};
use super::decide::{main_of, record_of};
use super::open::NotOpened;
use super::shared::Shared;
use super::taken_back::put_back;
use crate::outside::hot::{Away, Hot, WAS_THERE, ulid_of_claim, was_there};
use crate::outside::store::StoreError;

/// Whose claims a folder contains when it is opened.
pub(super) enum Enabled {
    /// Ours. The marker is the one under which these records, and no others, have worked here until now.
    Ours(Option<String>),
    /// Those of the folder that it is a copy of.
    Copied,
}

/// The claims of a folder that was opened. Those that may not be ours are renamed so that they are held.
pub(super) fn claims_of(shared: &Shared, hot: &Hot, enabled: &Enabled) -> Result<Vec<String>, NotOpened> {
    let mut claims = Vec::new();
    for dir in hot.claims().map_err(Away::closed)? {
        claims.extend(match enabled {
            Enabled::Ours(marker) => distrusted(shared, hot, dir, marker.as_deref())?,
            Enabled::Copied => Some(made_anew(shared, hot, &dir).map_err(Away::no_right)?),
        });
    }
    Ok(claims)
}

/// The claims that are older than this and neither decided nor in the spool. `Err` if the folder cannot be listed.
pub(super) fn forgotten(
    shared: &Shared,
    hot: &Hot,
    older_than: TimeDelta,
) -> io::Result<Result<Vec<String>, StoreError>> {
    let now = shared.clock.now();
    let is_old = |dir: &String| {
        ulid_of_claim(dir).is_some_and(|ulid| now - ulid.time() > older_than && !shared.spool.has(&ulid))
    };
    let old = hot.claims()?.into_iter().filter(is_old);
    Ok(old.filter_map(|dir| undecided(shared, dir).transpose()).collect())
}

/// The claim, unless its drop is decided.
fn undecided(shared: &Shared, dir: String) -> Result<Option<String>, StoreError> {
    let Some(ulid) = ulid_of_claim(&dir) else { return Ok(None) };
    let record = shared.store.original(&ulid)?.as_ref().map(record_of);
    Ok(record.is_none_or(|record| record.accepted && record.in_claim).then_some(dir))
}

/// A copied claim gets a name of its own and is held.
fn made_anew(shared: &Shared, hot: &Hot, dir: &str) -> io::Result<String> {
    let Some(ulid) = shared.new_ulid() else { return Err(io::Error::other("no name can be drawn")) };
    let held = format!("{ulid}{WAS_THERE}");
    hot.rename_claim(dir, &held).map(|()| held)
}

/// Holds a claim that may not be ours. `None` if nothing is left of it.
fn distrusted(
    shared: &Shared,
    hot: &Hot,
    dir: String,
    our_marker: Option<&str>,
) -> Result<Option<String>, NotOpened> {
    let Some(ulid) = ulid_of_claim(&dir).filter(|_| !was_there(&dir)) else { return Ok(Some(dir)) };
    let (original, in_spool) = (shared.store.original(&ulid)?, shared.spool.has(&ulid));
    let is_known = original.is_some() || in_spool || shared.store.incoming(&ulid)?.is_some();
    // Both names contain the time at which they were made.
    let is_since = our_marker.is_some_and(|marker| marker <= ulid.as_str());
    if claims::is_ours(is_known, is_since, hot.is_locked()) {
        let record = original.as_ref().map(record_of);
        let known = |holds_drop| KnownClaim { holds_drop, record, in_spool, was_there: false };
        return Ok(not_empty(hot, dir, known).map_err(Away::no_right)?);
    }
    let held = format!("{ulid}{WAS_THERE}");
    match hot.rename_claim(&dir, &held) {
        // A cut may have left it under both names.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok(Some(made_anew(shared, hot, &dir).map_err(Away::no_right)?))
        }
        renamed => Ok(renamed.map(|()| Some(held)).map_err(Away::no_right)?),
    }
}

/// A killed run may have moved only the sidecar of a drop. It is put back beside its PDF before the folder is
/// looked at, so that the PDF does not go without it.
fn not_empty(hot: &Hot, dir: String, known: impl FnOnce(bool) -> KnownClaim) -> io::Result<Option<String>> {
    let held = hot.claimed(&dir)?;
    if claims::next(known(main_of(&held).is_some())) != Next::Clear {
        return Ok(Some(dir));
    }
    match put_back(hot, &dir, &held) {
        // A person has saved the sidecar again: it is decided later which of the two counts.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Some(dir)),
        done => done.map(|()| None),
    }
}
