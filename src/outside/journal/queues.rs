//! What queues took.

use std::path::Path;

use super::{Cause, chain};
use crate::outside::spool::Ulid;

pub fn taken_by_queue(queue: &str, folder: &str, entry: &Ulid) {
    tracing::info!(queue, folder, %entry, "queue {queue}: {entry} was taken, for folder {folder}");
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
