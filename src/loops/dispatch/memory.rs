//! What only this process knows of a letter's mail, and a crash may lose.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use chrono::TimeDelta;

use crate::domain::letter::{Letter, Mail, Number, State};
use crate::outside::api::wire::UploadTarget;

/// The upload targets, and since when the mail has been known by the monotonic clock.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<HashMap<Number, MailMemory>>);

#[derive(Debug)]
struct MailMemory {
    k: u32,
    since: TimeDelta,
    targets: Vec<UploadTarget>,
}

impl Memory {
    fn with<T>(&self, look: impl FnOnce(&mut HashMap<Number, MailMemory>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn made(&self, number: Number, k: u32, targets: Vec<UploadTarget>, since: TimeDelta) {
        self.with(|known| drop(known.insert(number, MailMemory { k, since, targets })));
    }

    pub fn target(&self, number: Number, mail: &Mail, document: usize) -> Option<UploadTarget> {
        self.with(|known| {
            let known = known.get(&number).filter(|known| known.k == mail.k)?;
            known.targets.get(document).cloned()
        })
    }

    /// How long this process has known the mail. If it did not, the time begins now.
    pub fn watched(&self, number: Number, mail: &Mail, steady: TimeDelta) -> TimeDelta {
        self.with(|known| {
            let new = || MailMemory { k: mail.k, since: steady, targets: Vec::new() };
            let known = known.entry(number).or_insert_with(new);
            if known.k != mail.k {
                *known = new();
            }
            steady - known.since
        })
    }

    /// Forgets a letter whose mail is no longer open.
    pub fn look_after(&self, letter: &Letter) {
        match &letter.state {
            State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. } => {}
            State::Admitted
            | State::Confirmed { .. }
            | State::Shipped { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Closed
            | State::Held { .. } => self.with(|known| drop(known.remove(&letter.number))),
        }
    }
}
