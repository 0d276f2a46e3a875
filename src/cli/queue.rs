//! `mailchute queue`.

use anyhow::ensure;

use super::config::RecordsPath;
use super::table;
use crate::outside::store::{Desk, QueueRow};

/// Show the queues by which programs post, or open one after records were lost
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: RecordsPath,
    #[command(subcommand)]
    what: Option<What>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// What comes with an unknown key is new again: its programs know what was posted before records were lost
    Open { name: String },
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let desk = Desk::open(&arguments.place.find()?.state)?;
    let queues = desk.queues()?;
    let Some(What::Open { name }) = &arguments.what else { return show(queues, arguments.json) };
    let names: Vec<&str> = queues.iter().map(|queue| queue.queue.as_str()).collect();
    ensure!(desk.open_queue(name)?, "there is no queue `{name}`; there is: {}", names.join(", "));
    Ok(super::say(&format!("queue {name} is open; what it held stays held until a person approves it"))?)
}

fn show(queues: Vec<QueueRow>, json: bool) -> anyhow::Result<()> {
    if json {
        return queues.iter().try_for_each(|queue| table::json(&serde_json::to_value(queue)?));
    }
    let row = |queue: QueueRow| {
        let how = if queue.open { "open" } else { "closed: what comes with an unknown key is held" };
        vec![queue.queue, how.to_owned(), queue.taken.to_string(), queue.waiting.to_string()]
    };
    Ok(table::print(&["queue", "", "taken", "not in its folder yet"], queues.into_iter().map(row).collect())?)
}
