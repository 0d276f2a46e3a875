//! A disk as a power cut leaves it: what was done to files is done again from the tape, and what was not synced
//! is lost.
//!
//! Renames are atomic, as on every filesystem with a journal. Beyond that nothing is given: a file's bytes last
//! once it was synced, a name once one of the directories was in which it changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::rigs::dice::Dice;

/// What is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Whatever was not synced.
    All,
    /// Names last in the order in which they were changed, up to some point; of what was written to a file since
    /// its last sync each piece is there, or not, or half of it.
    Some(u64),
}

type Id = usize;

#[derive(Debug, Default, Clone)]
struct Node {
    /// What is in it: for a directory names, for a file bytes; as it is, and as it would be after a cut.
    names: BTreeMap<String, Id>,
    lasting_names: BTreeMap<String, Id>,
    bytes: Vec<u8>,
    lasting_bytes: Vec<u8>,
    /// What was done to it since it was synced.
    unsynced: Vec<Piece>,
    is_dir: bool,
}

#[derive(Debug, Clone)]
enum Piece {
    Written(usize, Vec<u8>),
    Cut(usize),
}

impl Piece {
    fn put(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Written(offset, piece) => {
                let end = offset + piece.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[*offset..end].copy_from_slice(piece);
            }
            Self::Cut(length) => bytes.resize(*length, 0),
        }
    }
}

impl Node {
    fn write(&mut self, piece: Piece) {
        piece.put(&mut self.bytes);
        self.unsynced.push(piece);
    }
}

/// A change of names that does not last yet.
#[derive(Debug, Clone)]
struct Pending {
    off: Option<(Id, String)>,
    on: Option<(Id, String, Id)>,
}

#[derive(Debug)]
pub struct Disk {
    nodes: Vec<Node>,
    pending: Vec<Pending>,
    root: PathBuf,
}

/// One entry of the tape.
struct Entry {
    what: u8,
    path: String,
    other: String,
    number: u64,
    bytes: Vec<u8>,
}

fn read(tape: &[u8]) -> Vec<Entry> {
    let mut rest = tape;
    let mut entries = Vec::new();
    let number = |rest: &mut &[u8]| -> Option<u64> {
        let (number, after) = rest.split_first_chunk::<8>()?;
        *rest = after;
        Some(u64::from_le_bytes(*number))
    };
    let bytes = |rest: &mut &[u8]| -> Option<Vec<u8>> {
        let length = usize::try_from(number(rest)?).ok()?;
        let (bytes, after) = rest.split_at_checked(length)?;
        *rest = after;
        Some(bytes.to_vec())
    };
    let text = |rest: &mut &[u8]| bytes(rest).map(|bytes| String::from_utf8(bytes).unwrap());
    // The last one may be cut off by the end of the program.
    let mut next = || -> Option<Entry> {
        let (what, after) = rest.split_first()?;
        rest = after;
        let (path, other) = (text(&mut rest)?, text(&mut rest)?);
        Some(Entry { what: *what, path, other, number: number(&mut rest)?, bytes: bytes(&mut rest)? })
    };
    while let Some(entry) = next() {
        entries.push(entry);
    }
    entries
}

/// Removes everything in a directory.
fn empty(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.symlink_metadata().unwrap().is_dir() {
            std::fs::remove_dir_all(entry).unwrap();
        } else {
            std::fs::remove_file(entry).unwrap();
        }
    }
}

impl Disk {
    /// As it lies there now, all of it lasting.
    pub fn of(root: &Path) -> Self {
        let mut disk = Self { nodes: Vec::new(), pending: Vec::new(), root: root.to_owned() };
        disk.take_in(root);
        disk
    }

    fn take_in(&mut self, path: &Path) -> Id {
        let id = self.nodes.len();
        self.nodes.push(Node { is_dir: path.is_dir(), ..Node::default() });
        if path.is_dir() {
            for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
                let kind = entry.file_type().unwrap();
                if kind.is_dir() || kind.is_file() {
                    let inside = self.take_in(&entry.path());
                    self.nodes[id].names.insert(entry.file_name().into_string().unwrap(), inside);
                }
            }
            self.nodes[id].lasting_names = self.nodes[id].names.clone();
        } else {
            self.nodes[id].bytes = std::fs::read(path).unwrap();
            self.nodes[id].lasting_bytes = self.nodes[id].bytes.clone();
        }
        id
    }

    /// A path's directory and last name; nothing, if it is not here (any more).
    fn place(&self, path: &str) -> Option<(Id, String)> {
        let inside = Path::new(path).strip_prefix(&self.root).ok()?;
        let mut names: Vec<&str> = inside.iter().map(|name| name.to_str().unwrap()).collect();
        let last = names.pop()?.to_owned();
        let mut dir = 0;
        for name in names {
            dir = *self.nodes[dir].names.get(name)?;
        }
        Some((dir, last))
    }

    fn node(&self, path: &str) -> Option<Id> {
        if Path::new(path) == self.root {
            return Some(0);
        }
        let (dir, name) = self.place(path)?;
        self.nodes[dir].names.get(&name).copied()
    }

    fn change(&mut self, off: Option<(Id, String)>, on: Option<(Id, String, Id)>) {
        if let Some((dir, name)) = &off {
            self.nodes[*dir].names.remove(name);
        }
        if let Some((dir, name, id)) = &on {
            self.nodes[*dir].names.insert(name.clone(), *id);
        }
        self.pending.push(Pending { off, on });
    }

    fn last(&mut self, pending: Pending) {
        if let Some((dir, name)) = pending.off {
            self.nodes[dir].lasting_names.remove(&name);
        }
        if let Some((dir, name, id)) = pending.on {
            self.nodes[dir].lasting_names.insert(name, id);
        }
    }

    fn new_node(&mut self, path: &str, is_dir: bool) {
        let Some((dir, name)) = self.place(path) else { return };
        self.nodes.push(Node { is_dir, ..Node::default() });
        self.change(None, Some((dir, name, self.nodes.len() - 1)));
    }

    fn sync(&mut self, id: Id) {
        let node = &mut self.nodes[id];
        node.lasting_bytes.clone_from(&node.bytes);
        node.unsynced.clear();
        let touches = |pending: &Pending| {
            pending.off.as_ref().is_some_and(|(dir, _)| *dir == id)
                || pending.on.as_ref().is_some_and(|(dir, ..)| *dir == id)
        };
        let (lasting, pending): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(touches);
        self.pending = pending;
        for change in lasting {
            self.last(change);
        }
    }

    /// Everything on the tape is done again.
    pub fn play(&mut self, tape: &[u8]) {
        for entry in read(tape) {
            let node = self.node(&entry.path);
            let number = usize::try_from(entry.number).unwrap();
            match (entry.what, node) {
                (b'c', None) => self.new_node(&entry.path, false),
                (b'c', Some(id)) if number == 1 => self.nodes[id].write(Piece::Cut(0)),
                (b'd', None) => self.new_node(&entry.path, true),
                (b'w', Some(id)) => self.nodes[id].write(Piece::Written(number, entry.bytes)),
                (b't', Some(id)) => self.nodes[id].write(Piece::Cut(number)),
                (b's', Some(id)) => self.sync(id),
                (b'u', Some(_)) => {
                    let off = self.place(&entry.path);
                    self.change(off, None);
                }
                (b'r' | b'l', Some(id)) => {
                    let off = self.place(&entry.path).filter(|_| entry.what == b'r');
                    let on = self.place(&entry.other).map(|(dir, name)| (dir, name, id));
                    self.change(off, on);
                }
                (_, _) => {}
            }
        }
    }

    /// How many changes of names and files would not last.
    pub fn unsynced(&self) -> usize {
        self.pending.len() + self.nodes.iter().map(|node| node.unsynced.len()).sum::<usize>()
    }

    /// The power is cut: puts what is left in the place of what lies there.
    pub fn cut(mut self, loss: Loss) {
        if let Loss::Some(seed) = loss {
            let mut dice = Dice::of(seed);
            let lasting = dice.below(self.pending.len() + 1);
            for change in std::mem::take(&mut self.pending).into_iter().take(lasting) {
                self.last(change);
            }
            for node in &mut self.nodes {
                for piece in std::mem::take(&mut node.unsynced) {
                    match (dice.below(3), piece) {
                        (0, _) => {}
                        (1, Piece::Written(offset, mut bytes)) => {
                            bytes.truncate(bytes.len() / 2);
                            Piece::Written(offset, bytes).put(&mut node.lasting_bytes);
                        }
                        (_, piece) => piece.put(&mut node.lasting_bytes),
                    }
                }
            }
        }
        let root = self.root.clone();
        for entry in std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                // The directories themselves are the same after a cut: a folder is known by its inode.
                empty(&entry);
            } else {
                std::fs::remove_file(entry).unwrap();
            }
        }
        self.lay_down(0, &root);
    }

    fn lay_down(&self, id: Id, path: &Path) {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let rights = |mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        let node = &self.nodes[id];
        if node.is_dir {
            drop(std::fs::create_dir(path));
            rights(0o700);
            for (name, inside) in &node.lasting_names {
                self.lay_down(*inside, &path.join(name));
            }
        } else {
            std::fs::write(path, &node.lasting_bytes).unwrap();
            rights(0o600);
            if path.ends_with("spool/ledger/place") && node.lasting_bytes.starts_with(b"inode ") {
                // The records stand where they stood, though the file here is another.
                let inode = std::fs::metadata(path).unwrap().ino();
                std::fs::write(path, format!("inode {inode}\n")).unwrap();
            }
        }
    }
}
