//! An account at work: its client, whose answers it gets, and whether the service answers at all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::carry::PutDown;
use super::{Dispatch, DispatchError, Shared};
use crate::api::{Client, Failure};
use crate::clock::Time;
use crate::guard::{Breaker, Pause, Probe};
use crate::journal;
use crate::letter::{AccountNews, Realm};

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

impl Dispatch {
    /// Accounts whose realm is not known yet, or whose trouble is tried by asking for them, are read.
    pub(super) async fn look_at_accounts(&mut self, now: Time) -> Result<Vec<Time>, DispatchError> {
        let mut next = Vec::new();
        for account in self.shared.accounts.clone().into_values() {
            let pause = self.shared.store.paused(&account.name)?;
            let probe = pause.as_ref().and_then(|pause| pause.probe(now));
            next.extend(pause.as_ref().and_then(|pause| pause.probe_at).filter(|probe_at| *probe_at > now));
            let rests = account.rests(now);
            next.extend(rests);
            let by_account = probe == Some(Probe::ByAccount);
            let unknown = account.realm().is_none() && rests.is_none();
            // A new process tries at once, whatever an older one found.
            let waits = pause.as_ref().is_some_and(Pause::is_about_access) && account.was_read();
            if (by_account || (unknown && !waits)) && account.begins_reading() {
                if let Some(pause) = pause.filter(|_| by_account) {
                    let written = self.shared.store.probing(&account.name, pause.probing(now)).await;
                    self.shared.written(written)?;
                }
                let shared = Arc::clone(&self.shared);
                self.workers.spawn(async move { (None, shared.read_account(&account).await) });
            }
        }
        Ok(next)
    }
}

impl Shared {
    async fn read_account(&self, account: &Account) -> PutDown {
        let answer = account.read().await;
        let now = self.clock.now();
        let news = match answer {
            Ok(()) => {
                account.answered(true, now);
                AccountNews::Answers
            }
            Err(Failure::Account(problem)) => {
                account.is_silent(now);
                AccountNews::Trouble(problem)
            }
            Err(Failure::Unknown(why) | Failure::Later { why, .. } | Failure::Refused(why)) => {
                journal::account_unread(&account.name, &why);
                account.is_silent(now);
                return PutDown::Waits;
            }
        };
        match self.written(self.store.account_news(&account.name, news, now).await) {
            Ok(()) => PutDown::Waits,
            Err(_) => PutDown::Halted,
        }
    }
}
