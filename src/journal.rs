//! What the operator reads: one function for each event. Letters have numbers; no names, no addresses.

use crate::clock::Time;
use crate::letter::{Fact, Letter, Number};
use crate::spool::{EntryError, Ulid};
use crate::store::{OwedRow, RecordError, Report};

type Cause<'a> = &'a (dyn std::error::Error + 'static);

pub fn started(version: &str, state: &std::path::Path) {
    tracing::info!(version, state = %state.display(), "mailchute runs");
}

pub fn stopping() {
    tracing::info!("asked to end: what is under way is finished first");
}

pub fn stopped() {
    tracing::info!("mailchute has ended");
}

/// What was found when the records were opened.
pub fn recovered(report: &Report) {
    if let Some(aside) = &report.put_aside {
        tracing::error!(kept = %aside.display(), "the database was damaged; it is made anew from the ledger");
    }
    if let Some(damage) = &report.damage {
        tracing::error!(damage, "the ledger is damaged");
    }
    if report.from_ledger > 0 {
        tracing::warn!(facts = report.from_ledger, "facts were brought over from the ledger");
    }
    if report.from_database > 0 {
        tracing::warn!(facts = report.from_database, "facts were brought over to the ledger");
    }
    if report.dropped > 0 {
        tracing::warn!(
            orders = report.dropped,
            "orders to release or retry are dropped: they may have been carried out"
        );
    }
    if report.wishes_lost {
        tracing::error!(
            "people's open orders and pauses of accounts can't be read any more: look whether one is missing"
        );
    }
    for number in &report.held {
        tracing::error!(
            letter = number.0,
            "held: what happened to it is not certain. It may have been posted: do not send it again"
        );
    }
}

pub fn admitted(number: Number, account_is_known: bool) {
    tracing::info!(letter = number.0, "taken in");
    if !account_is_known {
        tracing::error!(letter = number.0, "its account is not in the configuration, so it waits");
    }
}

/// Letters of an account that is no longer configured.
pub fn account_missing(account: &str, letters: u64) {
    tracing::error!(account, letters, "letters wait for an account that is not in the configuration");
}

pub fn unreadable_entry(entry: &Ulid, error: &EntryError) {
    tracing::error!(%entry, error = error as Cause<'_>, "a spool entry can't be read; it is left where it is");
}

pub fn unreadable_document(number: Number, error: &EntryError) {
    tracing::error!(letter = number.0, error = error as Cause<'_>, "a document can't be read from the spool");
}

pub fn no_bell(error: &std::io::Error) {
    tracing::warn!(
        error = error as Cause<'_>,
        "commands can't wake the daemon; it looks every two seconds instead"
    );
}

/// What has just become durable of a letter.
pub fn recorded(letter: &Letter, facts: &[Fact], trouble: Option<&str>) {
    for fact in facts {
        tracing::info!(letter = letter.number.0, "{fact}");
    }
    if let Some(trouble) = trouble {
        tracing::warn!(letter = letter.number.0, state = letter.state.word(), "{trouble}");
    }
}

pub fn unrecordable(number: Number, error: &RecordError) {
    tracing::error!(
        letter = number.0,
        error = error as Cause<'_>,
        "a change can't be recorded; the letter rests"
    );
}

pub fn account_order(account: &str, command: &str) {
    tracing::info!(account, command, "a person's order for an account");
}

pub fn clock_set_back(by: chrono::TimeDelta) {
    tracing::warn!(
        seconds = by.num_seconds(),
        "the machine's clock was set back; what is due comes earlier by as much"
    );
}

pub fn account_rests(account: &str, until: Time) {
    tracing::warn!(account, %until, "the service does not answer; nothing new is begun until then");
}

pub fn account_unread(account: &str, why: &str) {
    tracing::warn!(account, why, "the account can't be read yet");
}

/// What somebody must be told, until there are e-mails: here.
pub fn owed(row: &OwedRow) {
    tracing::info!(subject = row.subject, notice = row.notice, "to be told");
}
