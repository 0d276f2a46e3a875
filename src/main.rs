//! Arguments in, exit status out.

use std::process::ExitCode;

fn main() -> ExitCode {
    // A child for each few PDFs: it needs nothing of all else.
    if mailchute::pdf::is_child() {
        return mailchute::pdf::answer().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    if mailchute::hot::is_helper() {
        return mailchute::hot::serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    mailchute::api::install_tls();
    mailchute::cli::run()
}
