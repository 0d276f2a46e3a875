//! When to try again, as values: bounds from the configuration, jitter passed in.

use chrono::TimeDelta;

use crate::base::backoff::Backoff;

/// The shortest and the longest wait between two tries of the same thing.
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

/// After how long without a definite answer people are told, and after how long a letter is held.
pub const ALARM_AFTER: TimeDelta = TimeDelta::minutes(15);
pub const HOLD_AFTER: TimeDelta = TimeDelta::hours(24);
/// Between two probes once people have been told, and once the letter is held.
const ALARMED: TimeDelta = TimeDelta::minutes(5);
const HELD: TimeDelta = TimeDelta::hours(1);
/// Confirm again after 2, 5, 15, 30 and 60 s: multiples of the quickest, in tenths.
const CONFIRM_TENTHS: [i32; 5] = [10, 25, 75, 150, 300];
/// A payment in progress: 3 to 10 s.
const PAYMENT_TENTHS: i32 = 15;
const PAYMENT_SPREAD_TENTHS: i32 = 35;

impl Retry {
    /// An open intent, asked about for `so_long` by now.
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

    /// Whatever is free of charge: doubling up to the slowest.
    pub fn ordinary(&self, attempts: u32, jitter: u8) -> TimeDelta {
        spread(Backoff::new(self.quickest, self.slowest).wait(attempts), jitter)
    }
}

/// Between 80 and 120 per cent, so that letters which failed together don't come back together.
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
