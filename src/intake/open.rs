//! A folder opened: ours alone, known or new, there or away.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use super::shared::Shared;
use super::watched::Watched;
use super::{IntakeError, claims, epoch, hands};
use crate::config::Folder;
use crate::guard::Alarm;
use crate::hot::{Away, Hot, Known, WAS_THERE};
use crate::journal;
use crate::spool::Ulid;
use crate::store::KnownFolder;

impl Watched {
    /// The handle of the folder; opened, and its claims taken up, if it was not.
    pub(super) async fn opened(
        &mut self,
        shared: &Shared,
        known: &Known,
    ) -> Result<Result<Arc<Hot>, Away>, IntakeError> {
        let folder = &known.folder;
        if let Some(hot) = known.hot.as_ref().filter(|_| self.opened) {
            if hot.is_still_there() {
                return Ok(Ok(Arc::clone(hot)));
            }
            shared.registry.set(&folder.name, None);
            self.opened = false;
            journal::folder_away(&folder.name, "it is not the directory it was");
        }
        let path = folder.path.display().to_string();
        let before = shared.store.known_folder(&folder.name)?.filter(|before| before.path == path);
        let is_new = before.is_none();
        if self.trouble.is_none() {
            // It was away when the daemon ended, so it comes back now.
            self.trouble = before.as_ref().and_then(|before| before.trouble.clone());
        }
        let hot = match Hot::open(&folder.path, !is_new, &epoch::keeper(&shared.store)?) {
            Ok(hot) => Arc::new(hot),
            Err(away) => return Ok(Err(away)),
        };
        let begun = shared.store.moves_begun(&folder.name)?;
        let begun: Vec<_> = begun.iter().map(|path| hands::shown_path(path)).collect();
        let shelves =
            [&folder.names.held, &folder.names.rejected, &folder.names.cancelled, &folder.names.sent];
        if let Err(error) = hot.make_last(&begun, &shelves.map(String::as_str)) {
            return Ok(Err(Away::Closed(error)));
        }
        self.epoch = match epoch::Told::by(&shared.store, folder, &hot)? {
            Ok(told) => told,
            Err(error) => return Ok(Err(Away::Closed(error))),
        };
        let marker = match self.enable(shared, folder, &hot, before).await? {
            Ok(marker) => marker,
            Err(error) => return Ok(Err(Away::NoRight(error))),
        };
        let names = [folder.names.approve.as_str(), folder.names.cancel.as_str()];
        if let Err(error) = hot.furnish(&names) {
            return Ok(Err(Away::NoRight(error)));
        }
        // Whatever a crash left in the claims is looked at again, when it has been still here too.
        let claims = match hot.claims() {
            Ok(claims) => claims,
            Err(error) => return Ok(Err(Away::Closed(error))),
        };
        let now = shared.clock.steady();
        for dir in claims {
            match distrusted(shared, &hot, dir, marker.as_deref())? {
                Ok(dir) => self.resume(dir, now, None),
                Err(error) => return Ok(Err(Away::NoRight(error))),
            }
        }
        self.opened = true;
        shared.registry.set(&folder.name, Some(Arc::clone(&hot)));
        Ok(Ok(hot))
    }

    /// Says since when drops count as new here; gives the marker under which these records, and no others,
    /// have worked here until now.
    async fn enable(
        &mut self,
        shared: &Shared,
        folder: &Folder,
        hot: &Hot,
        before: Option<KnownFolder>,
    ) -> Result<io::Result<Option<String>>, IntakeError> {
        let marker = match hot.marker() {
            Ok(marker) => marker,
            Err(error) => return Ok(Err(error)),
        };
        let came_back = self.trouble.is_some() && before.is_some();
        let ours = before.as_ref().filter(|before| marker.as_ref() == Some(&before.id));
        if let Some(before) = ours.filter(|_| !came_back) {
            self.since = before.since;
            return Ok(Ok(Some(before.id.clone())));
        }
        // New to us, back, or worked on with other records: what is there now was not dropped under our
        // eyes. Under a new marker whoever worked here before sees the same.
        let new = || shared.new_ulid().map(|id| id.to_string()).unwrap_or_default();
        let ours = ours.map(|before| before.id.clone());
        let id = ours.clone().unwrap_or_else(new);
        let since = match hot.mark(&id) {
            Ok(since) => since,
            Err(error) => return Ok(Err(error)),
        };
        let path = folder.path.display().to_string();
        shared.store.know_folder(&folder.name, KnownFolder { path, id, since, trouble: None }).await?;
        self.since = since;
        self.known = if came_back { self.settling.names().cloned().collect() } else { HashSet::new() };
        if before.is_some() && ours.is_none() {
            journal::folder_of_others(&folder.name);
        }
        journal::folder_enabled(&folder.name, came_back);
        Ok(Ok(ours))
    }

    /// Remembers what is wrong with the folder, and tells it once.
    pub(super) async fn tell(
        &mut self,
        shared: &Shared,
        folder: &Folder,
        trouble: Option<String>,
    ) -> Result<(), IntakeError> {
        let is_first = !std::mem::replace(&mut self.is_told, true);
        let (alarm, now) = (Alarm::Away(folder.name.clone()), shared.clock.now());
        if trouble == self.trouble {
            // Another run may have said something else of it.
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
        shared.owed.notify_one();
        self.trouble.clone_from(&trouble);
        Ok(shared.store.folder_trouble(&folder.name, trouble).await?)
    }
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
