//! How every loop runs: it looks when something is due, when its bell rings, and at intervals.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::pulse::Pulse;
use crate::base::clock::{Clock, Time};
use crate::loops::dispatch::Dispatch;
use crate::loops::intake::Intake;
use crate::loops::names::NamesIndexer;
use crate::loops::originals::Shelves;
use crate::loops::outbox::Outbox;
use crate::loops::retention::Retention;

/// The minimum time between two looks, however much is due.
const BREATH: Duration = Duration::from_millis(5);

/// The work of a loop. Whatever is cut off is done again at the next start.
pub(super) trait Ticker: Send {
    /// Looks at everything that is due. Returns when there will be more.
    fn tick(&mut self) -> impl Future<Output = anyhow::Result<Option<Time>>> + Send;

    /// Resolves when something that a look began has ended, so that another look is useful.
    fn joined(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send {
        pending()
    }

    /// Whether it has looked at everything that must be known before the daemon is ready.
    fn is_ready(&self) -> bool {
        true
    }

    /// The daemon ends: brings running work to its next durable state.
    fn finish(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send {
        async { Ok(()) }
    }
}

/// When a loop looks, and how it is supervised.
pub(super) struct Rhythm {
    pub(super) clock: Clock,
    pub(super) bell: Arc<Notify>,
    /// In a burst the bell rings often. What follows within this time is done in the same look.
    pub(super) gather: Duration,
    /// The longest time between two looks.
    pub(super) longest: Duration,
    pub(super) pulse: Pulse,
    /// Sent after each look: whether the loop is ready.
    pub(super) looked: watch::Sender<bool>,
    pub(super) stopped: watch::Receiver<bool>,
}

/// Runs until the daemon is asked to end, or something is wrong.
pub(super) async fn run(mut ticker: impl Ticker, rhythm: Rhythm) -> anyhow::Result<()> {
    let Rhythm { clock, bell, gather, longest, pulse, looked, mut stopped } = rhythm;
    loop {
        pulse.begins();
        let next = tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => break,
            next = ticker.tick() => next?,
        };
        pulse.rests();
        looked.send_replace(ticker.is_ready());
        let due = next.and_then(|next| clock.real_wait(next)).unwrap_or(longest);
        let due = Instant::now() + due.clamp(BREATH, longest);
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => break,
            joined = ticker.joined() => joined?,
            () = rung(&bell, gather) => {}
            () = sleep_until(due) => {}
        }
    }
    ticker.finish().await
}

async fn rung(bell: &Notify, gather: Duration) {
    bell.notified().await;
    if !gather.is_zero() {
        sleep(gather).await;
    }
}

impl Ticker for Intake {
    async fn tick(&mut self) -> anyhow::Result<Option<Time>> {
        Ok(self.tick().await?)
    }

    async fn joined(&mut self) -> anyhow::Result<()> {
        Ok(self.joined().await?)
    }
}

impl Ticker for Dispatch {
    async fn tick(&mut self) -> anyhow::Result<Option<Time>> {
        Ok(self.tick().await?)
    }

    async fn joined(&mut self) -> anyhow::Result<()> {
        Ok(self.joined().await?)
    }

    fn is_ready(&self) -> bool {
        self.has_heard()
    }

    async fn finish(&mut self) -> anyhow::Result<()> {
        self.stop();
        while !self.is_idle() {
            self.joined().await?;
        }
        Ok(())
    }
}

impl Ticker for Shelves {
    async fn tick(&mut self) -> anyhow::Result<Option<Time>> {
        Ok(Self::tick(self).await?)
    }
}

impl Ticker for Arc<Outbox> {
    async fn tick(&mut self) -> anyhow::Result<Option<Time>> {
        Ok(Outbox::tick(self).await?)
    }
}

impl Ticker for NamesIndexer {
    async fn tick(&mut self) -> anyhow::Result<Option<Time>> {
        Ok(Self::tick(self).await)
    }
}

impl Ticker for Retention {
    async fn tick(&mut self) -> anyhow::Result<Option<Time>> {
        Ok(Self::tick(self).await?)
    }
}
