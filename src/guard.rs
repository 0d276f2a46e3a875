//! May something that costs money be begun now? Pure: fed with what is known of the account.
//!
//! A pause stops new mails and new intents of an account, never an open intent. What paused it is
//! tried again from time to time by one letter, or by asking for the account, until it works.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::clock::Time;
use crate::letter::{AccountNews, AccountProblem};

const FIRST_PROBE: TimeDelta = TimeDelta::minutes(10);
const LAST_PROBE: TimeDelta = TimeDelta::hours(2);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    ByPerson,
    Problem(AccountProblem),
}

/// Why and since when an account is paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub cause: Cause,
    pub since: Time,
    /// When it is tried next; never for a person's pause.
    pub probe_at: Option<Time>,
    pub probes: u32,
}

/// How a pause is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// One letter may go.
    ByLetter,
    /// By asking for the account.
    ByAccount,
}

/// What becomes of the account's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
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

    /// A probe has begun: the next one comes later.
    #[must_use]
    pub fn probing(&self, now: Time) -> Self {
        let wait = FIRST_PROBE * i32::try_from(1_u32 << self.probes.min(8)).unwrap_or(1);
        let probe_at = self.probe_at.map(|_| now + wait.min(LAST_PROBE));
        Self { probe_at, probes: self.probes + 1, ..self.clone() }
    }
}

/// What a letter's news mean for its account.
pub fn after(pause: Option<&Pause>, news: &AccountNews, now: Time) -> Verdict {
    match (pause, news) {
        (None, AccountNews::Trouble(problem)) => Verdict::Pause(Pause::new(problem.clone(), now)),
        (None, AccountNews::CanCreate | AccountNews::CanPay) => Verdict::Same,
        (Some(pause), AccountNews::Trouble(problem)) => match &pause.cause {
            Cause::ByPerson => Verdict::Same,
            Cause::Problem(known) if known == problem => Verdict::Same,
            Cause::Problem(_) => {
                Verdict::Pause(Pause { since: pause.since, ..Pause::new(problem.clone(), now) })
            }
        },
        (Some(pause), AccountNews::CanCreate) => match &pause.cause {
            Cause::Problem(
                AccountProblem::CardNotRegistered
                | AccountProblem::AccountNotFound
                | AccountProblem::NotAllowed(_),
            ) => Verdict::Works,
            Cause::ByPerson
            | Cause::Problem(AccountProblem::CardDeclined | AccountProblem::OtherPayment(_)) => Verdict::Same,
        },
        (Some(pause), AccountNews::CanPay) => match &pause.cause {
            Cause::ByPerson => Verdict::Same,
            Cause::Problem(_) => Verdict::Works,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> Time {
        "2026-11-20T12:00:00Z".parse().unwrap()
    }

    fn paused(problem: AccountProblem) -> Pause {
        let Verdict::Pause(pause) = after(None, &AccountNews::Trouble(problem), noon()) else { panic!() };
        pause
    }

    #[test]
    fn the_first_trouble_pauses_and_the_same_again_says_nothing_new() {
        let pause = paused(AccountProblem::CardDeclined);
        let again = AccountNews::Trouble(AccountProblem::CardDeclined);
        assert_eq!(after(Some(&pause), &again, noon() + TimeDelta::hours(1)), Verdict::Same);
        let other = AccountNews::Trouble(AccountProblem::AccountNotFound);
        assert!(matches!(after(Some(&pause), &other, noon()), Verdict::Pause(_)));
    }

    #[test]
    fn only_what_was_missing_ends_a_pause() {
        let declined = paused(AccountProblem::CardDeclined);
        assert_eq!(after(Some(&declined), &AccountNews::CanCreate, noon()), Verdict::Same);
        assert_eq!(after(Some(&declined), &AccountNews::CanPay, noon()), Verdict::Works);
        let missing = paused(AccountProblem::CardNotRegistered);
        assert_eq!(after(Some(&missing), &AccountNews::CanCreate, noon()), Verdict::Works);
        let person = Pause::by_person(noon());
        for news in [AccountNews::CanCreate, AccountNews::CanPay] {
            assert_eq!(after(Some(&person), &news, noon()), Verdict::Same);
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
        assert_eq!(paused(AccountProblem::AccountNotFound).probe(now), Some(Probe::ByAccount));
        assert_eq!(Pause::by_person(noon()).probe(now), None);
    }
}
