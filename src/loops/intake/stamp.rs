//! How a look at something in a folder becomes a stamp, and whether what was claimed is what was seen.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::settle::Stamp;
use crate::outside::hot::{SeenEntry, kind};

impl Stamp {
    pub(super) fn of(seen: &SeenEntry, inside: u64) -> Self {
        let stat = &seen.stat;
        Self {
            kind: kind(stat),
            inode: stat.inode,
            size: stat.size,
            links: stat.links,
            readable: seen.readable,
            times: (stat.modified, stat.changed),
            inside,
        }
    }

    /// Whether what was claimed is what was seen. A rename changes the time of change.
    pub(super) fn is_as(&self, claimed: &SeenEntry, inside: u64) -> bool {
        let other = Self::of(claimed, inside);
        (self.kind, self.inode, self.times.0, self.inside)
            == (other.kind, other.inode, other.times.0, other.inside)
            && (self.kind.is_some() || self.size == other.size)
    }
}

/// A hash that changes with anything in a directory.
pub(super) fn stamp_inside(mut inside: Vec<SeenEntry>) -> u64 {
    inside.sort_by(|a, b| a.name.cmp(&b.name));
    let mut hasher = DefaultHasher::new();
    for seen in inside {
        (&seen.name, Stamp::of(&seen, 0)).hash(&mut hasher);
    }
    hasher.finish()
}
