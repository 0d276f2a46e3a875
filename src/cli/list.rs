//! `mailchute list`.

use super::config::ConfigPath;
use super::table;
use crate::base::clock::Time;
use crate::domain::letter::Stage;

/// List letters, the newest last
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// Only letters in this state
    #[arg(long, value_name = "STATE", value_parser = Stage::ALL.map(Stage::word))]
    state: Option<String>,
    /// Only letters taken in since: `2026-11-20` or `2026-11-20T09:00:00Z`
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    since: Option<Time>,
    /// At most this number, the newest ones
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: u64,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

fn read_time(text: &str) -> Result<Time, String> {
    let day =
        || text.parse::<chrono::NaiveDate>().ok().map(|day| day.and_time(chrono::NaiveTime::MIN).and_utc());
    text.parse().ok().or_else(day).ok_or_else(|| "write 2026-11-20 or 2026-11-20T09:00:00Z".to_owned())
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let desk = arguments.place.desk()?;
    let rows = desk.letters(arguments.state.as_deref(), arguments.since, arguments.limit)?;
    if arguments.json {
        return rows.iter().try_for_each(table::json);
    }
    let rows = rows.into_iter().map(|row| {
        let note = row.tracking.map(|number| format!("tracking number {number}")).or(row.note);
        vec![
            row.letter.to_string(),
            row.state,
            table::time(row.changed_at),
            row.source,
            note.unwrap_or_default(),
        ]
    });
    Ok(table::print(&["letter", "state", "since", "from", "note"], rows.collect())?)
}
