//! The model check of mailboxes: the shipped decisions on what a mail means (`mail_means`), on whether it came before
//! (`is_like_it`), on a letter whose key is known (`again`) and on where a mail belongs (`shelf_of`), under every order
//! of deliveries, looks, lost answers, crashes, verdicts, people who move the mail about, and numbers that begin again.
//! There is one mail, so each of its PDFs may be posted once without a person.

mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use stateright::{Checker as _, HasDiscoveries, Model, Property};

use world::{MailAction, MailRow, MailState, Number, Spot, Verdict};

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
            // Not all of its letters were taken if there are none: then it is left alone.
            if let Some(letters) = &row.letters {
                let is_lost = row.shelf.is_none() && !row.gone && state.target(letters).is_some();
                actions.extend(is_lost.then_some(MailAction::Find(*number)));
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
