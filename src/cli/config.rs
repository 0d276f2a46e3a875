//! The option that every command of the daemon has: the path of its configuration.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::Config;
use crate::outside::hot::Reach;
use crate::outside::pdf::Inspector;
use crate::outside::store::Desk;

#[derive(Debug, clap::Args)]
pub(super) struct ConfigPath {
    /// The configuration (default: mailchute.yaml here, else /etc/mailchute/mailchute.yaml)
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

impl ConfigPath {
    pub(super) fn config(&self) -> anyhow::Result<Config> {
        Ok(Config::find(self.config.as_deref())?)
    }

    pub(super) fn desk(&self) -> anyhow::Result<Desk> {
        Ok(Desk::open(&self.config()?.state)?)
    }
}

/// How long a command waits for a share.
const SHARES: Duration = Duration::from_secs(5);

/// How commands reach folders.
pub(super) fn reach() -> anyhow::Result<Reach> {
    Ok(Reach::of(Inspector::of_this_program()?.program()).with_patience(SHARES))
}
