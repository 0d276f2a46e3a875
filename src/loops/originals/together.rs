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

/// An original in its claim, and where it belongs.
struct Claimed {
    original: Original,
    lay: Placement,
}

/// An original that is put under its own name, straight from its claim.
struct Fresh {
    original: Original,
    lay: Placement,
    path: PathBuf,
    text_name: Vec<u8>,
}

/// What is done with originals whose place is not recorded.
#[derive(Default)]
pub(super) struct Planned {
    /// Those in their claims, by folder.
    claimed: BTreeMap<String, (Arc<Hot>, Vec<Claimed>)>,
    /// Those that are searched, or for which nothing can be planned.
    others: Vec<Original>,
    /// Whether some are not due any more.
    are_fewer: bool,
}

impl Put<'_> {
    /// Plans what can be put away together. Names are found later, when those before have theirs.
    pub(super) fn planned(&self, originals: &[Original]) -> Result<Planned, RecordError> {
        // As they are now.
        let due = self.store.still_due(originals)?;
        let mut planned = Planned { are_fewer: due.len() < originals.len(), ..Planned::default() };
        for original in due {
            let known = self.registry.get(&original.origin.folder);
            let Some((folder, hot)) = known.and_then(|known| Some((known.folder, known.hot?))) else {
                planned.others.push(original);
                continue;
            };
            // What is not in its claim needs a search, which is done in one place.
            let claimed = hot.find_claimed(original.ulid.as_str(), &original.origin.name);
            if !claimed.is_ok_and(|claimed| claimed.is_some()) {
                planned.others.push(original);
                continue;
            }
            match self.plan(&original, &folder, &hot) {
                Ok(Plan::Place(lay)) => {
                    let claimed = planned.claimed.entry(folder.name.clone());
                    claimed.or_insert((hot, Vec::new())).1.push(Claimed { original, lay });
                }
                Ok(Plan::OutOfSight(_) | Plan::Gone | Plan::WasMoved(_)) | Err(NotShelved::Folder(_)) => {
                    planned.others.push(original);
                }
                Err(NotShelved::Records(error)) => return Err(error),
            }
        }
        Ok(planned)
    }

    /// Puts them away. Returns whether anything was recorded, or some were not due any more. The last records may still be
    /// being written then.
    pub(super) async fn put_all_away(
        &self,
        planned: Planned,
        placing: &mut Placing,
    ) -> Result<bool, RecordError> {
        let Planned { claimed, mut others, are_fewer } = planned;
        let mut written = are_fewer;
        for (hot, mut claimed) in claimed.into_values() {
            let at_once = if hot.is_remote() { TOGETHER_REMOTE } else { TOGETHER };
            while !claimed.is_empty() {
                let rest = claimed.split_off(claimed.len().min(at_once));
                let fresh = named(&hot, claimed, &mut others);
                if !fresh.is_empty() {
                    written |= self.lay_all(&hot, fresh, &mut others, placing).await?;
                }
                claimed = rest;
            }
        }
        for original in others {
            // It may be searched by its name, among those whose place is recorded.
            written |= placing.done().await?;
            written |= self.away(original, placing).await?;
        }
        Ok(written)
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

/// Gives each its own name, if that is free and so is that of its text. The others get numbers.
fn named(hot: &Hot, claimed: Vec<Claimed>, others: &mut Vec<Original>) -> Vec<Fresh> {
    let mut taken = BTreeSet::new();
    let mut fresh = Vec::with_capacity(claimed.len());
    for Claimed { original, lay } in claimed {
        match free(&original.origin.name, &lay.dir, hot, &mut taken) {
            Some((path, text_name)) => fresh.push(Fresh { original, lay, path, text_name }),
            None => others.push(original),
        }
    }
    fresh
}

/// Its own name in a directory and the name of its text, if both are free. `taken` are the names that others are about to
/// take, in one form of Unicode.
fn free(name: &[u8], dir: &Path, hot: &Hot, taken: &mut BTreeSet<PathBuf>) -> Option<(PathBuf, Vec<u8>)> {
    let (name, text_name) = numbered(name, 1);
    let path_of = |name: &[u8]| dir.join(shown(name));
    let paths = [path_of(&name), path_of(&text_name)];
    // A sidecar that is handed back alone and a PDF of its name.
    let others = sidecars_of(&name).chain(pdf_of(&name).map(<[u8]>::to_vec)).map(|other| path_of(&other));
    let is_taken = paths.iter().cloned().chain(others).any(|path| taken.contains(&path));
    if is_taken || !is_free(hot, dir, [&name, &text_name]).is_ok_and(|free| free) {
        return None;
    }
    taken.extend(paths);
    Some((dir.join(OsStr::from_bytes(&name)), text_name))
}

impl Fresh {
    fn told(&self) -> MoveWithText<'_> {
        MoveWithText { from: &self.lay.here, to: &self.path, text: (&self.text_name, &self.lay.text) }
    }
}
