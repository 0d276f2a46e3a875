//! What the operator reads: one function for each event. Letters have numbers; no names, no addresses.

mod configuration;
mod folders;

pub use configuration::{configuration_unsettled, looser, not_reloaded, reloaded, restart_needed};
pub use folders::{
    folder_away, folder_back, folder_copied, folder_enabled, folder_left_out, folder_of_others,
    folder_renamed,
};

use crate::base::clock::Time;
use crate::domain::drop::Undecided;
use crate::domain::letter::{Fact, Letter, Number};
use crate::outside::spool::{EntryError, Ulid};
use crate::outside::store::{News, OwedRow, RecordError, Report};

type Cause<'a> = &'a (dyn std::error::Error + 'static);

pub fn started(version: &str, state: &std::path::Path) {
    tracing::info!(version, state = %state.display(), "mailchute runs");
}

pub fn status_served(address: std::net::SocketAddr) {
    tracing::info!(%address, "tells how things stand");
}

/// It can't be asked how things stand; everything else goes on.
pub fn no_status(error: &std::io::Error) {
    tracing::warn!(error = error as Cause<'_>, "nobody can ask the daemon how things stand");
}

pub fn status_unknown(error: &crate::outside::store::StoreError) {
    tracing::error!(error = error as Cause<'_>, "how things stand can't be read");
}

/// The watchdog is no longer fed.
pub fn stuck(what: &str) {
    tracing::error!(what, "hangs; if it does not go on, the service manager starts mailchute again");
}

/// Everything is watched, and each account has answered or is known not to.
pub fn ready() {
    tracing::info!("ready");
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
    if report.bound {
        tracing::info!(
            "the records are bound to this directory: a copy of them is refused; `mailchute move` moves them"
        );
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
        tracing::info!(letter = letter.number.0, folder = letter.order.source, mail = fact.mail(), "{fact}");
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

pub fn retention_waits() {
    tracing::warn!("the machine's clock was set; nothing is removed until it has gone on for an hour");
}

pub fn marker_from_the_future(folder: &str) {
    tracing::warn!(
        folder,
        "the folder was marked by a clock that was ahead; it is marked anew, and what lies in it now is held"
    );
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

/// What somebody must be told, and how many get a mail of it.
pub fn owed(row: &OwedRow, people: usize) {
    // Of whom a mail server does not want to know is said to operators, not here.
    let is_person = matches!(row.news(), Some(News::Unwanted { .. }));
    let subject = if is_person { "a recipient" } else { row.subject.as_str() };
    tracing::info!(subject, notice = row.notice, people, "to be told");
}

pub fn mail_sent(email: i64, kind: &str) {
    tracing::info!(email, kind, "a mail was sent");
}

pub fn mail_later(email: i64, code: &str) {
    tracing::warn!(email, code, "a mail is not taken now; it is sent again");
}

pub fn mail_refused(email: i64, code: &str) {
    tracing::error!(email, code, "a mail is refused for good; operators are told");
}

pub fn mail_unmade(email: i64, why: &str) {
    tracing::error!(email, why, "a mail can't be made; it is tried again");
}

pub fn mail_server_away(why: &str) {
    tracing::error!(why, "no mail can be sent at present; what is owed is kept and sent later");
}

pub fn mail_server_works() {
    tracing::info!("mails are sent again");
}

/// A folder is watched for the first time, or is back.
/// A drop that is no letter; what it is called stands in the folder, not here.
pub fn not_taken(folder: &str, drop: &Ulid, undecided: &Undecided) {
    match undecided {
        Undecided::Refused(refusal) => tracing::warn!(folder, %drop, why = refusal.word(), "rejected"),
        Undecided::Waits(waiting) => tracing::warn!(folder, %drop, why = waiting.word(), "held"),
        Undecided::Accepted { .. } => tracing::info!(folder, %drop, "taken as it is, by a person"),
        Undecided::Cancelled => tracing::info!(folder, %drop, "cancelled by a person"),
    }
}

pub fn not_claimed(folder: &str, error: Cause<'_>) {
    tracing::error!(folder, error, "a drop can't be taken in; it is tried again");
}

pub fn no_right_to_claim(folder: &str, drop: &str) {
    tracing::error!(
        folder,
        drop,
        "a drop can't be moved, so it is not posted: mailchute's user needs the right to write in the folder \
         and, if the drop is a directory, in that too; it is tried again from time to time"
    );
}

pub fn drop_panicked() {
    tracing::error!("taking in a drop ended in a panic; its claim is taken up at the next start");
}

pub fn not_obeyed(folder: &str, file: &str, error: &std::io::Error) {
    tracing::error!(
        folder,
        file,
        error = error as Cause<'_>,
        "what was moved by hand can't be taken up; it is tried again"
    );
}

pub fn said_in_folder(letter: Number, command: &str) {
    tracing::info!(letter = letter.0, command, "a person's order, by moving its original");
}

pub fn book_read(folder: &str, receivers: usize, mistakes: usize) {
    if mistakes > 0 {
        tracing::warn!(
            folder,
            receivers,
            mistakes,
            "rows of the address book have mistakes: see `mailchute check`"
        );
    } else {
        tracing::info!(folder, receivers, "the address book was read");
    }
}

pub fn book_broken(folder: &str, why: &str) {
    tracing::error!(folder, why, "the address book can't be used; letters that need it are held");
}

pub fn not_shelved(folder: &str, drop: &Ulid, why: &str) {
    tracing::warn!(folder, %drop, why, "an original can't be put where it belongs; it is tried again");
}

pub fn original_gone(folder: &str, drop: &Ulid) {
    tracing::info!(folder, %drop, "an original was taken away by a person; its letter goes its way");
}

pub fn sealed(letter: Number, same: bool) {
    if same {
        tracing::info!(letter = letter.0, "the sealed PDF is what was uploaded");
    } else {
        tracing::error!(letter = letter.0, "the sealed PDF is NOT what was uploaded");
    }
}

pub fn not_sealed(letter: Number, why: &str, again: bool) {
    tracing::warn!(letter = letter.0, why, again, "the sealed PDF can't be fetched");
}

/// What has been kept as long as it was to be kept.
pub fn discarded(letter: Number, what: &str) {
    tracing::info!(letter = letter.0, what, "removed: it was kept as long as it was to be kept");
}

pub fn not_discarded(folder: &str, why: &str) {
    tracing::warn!(folder, why, "what was kept long enough can't be removed; it is tried again");
}

pub fn no_schedule(error: Cause<'_>) {
    tracing::warn!(error, "what is due at configured times may come half a minute late");
}
