//! Whether each loop still gets anywhere: since when it has been at what it does.
//!
//! The service manager hears that we live as long as the loops do that depend on nothing but this
//! machine. What touches a share or a mail server may have to wait for it, and no restart would help.

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
    /// When it began what it is at, in milliseconds since then, from 1; 0 while it rests.
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

    /// For how long it has been at one thing.
    pub(super) fn at_it_for(&self) -> Duration {
        match self.since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => self.epoch.elapsed().saturating_sub(Duration::from_millis(since - 1)),
        }
    }
}

/// Feeds the watchdog as long as all of these get somewhere, and the store takes what is written.
pub(super) async fn keep_alive(manager: Arc<Manager>, store: Arc<Store>, pulses: Vec<Pulse>) {
    let Some(patience) = manager.patience() else { return };
    let beat = patience / 4;
    let mut told = false;
    loop {
        let stuck = pulses.iter().find(|pulse| pulse.at_it_for() > patience / 2).map(|pulse| pulse.name);
        let stuck = match timeout(beat, store.takes_writes()).await {
            Ok(()) => stuck,
            Err(_elapsed) => Some("store"),
        };
        match stuck {
            None => {
                told = false;
                manager.alive();
            }
            Some(name) if !std::mem::replace(&mut told, true) => journal::stuck(name),
            Some(_) => {}
        }
        sleep(if stuck.is_some() { beat / 4 } else { beat }).await;
    }
}
