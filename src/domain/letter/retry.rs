//! When to try again, as values. Bounds come from the configuration, randomness from the caller.

use chrono::TimeDelta;

use crate::base::backoff::Backoff;

/// The shortest and the longest wait between two tries of the same step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    pub quickest: TimeDelta,
    pub slowest: TimeDelta,
}

impl Default for Retry {
    fn default() -> Self {
        Self { quickest: TimeDelta::seconds(2), slowest: TimeDelta::minutes(15) }
    }
}

/// How long there may be no definite answer: beyond the first people are told, beyond the second the letter
/// is held.
pub const ALARM_AFTER: TimeDelta = TimeDelta::minutes(15);
pub const HOLD_AFTER: TimeDelta = TimeDelta::hours(24);
/// A letter is delayed if it was to be posted this long ago, and a step before its intent has failed this often in a
/// row. Operators are mailed then.
pub const DELAYED_AFTER: TimeDelta = TimeDelta::hours(1);
pub const DELAYED_ATTEMPTS: u32 = 8;
/// The waits between two probes, once people have been told and once the letter is held.
const ALARMED: TimeDelta = TimeDelta::minutes(5);
const HELD: TimeDelta = TimeDelta::hours(1);
/// Confirm is repeated after 2, 5, 15, 30 and 60 s. These are multiples of the shortest wait, in tenths.
const CONFIRM_TENTHS: [i32; 5] = [10, 25, 75, 150, 300];
/// A payment in progress: 3 to 10 s.
const PAYMENT_TENTHS: i32 = 15;
const PAYMENT_SPREAD_TENTHS: i32 = 35;

impl Retry {
    /// The wait before the next question about an intent that has been open for `so_long`.
    pub fn open_intent(&self, attempts: u32, so_long: TimeDelta, jitter: u8) -> TimeDelta {
        if so_long >= HOLD_AFTER {
            return spread(HELD, jitter);
        }
        if so_long >= ALARM_AFTER {
            return spread(ALARMED, jitter);
        }
        let index = usize::try_from(attempts).unwrap_or(usize::MAX).min(CONFIRM_TENTHS.len() - 1);
        let wait = self.quickest * CONFIRM_TENTHS[index] / 10;
        spread(wait.min(self.slowest), jitter)
    }

    pub fn payment(&self, jitter: u8) -> TimeDelta {
        self.quickest * (PAYMENT_TENTHS * 255 + PAYMENT_SPREAD_TENTHS * i32::from(jitter)) / (10 * 255)
    }

    /// The wait before the next try of a step that costs nothing: doubling, up to the longest wait.
    pub fn ordinary(&self, attempts: u32, jitter: u8) -> TimeDelta {
        spread(Backoff::new(self.quickest, self.slowest).wait(attempts), jitter)
    }
}

/// Between 80 and 120 per cent, so that letters that failed together do not return together.
fn spread(wait: TimeDelta, jitter: u8) -> TimeDelta {
    wait * (80 + i32::from(jitter) * 40 / 255) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_intent_is_asked_about_soon_and_then_slowly_but_never_left() {
        let retry = Retry::default();
        let waits: Vec<i64> = (0..7)
            .map(|attempts| retry.open_intent(attempts, TimeDelta::zero(), 127).num_milliseconds())
            .collect();
        assert_eq!(waits, [1980, 4950, 14_850, 29_700, 59_400, 59_400, 59_400]);
        let patient = |so_long| retry.open_intent(9, so_long, 255).num_seconds();
        assert_eq!(patient(ALARM_AFTER), 360);
        assert_eq!(patient(HOLD_AFTER), 4320);
    }

    #[test]
    fn a_payment_in_progress_waits_three_to_ten_seconds() {
        let retry = Retry::default();
        assert_eq!(retry.payment(0), TimeDelta::seconds(3));
        assert_eq!(retry.payment(255), TimeDelta::seconds(10));
    }

    #[test]
    fn free_tries_double_up_to_the_slowest() {
        let retry = Retry::default();
        assert_eq!(retry.ordinary(0, 0), TimeDelta::milliseconds(1600));
        assert_eq!(retry.ordinary(3, 0), TimeDelta::milliseconds(12_800));
        for attempts in [12, 31, 32, u32::MAX] {
            assert_eq!(retry.ordinary(attempts, 255), TimeDelta::minutes(18));
        }
    }
}
