//! SIGTERM and SIGINT ask the program to end; a second one ends it immediately. SIGHUP asks it to read its
//! configuration again.

use std::io;
use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::{Notify, watch};

/// Resolves when the program is asked to end.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    asked: watch::Receiver<bool>,
    hung_up: Arc<Notify>,
}

impl Stop {
    pub(super) fn on_signals() -> io::Result<Self> {
        Self::on(&[SIGTERM, SIGINT])
    }

    /// With SIGHUP as a request of its own instead of the end.
    pub(super) fn on_signals_and_hangup() -> io::Result<Self> {
        Self::on(&[SIGTERM, SIGINT, SIGHUP])
    }

    fn on(signals: &[i32]) -> io::Result<Self> {
        let mut signals = Signals::new(signals)?;
        let (asked, stop) = watch::channel(false);
        let hung_up = Arc::new(Notify::new());
        let tell = Arc::clone(&hung_up);
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            let mut ending = false;
            for signal in signals.forever() {
                if signal == SIGHUP {
                    tell.notify_one();
                } else if ending {
                    std::process::exit(128 + signal);
                } else {
                    ending = true;
                    asked.send_replace(true);
                }
            }
        })?;
        Ok(Self { asked: stop, hung_up })
    }

    pub(super) async fn asked(mut self) {
        // The sender lives as long as the process, so there is no error.
        let _ = self.asked.wait_for(|asked| *asked).await;
    }

    /// Notified at each SIGHUP.
    pub(super) fn hung_up(&self) -> Arc<Notify> {
        Arc::clone(&self.hung_up)
    }
}
