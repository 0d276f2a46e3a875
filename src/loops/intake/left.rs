//! Folders with unfinished letters that a configuration leaves out, so that nobody could cancel those
//! letters.

use std::collections::HashSet;
use std::path::Path;

use super::IntakeError;
use crate::base::clock::Time;
use crate::config::Folder;
use crate::domain::alarm::Alarm;
use crate::domain::letter::{Letter, Moment, Number, Outcome, Realm, Reason, Retry, Start, State};
use crate::outside::hot::{Reach, ulid_of_claim};
use crate::outside::journal;
use crate::outside::store::{KnownFolder, Record, Store, StoreError};

/// The maximum number of letters that are listed.
const NAMED: usize = 10;

/// Why a configuration with these folders is refused at a reload. Empty if it may be used.
pub fn left_out(
    reach: &Reach,
    store: &Store,
    present: &[&str],
    new: &[Folder],
) -> Result<Vec<String>, StoreError> {
    if new.is_empty() && !present.is_empty() {
        return Ok(vec![
            "no folder is left: `folders` in mailchute.yaml leads to no file. To give up a folder, write \
             `accept: no` into its file"
                .to_owned(),
        ]);
    }
    let mut why = Vec::new();
    for folder in store.known_folders()? {
        if present.contains(&folder.name.as_str()) && !is_among(reach, &folder, new) {
            let unfinished = Unfinished::of(reach, store, &folder)?;
            why.extend(unfinished.map(|unfinished| {
                format!(
                    "the folder `{}` is left out, and not finished of it: {}. Keep its file and write `accept: no` \
                     into it: nothing more is taken in, and what is there can still be approved and cancelled",
                    folder.name, unfinished.said
                )
            }));
        }
    }
    Ok(why)
}

/// At a start: holds the unfinished letters of folders that the configuration leaves out, and raises an
/// alarm.
pub async fn hold_left_out(
    reach: &Reach,
    store: &Store,
    folders: &[Folder],
    now: Time,
) -> Result<(), IntakeError> {
    for folder in store.known_folders()? {
        if is_among(reach, &folder, folders) {
            continue;
        }
        let Some(Unfinished { letters, said }) = Unfinished::of(reach, store, &folder)? else { continue };
        for number in letters {
            let Some(letter) = store.letter(number)? else { continue };
            if is_before_any_intent(&letter) {
                let start = Start::Go;
                let moment =
                    Moment { now, jitter: 0, realm: Realm(String::new()), start, retry: Retry::default() };
                let change = letter.after(&Outcome::Hold(Reason::NoFolder), &moment);
                store.record(Record { letter, change, at: now, order: None }).await?;
            }
        }
        journal::folder_left_out(&folder.name, &folder.path, &said);
        let why = format!("{} ({}): {said}", folder.name, folder.path);
        store.raise(Alarm::LeftOut(folder.name), why, now).await?;
    }
    Ok(())
}

fn is_before_any_intent(letter: &Letter) -> bool {
    match letter.state {
        State::Admitted | State::Created { .. } | State::Uploaded { .. } => true,
        State::Confirming { .. }
        | State::Withdrawing { .. }
        | State::Confirmed { .. }
        | State::Shipped { .. }
        | State::Cancelled { .. }
        | State::Withdrawn
        | State::Closed
        | State::Held { .. } => false,
    }
}

/// Whether a folder is among these, under any name and at any path.
fn is_among(reach: &Reach, folder: &KnownFolder, folders: &[Folder]) -> bool {
    folders.iter().any(|one| one.path.as_os_str() == folder.path.as_str())
        || folders.iter().any(|one| {
            reach.marker_at(&one.path).is_ok_and(|found| found.is_some_and(|(marker, _)| marker == folder.id))
        })
}

struct Unfinished {
    letters: Vec<Number>,
    said: String,
}

impl Unfinished {
    fn of(reach: &Reach, store: &Store, folder: &KnownFolder) -> Result<Option<Self>, StoreError> {
        let (letters, drops) = store.unfinished_of(&folder.name)?;
        // A drop that is being claimed at this moment may have no record yet.
        let claimed: HashSet<String> =
            reach.claims_at(Path::new(&folder.path)).unwrap_or_default().into_iter().collect();
        let unknown = claimed.iter().filter(|claim| {
            ulid_of_claim(claim).is_some_and(|ulid| matches!(store.original(&ulid), Ok(None)))
        });
        let drops = drops + unknown.count() as u64;
        if letters.is_empty() && drops == 0 {
            return Ok(None);
        }
        let mut named: Vec<String> = letters.iter().take(NAMED).map(ToString::to_string).collect();
        if letters.len() > NAMED {
            named.push(format!("and {} more", letters.len() - NAMED));
        }
        let mut said = Vec::new();
        if !named.is_empty() {
            said.push(format!("letter(s) {}", named.join(", ")));
        }
        if drops > 0 {
            said.push(format!("{drops} drop(s) that wait"));
        }
        Ok(Some(Self { letters, said: said.join(" and ") }))
    }
}
