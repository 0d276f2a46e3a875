//! SIGTERM and SIGINT ask the program to end; a second one ends it at once.

use std::io;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::watch;

/// Resolves when the program is asked to end.
#[derive(Debug, Clone)]
pub(super) struct Stop(watch::Receiver<bool>);

impl Stop {
    pub(super) fn on_signals() -> io::Result<Self> {
        let mut signals = Signals::new([SIGTERM, SIGINT])?;
        let (asked, stop) = watch::channel(false);
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            let mut arrived = signals.forever();
            arrived.next();
            asked.send_replace(true);
            if let Some(signal) = arrived.next() {
                std::process::exit(128 + signal);
            }
        })?;
        Ok(Self(stop))
    }

    pub(super) async fn asked(mut self) {
        // The sender lives as long as the process, so an error can't come.
        let _ = self.0.wait_for(|asked| *asked).await;
    }
}
