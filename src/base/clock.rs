//! The clock: the system's time, a faster one, or one that is set by hand.
//!
//! Whatever decides by time takes `now` as a value. Only the loops hold a `Clock`. `Clock::move_to` never
//! moves a clock back, but the system's time may be set back, so code that needs an order keeps the latest
//! time it has seen.

mod cron;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, TimeZone as _, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

pub use cron::{CronError, CronLine};

pub type Time = DateTime<Utc>;

/// The latest time that a clock shows. Every deadline computed from it still has a year of four digits.
fn latest() -> Time {
    NaiveDate::from_ymd_opt(9990, 1, 1).map_or(Time::MAX_UTC, |day| day.and_time(NaiveTime::MIN).and_utc())
}

/// A time at which a clock can begin.
pub fn beginning(time: Time) -> Result<Time, ClockError> {
    if time < Time::UNIX_EPOCH {
        return Err(ClockError::TooEarly);
    }
    if time > latest() {
        return Err(ClockError::OutOfRange);
    }
    Ok(time)
}

/// The first moment of a day in a time zone. Where the clocks skip midnight, this is later than 00:00.
pub fn day_begins(day: NaiveDate, zone: Tz) -> Time {
    let midnight = day.and_time(NaiveTime::MIN);
    let mut moments = (0..8).map(|half_hours| midnight + TimeDelta::minutes(30 * half_hours));
    let first = moments.find_map(|moment| zone.from_local_datetime(&moment).earliest());
    first.map_or_else(|| midnight.and_utc(), |first| first.to_utc())
}

/// How fast a clock runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Pace {
    Real,
    /// Runs this number of seconds in each real second.
    Times(u32),
    ByHand,
}

#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a clock: write `real`, `manual`, or a factor such as `x60` (x1 to x1000000)")]
pub struct UnknownPace(String);

impl FromStr for Pace {
    type Err = UnknownPace;

    fn from_str(text: &str) -> Result<Self, UnknownPace> {
        match text {
            "real" => Ok(Self::Real),
            "manual" => Ok(Self::ByHand),
            _ => text
                .strip_prefix('x')
                .and_then(|factor| factor.parse().ok())
                .filter(|factor| (1..=1_000_000).contains(factor))
                .map(Self::Times)
                .ok_or_else(|| UnknownPace(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Pace {
    type Error = UnknownPace;

    fn try_from(text: String) -> Result<Self, UnknownPace> {
        text.parse()
    }
}

impl From<Pace> for String {
    fn from(pace: Pace) -> Self {
        pace.to_string()
    }
}

impl Pace {
    /// The time that passes on the clock while `real` passes.
    pub fn of(self, real: TimeDelta) -> TimeDelta {
        match self {
            Self::Real => real,
            Self::Times(factor) => i32::try_from(factor)
                .ok()
                .and_then(|factor| real.checked_mul(factor))
                .unwrap_or(TimeDelta::MAX),
            Self::ByHand => TimeDelta::zero(),
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real => f.write_str("real"),
            Self::Times(factor) => write!(f, "x{factor}"),
            Self::ByHand => f.write_str("manual"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ClockError {
    #[error("a clock does not go back: it shows {now}, and {wanted} was requested")]
    Backwards { now: Time, wanted: Time },
    #[error("that is later than the latest time of a clock, the year 9990")]
    OutOfRange,
    #[error("a clock begins in 1970 at the earliest")]
    TooEarly,
}

/// A shared clock. Clones show the same time.
#[derive(Debug, Clone)]
pub struct Clock {
    anchor: Arc<Mutex<Anchor>>,
}

/// The moment from which a clock counts: the time it showed, and the real time then.
#[derive(Debug)]
struct Anchor {
    pace: Pace,
    shown: Time,
    wall: Time,
    steady: Instant,
}

impl Anchor {
    fn shown(&self) -> Time {
        let real = match self.pace {
            Pace::Real => Utc::now() - self.wall,
            Pace::Times(_) | Pace::ByHand => {
                TimeDelta::from_std(self.steady.elapsed()).unwrap_or(TimeDelta::MAX)
            }
        };
        let gone = self.pace.of(real);
        self.shown.checked_add_signed(gone).map_or_else(latest, |time| time.min(latest()))
    }
}

impl Clock {
    /// Returns a clock that shows `start` now.
    pub fn starting_at(start: Time, pace: Pace) -> Self {
        let anchor = Anchor { pace, shown: start, wall: Utc::now(), steady: Instant::now() };
        Self { anchor: Arc::new(Mutex::new(anchor)) }
    }

    pub fn system() -> Self {
        Self::starting_at(Utc::now(), Pace::Real)
    }

    pub fn pace(&self) -> Pace {
        self.anchor().pace
    }

    pub fn now(&self) -> Time {
        self.anchor().shown()
    }

    fn anchor(&self) -> MutexGuard<'_, Anchor> {
        self.anchor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far this clock has run, by the machine's monotonic clock where the clock follows the system.
    /// Unlike the system's time it cannot be set. Only differences between two values have a meaning.
    pub fn steady(&self) -> TimeDelta {
        let anchor = self.anchor();
        match anchor.pace {
            Pace::Real => TimeDelta::from_std(anchor.steady.elapsed()).unwrap_or(TimeDelta::MAX),
            Pace::Times(_) | Pace::ByHand => anchor.shown() - Time::UNIX_EPOCH,
        }
    }

    /// Runs at another pace from now on. Returns the time that it shows.
    pub fn run(&self, pace: Pace) -> Time {
        let mut anchor = self.anchor();
        let shown = anchor.shown();
        *anchor = Anchor { pace, shown, wall: Utc::now(), steady: Instant::now() };
        shown
    }

    /// Moves the clock forward by `step`, whatever its pace.
    pub fn move_by(&self, step: TimeDelta) -> Result<Time, ClockError> {
        self.change(|now| now.checked_add_signed(step).ok_or(ClockError::OutOfRange))
    }

    /// Moves the clock to `wanted`. Fails if that lies in the clock's past.
    pub fn move_to(&self, wanted: Time) -> Result<Time, ClockError> {
        self.change(|_| Ok(wanted))
    }

    fn change(&self, wanted: impl FnOnce(Time) -> Result<Time, ClockError>) -> Result<Time, ClockError> {
        let mut anchor = self.anchor();
        let now = anchor.shown();
        let wanted = wanted(now)?;
        if wanted < now {
            return Err(ClockError::Backwards { now, wanted });
        }
        if wanted > latest() {
            return Err(ClockError::OutOfRange);
        }
        *anchor = Anchor { pace: anchor.pace, shown: wanted, wall: Utc::now(), steady: Instant::now() };
        Ok(wanted)
    }

    /// The real time until this clock shows `when`. `None` if the clock moves only by hand.
    pub fn real_wait(&self, when: Time) -> Option<Duration> {
        let ahead = (when - self.now()).to_std().unwrap_or_default();
        match self.pace() {
            Pace::Real => Some(ahead),
            Pace::Times(factor) => Some(ahead / factor),
            Pace::ByHand => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> Time {
        "2026-11-20T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_pace_is_read_as_it_is_written() {
        for text in ["real", "manual", "x60", "x1"] {
            assert_eq!(text.parse::<Pace>().unwrap().to_string(), text);
        }
        for text in ["", "x", "x0", "60", "fast", "x1000001", "x-1"] {
            assert!(text.parse::<Pace>().is_err(), "{text} was accepted");
        }
    }

    #[test]
    fn a_clock_by_hand_stands_still_and_moves_only_forward() {
        let clock = Clock::starting_at(noon(), Pace::ByHand);
        assert_eq!(clock.now(), noon());
        assert_eq!(clock.move_by(TimeDelta::minutes(5)).unwrap(), clock.clone().now());
        assert!(matches!(clock.move_to(noon()), Err(ClockError::Backwards { .. })));
        assert!(matches!(clock.move_by(TimeDelta::minutes(-1)), Err(ClockError::Backwards { .. })));
        assert!(matches!(clock.move_by(TimeDelta::MAX), Err(ClockError::OutOfRange)));
        assert!(matches!(clock.move_to(Time::MAX_UTC), Err(ClockError::OutOfRange)));
        assert_eq!(clock.real_wait(noon() + TimeDelta::days(1)), None);
    }

    #[test]
    fn a_clock_goes_on_from_what_it_shows_when_its_pace_changes() {
        let clock = Clock::starting_at(noon(), Pace::ByHand);
        clock.move_by(TimeDelta::hours(1)).unwrap();
        let shared = clock.clone();
        assert_eq!(shared.run(Pace::Times(1000)), noon() + TimeDelta::hours(1));
        assert_eq!(clock.pace(), Pace::Times(1000));
        let stopped = clock.run(Pace::ByHand);
        assert!(stopped >= noon() + TimeDelta::hours(1));
        assert_eq!(clock.now(), stopped);
    }

    #[test]
    fn a_day_begins_when_the_clocks_there_say_so() {
        let day = NaiveDate::from_ymd_opt(2026, 11, 22).unwrap();
        assert_eq!(day_begins(day, Tz::Asia__Tokyo).to_rfc3339(), "2026-11-21T15:00:00+00:00");
        // This day has no midnight here.
        let day = NaiveDate::from_ymd_opt(2024, 4, 26).unwrap();
        assert_eq!(day_begins(day, Tz::Africa__Cairo).to_rfc3339(), "2024-04-25T22:00:00+00:00");
    }

    #[test]
    fn a_fast_clock_shortens_waits() {
        let clock = Clock::starting_at(noon(), Pace::Times(60));
        let wait = clock.real_wait(noon() + TimeDelta::hours(1)).unwrap();
        assert!(wait <= Duration::from_mins(1) && wait > Duration::from_secs(50), "{wait:?}");
        assert_eq!(clock.real_wait(noon() - TimeDelta::hours(1)), Some(Duration::ZERO));
    }
}
