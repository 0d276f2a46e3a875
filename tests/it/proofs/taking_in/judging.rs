//! How the daemon judges what it claimed, in the shipped order, admits and posts it.

use mailchute::domain::letter::Number;
use mailchute::domain::limits::{Counts, Terms, Weighed};
use mailchute::loops::intake::{JUDGING, JudgeStep};

use super::State;
use super::daemon::{Entry, Hand, Judged, Reading, Row, Stands, Still, What, held, looks_of};
use super::disk::{Dir, Part};
use super::sizes::Size;

impl State {
    pub fn judging(
        &mut self,
        size: &Size,
        index: usize,
        (claim, still): (u8, Still),
        step: usize,
        mut reading: Reading,
    ) -> Option<Hand> {
        let looks = looks_of(&self.disk, claim);
        let is_same = match JUDGING[step] {
            JudgeStep::Look => {
                reading.looks = Some(looks);
                true
            }
            JudgeStep::Read => {
                reading.read = self.read(claim);
                true
            }
            JudgeStep::CompareDrop => {
                let (Still::Settled(before) | Still::Claimed(before)) = &still;
                reading.looks.as_ref() == Some(&looks) && *before == looks
            }
            JudgeStep::Judge => {
                reading.book = if size.book { self.book(index) } else { None };
                reading.is_judged = reading.read.is_some();
                reading.is_judged && (reading.book.is_some() || !size.book)
            }
            JudgeStep::CompareBook => !size.book || self.book(index) == reading.book,
            JudgeStep::CompareRules => {
                !size.rules
                    || (self.are_rules_in_force(index) && self.daemons[index].up().rules == reading.rules)
            }
        };
        if !is_same {
            let looks = (looks_of(&self.disk, claim), self.now);
            self.daemons[index].up().claims.push((claim, Some(looks)));
            return None;
        }
        // What others may save at any moment is compared last, and nothing comes after it.
        let is_last = matches!(JUDGING[step], JudgeStep::CompareBook | JudgeStep::CompareRules);
        if step + 1 == JUDGING.len() {
            self.judged(size, index, claim, &reading);
            return None;
        }
        if is_last {
            return self.judging(size, index, (claim, still), step + 1, reading);
        }
        Some(Hand::Judge { claim, still, step: step + 1, reading })
    }

    /// What lies in a claim: drop and version of its PDF, and of its sidecar.
    fn read(&self, claim: u8) -> Option<(super::Bytes, Option<super::Bytes>)> {
        let file = &self.disk.files[held(&self.disk, claim)?];
        let beside = self.disk.lying(Dir::Claim(claim)).find(|(_, other)| other.part == Part::Sidecar);
        let sidecar = beside.map(|(_, sidecar)| (sidecar.drop, sidecar.version));
        Some(((if self.same { 0 } else { file.drop }, file.version), sidecar))
    }

    /// The rules have said what becomes of it.
    fn judged(&mut self, size: &Size, index: usize, claim: u8, reading: &Reading) {
        let files = self.disk.lying(Dir::Claim(claim));
        if files.into_iter().any(|(file, _)| self.disk.has_twins(file)) {
            // A file of two names is refused.
            self.hold(index, claim);
            return;
        }
        let (Some(file), Some((bytes, sidecar))) = (held(&self.disk, claim), reading.read) else { return };
        if size.book && reading.book != Some(self.book.version) {
            self.broken = Some("a letter is judged by an address book that is no more");
        }
        if size.rules && reading.rules != Some(self.rules.version) {
            self.broken = Some("a letter is judged by rules that are no more");
        }
        let file = &self.disk.files[file];
        let rules = reading.rules.unwrap_or_default();
        let judged = Judged { bytes, sidecar, book: reading.book, rules };
        let daemon = &mut self.daemons[index];
        let folder = (daemon.folder, self.place.copy);
        let (drop, name, by_person) = (file.drop, file.name, reading.by_person);
        daemon.spool.push(Entry { claim, drop, name, judged, by_person, folder, lasts: false });
    }

    pub fn admit(&mut self, size: &Size, index: usize) {
        let guarded = self.guarded;
        let daemon = &mut self.daemons[index];
        // The names of all that have arrived are synced first.
        daemon.spool.iter_mut().for_each(|entry| entry.lasts = true);
        let Entry { claim, drop, name, judged, by_person, folder, lasts: _ } = daemon.spool.remove(0);
        if daemon.rows.iter().any(|row| row.claim == claim && row.is_letter()) {
            return;
        }
        let is_half = |version: u8| version % 2 == 1;
        let bytes = judged.bytes;
        if is_half(bytes.1) || judged.sidecar.is_some_and(|(_, version)| is_half(version)) {
            self.broken = Some("I21: a half written drop decides");
        }
        if judged.book.is_some_and(is_half) || is_half(judged.rules) {
            self.broken = Some("I21: a half written book or rules file decides");
        }
        if size.sidecars && judged.sidecar.is_none_or(|(of, _)| of != drop) {
            self.broken = Some("a letter goes without the sidecar that was dropped with it");
        }
        let twin =
            daemon.rows.iter().filter(|_| guarded).position(|row| row.is_letter() && row.bytes == bytes);
        let counts = Counts { duplicate_of: twin.map(|row| Number(row as u64 + 1)), ..Counts::default() };
        let held = Terms::default().hold(&counts, &Weighed { sheets: 1, ..Weighed::default() }).is_some();
        let stands = if held { Stands::Held } else { Stands::OnItsWay };
        let what = What::Letter { stands, by_person };
        let place = Some(Dir::Claim(claim));
        daemon.record(Row { claim, drop, name, bytes, what, place, moving: None, folder });
    }

    pub fn post(&mut self, index: usize, row: usize) {
        let one = self.daemons.len() == 1;
        let row = &mut self.daemons[index].rows[row];
        let What::Letter { stands, by_person } = &mut row.what else { return };
        *stands = Stands::Posted;
        if self.withdrawn.contains(&row.claim) {
            self.broken = Some("I22: a letter is posted that a person has cancelled");
        }
        if !*by_person {
            if self.posted.iter().any(|(_, bytes)| *bytes == row.bytes) && self.guarded && one {
                self.broken = Some("I17: a duplicate is posted");
            }
            self.posted.push((row.drop, row.bytes));
        }
    }
}
