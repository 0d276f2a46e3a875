//! What the service manager is told: ready, reloading, stopping, how things stand, and that we live.
//!
//! Without one (`NOTIFY_SOCKET` is not set) nothing is told. What it does not take is no reason to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sd_notify::NotifyState;

#[derive(Debug, Default)]
pub struct Manager {
    listens: bool,
    /// Whether it knows that we are ready.
    ready: AtomicBool,
    /// It restarts us if it hears nothing for so long.
    patience: Option<Duration>,
    /// What it was last told of how things stand.
    said: Mutex<String>,
}

impl Manager {
    /// The one that started this process, if any.
    pub fn of_this_process() -> Self {
        let listens = std::env::var_os("NOTIFY_SOCKET").is_some();
        Self {
            listens,
            ready: AtomicBool::new(false),
            patience: sd_notify::watchdog_enabled(),
            said: Mutex::default(),
        }
    }

    pub fn patience(&self) -> Option<Duration> {
        self.patience
    }

    /// Whether anybody listens.
    pub fn is_there(&self) -> bool {
        self.listens
    }

    pub fn ready(&self) {
        self.ready.store(true, Ordering::Relaxed);
        tell(&[NotifyState::Ready]);
    }

    /// Whether it was told that we are ready, or would have been.
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    /// To be followed by [`Self::reloaded`], whatever came of it.
    pub fn reloading(&self) {
        if self.ready.load(Ordering::Relaxed) {
            match NotifyState::monotonic_usec_now() {
                Ok(now) => tell(&[NotifyState::Reloading, now]),
                Err(_) => tell(&[NotifyState::Reloading]),
            }
        }
    }

    pub fn reloaded(&self) {
        if self.ready.load(Ordering::Relaxed) {
            self.ready();
        }
    }

    pub fn stopping(&self) {
        tell(&[NotifyState::Stopping]);
    }

    pub fn alive(&self) {
        tell(&[NotifyState::Watchdog]);
    }

    /// In a line, for `systemctl status`.
    pub fn stands(&self, line: String) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if *said != line {
            tell(&[NotifyState::Status(&line)]);
            *said = line;
        }
    }
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(error = &error as &dyn std::error::Error, "the service manager can't be told");
    }
}
