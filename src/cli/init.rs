//! `mailchute init`: a commented configuration to start from, for the sandbox.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fs_err as fs;

use crate::config::{Config, schemas};
use crate::spool::{private_directory, private_file};

const MAIN: &str = include_str!("../../config/mailchute.yaml");
const FOLDER: &str = include_str!("../../config/folders/invoices.yaml");
const BOOK: &str = include_str!("../../config/folders/customers.csv");
const SIDECAR: &str = include_str!("../../config/sidecar.pdf.yaml");

/// Write a configuration to start from: it checks clean and runs against the sandbox
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Where to; made if it is not there. Files that are there already are not touched
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let dir = &arguments.dir;
    let main = dir.join("mailchute.yaml");
    anyhow::ensure!(!main.exists(), "{} is there already; nothing was changed", main.display());
    let hot = dir.join("hot").join("invoices");
    fs::create_dir_all(&hot)?;
    fs::create_dir_all(dir.join("folders"))?;
    private_directory(&dir.join("state"))?;
    for (name, text) in schemas() {
        write(&dir.join("schema").join(name), &text)?;
    }
    write(&dir.join("folders").join("customers.csv"), BOOK)?;
    write(&dir.join("sidecar.pdf.yaml"), SIDECAR)?;
    write(
        &dir.join("folders").join("invoices.yaml"),
        &for_trial(FOLDER, &[("path: /srv/mail/invoices ", "path: ../hot/invoices    ")])?,
    )?;
    let secret = dir.join("main.secret");
    if !secret.exists() {
        private_file(&secret)?;
        fs::write(&secret, drawn_secret()?)?;
    }
    write(
        &main,
        &for_trial(
            MAIN,
            &[
                ("state: /var/lib/mailchute", "state: state"),
                ("https://api.example.jp", "http://127.0.0.1:8460"),
                ("https://auth.example.jp", "http://127.0.0.1:8460/auth"),
                ("issued-on-the-account-page", "trial"),
                (
                    "smtp: {host: mail.example.jp, tls: starttls, user: mailchute, password: {file: mail.secret}}",
                    "directory: mails",
                ),
                (
                    "  # directory: mails         # instead of smtp, for trials",
                    "  # instead of a mail server, for trials",
                ),
            ],
        )?,
    )?;
    Config::read(&main)?;
    let (main, secret, hot) = (main.display(), secret.display(), hot.display());
    super::say(&format!("{main} is written, for the sandbox. Now:\n"))?;
    super::say(&format!("  mailchute check --config {main}"))?;
    super::say(&format!("  mailchute sandbox --client \"trial:$(cat {secret})\" &"))?;
    super::say(&format!("  mailchute run --config {main}"))?;
    super::say(&format!("\nand drop a PDF called INV-000123.pdf into {hot}"))?;
    Ok(())
}

/// The example with what a trial needs in the place of what it has.
fn for_trial(example: &str, changes: &[(&str, &str)]) -> anyhow::Result<String> {
    let mut text = example.to_owned();
    for (from, to) in changes {
        anyhow::ensure!(text.contains(from), "the example has no `{from}`");
        text = text.replace(from, to);
    }
    Ok(text)
}

/// A new file, or the one that is there.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let mut file = match fs::OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    file.write_all(text.as_bytes()).context("the file can't be written")
}

fn drawn_secret() -> anyhow::Result<String> {
    let mut chance = [0; 24];
    getrandom::fill(&mut chance).map_err(io::Error::other)?;
    Ok(format!("{}\n", hex::encode(chance)))
}
