//! The model check of a mailbox: the shipped decisions on what a mail means (`mail_means`), on a letter whose key is
//! known (`again`) and on where a mail belongs (`shelf_of`), under every order of deliveries, looks, lost answers,
//! crashes, verdicts, people who move the mail back, and numbers that begin again. There is one mail, so it may be posted
//! once without a person.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mailchute::domain::incoming::{KeyMeans, again};
use mailchute::domain::mailed::{
    MailMeans, MailSeen, MailShelf, MailedPart, SenderSeen, mail_means, shelf_of,
};
use stateright::{Checker as _, HasDiscoveries, Model, Property};

/// What may still happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Left {
    pub crashes: u8,
    /// A server copies a mail, and the answer is lost.
    pub lost_answers: u8,
    pub moved_back: u8,
    pub renumbered: u8,
    pub rejected: u8,
}

#[derive(Debug, Clone, Copy)]
pub struct MailSize {
    pub name: &'static str,
    /// Whether the mail is there before the mailbox is first looked at.
    pub was_there: bool,
    pub left: Left,
}

const NOTHING: Left = Left { crashes: 0, lost_answers: 0, moved_back: 0, renumbered: 0, rejected: 0 };

pub const SMALL_MAILS: &[MailSize] = &[
    MailSize { name: "a mail", was_there: false, left: Left { crashes: 2, lost_answers: 2, ..NOTHING } },
    MailSize { name: "a mail that was there", was_there: true, left: Left { crashes: 1, ..NOTHING } },
    MailSize {
        name: "a mail again",
        was_there: false,
        left: Left { crashes: 1, lost_answers: 1, moved_back: 2, ..NOTHING },
    },
    MailSize {
        name: "numbers begin again",
        was_there: false,
        left: Left { crashes: 1, renumbered: 2, moved_back: 1, ..NOTHING },
    },
    MailSize {
        name: "a mail, rejected",
        was_there: false,
        left: Left { crashes: 1, moved_back: 2, rejected: 1, ..NOTHING },
    },
];

/// By what the server knows a mail: its count of the mailbox, and its number.
type Number = (u8, u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Spot {
    Watched(Number),
    Shelf(MailShelf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Verdict {
    Open,
    Posted,
    Held,
    Rejected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct MailRow {
    letter: u8,
    /// `None`: in the watched mailbox.
    shelf: Option<MailShelf>,
    /// It is neither where it was nor where it belongs: a person has it.
    gone: bool,
}

/// What the daemon has in hand. It is gone with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum InHand {
    Fetched { number: Number, look: bool },
    Taken { number: Number, letter: u8 },
    Moved { number: Number, to: MailShelf },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MailState {
    spots: BTreeSet<Spot>,
    validity: u8,
    next: u8,
    delivered: bool,
    /// From which number on mails count, by the records.
    first: Option<Number>,
    /// The letters, by the numbers that make their keys.
    keys: BTreeMap<Number, u8>,
    rows: BTreeMap<Number, MailRow>,
    /// Whether somebody must look at a letter, and what became of it.
    letters: Vec<(bool, Verdict)>,
    in_hand: Option<InHand>,
    posted_alone: u8,
    left: Left,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailAction {
    Deliver,
    Look(Number),
    Go,
    Decide(u8, bool),
    Move(Number),
    /// It is not where it was. It is looked for where it belongs.
    Find(Number),
    /// The server has copied it. Whether it was moved is not heard.
    Lose(Number),
    MoveBack(MailShelf),
    Renumber,
    Crash,
}

#[derive(Debug, Clone)]
pub struct MailModel {
    pub size: MailSize,
}

impl Model for MailModel {
    type State = MailState;
    type Action = MailAction;

    fn init_states(&self) -> Vec<MailState> {
        let mut state = MailState {
            spots: BTreeSet::new(),
            validity: 1,
            next: 1,
            delivered: self.size.was_there,
            first: None,
            keys: BTreeMap::new(),
            rows: BTreeMap::new(),
            letters: Vec::new(),
            in_hand: None,
            posted_alone: 0,
            left: self.size.left,
        };
        if self.size.was_there {
            state.arrive();
        } else {
            // The mailbox was looked at while it was empty.
            state.first = Some((1, 1));
        }
        vec![state]
    }

    fn actions(&self, state: &MailState, actions: &mut Vec<MailAction>) {
        actions.extend((!state.delivered).then_some(MailAction::Deliver));
        if state.in_hand.is_some() {
            actions.push(MailAction::Go);
        } else {
            for number in state.watched() {
                let Some(row) = state.rows.get(&number) else {
                    actions.push(MailAction::Look(number));
                    continue;
                };
                if row.shelf.is_none() && state.target(row.letter).is_some() {
                    actions.push(MailAction::Move(number));
                    actions.extend((state.left.lost_answers > 0).then_some(MailAction::Lose(number)));
                }
            }
        }
        let is_lost = |number: &Number, row: &MailRow| {
            let is_open = row.shelf.is_none() && !row.gone && state.target(row.letter).is_some();
            is_open && state.in_hand.is_none() && !state.spots.contains(&Spot::Watched(*number))
        };
        let lost = state.rows.iter().filter(|(number, row)| is_lost(number, row));
        actions.extend(lost.map(|(number, _)| MailAction::Find(*number)));
        for (id, (_, verdict)) in state.letters.iter().enumerate() {
            if *verdict == Verdict::Open {
                let id = u8::try_from(id).unwrap();
                actions.push(MailAction::Decide(id, true));
                actions.extend((state.left.rejected > 0).then_some(MailAction::Decide(id, false)));
            }
        }
        if state.left.moved_back > 0 {
            let shelves = state.spots.iter().filter_map(|spot| match spot {
                Spot::Shelf(of) => Some(MailAction::MoveBack(*of)),
                Spot::Watched(_) => None,
            });
            actions.extend(shelves);
        }
        actions.extend((state.left.renumbered > 0).then_some(MailAction::Renumber));
        actions.extend((state.left.crashes > 0).then_some(MailAction::Crash));
    }

    fn next_state(&self, last: &MailState, action: MailAction) -> Option<MailState> {
        let mut state = last.clone();
        state.act(action);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("a mail is posted once", |_, state| state.posted_alone <= 1),
            Property::<Self>::always("what was there before is not posted", |model, state| {
                !model.size.was_there || state.posted_alone == 0
            }),
            Property::<Self>::always("a mail is somewhere", |_, state| {
                !state.delivered || !state.spots.is_empty()
            }),
            Property::<Self>::always("an end is reached", |model, state| state.clone().ends(model)),
            Property::<Self>::sometimes("it is taken", |_, state| !state.letters.is_empty()),
        ]
    }
}

impl MailState {
    fn arrive(&mut self) {
        self.spots.insert(Spot::Watched((self.validity, self.next)));
        self.next += 1;
    }

    fn watched(&self) -> Vec<Number> {
        let number = |spot: &Spot| match spot {
            Spot::Watched(number) => Some(*number),
            Spot::Shelf(_) => None,
        };
        self.spots.iter().filter_map(number).collect()
    }

    fn target(&self, letter: u8) -> Option<MailShelf> {
        shelf_of(&[match self.letters[usize::from(letter)].1 {
            Verdict::Open => MailedPart::Open,
            Verdict::Posted => MailedPart::Sent,
            Verdict::Held => MailedPart::Held,
            Verdict::Rejected => MailedPart::Rejected,
        }])
    }

    fn act(&mut self, action: MailAction) {
        match action {
            MailAction::Deliver => {
                self.delivered = true;
                self.arrive();
            }
            MailAction::Look(number) => self.look(number),
            MailAction::Go => self.go(),
            MailAction::Decide(id, is_good) => {
                let (must_look, verdict) = &mut self.letters[usize::from(id)];
                *verdict = match (is_good, *must_look) {
                    (false, _) => Verdict::Rejected,
                    (true, true) => Verdict::Held,
                    (true, false) => Verdict::Posted,
                };
                self.posted_alone += u8::from(*verdict == Verdict::Posted);
                self.left.rejected -= u8::from(!is_good);
            }
            MailAction::Move(number) => {
                let to = self.target(self.rows[&number].letter).unwrap();
                self.spots.remove(&Spot::Watched(number));
                self.spots.insert(Spot::Shelf(to));
                self.in_hand = Some(InHand::Moved { number, to });
            }
            MailAction::Find(number) => {
                let to = self.target(self.rows[&number].letter).unwrap();
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
                self.spots.extend(self.target(self.rows[&number].letter).map(Spot::Shelf));
            }
            MailAction::MoveBack(of) => {
                self.left.moved_back -= 1;
                self.spots.remove(&Spot::Shelf(of));
                self.arrive();
            }
            MailAction::Renumber => {
                self.left.renumbered -= 1;
                let there = self.watched();
                self.spots.retain(|spot| matches!(spot, Spot::Shelf(_)));
                (self.validity, self.next) = (self.validity + 1, 1);
                for _ in there {
                    self.arrive();
                }
                // The connection sees it when it opens the mailbox again.
                self.in_hand = None;
            }
            MailAction::Crash => {
                self.left.crashes -= 1;
                self.in_hand = None;
            }
        }
    }

    /// The mailbox is opened, and a mail is fetched whose number is not recorded.
    fn look(&mut self, number: Number) {
        if self.first.is_none_or(|(validity, _)| validity != self.validity) {
            self.first = Some((self.validity, self.next));
        }
        let came_before = self.rows.values().any(|row| {
            let (_, verdict) = self.letters[usize::from(row.letter)];
            verdict != Verdict::Rejected
        });
        let sender = SenderSeen { is_listed: true, is_proved: true, is_automatic: false };
        let was_there = self.first.is_some_and(|(_, first)| number.1 < first);
        match mail_means(MailSeen { sender, fault: None, was_there, came_before }) {
            MailMeans::Take(look) => {
                self.in_hand = Some(InHand::Fetched { number, look: look.is_some() });
            }
            MailMeans::Reject(_) => unreachable!("it is listed and has no fault"),
        }
    }

    fn go(&mut self) {
        match self.in_hand.take().unwrap() {
            InHand::Fetched { number, look } => {
                let known = self.keys.get(&number).map(|letter| (*letter, "the same bytes"));
                let letter = match again(known, "the same bytes") {
                    KeyMeans::Same(letter) => letter,
                    KeyMeans::New | KeyMeans::Another => {
                        let letter = u8::try_from(self.letters.len()).unwrap();
                        self.letters.push((look, Verdict::Open));
                        self.keys.insert(number, letter);
                        letter
                    }
                };
                self.in_hand = Some(InHand::Taken { number, letter });
            }
            InHand::Taken { number, letter } => {
                self.rows.insert(number, MailRow { letter, shelf: None, gone: false });
            }
            InHand::Moved { number, to } => self.rows.get_mut(&number).unwrap().shelf = Some(to),
        }
    }

    /// Nothing goes wrong from here on: whether the mail ends where its letter is, and everything is decided.
    fn ends(mut self, model: &MailModel) -> bool {
        self.left = NOTHING;
        for _round in 0..100 {
            let mut actions = Vec::new();
            model.actions(&self, &mut actions);
            match actions.into_iter().find_map(|action| model.next_state(&self, action)) {
                Some(next) => self = next,
                None => break,
            }
        }
        let lies_right = |row: &MailRow| row.gone || row.shelf == self.target(row.letter);
        let is_right = self.rows.values().all(lies_right);
        is_right
            && self.watched().is_empty()
            && self.letters.iter().all(|(_, verdict)| *verdict != Verdict::Open)
    }
}

/// Explores a size whole; its states, or the first way in which something breaks.
pub fn explore_mails(size: MailSize) -> (usize, Duration) {
    let begun = Instant::now();
    let model = MailModel { size };
    let checker = model.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    for (name, path) in checker.discoveries() {
        let steps = path.clone().into_actions();
        assert!(
            name == "it is taken",
            "{}: `{name}` is violated after {} steps: {steps:?}\n{:#?}",
            size.name,
            steps.len(),
            path.last_state(),
        );
    }
    assert!(checker.discovery("it is taken").is_some(), "{}: nothing is taken", size.name);
    (checker.unique_state_count(), begun.elapsed())
}

#[test]
fn every_small_size_of_a_mailbox_holds() {
    for size in SMALL_MAILS {
        let (states, time) = explore_mails(*size);
        println!("{:<24} {states:>9} states {:>8.1} s", size.name, time.as_secs_f64());
    }
}
