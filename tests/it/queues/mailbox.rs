//! Letters by mail, over a real IMAP conversation with a server on loopback.

use std::collections::BTreeMap;

use mailchute::outside::imap::MailTrouble;

use crate::rigs::imap::{ALL, Can, Cut, MailServer, NOTHING};
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::mails::{PROVED, RECEIVED, TARO, attached, looked, mail, mailbox, queue, started, usual};
use crate::rigs::postbox::{Postbox, Security};
use crate::rigs::service::pdf;

const HELD: &str = "mailchute/Held";
const SENT: &str = "mailchute/Sent";
const REJECTED: &str = "mailchute/Rejected";
const CANCELLED: &str = "mailchute/Cancelled";
const APPROVE: &str = "mailchute/Approve";
const CANCEL: &str = "mailchute/Cancel";

const SERVERS: [Can; 3] = [ALL, NOTHING, Can { idle: false, move_mails: false, uidplus: true }];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_is_a_letter_and_lies_where_its_letter_does() {
    for can in SERVERS {
        let server = MailServer::open(can).await;
        let (mut room, mailbox, mut link) = started(RULES, &server, "").await;
        server.deliver(&usual("one", &pdf(2)));
        mailbox.look(&mut link).await.unwrap();
        assert_eq!(server.place(), "INBOX", "it is not decided yet");
        looked(&mut room, &mailbox, &mut link).await;
        assert_eq!(
            (server.place().as_str(), room.row_states()),
            (SENT, vec!["confirmed".to_owned()]),
            "{can:?}"
        );
        looked(&mut room, &mailbox, &mut link).await;
        assert_eq!((server.place().as_str(), room.row_states().len()), (SENT, 1));
        room.check().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wherever_the_connection_breaks_a_mail_is_one_letter() {
    for can in [ALL, NOTHING] {
        let mut cut = 0;
        loop {
            for after in [false, true] {
                let server = MailServer::open(can).await;
                let (mut room, mailbox, mut link) = started(RULES, &server, "").await;
                server.deliver(&usual("one", &pdf(2)));
                server.cut(Cut { command: cut, after });
                for _ in 0..4 {
                    match mailbox.look(&mut link).await {
                        Ok(()) => {}
                        Err(_) => link = mailbox.connect().await.unwrap(),
                    }
                    room.settled().await;
                }
                mailbox.look(&mut link).await.unwrap();
                assert_eq!(room.row_states(), ["confirmed"], "{can:?} {cut} {after} {:?}", server.commands());
                let lies = server.lies();
                assert!(
                    lies.len() == 1 && lies.contains_key(SENT),
                    "{can:?} {cut} {after} {lies:?} {:?}",
                    server.commands()
                );
                // A copy whose answer was lost is there twice. It is one entry all the same.
                let copies = server.lies()[SENT].len();
                assert!(copies == 1 || (copies == 2 && !can.move_mails), "{can:?} {cut} {after}: {copies}");
                if cut >= server.commands().len() {
                    break;
                }
            }
            cut += 1;
            // By then the mail lies where it belongs.
            if cut == 24 {
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_between_two_looks_loses_and_doubles_nothing() {
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox_before, mut link) = started(RULES, &server, "").await;
    server.deliver(&usual("one", &pdf(2)));
    // Its letter is taken, and not decided.
    mailbox_before.look(&mut link).await.unwrap();
    drop((mailbox_before, link));
    room.crash().await;
    room.start();
    let again = mailbox(&room).await;
    let mut link = again.connect().await.unwrap();
    looked(&mut room, &again, &mut link).await;
    looked(&mut room, &again, &mut link).await;
    assert_eq!((room.row_states(), server.place().as_str()), (vec!["confirmed".to_owned()], SENT));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_there_before_is_held_also_when_numbers_begin_again() {
    let server = MailServer::open(ALL).await;
    server.deliver(&usual("old", &pdf(1)));
    let (mut room, mailbox, mut link) = started(RULES, &server, "").await;
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states().len()), (HELD, 0));
    assert_eq!(room.why("INV-000123.pdf"), "it was in the mailbox before");
    server.person_moves(HELD, CANCEL);
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!(server.place(), CANCELLED);

    server.deliver(&usual("new", &pdf(2)));
    server.renumber("INBOX");
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!(server.lies()[HELD], ["new"]);
    server.deliver(&usual("newer", &pdf(3)));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[SENT].clone(), room.row_states().len()), (vec!["newer".to_owned()], 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_that_comes_again_is_held_unless_it_was_rejected() {
    let rules = format!("duplicates: {{action: allow}}\n{RULES}");
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(&rules, &server, "").await;
    server.deliver(&usual("one", &pdf(2)));
    looked(&mut room, &mailbox, &mut link).await;
    server.person_moves(SENT, "INBOX");
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states().len()), (HELD, 1), "the same mail");
    // To cancel it does not cancel the letter that the mail was before.
    server.person_moves(HELD, CANCEL);
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states()), (CANCELLED, vec!["confirmed".to_owned()]));
    // Another mail with the same document, of the same sender.
    server.deliver(&usual("two", &pdf(2)));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[HELD].len(), room.row_states().len()), (1, 1));
    // The same document of another sender is a letter.
    let other = "Hanako <hanako@office.example.jp>";
    server.deliver(&mail(&[PROVED, RECEIVED], other, "three", &[attached("INV-000123.pdf", &pdf(2))]));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[SENT].clone(), room.row_states().len()), (vec!["three".to_owned()], 2));
    // After 30 days it is another letter.
    room.pass(31 * 24 * 3600).await;
    server.deliver(&usual("four", &pdf(2)));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!(room.row_states().len(), 3);
    // What no rule takes is rejected, and may be sent again.
    server.deliver(&mail(&[PROVED, RECEIVED], TARO, "five", &[attached("unknown.pdf", &pdf(4))]));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!(server.lies()[REJECTED], ["five"]);
    server.person_moves(REJECTED, "INBOX");
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[REJECTED].len(), server.lies()[HELD].len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_document_twice_in_a_mail_is_one_letter_and_one_that_waits() {
    let rules = format!("duplicates: {{action: allow}}\n{RULES}");
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(&rules, &server, "").await;
    let pdfs = [("123", 1), ("456", 1), ("123", 2)]
        .map(|(number, pages)| attached(&format!("INV-000{number}.pdf"), &pdf(pages)));
    server.deliver(&mail(&[PROVED, RECEIVED], TARO, "both", &pdfs));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states()), (HELD, vec!["confirmed".to_owned(); 2]));
    server.person_moves(HELD, APPROVE);
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states()), (SENT, vec!["confirmed".to_owned(); 3]));
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moving_a_mail_approves_or_cancels_all_its_letters() {
    let rules = format!("release: approval\n{RULES}");
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(&rules, &server, "").await;
    let two = [attached("INV-000123.pdf", &pdf(1)), attached("INV-000456.pdf", &pdf(2))];
    server.deliver(&mail(&[PROVED, RECEIVED], TARO, "both", &two));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states()), (HELD, vec!["held".to_owned(); 2]));
    server.person_moves(HELD, APPROVE);
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states()), (SENT, vec!["confirmed".to_owned(); 2]));
    server.person_moves(SENT, CANCEL);
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states()), (CANCELLED, vec!["cancelled".to_owned(); 2]));
    // What was never taken stays there, and is nobody's approval.
    server.deliver(&usual("strange", &pdf(5)));
    server.person_moves("INBOX", APPROVE);
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[APPROVE].len(), room.row_states().len()), (1, 2));
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_that_comes_before_the_letter_is_not_lost() {
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(RULES, &server, "").await;
    server.deliver(&usual("early", &pdf(1)));
    mailbox.look(&mut link).await.unwrap();
    server.person_moves("INBOX", CANCEL);
    mailbox.look(&mut link).await.unwrap();
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states()), (CANCELLED, vec!["cancelled".to_owned()]));
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_whose_sender_is_not_proved_waits() {
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(RULES, &server, "").await;
    let document = |n: usize| [attached("INV-000123.pdf", &pdf(n))];
    let evil = "Authentication-Results: mx.evil.example; dmarc=pass header.from=office.example.jp";
    let received = "Received: from a by mail.example.jp; now";
    for (n, (above, from)) in [
        (vec![RECEIVED, PROVED], TARO),
        (vec![PROVED], TARO),
        (vec![PROVED, PROVED, RECEIVED], TARO),
        (vec![PROVED, RECEIVED, PROVED], TARO),
        (vec![evil, RECEIVED], TARO),
        (vec![RECEIVED, PROVED, received], TARO),
        (vec![PROVED, RECEIVED], "taro@office.example.jp, x@evil.example"),
        (vec![PROVED, RECEIVED, "From: x@evil.example"], TARO),
    ]
    .into_iter()
    .enumerate()
    {
        server.deliver(&mail(&above, from, &format!("m{n}"), &document(n + 1)));
    }
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[HELD].len(), room.row_states().len()), (8, 0), "{:?}", server.lies());
    // A second `From` that hides from readers of mails hides nothing.
    server.deliver(&mail(&[PROVED, RECEIVED, "From : x@office.example.jp"], TARO, "hidden", &document(19)));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[REJECTED].clone(), room.row_states().len()), (vec!["hidden".to_owned()], 0));
    // Who is not named in `from` posts nothing, proved or not.
    let stranger = "Authentication-Results: mail.example.jp; dmarc=pass header.from=evil.example";
    server.deliver(&mail(&[stranger, RECEIVED], "office.example.jp <x@evil.example>", "x", &document(20)));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!(server.lies()[REJECTED], ["hidden", "x"]);
    server.deliver(&usual("good", &pdf(8)));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[SENT].clone(), room.row_states().len()), (vec!["good".to_owned()], 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_proved_person_is_answered_once_each_time_and_loops_cannot_begin() {
    let post = Postbox::open(Security::Starttls).await;
    let server = MailServer::open(ALL).await;
    let mut room = Mailroom::closed(RULES).await;
    room.add_to_main(&post.config(room.dir.path(), "starttls", ""));
    queue(&room, &server, "");
    room.start();
    room.settled().await;
    let mailbox = mailbox(&room).await;
    let mut link = mailbox.connect().await.unwrap();
    mailbox.look(&mut link).await.unwrap();
    server.deliver(&usual("one", &pdf(1)));
    looked(&mut room, &mailbox, &mut link).await;
    looked(&mut room, &mailbox, &mut link).await;
    room.pass(60).await;
    let taro = "taro@office.example.jp";
    let got = post.got().into_iter().find(|got| got.to == taro).unwrap();
    let raw = got.raw.replace("\r\n ", " ");
    assert!(
        raw.contains("In-Reply-To: <one@office.example.jp>") && raw.contains("Auto-Submitted: auto-replied")
    );
    assert!(!raw.contains("山田") && !got.text.contains("山田"), "{raw}");
    assert_eq!(post.subjects(taro).len(), 1);
    // No PDF: the sender hears why.
    server.deliver(&mail(&[PROVED, RECEIVED], TARO, "two", &[]));
    looked(&mut room, &mailbox, &mut link).await;
    room.pass(60).await;
    assert_eq!(post.subjects(taro).len(), 2);
    let before = post.subjects(taro);
    // Nobody answers programs, lists, bounces, itself, or whoever is not proved.
    for (n, line) in [
        "Auto-Submitted: auto-replied",
        "Auto-Submitted: auto-generated",
        "Precedence: bulk",
        "List-Id: <all.office.example.jp>",
        "Return-Path: <>",
        "X-Auto-Response-Suppress: All",
    ]
    .into_iter()
    .enumerate()
    {
        server.deliver(&mail(&[PROVED, RECEIVED, line], TARO, &format!("auto{n}"), &[]));
    }
    server.deliver(&mail(&[PROVED, RECEIVED], "no-reply@office.example.jp", "nobody", &[]));
    server.deliver(&mail(&[RECEIVED], TARO, "unproved", &[]));
    server.deliver(&got.raw);
    looked(&mut room, &mailbox, &mut link).await;
    room.pass(60).await;
    assert_eq!(post.subjects(taro), before);
    assert_eq!(post.subjects("no-reply@office.example.jp"), Vec::<String>::new());
    assert_eq!(post.subjects("mailchute@files.example.jp"), Vec::<String>::new());
    // Operators hear of those, in one e-mail.
    room.pass(3600).await;
    assert_eq!(post.subjects("admin@example.jp").len(), 1, "{:?}", post.subjects("admin@example.jp"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subject_and_an_address_choose_the_rule() {
    let rules = RULES.replace(
        "rules:\n",
        "rules:\n  - {name: by subject, when: {subject: '速達'}, receiver: {book: '000456'}, shipping: {method: normal, options: [express]}}\n",
    );
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(&rules, &server, "").await;
    server.deliver(&usual("=?utf-8?B?6YCf6YGU?=", &pdf(1)));
    server.deliver(&usual("plain", &pdf(2)));
    room.drop("INV-000123.pdf", 3);
    looked(&mut room, &mailbox, &mut link).await;
    let letters = room.desk().letters(None, None, 10).unwrap();
    let receivers: BTreeMap<u32, String> = letters
        .iter()
        .map(|row| {
            let letter = room.desk().letter(row.letter).unwrap().unwrap();
            (letter.order.documents[0].pages, letter.order.receiver.address.name.clone())
        })
        .collect();
    let wanted = [(1, "株式会社見本"), (2, "山田 太郎"), (3, "山田 太郎")];
    assert_eq!(receivers, wanted.into_iter().map(|(pages, name)| (pages, name.to_owned())).collect());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_addresses_that_name_two_receivers_name_none() {
    let rules = RULES.replace(
        "rules:\n",
        "rules:\n  - {name: by address, when: {to: 'post\\+(?<customer>\\d{6})@'}, receiver: {book: '{customer}'}, shipping: {method: normal}}\n",
    );
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(&rules, &server, "").await;
    let [one, other] = ["post+000123@example.jp", "post+000456@example.jp"];
    for (subject, to) in [("two", format!("Cc: {one}, {other}")), ("one", format!("Cc: {one}, {one}"))] {
        server.deliver(&mail(&[PROVED, RECEIVED, &to], TARO, subject, &[attached("a.pdf", &pdf(1))]));
        looked(&mut room, &mailbox, &mut link).await;
    }
    assert_eq!(server.lies()[REJECTED], ["two"]);
    assert_eq!(room.row_states(), ["confirmed"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_mailbox_and_a_wrong_password_cost_only_time() {
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(RULES, &server, "").await;
    server.full(Some(SENT));
    server.deliver(&usual("one", &pdf(1)));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states()), ("INBOX", vec!["confirmed".to_owned()]));
    // It holds up no mail that goes elsewhere.
    server.deliver(&mail(&[PROVED, RECEIVED], TARO, "two", &[]));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()["INBOX"].len(), server.lies()[REJECTED].clone()), (1, vec!["two".to_owned()]));
    server.full(None);
    mailbox.look(&mut link).await.unwrap();
    assert_eq!(server.lies()[SENT], ["one"]);
    // The password is wrong, and the words of the server are not repeated where mails may stand.
    std::fs::write(room.dir.path().join("queues/post.password"), "other").unwrap();
    let other = crate::rigs::mails::mailbox(&room).await;
    let refused = other.connect().await.unwrap_err().to_string();
    assert!(refused.starts_with(&MailTrouble::Login(String::new()).to_string()), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_that_somebody_takes_away_changes_nothing() {
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(RULES, &server, "").await;
    server.deliver(&usual("one", &pdf(1)));
    mailbox.look(&mut link).await.unwrap();
    server.person_moves("INBOX", "Elsewhere");
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.place().as_str(), room.row_states()), ("Elsewhere", vec!["confirmed".to_owned()]));
    room.check().await;
}
