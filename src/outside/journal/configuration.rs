//! What the operator reads of the configuration: what is in force, and why something is not.

use std::time::Duration;

pub fn reloaded(folders: usize) {
    tracing::info!(folders, "the configuration was read again and is in force");
}

pub fn looser(what: &[String], after: Duration) {
    let what = what.join("; ");
    let seconds = after.as_secs();
    tracing::warn!(
        what,
        "a saved configuration asks for less than before; it comes into force when it has been unchanged for \
         {seconds} s, or with `systemctl reload mailchute` now"
    );
}

pub fn restart_needed() {
    tracing::warn!("what changed of accounts, network or state is in force after a restart");
}

pub fn configuration_unsettled() {
    tracing::warn!(
        "the files of the configuration keep changing; folders whose rules are being changed take nothing in \
         until they have been unchanged for 3 s"
    );
}

pub fn not_reloaded(problems: &[String]) {
    for problem in problems {
        tracing::error!(problem, "the new configuration is not used; the old one stays in force");
    }
}
