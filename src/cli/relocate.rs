//! `mailchute move`: moves the records to another directory.

use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget};

use super::config::ConfigPath;
use crate::outside::store::relocate;

/// Move the records (`state`) to another directory, while the daemon is stopped
///
/// No letter is held by it. The old records are sealed for ever, so that only one set of them posts; what is
/// left of them may be removed. If it is interrupted, the same command continues. A copy made by other means
/// is refused at its start; a backup continues with `run --after-restore`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// It must be empty or not exist yet, on a local disk
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let from = arguments.place.config()?.state;
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let progress = |_file: &Path| bar.inc(1);
    let to = relocate(&from, &arguments.dir, &progress)?;
    bar.finish_and_clear();
    let (from, to) = (from.display(), to.display());
    super::say(&format!(
        "the records are in {to}\nNow write `state: {to}` into mailchute.yaml and start mailchute. What is left in \
         {from} posts nothing any more; it may be removed."
    ))?;
    Ok(())
}
