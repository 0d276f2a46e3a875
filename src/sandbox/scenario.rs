//! What a sandbox does at its start, and again after a reset: faults, the card, the clock.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::data::Halted;
use super::faults::{BadOrder, Order, Script};
use super::service::Service;
use super::world::{Card, Request};
use crate::base::clock::{Pace, Time};

/// The content of `--scenario FILE`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Order>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// `real`, `manual`, or a factor such as `x60`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Pace>,
    /// What the clock shows at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<Time>,
}

#[derive(Debug, thiserror::Error)]
pub enum BadScenario {
    #[error("the scenario can't be read")]
    Unread(#[from] std::io::Error),
    #[error("the scenario {0} is not understood; docs/sandbox.md has an example")]
    Unclear(PathBuf, #[source] serde_yaml::Error),
    #[error("the scenario {0} orders a fault that can't be")]
    Fault(PathBuf, #[source] BadOrder),
}

impl Scenario {
    pub fn read(path: &Path) -> Result<Self, BadScenario> {
        let text = fs::read_to_string(path)?;
        let read: Self =
            serde_yaml::from_str(&text).map_err(|error| BadScenario::Unclear(path.to_owned(), error))?;
        let mut script = Script::default();
        for order in read.faults.clone() {
            script.add(order).map_err(|error| BadScenario::Fault(path.to_owned(), error))?;
        }
        Ok(read)
    }

    /// Those that the page of controls offers, each with its name there.
    pub(super) fn usual() -> [(&'static str, Self); 5] {
        let order = |json: &str| serde_json::from_str::<Order>(json).ok();
        let faults = |orders: &[&str]| Self {
            faults: orders.iter().filter_map(|json| order(json)).collect(),
            ..Self::default()
        };
        [
            (
                "lost_answers",
                faults(&[
                    r#"{"endpoint":"create","fault":"lose_reply"}"#,
                    r#"{"endpoint":"upload","fault":"lose_reply"}"#,
                    r#"{"endpoint":"confirm","fault":"lose_reply"}"#,
                ]),
            ),
            (
                "busy",
                faults(&[
                    r#"{"endpoint":"create","fault":"status","status":429,"retry_after":5,"times":3}"#,
                    r#"{"endpoint":"confirm","fault":"status","status":503,"times":3}"#,
                ]),
            ),
            ("no_tokens", faults(&[r#"{"endpoint":"token","fault":"status","status":401,"times":3}"#])),
            ("store_down", faults(&[r#"{"endpoint":"upload","fault":"status","status":503,"times":5}"#])),
            ("declined", Self { card: Some(Card::Declining), ..Self::default() }),
        ]
    }
}

impl Service {
    /// Everything is as it was at the start, but for the time.
    pub(super) async fn reset(self: &std::sync::Arc<Self>) -> Result<(), Halted> {
        if let Some(beginning) = self.beginning.get() {
            let (client, secret) = (beginning.client.clone(), beginning.secret.clone());
            self.call(Request::Reset { client, secret, card: beginning.card }).await?;
            self.order(&beginning.faults, true);
        }
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.time_moved();
        Ok(())
    }

    /// Orders faults that were checked before.
    pub(super) fn order(&self, faults: &[Order], is_instead: bool) {
        let mut script = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if is_instead {
            script.clear();
        }
        for order in faults {
            // It was checked.
            let _ = script.add(order.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_ones_are_whole() {
        let orders: Vec<usize> =
            Scenario::usual().iter().map(|(_, scenario)| scenario.faults.len()).collect();
        assert_eq!(orders, [3, 2, 1, 1, 0]);
        let mut script = Script::default();
        for (_, scenario) in Scenario::usual() {
            for order in scenario.faults {
                script.add(order).unwrap();
            }
        }
    }
}
