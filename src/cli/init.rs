//! `mailchute init`: a commented configuration to start from, for the sandbox.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fs_err as fs;

use crate::config::{Config, schemas};
use crate::outside::spool::{private_directory, private_file};

const MAIN: &str = include_str!("../../config/mailchute.yaml");
const FOLDER: &str = include_str!("../../config/folders/invoices.yaml");
const BOOK: &str = include_str!("../../config/folders/customers.csv");
const QUEUE: &str = include_str!("../../config/queues/erp.yaml.example");
const PRINTER: &str = include_str!("../../config/queues/printer.yaml.example");
const MAILBOX: &str = include_str!("../../config/queues/mailbox.yaml.example");
const SIDECAR: &str = include_str!("../../config/sidecar.pdf.yaml");

/// Write a configuration to start from: it passes `check` and runs against the sandbox
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The directory; created if it does not exist. Existing files are not changed
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// For the system's service instead, to be filled in: state in /var/lib/mailchute, secrets from systemd
    #[arg(long)]
    service: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let dir = &arguments.dir;
    let main = dir.join("mailchute.yaml");
    anyhow::ensure!(!main.exists(), "{} exists already; nothing was changed", main.display());
    fs::create_dir_all(dir.join("folders"))?;
    fs::create_dir_all(dir.join("queues"))?;
    for (name, text) in schemas() {
        write(&dir.join("schema").join(name), &text)?;
    }
    write(&dir.join("folders").join("customers.csv"), BOOK)?;
    write(&dir.join("queues").join("erp.yaml.example"), QUEUE)?;
    write(&dir.join("queues").join("printer.yaml.example"), PRINTER)?;
    write(&dir.join("queues").join("mailbox.yaml.example"), MAILBOX)?;
    write(&dir.join("sidecar.pdf.yaml"), SIDECAR)?;
    if arguments.service { service(dir, &main) } else { trial(dir, &main) }
}

fn trial(dir: &Path, main: &Path) -> anyhow::Result<()> {
    let hot = dir.join("hot").join("invoices");
    fs::create_dir_all(&hot)?;
    private_directory(&dir.join("state"))?;
    let folder = with(FOLDER, &[("path: /srv/mail/invoices ", "path: ../hot/invoices    ")])?;
    write(&dir.join("folders").join("invoices.yaml"), &folder)?;
    let secret = dir.join("main.secret");
    if !secret.exists() {
        private_file(&secret)?;
        fs::write(&secret, drawn_secret()?)?;
    }
    let changes = [
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
    ];
    write(main, &with(MAIN, &changes)?)?;
    Config::read(main)?;
    let (main, secret, hot) = (main.display(), secret.display(), hot.display());
    super::say(&format!("{main} is written, for the sandbox. Now:\n"))?;
    super::say(&format!("  mailchute check --config {main}"))?;
    super::say(&format!("  mailchute sandbox --client \"trial:$(cat {secret})\" &"))?;
    super::say(&format!("  mailchute run --config {main}"))?;
    super::say(&format!("\nand drop a PDF called INV-000123.pdf into {hot}"))?;
    Ok(())
}

fn service(dir: &Path, main: &Path) -> anyhow::Result<()> {
    write(&dir.join("folders").join("invoices.yaml"), FOLDER)?;
    let changes = [
        ("client_secret: {file: main.secret}", "client_secret: {credential: secrets_main}"),
        ("password: {file: mail.secret}", "password: {credential: secrets_mail}"),
        ("  templates: templates       #", "  # templates: templates     #"),
    ];
    write(main, &with(MAIN, &changes)?)?;
    Config::read(main)?;
    let (main, dir) = (main.display(), dir.display());
    super::say(&format!("{main} is written, to be filled in: accounts, senders, mail server, folders."))?;
    super::say(&format!("The client's secret belongs in {dir}/secrets/main, the mail server's into"))?;
    super::say(&format!("{dir}/secrets/mail: root's, mode 0600. Then, once the folders are there:\n"))?;
    super::say(&format!("  mailchute check --config {main}"))?;
    super::say("  systemctl enable --now mailchute")?;
    Ok(())
}

/// The example with other words in some places.
fn with(example: &str, changes: &[(&str, &str)]) -> anyhow::Result<String> {
    let mut text = example.to_owned();
    for (from, to) in changes {
        anyhow::ensure!(text.contains(from), "the example has no `{from}`");
        text = text.replace(from, to);
    }
    Ok(text)
}

/// Creates a file. An existing one is left alone.
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
