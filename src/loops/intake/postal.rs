//! Japan Post's list of postal codes, read again whenever its file has changed.
//!
//! A list only says which letters must wait, so it needs no time to settle. One that is being written, is missing or
//! is not whole changes nothing: the last good one stays in force, and without one the list that is built in.
//!
//! A file system that may hang is looked at by a task of its own. Letters wait for that for a moment, and not at all
//! while it does not answer.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::shared::Shared;
use crate::config::{Folder, PostalFile};
use crate::domain::address::PostalData;
use crate::loops::folders::{PostalStanding, Registry};
use crate::outside::hot::{Reach, Stat};
use crate::outside::journal;

const REST: TimeDelta = TimeDelta::minutes(1);
/// How long letters wait for the first look at a list whose file system may hang, and for later ones.
const FIRST_PATIENCE: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(1);

/// What is known of the file without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FileLooks {
    There {
        inode: u64,
        size: u64,
        modified: i64,
        changed: i64,
    },
    /// Why it cannot be seen.
    Away(String),
}

impl FileLooks {
    fn of(stat: Result<Stat, &io::Error>) -> Self {
        match stat {
            Ok(Stat { inode, size, modified, changed, .. }) => Self::There { inode, size, modified, changed },
            Err(error) => Self::Away(error.to_string()),
        }
    }
}

#[derive(Debug, Clone)]
struct SeenList {
    file: PathBuf,
    looks: FileLooks,
    good: Option<Arc<PostalData>>,
    /// Its file system did not answer. It is not asked before this time on the monotonic clock.
    rests_until: Option<TimeDelta>,
}

/// The list in force, and the file it was read from.
#[derive(Debug, Default)]
pub(super) struct PostalList {
    seen: Mutex<Option<SeenList>>,
    turn: tokio::sync::Mutex<()>,
    /// A look for which nothing waits any more.
    late: Mutex<Option<JoinHandle<()>>>,
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PostalList {
    fn known(&self, source: &PostalFile) -> Option<SeenList> {
        locked(&self.seen).as_ref().filter(|seen| seen.file == source.file).cloned()
    }
}

impl Shared {
    /// The list that counts at this moment. `None`: the one that is built in.
    pub(super) async fn postal_data(&self, folder: &Folder) -> Option<Arc<PostalData>> {
        let list = &self.postal_list;
        let Some(source) = &folder.postal_data else {
            if locked(&list.seen).take().is_some() {
                self.registry.saw_postal_data(None);
            }
            return None;
        };
        let is_apart = self.reach.is_apart(&source.file);
        let look = Look {
            list: Arc::clone(list),
            source: Arc::clone(source),
            reach: Arc::clone(&self.reach),
            registry: Arc::clone(&self.registry),
            now: self.clock.steady(),
            is_apart,
        };
        if is_apart {
            look.take_for_a_moment().await;
        } else {
            look.take().await;
        }
        list.known(source)?.good
    }
}

/// A look at the file of the list.
struct Look {
    list: Arc<PostalList>,
    source: Arc<PostalFile>,
    reach: Arc<Reach>,
    registry: Arc<Registry>,
    now: TimeDelta,
    is_apart: bool,
}

impl Look {
    async fn take_for_a_moment(self) {
        let list = Arc::clone(&self.list);
        if locked(&list.late).as_ref().is_some_and(|look| !look.is_finished()) {
            return;
        }
        let patience = match list.known(&self.source) {
            None => FIRST_PATIENCE,
            Some(known) if known.rests_until.is_some() => Duration::ZERO,
            Some(_) => PATIENCE,
        };
        let mut look = tokio::spawn(self.take());
        if timeout(patience, &mut look).await.is_err() {
            *locked(&list.late) = Some(look);
        }
    }

    async fn take(self) {
        let _turn = self.list.turn.lock().await;
        let known = self.list.known(&self.source);
        if known.as_ref().and_then(|known| known.rests_until).is_some_and(|until| self.now < until) {
            return;
        }
        let stat = self.stat().await;
        let is_silent = stat.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut);
        let looks = FileLooks::of(stat.as_ref().copied());
        let rests_until = is_silent.then(|| self.now + REST);
        let good = known.as_ref().and_then(|known| known.good.clone());
        if let Some(known) = known.filter(|known| known.looks == looks) {
            *locked(&self.list.seen) = Some(SeenList { rests_until, ..known });
            return;
        }
        let read = match &looks {
            FileLooks::There { modified, .. } => self.read(*modified).await,
            FileLooks::Away(why) => Err(why.clone()),
        };
        // It changed while it was read, so it is read again.
        if !is_silent && FileLooks::of(self.stat().await.as_ref().copied()) != looks {
            return;
        }
        let (good, trouble) = match read {
            Ok(data) => (Some(Arc::new(data)), None),
            Err(why) => (good, Some(why)),
        };
        let file = self.source.file.clone();
        journal::postal_data(&file, good.as_deref(), trouble.as_deref());
        self.registry.saw_postal_data(Some(PostalStanding {
            file: file.clone(),
            good: good.clone(),
            trouble,
        }));
        *locked(&self.list.seen) = Some(SeenList { file, looks, good, rests_until });
    }

    async fn stat(&self) -> io::Result<Stat> {
        if !self.is_apart {
            return self.reach.stat(&self.source.file);
        }
        let (reach, source) = (Arc::clone(&self.reach), Arc::clone(&self.source));
        let stat = spawn_blocking(move || reach.stat(&source.file)).await;
        stat.unwrap_or_else(|_ended| Err(io::ErrorKind::Interrupted.into()))
    }

    async fn read(&self, modified: i64) -> Result<PostalData, String> {
        let (source, reach) = (Arc::clone(&self.source), Arc::clone(&self.reach));
        let read = spawn_blocking(move || {
            let bytes = reach.read(&source.file).map_err(|error| error.to_string())?;
            source.parse(&bytes, modified)
        });
        read.await.unwrap_or_else(|_ended| Err("the daemon is ending".to_owned()))
    }
}
