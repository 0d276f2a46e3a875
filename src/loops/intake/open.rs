//! Opens a folder: checks that it is used by us alone, known or new, present or away.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::found_claims::{Enabled, claims_of};
use super::identity::{FormerUser, Identity, Met, RecordedPath, former_user, identity};
use super::rival::rival;
use super::shared::Shared;
use super::watched::Watched;
use super::{IntakeError, epoch, instructions};
use crate::config::Folder;
use crate::domain::alarm::Alarm;
use crate::loops::folders::Registered;
use crate::outside::hot::{Away, Hot};
use crate::outside::journal;
use crate::outside::store::{BegunMarker, KnownFolder, RecordError, StoreError};

/// A marker that is this much younger than the file system's clock was written when that clock was ahead. In
/// nanoseconds.
const AHEAD: i64 = 60_000_000_000;

/// Why a folder is not open.
#[derive(Debug)]
pub(super) enum NotOpened {
    /// It is tried again later.
    Away(Box<Away>),
    /// Nothing can be taken in any more.
    Ends(Box<IntakeError>),
}

impl From<Away> for NotOpened {
    fn from(away: Away) -> Self {
        Self::Away(Box::new(away))
    }
}

impl From<IntakeError> for NotOpened {
    fn from(error: IntakeError) -> Self {
        Self::Ends(Box::new(error))
    }
}

impl From<StoreError> for NotOpened {
    fn from(error: StoreError) -> Self {
        Self::Ends(Box::new(error.into()))
    }
}

impl From<RecordError> for NotOpened {
    fn from(error: RecordError) -> Self {
        Self::Ends(Box::new(error.into()))
    }
}

impl Watched {
    /// The handle of the folder. If it was not open, it is opened and work on its claims resumes.
    pub(super) async fn opened(
        &mut self,
        shared: &Shared,
        known: &Registered,
    ) -> Result<Arc<Hot>, NotOpened> {
        let folder = &known.folder;
        if let Some(still) = self.still_open(shared, known).await? {
            return Ok(still);
        }
        let path = folder.path.display().to_string();
        // By the path too: a share that is not mounted has no marker.
        let before = shared.store.folder_at(&path)?;
        if self.trouble.is_none() {
            // It was away when the daemon ended, so it is coming back now.
            self.trouble = before.as_ref().and_then(|before| before.trouble.clone());
        }
        let keeper = epoch::keeper(&shared.store)?;
        let hot = Arc::new(shared.reach.open(&folder.path, before.is_some(), &keeper)?);
        let begun = shared.store.moves_begun(&folder.name)?;
        let begun: Vec<PathBuf> = begun.iter().map(|path| instructions::shown_path(path)).collect();
        let names = &folder.names;
        // People move files from the other shelves into these two. Such moves must be durable before the rest
        // is read.
        let shelves =
            [&names.approve, &names.cancel, &names.held, &names.rejected, &names.cancelled, &names.sent];
        let begun: Vec<&Path> = begun.iter().map(PathBuf::as_path).collect();
        hot.make_moves_durable(&begun, &shelves.map(String::as_str)).map_err(Away::closed)?;
        self.epoch = epoch::ToldEpoch::by(&shared.store, folder, &hot)?;
        let enabled = self.enable(shared, folder, &hot).await?;
        let names = [folder.names.approve.as_str(), folder.names.cancel.as_str()];
        hot.share(&folder.names.all()).and_then(|()| hot.make_shelves(&names)).map_err(Away::no_right)?;
        self.begins_anew();
        // Whatever a crash left in the claims must settle here before it is decided. What this run has looked at
        // already goes on settling, or a folder that is opened again and again would never decide it.
        let now = shared.clock.steady();
        for dir in claims_of(shared, &hot, &enabled)? {
            self.settles(dir, now);
        }
        // A rival may have been found meanwhile. Then both are compared at the next look.
        self.opened = !shared.has_rival(&folder.name);
        shared.registry.set(&folder.name, self.opened.then(|| Arc::clone(&hot)));
        Ok(hot)
    }

    /// The present handle if it is still valid, or why nothing may be opened.
    async fn still_open(
        &mut self,
        shared: &Shared,
        known: &Registered,
    ) -> Result<Option<Arc<Hot>>, NotOpened> {
        let folder = &known.folder;
        if (!self.opened || shared.has_rival(&folder.name))
            && let Some(other) = rival(shared, folder).await?
        {
            shared.are_rivals(&folder.name, &other);
            self.opened = false;
            return Err(Away::Rival(other).into());
        }
        shared.has_no_rival(&folder.name);
        if let Some(hot) = known.hot.as_ref().filter(|_| self.opened) {
            let why = match hot.is_still_there() {
                Ok(true) => return Ok(Some(Arc::clone(hot))),
                Ok(false) => "it is not the directory it was".to_owned(),
                Err(error) => error.to_string(),
            };
            shared.registry.set(&folder.name, None);
            self.opened = false;
            journal::folder_away(&folder.name, &why);
        }
        Ok(None)
    }

    /// Returns since when drops count as new here, and whose claims are in the folder.
    async fn enable(&mut self, shared: &Shared, folder: &Folder, hot: &Hot) -> Result<Enabled, NotOpened> {
        let marker = hot.marker().map_err(Away::no_right)?;
        let directory = hot.directory().map_err(Away::no_right)?;
        let before = match &marker {
            Some(marker) => shared.store.folder_of(marker)?,
            None => None,
        };
        let path = folder.path.display().to_string();
        let identity = before.as_ref().map(|before| identity_of(shared, before, &path, directory.as_deref()));
        // Drops that came while it was away were not seen coming. A folder that did not answer was there all
        // the time.
        let was_away = self.trouble.as_deref().is_some_and(|trouble| !Away::was_there(trouble));
        let came_back = was_away && before.is_some();
        let ours = before.filter(|_| identity != Some(Identity::Copy));
        // What is dropped now would seem to have been there before.
        let is_from_the_future = ours.as_ref().is_some_and(|before| before.since > hot.opened_at() + AHEAD);
        if is_from_the_future {
            journal::marker_from_the_future(&folder.name);
        }
        let is_as_before = identity == Some(Identity::Known) && !came_back && !is_from_the_future;
        if let Some(before) = ours.as_ref().filter(|_| is_as_before) {
            (self.since, self.posted_before) = (before.since, before.posted_before);
            let name = folder.name.clone();
            if (&before.name, &before.path, &before.directory) != (&name, &path, &directory) {
                let known = KnownFolder { name, path, directory, ..before.clone() };
                self.know(shared, known, &before.name).await?;
            }
            is_no_copy(shared, folder).await?;
            return Ok(Enabled::Ours(Some(before.id.clone())));
        }
        // New to us, back, put back, copied, or used with other records: we did not see what is there now
        // being dropped. Under a new marker other records that used this folder see the same.
        let begun = shared.store.marking_begun(&path)?;
        let is_known_path = shared.store.folder_at(&path)?.is_some();
        let user = former_user(identity, marker.as_deref(), begun.as_ref(), is_known_path);
        let id = match &ours {
            Some(before) => before.id.clone(),
            None => new_marker(shared, &path, user, begun).await?,
        };
        let since = hot.mark(&id).map_err(Away::no_right)?;
        let had = ours.as_ref().map_or_else(|| folder.name.clone(), |before| before.name.clone());
        let has_seen = came_back && identity == Some(Identity::Known);
        let may_be_posted = user.may_have_posted() && (!has_seen || is_from_the_future);
        let still = ours.as_ref().and_then(|before| before.posted_before);
        let posted_before = if may_be_posted { Some(since) } else { still };
        let (name, now_id) = (folder.name.clone(), id.clone());
        let known = KnownFolder { name, path, id: now_id, directory, since, posted_before, trouble: None };
        self.know(shared, known, &had).await?;
        (self.since, self.posted_before) = (since, posted_before);
        self.known = self.settling.names().filter(|_| has_seen).cloned().collect();
        if user == FormerUser::Others {
            journal::folder_of_others(&folder.name);
        }
        journal::folder_enabled(&folder.name, came_back);
        if user == FormerUser::OfOriginal {
            is_copy(shared, folder).await?;
            return Ok(Enabled::Copied);
        }
        is_no_copy(shared, folder).await?;
        Ok(Enabled::Ours(ours.map(|_| id)))
    }

    /// Records the folder. `had` is its former name.
    async fn know(&self, shared: &Shared, known: KnownFolder, had: &str) -> Result<(), IntakeError> {
        let name = known.name.clone();
        shared.store.know_folder(known).await?;
        if name != had {
            journal::folder_renamed(had, &name);
            shared.alone.forget();
        }
        shared.registry.renamed(shared.store.renamed_folders()?);
        shared.bells.originals.notify_one();
        Ok(())
    }

    /// Records what is wrong with the folder, and reports it once.
    pub(super) async fn tell(
        &mut self,
        shared: &Shared,
        folder: &Folder,
        trouble: Option<String>,
    ) -> Result<(), IntakeError> {
        let is_first = !std::mem::replace(&mut self.is_told, true);
        let (alarm, now) = (Alarm::Away(folder.name.clone()), shared.clock.now());
        if trouble == self.trouble {
            // Another run may have reported something else.
            match (&trouble, is_first) {
                (Some(why), true) => shared.store.raise(alarm, why.clone(), now).await?,
                (None, true) => shared.store.calm(alarm, now).await?,
                (Some(_) | None, false) => {}
            }
            return Ok(());
        }
        if let Some(why) = &trouble {
            journal::folder_away(&folder.name, why);
            shared.store.raise(alarm, why.clone(), now).await?;
        } else {
            journal::folder_back(&folder.name);
            shared.store.calm(alarm, now).await?;
        }
        shared.bells.originals.notify_one();
        self.trouble.clone_from(&trouble);
        Ok(shared.store.folder_trouble(&folder.name, trouble).await?)
    }
}

/// The marker of a folder that is new to these records. What a crash would make of it is recorded before it is written.
async fn new_marker(
    shared: &Shared,
    path: &str,
    user: FormerUser,
    begun: Option<BegunMarker>,
) -> Result<String, NotOpened> {
    let is_copy = user == FormerUser::OfOriginal;
    let is_begun = is_copy || matches!(user, FormerUser::None | FormerUser::Unfinished);
    if let Some(begun) = begun.filter(|begun| is_begun && begun.is_copy == is_copy) {
        return Ok(begun.id);
    }
    let before_1970 = || Away::closed(io::Error::other("the clock is wrong"));
    let id = shared.new_ulid().ok_or_else(before_1970)?.to_string();
    if is_begun {
        shared.store.begin_marking(path, &BegunMarker { id: id.clone(), is_copy }).await?;
    }
    Ok(id)
}

async fn is_copy(shared: &Shared, folder: &Folder) -> Result<(), IntakeError> {
    let alarm = Alarm::Copied(folder.name.clone());
    journal::folder_copied(&folder.name);
    let why = "what lies in it is held; letters stay those of the folder it was copied from".to_owned();
    shared.store.raise(alarm, why, shared.clock.now()).await?;
    shared.bells.originals.notify_one();
    Ok(())
}

/// Ends the alarm that an earlier opening may have raised.
async fn is_no_copy(shared: &Shared, folder: &Folder) -> Result<(), IntakeError> {
    let alarm = Alarm::Copied(folder.name.clone());
    if shared.store.alarms()?.iter().any(|raised| raised.alarm == alarm) {
        shared.store.calm(alarm, shared.clock.now()).await?;
    }
    Ok(())
}

/// Which folder it is whose marker lies in this directory.
fn identity_of(shared: &Shared, before: &KnownFolder, path: &str, directory: Option<&str>) -> Identity {
    let recorded_path = at_recorded_path(shared, before, path, directory);
    identity(Met { recorded: before.directory.as_deref(), found: directory, recorded_path })
}

/// What is at the recorded path of a folder whose marker lies in another directory or in this one.
fn at_recorded_path(
    shared: &Shared,
    before: &KnownFolder,
    path: &str,
    directory: Option<&str>,
) -> RecordedPath {
    if before.path == path {
        return RecordedPath::This;
    }
    match shared.reach.marker_at(Path::new(&before.path)) {
        // Its path leads to this very directory.
        Ok(Some((marker, there))) if marker == before.id && Some(there.as_str()) != directory => {
            RecordedPath::Marked
        }
        // It may exist, so everything here is held, as in a copy.
        Err(error) if error.kind() == io::ErrorKind::TimedOut => RecordedPath::Marked,
        Ok(_) | Err(_) => RecordedPath::Gone,
    }
}
