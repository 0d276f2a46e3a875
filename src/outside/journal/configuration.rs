//! What the operator reads about the configuration: which one is in force, and why another is not.

use std::time::Duration;

pub fn reloaded(folders: usize) {
    tracing::info!(folders, "the configuration was read again and is in force: {folders} folders");
}

pub fn looser(what: &[String], after: Duration) {
    let what = what.join("; ");
    let seconds = after.as_secs();
    tracing::warn!(
        what,
        "a saved configuration asks for less than before ({what}); it comes into force when it has been unchanged \
         for {seconds} s, or now with `systemctl reload mailchute`"
    );
}

pub fn restart_needed() {
    tracing::warn!(
        "changes of accounts, network, state, the status address, or queues and their tokens need a restart; until then \
         what was is in force"
    );
}

pub fn configuration_unsettled() {
    tracing::warn!(
        "the files of the configuration keep changing; folders whose rules are being changed take nothing in \
         until they have been unchanged for 3 s"
    );
}

pub fn not_reloaded(problems: &[String]) {
    for problem in problems {
        tracing::error!(problem, "the new configuration is not used, the old one stays in force: {problem}");
    }
}
