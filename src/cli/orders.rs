//! `hold`, `release`, `retry`, `cancel`, and pausing an account: commands that the daemon carries out.

use std::time::Duration;

use anyhow::{Context as _, bail};

use super::config::RecordsPath;
use crate::base::clock::Clock;
use crate::domain::letter::{Command, Number};
use crate::outside::store::{AccountCommand, Answered, Bell, Desk};

/// How long to wait for a running daemon.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: RecordsPath,
    #[arg(value_name = "N", required = true, value_parser = super::read_number)]
    letters: Vec<Number>,
}

pub(super) async fn letters(arguments: Arguments, command: Command) -> anyhow::Result<()> {
    let desk = arguments.place.desk()?;
    let now = Clock::system().now();
    for number in &arguments.letters {
        desk.row(*number)?.with_context(|| format!("there is no letter {number}"))?;
    }
    let mut orders = Vec::new();
    for number in arguments.letters {
        orders.push((number.to_string(), desk.order(number, command, now)?));
    }
    answers(&desk, orders).await
}

pub(super) async fn account(desk: &Desk, name: &str, command: AccountCommand) -> anyhow::Result<()> {
    let order = desk.order_account(name, command, Clock::system().now())?;
    answers(desk, vec![(format!("account {name}"), order)]).await
}

/// Prints each answer as it comes. A refusal makes the command fail.
async fn answers(desk: &Desk, orders: Vec<(String, i64)>) -> anyhow::Result<()> {
    let runs = Bell::ring(desk.home());
    let mut refused = 0;
    for (subject, order) in orders {
        let answer = if runs { wait_for(desk, order).await? } else { None };
        match answer {
            Some(Answered { refused: false, text }) => super::say(&format!("{subject}: {text}"))?,
            Some(Answered { refused: true, text }) => {
                super::say(&format!("{subject}: refused: {text}"))?;
                refused += 1;
            }
            None if runs => {
                super::say(&format!("{subject}: recorded; the daemon is busy and will carry it out"))?;
            }
            None => super::say(&format!(
                "{subject}: recorded; it is carried out when `mailchute run` is started"
            ))?,
        }
    }
    if refused > 0 {
        bail!("{refused} command(s) could not be carried out");
    }
    Ok(())
}

async fn wait_for(desk: &Desk, order: i64) -> anyhow::Result<Option<Answered>> {
    let deadline = tokio::time::Instant::now() + ANSWER_WITHIN;
    while tokio::time::Instant::now() < deadline {
        if let Some(answer) = desk.answer(order)? {
            return Ok(Some(answer));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(None)
}
