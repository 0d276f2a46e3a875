//! What people and chance do to a folder, to what decides over it, and to the records.

use super::daemon::Daemon;
use super::disk::{Dir, Part};
use super::sizes::Size;
use super::{Action, State};

/// What becomes of a folder as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// It is called something else, and lies elsewhere.
    Moved,
    /// A copy of it is the folder from now on; what it was copied from stays.
    Copied,
    /// It was deleted and comes from a backup, with what had been dropped there before.
    Restored,
}

/// Where the folder lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Place {
    pub path: u8,
    pub directory: u8,
    /// Whether another directory with its marker lies where it lay.
    pub has_copy: bool,
    /// The ordinal of this copy.
    pub copy: u8,
}

impl State {
    pub fn people(&self, size: &Size, actions: &mut Vec<Action>) {
        let left = self.left;
        if left.drops > 0 {
            let is_free = |name: &u8| self.disk.lying(Dir::Folder).all(|(_, file)| file.name != *name);
            actions.extend((0..2).filter(is_free).map(Action::Drop));
        }
        for (index, file) in self.disk.files.iter().enumerate() {
            let writes = file.version % 2 == 1 || left.rewrites > 0;
            if writes && matches!(file.at(), Some(Dir::Folder | Dir::Claim(_))) {
                actions.push(Action::Write(index));
            }
            let Some(from @ (Dir::Held | Dir::Done)) = file.at().filter(|_| file.part == Part::Pdf) else {
                continue;
            };
            if left.approvals > 0 && from == Dir::Held {
                actions.push(Action::Wish { file: index, to: Dir::Approve, by_copy: false });
            }
            if left.wishes > 0 {
                for (to, by_copy) in [(Dir::Approve, true), (Dir::Cancel, true), (Dir::Cancel, false)] {
                    actions.push(Action::Wish { file: index, to, by_copy });
                }
            }
        }
        let edits = [(Action::EditBook, size.book, self.book), (Action::EditRules, size.rules, self.rules)];
        for (edit, _, _) in
            edits.into_iter().filter(|(_, has, input)| *has && (input.is_being_written() || left.edits > 0))
        {
            actions.push(edit);
        }
        if left.changes > 0 {
            let all = [Change::Moved, Change::Copied, Change::Restored];
            actions.extend(all.into_iter().map(Action::Change));
        }
        if left.copies > 0 && self.daemons.get(1) == Some(&Daemon::default()) {
            actions.extend([true, false].map(|database| Action::CopyState { database }));
        }
        // Whoever writes does not pause for as long as a drop must be still.
        let pauses = self.disk.files.iter().any(|file| file.version % 2 == 1 && file.pause > 0)
            || [self.book, self.rules].iter().any(|input| input.is_being_written() && input.pause > 0);
        if left.ticks > 0 && !pauses {
            actions.push(Action::Tick);
        }
    }

    pub fn drop(&mut self, size: &Size, name: u8) {
        self.left.drops -= 1;
        if size.sidecars {
            self.disk.create(self.next_drop, Part::Sidecar, name);
        }
        self.disk.create(self.next_drop, Part::Pdf, name);
        self.next_drop += 1;
    }

    pub fn change(&mut self, change: Change) {
        self.left.changes -= 1;
        let place = &mut self.place;
        match change {
            Change::Moved => (place.path, place.has_copy) = (place.path + 1, false),
            Change::Copied => {
                place.path += 1;
                place.directory += 1;
                place.copy += 1;
                place.has_copy = true;
                self.disk.copy_all();
            }
            Change::Restored => {
                place.directory += 1;
                self.disk.copy_all();
                self.bring_back();
            }
        }
        for daemon in &mut self.daemons {
            daemon.lose_folder(change == Change::Moved);
        }
    }

    /// A backup has what was dropped, where it was dropped.
    fn bring_back(&mut self) {
        for drop in 0..self.next_drop {
            let file = self.disk.files.iter().position(|file| file.drop == drop && file.part == Part::Pdf);
            let Some(file) = file else { continue };
            let name = self.disk.files[file].name;
            if self.disk.lying(Dir::Folder).all(|(_, other)| other.name != name) {
                self.disk.copy(file, Dir::Folder);
            }
        }
    }

    pub fn copy_state(&mut self, database: bool) {
        self.left.copies -= 1;
        let mut copy = Daemon { up: None, ..self.daemons[0].clone() };
        copy.bound.1 = copy.bound.1.filter(|_| database);
        self.daemons[1] = copy;
    }
}
