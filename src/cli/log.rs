//! Where what the journal tells goes: a terminal, the system's journal, JSON for machines, files.

use std::path::PathBuf;

use anyhow::Context as _;
use fs_err as fs;
use tracing::Level;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::layer::{Filter, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry, filter};

type AnyLayer = Box<dyn Layer<Registry> + Send + Sync>;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// The system's journal under systemd, else text
    #[default]
    Auto,
    Text,
    /// One JSON object a line
    Json,
    /// The system's journal, with fields: LETTER=, FOLDER=, MAIL=
    Journal,
}

/// How the daemon tells what it does; `RUST_LOG=debug` tells more.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Log {
    /// In which form it goes to standard error
    #[arg(long = "log", value_enum, default_value = "auto", value_name = "FORMAT")]
    format: Format,
    /// Write it into files of this directory too, a new one each day (UTC); nothing else may be kept there
    #[arg(long = "log-files", value_name = "DIR")]
    files: Option<PathBuf>,
    /// How many of these files are kept
    #[arg(long = "log-keep", value_name = "N", default_value = "30", requires = "files")]
    keep: usize,
}

impl Log {
    /// As a command tells what goes wrong.
    pub(super) fn of_a_command() -> Self {
        Self { format: Format::Text, ..Self::default() }
    }

    /// Until the guard is dropped; what is said after that is lost.
    pub(super) fn begin(&self, usual: &str) -> anyhow::Result<Option<WorkerGuard>> {
        let mut layers = vec![self.standard_error()?.with_filter(wanted(usual)).boxed()];
        let mut guard = None;
        if let Some(dir) = &self.files {
            let unwritable = || format!("no log can be written into {}", dir.display());
            fs::create_dir_all(dir).with_context(unwritable)?;
            let files = RollingFileAppender::builder()
                .rotation(Rotation::DAILY)
                .filename_prefix("mailchute")
                .filename_suffix("log")
                .max_log_files(self.keep.max(1))
                .build(dir)
                .with_context(unwritable)?;
            let (writer, end) = tracing_appender::non_blocking(files);
            guard = Some(end);
            let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
            layers.push(layer.with_filter(wanted(usual)).boxed());
        }
        tracing_subscriber::registry().with(layers).init();
        Ok(guard)
    }

    fn standard_error(&self) -> anyhow::Result<AnyLayer> {
        let text = || {
            let colour = super::is_coloured(&std::io::stderr());
            tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colour).boxed()
        };
        let journal = || tracing_journald::layer().map(|layer| layer.with_field_prefix(None).boxed());
        match self.format {
            Format::Json => {
                let layer = tracing_subscriber::fmt::layer().json().flatten_event(true);
                Ok(layer.with_writer(std::io::stderr).boxed())
            }
            Format::Journal => journal().context("the system's journal can't be written to"),
            // It is text all the same if the journal's socket is out of reach.
            Format::Auto if is_journal() => Ok(journal().unwrap_or_else(|_| text())),
            Format::Auto | Format::Text => Ok(text()),
        }
    }
}

/// Whether standard error is what systemd made for its journal: the variable alone is inherited by whoever
/// was started with an error output of its own.
fn is_journal() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    rustix::fs::fstat(std::io::stderr())
        .is_ok_and(|stat| stream == format!("{}:{}", stat.st_dev, stat.st_ino))
}

/// What is asked for, of mailchute itself; of libraries only what is wrong: they may repeat tokens and
/// addresses in what they tell besides.
fn wanted<S: tracing::Subscriber>(usual: &str) -> impl Filter<S> + use<S> {
    let asked = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    let ours = filter::filter_fn(|meta| {
        meta.target().split("::").next() == Some("mailchute") || *meta.level() <= Level::WARN
    });
    filter::FilterExt::and(asked, ours)
}
