//! Japan Post's list of postal codes, read again whenever its file has changed.
//!
//! A list only says which letters must wait, so it needs no time to settle. One that is being written, is missing or
//! is not whole changes nothing: the last good one stays in force, and without one the list that is built in.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use chrono::TimeDelta;

use super::shared::Shared;
use crate::config::{Folder, PostalFile};
use crate::domain::address::PostalData;
use crate::loops::folders::PostalStanding;
use crate::outside::hot::Stat;
use crate::outside::journal;

const REST: TimeDelta = TimeDelta::minutes(1);

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

#[derive(Debug)]
struct SeenList {
    file: PathBuf,
    looks: FileLooks,
    good: Option<Arc<PostalData>>,
    /// Its file system did not answer. It is not asked before this time on the monotonic clock, so that letters do not
    /// wait for it.
    rests_until: TimeDelta,
}

/// The list in force, and the file it was read from.
#[derive(Debug, Default)]
pub(super) struct PostalList(tokio::sync::Mutex<Option<SeenList>>);

impl Shared {
    /// The list that counts at this moment. `None`: the one that is built in.
    pub(super) async fn postal_data(&self, folder: &Folder) -> Option<Arc<PostalData>> {
        let mut seen = self.postal_list.0.lock().await;
        let Some(source) = &folder.postal_data else {
            if seen.take().is_some() {
                self.registry.saw_postal_data(None);
            }
            return None;
        };
        let now = self.clock.steady();
        let file = source.file.clone();
        let known = seen.as_mut().filter(|seen| seen.file == file);
        if let Some(known) = known.as_ref().filter(|known| now < known.rests_until) {
            return known.good.clone();
        }
        let stat = self.reach.stat(&file);
        let is_silent = stat.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut);
        let (looks, rests_until) =
            (FileLooks::of(stat.as_ref().copied()), if is_silent { now + REST } else { now });
        let good = known.as_ref().and_then(|known| known.good.clone());
        if let Some(known) = known.filter(|known| known.looks == looks) {
            known.rests_until = rests_until;
            return good;
        }
        let read = match &looks {
            FileLooks::There { modified, .. } => self.read_list(source, *modified).await,
            FileLooks::Away(why) => Err(why.clone()),
        };
        // It changed while it was read, so it is read again.
        if !is_silent && FileLooks::of(self.reach.stat(&file).as_ref().copied()) != looks {
            return good;
        }
        let (good, trouble) = match read {
            Ok(data) => (Some(Arc::new(data)), None),
            Err(why) => (good, Some(why)),
        };
        journal::postal_data(&file, good.as_deref(), trouble.as_deref());
        self.registry.saw_postal_data(Some(PostalStanding {
            file: file.clone(),
            good: good.clone(),
            trouble,
        }));
        *seen = Some(SeenList { file, looks, good: good.clone(), rests_until });
        good
    }

    async fn read_list(&self, source: &Arc<PostalFile>, modified: i64) -> Result<PostalData, String> {
        let (source, reach) = (Arc::clone(source), Arc::clone(&self.reach));
        let read = tokio::task::spawn_blocking(move || {
            let bytes = reach.read(&source.file).map_err(|error| error.to_string())?;
            source.parse(&bytes, modified)
        });
        read.await.unwrap_or_else(|_ended| Err("the daemon is ending".to_owned()))
    }
}
