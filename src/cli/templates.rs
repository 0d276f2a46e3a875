//! `mailchute templates`: the built-in texts of e-mails, to start from.

use std::path::PathBuf;

use fs_err as fs;

use super::config::ConfigPath;
use crate::words::message::Templates;

/// Write the built-in texts of e-mails, so that you can change them
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// The directory; created if it does not exist. Existing files are not changed
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let language = arguments.place.config()?.language;
    fs::create_dir_all(&arguments.dir)?;
    for (name, text) in Templates::built_in(language) {
        let path = arguments.dir.join(name);
        if path.exists() {
            super::say(&format!("{} is there already", path.display()))?;
        } else {
            fs::write(&path, text)?;
        }
    }
    super::say(&format!("templates in {}; keep those that you change", arguments.dir.display()))?;
    Ok(())
}
