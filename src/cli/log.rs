//! The destination of the log: a terminal, the system's journal, JSON for programs, files.

use std::fmt;
use std::path::PathBuf;

use anyhow::Context as _;
use fs_err as fs;
use tracing::Level;
use tracing::field::{Field, Visit};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::Writer;
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

/// How the daemon logs; `RUST_LOG=debug` logs more.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Log {
    /// The format on standard error
    #[arg(long = "log", value_enum, default_value = "auto", value_name = "FORMAT")]
    format: Format,
    /// Also write the log into files of this directory, a new one each day (UTC); keep nothing else there
    #[arg(long = "log-files", value_name = "DIR")]
    files: Option<PathBuf>,
    /// How many of these files are kept
    #[arg(long = "log-keep", value_name = "N", default_value = "30", requires = "files")]
    keep: usize,
}

impl Log {
    /// The log of a command: only what goes wrong.
    pub(super) fn of_a_command() -> Self {
        Self { format: Format::Text, ..Self::default() }
    }

    /// Logs until the guard is dropped. Anything later is lost.
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
            let layer =
                tracing_subscriber::fmt::layer().fmt_fields(Unrepeated).with_ansi(false).with_writer(writer);
            layers.push(layer.with_filter(wanted(usual)).boxed());
        }
        tracing_subscriber::registry().with(layers).init();
        Ok(guard)
    }

    fn standard_error(&self) -> anyhow::Result<AnyLayer> {
        let text = || {
            let colour = super::is_coloured(&std::io::stderr());
            let layer = tracing_subscriber::fmt::layer().fmt_fields(Unrepeated);
            layer.with_writer(std::io::stderr).with_ansi(colour).boxed()
        };
        let journal = || tracing_journald::layer().map(|layer| layer.with_field_prefix(None).boxed());
        match self.format {
            Format::Json => {
                let layer = tracing_subscriber::fmt::layer().json().flatten_event(true);
                Ok(layer.with_writer(std::io::stderr).boxed())
            }
            Format::Journal => journal().context("the system's journal can't be written to"),
            // If the journal's socket cannot be reached, it is text all the same.
            Format::Auto if is_journal() => Ok(journal().unwrap_or_else(|_| text())),
            Format::Auto | Format::Text => Ok(text()),
        }
    }
}

/// The fields of a line of text: the message, then the fields whose values it does not contain.
struct Unrepeated;

#[derive(Default)]
struct Collected {
    message: String,
    others: Vec<(&'static str, String)>,
}

impl Visit for Collected {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.others.push((name, format!("{value:?}"))),
        }
    }
}

impl<'writer> FormatFields<'writer> for Unrepeated {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut line = Collected::default();
        fields.record(&mut line);
        write_escaped(&mut writer, &line.message)?;
        for (name, value) in &line.others {
            if !line.message.contains(value.trim_matches('"')) {
                write!(writer, " {name}=")?;
                write_escaped(&mut writer, value)?;
            }
        }
        Ok(())
    }
}

/// A name from outside must not begin a line of its own or steer a terminal.
fn write_escaped(writer: &mut Writer<'_>, text: &str) -> fmt::Result {
    for c in text.chars() {
        if c.is_control() { write!(writer, "{}", c.escape_default())? } else { writer.write_char(c)? }
    }
    Ok(())
}

/// Whether systemd made standard error for its journal. The variable alone is inherited by processes with
/// another standard error.
fn is_journal() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    rustix::fs::fstat(std::io::stderr())
        .is_ok_and(|stat| stream == format!("{}:{}", stat.st_dev, stat.st_ino))
}

/// The filter: what was asked for of mailchute itself, but only errors of libraries, because their other
/// lines may contain tokens and addresses.
fn wanted<S: tracing::Subscriber>(usual: &str) -> impl Filter<S> + use<S> {
    let asked = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    let ours = filter::filter_fn(|meta| {
        meta.target().split("::").next() == Some("mailchute") || *meta.level() <= Level::WARN
    });
    filter::FilterExt::and(asked, ours)
}
