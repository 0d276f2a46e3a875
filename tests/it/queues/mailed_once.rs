//! A mail is taken once, whatever it is interrupted by and wherever it lies.

use crate::rigs::imap::{ALL, MailServer, NOTHING};
use crate::rigs::journal;
use crate::rigs::mailroom::RULES;
use crate::rigs::mails::{PROVED, RECEIVED, TARO, attached, looked, mail, mailbox, started, usual};
use crate::rigs::service::pdf;

const HELD: &str = "mailchute/Held";
const SENT: &str = "mailchute/Sent";
const APPROVE: &str = "mailchute/Approve";
const CANCEL: &str = "mailchute/Cancel";
const CANCELLED: &str = "mailchute/Cancelled";

const PDFS: usize = 8;

/// A mail with many PDFs.
fn many() -> String {
    let pdfs: Vec<String> = (1..=PDFS).map(|pages| attached("INV-000123.pdf", &pdf(pages))).collect();
    mail(&[PROVED, RECEIVED], TARO, "many", &pdfs)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_that_is_interrupted_between_two_pdfs_posts_each_once() {
    let rules = format!("duplicates: {{action: allow}}\n{RULES}");
    for is_moved in [false, true] {
        let server = MailServer::open(ALL).await;
        let (mut room, mailbox, mut link) = started(&rules, &server, "").await;
        server.deliver(&many());
        let taken = || room.desk().queues().unwrap().iter().map(|queue| queue.taken).sum::<u64>();
        let some_are_taken = async {
            while taken() == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = some_are_taken => {}
            looked = mailbox.look(&mut link) => panic!("it was not interrupted: {looked:?}"),
        }
        drop(link);
        let mut link = mailbox.connect().await.unwrap();
        if is_moved {
            // It has another number then.
            server.person_moves("INBOX", "Elsewhere");
            server.person_moves("Elsewhere", "INBOX");
        }
        let before = usize::try_from(taken()).unwrap();
        looked(&mut room, &mailbox, &mut link).await;
        looked(&mut room, &mailbox, &mut link).await;
        let posted = if is_moved { before } else { PDFS };
        assert_eq!(room.row_states(), vec!["confirmed".to_owned(); posted], "moved: {is_moved}");
        assert_eq!(server.place(), if is_moved { HELD } else { SENT });
        room.check().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_that_is_gone_before_any_of_it_is_taken_is_held_when_it_comes() {
    // On a busy machine a look may be over before anybody could interrupt it. Then it is tried with another mail.
    for attempt in 0.. {
        let server = MailServer::open(ALL).await;
        let (mut room, mailbox, mut link) = started(RULES, &server, "").await;
        server.deliver(&usual("one", &pdf(1)));
        let store = room.inside().store;
        let id = room.config().queues[0].identity().unwrap();
        let is_recorded = async {
            while store.open_mails(&id).unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        let is_interrupted = tokio::select! {
            biased;
            () = is_recorded => true,
            looked = mailbox.look(&mut link) => {
                looked.unwrap();
                false
            }
        };
        let taken: u64 = room.desk().queues().unwrap().iter().map(|queue| queue.taken).sum();
        if !is_interrupted || taken > 0 {
            assert!(attempt < 50, "none was interrupted");
            continue;
        }
        let mut link = mailbox.connect().await.unwrap();
        server.person_moves("INBOX", "Elsewhere");
        mailbox.look(&mut link).await.unwrap();
        server.person_moves("Elsewhere", "INBOX");
        looked(&mut room, &mailbox, &mut link).await;
        // The spool may have had a letter of it that the records did not.
        assert_eq!((server.place().as_str(), room.row_states().len()), (HELD, 0));
        return;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_copies_of_a_mail_give_one_order() {
    let rules = format!("release: approval\n{RULES}");
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(&rules, &server, "").await;
    server.deliver(&usual("one", &pdf(1)));
    looked(&mut room, &mailbox, &mut link).await;
    server.person_moves(HELD, APPROVE);
    server.twin(APPROVE);
    journal::keep();
    mailbox.look(&mut link).await.unwrap();
    let (id, store) = (room.config().queues[0].identity().unwrap(), room.inside().store);
    let visits = || store.open_mails(&id).unwrap()[0].visit.clone().unwrap();
    let last = visits();
    assert!(last.ends_with(" 2"), "the later of the two is recorded: {last}");
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[SENT].len(), visits()), (2, last));
    assert_eq!(journal::written().matches("somebody moved mail").count(), 1);
    assert_eq!(room.row_states(), ["confirmed"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_leaves_what_belongs_to_an_equal_mail() {
    let rules = format!("duplicates: {{action: allow}}\n{RULES}");
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(&rules, &server, "").await;
    for _ in 0..2 {
        server.deliver(&usual("one", &pdf(1)));
        looked(&mut room, &mailbox, &mut link).await;
    }
    server.deliver(&usual("one", &pdf(1)));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[SENT].len(), server.lies()[HELD].len()), (1, 2));
    // One of the two that are held is approved in the folder.
    let held = std::fs::read_dir(room.path("Held")).unwrap().map(|entry| entry.unwrap().path());
    let held = held.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "pdf")).unwrap();
    std::fs::rename(&held, room.path("Approve").join(held.file_name().unwrap())).unwrap();
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[SENT].len(), server.lies()[HELD].len()), (2, 1), "{:?}", room.row_states());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_in_two_watched_mailboxes_at_once_is_posted_once() {
    let rules = format!("duplicates: {{action: allow}}\n{RULES}");
    let servers = [MailServer::open(ALL).await, MailServer::open(ALL).await];
    let (mut room, first, mut first_link) = started(&rules, &servers[0], "").await;
    let (path, port) = (room.dir.path().join("queues"), |n: usize| servers[n].port.to_string());
    let text = std::fs::read_to_string(path.join("post.yaml")).unwrap();
    // The same mailbox under another name of its machine is another one.
    let text = text.replace("127.0.0.1", "localhost").replace(&port(0), &port(1));
    std::fs::write(path.join("post.yaml"), text).unwrap();
    let second = mailbox(&room).await;
    let mut second_link = second.connect().await.unwrap();
    second.look(&mut second_link).await.unwrap();
    for server in &servers {
        server.deliver(&usual("one", &pdf(1)));
    }
    let (one, other) = tokio::join!(first.look(&mut first_link), second.look(&mut second_link));
    one.and(other).unwrap();
    looked(&mut room, &first, &mut first_link).await;
    looked(&mut room, &second, &mut second_link).await;
    let mut places = servers.map(|server| server.place());
    places.sort();
    assert_eq!((places, room.row_states()), ([HELD.into(), SENT.into()], vec!["confirmed".to_owned()]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_equal_mails_the_one_that_was_moved_is_meant() {
    let server = MailServer::open(ALL).await;
    let (mut room, mailbox, mut link) = started(RULES, &server, "").await;
    server.deliver(&usual("one", &pdf(1)));
    looked(&mut room, &mailbox, &mut link).await;
    server.deliver(&usual("one", &pdf(1)));
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[SENT].len(), server.lies()[HELD].len()), (1, 1));
    server.person_moves(SENT, CANCEL);
    looked(&mut room, &mailbox, &mut link).await;
    assert_eq!((server.lies()[CANCELLED].len(), server.lies()[HELD].len()), (1, 1), "{:?}", server.lies());
    assert_eq!(room.row_states(), ["cancelled"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_lets_nothing_be_removed_has_one_copy() {
    let server = MailServer::open(NOTHING).await;
    let (mut room, mailbox, mut link) = started(RULES, &server, "").await;
    server.keep_all();
    server.deliver(&usual("one", &pdf(1)));
    for _ in 0..3 {
        looked(&mut room, &mailbox, &mut link).await;
    }
    assert_eq!((server.lies()["INBOX"].len(), server.lies()[SENT].len()), (1, 1));
    server.person_moves(SENT, CANCEL);
    for _ in 0..3 {
        looked(&mut room, &mailbox, &mut link).await;
    }
    assert_eq!((server.lies()[CANCELLED].len(), room.row_states()), (1, vec!["cancelled".to_owned()]));
}
