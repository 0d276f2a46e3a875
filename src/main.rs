//! Arguments in, exit status out.

use std::process::ExitCode;

fn main() -> ExitCode {
    mailchute::api::install_tls();
    mailchute::cli::run()
}
