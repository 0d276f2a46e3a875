//! What was posted in a period, for the people who pay: by folder, method and cost centre.

use std::collections::BTreeMap;

use serde::Serialize;

use super::tally::{Changed, changed_since};
use super::{Desk, StoreError};
use crate::base::clock::Time;
use crate::domain::letter::{Fact, Number, State};

/// Letters of one folder, method and cost centre.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reported {
    pub folder: String,
    /// With its options: `normal trackable`.
    pub method: String,
    pub cost_centre: Option<String>,
    pub letters: u64,
    pub sheets: u64,
}

/// Everything that was posted in a period.
#[derive(Debug)]
pub struct Period {
    pub rows: Vec<Reported>,
    /// Letters with news that can't be read. Whether they belong to it is unknown.
    pub damaged: Vec<Number>,
}

impl Desk {
    /// Letters that were posted from `since` until before `until`, and not cancelled.
    pub fn report(&self, since: Time, until: Time) -> Result<Period, StoreError> {
        self.is_current()?;
        let mut rows: BTreeMap<(String, String, Option<String>), (u64, u64)> = BTreeMap::new();
        let Changed { letters, damaged } = changed_since(self.db(), since)?;
        for (letter, history) in letters {
            let posted = |(at, fact): &(Time, Fact)| {
                matches!(fact, Fact::Confirmed { .. }) && (since..until).contains(at)
            };
            if matches!(letter.state, State::Cancelled { .. }) || !history.iter().any(posted) {
                continue;
            }
            let order = &letter.order;
            let key = (order.source.clone(), order.shipping.to_string(), order.cost_centre.clone());
            let (letters, sheets) = rows.entry(key).or_default();
            *letters += 1;
            *sheets += u64::from(order.sheets());
        }
        let reported = |((folder, method, cost_centre), (letters, sheets))| Reported {
            folder,
            method,
            cost_centre,
            letters,
            sheets,
        };
        Ok(Period { rows: rows.into_iter().map(reported).collect(), damaged })
    }
}
