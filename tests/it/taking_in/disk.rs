//! Where the files of a folder are, and what a power cut may leave of what was not synced.
//!
//! A rename is atomic, and a directory that is synced lasts as it is then; what came after may be forgotten
//! up to any moment. So an old name may come back beside the new one, and a file is in neither if only the
//! directory it left was synced. A claim's place that does not last takes along what was synced in it.

use std::collections::{BTreeMap, BTreeSet};

use mailchute::hot::MoveStep;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dir {
    Folder,
    Claim(u8),
    Held,
    Sent,
    Approve,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct File {
    /// Which drop of a person it is.
    pub drop: u8,
    pub name: u8,
    /// Odd while it is being written.
    pub version: u8,
    /// For how many ticks it has been so.
    pub pause: u8,
    /// Where it was since everything of it was synced, up to now; nowhere, if it is lost.
    path: Vec<Dir>,
    /// How far along its path it was when each directory was synced last.
    synced: BTreeMap<Dir, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Disk {
    pub files: Vec<File>,
    /// Places of claims, and whether they last.
    places: BTreeMap<u8, bool>,
    /// Claims whose name says that what they hold was there before.
    pub was_there: BTreeSet<u8>,
    /// Whether a directory that is synced lasts.
    pub syncs: bool,
    /// Of the records that it was worked on with last.
    pub marker: u8,
}

impl File {
    fn new(drop: u8, name: u8, at: Dir) -> Self {
        Self { drop, name, version: 1, pause: 0, path: vec![at], synced: BTreeMap::new() }
    }

    pub fn at(&self) -> Option<Dir> {
        self.path.last().copied()
    }

    /// Everywhere it lies after a cut that leaves so many of its moves.
    fn after(&self, kept: usize, places: &BTreeMap<u8, bool>) -> BTreeSet<Dir> {
        let synced = |dir: Dir| self.synced.get(&dir).copied().unwrap_or_default();
        let has = |dir: &Dir| self.path[kept.max(synced(*dir))] == *dir;
        let is_lost = |dir: &Dir| match dir {
            Dir::Claim(claim) => synced(*dir) > kept && places.get(claim) == Some(&false),
            Dir::Folder | Dir::Held | Dir::Sent | Dir::Approve => false,
        };
        self.path.iter().filter(|dir| has(dir) && !is_lost(dir)).copied().collect()
    }

    fn sync(&mut self, dir: Dir, places: &BTreeMap<u8, bool>) {
        // Both ends of a person's move last together; what no order of ours can help is no news.
        let by_person = [Dir::Held, Dir::Approve];
        let both = by_person.contains(&dir) && self.path.ends_with(&by_person);
        for dir in if both { by_person.to_vec() } else { vec![dir] } {
            if self.path.contains(&dir) {
                self.synced.insert(dir, self.path.len() - 1);
            }
        }
        let all = self.path.iter().map(|dir| self.synced.get(dir).copied().unwrap_or_default()).min();
        // Where it was before is forgotten, unless where it is may be lost with its place.
        let lasts = |all: &usize| match self.path[*all] {
            Dir::Claim(claim) => places.get(&claim) != Some(&false),
            Dir::Folder | Dir::Held | Dir::Sent | Dir::Approve => true,
        };
        if let Some(all) = all.filter(|all| *all > 0).filter(lasts) {
            self.path.drain(..all);
            let kept = &self.path;
            self.synced.retain(|dir, _| kept.contains(dir));
            self.synced.values_mut().for_each(|at| *at -= all);
        }
    }
}

impl Disk {
    pub fn create(&mut self, drop: u8, name: u8) {
        self.files.push(File::new(drop, name, Dir::Folder));
    }

    pub fn lying(&self, dir: Dir) -> impl Iterator<Item = (usize, &File)> {
        self.files.iter().enumerate().filter(move |(_, file)| file.at() == Some(dir))
    }

    pub fn make_place(&mut self, claim: u8) {
        self.places.entry(claim).or_insert(false);
    }

    /// The claims there are.
    pub fn claims(&self) -> Vec<u8> {
        self.places.keys().copied().collect()
    }

    pub fn unclaim(&mut self, claim: u8) {
        if self.lying(Dir::Claim(claim)).next().is_none() {
            self.places.remove(&claim);
        }
    }

    /// One step of a move; whether it could be done.
    pub fn go(&mut self, step: MoveStep, file: usize, from: Dir, to: Dir) -> bool {
        match step {
            MoveStep::SyncClaims if self.syncs => self.places.values_mut().for_each(|lasts| *lasts = true),
            MoveStep::Rename => {
                let drop = self.files[file].drop;
                let is_taken = self.lying(to).any(|(_, other)| other.drop == drop);
                let is_gone = matches!(to, Dir::Claim(claim) if !self.places.contains_key(&claim));
                if is_taken || is_gone || self.files[file].at() != Some(from) {
                    return false;
                }
                self.files[file].path.push(to);
            }
            MoveStep::SyncTo => self.sync(to),
            MoveStep::SyncFrom => self.sync(from),
            MoveStep::SyncClaims => {}
        }
        true
    }

    fn sync(&mut self, dir: Dir) {
        if self.syncs {
            self.files.iter_mut().for_each(|file| file.sync(dir, &self.places));
        }
    }

    /// What an earlier run moved lasts: `moved` to these, or into the claims.
    pub fn make_last(&mut self, moved: &[Dir]) {
        let shelves = [Dir::Held, Dir::Sent];
        let shelves = shelves.iter().filter(|_| !self.places.is_empty());
        for dir in moved.iter().chain(shelves).copied().collect::<Vec<_>>() {
            self.sync(dir);
        }
        for claim in self.claims() {
            self.sync(Dir::Claim(claim));
        }
        if self.syncs {
            self.places.values_mut().for_each(|lasts| *lasts = true);
        }
        self.sync(Dir::Folder);
    }

    /// Whether a cut left a drop under more than one name.
    pub fn has_twins(&self, drop: u8) -> bool {
        self.files.iter().filter(|file| file.drop == drop && file.at().is_some()).count() > 1
    }

    /// In how many ways a cut may end.
    pub fn ways(&self) -> usize {
        self.files.iter().map(|file| file.path.len().max(1)).product()
    }

    pub fn cut(&mut self, mut way: usize) {
        let (mut files, mut twins) = (Vec::new(), Vec::new());
        for file in &self.files {
            let ways = file.path.len().max(1);
            let found: Vec<Dir> = file.after(way % ways, &self.places).into_iter().collect();
            way /= ways;
            let at = |path: &[Dir]| File { path: path.to_vec(), synced: BTreeMap::new(), ..file.clone() };
            // Both of its names may be there.
            files.push(at(&found[..found.len().min(1)]));
            twins.extend(found.iter().skip(1).map(|dir| at(&[*dir])));
        }
        files.append(&mut twins);
        // A place is there if it lasted, or if what is in it is.
        self.places.retain(|_, lasts| *lasts);
        let filled = files.iter().filter_map(File::at).filter_map(|dir| match dir {
            Dir::Claim(claim) => Some((claim, true)),
            Dir::Folder | Dir::Held | Dir::Sent | Dir::Approve => None,
        });
        self.places.extend(filled);
        self.files = files;
    }
}
