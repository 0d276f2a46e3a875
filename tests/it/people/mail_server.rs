//! What is wrong with a mail server is said in words of its own, with a remedy.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use mailchute::config::{Smtp, TlsStart};
use mailchute::loops::outbox::reach;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::mails::{room_with, ship};
use crate::letters::certificates::{Authority, Shown, shows};
use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::postbox::{Mood, Postbox, Security};

fn server(address: SocketAddr, tls: TlsStart, ca: &Path) -> Smtp {
    let (host, port) = ("localhost".to_owned(), address.port());
    Smtp { host, port, tls: Some(tls), login: None, ca: Some(ca.to_owned()), hello: None }
}

/// A server that shows a certificate, and what is said of it.
async fn shown(shown: Shown) -> String {
    let ours = Authority::new();
    let dir = tempfile::tempdir().unwrap();
    let ca = dir.path().join("ca.pem");
    std::fs::write(&ca, &ours.pem).unwrap();
    let tls = shows(shown, &ours);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((line, _)) = listener.accept().await {
            drop(tls.accept(line).await);
        }
    });
    reach(&server(address, TlsStart::AtOnce, &ca)).await.unwrap_err()
}

#[tokio::test]
async fn each_trouble_of_a_certificate_has_its_own_words() {
    for (certificate, words) in [
        (Shown::Expired, "its certificate has expired"),
        (Shown::OtherName, "its certificate is for another name"),
        (Shown::SelfSigned, "its certificate is self-signed, or signed by an authority that is not trusted"),
        (
            Shown::OtherAuthority,
            "its certificate is self-signed, or signed by an authority that is not trusted",
        ),
    ] {
        let said = shown(certificate).await;
        assert!(said.contains(words), "{certificate:?}: {said}");
    }
}

#[tokio::test]
async fn each_trouble_of_a_connection_has_its_own_words() {
    let postbox = Postbox::open(Security::NoTls).await;
    let dir = tempfile::tempdir().unwrap();
    let ca = dir.path().join("ca.pem");
    std::fs::write(&ca, &postbox.ca).unwrap();
    let said = async |address, tls| reach(&server(address, tls, &ca)).await.unwrap_err();
    let starttls = TlsStart::BeforeAnythingIsSaid;
    let no_starttls = said(postbox.address, starttls).await;
    assert!(no_starttls.contains("it does not offer STARTTLS"), "{no_starttls}");
    let no_tls = said(postbox.address, TlsStart::AtOnce).await;
    assert!(no_tls.contains("it does not begin with TLS"), "{no_tls}");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = listener.local_addr().unwrap();
    drop(listener);
    let refused = said(gone, starttls).await;
    assert!(refused.contains("it refuses the connection"), "{refused}");
    let unknown = Smtp { host: "mail.invalid".to_owned(), ..server(gone, starttls, &ca) };
    let unknown = reach(&unknown).await.unwrap_err();
    assert!(unknown.contains("its name is unknown"), "{unknown}");
}

#[tokio::test]
async fn a_port_that_expects_tls_first_is_told_within_ten_seconds() {
    let postbox = Postbox::open(Security::Implicit).await;
    let dir = tempfile::tempdir().unwrap();
    let ca = dir.path().join("ca.pem");
    std::fs::write(&ca, &postbox.ca).unwrap();
    let begun = Instant::now();
    let said = reach(&server(postbox.address, TlsStart::BeforeAnythingIsSaid, &ca)).await.unwrap_err();
    assert!(said.contains("write `tls: implicit`"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    // One that hangs up without a word.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut line, _)) = listener.accept().await {
            drop(line.shutdown().await);
        }
    });
    let said = reach(&server(address, TlsStart::BeforeAnythingIsSaid, &ca)).await.unwrap_err();
    assert!(said.contains("it closes the connection"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_installations_never_give_one_message_id_to_different_mails() {
    let mut all = Vec::new();
    for _installation in 0..2 {
        let (mut room, postbox) = room_with(Security::Starttls, RULES, "").await;
        room.drop("INV-000123.pdf", 1);
        room.drop("broken.pdf", 1);
        std::fs::write(room.path("broken.pdf"), "no PDF").unwrap();
        room.settled().await;
        ship(&mut room).await;
        let ids: Vec<String> = postbox.got().into_iter().map(|got| got.id).collect();
        assert!(ids.len() >= 3, "{ids:?}");
        all.extend(ids);
    }
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count, "{all:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_against_one_recipient_is_told_to_operators_and_stops_nobody_elses_mail() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "  together: 0s\n").await;
    room.drop("x.pdf", 1);
    room.settled().await;
    postbox.refuse("keiri@example.jp", "550 5.7.1 <keiri@example.jp>: not from you");
    ship(&mut room).await;
    assert!(postbox.subjects("keiri@example.jp").is_empty());
    assert_eq!(postbox.subjects("soumu@example.jp").len(), 1, "the other one has it");
    assert_eq!(postbox.subjects("admin@example.jp"), ["[mailchute] The mail server refuses a recipient"]);
    assert_eq!(room.desk().alarms().unwrap(), [], "the server works");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_against_all_is_an_alarm_until_a_mail_goes_through() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "  together: 0s\n").await;
    room.drop("x.pdf", 1);
    room.settled().await;
    postbox.always(Mood::Recipient("550 5.7.1 relaying denied"));
    ship(&mut room).await;
    let shown = |room: &Mailroom| {
        let alarms = room.desk().alarms().unwrap().into_iter().filter(|raised| raised.fine_since.is_none());
        alarms.map(|raised| format!("{}: {}", raised.alarm, raised.detail)).collect::<Vec<_>>()
    };
    assert_eq!(shown(&room), ["mail: 550 5.7.1"], "status, page, metrics and health show it");
    assert_eq!(postbox.got(), [], "nothing is given up");
    // It stays one alarm over a restart, and ends with the first mail. Nobody is mailed about it.
    room.pass(1200).await;
    room.stop();
    room.start();
    postbox.take_again();
    for _ in 0..3 {
        room.pass(3600).await;
    }
    assert_eq!(shown(&room), [""; 0]);
    assert_eq!(postbox.subjects("keiri@example.jp").len(), 1);
    assert_eq!(postbox.subjects("soumu@example.jp").len(), 1);
    assert!(postbox.subjects("admin@example.jp").is_empty());
}

/// An alarm does not wait until a slow server has taken everything else.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_server_does_not_keep_an_alarm_from_the_operators() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    let (people, admin) = ("keiri@example.jp", "admin@example.jp");
    let everybody: Vec<String> = (0..20).map(|n| format!("p{n}@example.jp")).collect();
    let rules = room.dir.path().join("folders/letters.yaml");
    let text = std::fs::read_to_string(&rules).unwrap();
    let rejected = format!("rejected: [{people}, {}]", everybody.join(", "));
    std::fs::write(&rules, text.replace("rejected: [keiri@example.jp]", &rejected)).unwrap();
    room.reload();
    std::fs::write(room.path("broken.pdf"), "no PDF").unwrap();
    for _ in 0..3 {
        room.clock.move_by(TimeDelta::seconds(40)).unwrap();
        room.turn(Loop::Intake).await;
    }
    room.turn(Loop::Mails).await;
    room.clock.move_by(TimeDelta::seconds(40)).unwrap();
    postbox.takes(&room.clock, 4);
    let next = room.turn(Loop::Mails).await;
    assert_eq!(postbox.got().len(), 3, "a round ends after ten seconds");
    assert!(next.is_some_and(|next| next <= room.clock.now()), "{next:?}");
    room.outbox().configuration(Some("a mistake".to_owned())).await.unwrap();
    while postbox.got().len() < 22 {
        room.turn(Loop::Mails).await;
    }
    let told = postbox.got().iter().position(|mail| mail.to == admin).unwrap();
    assert!(told < 21, "the alarm was mailed as number {told}");
    assert_eq!(postbox.subjects(people).len(), 1);
}
