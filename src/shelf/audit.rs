//! A folder against the records: each original where its letter says, each claim known. Only looks, so
//! beside a running daemon too; what is owed at this moment is no mistake.
//!
//! What a person took off a shelf is gone, and that is a person's right.

use std::collections::BTreeMap;
use std::io;

use chrono::TimeDelta;

use super::place;
use crate::clock::Time;
use crate::config::Folder;
use crate::hot::{WAS_THERE, claims_at};
use crate::letter::Letter;
use crate::spool::{Spool, Ulid};
use crate::store::{Desk, Original, Place, StoreError};

/// Within this time whatever was claimed is decided, or it is said what is in the way.
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
    // First what lies there: what is known of it by then is known afterwards too.
    let mut claims = match claims_at(&folder.path) {
        Ok(claims) => claims,
        Err(error) => return Ok(Looked { away: Some(error), ..looked }),
    };
    let mut last: Option<Ulid> = None;
    loop {
        let some = desk.originals(&folder.name, last.as_ref())?;
        let Some((original, _)) = some.last() else { break };
        last = Some(original.ulid.clone());
        for (original, letter) in &some {
            looked.originals += 1;
            let claimed = take(&mut claims, &original.ulid);
            if let Some(what) = misplaced(original, letter.as_ref(), claimed) {
                looked.problems.push(format!("{} in folder {}: {what}", original.ulid, folder.name));
            }
        }
    }
    for problem in forgotten(desk, &claims, now)? {
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

/// How much lies in an original's claims.
fn take(claims: &mut BTreeMap<String, usize>, ulid: &Ulid) -> usize {
    let names = [ulid.as_str().to_owned(), format!("{ulid}{WAS_THERE}")];
    names.iter().filter_map(|name| claims.remove(name)).sum()
}

/// What is not so of an original of which nothing is owed.
fn misplaced(original: &Original, letter: Option<&Letter>, claimed: usize) -> Option<String> {
    if original.is_due || original.place == Place::Gone {
        return None;
    }
    let wanted = match (letter, &original.undecided) {
        (Some(letter), _) => place::of_letter(letter),
        (None, Some(undecided)) => place::of_drop(undecided),
        (None, None) => return Some("it is neither a letter's nor anything else (I12)".to_owned()),
    };
    if wanted != original.place {
        return Some(format!(
            "it lies in {:?} and belongs into {wanted:?}, and nothing is owed (I16)",
            original.place
        ));
    }
    match (wanted == Place::Claim, claimed) {
        (true, 0) => Some("it is not in the claims, where it should be (I13)".to_owned()),
        (false, 1..) => Some("something of it was left in the claims".to_owned()),
        (true, _) | (false, 0) => None,
    }
}

/// Claims that no record knows, though there was time.
fn forgotten(desk: &Desk, claims: &BTreeMap<String, usize>, now: Time) -> Result<Vec<String>, StoreError> {
    let spool = Spool::open(&desk.home().spool())?;
    let mut problems = Vec::new();
    for (claim, held) in claims {
        let Ok(ulid) = claim.trim_end_matches(WAS_THERE).parse::<Ulid>() else {
            problems.push("something in the claims is none".to_owned());
            continue;
        };
        if *held > 0 && !spool.has(&ulid) && now - ulid.time() > DECIDED_WITHIN {
            problems.push(format!("{ulid} was claimed at {}, and no record knows it (I13)", ulid.time()));
        }
    }
    Ok(problems)
}
