//! `mailchute list`.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Instant;

use chrono_tz::Tz;
use serde_json::{Value, json};

use super::config::{ConfigPath, RecordsPath};
use super::table;
use crate::base::clock::{Time, day_begins};
use crate::domain::letter::Stage;
use crate::outside::store::{Desk, LetterRow, Listed, Sought};

/// List letters, the newest last
///
/// File names and receivers are shown on a terminal, or with --names. Elsewhere they could end up in a journal.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// The directory of the records, if the configuration does not say it or can't be read
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Only letters with this text in their file name, number, tracking number or receiver
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// Only letters in this state
    #[arg(long, value_name = "STATE", value_parser = Stage::ALL.map(Stage::word))]
    state: Option<String>,
    /// Only letters taken in since: `2026-11-20` or `2026-11-20T09:00:00Z`
    #[arg(long, value_name = "TIME", value_parser = read_since)]
    since: Option<Since>,
    /// At most this number, the newest ones
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: u64,
    /// With file names and receivers, wherever the list goes
    #[arg(long)]
    names: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// A day begins in the configured time zone.
#[derive(Debug, Clone, Copy)]
enum Since {
    Day(chrono::NaiveDate),
    Time(Time),
}

fn read_since(text: &str) -> Result<Since, String> {
    let day = || text.parse().ok().map(Since::Day);
    let time = text.parse().ok().map(Since::Time);
    time.or_else(day).ok_or_else(|| "write 2026-11-20 or 2026-11-20T09:00:00Z".to_owned())
}

/// Whether names of files and people may be shown.
pub(super) fn may_show_names(asked: bool, json: bool) -> bool {
    asked || (!json && std::io::stdout().is_terminal())
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let records = RecordsPath::of(arguments.place.clone(), arguments.state_dir.clone()).find()?;
    let desk = Desk::open(&records.state)?;
    let names = may_show_names(arguments.names, arguments.json);
    let rows = found(arguments, &desk, records.zone)?;
    if arguments.json {
        return rows.iter().try_for_each(|listed| table::json(&as_json(listed, names)?));
    }
    let since = format!("since ({})", records.zone);
    let mut header = vec!["letter", "state", since.as_str(), "from"];
    header.extend(if names { ["file", "receiver", "note"].as_slice() } else { ["note"].as_slice() });
    let row = |Listed { row, file, receiver, .. }: Listed| {
        let from = row.from();
        let note = row.tracking.map(|number| format!("tracking number {number}")).or(row.note);
        let since = table::time_only(row.changed_at, records.zone);
        let mut cells = vec![row.letter.to_string(), row.state, since, from];
        if names {
            cells.extend([file, receiver.unwrap_or_default()]);
        }
        cells.push(note.unwrap_or_default());
        cells
    };
    Ok(table::print(&header, rows.into_iter().map(row).collect())?)
}

/// The newest that fit, the newest last.
fn found(arguments: &Arguments, desk: &Desk, zone: Tz) -> anyhow::Result<Vec<Listed>> {
    let since = arguments.since.map(|since| match since {
        Since::Day(day) => day_begins(day, zone),
        Since::Time(time) => time,
    });
    let (state, text) = (arguments.state.clone(), arguments.text.clone().unwrap_or_default());
    let mut sought = Sought { text, state, names: true, ..Sought::default() };
    let most = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let is_new = |row: &LetterRow| since.is_none_or(|since| row.admitted_at >= since);
    let mut rows: Vec<Listed> = Vec::new();
    // A search stops after a while, because pages must be quick. A command goes on.
    while rows.len() < most {
        let found = desk.search(&sought, most - rows.len(), Instant::now())?;
        // Numbers follow the time of arrival.
        let is_over = found.letters.last().is_some_and(|oldest| !is_new(&oldest.row));
        rows.extend(found.letters.into_iter().filter(|listed| is_new(&listed.row)));
        sought.before = found.further;
        if is_over || found.further.is_none() {
            break;
        }
    }
    rows.sort_by_key(|listed| listed.row.letter.0);
    rows.dedup_by_key(|listed| listed.row.letter.0);
    Ok(rows)
}

fn as_json(listed: &Listed, names: bool) -> anyhow::Result<Value> {
    let mut row = serde_json::to_value(&listed.row)?;
    if names && let Some(row) = row.as_object_mut() {
        row.insert("file".to_owned(), json!(listed.file));
        row.insert("receiver".to_owned(), json!(listed.receiver));
    }
    Ok(row)
}
