//! `mailchute demo`.

use super::stop::Stop;
use crate::demo;

/// Watch a letter go through the sandbox, then try it yourself
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// End when the letter has shipped, instead of serving until Ctrl-C
    #[arg(long)]
    once: bool,
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let stop = Stop::on_signals()?;
    let asked = stop.clone();
    tokio::select! {
        outcome = demo::run(arguments.once, stop.asked(), super::say) => outcome,
        () = asked.asked() => Ok(()),
    }
}
