//! Metrics of calls: how they ended, how long they took, and how much was uploaded.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::line::{Broken, Reply};

/// Shared by all clients that are counted together.
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Mutex<Counted>>);

#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// By call and outcome.
    pub calls: BTreeMap<(&'static str, &'static str), Spans>,
    /// Bytes of documents that were sent, whether accepted or not.
    pub uploaded: u64,
}

/// How long calls took.
#[derive(Debug, Clone, Default)]
pub struct Spans {
    /// The number of calls that ended within each of [`Spans::BOUNDS`], and the number that took longer.
    pub within: [u64; 8],
    pub seconds: f64,
}

impl Spans {
    /// In seconds.
    pub const BOUNDS: [f64; 7] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
}

impl Meter {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn read(&self) -> Counted {
        self.counted().clone()
    }

    fn answered(&self, call: &'static str, answer: &Result<Reply, Broken>, took: Duration) {
        let seconds = took.as_secs_f64();
        let at = Spans::BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(Spans::BOUNDS.len());
        let mut counted = self.counted();
        let spans = counted.calls.entry((call, outcome(answer))).or_default();
        spans.within[at] += 1;
        spans.seconds += seconds;
    }

    pub(super) fn uploaded(&self, bytes: u64) {
        self.counted().uploaded += bytes;
    }
}

/// Counts how a call ends.
pub(super) async fn counted(
    meter: &Meter,
    call: &'static str,
    exchange: impl Future<Output = Result<Reply, Broken>>,
) -> Result<Reply, Broken> {
    let began = Instant::now();
    let answer = exchange.await;
    meter.answered(call, &answer, began.elapsed());
    answer
}

fn outcome(answer: &Result<Reply, Broken>) -> &'static str {
    match answer {
        Err(Broken::NotSent(_)) => "not sent",
        Err(Broken::Lost(_)) => "no answer",
        Ok(reply) => match reply.status.as_u16() {
            200..300 => "done",
            401 | 403 => "not allowed",
            429 => "too many",
            500.. => "failed",
            _refused => "refused",
        },
    }
}
