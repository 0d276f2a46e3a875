//! `mailchute status`.

use serde_json::json;

use super::config::Place;
use super::table;
use crate::clock::Clock;
use crate::spool::Spool;
use crate::store::Bell;

/// Show how things stand: letters by state, what is paused, what waits
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let desk = arguments.place.desk()?;
    let runs = Bell::ring(desk.home());
    let totals = desk.totals(Clock::system().now())?;
    let paused = desk.paused()?;
    let folders = desk.folders()?;
    let (rejected, held) = desk.undecided()?;
    let submitted = Spool::open(&desk.home().spool())?.arrived()?.len() as u64;
    if arguments.json {
        let paused: Vec<_> = paused
            .iter()
            .map(|row| json!({"account": row.account, "cause": row.pause.cause.to_string(), "since": row.pause.since}))
            .collect();
        return table::json(
            &json!({"runs": runs, "totals": totals, "submitted": submitted, "paused": paused,
                    "folders": folders, "drops_rejected": rejected, "drops_held": held}),
        );
    }
    super::say(if runs { "the daemon runs" } else { "the daemon does not run: `mailchute run` starts it" })?;
    for (state, count) in &totals.letters {
        super::say(&format!("{count:>9} {state}"))?;
    }
    for row in paused {
        let since = table::time(row.pause.since);
        super::say(&format!("account {} is paused since {since}: {}", row.account, row.pause.cause))?;
    }
    for row in folders {
        let how = row.trouble.map_or_else(|| "watched".to_owned(), |why| format!("AWAY: {why}"));
        super::say(&format!("folder {}: {how}", row.folder))?;
    }
    let waiting = [
        (rejected, "drop(s) rejected"),
        (held, "drop(s) held that are no letter yet"),
        (submitted, "submitted, not taken in yet"),
        (totals.due, "letter(s) due now"),
        (totals.owed, "message(s) owed"),
        (totals.orders, "order(s) waiting"),
    ];
    for (count, what) in waiting.into_iter().filter(|(count, _)| *count > 0) {
        super::say(&format!("{count:>9} {what}"))?;
    }
    Ok(())
}
