//! Compares a folder with the records: each original where its letter says, each claim known. It only reads,
//! also while a daemon is running: what seems wrong is looked at again, and what has changed meanwhile is no
//! mistake.
//!
//! What a person took off a shelf is gone, which is their right.

use std::io;
use std::path::Path;

use chrono::TimeDelta;

use super::place;
use crate::base::clock::Time;
use crate::config::Folder;
use crate::domain::drop::Undecided;
use crate::domain::letter::Letter;
use crate::outside::hot::{WAS_THERE, claim_of_file, claimed_at, claims_at, ulid_of_claim};
use crate::outside::spool::{Spool, Ulid};
use crate::outside::store::{Desk, Fate, Original, OriginalPlace, StoreError};

/// While a daemon is running, every claim is decided within this time.
const DECIDED_WITHIN: TimeDelta = TimeDelta::hours(1);

/// What was checked in a folder, and every statement that is wrongly false.
#[derive(Debug, Default)]
pub struct FolderAudit {
    pub originals: usize,
    pub problems: Vec<String>,
    /// Why the folder could not be checked.
    pub away: Option<io::Error>,
}

/// Checks what is recorded of a folder and what its claims contain.
pub fn audit(desk: &Desk, folder: &Folder, now: Time) -> Result<FolderAudit, StoreError> {
    let mut looked = FolderAudit::default();
    let claims = match claims_at(&folder.path) {
        Ok(claims) => claims,
        Err(error) => return Ok(FolderAudit { away: Some(error), ..looked }),
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
            .push(format!("folder {}: {shared} path(s) are recorded for two originals", folder.name));
    }
    Ok(looked)
}

/// What is wrong with an original, if it stays so while it is looked at.
fn misplaced(desk: &Desk, folder: &Path, ulid: &Ulid) -> Result<Option<String>, StoreError> {
    let Some((original, letter)) = desk.original(ulid)? else { return Ok(None) };
    let alone = claim_of_file(ulid, &original.origin.name);
    let claims = [ulid.to_string(), format!("{ulid}{WAS_THERE}")].into_iter().chain(alone);
    let claimed = claims.map(|claim| claimed_at(folder, &claim)).sum();
    let Some(what) = wrong(&original, letter.as_ref(), claimed) else { return Ok(None) };
    let is_same = desk.original(ulid)?.is_some_and(|(again, _)| again == original);
    Ok(is_same.then_some(what))
}

fn wrong(original: &Original, letter: Option<&Letter>, claimed: usize) -> Option<String> {
    if original.is_due || original.place == OriginalPlace::Gone {
        return None;
    }
    let wanted = match (&original.fate, letter) {
        (Fate::Letter(_), Some(letter)) => place::of_letter(letter),
        // Its letter is damaged, which is reported for the letter.
        (Fate::Letter(_), None) => return None,
        // Approved, and about to be taken from where it was moved to.
        (Fate::Undecided(Undecided::Accepted { .. }), _) if original.place == OriginalPlace::Held => {
            return None;
        }
        (Fate::Undecided(undecided), _) => place::of_drop(undecided),
    };
    let is_claimed = wanted == OriginalPlace::Claim;
    if wanted != original.place {
        let place = original.place;
        Some(format!("it lies in {place:?} but belongs in {wanted:?}, and no move is pending (I16)"))
    } else if is_claimed && claimed == 0 && letter.is_none() {
        // A letter has a copy in the spool, whatever a person does with the original.
        Some("it is not in the claims, where it should be (I13)".to_owned())
    } else if !is_claimed && claimed > 0 {
        Some("a part of it was left in the claims".to_owned())
    } else {
        None
    }
}

/// Claims without a record although a daemon had time to decide them.
fn forgotten(desk: &Desk, folder: &Path, claims: &[String], now: Time) -> Result<Vec<String>, StoreError> {
    let spool = Spool::open(&desk.home().spool())?;
    let is_worked_on = desk.is_in_use();
    let mut problems = Vec::new();
    for claim in claims {
        let Some(ulid) = ulid_of_claim(claim) else {
            problems.push("`.mailchute/claim` contains an entry that is not a claim".to_owned());
            continue;
        };
        let is_old = is_worked_on && now - ulid.time() > DECIDED_WITHIN;
        if is_old && claimed_at(folder, claim) > 0 && !spool.has(&ulid) && desk.original(&ulid)?.is_none() {
            problems.push(format!("{ulid} was claimed at {} and has no record", ulid.time()));
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::drop::{Origin, Refusal, Waiting};

    fn original(undecided: Undecided, place: OriginalPlace) -> Original {
        Original {
            ulid: "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
            origin: Origin { folder: "letters".to_owned(), name: b"x.pdf".to_vec(), owner: None },
            fate: Fate::Undecided(undecided),
            content: None,
            place,
            shelved: None,
            inode: None,
            moving: None,
            told: None,
            attempts: 0,
            changes: 0,
            is_due: false,
        }
    }

    #[test]
    fn what_is_no_letter_lies_where_it_belongs() {
        use OriginalPlace::{Claim, Held, Rejected};
        let waits = || Undecided::Waits(Waiting::Sidecar);
        let refused = || Undecided::Refused(Refusal::Empty);
        let accepted = || Undecided::Accepted { doubts: Vec::new() };
        for (undecided, place, claimed, is_wrong) in [
            (waits(), Held, 0, false),
            (waits(), Rejected, 0, true),
            (refused(), Rejected, 0, false),
            (refused(), Held, 0, true),
            // Approved: on its way from the shelf into the claims.
            (accepted(), Held, 0, false),
            (accepted(), Claim, 1, false),
            (accepted(), Claim, 0, true),
            (accepted(), Rejected, 0, true),
        ] {
            let what = format!("{undecided:?} in {place:?}, {claimed} claimed");
            assert_eq!(wrong(&original(undecided, place), None, claimed).is_some(), is_wrong, "{what}");
        }
    }
}
