//! What people see in a hot folder: originals where their letters say, each with its text.
//!
//! Our facts decide, never the folder: what cannot be moved now stays pending and is tried again, and no
//! letter is posted again because of where a file lies. A move has its intent in the store, so after a crash
//! the file is at one of two places. If it is at neither, a person took it, and nothing is pending.

mod audit;
mod beside;
mod find;
mod number;
mod place;
mod tick;
mod together;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use chrono::TimeDelta;

use crate::base::backoff::Backoff;
use crate::base::clock::Clock;
use crate::config::Folder;
use crate::domain::drop::{StandingLetter, forms_of, numbered, pdf_of, sidecars_in_any_form};
use crate::loops::address_beside;
use crate::loops::folders::Registry;
use crate::outside::hot::{Hot, MoveWithText};
use crate::outside::journal;
use crate::outside::store::{Dated, Fate, Original, OriginalPlace, RecordError, Store, StoreError};
use crate::words::texts::{Noted, Times};

pub use audit::{FolderAudit, audit};
use beside::{complete, leave_shelf, text_for, text_of, with_receivers};
use find::{find, in_hand, last_place, on_a_shelf};
use number::free_number;
pub use tick::Shelves;

const AGAIN: Backoff = Backoff::new(TimeDelta::seconds(2), LONGEST_WAIT);
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(5);
/// The wait while its folder is away.
const AWAY: TimeDelta = TimeDelta::seconds(10);
/// The wait for the first look at a folder after a start. People's files are judged only once moves are recorded.
const NOT_OPENED_YET: TimeDelta = TimeDelta::seconds(1);
const MOST_REFUSED: usize = 1000;

/// Records that are being written. The next ones share their commit.
#[derive(Default)]
struct Placing {
    /// Of moved originals.
    moved: Vec<Recording>,
    /// Of originals that are tried again later, because their folders are away. Nothing is searched by these.
    later: Vec<Recording>,
}

type Recording = Pin<Box<dyn Future<Output = Result<(), RecordError>> + Send>>;

impl Placing {
    /// Waits for all of them. Returns whether anything could be recorded.
    async fn all_done(&mut self) -> Result<bool, RecordError> {
        self.moved.append(&mut self.later);
        self.done().await
    }

    /// Waits for those of moved originals. Returns whether anything could be recorded.
    async fn done(&mut self) -> Result<bool, RecordError> {
        let mut written = false;
        for placed in self.moved.drain(..) {
            written |= is_written(placed.await)?;
        }
        Ok(written)
    }
}

fn is_written(recorded: Result<(), RecordError>) -> Result<bool, RecordError> {
    match recorded {
        Ok(()) => Ok(true),
        Err(RecordError::NotWritten(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Why an original could not be put away.
#[derive(Debug, thiserror::Error)]
enum NotShelved {
    /// Its folder cannot be used. It is tried again later.
    #[error(transparent)]
    Folder(#[from] io::Error),
    #[error(transparent)]
    Records(#[from] RecordError),
}

impl From<StoreError> for NotShelved {
    fn from(error: StoreError) -> Self {
        Self::Records(error.into())
    }
}

struct Put<'a> {
    store: &'a Arc<Store>,
    registry: &'a Arc<Registry>,
    clock: &'a Clock,
}

/// Where an original ended up, and what its text was made from.
struct Shelved {
    place: OriginalPlace,
    path: Option<PathBuf>,
    inode: Option<u64>,
    told: Option<String>,
}

/// What must be done with an original.
enum Plan {
    Place(Placement),
    /// Its letter continues. The path is where the original is, if it is anywhere.
    OutOfSight(Option<PathBuf>),
    Gone,
    /// A move to this place ended without being recorded, and a person has moved the original on.
    WasMoved(OriginalPlace),
}

/// Where an original is and belongs, and its text there.
struct Placement {
    place: OriginalPlace,
    here: PathBuf,
    dir: PathBuf,
    text: String,
}

impl Put<'_> {
    /// Puts one original away. Returns whether anything was recorded.
    async fn away(&self, original: Original, placing: &mut Placing) -> Result<bool, RecordError> {
        let (ulid, now) = (original.ulid.clone(), self.clock.now());
        let known = self.registry.get(&original.origin.folder);
        let away =
            known.as_ref().map_or(AWAY, |known| if known.looks.count == 0 { NOT_OPENED_YET } else { AWAY });
        let (until, why) = match known.map(|known| (known.folder, known.hot)) {
            Some((folder, Some(hot))) => {
                let shelved = match self.shelve(&original, &folder, &hot).await {
                    Err(NotShelved::Records(error)) => return is_written(Err(error)),
                    Err(NotShelved::Folder(error)) => Err(error),
                    Ok(shelved) => Ok(shelved),
                };
                return self.record(original, shelved, placing).await;
            }
            Some((_, None)) => (now + away, "its folder is away"),
            None => (now + LONGEST_WAIT, "its folder is not in the configuration any more"),
        };
        placing.later.push(Box::pin(self.store.move_later(ulid, until, why.to_owned())));
        Ok(false)
    }

    /// Records the result for an original. Returns whether it was recorded already.
    async fn record(
        &self,
        original: Original,
        shelved: io::Result<Shelved>,
        placing: &mut Placing,
    ) -> Result<bool, RecordError> {
        let (ulid, folder) = (original.ulid, &original.origin.folder);
        match shelved {
            Ok(Shelved { place, path, inode, told }) => {
                if place == OriginalPlace::Gone {
                    journal::original_gone(folder, &ulid);
                }
                let path = path.map(|path| path.into_os_string().into_vec());
                placing.moved.push(Box::pin(self.store.placed(
                    ulid,
                    place,
                    path,
                    inode,
                    told,
                    original.changes,
                )));
                Ok(false)
            }
            Err(error) => {
                let why = error.to_string();
                if original.attempts == 0 && error.kind() != io::ErrorKind::WouldBlock {
                    journal::not_shelved(folder, &ulid, &why);
                }
                let later = self.clock.now() + AGAIN.wait(original.attempts);
                is_written(self.store.move_later(ulid, later, why).await)
            }
        }
    }

    async fn shelve(&self, original: &Original, folder: &Folder, hot: &Hot) -> Result<Shelved, NotShelved> {
        let Placement { place, here, dir, text } = match self.plan(original, folder, hot)? {
            Plan::Place(lay) => lay,
            Plan::OutOfSight(here) => return Ok(out_of_sight(self.store, original, hot, here)?),
            // Its place is kept, because the person who took it may bring it back.
            Plan::Gone => {
                let path = last_place(original);
                if let Some(path) = path.as_deref().filter(|_| original.told.is_some()) {
                    hot.remove(&text_of(path))?;
                }
                return Ok(Shelved { place: OriginalPlace::Gone, path, inode: original.inode, told: None });
            }
            // A crash came before the move was recorded. Then a person moved it on: what they ask is found by the
            // place at which it was.
            Plan::WasMoved(place) => {
                let path = last_place(original);
                return Ok(Shelved { place, path, inode: None, told: None });
            }
        };
        let path = if here.parent() == Some(dir.as_path()) {
            here.clone()
        } else {
            self.moved(original, hot, &here, &dir, &text).await?
        };
        leave_shelf(self.store, original, hot, &here, &path)?;
        let told = complete(original, hot, &path, &text, path != here)?;
        // A person may take it at this moment.
        let inode = hot.inode_of(&path)?.or(original.inode);
        Ok(Shelved { place, path: Some(path), inode, told: Some(told) })
    }

    fn plan(&self, original: &Original, folder: &Folder, hot: &Hot) -> Result<Plan, NotShelved> {
        let dated = match original.fate {
            Fate::Letter(number) => self.store.dated(number)?,
            Fate::Undecided(_) => None,
        };
        let (letter, taken_in, posted) = match dated {
            Some(Dated { letter, admitted, confirmed }) => (Some(letter), admitted, confirmed),
            None => (None, None, None),
        };
        let sealed_as_sent = match &letter {
            Some(letter) if letter.order.sealed_pdf => self.store.is_sealed_as_sent(letter.number)?,
            Some(_) | None => None,
        };
        let undecided = with_receivers(self.store, original.fate.undecided())?;
        let (place, mut about) = match (&letter, undecided.as_deref()) {
            (Some(letter), _) => (place::of_letter(letter), Noted::Letter(letter)),
            (None, Some(undecided)) => (place::of_drop(undecided), Noted::Drop(undecided)),
            (None, None) => return Err(io::Error::other("its letter has no facts").into()),
        };
        let here = match find(self.store, original, hot)? {
            None if original.moving.is_some() && in_hand(original, folder, hot) => {
                return Ok(Plan::WasMoved(place));
            }
            // A command about it must find it by its former place.
            None if in_hand(original, folder, hot) => {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "a person is moving it").into());
            }
            None => on_a_shelf(self.store, original, letter.as_ref(), folder, hot, posted)?,
            found => found,
        };
        let times = Times { taken_in, posted, sealed_as_sent };
        Ok(match (place::dir(place, &folder.names, folder.zone, posted), here) {
            (None, here) => Plan::OutOfSight(here),
            (Some(_), None) => Plan::Gone,
            (Some(dir), Some(here)) => {
                if let Noted::Letter(letter) = about
                    && StandingLetter::of(letter) == StandingLetter::Waits
                    && address_beside::is_another(folder, hot, letter, &original.ulid, &here)?
                {
                    about = Noted::Corrected(letter);
                }
                let mut text = text_for(original, folder, &about, times);
                if self.registry.has_mistakes() {
                    text.extend([folder.language.old_rules(), "\r\n"]);
                }
                Plan::Place(Placement { place, here, dir, text })
            }
        })
    }

    /// Moves an original to the first free name of a directory, together with its text.
    async fn moved(
        &self,
        original: &Original,
        hot: &Hot,
        here: &Path,
        dir: &Path,
        words: &str,
    ) -> Result<PathBuf, NotShelved> {
        // A share that ignores case refuses a name that looked free.
        let mut refused = BTreeSet::new();
        while refused.len() < MOST_REFUSED {
            let n = free_number(|n| {
                let (name, text) = numbered(&original.origin.name, n);
                Ok(!refused.contains(&n) && is_free(hot, dir, [&name, &text])?)
            })?;
            let (name, text) = numbered(&original.origin.name, n);
            let path = dir.join(OsStr::from_bytes(&name));
            self.store.moving(original.ulid.clone(), path.as_os_str().as_bytes().to_vec()).await?;
            match hot.shelve_with_text(MoveWithText { from: here, to: &path, text: (&text, words) }) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused.insert(n),
                Err(error) => return Err(error.into()),
                Ok(()) => return Ok(path),
            };
        }
        Err(io::Error::other("1,000 names that looked free were refused").into())
    }
}

/// Whether an original and its text can have these names in a directory. Two forms of one name look the same to people,
/// and either could be meant by a sidecar, so a shelf has only one of them. Nothing is put beside the sidecar of another,
/// and no sidecar that was handed back alone beside a PDF: it would be taken for its own by whoever drops the two again.
fn is_free(hot: &Hot, dir: &Path, [name, text]: [&[u8]; 2]) -> io::Result<bool> {
    let mut taken_by: Vec<Vec<u8>> =
        [name, text].into_iter().chain(pdf_of(name)).flat_map(forms_of).collect();
    taken_by.extend(sidecars_in_any_form(name, |_| false));
    let taken_by: Vec<&[u8]> = taken_by.iter().map(Vec::as_slice).collect();
    Ok(!hot.has_any(dir, &taken_by)?)
}

/// Moves an original from a shelf back into the claims, because its letter continues.
fn out_of_sight(store: &Store, original: &Original, hot: &Hot, here: Option<PathBuf>) -> io::Result<Shelved> {
    let out = Shelved { place: OriginalPlace::Claim, path: None, inode: None, told: None };
    let Some(here) = here else { return Ok(out) };
    let (Some(dir), Some(name)) = (here.parent(), here.file_name()) else { return Ok(out) };
    let claimed = if dir.starts_with(hot.claims_path()) {
        here.clone()
    } else {
        hot.claim_from(original.ulid.as_str(), dir, name.as_bytes(), name.as_bytes())?;
        hot.claimed_path(original.ulid.as_str(), name.as_bytes())
    };
    leave_shelf(store, original, hot, &here, &claimed)?;
    Ok(out)
}
