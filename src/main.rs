//! Arguments in, exit status out.

use std::path::PathBuf;
use std::process::ExitCode;

use mailchute::config::PRINTERS;

fn main() -> ExitCode {
    // A child process that reads a PDF or a mail needs nothing else.
    let work = mailchute::outside::pdf::work_of_child().or_else(mailchute::outside::imap::work_of_child);
    if let Some(work) = work {
        return work().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    if mailchute::outside::hot::is_helper() {
        return mailchute::outside::hot::serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    if mailchute::outside::printing::is_backend() {
        let named = std::env::var_os("MAILCHUTE_PRINTERS");
        return mailchute::outside::printing::print(&named.map_or(PRINTERS.into(), PathBuf::from));
    }
    mailchute::outside::api::install_tls();
    mailchute::cli::run()
}
