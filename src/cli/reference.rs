//! The reference of the commands, `docs/operate/commands.md`, made from the commands themselves.
//!
//! `MAILCHUTE_WRITE_REFERENCE=1 cargo test --lib reference` writes it anew.

use std::fmt::Write as _;

use clap::CommandFactory as _;

const PLACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operate/commands.md");

const HEAD: &str = "\
# Commands

Commands work beside a running daemon and without one. Exit status: 0 done, 1 failed, 2 wrong arguments or
configuration, 3 submitted but what should follow failed: do not submit it again. This file is made from the commands
themselves (`src/cli/reference.rs`).
";

/// The text of a help entry, each paragraph on one line.
fn paragraphs(help: Option<&clap::builder::StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default();
    let line = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split("\n\n").map(line).collect::<Vec<_>>().join("\n\n")
}

/// How an argument is written: `--card <CARD>`, `<FILE>…`.
fn name(argument: &clap::Arg) -> String {
    let takes = argument.get_action().takes_values();
    let value = argument.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    let many = if argument.get_num_args().is_some_and(|count| count.max_values() > 1) { "…" } else { "" };
    match argument.get_long() {
        Some(long) if takes => format!("--{long} <{value}>{many}"),
        Some(long) => format!("--{long}"),
        None => format!("<{value}>{many}"),
    }
}

fn entry(argument: &clap::Arg) -> String {
    let help = paragraphs(argument.get_long_help().or_else(|| argument.get_help())).replace("\n\n", " ");
    let mut entry = format!("- `{}`", name(argument));
    if !help.is_empty() {
        write!(entry, ": {help}").unwrap();
    }
    let values = argument.get_possible_values();
    if argument.get_action().takes_values() && !values.is_empty() {
        let values: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        write!(entry, " (one of {})", values.join(", ")).unwrap();
    }
    let defaults = argument.get_default_values();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        let defaults: Vec<String> = defaults.iter().map(|value| format!("`{}`", value.display())).collect();
        write!(entry, " (default {})", defaults.join(" ")).unwrap();
    }
    entry
}

fn write_command(text: &mut String, command: &clap::Command, path: &str) {
    let full = format!("{path} {}", command.get_name());
    write!(text, "\n## {full}\n\n{}\n", paragraphs(command.get_long_about().or_else(|| command.get_about())))
        .unwrap();
    let shown = |argument: &&clap::Arg| !argument.is_hide_set() && argument.get_id() != "help";
    let arguments: Vec<String> = command.get_arguments().filter(shown).map(entry).collect();
    if !arguments.is_empty() {
        write!(text, "\n{}\n", arguments.join("\n")).unwrap();
    }
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
    {
        write_command(text, inner, &full);
    }
}

#[test]
fn the_reference_is_that_of_the_commands() {
    let mut root = super::Arguments::command();
    root.build();
    let mut text = HEAD.to_owned();
    for command in root.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help") {
        write_command(&mut text, command, "mailchute");
    }
    if std::env::var_os("MAILCHUTE_WRITE_REFERENCE").is_some() {
        std::fs::write(PLACE, &text).unwrap();
    }
    let written = std::fs::read_to_string(PLACE).unwrap_or_default();
    assert_eq!(written, text, "write it anew: see the head of src/cli/reference.rs");
}
