//! The model check of mailboxes: the shipped decisions on what a mail means (`mail_means`), on whether it came before
//! (`is_like_it`), on a letter whose key is known (`again`) and on where a mail belongs (`shelf_of`), under every order
//! of deliveries, looks, lost answers, crashes, verdicts, people who move the mail about, and numbers that begin again.
//! There is one mail, so each of its PDFs may be posted once without a person.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mailchute::domain::incoming::{KeyMeans, again};
use mailchute::domain::mailed::{
    MailMeans, MailSeen, MailShelf, MailedPart, SenderSeen, is_like_it, mail_means, shelf_of,
};
use stateright::{Checker as _, HasDiscoveries, Model, Property};

/// What may still happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Left {
    pub crashes: u8,
    /// A server copies a mail, and the answer is lost.
    pub lost_answers: u8,
    /// People move the mail to the watched mailbox, under a number that is new.
    pub moved_back: u8,
    pub renumbered: u8,
    pub rejected: u8,
}

#[derive(Debug, Clone, Copy)]
pub struct MailSize {
    pub name: &'static str,
    /// Whether the mail is there before the mailbox is first looked at.
    pub was_there: bool,
    /// How many PDFs it has. Each is a letter.
    pub pdfs: u8,
    /// In how many watched mailboxes it arrives.
    pub mailboxes: u8,
    pub left: Left,
}

const NOTHING: Left = Left { crashes: 0, lost_answers: 0, moved_back: 0, renumbered: 0, rejected: 0 };

const ONE: MailSize = MailSize { name: "", was_there: false, pdfs: 1, mailboxes: 1, left: NOTHING };

pub const SMALL_MAILS: &[MailSize] = &[
    MailSize { name: "a mail", left: Left { crashes: 2, lost_answers: 2, ..NOTHING }, ..ONE },
    MailSize { name: "a mail that was there", was_there: true, left: Left { crashes: 1, ..NOTHING }, ..ONE },
    MailSize {
        name: "a mail again",
        left: Left { crashes: 1, lost_answers: 1, moved_back: 2, ..NOTHING },
        ..ONE
    },
    MailSize {
        name: "numbers begin again",
        left: Left { crashes: 1, renumbered: 2, moved_back: 1, ..NOTHING },
        ..ONE
    },
    MailSize {
        name: "a mail, rejected",
        left: Left { crashes: 1, moved_back: 2, rejected: 1, ..NOTHING },
        ..ONE
    },
    MailSize {
        name: "two PDFs",
        pdfs: 2,
        left: Left { crashes: 1, moved_back: 1, rejected: 1, ..NOTHING },
        ..ONE
    },
    MailSize {
        name: "two PDFs, numbers again",
        pdfs: 2,
        left: Left { crashes: 1, renumbered: 1, ..NOTHING },
        ..ONE
    },
    MailSize { name: "two mailboxes", mailboxes: 2, left: Left { crashes: 2, ..NOTHING }, ..ONE },
    MailSize {
        name: "two mailboxes, moved back",
        mailboxes: 2,
        left: Left { crashes: 1, moved_back: 1, ..NOTHING },
        ..ONE
    },
];

/// By what the server knows a mail: the watched mailbox, its count of it, and its number.
type Number = (u8, u8, u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Spot {
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

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct MailRow {
    /// Which of the rows was written first.
    id: u8,
    /// Its letters, once all are taken.
    letters: Option<Vec<u8>>,
    /// `None`: in the watched mailbox.
    shelf: Option<MailShelf>,
    /// It is neither where it was nor where it belongs: a person has it.
    gone: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct MailLetter {
    /// Which PDF of the mail it is.
    pdf: u8,
    must_look: bool,
    verdict: Verdict,
}

/// What the daemon has in hand. It is gone with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum InHand {
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
    spots: BTreeSet<Spot>,
    /// Those of the first watched mailbox. The numbers of the others never change.
    validity: u8,
    next: u8,
    delivered: bool,
    /// From which number on mails count, by the records, in the first mailbox.
    first: Option<(u8, u8)>,
    /// The letters, by the numbers that make their keys.
    keys: BTreeMap<(Number, u8), u8>,
    rows: BTreeMap<Number, MailRow>,
    letters: Vec<MailLetter>,
    /// For each mailbox, since they are followed side by side.
    in_hand: BTreeMap<u8, InHand>,
    /// For each PDF.
    posted_alone: Vec<u8>,
    left: Left,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailAction {
    Deliver,
    Look(Number),
    Go(u8),
    /// It is not there any more, and not all of its letters were taken.
    GiveUp(Number),
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
            in_hand: BTreeMap::new(),
            posted_alone: vec![0; usize::from(self.size.pdfs)],
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
        actions.extend(state.in_hand.keys().map(|mailbox| MailAction::Go(*mailbox)));
        let is_free = |number: &Number| !state.in_hand.contains_key(&number.0);
        for number in state.watched().into_iter().filter(is_free) {
            match state.rows.get(&number) {
                Some(MailRow { letters: Some(letters), shelf: None, .. }) => {
                    if state.target(letters).is_some() {
                        actions.push(MailAction::Move(number));
                        actions.extend((state.left.lost_answers > 0).then_some(MailAction::Lose(number)));
                    }
                }
                Some(MailRow { letters: Some(_), shelf: Some(_), .. }) => {}
                Some(MailRow { letters: None, .. }) | None => actions.push(MailAction::Look(number)),
            }
        }
        for (number, row) in &state.rows {
            if !is_free(number) || state.spots.contains(&Spot::Watched(*number)) {
                continue;
            }
            match &row.letters {
                None => actions.push(MailAction::GiveUp(*number)),
                Some(letters) => {
                    let is_lost = row.shelf.is_none() && !row.gone && state.target(letters).is_some();
                    actions.extend(is_lost.then_some(MailAction::Find(*number)));
                }
            }
        }
        for (id, letter) in state.letters.iter().enumerate() {
            if letter.verdict == Verdict::Open {
                let id = u8::try_from(id).unwrap();
                actions.push(MailAction::Decide(id, true));
                actions.extend((state.left.rejected > 0).then_some(MailAction::Decide(id, false)));
            }
        }
        if state.left.moved_back > 0 {
            actions.extend(state.spots.iter().map(|spot| MailAction::MoveBack(*spot)));
        }
        actions.extend((state.left.renumbered > 0).then_some(MailAction::Renumber));
        actions.extend((state.left.crashes > 0).then_some(MailAction::Crash));
    }

    fn next_state(&self, last: &MailState, action: MailAction) -> Option<MailState> {
        let mut state = last.clone();
        state.act(action, self.size);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("each PDF is posted once", |_, state| {
                state.posted_alone.iter().all(|posted| *posted <= 1)
            }),
            Property::<Self>::always("what was there before is not posted", |model, state| {
                !model.size.was_there || state.posted_alone.iter().all(|posted| *posted == 0)
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
    /// In the first mailbox.
    fn arrive(&mut self) {
        self.spots.insert(Spot::Watched((0, self.validity, self.next)));
        self.next += 1;
    }

    fn watched(&self) -> Vec<Number> {
        let number = |spot: &Spot| match spot {
            Spot::Watched(number) => Some(*number),
            Spot::Shelf(_) => None,
        };
        self.spots.iter().filter_map(number).collect()
    }

    fn parts(&self, letters: &[u8]) -> Vec<MailedPart> {
        let part = |letter: &u8| match self.letters[usize::from(*letter)].verdict {
            Verdict::Open => MailedPart::Open,
            Verdict::Posted => MailedPart::Sent,
            Verdict::Held => MailedPart::Held,
            Verdict::Rejected => MailedPart::Rejected,
        };
        letters.iter().map(part).collect()
    }

    fn target(&self, letters: &[u8]) -> Option<MailShelf> {
        shelf_of(&self.parts(letters))
    }

    fn target_of(&self, number: Number) -> Option<MailShelf> {
        self.target(self.rows[&number].letters.as_deref().unwrap())
    }

    fn act(&mut self, action: MailAction, size: MailSize) {
        match action {
            MailAction::Deliver => {
                self.delivered = true;
                self.arrive();
                self.spots.extend((1..size.mailboxes).map(|mailbox| Spot::Watched((mailbox, 1, 1))));
            }
            MailAction::Look(number) => self.look(number),
            MailAction::Go(mailbox) => self.go(mailbox, size),
            MailAction::GiveUp(number) => {
                let known = (0..size.pdfs).map_while(|pdf| self.keys.get(&(number, pdf)).copied());
                let known: Vec<u8> = known.collect();
                if known.is_empty() {
                    self.rows.remove(&number);
                } else {
                    self.rows.get_mut(&number).unwrap().letters = Some(known);
                }
            }
            MailAction::Decide(id, is_good) => {
                let letter = &mut self.letters[usize::from(id)];
                letter.verdict = match (is_good, letter.must_look) {
                    (false, _) => Verdict::Rejected,
                    (true, true) => Verdict::Held,
                    (true, false) => Verdict::Posted,
                };
                self.posted_alone[usize::from(letter.pdf)] += u8::from(letter.verdict == Verdict::Posted);
                self.left.rejected -= u8::from(!is_good);
            }
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

    /// The mailbox is opened, and a mail is fetched whose letters are not all taken.
    fn look(&mut self, number: Number) {
        if number.0 == 0 && self.first.is_none_or(|(validity, _)| validity != self.validity) {
            self.first = Some((self.validity, self.next));
        }
        let id = self.rows.values().map(|row| row.id + 1).max().unwrap_or(0);
        let row = MailRow { id, letters: None, shelf: None, gone: false };
        self.rows.entry(number).or_insert(row);
        self.in_hand.insert(number.0, InHand::Begun { number });
    }

    fn go(&mut self, mailbox: u8, size: MailSize) {
        match self.in_hand.remove(&mailbox).unwrap() {
            InHand::Begun { number } => {
                let id = self.rows[&number].id;
                let came_before = self.rows.values().filter(|row| row.id < id).any(|row| {
                    is_like_it(false, row.letters.as_ref().map(|letters| self.parts(letters)).as_deref())
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
        let lies_right = |row: &MailRow| {
            row.letters.as_deref().is_some_and(|letters| row.gone || row.shelf == self.target(letters))
        };
        let is_letter = |pdf: u8| self.letters.iter().any(|letter| letter.pdf == pdf);
        self.rows.values().all(lies_right)
            && self.watched().is_empty()
            && (0..model.size.pdfs).all(is_letter)
            && self.letters.iter().all(|letter| letter.verdict != Verdict::Open)
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
