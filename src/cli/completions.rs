//! `mailchute completions` and `mailchute man`: for shells and for `man`, made from the commands themselves.

use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_complete::Shell;
use fs_err as fs;

/// Write the words that a shell completes to standard output
#[derive(Debug, clap::Args)]
pub(super) struct Completions {
    shell: Shell,
}

/// Write the manual pages, one for each command
#[derive(Debug, clap::Args)]
pub(super) struct Man {
    /// Created if it does not exist
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn completions(arguments: &Completions) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), "mailchute", &mut text);
    super::say(String::from_utf8(text)?.trim_end())?;
    Ok(())
}

pub(super) fn man(arguments: &Man) -> anyhow::Result<()> {
    fs::create_dir_all(&arguments.dir)?;
    Ok(clap_mangen::generate_to(super::Arguments::command(), &arguments.dir)?)
}
