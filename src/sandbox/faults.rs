//! Faults on order: what the next calls to an endpoint will suffer. `trouble.rs` applies them.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    Token,
    Revocation,
    Discovery,
    Account,
    Create,
    Read,
    Confirm,
    Cancel,
    Pdf,
    Upload,
    Download,
}

impl Endpoint {
    pub const ALL: [Self; 11] = [
        Self::Token,
        Self::Revocation,
        Self::Discovery,
        Self::Account,
        Self::Create,
        Self::Upload,
        Self::Confirm,
        Self::Read,
        Self::Cancel,
        Self::Pdf,
        Self::Download,
    ];
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Answer `status` (with `retry_after`, `body`, `content_type`), before or `after_work`.
    Status,
    /// Do the work, then close the connection without a byte of answer.
    LoseReply,
    /// Do the work, then close the connection in the middle of the answer.
    TruncateReply,
    /// Close the connection before any work.
    Cut,
    /// Only delay the answer (`delay_ms`).
    Delay,
    /// Confirm: 409 `payment_in_progress`.
    PaymentInProgress,
    /// Confirm: the card is declined this time.
    Decline,
    /// Read: shows the mail as it was before its last change.
    Stale,
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::Status,
        Self::LoseReply,
        Self::TruncateReply,
        Self::Cut,
        Self::Delay,
        Self::PaymentInProgress,
        Self::Decline,
        Self::Stale,
    ];
}

/// One order for faults, in the form of the control API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub endpoint: Endpoint,
    pub fault: Kind,
    /// The number of calls that it affects.
    #[serde(default = "once")]
    pub times: u32,
    /// The number of calls that pass before.
    #[serde(default)]
    pub skip: u32,
    #[serde(default)]
    pub delay_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(default)]
    pub after_work: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

fn once() -> u32 {
    1
}

const LONGEST_DELAY_MS: u64 = 600_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadOrder {
    #[error("`times` must be at least 1")]
    NoTimes,
    #[error("`delay_ms` must be at most {LONGEST_DELAY_MS}, and at least 1 for the fault `delay`")]
    Delay,
    #[error("the fault `status` needs a `status` from 200 to 599, and no other fault takes one")]
    Status,
    #[error("`payment_in_progress` and `decline` are for the endpoint `confirm`, `stale` for `read`")]
    Endpoint,
    #[error("`content_type` is not a valid header value")]
    ContentType,
}

impl Order {
    fn check(&self) -> Result<(), BadOrder> {
        if self.times == 0 {
            return Err(BadOrder::NoTimes);
        }
        if self.delay_ms > LONGEST_DELAY_MS || (self.fault == Kind::Delay && self.delay_ms == 0) {
            return Err(BadOrder::Delay);
        }
        let status_fits = match self.status {
            Some(status) => self.fault == Kind::Status && (200..=599).contains(&status),
            None => self.fault != Kind::Status,
        };
        if !status_fits {
            return Err(BadOrder::Status);
        }
        let wanted = match self.fault {
            Kind::PaymentInProgress | Kind::Decline => Some(Endpoint::Confirm),
            Kind::Stale => Some(Endpoint::Read),
            Kind::Status | Kind::LoseReply | Kind::TruncateReply | Kind::Cut | Kind::Delay => None,
        };
        if wanted.is_some_and(|wanted| wanted != self.endpoint) {
            return Err(BadOrder::Endpoint);
        }
        let header = self.content_type.as_deref().map(axum::http::HeaderValue::from_str);
        if header.is_some_and(|header| header.is_err()) {
            return Err(BadOrder::ContentType);
        }
        Ok(())
    }
}

/// The orders that are not used up, in the order of their arrival.
#[derive(Debug, Default)]
pub struct Script {
    waiting: BTreeMap<Endpoint, VecDeque<Order>>,
}

impl Script {
    pub fn add(&mut self, order: Order) -> Result<(), BadOrder> {
        order.check()?;
        self.waiting.entry(order.endpoint).or_default().push_back(order);
        Ok(())
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Order> {
        self.waiting.values().flatten()
    }

    /// What the next call to this endpoint suffers.
    pub fn next(&mut self, endpoint: Endpoint) -> Option<Order> {
        let orders = self.waiting.get_mut(&endpoint)?;
        let order = orders.front_mut()?;
        if order.skip > 0 {
            order.skip -= 1;
            return None;
        }
        order.times -= 1;
        let suffered = order.clone();
        if order.times == 0 {
            orders.pop_front();
        }
        Some(suffered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(json: &str) -> Order {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn orders_are_served_one_after_another_each_as_often_as_it_says() {
        let mut script = Script::default();
        script.add(order(r#"{"endpoint":"confirm","fault":"cut","times":2,"skip":1}"#)).unwrap();
        script.add(order(r#"{"endpoint":"confirm","fault":"decline"}"#)).unwrap();
        let kinds: Vec<_> = (0..5).map(|_| script.next(Endpoint::Confirm).map(|order| order.fault)).collect();
        assert_eq!(kinds, [None, Some(Kind::Cut), Some(Kind::Cut), Some(Kind::Decline), None]);
        assert_eq!(script.next(Endpoint::Read), None);
    }

    #[test]
    fn an_order_that_makes_no_sense_is_refused() {
        let cases = [
            (r#"{"endpoint":"read","fault":"cut","times":0}"#, BadOrder::NoTimes),
            (r#"{"endpoint":"read","fault":"delay"}"#, BadOrder::Delay),
            (r#"{"endpoint":"read","fault":"cut","delay_ms":600001}"#, BadOrder::Delay),
            (r#"{"endpoint":"read","fault":"status"}"#, BadOrder::Status),
            (r#"{"endpoint":"read","fault":"status","status":100}"#, BadOrder::Status),
            (r#"{"endpoint":"read","fault":"cut","status":500}"#, BadOrder::Status),
            (r#"{"endpoint":"read","fault":"decline"}"#, BadOrder::Endpoint),
            (r#"{"endpoint":"confirm","fault":"stale"}"#, BadOrder::Endpoint),
            (
                r#"{"endpoint":"read","fault":"status","status":200,"content_type":"a\nb"}"#,
                BadOrder::ContentType,
            ),
        ];
        for (json, expected) in cases {
            assert_eq!(Script::default().add(order(json)), Err(expected), "{json}");
        }
    }
}
