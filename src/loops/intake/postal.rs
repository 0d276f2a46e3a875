//! Japan Post's list of postal codes, read again whenever its file has changed.
//!
//! A list only says which letters must wait, so it needs no time to settle. One that is being written, is missing or
//! is not whole changes nothing: the last good one stays in force, and without one the list that is built in.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::shared::Shared;
use crate::config::{Folder, PostalFile};
use crate::domain::address::PostalData;
use crate::loops::folders::PostalStanding;
use crate::outside::hot::Stat;
use crate::outside::journal;

/// Inode, size and times. `None` if the file does not exist.
type FileLooks = Option<(u64, u64, i64, i64)>;

#[derive(Debug)]
struct SeenList {
    file: PathBuf,
    looks: FileLooks,
    good: Option<Arc<PostalData>>,
}

/// The list in force, and the file it was read from.
#[derive(Debug, Default)]
pub(super) struct PostalList(tokio::sync::Mutex<Option<SeenList>>);

fn looks_of(stat: io::Result<Stat>) -> io::Result<FileLooks> {
    match stat {
        Ok(stat) => Ok(Some((stat.inode, stat.size, stat.modified, stat.changed))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

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
        let before = seen.take().filter(|seen| seen.file == source.file);
        let known = before.as_ref().and_then(|seen| seen.good.clone());
        // A file system that does not answer, or a file that changes while it is read, is asked again.
        let Ok(looks) = looks_of(self.reach.stat(&source.file)) else {
            *seen = before;
            return known;
        };
        if before.as_ref().is_some_and(|seen| seen.looks == looks) {
            *seen = before;
            return known;
        }
        let read = self.read_list(source, looks).await;
        if looks_of(self.reach.stat(&source.file)).ok() != Some(looks) {
            *seen = before;
            return known;
        }
        let (good, trouble) = match read {
            Ok(data) => (Some(Arc::new(data)), None),
            Err(why) => (known, Some(why)),
        };
        journal::postal_data(&source.file, good.as_deref(), trouble.as_deref());
        self.registry.saw_postal_data(Some(PostalStanding {
            file: source.file.clone(),
            good: good.clone(),
            trouble,
        }));
        *seen = Some(SeenList { file: source.file.clone(), looks, good: good.clone() });
        good
    }

    async fn read_list(&self, source: &Arc<PostalFile>, looks: FileLooks) -> Result<PostalData, String> {
        let Some((_, _, modified, _)) = looks else { return Err("it does not exist".to_owned()) };
        let (source, reach) = (Arc::clone(source), Arc::clone(&self.reach));
        let read = tokio::task::spawn_blocking(move || {
            let bytes = reach.read(&source.file).map_err(|error| error.to_string())?;
            source.parse(&bytes, modified)
        });
        read.await.unwrap_or_else(|_ended| Err("the daemon is ending".to_owned()))
    }
}
