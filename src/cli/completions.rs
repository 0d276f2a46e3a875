//! `mailchute completions` and `mailchute man`: for shells and for `man`, made from the commands themselves.

use std::path::{Path, PathBuf};

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
    /// Made if it is not there
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
    let mut command = super::Arguments::command().disable_help_subcommand(true);
    command.build();
    pages(&command, &arguments.dir)
}

fn pages(command: &clap::Command, dir: &Path) -> anyhow::Result<()> {
    // What a person calls it: `mailchute-account-pause`.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.clone())).render(&mut page)?;
    fs::write(dir.join(format!("{name}.1")), page)?;
    command.get_subcommands().filter(|sub| !sub.is_hide_set()).try_for_each(|sub| pages(sub, dir))
}
