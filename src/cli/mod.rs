//! The command line. Exit status: 0 done, 1 could not, 2 wrong words.

mod demo;
mod sandbox;
mod stop;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Drop a PDF into a folder: it is printed, posted exactly once, and followed until it ships.
#[derive(Debug, Parser)]
#[command(name = "mailchute", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Sandbox(sandbox::Arguments),
    Demo(demo::Arguments),
}

pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    journal();
    let outcome = runtime().and_then(|runtime| {
        let outcome = match arguments.command {
            Command::Sandbox(arguments) => runtime.block_on(sandbox::run(arguments)),
            Command::Demo(arguments) => runtime.block_on(demo::run(arguments)),
        };
        // Whatever still hangs on a caller's slow connection must not hold up the end.
        runtime.shutdown_background();
        outcome
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&error);
            if error.is::<WrongWords>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

/// Arguments that clap accepts and mailchute does not.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct WrongWords(String);

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// The whole chain of causes, once, in one line.
fn tell(error: &anyhow::Error) {
    use std::io::Write as _;
    // Without a standard error there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "mailchute: {error:#}");
}

/// One line on standard output, out at once: someone may be waiting for it at the end of a pipe.
fn say(line: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn journal() {
    use std::io::IsTerminal as _;
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let colour =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour).init();
}
