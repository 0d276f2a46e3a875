//! `mailchute report`: what was posted in a month, for the people who pay.

use chrono::{Months, NaiveDate};
use serde_json::json;

use super::config::RecordsPath;
use super::table;
use crate::base::clock::{Clock, day_begins};
use crate::outside::store::{Desk, Period, Reported};

/// Letters and sheets of a month, by folder, method and cost centre
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: RecordsPath,
    /// The month in which they were posted (default: this one)
    #[arg(long, value_name = "YYYY-MM", value_parser = read_month)]
    month: Option<NaiveDate>,
    /// Comma-separated, for a spreadsheet
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// The first day of a month.
fn read_month(text: &str) -> Result<NaiveDate, String> {
    // `26-10` would be a month of the year 26.
    let is_whole = text.len() == 7;
    let day = NaiveDate::parse_from_str(&format!("{text}-01"), "%Y-%m-%d");
    day.ok().filter(|_| is_whole).ok_or_else(|| "write it as 2026-11".to_owned())
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let records = arguments.place.find()?;
    let zone = records.zone;
    let this = || Clock::system().now().with_timezone(&zone).format("%Y-%m").to_string();
    let month = match arguments.month {
        Some(month) => month,
        None => read_month(&this()).map_err(anyhow::Error::msg)?,
    };
    let end = month.checked_add_months(Months::new(1)).unwrap_or(NaiveDate::MAX);
    let posted = Desk::open(&records.state)?.report(day_begins(month, zone), day_begins(end, zone))?;
    let Period { rows, damaged } = posted;
    if !damaged.is_empty() {
        let numbers: Vec<String> = damaged.iter().map(ToString::to_string).collect();
        super::warn(&format!(
            "{} can't be read and may be missing below: `mailchute audit` says what is wrong",
            numbers.join(", ")
        ));
    }
    let month = month.format("%Y-%m").to_string();
    if arguments.json {
        return rows.iter().try_for_each(|row| {
            let Reported { folder, method, cost_centre, letters, sheets } = row;
            table::json(&json!({"month": month, "folder": folder, "method": method,
                "cost_centre": cost_centre, "letters": letters, "sheets": sheets}))
        });
    }
    let header = ["folder", "method", "cost centre", "letters", "sheets"];
    let line = |row: &Reported| {
        let centre = row.cost_centre.clone().unwrap_or_default();
        vec![row.folder.clone(), row.method.clone(), centre, row.letters.to_string(), row.sheets.to_string()]
    };
    if arguments.csv {
        return csv(&header, rows.iter().map(line));
    }
    let (letters, sheets) =
        rows.iter().fold((0, 0), |(letters, sheets), row| (letters + row.letters, sheets + row.sheets));
    let mut lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    lines.push(vec![
        format!("total {month}"),
        String::new(),
        String::new(),
        letters.to_string(),
        sheets.to_string(),
    ]);
    Ok(table::print(&header, lines)?)
}

/// With a mark that Excel needs to read it as UTF-8.
fn csv(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> anyhow::Result<()> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(header)?;
    for row in rows {
        writer.write_record(row.iter().map(|field| harmless(field)))?;
    }
    let bytes = writer.into_inner().map_err(|error| anyhow::anyhow!(error.to_string()))?;
    let text = String::from_utf8(bytes)?;
    Ok(super::say(format!("\u{feff}{text}").trim_end_matches(['\r', '\n']))?)
}

/// A spreadsheet must not take a name for a formula.
fn harmless(field: &str) -> String {
    let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if formula { format!("'{field}") } else { field.to_owned() }
}
