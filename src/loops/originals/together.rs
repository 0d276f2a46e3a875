//! Puts several originals away together, as in a burst: they share the record of their targets and the syncs
//! of the directories.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::beside::complete;
use super::{NotShelved, Placement, Placing, Plan, Put, Shelved, is_free, is_written};
use crate::domain::drop::{numbered, pdf_of, shown, sidecars_of};
use crate::outside::hot::{Hot, MoveWithText};
use crate::outside::store::{Original, RecordError};

/// The maximum number together.
pub(super) const TOGETHER: usize = 32;
/// People see them before their place is recorded, and a share may be slow.
const TOGETHER_REMOTE: usize = 4;

/// An original that is put under its own name, straight from its claim.
struct Fresh {
    original: Original,
    lay: Placement,
    path: PathBuf,
    text_name: Vec<u8>,
}

type Folders = BTreeMap<String, (Arc<Hot>, Vec<Fresh>)>;
/// The names that are used already, by folder, in one form of Unicode.
pub(super) type TakenNames = BTreeSet<(String, PathBuf)>;

/// Where originals that were never on a shelf go.
#[derive(Default)]
pub(super) struct Sorted {
    /// What can be put away together.
    folders: Folders,
    others: Vec<Original>,
    /// The names that they get.
    pub(super) taken: TakenNames,
}

/// What became of them.
pub(super) struct PutAway {
    pub(super) is_written: bool,
    /// Whether each got the name that was planned. If not, others were put under names that looked free before.
    pub(super) as_planned: bool,
}

impl Put<'_> {
    /// Puts away originals that were never on a shelf. Their records may still be being written then.
    pub(super) async fn put_all_away(
        &self,
        sorted: Sorted,
        placing: &mut Placing,
    ) -> Result<PutAway, RecordError> {
        let Sorted { folders, mut others, taken: _ } = sorted;
        let mut is_written = false;
        for (hot, mut fresh) in folders.into_values() {
            let at_once = if hot.is_remote() { TOGETHER_REMOTE } else { TOGETHER };
            while !fresh.is_empty() {
                let rest = fresh.split_off(fresh.len().min(at_once));
                is_written |= self.lay_all(&hot, fresh, &mut others, placing).await?;
                fresh = rest;
            }
        }
        let as_planned = others.is_empty();
        if !as_planned {
            // Some of them are searched by their names.
            is_written |= placing.done().await?;
        }
        for original in others {
            is_written |= self.away(original, placing).await?;
        }
        Ok(PutAway { is_written, as_planned })
    }

    /// Sorts out, folder by folder, what can be put away together, but for these names. Everything else goes to the
    /// others.
    pub(super) fn sorted(&self, originals: Vec<Original>, but: &TakenNames) -> Result<Sorted, RecordError> {
        let mut sorted = Sorted::default();
        for original in originals {
            let known = self.registry.get(&original.origin.folder);
            let Some((folder, hot)) = known.and_then(|known| Some((known.folder, known.hot?))) else {
                sorted.others.push(original);
                continue;
            };
            // What is not in its claim needs a search, which is done in one place.
            let claimed = hot.find_claimed(original.ulid.as_str(), &original.origin.name);
            if !claimed.is_ok_and(|claimed| claimed.is_some()) {
                sorted.others.push(original);
                continue;
            }
            let lay = match self.plan(&original, &folder, &hot) {
                Ok(Plan::Place(lay)) => lay,
                Ok(Plan::OutOfSight(_) | Plan::Gone | Plan::WasMoved(_)) | Err(NotShelved::Folder(_)) => {
                    sorted.others.push(original);
                    continue;
                }
                Err(NotShelved::Records(error)) => return Err(error),
            };
            match free(&original, &lay.dir, &hot, [but, &sorted.taken]) {
                Some(Free { path, text_name, names }) => {
                    sorted.taken.extend(names);
                    let (_, fresh) = sorted.folders.entry(folder.name.clone()).or_insert((hot, Vec::new()));
                    fresh.push(Fresh { original, lay, path, text_name });
                }
                None => sorted.others.push(original),
            }
        }
        Ok(sorted)
    }

    async fn lay_all(
        &self,
        hot: &Hot,
        all: Vec<Fresh>,
        others: &mut Vec<Original>,
        placing: &mut Placing,
    ) -> Result<bool, RecordError> {
        let moving = |fresh: &Fresh| {
            self.store.moving(fresh.original.ulid.clone(), fresh.path.clone().into_os_string().into_vec())
        };
        let begun: Vec<_> = all.iter().map(moving).collect();
        for begun in begun {
            if !is_written(begun.await)? {
                return Ok(false);
            }
        }
        let told: Vec<_> = all.iter().map(Fresh::told).collect();
        let moved = match hot.shelve_all(&told) {
            Ok(moved) => moved,
            Err(error) => all.iter().map(|_| Err(io::Error::new(error.kind(), error.to_string()))).collect(),
        };
        let mut written = true;
        for (Fresh { original, lay, path, .. }, moved) in all.into_iter().zip(moved) {
            if moved.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
                // Somebody took the name just now, so it gets another one.
                others.push(original);
                continue;
            }
            let shelved = moved.and_then(|()| {
                let told = complete(&original, hot, &path, &lay.text, true)?;
                let inode = hot.inode_of(&path)?;
                Ok(Shelved { place: lay.place, path: Some(path), inode, told: Some(told) })
            });
            written |= self.record(original, shelved, placing).await?;
        }
        Ok(written)
    }
}

/// A name in a directory that is free, and so is the name of the text.
struct Free {
    path: PathBuf,
    text_name: Vec<u8>,
    /// What it takes.
    names: [(String, PathBuf); 2],
}

/// Its own name in a directory and the name of its text, if both are free.
fn free(original: &Original, dir: &Path, hot: &Hot, taken: [&TakenNames; 2]) -> Option<Free> {
    let (name, text_name) = numbered(&original.origin.name, 1);
    let path_of = |name: &[u8]| (original.origin.folder.clone(), dir.join(shown(name)));
    let names = [path_of(&name), path_of(&text_name)];
    // A sidecar that is handed back alone and a PDF of its name.
    let others = sidecars_of(&name).chain(pdf_of(&name).map(<[u8]>::to_vec)).map(|other| path_of(&other));
    let mut all = names.iter().cloned().chain(others);
    let is_taken = all.any(|path| taken.iter().any(|taken| taken.contains(&path)));
    if is_taken || !is_free(hot, dir, [&name, &text_name]).is_ok_and(|free| free) {
        return None;
    }
    Some(Free { path: dir.join(OsStr::from_bytes(&name)), text_name, names })
}

impl Fresh {
    fn told(&self) -> MoveWithText<'_> {
        MoveWithText { from: &self.lay.here, to: &self.path, text: (&self.text_name, &self.lay.text) }
    }
}
