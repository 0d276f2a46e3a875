//! Tables for people, lines of JSON for programs.

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

/// A table without lines, as wide as the terminal. Without a terminal it is not cut.
pub(super) fn print(header: &[&str], rows: Vec<Vec<String>>) -> std::io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    let terminal = rustix::termios::tcgetwinsize(std::io::stdout()).ok().filter(|size| size.ws_col > 0);
    match terminal {
        Some(size) => {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(size.ws_col);
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    for line in table.lines() {
        super::say(line.trim_end())?;
    }
    Ok(())
}

/// One object a line.
pub(super) fn json(row: &impl Serialize) -> anyhow::Result<()> {
    Ok(super::say(&serde_json::to_string(row)?)?)
}

pub(super) fn time(time: crate::base::clock::Time) -> String {
    time.format("%Y-%m-%d %H:%M UTC").to_string()
}
