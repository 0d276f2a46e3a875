//! `mailchute run`.

use super::config::ConfigPath;
use super::log::Log;
use super::stop::Stop;
use crate::base::clock::Clock;
use crate::daemon::systemd::Manager;
use crate::daemon::{self, Run};
use crate::outside::pdf::Inspector;

/// Run the daemon: post what is in the spool, exactly once, and follow it until it ships
///
/// SIGTERM or SIGINT end it after the requests under way, within 10 seconds; a second one immediately.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// The records were copied or restored from a backup: hold every unfinished letter
    #[arg(long)]
    after_restore: bool,
    #[command(flatten)]
    pub(super) log: Log,
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let stop = Stop::on_signals_and_hangup()?;
    let config = arguments.place.config_of_the_service()?;
    let run = Run {
        clock: Clock::system(),
        after_restore: arguments.after_restore,
        may_be_half_saved: true,
        inspector: Inspector::of_this_program()?,
        reload: stop.hung_up(),
        manager: Manager::of_this_process(),
    };
    daemon::run(config, run, stop.asked()).await
}
