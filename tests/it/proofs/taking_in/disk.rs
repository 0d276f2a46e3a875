//! Where the files of a folder are, and what a power cut may leave of what was not synced.
//!
//! A rename is atomic, and a directory that is synced lasts as it is then; what came after may be forgotten
//! up to any moment. So an old name may come back beside the new one, and a file is in neither if only the
//! directory it left was synced. A claim's place that does not last takes along what was synced in it.

use std::collections::{BTreeMap, BTreeSet};

use mailchute::outside::hot::MoveStep;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dir {
    Folder,
    Claim(u8),
    Held,
    /// Where the original lies of what was posted or cancelled.
    Done,
    Approve,
    Cancel,
    /// In a directory that is no folder of ours any more.
    Elsewhere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    Pdf,
    /// The address that is dropped with it.
    Sidecar,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct File {
    /// Which drop of a person it is.
    pub drop: u8,
    pub part: Part,
    /// Two names of one file have the same, a copy of it has another.
    pub inode: u8,
    pub name: u8,
    /// The claim as whose original it goes by its path.
    pub of: Option<u8>,
    /// Odd while it is being written.
    pub version: u8,
    /// For how many ticks it has been so.
    pub pause: u8,
    /// Where it was since everything of it was synced, up to now; nowhere, if it is lost.
    path: Vec<Dir>,
    /// How far along its path it was when each directory was synced last.
    synced: BTreeMap<Dir, usize>,
}

/// What a claim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// A directory that may be lost with what was synced in it.
    Made,
    /// A directory that lasts.
    Lasting,
    /// A file among the claims.
    File,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Disk {
    pub files: Vec<File>,
    next_inode: u8,
    /// The places of claims.
    places: BTreeMap<u8, Place>,
    /// Claims whose name says that what they hold was there before.
    pub was_there: BTreeSet<u8>,
    /// Whether a directory that is synced lasts.
    pub syncs: bool,
    /// Of the records that it was worked on with last.
    pub marker: u8,
}

impl Dir {
    fn claim(self) -> Option<u8> {
        match self {
            Self::Claim(claim) => Some(claim),
            Self::Folder | Self::Held | Self::Done | Self::Approve | Self::Cancel | Self::Elsewhere => None,
        }
    }
}

impl File {
    /// As it lies there for good.
    fn resting(self, at: Dir) -> Self {
        Self { path: vec![at], synced: BTreeMap::new(), ..self }
    }

    pub fn at(&self) -> Option<Dir> {
        self.path.last().copied()
    }

    /// Everywhere it lies after a cut that leaves so many of its moves.
    fn after(&self, kept: usize, places: &BTreeMap<u8, Place>) -> BTreeSet<Dir> {
        let synced = |dir: Dir| self.synced.get(&dir).copied().unwrap_or_default();
        let has = |dir: &Dir| self.path[kept.max(synced(*dir))] == *dir;
        let is_lost = |dir: &Dir| {
            let place = dir.claim().and_then(|claim| places.get(&claim));
            synced(*dir) > kept && place == Some(&Place::Made)
        };
        self.path.iter().filter(|dir| has(dir) && !is_lost(dir)).copied().collect()
    }

    fn sync(&mut self, dir: Dir, places: &BTreeMap<u8, Place>) {
        // Both ends of a person's move last together; what no order of ours can help is no news.
        let by_person = |pair: &&[Dir]| {
            matches!(pair, [Dir::Held | Dir::Done, Dir::Approve | Dir::Cancel]) && pair.contains(&dir)
        };
        let both =
            self.path.last_chunk::<2>().map(<[Dir; 2]>::as_slice).filter(by_person).map(<[Dir]>::to_vec);
        for dir in both.unwrap_or_else(|| vec![dir]) {
            if self.path.contains(&dir) {
                self.synced.insert(dir, self.path.len() - 1);
            }
        }
        let all = self.path.iter().map(|dir| self.synced.get(dir).copied().unwrap_or_default()).min();
        // Where it was before is forgotten, unless where it is may be lost with its place.
        let lasts =
            |all: &usize| self.path[*all].claim().and_then(|claim| places.get(&claim)) != Some(&Place::Made);
        if let Some(all) = all.filter(|all| *all > 0).filter(lasts) {
            self.path.drain(..all);
            let kept = &self.path;
            self.synced.retain(|dir, _| kept.contains(dir));
            self.synced.values_mut().for_each(|at| *at -= all);
        }
    }
}

impl Disk {
    pub fn create(&mut self, drop: u8, part: Part, name: u8) {
        let (path, synced) = (vec![Dir::Folder], BTreeMap::new());
        // What lay under this name before cannot come back there: a directory has each name once.
        for file in &mut self.files {
            if let Some(at) = file.at().filter(|at| *at != Dir::Folder)
                && file.part == part
                && file.name == name
            {
                *file = file.clone().resting(at);
            }
        }
        let inode = self.new_inode();
        self.files.push(File { drop, part, inode, name, of: None, version: 1, pause: 0, path, synced });
    }

    fn new_inode(&mut self) -> u8 {
        self.next_inode += 1;
        self.next_inode
    }

    /// A person copies a file.
    pub fn copy(&mut self, file: usize, to: Dir) {
        let inode = self.new_inode();
        let of = self.files[file].of.filter(|_| to != Dir::Folder);
        self.files.push(File { inode, of, ..self.files[file].clone() }.resting(to));
    }

    /// A cut may bring it back.
    pub fn remove(&mut self, file: usize) {
        self.files[file].path.push(Dir::Elsewhere);
    }

    /// All of the folder lies in another directory too, which is the folder from now on.
    pub fn copy_all(&mut self) {
        for file in 0..self.files.len() {
            let at = self.files[file].at();
            if let Some(at) = at.filter(|at| *at != Dir::Elsewhere) {
                self.copy(file, at);
                self.files[file] = self.files[file].clone().resting(Dir::Elsewhere);
            }
        }
        self.sync_places();
    }

    fn sync_places(&mut self) {
        for place in self.places.values_mut().filter(|place| **place == Place::Made) {
            *place = Place::Lasting;
        }
    }

    /// A claim gets another name.
    pub fn rename_claim(&mut self, claim: u8, new: u8) {
        self.places.remove(&claim);
        self.places.insert(new, Place::Lasting);
        for file in &mut self.files {
            if file.at() == Some(Dir::Claim(claim)) {
                *file = File { of: Some(new), ..file.clone() }.resting(Dir::Claim(new));
            }
        }
    }

    /// A part of a drop, where it lies.
    pub fn part(&self, dir: Dir, claim: u8, part: Part) -> Option<usize> {
        self.lying(dir).find(|(_, file)| file.of == Some(claim) && file.part == part).map(|(file, _)| file)
    }

    pub fn lying(&self, dir: Dir) -> impl Iterator<Item = (usize, &File)> {
        self.files.iter().enumerate().filter(move |(_, file)| file.at() == Some(dir))
    }

    pub fn make_place(&mut self, claim: u8) {
        if self.is_file(claim) && self.is_empty(claim) {
            self.places.remove(&claim);
        }
        self.places.entry(claim).or_insert(Place::Made);
    }

    /// A file that was dropped alone will be the claim.
    pub fn make_file_claim(&mut self, claim: u8) {
        self.places.insert(claim, Place::File);
    }

    pub fn is_file(&self, claim: u8) -> bool {
        self.places.get(&claim) == Some(&Place::File)
    }

    fn is_empty(&self, claim: u8) -> bool {
        self.lying(Dir::Claim(claim)).next().is_none()
    }

    /// The claims there are.
    pub fn claims(&self) -> Vec<u8> {
        let is_there = |claim: &u8| !self.is_file(*claim) || !self.is_empty(*claim);
        self.places.keys().copied().filter(is_there).collect()
    }

    pub fn unclaim(&mut self, claim: u8) {
        // A file takes its place along, and is a file again where a cut brings it back.
        if self.is_empty(claim) && !self.is_file(claim) {
            self.places.remove(&claim);
        }
    }

    /// One step of a move; whether it could be done.
    pub fn go(&mut self, step: MoveStep, file: usize, from: Dir, to: Dir) -> bool {
        match step {
            MoveStep::SyncClaims if self.syncs => self.sync_places(),
            MoveStep::Rename => {
                let moved = &self.files[file];
                let is_in_the_way = |other: &File| {
                    // On a shelf it gets another name, unless that is its own.
                    let is_by_name = matches!(to, Dir::Folder | Dir::Claim(_)) && other.name == moved.name;
                    other.part == moved.part && (is_by_name || other.inode == moved.inode)
                };
                let is_taken = self.lying(to).any(|(_, other)| is_in_the_way(other));
                let is_gone = matches!(to, Dir::Claim(claim) if !self.places.contains_key(&claim));
                if is_taken || is_gone || self.files[file].at() != Some(from) {
                    return false;
                }
                self.files[file].of = to.claim().or(self.files[file].of).filter(|_| to != Dir::Folder);
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
    pub fn make_moves_durable(&mut self, moved: &[Dir]) {
        if self.claims().is_empty() && moved.is_empty() {
            return;
        }
        let shelves = [Dir::Approve, Dir::Cancel, Dir::Held, Dir::Done];
        for dir in shelves.iter().chain(moved).copied() {
            self.sync(dir);
        }
        for claim in self.claims() {
            self.sync(Dir::Claim(claim));
        }
        if self.syncs {
            self.sync_places();
        }
        self.sync(Dir::Folder);
    }

    /// Whether a cut left a file under more than one name.
    pub fn has_twins(&self, file: usize) -> bool {
        let inode = self.files[file].inode;
        self.files.iter().filter(|file| file.inode == inode && file.at().is_some()).count() > 1
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
            // Both of its names may be there.
            let mut at = found.into_iter().map(|dir| file.clone().resting(dir));
            let nowhere = || File { path: vec![], synced: BTreeMap::new(), ..file.clone() };
            files.push(at.next().unwrap_or_else(nowhere));
            twins.extend(at);
        }
        files.append(&mut twins);
        // A place is there if it lasted, or if what is in it is.
        let filled: BTreeSet<u8> = files.iter().filter_map(File::at).filter_map(Dir::claim).collect();
        let kept = |claim: u8, place: Place| match place {
            Place::Made | Place::Lasting if filled.contains(&claim) => Some(Place::Lasting),
            Place::Made => None,
            Place::Lasting => Some(Place::Lasting),
            Place::File => Some(Place::File).filter(|_| filled.contains(&claim)),
        };
        let made_again = filled.iter().map(|claim| (*claim, Place::Lasting));
        let places = self.places.iter().filter_map(|(claim, place)| Some((*claim, kept(*claim, *place)?)));
        self.places = made_again.chain(places).collect();
        self.files = files;
    }
}
