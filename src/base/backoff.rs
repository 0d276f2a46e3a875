//! A wait that doubles with each failure, up to a maximum.

use chrono::TimeDelta;

/// The first wait and the longest one.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    first: TimeDelta,
    longest: TimeDelta,
}

impl Backoff {
    pub const fn new(first: TimeDelta, longest: TimeDelta) -> Self {
        Self { first, longest }
    }

    /// The wait after a failure, when `before` failures in a row came before it.
    pub fn wait(self, before: u32) -> TimeDelta {
        let factor = 1_i32.checked_shl(before.min(30)).unwrap_or(i32::MAX);
        self.first.checked_mul(factor).map_or(self.longest, |wait| wait.min(self.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_the_longest_and_never_overflows() {
        let backoff = Backoff::new(TimeDelta::seconds(2), TimeDelta::minutes(5));
        let waits: Vec<i64> = (0..10).map(|before| backoff.wait(before).num_seconds()).collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        for before in [30, 31, 32, 33, 64, u32::MAX] {
            assert_eq!(backoff.wait(before), TimeDelta::minutes(5), "after {before}");
        }
        let long = Backoff::new(TimeDelta::days(100_000_000), TimeDelta::days(100_000_001));
        assert_eq!(long.wait(31), TimeDelta::days(100_000_001));
    }
}
