//! An account at work: its client, whose answers it gets, and whether the service answers at all.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::{Client, Failure};
use crate::clock::Time;
use crate::guard::Breaker;
use crate::journal;
use crate::letter::Realm;

#[derive(Debug)]
pub struct Account {
    pub name: String,
    pub client: Client,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Known once the account has been read; before that no letter of it is touched.
    realm: Option<Realm>,
    breaker: Breaker,
    reading: bool,
    /// Whether this process has tried.
    tried: bool,
}

impl Account {
    pub fn new(name: String, client: Client) -> Self {
        Self { name, client, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn realm(&self) -> Option<Realm> {
        self.known().realm.clone()
    }

    /// Until when the service is left alone, if it does not answer.
    pub(super) fn rests(&self, now: Time) -> Option<Time> {
        self.known().breaker.rests(now)
    }

    pub(super) fn answered(&self, answered: bool, now: Time) {
        self.change(|breaker| breaker.after(answered, now), now);
    }

    pub(super) fn is_silent(&self, now: Time) {
        self.change(|breaker| breaker.after_silence(now), now);
    }

    fn change(&self, change: impl FnOnce(Breaker) -> Breaker, now: Time) {
        let mut known = self.known();
        let was = known.breaker.rests(now);
        known.breaker = change(known.breaker);
        if let (None, Some(until)) = (was, known.breaker.rests(now)) {
            journal::account_rests(&self.name, until);
        }
    }

    pub(super) fn was_read(&self) -> bool {
        self.known().tried
    }

    /// Whether to read it now; says so once until it is read.
    pub(super) fn begins_reading(&self) -> bool {
        let mut known = self.known();
        known.tried = true;
        !std::mem::replace(&mut known.reading, true)
    }

    /// Reads the account, and remembers whose answers we get.
    pub(super) async fn read(&self) -> Result<(), Failure> {
        let answer = self.client.account().await;
        let mut known = self.known();
        known.reading = false;
        known.realm = Some(answer?);
        Ok(())
    }
}
