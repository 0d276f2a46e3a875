//! The option every command of the daemon has: where its configuration is.

use std::path::PathBuf;

use crate::config::Config;
use crate::store::Desk;

#[derive(Debug, clap::Args)]
pub(super) struct Place {
    /// The configuration (default: mailchute.yaml here, else /etc/mailchute/mailchute.yaml)
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

impl Place {
    pub(super) fn config(&self) -> anyhow::Result<Config> {
        Ok(Config::find(self.config.as_deref())?)
    }

    pub(super) fn desk(&self) -> anyhow::Result<Desk> {
        Ok(Desk::open(&self.config()?.state)?)
    }
}
