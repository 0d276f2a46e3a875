//! What goes wrong on the line, decided for each call when it comes.

use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::rigs::dice::Dice;
use crate::rigs::nasty::{Call, Nasty, Wrong};

/// What costs no patience, so that nothing depends on how fast this machine is.
const WRONGS: [Wrong; 16] = [
    Wrong::Closed,
    Wrong::ClosedAfter,
    Wrong::ResetAfter,
    Wrong::Late,
    Wrong::Late,
    Wrong::Status(401),
    Wrong::Status(404),
    Wrong::Status(500),
    Wrong::Status(503),
    Wrong::StatusAfter(502),
    Wrong::TooMany,
    Wrong::Page,
    Wrong::EmptyAfter,
    Wrong::CutAfter,
    Wrong::NoJsonAfter,
    Wrong::EvilId,
];

#[derive(Debug)]
struct State {
    dice: Dice,
    /// So many calls in a hundred go wrong.
    percent: usize,
    is_down: bool,
    /// The daemon dies at the call after so many more, before or after it is done.
    dies: Option<(usize, bool)>,
    /// Each call, and what went wrong with it.
    calls: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Trouble {
    state: Arc<Mutex<State>>,
    /// Told when the daemon is dead.
    pub dead: Arc<Notify>,
}

impl Trouble {
    pub fn on(nasty: &Nasty, dice: Dice) -> Self {
        let state = State { dice, percent: 0, is_down: false, dies: None, calls: Vec::new() };
        let trouble = Self { state: Arc::new(Mutex::new(state)), dead: Arc::clone(&nasty.silent) };
        let state = Arc::clone(&trouble.state);
        nasty.decide(move |call| {
            let mut state = state.lock().unwrap();
            let wrong = state.decide(call);
            state
                .calls
                .push(wrong.map_or_else(|| format!("{call:?}"), |wrong| format!("{call:?}: {wrong:?}")));
            wrong
        });
        trouble
    }

    pub fn percent(&self, percent: usize) {
        self.state.lock().unwrap().percent = percent;
    }

    pub fn is_down(&self, down: bool) {
        self.state.lock().unwrap().is_down = down;
    }

    pub fn dies(&self, after: usize, done: bool) {
        self.state.lock().unwrap().dies = Some((after, done));
    }

    pub fn is_over(&self) {
        let mut state = self.state.lock().unwrap();
        (state.percent, state.is_down, state.dies) = (0, false, None);
    }

    /// The calls since this was asked.
    pub fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().calls)
    }
}

impl State {
    fn decide(&mut self, _call: Call) -> Option<Wrong> {
        match self.dies.take() {
            Some((0, done)) => return Some(if done { Wrong::SilentAfter } else { Wrong::Silent }),
            Some((left, done)) => self.dies = Some((left - 1, done)),
            None => {}
        }
        if self.is_down {
            return Some(Wrong::Closed);
        }
        let wrong = self.dice.pick(&WRONGS);
        self.dice.percent(self.percent).then_some(wrong)
    }
}
