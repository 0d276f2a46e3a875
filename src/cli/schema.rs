//! `mailchute schema`: the JSON Schemas, for editors.

use std::path::PathBuf;

use anyhow::Context as _;
use fs_err as fs;

use crate::config::schemas;

/// Write the JSON Schemas of the configuration files
///
/// An editor that knows them completes keys and marks mistakes; the examples name them in their first line.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// One of mailchute, folder, sidecar, address: to standard output
    #[arg(value_name = "NAME", required_unless_present = "dir")]
    name: Option<String>,
    /// All of them, as files in a directory
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    dir: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(dir) = &arguments.dir {
        fs::create_dir_all(dir)?;
        for (name, text) in schemas() {
            fs::write(dir.join(name), text)?;
        }
    }
    if let Some(name) = &arguments.name {
        let wanted = format!("{}.json", name.trim_end_matches(".json"));
        let found = schemas().into_iter().find(|(name, _)| *name == wanted);
        let (_, text) = found.with_context(|| format!("there is no schema `{name}`"))?;
        super::say(text.trim_end())?;
    }
    Ok(())
}
