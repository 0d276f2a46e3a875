//! Arguments in, exit status out.

use std::process::ExitCode;

fn main() -> ExitCode {
    // A child process that counts pages needs nothing else.
    if let Some(work) = mailchute::outside::pdf::work_of_child() {
        return work().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    if mailchute::outside::hot::is_helper() {
        return mailchute::outside::hot::serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    mailchute::outside::api::install_tls();
    mailchute::cli::run()
}
