//! Tables for people, lines of JSON for programs.

use chrono_tz::Tz;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::base::clock::Time;

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

/// A time as people in this zone know it, with the zone's name.
pub(super) fn time(time: Time, zone: Tz) -> String {
    time.with_timezone(&zone).format("%Y-%m-%d %H:%M %Z").to_string()
}

/// The same without the zone, for a column whose header names it.
pub(super) fn time_only(time: Time, zone: Tz) -> String {
    time.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string()
}

/// Breaks a line at spaces so that it fits 80 columns. What follows is indented. A word that is longer than a
/// line, as a path, stays where it is: the terminal breaks it, and it can be copied whole.
pub(super) fn wrapped(line: &str) -> String {
    const WIDTH: usize = 80;
    const INDENT: &str = "      ";
    let width = |text: &str| text.chars().map(|c| if c < '\u{1100}' { 1 } else { 2 }).sum::<usize>();
    let (mut out, mut at) = (String::new(), 0);
    for (index, word) in line.split(' ').enumerate() {
        let fits_alone = !word.is_empty() && INDENT.len() + width(word) <= WIDTH;
        if index > 0 && at + 1 + width(word) > WIDTH && fits_alone {
            out.push('\n');
            out.push_str(INDENT);
            at = INDENT.len();
        } else if index > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += width(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_spaces() {
        assert_eq!(wrapped("        3 held"), "        3 held");
        let line = format!("folder {}: {}", "請求".repeat(8), "a word ".repeat(12));
        let broken = wrapped(line.trim_end());
        assert_eq!(broken.replace("\n      ", " "), line.trim_end());
        assert!(broken.lines().count() == 2 && broken.lines().next().unwrap().chars().count() <= 80 - 16);
        let path = "/".repeat(100);
        assert_eq!(wrapped(&format!("disk {path} full")), format!("disk {path}\n      full"));
    }
}
