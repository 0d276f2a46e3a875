//! `mailchute account`.

use anyhow::bail;
use serde_json::json;

use super::config::{Records, RecordsPath};
use super::{orders, table};
use crate::outside::store::{AccountCommand, Desk};

/// Show the accounts, pause one, or resume it
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
    /// Begin nothing new for it; what may have been posted already is followed
    Pause { name: String },
    /// End a pause, whoever ordered it
    Resume { name: String },
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let records = arguments.place.find()?;
    let desk = Desk::open(&records.state)?;
    let names = names(&records, &desk)?;
    let (name, command) = match arguments.what {
        Some(What::Pause { name }) => (name, AccountCommand::Pause),
        Some(What::Resume { name }) => (name, AccountCommand::Resume),
        None => return show(&names, &desk, &records, arguments.json),
    };
    if !names.contains(&name) {
        bail!("there is no account {name}; there are: {}", names.join(", "));
    }
    orders::account(&desk, &name, command).await
}

/// The accounts of the configuration, or those that the records know.
fn names(records: &Records, desk: &Desk) -> anyhow::Result<Vec<String>> {
    Ok(match &records.config {
        Some(config) => config.accounts.iter().map(|account| account.name.clone()).collect(),
        None => desk.accounts()?,
    })
}

fn show(names: &[String], desk: &Desk, records: &Records, json: bool) -> anyhow::Result<()> {
    let paused = desk.paused()?;
    let mut rows = Vec::new();
    for account in names {
        let pause = paused.iter().find(|row| row.account == *account).map(|row| &row.pause);
        if json {
            let cause = pause.map(|pause| pause.cause.to_string());
            table::json(
                &json!({"account": account, "paused": cause, "since": pause.map(|pause| pause.since)}),
            )?;
            continue;
        }
        let how = pause.map_or_else(
            || "works".to_owned(),
            |pause| format!("paused since {}: {}", table::time(pause.since, records.zone), pause.cause),
        );
        rows.push(vec![account.clone(), how]);
    }
    if !json {
        table::print(&["account", ""], rows)?;
    }
    Ok(())
}
