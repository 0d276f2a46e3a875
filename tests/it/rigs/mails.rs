//! Mails with PDFs, and a room that takes them.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mailchute::config::Way;
use mailchute::daemon::mailbox::WatchedMailbox;
use mailchute::daemon::taking::Taking;
use mailchute::outside::imap::MailLink;

use crate::rigs::imap::MailServer;
use crate::rigs::mailroom::Mailroom;

pub const PROVED: &str = "Authentication-Results: mail.example.jp; dmarc=pass header.from=office.example.jp";
pub const RECEIVED: &str =
    "Received: from client by mail.example.jp with ESMTPS; Thu, 26 Nov 2026 10:00:00 +0900";
pub const TARO: &str = "Taro <taro@office.example.jp>";

/// A part of a mail.
pub fn part(header: &str, bytes: &[u8]) -> String {
    let encoded = STANDARD.encode(bytes);
    let lines: Vec<&str> =
        encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("{header}\nContent-Transfer-Encoding: base64\n\n{}", lines.join("\n"))
}

pub fn attached(name: &str, bytes: &[u8]) -> String {
    part(
        &format!("Content-Type: application/pdf\nContent-Disposition: attachment; filename=\"{name}\""),
        bytes,
    )
}

/// A mail with these lines above its own header, which has the subject as its Message-ID, too.
pub fn mail(above: &[&str], from: &str, subject: &str, parts: &[String]) -> String {
    let above: String = above.iter().flat_map(|line| [*line, "\n"]).collect();
    let parts: String = parts.iter().flat_map(|part| ["--b\n", part, "\n"]).collect();
    format!(
        "{above}From: {from}\nTo: post@example.jp\nSubject: {subject}\nMessage-ID: <{subject}@office.example.jp>\n\
         MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n"
    )
}

/// A mail of somebody who may post, with one PDF.
pub fn usual(subject: &str, bytes: &[u8]) -> String {
    mail(&[PROVED, RECEIVED], TARO, subject, &[attached("INV-000123.pdf", bytes)])
}

/// Writes the queue `post`, whose mailbox is on this server. `more` are more lines of its `imap`.
pub fn queue(room: &Mailroom, server: &MailServer, more: &str) {
    let dir = room.dir.path().join("queues");
    std::fs::create_dir_all(&dir).unwrap();
    let secret = dir.join("post.password");
    std::fs::write(&secret, "secret").unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    let port = server.port;
    let text = format!(
        "into: letters\nimap:\n  host: 127.0.0.1\n  port: {port}\n  tls: none\n  user: post\n  \
         password: {{file: post.password}}\n  authenticated_by: mail.example.jp\n  \
         from: [office.example.jp]\n{more}"
    );
    std::fs::write(dir.join("post.yaml"), text).unwrap();
}

/// What follows the mailbox of the room's queue `post`.
pub async fn mailbox(room: &Mailroom) -> WatchedMailbox {
    let inside = room.inside();
    let queue = room.config().queues.remove(0);
    inside.store.know_queues(vec![(queue.name.clone(), queue.identity().unwrap())]).await.unwrap();
    let Way::Imap(way) = queue.way.clone() else { panic!("{queue:?}") };
    WatchedMailbox::of(Arc::new(Taking::new(inside)), queue, *way).unwrap()
}

/// A room with a folder `letters` and a queue `post`, started, and what follows its mailbox.
pub async fn started(rules: &str, server: &MailServer, more: &str) -> (Mailroom, WatchedMailbox, MailLink) {
    let mut room = Mailroom::closed(rules).await;
    queue(&room, server, more);
    room.start();
    room.settle().await;
    room.settled().await;
    let mailbox = mailbox(&room).await;
    let mut link = mailbox.connect().await.unwrap();
    // From now on, what comes is new.
    mailbox.look(&mut link).await.unwrap();
    (room, mailbox, link)
}

/// Looks until what is there is decided and lies where it belongs.
pub async fn looked(room: &mut Mailroom, mailbox: &WatchedMailbox, link: &mut MailLink) {
    for _ in 0..3 {
        mailbox.look(link).await.unwrap();
        room.settled().await;
    }
    mailbox.look(link).await.unwrap();
}
