//! Whether something that costs money may be begun now. Pure: the caller passes what is known of the account.
//!
//! A pause stops new mails and new intents of an account, never an open intent. What caused the pause is
//! tried again from time to time, by one letter or by a read of the account, until it works.

use std::fmt;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::base::backoff::Backoff;
use crate::base::clock::Time;
use crate::domain::letter::{AccountNews, AccountProblem};

const FIRST_PROBE: TimeDelta = TimeDelta::minutes(10);
/// The wait after a probe that had no definite answer.
const INCONCLUSIVE: TimeDelta = TimeDelta::minutes(1);
const PROBES: Backoff = Backoff::new(FIRST_PROBE, TimeDelta::hours(2));

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    ByPerson,
    Problem(AccountProblem),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByPerson => f.write_str("a person paused it"),
            Self::Problem(problem) => problem.fmt(f),
        }
    }
}

/// Why and since when an account is paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub cause: Cause,
    pub since: Time,
    /// When it is probed next. `None` for a pause that a person ordered.
    pub probe_at: Option<Time>,
    pub probes: u32,
}

/// How a pause is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// By letting one letter go.
    ByLetter,
    /// By reading the account.
    ByAccount,
}

/// What becomes of the account's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PauseChange {
    Same,
    Pause(Pause),
    Works,
}

impl Pause {
    pub fn by_person(now: Time) -> Self {
        Self { cause: Cause::ByPerson, since: now, probe_at: None, probes: 0 }
    }

    fn new(problem: AccountProblem, now: Time) -> Self {
        Self { cause: Cause::Problem(problem), since: now, probe_at: Some(now + FIRST_PROBE), probes: 0 }
    }

    pub fn probe(&self, now: Time) -> Option<Probe> {
        if self.probe_at.is_none_or(|time| now < time) {
            return None;
        }
        match &self.cause {
            Cause::ByPerson => None,
            Cause::Problem(problem) => Some(match problem {
                AccountProblem::CardDeclined
                | AccountProblem::CardNotRegistered
                | AccountProblem::OtherPayment(_) => Probe::ByLetter,
                AccountProblem::AccountNotFound | AccountProblem::NotAllowed(_) => Probe::ByAccount,
            }),
        }
    }

    /// Whether the service answers nothing at all while it lasts.
    pub fn is_about_access(&self) -> bool {
        match &self.cause {
            Cause::Problem(AccountProblem::AccountNotFound | AccountProblem::NotAllowed(_)) => true,
            Cause::ByPerson
            | Cause::Problem(
                AccountProblem::CardDeclined
                | AccountProblem::CardNotRegistered
                | AccountProblem::OtherPayment(_),
            ) => false,
        }
    }

    /// The pause after a probe has begun: the next probe is later.
    #[must_use]
    pub fn probing(&self, now: Time) -> Self {
        let probe_at = self.probe_at.map(|_| now + PROBES.wait(self.probes));
        Self { probe_at, probes: self.probes + 1, ..self.clone() }
    }

    /// The pause after a probe without a definite answer, which counts as not made: the next probe is soon, and the
    /// waits after it do not grow.
    #[must_use]
    pub fn inconclusive(&self, now: Time) -> Self {
        let probe_at = self.probe_at.map(|_| now + INCONCLUSIVE);
        Self { probe_at, probes: self.probes.saturating_sub(1), ..self.clone() }
    }
}

/// What news from a letter mean for its account.
pub fn after(pause: Option<&Pause>, news: &AccountNews, now: Time) -> PauseChange {
    match (pause, news) {
        (None, AccountNews::Trouble(problem)) => PauseChange::Pause(Pause::new(problem.clone(), now)),
        (None, AccountNews::Answers | AccountNews::CanCreate | AccountNews::CanPay) => PauseChange::Same,
        (Some(pause), AccountNews::Trouble(problem)) => match &pause.cause {
            Cause::ByPerson => PauseChange::Same,
            Cause::Problem(known) if known == problem => PauseChange::Same,
            Cause::Problem(_) => {
                PauseChange::Pause(Pause { since: pause.since, ..Pause::new(problem.clone(), now) })
            }
        },
        (Some(pause), AccountNews::Answers) => match &pause.cause {
            Cause::Problem(AccountProblem::AccountNotFound | AccountProblem::NotAllowed(_)) => {
                PauseChange::Works
            }
            Cause::ByPerson
            | Cause::Problem(
                AccountProblem::CardDeclined
                | AccountProblem::CardNotRegistered
                | AccountProblem::OtherPayment(_),
            ) => PauseChange::Same,
        },
        (Some(pause), AccountNews::CanCreate) => match &pause.cause {
            Cause::Problem(
                AccountProblem::CardNotRegistered
                | AccountProblem::AccountNotFound
                | AccountProblem::NotAllowed(_),
            ) => PauseChange::Works,
            Cause::ByPerson
            | Cause::Problem(AccountProblem::CardDeclined | AccountProblem::OtherPayment(_)) => {
                PauseChange::Same
            }
        },
        (Some(pause), AccountNews::CanPay) => match &pause.cause {
            Cause::ByPerson => PauseChange::Same,
            Cause::Problem(_) => PauseChange::Works,
        },
    }
}

/// Leaves a service alone for a while when it does not answer: nothing new is begun, nothing is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Breaker {
    failures: u32,
    until: Option<Time>,
}

const FAILURES_IN_A_ROW: u32 = 5;
const RESTS: Backoff = Backoff::new(TimeDelta::seconds(10), TimeDelta::minutes(5));

impl Breaker {
    #[must_use]
    pub fn after(self, answered: bool, now: Time) -> Self {
        if answered {
            return Self::default();
        }
        let failures = self.failures.saturating_add(1);
        let resting = self.until.is_some_and(|until| now < until);
        let until = match failures.checked_sub(FAILURES_IN_A_ROW) {
            Some(_) if resting => self.until,
            Some(more) => Some(now + RESTS.wait(more)),
            None => None,
        };
        Self { failures, until }
    }

    /// It is not even known whose answers we get, so nothing else can be tried meanwhile.
    #[must_use]
    pub fn after_silence(self, now: Time) -> Self {
        Self { failures: self.failures.max(FAILURES_IN_A_ROW - 1), ..self }.after(false, now)
    }

    /// The end of the rest, if there is one.
    pub fn rests(&self, now: Time) -> Option<Time> {
        self.until.filter(|until| now < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> Time {
        "2026-11-20T12:00:00Z".parse().unwrap()
    }

    fn paused(problem: AccountProblem) -> Pause {
        let PauseChange::Pause(pause) = after(None, &AccountNews::Trouble(problem), noon()) else { panic!() };
        pause
    }

    #[test]
    fn the_first_trouble_pauses_and_the_same_again_says_nothing_new() {
        let pause = paused(AccountProblem::CardDeclined);
        let again = AccountNews::Trouble(AccountProblem::CardDeclined);
        assert_eq!(after(Some(&pause), &again, noon() + TimeDelta::hours(1)), PauseChange::Same);
        let other = AccountNews::Trouble(AccountProblem::AccountNotFound);
        assert!(matches!(after(Some(&pause), &other, noon()), PauseChange::Pause(_)));
    }

    #[test]
    fn only_what_was_missing_ends_a_pause() {
        let declined = paused(AccountProblem::CardDeclined);
        assert_eq!(after(Some(&declined), &AccountNews::CanCreate, noon()), PauseChange::Same);
        assert_eq!(after(Some(&declined), &AccountNews::CanPay, noon()), PauseChange::Works);
        let missing = paused(AccountProblem::CardNotRegistered);
        assert_eq!(after(Some(&missing), &AccountNews::CanCreate, noon()), PauseChange::Works);
        assert_eq!(after(Some(&missing), &AccountNews::Answers, noon()), PauseChange::Same);
        let refused = paused(AccountProblem::NotAllowed("401".to_owned()));
        assert_eq!(after(Some(&refused), &AccountNews::Answers, noon()), PauseChange::Works);
        let person = Pause::by_person(noon());
        for news in [AccountNews::Answers, AccountNews::CanCreate, AccountNews::CanPay] {
            assert_eq!(after(Some(&person), &news, noon()), PauseChange::Same);
        }
    }

    #[test]
    fn probes_come_after_ten_minutes_and_then_more_seldom() {
        let mut pause = paused(AccountProblem::CardDeclined);
        assert_eq!(pause.probe(noon() + TimeDelta::minutes(9)), None);
        let mut now = noon() + TimeDelta::minutes(10);
        let mut waits = Vec::new();
        for _probe in 0..6 {
            assert_eq!(pause.probe(now), Some(Probe::ByLetter));
            pause = pause.probing(now);
            let next = pause.probe_at.unwrap();
            waits.push((next - now).num_minutes());
            now = next;
        }
        assert_eq!(waits, [10, 20, 40, 80, 120, 120]);
        let silent = pause.probing(now).inconclusive(now);
        assert_eq!((silent.probes, silent.probe_at), (pause.probes, Some(now + TimeDelta::minutes(1))));
        assert_eq!(paused(AccountProblem::AccountNotFound).probe(now), Some(Probe::ByAccount));
        assert_eq!(Pause::by_person(noon()).probe(now), None);
    }

    #[test]
    fn a_service_that_does_not_answer_is_left_alone_for_longer_and_longer() {
        let mut breaker = Breaker::default();
        for _failure in 0..4 {
            breaker = breaker.after(false, noon());
        }
        assert_eq!(breaker.rests(noon()), None);
        let mut now = noon();
        let mut rests = Vec::new();
        for _failure in 0..7 {
            breaker = breaker.after(false, now);
            // Requests that were under way fail too, and change nothing.
            assert_eq!(breaker.after(false, now).rests(now), breaker.rests(now));
            let until = breaker.rests(now).unwrap();
            rests.push((until - now).num_seconds());
            now = until;
        }
        assert_eq!(rests, [10, 20, 40, 80, 160, 300, 300]);
        assert_eq!(breaker.after(true, now), Breaker::default());
        assert!(Breaker::default().after_silence(now).rests(now).is_some());
    }
}
