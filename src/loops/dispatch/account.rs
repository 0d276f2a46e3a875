//! An account at work: its client, whose answers it gets, and whether the service answers at all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;

use super::carry::PutDown;
use super::{Dispatch, DispatchError, Shared};
use crate::base::clock::Time;
use crate::domain::alarm::Alarm;
use crate::domain::letter::{AccountNews, Realm};
use crate::domain::pause::{Breaker, Pause, Probe};
use crate::outside::api::{Client, Failure};
use crate::outside::journal;

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
    /// Whether this process has tried, and whether that has ended somehow.
    tried: bool,
    heard: bool,
    silent: Silence,
}

/// Whether the service answers, and whether that was told.
#[derive(Debug, Default)]
struct Silence {
    since: Option<Time>,
    /// What was said of it last by this process, if anything.
    alarmed: Option<bool>,
}

/// So long it may be silent before operators hear of it.
const SILENT_FOR: TimeDelta = TimeDelta::minutes(15);

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
    pub fn rests(&self, now: Time) -> Option<Time> {
        self.known().breaker.rests(now)
    }

    pub(super) fn answered(&self, answered: bool, now: Time) {
        self.heard(answered, now);
        self.change(|breaker| breaker.after(answered, now), now);
    }

    pub(super) fn is_silent(&self, now: Time) {
        self.heard(false, now);
        self.change(|breaker| breaker.after_silence(now), now);
    }

    /// It answers, and what it says is of no use.
    fn is_useless(&self, now: Time) {
        self.heard(true, now);
        self.change(|breaker| breaker.after_silence(now), now);
    }

    fn heard(&self, answered: bool, now: Time) {
        let silence = &mut self.known().silent;
        silence.since = if answered { None } else { silence.since.or(Some(now)) };
        if answered && silence.alarmed.is_none() {
            // An earlier run may have raised it.
            silence.alarmed = Some(true);
        }
    }

    /// What is to be said of its silence now, if that is news: that it lasts, or that it is over.
    fn silence(&self, now: Time) -> Option<bool> {
        let silence = &mut self.known().silent;
        let lasts = silence.since.is_some_and(|since| now >= since + SILENT_FOR);
        let news = match silence.since {
            Some(_) => lasts && silence.alarmed != Some(true),
            None => silence.alarmed == Some(true),
        };
        news.then(|| {
            silence.alarmed = Some(lasts);
            lasts
        })
    }

    fn change(&self, change: impl FnOnce(Breaker) -> Breaker, now: Time) {
        let mut known = self.known();
        let was = known.breaker.rests(now);
        known.breaker = change(known.breaker);
        if let (None, Some(until)) = (was, known.breaker.rests(now)) {
            journal::account_rests(&self.name, until);
        }
    }

    /// Since when it does not answer.
    pub fn silent_since(&self) -> Option<Time> {
        self.known().silent.since
    }

    /// Whether an answer of it is known.
    pub fn is_known(&self) -> bool {
        self.known().realm.is_some()
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
        known.heard = true;
        known.realm = Some(answer?);
        Ok(())
    }
}

impl Dispatch {
    pub fn accounts(&self) -> Vec<Arc<Account>> {
        self.shared.accounts.values().map(Arc::clone).collect()
    }

    /// Whether each account has answered, or is known not to.
    pub fn has_heard(&self) -> bool {
        self.shared.accounts.values().all(|account| account.known().heard)
    }

    /// Accounts whose realm is not known yet, or whose trouble is tried by asking for them, are read.
    pub(super) async fn look_at_accounts(&mut self, now: Time) -> Result<Vec<Time>, DispatchError> {
        let mut next = Vec::new();
        for account in self.shared.accounts.clone().into_values() {
            if let Some(lasts) = account.silence(now) {
                let alarm = Alarm::Silent(account.name.clone());
                let written = if lasts {
                    let detail = "No call has been answered since.".to_owned();
                    self.shared.store.raise(alarm, detail, now).await
                } else {
                    self.shared.store.calm(alarm, now).await
                };
                self.shared.written(written)?;
            }
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
                account.is_useless(now);
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
            Err(error) => PutDown::Ends(error),
        }
    }
}
