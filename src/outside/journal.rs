//! What the operator reads: one function for each event. Letters have numbers; there are no names or
//! addresses.

mod configuration;
mod emails;
mod folders;
mod queues;
mod records;

pub use configuration::{configuration_unsettled, looser, not_reloaded, reloaded, restart_needed};
pub use emails::{
    hook_gone, hook_later, hook_not_this, hook_refused, hook_taken, mail_later, mail_refused, mail_sent,
    mail_server_away, mail_server_works, mail_taken_out, mail_unmade, owed,
};
pub use folders::{
    folder_away, folder_back, folder_copied, folder_enabled, folder_left_out, folder_of_others,
    folder_renamed,
};

pub use queues::*;
pub use records::{discarded, names_not_followed, not_discarded};

use std::path::Path;
use std::time::Duration;

use crate::base::clock::Time;
use crate::domain::address::PostalData;
use crate::domain::drop::{Undecided, showable};
use crate::domain::letter::{Fact, Letter, Number};
use crate::outside::spool::{EntryError, Ulid};
use crate::outside::store::{RecordError, Report};

type Cause<'a> = &'a (dyn std::error::Error + 'static);

/// An error with its causes, on one line. `journalctl` shows only the message of a line, so the message contains
/// what the fields say.
fn chain(error: Cause<'_>) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.dedup();
    texts.join(": ")
}

pub fn started(version: &str, state: &std::path::Path) {
    tracing::info!(version, state = %state.display(), "started: version {version}, state {}", state.display());
}

pub fn status_served(address: std::net::SocketAddr) {
    tracing::info!(%address, "status page listening on {address}");
}

/// The status cannot be served; everything else continues.
pub fn no_status(error: &std::io::Error) {
    tracing::warn!(error = error as Cause<'_>, "the status is not served: {}", chain(error));
}

pub fn status_unknown(error: &crate::outside::store::StoreError) {
    tracing::error!(
        error = error as Cause<'_>,
        "the status can't be read from the records: {}",
        chain(error)
    );
}

/// The watchdog is no longer notified.
pub fn stuck(what: &str, for_long: Duration) {
    let seconds = for_long.as_secs();
    tracing::error!(
        what,
        "{what} stalled for {seconds} s; if it does not continue, the service manager restarts mailchute"
    );
}

/// Everything is watched, and each account has answered or is known not to.
pub fn ready() {
    tracing::info!("ready");
}

/// The last lives ended by themselves, soon after they began.
pub fn short_lives(wait: Duration) {
    let seconds = wait.as_secs();
    tracing::warn!(
        wait = seconds,
        "the last three lives were short: waiting for {seconds} s before this one begins"
    );
}

pub fn stopping() {
    tracing::info!("stopping: calls under way are finished first");
}

pub fn stopped() {
    tracing::info!("stopped");
}

/// What was found when the records were opened.
pub fn recovered(report: &Report) {
    if let Some(aside) = &report.put_aside {
        let kept = aside.display();
        tracing::error!(%kept, "the database was damaged and is made anew from the ledger; the old one is {kept}");
    }
    if report.bound {
        tracing::info!(
            "the records are bound to this directory: a copy of them is refused; `mailchute move` moves them"
        );
    }
    if let Some(damage) = &report.damage {
        tracing::error!(damage, "the ledger is damaged: {damage}");
    }
    if report.from_ledger > 0 {
        let facts = report.from_ledger;
        tracing::warn!(facts, "{facts} facts were brought over from the ledger to the database");
    }
    if report.from_database > 0 {
        let facts = report.from_database;
        tracing::warn!(facts, "{facts} facts were brought over from the database to the ledger");
    }
    if report.dropped > 0 {
        let orders = report.dropped;
        tracing::warn!(
            orders,
            "{orders} commands to release or retry were dropped, because they may have been carried out"
        );
    }
    if report.commands_lost {
        tracing::error!(
            "people's open commands and pauses of accounts can't be read any more: check whether one is missing"
        );
    }
    for number in &report.held {
        tracing::error!(
            letter = number.0,
            "letter {number} is held as uncertain: it may have been posted, so do not send it again"
        );
    }
}

pub fn admitted(number: Number, account_is_known: bool) {
    tracing::info!(letter = number.0, "letter {number} was taken in");
    if !account_is_known {
        tracing::error!(letter = number.0, "letter {number} waits: its account is not in the configuration");
    }
}

/// Letters of an account that is no longer configured.
pub fn account_missing(account: &str, letters: u64) {
    tracing::error!(
        account,
        letters,
        "{letters} letters wait for account {account}, which is not in the configuration"
    );
}

pub fn unreadable_entry(entry: &Ulid, error: &EntryError) {
    tracing::error!(
        %entry,
        error = error as Cause<'_>,
        "spool entry {entry} can't be read and is left where it is: {}",
        chain(error)
    );
}

pub fn unreadable_document(number: Number, error: &EntryError) {
    tracing::error!(
        letter = number.0,
        error = error as Cause<'_>,
        "letter {number}: a document can't be read from the spool: {}",
        chain(error)
    );
}

pub fn no_bell(error: &std::io::Error) {
    tracing::warn!(
        error = error as Cause<'_>,
        "commands can't wake the daemon, which looks every 2 s instead: {}",
        chain(error)
    );
}

/// What has just become durable of a letter.
pub fn recorded(letter: &Letter, facts: &[Fact], trouble: Option<&str>) {
    for fact in facts {
        let (number, folder) = (letter.number, &letter.order.source);
        tracing::info!(letter = number.0, folder, mail = fact.mail(), "letter {number} ({folder}): {fact}");
    }
    if let Some(trouble) = trouble {
        let (number, state) = (letter.number, letter.state.word());
        tracing::warn!(letter = number.0, state, "letter {number} ({state}): {trouble}");
    }
}

pub fn unrecordable(number: Number, error: &RecordError) {
    tracing::error!(
        letter = number.0,
        error = error as Cause<'_>,
        "letter {number} rests for an hour, because a change can't be recorded: {}",
        chain(error)
    );
}

pub fn account_order(account: &str, command: &str) {
    tracing::info!(account, command, "account {account}: a person ordered `{command}`");
}

pub fn retention_waits() {
    tracing::warn!("the machine's clock was set; nothing is removed for an hour from now on");
}

pub fn marker_from_the_future(folder: &str) {
    tracing::warn!(
        folder,
        "folder {folder} was marked by a clock that was ahead; it is marked anew, and what lies in it now is held"
    );
}

pub fn clock_set_back(by: chrono::TimeDelta) {
    let seconds = by.num_seconds();
    tracing::warn!(
        seconds,
        "the machine's clock was set back by {seconds} s; everything due is brought forward by as much"
    );
}

/// The service does not answer. Said once for each silence, whatever the number of rests.
pub fn account_rests(account: &str, until: Time, why: &str) {
    tracing::warn!(
        account,
        %until,
        why,
        "account {account}: the service does not answer ({why}); nothing new is begun, it is tried again from {until} on"
    );
}

pub fn account_answers(account: &str) {
    tracing::info!(account, "account {account}: the service answers again");
}

/// A pause was probed, and its cause lasts.
pub fn probe_failed(account: &str, why: &str, again: Option<Time>) {
    let again = again.map(|time| format!("; probed again at {time}")).unwrap_or_default();
    tracing::warn!(account, why, "account {account} is still paused, the probe showed: {why}{again}");
}

/// A drop that is not a letter. Its name is in the folder, not here.
pub fn not_taken(folder: &str, drop: &Ulid, undecided: &Undecided) {
    match undecided {
        Undecided::Refused(refusal) => {
            let why = refusal.word();
            tracing::warn!(folder, %drop, why, "drop {drop} in folder {folder} is rejected: {why}");
        }
        Undecided::Waits(waiting) => {
            let why = waiting.word();
            tracing::warn!(folder, %drop, why, "drop {drop} in folder {folder} is held: {why}");
        }
        Undecided::Accepted { .. } => {
            tracing::info!(folder, %drop, "drop {drop} in folder {folder} was accepted by a person");
        }
        Undecided::Cancelled => {
            tracing::info!(folder, %drop, "drop {drop} in folder {folder} was cancelled by a person");
        }
    }
}

pub fn not_claimed(folder: &str, error: Cause<'_>) {
    tracing::error!(
        folder,
        error,
        "folder {folder}: a drop can't be taken in and is tried again: {}",
        chain(error)
    );
}

/// Its worker failed, or its folder was renamed at that moment.
pub fn claim_found_again(folder: &str, claim: &Ulid) {
    let claim = claim.as_str();
    tracing::warn!(
        folder,
        claim,
        "folder {folder}: claim {claim} is taken up again; nobody was working on it"
    );
}

pub fn no_right_to_claim(folder: &str, drop: &str) {
    let drop = showable(drop);
    tracing::error!(
        folder,
        drop,
        "folder {folder}: {drop} can't be moved, so it is not posted: mailchute's user needs write permission in \
         the folder and, if the drop is a directory, in that too; it is tried again each minute"
    );
}

pub fn drop_panicked() {
    tracing::error!(
        "taking in a drop ended in a panic, a defect of mailchute; its claim is tried again within ten minutes"
    );
}

pub fn not_obeyed(folder: &str, file: &str, error: &std::io::Error) {
    let file = showable(file);
    tracing::error!(
        folder,
        file,
        error = error as Cause<'_>,
        "folder {folder}: {file} in Approve or Cancel can't be processed and is tried again: {}",
        chain(error)
    );
}

pub fn said_in_folder(letter: Number, command: &str) {
    tracing::info!(letter = letter.0, command, "letter {letter}: a person ordered `{command}` with its file");
}

pub fn book_read(folder: &str, receivers: usize, mistakes: usize) {
    if mistakes > 0 {
        tracing::warn!(
            folder,
            receivers,
            mistakes,
            "folder {folder}: {mistakes} rows of the address book have mistakes, {receivers} receivers are used; \
             see `mailchute check`"
        );
    } else {
        tracing::info!(
            folder,
            receivers,
            "folder {folder}: the address book was read, {receivers} receivers"
        );
    }
}

pub fn book_broken(folder: &str, why: &str) {
    tracing::error!(
        folder,
        why,
        "folder {folder}: the address book can't be used ({why}); letters that need it are held"
    );
}

/// Japan Post's list of postal codes was read, or could not be.
pub fn postal_data(file: &Path, good: Option<&PostalData>, trouble: Option<&str>) {
    let file = file.display();
    let in_force = good.map_or_else(
        || "the one built in is asked, and another city is only a note".to_owned(),
        |data| format!("that of {} stays in force", data.as_of()),
    );
    match (good, trouble) {
        (_, Some(why)) => {
            tracing::error!(%file, why, "the list of postal codes {file} can't be used: {why}; {in_force}");
        }
        (Some(data), None) => {
            let (as_of, codes) = (data.as_of(), data.codes());
            tracing::info!(%file, %as_of, codes, "the list of postal codes of {as_of} is in force: {codes} codes");
        }
        (None, None) => {}
    }
}

pub fn no_picture(letter: Number, error: &std::io::Error) {
    tracing::warn!(%letter, %error, "letter {letter}: no picture of it can be made: {error}; look at `page_font`");
}

pub fn not_shelved(folder: &str, drop: &Ulid, why: &str) {
    tracing::warn!(folder, %drop, why, "folder {folder}: the original of {drop} can't be moved ({why}); it is tried again");
}

pub fn original_gone(folder: &str, drop: &Ulid) {
    tracing::info!(folder, %drop, "folder {folder}: the original of {drop} was taken away by a person; its letter continues");
}

pub fn sealed(letter: Number, same: bool) {
    if same {
        tracing::info!(letter = letter.0, "letter {letter}: the sealed PDF is what was uploaded");
    } else {
        tracing::error!(letter = letter.0, "letter {letter}: the sealed PDF is NOT what was uploaded");
    }
}

pub fn not_sealed(letter: Number, why: &str, again: bool) {
    let then = if again { "it is tried again" } else { "it is not tried again" };
    tracing::warn!(
        letter = letter.0,
        why,
        again,
        "letter {letter}: the sealed PDF can't be fetched ({why}); {then}"
    );
}

pub fn no_schedule(error: Cause<'_>) {
    tracing::warn!(error, "the schedule can't run, so configured times may be 30 s late: {}", chain(error));
}
