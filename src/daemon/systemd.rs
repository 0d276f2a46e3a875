//! Messages to the service manager: ready, reloading, stopping, the status, and the watchdog.
//!
//! Without `NOTIFY_SOCKET` nothing is sent. A failure to send is no reason to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sd_notify::NotifyState;

#[derive(Debug, Default)]
pub struct Manager {
    listens: bool,
    /// Whether it was told that we are ready.
    ready: AtomicBool,
    /// It restarts us if it hears nothing for this long.
    patience: Option<Duration>,
    /// The last status that was sent.
    said: Mutex<String>,
}

impl Manager {
    /// The service manager that started this process, if any.
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

    /// Whether there is one.
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

    /// Must be followed by [`Self::reloaded`], whatever the result.
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

    /// One line for `systemctl status`.
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
