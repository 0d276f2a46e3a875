//! What people see in a hot folder: originals where their letters say, each with its text beside it.
//!
//! Our facts decide, never the folder: what can't be moved now is owed and tried again, and a letter
//! is never posted anew because of where a file lies. A move has its intent in the store, so after a
//! crash it is found at one of two places; found at neither, a person took it, and nothing is owed.

mod audit;
mod find;
mod place;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use chrono::TimeDelta;

use crate::clock::{Clock, Time};
use crate::config::Folder;
use crate::drop::{numbered, showable, shown, sidecars_of, text_name};
use crate::hot::{Hot, Registry};
use crate::journal;
use crate::letter::Letter;
use crate::spool::sha256_of;
use crate::store::{Original, Place, RecordError, Store};
use crate::texts::{Noted, Times, note};

pub use audit::{Looked, audit};
use find::{find, in_hand, on_a_shelf};

const FIRST_WAIT: TimeDelta = TimeDelta::seconds(2);
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(5);
/// While its folder is away.
const AWAY: TimeDelta = TimeDelta::seconds(10);
const MOST_OF_A_NAME: u32 = 10_000;

/// Puts away what is due; gives when there will be more.
pub async fn tick(
    store: &Arc<Store>,
    registry: &Arc<Registry>,
    clock: &Clock,
) -> Result<Option<Time>, RecordError> {
    loop {
        let now = clock.now();
        let (due, next) = store.due_originals(now)?;
        if due.is_empty() {
            return Ok(next);
        }
        let mut written = false;
        let mut placing = Placing::default();
        for original in due {
            // What is put away may say something of the path of what lies on a shelf.
            if original.shelved.is_some() || original.moving.is_some() {
                written |= placing.done().await?;
            }
            // What was put away meanwhile may have said something of its path.
            let Some(original) = store.original(&original.ulid)?.filter(|original| original.is_due) else {
                written = true;
                continue;
            };
            let put = Put { store, registry, clock };
            written |= put.away(original, &mut placing).await?;
        }
        written |= placing.done().await?;
        if !written {
            // The disk takes nothing at present.
            return Ok(Some(now + AWAY));
        }
    }
}

/// What is being recorded of originals that are put away: the next move's record shares its commit.
#[derive(Default)]
struct Placing(Vec<Recording>);

type Recording = Pin<Box<dyn Future<Output = Result<(), RecordError>> + Send>>;

impl Placing {
    /// Says whether anything could be recorded.
    async fn done(&mut self) -> Result<bool, RecordError> {
        let mut written = false;
        for placed in self.0.drain(..) {
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

struct Put<'a> {
    store: &'a Arc<Store>,
    registry: &'a Arc<Registry>,
    clock: &'a Clock,
}

/// Where an original ended up, with what its text was made of.
struct Shelved {
    place: Place,
    path: Option<PathBuf>,
    told: Option<String>,
}

impl Put<'_> {
    /// One original; says whether anything was recorded.
    async fn away(&self, original: Original, placing: &mut Placing) -> Result<bool, RecordError> {
        let (ulid, now) = (original.ulid.clone(), self.clock.now());
        let known = self.registry.get(&original.origin.folder);
        let recorded = match known.map(|known| (known.folder, known.hot)) {
            Some((folder, Some(hot))) => match self.shelve(&original, &folder, hot).await {
                Err(error) => return is_written(Err(error)),
                Ok(Ok(Shelved { place, path, told })) => {
                    if place == Place::Gone {
                        journal::original_gone(&folder.name, &ulid);
                    }
                    let path = path.map(|path| path.into_os_string().into_vec());
                    placing.0.push(Box::pin(self.store.placed(ulid, place, path, told, original.changes)));
                    return Ok(false);
                }
                Ok(Err(error)) => {
                    let why = error.to_string();
                    if original.attempts == 0 && error.kind() != io::ErrorKind::WouldBlock {
                        journal::not_shelved(&folder.name, &ulid, &why);
                    }
                    let wait = FIRST_WAIT * (1 << original.attempts.min(8));
                    self.store.move_later(ulid, now + wait.min(LONGEST_WAIT), why).await
                }
            },
            Some((_, None)) => self.store.move_later(ulid, now + AWAY, "its folder is away".to_owned()).await,
            None => {
                let why = "its folder is not in the configuration any more".to_owned();
                self.store.move_later(ulid, now + LONGEST_WAIT, why).await
            }
        };
        is_written(recorded)
    }

    async fn shelve(
        &self,
        original: &Original,
        folder: &Folder,
        hot: Arc<Hot>,
    ) -> Result<io::Result<Shelved>, RecordError> {
        let letter = match original.letter {
            Some(number) => self.store.letter(number)?,
            None => None,
        };
        let (taken_in, posted) = match &letter {
            Some(letter) => self.store.times_of(letter.number)?,
            None => (None, None),
        };
        let sealed_as_sent = match &letter {
            Some(letter) if letter.order.sealed_pdf => self.store.is_sealed_as_sent(letter.number)?,
            Some(_) | None => None,
        };
        let place = match (&letter, &original.undecided) {
            (Some(letter), _) => place::of_letter(letter),
            (None, Some(undecided)) => place::of_drop(undecided),
            (None, None) => return Ok(Err(io::Error::other("its letter has no facts"))),
        };
        let here = match find(original, &hot) {
            // What is said of it must find it by where it lay.
            Ok(None) if in_hand(original, folder, &hot) => {
                Err(io::Error::new(io::ErrorKind::WouldBlock, "a person is moving it"))
            }
            Ok(None) => Ok(on_a_shelf(self.store, original, letter.as_ref(), folder, &hot, posted)?),
            found => found,
        };
        let Some(dir) = place::dir(place, &folder.names, folder.zone, posted) else {
            return Ok(here.and_then(|here| out_of_sight(original, &hot, here)));
        };
        let here = match here {
            Ok(Some(here)) => here,
            // Its place is kept: whoever took it may bring it back to say something.
            Ok(None) => {
                let path = original.shelved.as_ref().map(|path| PathBuf::from(OsStr::from_bytes(path)));
                return Ok(Ok(Shelved { place: Place::Gone, path, told: None }));
            }
            Err(error) => return Ok(Err(error)),
        };
        let times = Times { taken_in, posted, sealed_as_sent };
        let text = text_for(original, folder, letter.as_ref(), times);
        let path = if here.parent() == Some(dir.as_path()) {
            here.clone()
        } else {
            match self.moved(original, &hot, &here, &dir, &text).await? {
                Ok(path) => path,
                Err(error) => return Ok(Err(error)),
            }
        };
        let beside = leave_shelf(original, &hot, &here, &path)
            .and_then(|()| complete(original, &hot, &path, &text, path != here));
        Ok(beside.map(|told| Shelved { place, path: Some(path), told: Some(told) }))
    }

    /// Moves an original to the first free name of a directory, its text with it.
    async fn moved(
        &self,
        original: &Original,
        hot: &Hot,
        here: &Path,
        dir: &Path,
        words: &str,
    ) -> Result<io::Result<PathBuf>, RecordError> {
        for n in 1..MOST_OF_A_NAME {
            let (name, text) = numbered(&original.origin.name, n);
            let path = dir.join(OsStr::from_bytes(&name));
            match (hot.is_there(&path), hot.is_there(&dir.join(OsStr::from_bytes(&text)))) {
                (Ok(false), Ok(false)) => {}
                (Ok(_), Ok(_)) => continue,
                (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
            }
            self.store.moving(original.ulid.clone(), path.as_os_str().as_bytes().to_vec()).await?;
            match hot.shelve_told(here, &path, (&text, words)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Ok(Err(error)),
                Ok(()) => return Ok(Ok(path)),
            }
        }
        Ok(Err(io::Error::other("every name is taken")))
    }
}

/// From a shelf back into the claims, because its letter goes on.
fn out_of_sight(original: &Original, hot: &Hot, here: Option<PathBuf>) -> io::Result<Shelved> {
    let out = Shelved { place: Place::Claim, path: None, told: None };
    let Some(here) = here else { return Ok(out) };
    let (Some(dir), Some(name)) = (here.parent(), here.file_name()) else { return Ok(out) };
    if !dir.starts_with(hot.claims_path()) {
        hot.claim_from(original.ulid.as_str(), dir, name.as_bytes())?;
    }
    let claimed = hot.claims_path().join(original.ulid.as_str()).join(name);
    leave_shelf(original, hot, &here, &claimed)?;
    Ok(out)
}

/// What lay beside it on the shelf where it was, or was found: its text goes away, its sidecar along. It may
/// have been moved by a run that did not come to this.
fn leave_shelf(original: &Original, hot: &Hot, found: &Path, now_at: &Path) -> io::Result<()> {
    let recorded = original.shelved.as_deref().map(|path| Path::new(OsStr::from_bytes(path)));
    let shelves = recorded.into_iter().chain([found]);
    for was in shelves.filter(|was| *was != now_at && !was.starts_with(hot.claims_path())) {
        hot.remove(&text_of(was))?;
        for sidecar in sidecars_of(&original.origin.name) {
            let sidecar = OsStr::from_bytes(&sidecar);
            let (old, new) = (was.with_file_name(sidecar), now_at.with_file_name(sidecar));
            if old != new && hot.is_there(&old)? && !hot.is_there(&new)? {
                hot.shelve(&old, &new)?;
            }
        }
    }
    Ok(())
}

fn text_of(path: &Path) -> PathBuf {
    let text = text_name(path.file_name().unwrap_or_default().as_bytes());
    path.with_file_name(OsStr::from_bytes(&text))
}

/// What is said of an original in the text beside it.
fn text_for(original: &Original, folder: &Folder, letter: Option<&Letter>, times: Times) -> String {
    let about = match (letter, &original.undecided) {
        (Some(letter), _) => Noted::Letter(letter),
        (None, Some(undecided)) => Noted::Drop(undecided),
        (None, None) => return String::new(),
    };
    let name = showable(&shown(&original.origin.name));
    note(folder.language, &folder.names, folder.zone, &name, &about, times)
}

/// Beside an original lies its text, written again if it is another than before or was taken away, and what
/// else was claimed with it. Gives what the text was made of.
fn complete(original: &Original, hot: &Hot, path: &Path, text: &str, is_written: bool) -> io::Result<String> {
    let made_of = sha256_of(text.as_bytes());
    let text_path = text_of(path);
    let is_new = !is_written && (original.told.as_ref() != Some(&made_of) || !hot.is_there(&text_path)?);
    if is_new {
        hot.write_text(&text_path, text)?;
    }
    hot.shelve_rest(original.ulid.as_str(), path.parent().unwrap_or(Path::new("")))?;
    Ok(made_of)
}
