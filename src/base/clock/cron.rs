//! Recurring times as people write them: five fields of cron, in a time zone.

use std::fmt;
use std::str::FromStr;

use chrono_tz::Tz;
use croner::Cron;

use super::Time;

/// Minute, hour, day of the month, month, day of the week: `0 15 * * mon-fri`.
#[derive(Debug, Clone)]
pub struct CronLine {
    line: String,
    cron: Cron,
}

#[derive(Debug, thiserror::Error)]
pub enum CronError {
    #[error("it has {0} fields, not 5")]
    Fields(usize),
    #[error("{0}")]
    Wrong(String),
    #[error("there is no such time")]
    Never,
}

impl CronLine {
    /// The next time after `after`. `None` if no such time follows.
    pub fn next(&self, after: Time, zone: Tz) -> Option<Time> {
        let after = after.with_timezone(&zone);
        Some(self.cron.find_next_occurrence(&after, false).ok()?.to_utc())
    }

    pub fn line(&self) -> &str {
        &self.line
    }
}

impl FromStr for CronLine {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Self, CronError> {
        let fields = text.split_whitespace().count();
        if fields != 5 {
            return Err(CronError::Fields(fields));
        }
        let cron = Cron::from_str(text).map_err(|error| CronError::Wrong(error.to_string()))?;
        let line = Self { line: text.to_owned(), cron };
        let never = line.next(Time::UNIX_EPOCH, Tz::UTC).is_none();
        if never { Err(CronError::Never) } else { Ok(line) }
    }
}

impl PartialEq for CronLine {
    fn eq(&self, other: &Self) -> bool {
        self.line == other.line
    }
}

impl fmt::Display for CronLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_in_their_zone_and_over_changes_of_clocks() {
        let next = |line: &str, after: &str, zone: Tz| {
            let line: CronLine = line.parse().unwrap();
            line.next(after.parse().unwrap(), zone).unwrap().to_rfc3339()
        };
        let tokyo = Tz::Asia__Tokyo;
        // A Friday.
        assert_eq!(next("0 15 * * mon-fri", "2026-11-20T05:59:59Z", tokyo), "2026-11-20T06:00:00+00:00");
        assert_eq!(next("0 15 * * mon-fri", "2026-11-20T06:00:00Z", tokyo), "2026-11-23T06:00:00+00:00");
        assert_eq!(next("30 9 1 * *", "2026-11-20T06:00:00Z", tokyo), "2026-12-01T00:30:00+00:00");
        // 02:30 does not exist on that day in Berlin, so the next day's is taken.
        let spring = next("30 2 * * *", "2027-03-27T12:00:00Z", Tz::Europe__Berlin);
        assert!(spring.starts_with("2027-03-28T01:"), "{spring}");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for wrong in ["", "15:00", "0 15 * *", "0 0 15 * * *", "61 0 * * *", "0 0 30 2 *", "x * * * *"] {
            assert!(wrong.parse::<CronLine>().is_err(), "{wrong}");
        }
    }
}
