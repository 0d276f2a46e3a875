//! How the daemon hears people who move and copy originals, and moves the originals itself.

use mailchute::domain::drop::StandingLetter;
use mailchute::domain::letter::Command;
use mailchute::loops::intake::{
    Candidate, Instruction as Word, Itself, Meant, Name, Obeyed, Whereabouts, meant, obeyed,
};
use mailchute::outside::hot::{CLAIMING, MOVING, MoveStep};

use super::State;
use super::daemon::{Hand, Moving, Row, Stands, What};
use super::disk::{Dir, Disk, Part};
use super::taking::steps;

/// A person has it.
struct InHand;

impl Row {
    /// A letter, or a drop that waits, as the shipped decision sees it.
    fn candidate(&self, state: &State, file: usize) -> Candidate {
        let disk = &state.disk;
        let found = &disk.files[file];
        let lies_at = |dir: Dir| disk.part(dir, self.claim, Part::Pdf).is_some();
        let shelved = [self.place, self.moving].into_iter().flatten();
        let mut shelved = shelved.filter(|place| matches!(place, Dir::Held | Dir::Done));
        let is_away = !lies_at(Dir::Claim(self.claim)) && !shelved.any(lies_at);
        let is_same = self.bytes == state.bytes_of(file);
        let (has_bytes, standing) = match self.what {
            What::Letter { stands, .. } => (is_same, Some(stands.shown())),
            What::Waits => (is_same && (is_away || self.place == Some(Dir::Held)), None),
            What::Accepted | What::Over => (is_same && is_away, None),
        };
        let original = match (self.moving, is_away) {
            (Some(_), is_away) => Whereabouts::Moving { is_away },
            (None, true) => Whereabouts::Away,
            (None, false) => Whereabouts::There,
        };
        let name = if self.name == found.name { Name::Shelved } else { Name::Another };
        let is_waiting = match standing {
            Some(standing) => standing == StandingLetter::Waits,
            None => matches!(self.what, What::Waits),
        };
        Candidate { name, file: Itself::Unknown, has_bytes, original, is_waiting, standing }
    }

    /// What a person said about its letter, or about the drop.
    fn hears(&mut self, word: Obeyed) {
        self.what = match (word, self.what) {
            (Obeyed::Order(Command::Release), What::Letter { stands: Stands::Held, .. }) => {
                What::Letter { stands: Stands::OnItsWay, by_person: true }
            }
            (
                Obeyed::Order(Command::Cancel),
                What::Letter { stands: Stands::Held | Stands::OnItsWay, by_person },
            ) => What::Letter { stands: Stands::Cancelled, by_person },
            (Obeyed::Accepted, What::Waits) => What::Accepted,
            (Obeyed::Cancelled, What::Waits | What::Accepted) => What::Over,
            (_, what) => what,
        };
    }

    /// Whether a person who says this must be heard.
    fn must_hear(&self, word: Word) -> bool {
        match (word, self.what) {
            (_, What::Waits | What::Letter { stands: Stands::Held, .. })
            | (Word::Cancel, What::Letter { stands: Stands::OnItsWay, .. }) => true,
            (_, What::Accepted | What::Over | What::Letter { .. }) => false,
        }
    }
}

impl Disk {
    /// The sidecar of an original that has come to its shelf; it comes after it.
    fn left_behind(&self, claim: u8, to: Dir) -> Option<Moving> {
        let mut dirs = [Dir::Claim(claim), Dir::Held, Dir::Done].into_iter().filter(|dir| *dir != to);
        let found = dirs.find_map(|dir| Some((dir, self.part(dir, claim, Part::Sidecar)?)));
        let (from, sidecar) = found.filter(|_| self.part(to, claim, Part::Sidecar).is_none())?;
        Some(Moving { row: 0, files: vec![sidecar], from, to, step: 0, copy: None })
    }
}

impl State {
    pub fn wish(&mut self, file: usize, to: Dir, by_copy: bool) {
        if to == Dir::Approve && !by_copy {
            self.left.approvals -= 1;
        } else {
            self.left.wishes -= 1;
        }
        match self.disk.files[file].at().filter(|_| !by_copy) {
            Some(from) => {
                self.disk.go(MoveStep::Rename, file, from, to);
            }
            None => self.disk.copy(file, to),
        }
    }

    fn bytes_of(&self, file: usize) -> super::Bytes {
        let file = &self.disk.files[file];
        (if self.same { 0 } else { file.drop }, file.version)
    }

    /// Hears the first file that lies where people say something; whether there is one.
    pub fn look_at_wishes(&mut self, index: usize) -> bool {
        let places = [(Dir::Approve, Word::Approve), (Dir::Cancel, Word::Cancel)];
        let mut laid = places.into_iter().filter_map(|(dir, word)| {
            self.disk.lying(dir).find(|(_, file)| file.part == Part::Pdf).map(|(file, _)| (dir, word, file))
        });
        let Some((dir, word, file)) = laid.next() else { return false };
        let folder = self.daemons[index].folder;
        let rows = self.daemons[index].rows.iter().enumerate().rev();
        let name = self.disk.files[file].name;
        let bytes = self.bytes_of(file);
        let known: Vec<usize> = rows
            .filter(|(_, row)| row.folder.0 == folder && (row.name == name || row.bytes == bytes))
            .map(|(row, _)| row)
            .collect();
        let rows = &self.daemons[index].rows;
        let candidates: Vec<Candidate> = known.iter().map(|row| rows[*row].candidate(self, file)).collect();
        // What can't be judged yet waits for longer than our own moves take.
        let daemon = &self.daemons[index];
        let is_finished =
            !rows.iter().any(|row| row.is_due(daemon) && self.find(row).is_ok_and(|found| found.is_some()));
        match meant(&candidates, word, true, is_finished) {
            Meant::NotYet => return false,
            Meant::Moved(one) => self.obey(index, (word, dir), known[one], file, None),
            Meant::Copied(one) => {
                let row = &self.daemons[index].rows[known[one]];
                let of = self.disk.files[file].of;
                let is_other = of != Some(row.claim);
                let is_its = |row: &Row| row.folder.1 == self.place.copy && of == Some(row.claim);
                if is_other && rows.iter().any(|row| is_its(row) && row.must_hear(word)) {
                    self.broken = Some("I22: another letter is meant than the one that a person copied");
                }
                let is_letter = row.is_letter();
                let original = self.disk.part(Dir::Held, row.claim, Part::Pdf);
                if let Some(original) = original.filter(|_| !is_letter) {
                    self.obey(index, (word, Dir::Held), known[one], original, Some(file));
                } else {
                    self.order(index, word, known[one]);
                    self.daemons[index].up().hand = Some(Hand::Remove { file });
                }
            }
            Meant::Several(_) => self.lay_aside(file),
            Meant::Known(_) | Meant::Nothing => {
                let of = self.disk.files[file].of;
                let must_hear = |row: &Row| {
                    row.folder.1 == self.place.copy && of == Some(row.claim) && row.must_hear(word)
                };
                // What a cut left under two names is refused under both.
                let is_one = !self.disk.has_twins(file);
                if is_one && self.daemons[index].rows.iter().any(must_hear) {
                    self.broken = Some("I22: a person is not heard");
                }
                self.lay_aside(file);
            }
        }
        true
    }

    /// It is durable before anything is moved.
    fn order(&mut self, index: usize, word: Word, row: usize) -> Obeyed {
        let row = &mut self.daemons[index].rows[row];
        let obeyed = obeyed(word, row.is_letter(), row.place == Some(Dir::Held), true);
        if matches!(word, Word::Cancel) && row.is_open() {
            self.withdrawn.insert(row.claim);
        }
        row.hears(obeyed);
        obeyed
    }

    /// The original itself lies there.
    fn obey(
        &mut self,
        index: usize,
        (word, from): (Word, Dir),
        row: usize,
        file: usize,
        copy: Option<usize>,
    ) {
        if self.order(index, word, row) == Obeyed::NothingWaits {
            self.lay_aside(file);
            return;
        }
        let daemon = &mut self.daemons[index];
        let claim = daemon.rows[row].claim;
        self.disk.make_place(claim);
        let to = Dir::Claim(claim);
        daemon.up().hand = Some(Hand::Move(Moving { row, files: vec![file], from, to, step: 0, copy }));
    }

    /// With a text; the move lasts.
    fn lay_aside(&mut self, file: usize) {
        let Some(from) = self.disk.files[file].at() else { return };
        for step in MOVING {
            self.disk.go(step, file, from, Dir::Elsewhere);
        }
    }

    /// Where an original lies, or whether a person has it in hand.
    fn find(&self, row: &Row) -> Result<Option<(usize, Dir)>, InHand> {
        let at = |dir: Dir| self.disk.part(dir, row.claim, Part::Pdf);
        let places = [row.moving, row.place, row.belongs(), Some(Dir::Claim(row.claim))];
        let found = places.into_iter().flatten().find_map(|dir| at(dir).map(|file| (file, dir)));
        let is_in_hand = [Dir::Approve, Dir::Cancel].into_iter().any(|dir| at(dir).is_some());
        match found {
            None if matches!(row.place, Some(Dir::Held | Dir::Done)) && is_in_hand => Err(InHand),
            found => Ok(found),
        }
    }

    /// An original goes where its row says, if it is found.
    pub fn shelve(&mut self, index: usize, row: usize) {
        let known = &self.daemons[index].rows[row];
        let Some(to) = known.belongs() else { return };
        let found = self.find(known);
        let daemon = &mut self.daemons[index];
        let known = &daemon.rows[row];
        match found {
            Ok(Some((_, from))) if from == to => {
                if let Some(hand) = self.disk.left_behind(known.claim, to) {
                    let hand = Hand::Move(Moving { row, ..hand });
                    daemon.up().hand = Some(hand);
                } else {
                    let claim = known.claim;
                    (daemon.rows[row].place, daemon.rows[row].moving) = (Some(to), None);
                    self.disk.unclaim(claim);
                }
            }
            Ok(Some((file, from))) => {
                daemon.rows[row].moving = Some(to);
                let files = vec![file];
                daemon.up().hand = Some(Hand::Move(Moving { row, files, from, to, step: 0, copy: None }));
            }
            // A person is heard first.
            Err(InHand) => {}
            Ok(None) => daemon.rows[row].place = None,
        }
    }

    pub fn moving(&mut self, index: usize, hand: Moving) -> Option<Hand> {
        let Moving { row, files, from, to, step, copy } = hand;
        let is_back = matches!(to, Dir::Claim(_));
        let order = if is_back { CLAIMING.as_slice() } else { MOVING.as_slice() };
        let steps = steps(order, &files);
        let (move_step, file) = steps[step];
        if !self.disk.go(move_step, file, from, to) {
            return None;
        }
        let step = step + 1;
        if step < steps.len() {
            return Some(Hand::Move(Moving { row, files, from, to, step, copy }));
        }
        let daemon = &mut self.daemons[index];
        let claim = daemon.rows[row].claim;
        // What was dropped with it lies where it lay.
        let lay_on = daemon.rows[row].place.filter(|place| is_back && *place != to);
        if let Some((from, sidecar)) =
            lay_on.and_then(|lay_on| Some((lay_on, self.disk.part(lay_on, claim, Part::Sidecar)?)))
        {
            return Some(Hand::Move(Moving { row, files: vec![sidecar], from, to, step: 0, copy }));
        }
        if !is_back && let Some(hand) = self.disk.left_behind(claim, to) {
            return Some(Hand::Move(Moving { row, ..hand }));
        }
        (daemon.rows[row].place, daemon.rows[row].moving) = (Some(to), None);
        if is_back {
            daemon.up().claims.push((claim, None));
        } else {
            self.disk.unclaim(claim);
        }
        copy.map(|file| Hand::Remove { file })
    }
}
