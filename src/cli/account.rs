//! `mailchute account`.

use anyhow::bail;
use serde_json::json;

use super::config::ConfigPath;
use super::{orders, table};
use crate::outside::store::AccountCommand;

/// Show the accounts, pause one, or resume it
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
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
    let config = arguments.place.config()?;
    let desk = arguments.place.desk()?;
    let (name, command) = match arguments.what {
        Some(What::Pause { name }) => (name, AccountCommand::Pause),
        Some(What::Resume { name }) => (name, AccountCommand::Resume),
        None => return show(&config, &desk, arguments.json),
    };
    if !config.accounts.iter().any(|account| account.name == name) {
        bail!("there is no account {name} in the configuration");
    }
    orders::account(&desk, &name, command).await
}

fn show(
    config: &crate::config::Config,
    desk: &crate::outside::store::Desk,
    json: bool,
) -> anyhow::Result<()> {
    let paused = desk.paused()?;
    let mut rows = Vec::new();
    for account in &config.accounts {
        let pause = paused.iter().find(|row| row.account == account.name).map(|row| &row.pause);
        if json {
            let cause = pause.map(|pause| pause.cause.to_string());
            table::json(
                &json!({"account": account.name, "paused": cause, "since": pause.map(|pause| pause.since)}),
            )?;
            continue;
        }
        let how = pause.map_or_else(
            || "works".to_owned(),
            |pause| format!("paused since {}: {}", table::time(pause.since), pause.cause),
        );
        rows.push(vec![account.name.clone(), how]);
    }
    if !json {
        table::print(&["account", ""], rows)?;
    }
    Ok(())
}
