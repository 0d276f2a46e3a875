//! What a server, people and mailchute do with a mail, step by step.

use std::collections::{BTreeMap, BTreeSet};

use mailchute::domain::incoming::{KeyMeans, again};
use mailchute::domain::mailed::{
    MailMeans, MailSeen, MailShelf, MailedPart, SenderSeen, is_like_it, mail_means, shelf_of,
};
use stateright::Model as _;

use super::{Left, MailModel, MailSize, NOTHING};

/// By what the server knows a mail: the watched mailbox, its count of it, and its number.
pub type Number = (u8, u8, u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Spot {
    Watched(Number),
    Shelf(MailShelf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    Open,
    Posted,
    Held,
    Rejected,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MailRow {
    /// Which of the rows was written first.
    pub id: u8,
    /// Its letters, once all are taken.
    pub letters: Option<Vec<u8>>,
    /// `None`: in the watched mailbox.
    pub shelf: Option<MailShelf>,
    /// It is neither where it was nor where it belongs: a person has it.
    pub gone: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MailLetter {
    /// Which PDF of the mail it is.
    pub pdf: u8,
    pub must_look: bool,
    pub verdict: Verdict,
}

/// What the daemon has in hand. It is gone with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum InHand {
    /// It is fetched, and its row is written.
    Begun {
        number: Number,
    },
    /// These of its letters are taken.
    Taken {
        number: Number,
        look: bool,
        letters: Vec<u8>,
    },
    Moved {
        number: Number,
        to: MailShelf,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MailState {
    pub spots: BTreeSet<Spot>,
    /// Those of the first watched mailbox. The numbers of the others never change.
    pub validity: u8,
    pub next: u8,
    pub delivered: bool,
    /// From which number on mails count, by the records, in the first mailbox.
    pub first: Option<(u8, u8)>,
    /// The letters, by the numbers that make their keys.
    pub keys: BTreeMap<(Number, u8), u8>,
    pub rows: BTreeMap<Number, MailRow>,
    pub letters: Vec<MailLetter>,
    /// For each mailbox, since they are followed side by side.
    pub in_hand: BTreeMap<u8, InHand>,
    /// For each PDF.
    pub posted_alone: Vec<u8>,
    pub left: Left,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailAction {
    Deliver,
    Look(Number),
    Go(u8),
    Decide(u8, bool),
    Move(Number),
    /// It is not where it was. It is looked for where it belongs.
    Find(Number),
    /// The server has copied it. Whether it was moved is not heard.
    Lose(Number),
    MoveBack(Spot),
    Renumber,
    Crash,
}

impl MailState {
    /// In the first mailbox.
    pub fn arrive(&mut self) {
        self.spots.insert(Spot::Watched((0, self.validity, self.next)));
        self.next += 1;
    }

    pub fn watched(&self) -> Vec<Number> {
        let number = |spot: &Spot| match spot {
            Spot::Watched(number) => Some(*number),
            Spot::Shelf(_) => None,
        };
        self.spots.iter().filter_map(number).collect()
    }

    pub fn parts(&self, letters: &[u8]) -> Vec<MailedPart> {
        let part = |letter: &u8| match self.letters[usize::from(*letter)].verdict {
            Verdict::Open => MailedPart::Open,
            Verdict::Posted => MailedPart::Sent,
            Verdict::Held => MailedPart::Held,
            Verdict::Rejected => MailedPart::Rejected,
        };
        letters.iter().map(part).collect()
    }

    pub fn target(&self, letters: &[u8]) -> Option<MailShelf> {
        shelf_of(&self.parts(letters))
    }

    pub fn target_of(&self, number: Number) -> Option<MailShelf> {
        self.target(self.rows[&number].letters.as_deref().unwrap())
    }

    pub fn act(&mut self, action: MailAction, size: MailSize) {
        match action {
            MailAction::Deliver => {
                self.delivered = true;
                self.arrive();
                self.spots.extend((1..size.mailboxes).map(|mailbox| Spot::Watched((mailbox, 1, 1))));
            }
            MailAction::Look(number) => self.look(number),
            MailAction::Go(mailbox) => self.go(mailbox, size),
            MailAction::Decide(id, is_good) => self.decide(id, is_good),
            MailAction::Move(number) => {
                let to = self.target_of(number).unwrap();
                self.spots.remove(&Spot::Watched(number));
                self.spots.insert(Spot::Shelf(to));
                self.in_hand.insert(number.0, InHand::Moved { number, to });
            }
            MailAction::Find(number) => {
                let to = self.target_of(number).unwrap();
                let is_there = self.spots.contains(&Spot::Shelf(to));
                let row = self.rows.get_mut(&number).unwrap();
                if is_there {
                    row.shelf = Some(to);
                } else {
                    row.gone = true;
                }
            }
            MailAction::Lose(number) => {
                self.left.lost_answers -= 1;
                self.spots.extend(self.target_of(number).map(Spot::Shelf));
            }
            MailAction::MoveBack(from) => {
                self.left.moved_back -= 1;
                self.spots.remove(&from);
                self.arrive();
            }
            MailAction::Renumber => {
                self.left.renumbered -= 1;
                let there: Vec<Number> = self.watched().into_iter().filter(|number| number.0 == 0).collect();
                self.spots.retain(|spot| !matches!(spot, Spot::Watched((0, ..))));
                (self.validity, self.next) = (self.validity + 1, 1);
                for _ in there {
                    self.arrive();
                }
                // The connection sees it when it opens the mailbox again.
                self.in_hand.remove(&0);
            }
            MailAction::Crash => {
                self.left.crashes -= 1;
                self.in_hand.clear();
            }
        }
    }

    fn decide(&mut self, id: u8, is_good: bool) {
        let letter = &mut self.letters[usize::from(id)];
        letter.verdict = match (is_good, letter.must_look) {
            (false, _) => Verdict::Rejected,
            (true, true) => Verdict::Held,
            (true, false) => Verdict::Posted,
        };
        self.posted_alone[usize::from(letter.pdf)] += u8::from(letter.verdict == Verdict::Posted);
        self.left.rejected -= u8::from(!is_good);
    }

    /// The mailbox is opened, and a mail is fetched whose letters are not all taken.
    pub fn look(&mut self, number: Number) {
        if number.0 == 0 && self.first.is_none_or(|(validity, _)| validity != self.validity) {
            self.first = Some((self.validity, self.next));
        }
        let id = self.rows.values().map(|row| row.id + 1).max().unwrap_or(0);
        let row = MailRow { id, letters: None, shelf: None, gone: false };
        self.rows.entry(number).or_insert(row);
        self.in_hand.insert(number.0, InHand::Begun { number });
    }

    pub fn go(&mut self, mailbox: u8, size: MailSize) {
        match self.in_hand.remove(&mailbox).unwrap() {
            InHand::Begun { number } => {
                let id = self.rows[&number].id;
                let came_before = self.rows.values().filter(|row| row.id < id).any(|row| {
                    is_like_it(row.letters.as_ref().map(|letters| self.parts(letters)).as_deref())
                });
                let sender = SenderSeen { is_listed: true, is_proved: true, is_automatic: false };
                let was_there = number.0 == 0 && self.first.is_some_and(|(_, first)| number.2 < first);
                let look = match mail_means(MailSeen { sender, fault: None, was_there, came_before }) {
                    MailMeans::Take(look) => look.is_some(),
                    MailMeans::Reject(_) => unreachable!("it is listed and has no fault"),
                };
                self.in_hand.insert(mailbox, InHand::Taken { number, look, letters: Vec::new() });
            }
            InHand::Taken { number, look, mut letters } => {
                let pdf = u8::try_from(letters.len()).unwrap();
                if pdf == size.pdfs {
                    self.rows.get_mut(&number).unwrap().letters = Some(letters);
                    return;
                }
                let known = self.keys.get(&(number, pdf)).map(|letter| (*letter, "the same bytes"));
                letters.push(match again(known, "the same bytes") {
                    KeyMeans::Same(letter) => letter,
                    KeyMeans::New | KeyMeans::Another => {
                        let letter = u8::try_from(self.letters.len()).unwrap();
                        self.letters.push(MailLetter { pdf, must_look: look, verdict: Verdict::Open });
                        self.keys.insert((number, pdf), letter);
                        letter
                    }
                });
                self.in_hand.insert(mailbox, InHand::Taken { number, look, letters });
            }
            InHand::Moved { number, to } => self.rows.get_mut(&number).unwrap().shelf = Some(to),
        }
    }

    /// Nothing goes wrong from here on: whether the mail ends where its letter is, and everything is decided.
    pub fn ends(mut self, model: &MailModel) -> bool {
        self.left = NOTHING;
        for _round in 0..100 {
            let mut actions = Vec::new();
            model.actions(&self, &mut actions);
            match actions.into_iter().find_map(|action| model.next_state(&self, action)) {
                Some(next) => self = next,
                None => break,
            }
        }
        let lies_right = |row: &MailRow| {
            row.letters.as_deref().is_none_or(|letters| row.gone || row.shelf == self.target(letters))
        };
        let is_letter = |pdf: u8| self.letters.iter().any(|letter| letter.pdf == pdf);
        self.rows.values().all(lies_right)
            && self.watched().is_empty()
            && (0..model.size.pdfs).all(is_letter)
            && self.letters.iter().all(|letter| letter.verdict != Verdict::Open)
    }
}
