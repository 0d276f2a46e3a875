//! An account in use: its client, whose answers it gets, and whether the service answers.

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
use crate::outside::store::{AccountWork, RecordError, StoreError};

#[derive(Debug)]
pub struct Account {
    pub name: String,
    pub client: Client,
    known: Mutex<AccountState>,
}

#[derive(Debug, Default)]
struct AccountState {
    /// Known once the account has been read. Before that no letter of it is touched.
    realm: Option<Realm>,
    breaker: Breaker,
    reading: bool,
    /// Whether this process has tried to read it, and that try has ended.
    tried: bool,
    heard: bool,
    silent: Silence,
}

/// Whether the service answers, and whether that was reported.
#[derive(Debug, Default)]
struct Silence {
    since: Option<Time>,
    why: Option<String>,
    /// What this process reported last, if anything.
    alarmed: Option<bool>,
    /// Whether the journal has it.
    logged: bool,
}

/// How long the service may not answer before operators are told.
const SILENT_FOR: TimeDelta = TimeDelta::minutes(15);

impl Account {
    pub fn new(name: String, client: Client) -> Self {
        Self { name, client, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, AccountState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn realm(&self) -> Option<Realm> {
        self.known().realm.clone()
    }

    /// The time until which the service is left alone, if it does not answer.
    pub fn rests(&self, now: Time) -> Option<Time> {
        self.known().breaker.rests(now)
    }

    pub(super) fn answers(&self, now: Time) {
        self.heard(None, now);
        self.change(|breaker| breaker.after(true, now), now, "");
    }

    /// A call was not answered, or not in a way that decides anything.
    pub(super) fn does_not_answer(&self, now: Time, why: &str) {
        self.heard(Some(why), now);
        self.change(|breaker| breaker.after(false, now), now, why);
    }

    pub(super) fn is_silent(&self, now: Time, why: &str) {
        self.heard(Some(why), now);
        self.change(|breaker| breaker.after_silence(now), now, why);
    }

    /// It answers, but the answer is of no use. The pause that follows from it has its own line in the journal.
    fn is_useless(&self, now: Time) {
        self.heard(None, now);
        self.change(|breaker| breaker.after_silence(now), now, "");
    }

    /// `silent` says why there was no answer.
    fn heard(&self, silent: Option<&str>, now: Time) {
        let answered = silent.is_none();
        let silence = &mut self.known().silent;
        silence.since = if answered { None } else { silence.since.or(Some(now)) };
        silence.why = silent.filter(|why| !why.is_empty()).map(str::to_owned);
        if answered && silence.alarmed.is_none() {
            // An earlier run may have raised the alarm.
            silence.alarmed = Some(true);
        }
        if answered && std::mem::take(&mut silence.logged) {
            journal::account_answers(&self.name);
        }
    }

    /// What must be reported now: `true` that it does not answer, `false` that it answers again.
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

    /// The journal gets one line for a silence, however many rests it has.
    fn change(&self, change: impl FnOnce(Breaker) -> Breaker, now: Time, why: &str) {
        let mut known = self.known();
        known.breaker = change(known.breaker);
        let Some(until) = known.breaker.rests(now).filter(|_| known.silent.since.is_some()) else { return };
        if !std::mem::replace(&mut known.silent.logged, true) {
            journal::account_rests(&self.name, until, why);
        }
    }

    /// Why the last call had no answer.
    pub fn silent_why(&self) -> Option<String> {
        self.known().silent.why.clone()
    }

    /// Since when it has not answered.
    pub fn silent_since(&self) -> Option<Time> {
        self.known().silent.since
    }

    /// Whether it has answered.
    pub fn is_known(&self) -> bool {
        self.known().realm.is_some()
    }

    pub(super) fn was_read(&self) -> bool {
        self.known().tried
    }

    /// Whether to read it now. Returns true once until it has been read.
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

    /// Reads accounts whose realm is not known yet, and those whose trouble is probed by reading them.
    pub(super) async fn look_at_accounts(
        &mut self,
        accounts: &[(Arc<Account>, AccountWork)],
        now: Time,
    ) -> Result<Vec<Time>, DispatchError> {
        let mut next = Vec::new();
        for (account, work) in accounts {
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
            let pause = self.shared.pause_now(&account.name, work)?;
            let probe = pause.as_ref().and_then(|pause| pause.probe(now));
            next.extend(pause.as_ref().and_then(|pause| pause.probe_at).filter(|probe_at| *probe_at > now));
            let rests = account.rests(now);
            next.extend(rests);
            let by_account = probe == Some(Probe::ByAccount);
            let unknown = account.realm().is_none() && rests.is_none();
            // A new process tries immediately, whatever an older one found.
            let waits = pause.as_ref().is_some_and(Pause::is_about_access) && account.was_read();
            if (by_account || (unknown && !waits)) && account.begins_reading() {
                if let Some(pause) = pause.filter(|_| by_account) {
                    let written = self.shared.store.probing(&account.name, pause.probing(now)).await;
                    self.shared.written(written)?;
                }
                let (shared, account) = (Arc::clone(&self.shared), Arc::clone(account));
                self.workers.spawn(async move { (None, shared.read_account(&account, by_account).await) });
            }
        }
        Ok(next)
    }
}

impl Shared {
    /// The pause of an account as it is now, if it was paused when its work was read. One that began meanwhile prevents
    /// the step itself.
    pub(super) fn pause_now(&self, account: &str, work: &AccountWork) -> Result<Option<Pause>, StoreError> {
        if work.pause.is_some() { self.store.paused(account) } else { Ok(None) }
    }

    /// `probe` says that the account is read to see whether it works again.
    async fn read_account(&self, account: &Account, probe: bool) -> PutDown {
        let answer = account.read().await;
        let now = self.clock.now();
        let news = match answer {
            Ok(()) => {
                account.answers(now);
                AccountNews::Answers
            }
            Err(Failure::Account(problem)) => {
                account.is_useless(now);
                AccountNews::Trouble(problem)
            }
            Err(Failure::Unknown(why) | Failure::Later { why, .. } | Failure::Refused(why)) => {
                account.is_silent(now, &why);
                let probed = if probe { self.probed(account, Some(&why)).await } else { Ok(()) };
                return match self.written(probed) {
                    Ok(()) => PutDown::Waits,
                    Err(error) => PutDown::Ends(error),
                };
            }
        };
        let recorded = self.written(self.store.account_news(&account.name, news, now).await);
        let probed = if probe { self.probed(account, None).await } else { Ok(()) };
        match recorded.and(self.written(probed)) {
            Ok(()) => PutDown::Waits,
            Err(error) => PutDown::Ends(error),
        }
    }

    /// What a probe of a paused account showed. Without a definite answer (`silent` says why) it proves nothing:
    /// it is repeated soon, and counts as not made.
    pub(super) async fn probed(&self, account: &Account, silent: Option<&str>) -> Result<(), RecordError> {
        let Some(pause) = self.store.paused(&account.name)? else { return Ok(()) };
        let (pause, why) = match silent {
            Some(why) => (pause.inconclusive(self.clock.now()), why.to_owned()),
            None => (pause.clone(), pause.cause.to_string()),
        };
        journal::probe_failed(&account.name, &why, pause.probe_at);
        match silent {
            Some(_) => self.store.probing(&account.name, pause).await,
            None => Ok(()),
        }
    }
}
