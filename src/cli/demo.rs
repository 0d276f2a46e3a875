//! `mailchute demo`.

use std::path::PathBuf;

use super::stop::Stop;
use crate::demo::{self, Demo};
use crate::outside::pdf::Inspector;

/// Watch letters go from a folder to their tracking numbers, then drop one yourself
///
/// Everything is in a temporary directory and goes to the embedded sandbox: nothing is posted.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// End when its letters have shipped, instead of running until Ctrl-C
    #[arg(long)]
    once: bool,
    /// Put a picture of all it said there, and end
    #[arg(long, value_name = "FILE.svg", conflicts_with = "once")]
    record: Option<PathBuf>,
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    use std::io::IsTerminal as _;

    let stop = Stop::on_signals()?;
    let demo = Demo {
        once: arguments.once,
        live: std::io::stdout().is_terminal() && arguments.record.is_none(),
        record: arguments.record,
        inspector: Inspector::of_this_program()?,
    };
    demo::run(demo, stop.asked(), &super::say).await
}
