//! The demo's output while it runs: on a terminal one line for each drop, updated in place; elsewhere a line
//! for each change.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::outside::store::DropRow;

pub(super) struct Show<'a> {
    say: &'a dyn Fn(&str) -> io::Result<()>,
    lines: Option<MultiProgress>,
    /// The last state of each drop, and its line.
    shown: BTreeMap<String, (String, ProgressBar)>,
}

impl<'a> Show<'a> {
    /// `live` says that the output is a terminal.
    pub(super) fn new(live: bool, say: &'a dyn Fn(&str) -> io::Result<()>) -> Self {
        let lines = live.then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stdout()));
        Self { say, lines, shown: BTreeMap::new() }
    }

    /// Prints text between the lines.
    pub(super) fn say(&self, text: &str) -> io::Result<()> {
        match &self.lines {
            Some(lines) => lines.println(text),
            None => (self.say)(text),
        }
    }

    /// Shows the present state of the drops.
    pub(super) fn update(&mut self, drops: &[DropRow]) -> io::Result<()> {
        for row in drops {
            let word = word(row);
            let key = row.ulid.clone();
            match self.shown.get_mut(&key) {
                Some((before, _)) if *before == word => continue,
                Some((before, bar)) => {
                    before.clone_from(&word);
                    settle(bar, row, &word);
                }
                None => {
                    let bar =
                        self.lines.as_ref().map_or_else(ProgressBar::hidden, |lines| lines.add(new_bar()));
                    settle(&bar, row, &word);
                    self.shown.insert(key, (word.clone(), bar));
                }
            }
            if self.lines.is_none() {
                (self.say)(&format!("  {}", line(row, &word)))?;
            }
        }
        Ok(())
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {wide_msg}")
        .map(|style| style.tick_strings(&["◐", "◓", "◑", "◒", "•"]));
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(150));
    bar
}

fn settle(bar: &ProgressBar, row: &DropRow, word: &str) {
    let line = line(row, word);
    if row.is_still() { bar.finish_with_message(line) } else { bar.set_message(line) }
}

fn line(row: &DropRow, word: &str) -> String {
    let number = row.letter.map_or_else(String::new, |number| number.to_string());
    format!("{:<26} {number:<4} {word}", row.name)
}

fn word(row: &DropRow) -> String {
    let tracking =
        row.tracking.as_ref().map_or_else(String::new, |number| format!(", tracking number {number}"));
    let why = row.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    format!("{}{tracking}{why}", row.state)
}
