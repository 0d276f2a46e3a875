//! Whether each loop still makes progress: since when it has been busy with its present work.
//!
//! The watchdog is notified while the loops progress that depend only on this machine. Loops that use a share
//! or a mail server may have to wait for it, and a restart would not help.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use crate::daemon::systemd::Manager;
use crate::outside::journal;
use crate::outside::store::Store;

#[derive(Debug, Clone)]
pub(super) struct Pulse {
    pub(super) name: &'static str,
    epoch: Instant,
    /// When its present work began, in milliseconds since the start, from 1. 0 while it is idle.
    since: Arc<AtomicU64>,
}

impl Pulse {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, epoch: Instant::now(), since: Arc::default() }
    }

    pub(super) fn begins(&self) {
        let since = u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since.store(since.saturating_add(1), Ordering::Relaxed);
    }

    pub(super) fn rests(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// How long it has been busy with its present work.
    pub(super) fn at_it_for(&self) -> Duration {
        match self.since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => self.epoch.elapsed().saturating_sub(Duration::from_millis(since - 1)),
        }
    }
}

/// Notifies the watchdog while all of these make progress and the store can write.
pub(super) async fn keep_alive(manager: Arc<Manager>, store: Arc<Store>, pulses: Vec<Pulse>) {
    let Some(patience) = manager.patience() else { return };
    let beat = patience / 4;
    let mut told = false;
    loop {
        let stuck = pulses.iter().find(|pulse| pulse.at_it_for() > patience / 2);
        let stuck = stuck.map(|pulse| (format!("the loop `{}`", pulse.name), pulse.at_it_for()));
        let stuck = match timeout(beat, store.takes_writes()).await {
            Ok(()) => stuck,
            Err(_elapsed) => Some(("the database".to_owned(), beat)),
        };
        match &stuck {
            None => {
                told = false;
                manager.alive();
            }
            Some((what, long)) if !std::mem::replace(&mut told, true) => journal::stuck(what, *long),
            Some(_) => {}
        }
        sleep(if stuck.is_some() { beat / 4 } else { beat }).await;
    }
}
