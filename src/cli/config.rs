//! The options that commands of the daemon have: the path of its configuration, and that of its records.

use std::path::PathBuf;
use std::time::Duration;

use chrono_tz::Tz;

use super::unit;
use crate::config::{Config, ConfigError, PostalFile, Problem};
use crate::domain::address::PostalData;
use crate::outside::hot::Reach;
use crate::outside::pdf::Inspector;
use crate::outside::store::Desk;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct ConfigPath {
    /// The configuration (default: mailchute.yaml here, else /etc/mailchute/mailchute.yaml)
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

impl ConfigPath {
    /// With the service's own credentials, if whoever asks may read them.
    pub(super) fn config(&self) -> anyhow::Result<Config> {
        Ok(self.config_of_the_service()?.with_credentials_of(&unit::credential))
    }

    /// With nothing but what the service manager gave to this process.
    pub(super) fn config_of_the_service(&self) -> anyhow::Result<Config> {
        Ok(Config::find(self.config.as_deref())?)
    }

    pub(super) fn desk(&self) -> anyhow::Result<Desk> {
        Ok(Desk::open(&self.config()?.state)?)
    }
}

/// Where the records are. Commands that need nothing else work while the configuration has mistakes.
#[derive(Debug, clap::Args)]
pub(super) struct RecordsPath {
    #[command(flatten)]
    place: ConfigPath,
    /// The directory of the records, if the configuration does not say it or can't be read
    #[arg(long, value_name = "DIR", alias = "state", global = true)]
    state_dir: Option<PathBuf>,
}

/// The records, and what commands need to show them.
pub(super) struct Records {
    pub(super) state: PathBuf,
    pub(super) zone: Tz,
    /// `None` while it has mistakes.
    pub(super) config: Option<Config>,
}

impl RecordsPath {
    /// For a command in which `--state` has another meaning.
    pub(super) fn of(place: ConfigPath, state_dir: Option<PathBuf>) -> Self {
        Self { place, state_dir }
    }

    /// If the configuration has mistakes, that is said first, on standard error.
    pub(super) fn find(&self) -> anyhow::Result<Records> {
        let wrong = match self.place.config() {
            Ok(config) => {
                let (state, zone) =
                    (self.state_dir.clone().unwrap_or_else(|| config.state.clone()), config.zone);
                return Ok(Records { state, zone, config: Some(config) });
            }
            Err(wrong) => wrong,
        };
        let partial = Config::find_partial(self.place.config.as_deref());
        let Some(state) = self.state_dir.clone().or(partial.state) else {
            return Err(wrong);
        };
        let mistakes = wrong
            .downcast_ref::<ConfigError>()
            .map_or(0, |wrong| wrong.problems.iter().filter(|problem| Problem::is_error(problem)).count());
        let how = format!(
            "the configuration can't be used ({mistakes} mistake(s), `mailchute check` shows them); this is from the \
             records in {}",
            state.display()
        );
        super::warn(&how);
        Ok(Records { state, zone: partial.zone.unwrap_or(Tz::Asia__Tokyo), config: None })
    }

    pub(super) fn desk(&self) -> anyhow::Result<Desk> {
        Ok(Desk::open(&self.find()?.state)?)
    }
}

/// How long a command waits for a share.
const SHARES: Duration = Duration::from_secs(5);

/// The list of postal codes as it is now, or why it cannot be used. A file system that hangs is not waited for.
pub(super) fn postal_data(list: &PostalFile) -> anyhow::Result<Result<PostalData, String>> {
    let answers = reach()?.all_answer([list.file.as_path()]);
    Ok(if answers { list.read() } else { Err("it does not answer".to_owned()) })
}

/// How commands reach folders.
pub(super) fn reach() -> anyhow::Result<Reach> {
    Ok(Reach::of(Inspector::of_this_program()?.program()).with_patience(SHARES))
}
