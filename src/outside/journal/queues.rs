//! What queues took.

use std::path::Path;

use super::{Cause, chain};
use crate::domain::mailed::MailRefusal;
use crate::outside::spool::Ulid;
use crate::outside::store::MailNumber;

pub fn taken_by_queue(queue: &str, folder: &str, entry: &Ulid) {
    tracing::info!(queue, folder, %entry, "queue {queue}: {entry} was taken, for folder {folder}");
}

pub fn copy_left(entry: &Ulid, error: Cause<'_>) {
    tracing::error!(
        %entry,
        error,
        "a queue's copy {entry} was not taken and can't be removed; it would be taken at the next start: {}",
        chain(error)
    );
}

pub fn not_taken_by_queue(error: Cause<'_>) {
    tracing::error!(error, "a queue can't take anything: {}", chain(error));
}

pub fn door_served(queue: &str, socket: &Path) {
    let socket = socket.display();
    tracing::info!(queue, %socket, "queue {queue} listens on {socket}");
}

pub fn no_door(error: &std::io::Error) {
    tracing::error!(error = error as Cause<'_>, "a queue can't listen, and tries again: {}", chain(error));
}

pub fn queue_closed(queue: &str) {
    tracing::warn!(
        queue,
        "queue {queue} is closed, because keys may be missing from the records: what comes with an unknown key is \
         held. Once its programs know what was posted: `mailchute queue open {queue}`"
    );
}

pub fn no_such_user(queue: &str, user: &str) {
    tracing::warn!(
        queue,
        "queue {queue}: there is no user `{user}` in /etc/passwd, so that it can hand in nothing; install cups, or \
         write the user's number into `users`"
    );
}

pub fn mailbox_works(queue: &str) {
    tracing::info!(queue, "queue {queue}: its mailbox can be used again");
}

pub fn mailbox_away(queue: &str, error: Cause<'_>) {
    tracing::error!(
        error,
        queue,
        "queue {queue}: its mailbox can't be used, and is tried again: {}",
        chain(error)
    );
}

pub fn mail_rejected(queue: &str, number: MailNumber, refusal: &MailRefusal) {
    let MailNumber { uid, .. } = number;
    tracing::warn!(queue, uid, "queue {queue}: mail {uid} was rejected: {}", refusal.word());
}

pub fn mail_unmarked(queue: &str, words: &str) {
    tracing::warn!(
        queue,
        "queue {queue}: a mail was copied to where it belongs, and the mail server does not let us remove it where it \
         was: {words}"
    );
}

pub fn mail_unread(queue: &str, number: MailNumber) {
    let MailNumber { uid, .. } = number;
    tracing::error!(queue, uid, "queue {queue}: the mail server does not give mail {uid}; it is tried again");
}

pub fn mail_obeyed(queue: &str, mail: i64, wish: &str) {
    tracing::info!(queue, mail, "queue {queue}: somebody moved mail {mail} to {wish} it");
}

pub fn mail_not_obeyed(queue: &str, error: Cause<'_>) {
    tracing::warn!(
        error,
        queue,
        "queue {queue}: a letter of a mail can't be approved or cancelled; the mail is moved back: {}",
        chain(error)
    );
}

pub fn mail_unknown(queue: &str, mailbox: &str) {
    tracing::warn!(
        queue,
        "queue {queue}: a mail in `{mailbox}` was never taken, and is left there: move it to the watched mailbox, and it \
         is held as a new one"
    );
}

pub fn mail_not_moved(queue: &str, mailbox: &str, words: &str) {
    tracing::warn!(queue, "queue {queue}: the mail server puts nothing into `{mailbox}`: {words}");
}
