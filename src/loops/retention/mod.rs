//! What is kept: sealed PDFs are fetched and put beside their originals, and what was kept long enough is
//! removed, which the letter's history records.
//!
//! The removal comes first and its record second. After a crash in between it is done again.

mod remove;
mod sealed;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::TimeDelta;

use crate::base::clock::{Clock, Time};
use crate::loops::folders::Registry;
use crate::outside::api::Client;
use crate::outside::journal;
use crate::outside::spool::Spool;
use crate::outside::store::{RecordError, Store};

/// Nobody counts the hours of what is kept for days.
const LOOK: TimeDelta = TimeDelta::hours(1);
/// The maximum difference between two clocks that count as equal.
const TOGETHER: TimeDelta = TimeDelta::minutes(10);

#[derive(Debug)]
pub struct Retention {
    store: Arc<Store>,
    registry: Arc<Registry>,
    spool: Spool,
    clock: Clock,
    /// By account.
    clients: BTreeMap<String, Client>,
    looked: Mutex<Option<Time>>,
    /// The beginning of the period in which both clocks agree: by the wall clock and by the monotonic clock.
    began: Mutex<(Time, TimeDelta)>,
}

impl Retention {
    pub fn new(
        store: Arc<Store>,
        registry: Arc<Registry>,
        spool: Spool,
        clock: Clock,
        clients: BTreeMap<String, Client>,
    ) -> Self {
        let began = Mutex::new((clock.now(), clock.steady()));
        Self { store, registry, spool, clock, clients, looked: Mutex::default(), began }
    }

    /// Fetches and removes what is due. Returns when there will be more.
    pub async fn tick(&self) -> Result<Option<Time>, RecordError> {
        let now = self.clock.now();
        let done = async {
            let next = self.fetch(now).await?;
            if self.begins_look(now) {
                self.remove(now).await?;
            }
            Ok(next)
        };
        match done.await {
            // Nothing can be written at present.
            Err(RecordError::NotWritten(_)) => Ok(None),
            next => next,
        }
    }

    /// Whether it is time to remove things: only once both clocks have agreed for an hour, and then once an
    /// hour.
    fn begins_look(&self, now: Time) -> bool {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        match agreement(*began, (now, self.clock.steady())) {
            Agreement::Broken => {
                *began = (now, self.clock.steady());
                journal::retention_waits();
                return false;
            }
            Agreement::TooYoung => return false,
            Agreement::Proved => {}
        }
        drop(began);
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let due = looked.is_none_or(|looked| now >= looked + LOOK || now < looked);
        if due {
            *looked = Some(now);
        }
        due
    }
}

/// Whether the wall clock and the monotonic clock agree about the time that has passed.
#[derive(Debug, PartialEq, Eq)]
enum Agreement {
    /// The wall clock was set. Nothing is removed by it, and the hour begins anew.
    Broken,
    TooYoung,
    Proved,
}

fn agreement(began: (Time, TimeDelta), now: (Time, TimeDelta)) -> Agreement {
    let (wall, steady) = (now.0 - began.0, now.1 - began.1);
    if (wall - steady).abs() > TOGETHER {
        Agreement::Broken
    } else if steady < LOOK {
        Agreement::TooYoung
    } else {
        Agreement::Proved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retention_asks_for_a_new_hour_whenever_the_wall_clock_was_set() {
        let began = (Time::UNIX_EPOCH + TimeDelta::days(365), TimeDelta::days(1));
        let after = |wall: TimeDelta, steady: TimeDelta| agreement(began, (began.0 + wall, began.1 + steady));
        let (minutes, hours) = (TimeDelta::minutes, TimeDelta::hours);
        for (wall, steady, expected) in [
            (minutes(0), minutes(0), Agreement::TooYoung),
            (minutes(59), minutes(59), Agreement::TooYoung),
            // The monotonic clock counts the hour, whatever the wall clock says.
            (minutes(65), minutes(59), Agreement::TooYoung),
            (hours(1), hours(1), Agreement::Proved),
            (hours(1) - minutes(10), hours(1), Agreement::Proved),
            (hours(1) + minutes(10), hours(1), Agreement::Proved),
            (hours(1) - minutes(11), hours(1), Agreement::Broken),
            (hours(1) + minutes(11), hours(1), Agreement::Broken),
            // Set after the hour was proved, by years, in both directions.
            (TimeDelta::days(3000), hours(5), Agreement::Broken),
            (TimeDelta::days(-300), hours(5), Agreement::Broken),
            (TimeDelta::days(30), TimeDelta::days(30), Agreement::Proved),
        ] {
            assert_eq!(after(wall, steady), expected, "wall {wall}, steady {steady}");
        }
    }
}
