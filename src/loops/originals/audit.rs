//! A folder against the records: each original where its letter says, each claim known. Only looks, so
//! beside a running daemon too: what seems wrong is looked at once more, and what has changed meanwhile is
//! no mistake.
//!
//! What a person took off a shelf is gone, and that is a person's right.

use std::io;
use std::path::Path;

use chrono::TimeDelta;

use super::place;
use crate::base::clock::Time;
use crate::config::Folder;
use crate::domain::drop::Undecided;
use crate::domain::letter::Letter;
use crate::outside::hot::{WAS_THERE, claimed_at, claims_at};
use crate::outside::spool::{Spool, Ulid};
use crate::outside::store::{Desk, Fate, Original, Place, StoreError};

/// While a daemon is at work, whatever was claimed is decided within this time.
const DECIDED_WITHIN: TimeDelta = TimeDelta::hours(1);

/// What was looked at in a folder, and every sentence that is not true though it should be.
#[derive(Debug, Default)]
pub struct Looked {
    pub originals: usize,
    pub problems: Vec<String>,
    /// Why it could not be looked at.
    pub away: Option<io::Error>,
}

/// Looks through what is known of a folder and what lies in its claims.
pub fn audit(desk: &Desk, folder: &Folder, now: Time) -> Result<Looked, StoreError> {
    let mut looked = Looked::default();
    let claims = match claims_at(&folder.path) {
        Ok(claims) => claims,
        Err(error) => return Ok(Looked { away: Some(error), ..looked }),
    };
    let mut last: Option<Ulid> = None;
    loop {
        let some = desk.originals_at_rest(&folder.name, last.as_ref())?;
        let Some(original) = some.last() else { break };
        last = Some(original.ulid.clone());
        for original in &some {
            looked.originals += 1;
            if let Some(what) = misplaced(desk, &folder.path, &original.ulid)? {
                looked.problems.push(format!("{} in folder {}: {what}", original.ulid, folder.name));
            }
        }
    }
    for problem in forgotten(desk, &folder.path, &claims, now)? {
        looked.problems.push(format!("folder {}: {problem}", folder.name));
    }
    let shared = desk.shared_shelves(&folder.name)?;
    if shared > 0 {
        looked
            .problems
            .push(format!("folder {}: at {shared} path(s) two originals are said to lie", folder.name));
    }
    Ok(looked)
}

/// What is not so of an original, though nothing of it changes while it is looked at.
fn misplaced(desk: &Desk, folder: &Path, ulid: &Ulid) -> Result<Option<String>, StoreError> {
    let Some((original, letter)) = desk.original(ulid)? else { return Ok(None) };
    let claims = [ulid.as_str().to_owned(), format!("{ulid}{WAS_THERE}")];
    let claimed = claims.iter().map(|claim| claimed_at(folder, claim)).sum();
    let Some(what) = wrong(&original, letter.as_ref(), claimed) else { return Ok(None) };
    let is_same = desk.original(ulid)?.is_some_and(|(again, _)| again == original);
    Ok(is_same.then_some(what))
}

fn wrong(original: &Original, letter: Option<&Letter>, claimed: usize) -> Option<String> {
    if original.is_due || original.place == Place::Gone {
        return None;
    }
    let wanted = match (&original.fate, letter) {
        (Fate::Letter(_), Some(letter)) => place::of_letter(letter),
        // Its letter is damaged, which is reported of the letter.
        (Fate::Letter(_), None) => return None,
        // Approved, and about to be taken from where it was moved to.
        (Fate::Undecided(Undecided::Accepted { .. }), _) if original.place == Place::Held => return None,
        (Fate::Undecided(undecided), _) => place::of_drop(undecided),
    };
    let is_claimed = wanted == Place::Claim;
    if wanted != original.place {
        let place = original.place;
        Some(format!("it lies in {place:?} and belongs into {wanted:?}, and nothing is owed (I16)"))
    } else if is_claimed && claimed == 0 && letter.is_none() {
        // Of a letter there is a copy in the spool, whatever a person does with the original.
        Some("it is not in the claims, where it should be (I13)".to_owned())
    } else if !is_claimed && claimed > 0 {
        Some("something of it was left in the claims".to_owned())
    } else {
        None
    }
}

/// Claims that no record knows, though a daemon had time to decide them.
fn forgotten(desk: &Desk, folder: &Path, claims: &[String], now: Time) -> Result<Vec<String>, StoreError> {
    let spool = Spool::open(&desk.home().spool())?;
    let is_worked_on = desk.is_in_use();
    let mut problems = Vec::new();
    for claim in claims {
        let Ok(ulid) = claim.trim_end_matches(WAS_THERE).parse::<Ulid>() else {
            problems.push("something in the claims is none".to_owned());
            continue;
        };
        let is_old = is_worked_on && now - ulid.time() > DECIDED_WITHIN;
        if is_old && claimed_at(folder, claim) > 0 && !spool.has(&ulid) && desk.original(&ulid)?.is_none() {
            problems.push(format!("{ulid} was claimed at {}, and no record knows it", ulid.time()));
        }
    }
    Ok(problems)
}
