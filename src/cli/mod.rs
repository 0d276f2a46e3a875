//! The command line. Exit status: 0 done, 1 failed, 2 wrong arguments, 3 submitted but what should follow failed.

mod account;
mod audit;
mod backup;
mod check;
mod completions;
mod config;
mod demo;
mod doctor;
mod drop_in;
mod explain;
mod init;
mod inspect;
mod list;
mod log;
mod orders;
mod past;
mod pdf;
mod preview;
mod queue;
#[cfg(test)]
mod reference;
mod relocate;
mod report;
mod run;
mod sandbox;
mod schema;
mod show;
mod status;
mod stop;
mod submit;
mod table;
mod templates;
mod unit;
mod wait;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::ConfigError;
use crate::domain::letter::{Command as Order, Number};
use log::Log;

/// Drop a PDF into a folder: it is printed, posted exactly once, and followed until it ships.
#[derive(Debug, Parser)]
#[command(name = "mailchute", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Submit(submit::Arguments),
    List(list::Arguments),
    Show(show::Arguments),
    Status(status::Arguments),
    /// Hold letters that have not been posted yet
    Hold(orders::Arguments),
    /// Release held letters
    Release(orders::Arguments),
    /// Take the next step of letters immediately
    Retry(orders::Arguments),
    /// Withdraw letters; posted ones are called back as long as the service allows it
    Cancel(orders::Arguments),
    Pdf(pdf::Arguments),
    Account(account::Arguments),
    Queue(queue::Arguments),
    Audit(audit::Arguments),
    Backup(backup::Arguments),
    Move(relocate::Arguments),
    Report(report::Arguments),
    Check(check::Arguments),
    Doctor(doctor::Arguments),
    Explain(explain::Arguments),
    Preview(preview::Arguments),
    Inspect(inspect::Arguments),
    Init(init::Arguments),
    Schema(schema::Arguments),
    Templates(templates::Arguments),
    Completions(completions::Completions),
    Man(completions::Man),
    Sandbox(sandbox::Arguments),
    Demo(demo::Arguments),
}

pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    // Kept to the end, so that what must still be written into files is written.
    let _log = match begin_log(&arguments.command) {
        Ok(guard) => guard,
        Err(error) => {
            tell(&error);
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime().and_then(|runtime| {
        let outcome = runtime.block_on(obey(arguments.command));
        // A caller's slow connection must not delay the end.
        runtime.shutdown_background();
        outcome
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_reader_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&error);
            if error.is::<Submitted>() {
                ExitCode::from(3)
            } else if error.is::<WrongWords>() || error.is::<ConfigError>() {
                ExitCode::from(2)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

/// The daemon logs what it does, and the demo shows it in its own way. Commands log only what goes wrong.
fn begin_log(command: &Command) -> anyhow::Result<Option<tracing_appender::non_blocking::WorkerGuard>> {
    if let Command::Run(arguments) = command {
        return arguments.log.begin("info");
    }
    Log::of_a_command().begin(if matches!(command, Command::Demo(_)) { "error" } else { "warn" })
}

async fn obey(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(arguments) => run::run(arguments).await,
        Command::Submit(arguments) => submit::run(arguments).await,
        Command::List(arguments) => list::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Status(arguments) => status::run(&arguments).await,
        Command::Hold(arguments) => orders::letters(arguments, Order::Hold).await,
        Command::Release(arguments) => orders::letters(arguments, Order::Release).await,
        Command::Retry(arguments) => orders::letters(arguments, Order::Retry).await,
        Command::Cancel(arguments) => orders::letters(arguments, Order::Cancel).await,
        Command::Pdf(arguments) => pdf::run(arguments).await,
        Command::Account(arguments) => account::run(arguments).await,
        Command::Queue(arguments) => queue::run(&arguments),
        Command::Audit(arguments) => audit::run(&arguments).await,
        Command::Backup(arguments) => backup::run(&arguments),
        Command::Move(arguments) => relocate::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Check(arguments) => check::run(arguments).await,
        Command::Doctor(arguments) => doctor::run(arguments).await,
        Command::Explain(arguments) => explain::run(arguments).await,
        Command::Preview(arguments) => preview::run(arguments).await,
        Command::Inspect(arguments) => inspect::run(arguments).await,
        Command::Init(arguments) => init::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Templates(arguments) => templates::run(&arguments),
        Command::Completions(arguments) => completions::completions(&arguments),
        Command::Man(arguments) => completions::man(&arguments),
        Command::Sandbox(arguments) => sandbox::run(arguments).await,
        Command::Demo(arguments) => demo::run(arguments).await,
    }
}

fn read_number(text: &str) -> Result<Number, String> {
    let digits = text.trim_start_matches('#');
    digits.parse().map(Number).map_err(|_| "a letter's number, such as 17".to_owned())
}

/// Arguments that clap accepts and mailchute does not.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct WrongWords(String);

/// The context of what fails after something was submitted.
#[derive(Debug, thiserror::Error)]
#[error("it was submitted: do not submit it again")]
struct Submitted;

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// The whole chain of causes, once, on one line.
fn tell(error: &anyhow::Error) {
    use std::io::Write as _;
    let text = match error.downcast_ref::<ConfigError>() {
        Some(wrong) => wrong.render(is_coloured(&std::io::stderr())),
        None => format!("mailchute: {error:#}"),
    };
    // Without a standard error nobody can be told.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes one line to standard output and flushes it, because a program may wait for it at the end of a pipe.
fn say(line: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    written.map_err(|error| {
        let is_gone = error.kind() == std::io::ErrorKind::BrokenPipe;
        if is_gone { std::io::Error::new(error.kind(), ReaderIsGone) } else { error }
    })
}

/// Whoever reads standard output has enough, as `head` has after ten lines.
#[derive(Debug, thiserror::Error)]
#[error("nobody reads standard output any more")]
struct ReaderIsGone;

fn is_reader_gone(error: &anyhow::Error) -> bool {
    let io = |cause: &(dyn std::error::Error + 'static)| {
        let inner = cause.downcast_ref::<std::io::Error>()?.get_ref()?;
        inner.downcast_ref::<ReaderIsGone>().map(drop)
    };
    error.chain().any(|cause| io(cause).is_some())
}

/// Writes one line to standard error, if anybody reads it.
fn warn(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "mailchute: {line}");
}

/// Whether colours are wanted and visible there.
fn is_coloured(out: &impl std::io::IsTerminal) -> bool {
    out.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
}
