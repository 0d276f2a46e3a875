//! What a queue takes, and the process that is gone after any step: one letter for each key.

use std::collections::BTreeMap;
use std::time::Duration;

use mailchute::domain::incoming::{Enclosed, Incoming, LAYING, QueueStep, TAKING, content_of};
use mailchute::outside::hot::{Hot, Keeper};
use mailchute::outside::spool::{Spool, Ulid, sha256_of};
use mailchute::outside::store::Store;
use serde_json::json;

use crate::rigs::door::{Caller, Sent, posted, queue, receiver, usual};
use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::running::Daemon;
use crate::rigs::service::pdf;

const TOKEN: &str = crate::rigs::door::TOKEN;

async fn closed() -> Mailroom {
    let room = Mailroom::of_today(RULES).await;
    room.add_to_main("status: {listen: '127.0.0.1:0'}\n");
    queue(&room, "erp", TOKEN, "");
    room
}

fn incoming(bytes: &[u8]) -> Incoming {
    let document =
        Enclosed { name: "INV-000123.pdf".to_owned(), size: bytes.len() as u64, sha256: sha256_of(bytes) };
    let documents = vec![document];
    Incoming {
        queue: "erp".to_owned(),
        key: sha256_of(b"k"),
        content: content_of(&documents, None),
        folder: "letters".to_owned(),
        name: "INV-000123.pdf".to_owned(),
        owner: None,
        look: None,
        mailed: None,
        documents,
        sidecar: None,
    }
}

/// The process takes the steps up to this one, the last one only by half if `is_half`, and is gone.
async fn gone_after(room: &Mailroom, ulid: &Ulid, last: QueueStep, is_half: bool) {
    let (store, _) = Store::open(&room.config().state, room.clock.now(), false).unwrap();
    let spool = Spool::open(&store.home().spool()).unwrap();
    let (bytes, hot) = (pdf(2), Hot::open(&room.hot(), true, &Keeper::default()).unwrap());
    let incoming = incoming(&bytes);
    for step in TAKING.into_iter().chain(LAYING) {
        let is_half = is_half && step == last;
        match step {
            // They are whole or not at all.
            QueueStep::Record | QueueStep::Mark | QueueStep::Remove if is_half => {}
            QueueStep::Keep => {
                let mut draft = spool.begin_incoming(ulid).unwrap();
                draft.add(&bytes).unwrap();
                if is_half {
                    std::mem::forget(draft);
                } else {
                    draft.keep(&incoming).unwrap();
                }
            }
            QueueStep::Record => {
                assert!(store.take_incoming(ulid.clone(), incoming.clone(), room.clock.now()).await.unwrap());
            }
            QueueStep::Lay => {
                hot.lay(ulid.as_str(), true, None, b"INV-000123.pdf", &bytes).unwrap();
                if !is_half {
                    hot.end_lay(ulid.as_str()).unwrap();
                }
            }
            QueueStep::Mark => store.mark_incoming(ulid.clone()).await.unwrap(),
            QueueStep::Remove => spool.remove_incoming(ulid).unwrap(),
        }
        if step == last {
            break;
        }
    }
    store.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_crash_at_any_step_a_repeated_request_has_one_letter() {
    for step in TAKING.into_iter().chain(LAYING) {
        for is_half in [true, false] {
            let mut room = closed().await;
            room.start();
            room.settle().await;
            room.stop();
            let ulid = Ulid::new(room.clock.now()).unwrap();
            gone_after(&room, &ulid, step, is_half).await;
            room.start();
            room.settle().await;
            room.settled().await;
            let caller = Caller::of_room(&room).await;
            let sent = Sent::new("k", "INV-000123.pdf", pdf(2));
            let (status, body) = posted(&mut room, &caller, &sent).await;
            assert_eq!(status, 201, "{step:?} {is_half}: {body}");
            // Without its name in the spool it was never taken, so the request takes it.
            let is_taken = (step, is_half) != (QueueStep::Keep, true);
            assert_eq!(body["id"] == ulid.as_str(), is_taken, "{step:?} {is_half}");
            room.settled().await;
            assert_eq!(room.row_states(), ["confirmed"], "{step:?} {is_half}");
            assert_eq!(std::fs::read_dir(room.dir.path().join("state/spool/incoming")).unwrap().count(), 0);
            assert_eq!(std::fs::read_dir(room.path(".mailchute/laying")).unwrap().count(), 0);
            room.check().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_while_the_folder_is_away_is_laid_when_it_is_back() {
    let mut room = closed().await;
    room.start();
    room.settle().await;
    let caller = Caller::of_room(&room).await;
    let elsewhere = room.dir.path().join("elsewhere");
    std::fs::rename(room.hot(), &elsewhere).unwrap();
    room.pass(61).await;
    let sent = Sent::new("k", "INV-000123.pdf", pdf(2));
    let (status, body) = posted(&mut room, &caller, &sent).await;
    assert_eq!((status, &body["state"]), (202, &json!("taken_in")), "{body}");
    std::fs::rename(&elsewhere, room.hot()).unwrap();
    for _turn in 0..3 {
        room.pass(6).await;
    }
    let (status, again) = posted(&mut room, &caller, &sent).await;
    assert_eq!((status, &again["id"]), (201, &body["id"]), "{again}");
    assert_eq!(room.row_states().len(), 1);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sidecar_in_the_folder_is_not_for_what_a_queue_took() {
    let mut room = closed().await;
    room.start();
    room.settle().await;
    let caller = Caller::of_room(&room).await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR.replace("佐藤", "別人")).unwrap();
    let sent = Sent::new("k", "side.pdf", pdf(1)).to(&receiver());
    let (status, body) = posted(&mut room, &caller, &sent).await;
    assert_eq!(status, 201, "{body}");
    room.settled().await;
    let desk = room.desk();
    let letter =
        desk.letter(desk.number_of(body["id"].as_str().unwrap()).unwrap().unwrap()).unwrap().unwrap();
    assert_eq!(letter.order.receiver.address.name, "佐藤 花子");
    assert!(room.path("side.pdf.yaml").exists());
    // Nor is a PDF of that name in the folder for what the queue sent.
    room.drop("side.pdf", 2);
    room.settled().await;
    assert_eq!(room.row_states().len(), 2);
}

/// Programs repeat what had no answer, and the daemon is killed again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_under_way_each_key_is_one_letter() {
    const LETTERS: usize = 30;
    let room = usual().await;
    let mut daemon = Daemon::start(&room);
    let caller = Caller::of(&daemon);
    let mut address = caller.address.clone();
    let mut answers: BTreeMap<usize, String> = BTreeMap::new();
    let mut n = 0;
    while answers.len() < LETTERS {
        let open: Vec<usize> = (0..LETTERS).filter(|n| !answers.contains_key(n)).take(6).collect();
        let posts = open.into_iter().map(|n| {
            let caller = caller.to(&address);
            let sent = Sent::new(&format!("key-{n}"), "INV-000123.pdf", pdf(1 + n % 7));
            tokio::spawn(async move { (n, caller.try_post(&sent).await) })
        });
        let posts: Vec<_> = posts.collect();
        n += 1;
        if n % 2 == 1 && n < 12 {
            tokio::time::sleep(Duration::from_millis(15 * n)).await;
            drop(daemon);
            daemon = Daemon::start(&room);
            address.clone_from(&daemon.address);
        }
        for post in posts {
            if let (n, Some((status, body))) = post.await.unwrap() {
                assert!(status == 201 || status == 202 || status == 503, "{status} {body}");
                if status == 201 || body["state"] == "held" {
                    answers.insert(n, body["id"].as_str().unwrap().to_owned());
                }
            }
        }
    }
    let ids: std::collections::BTreeSet<&String> = answers.values().collect();
    assert_eq!(ids.len(), LETTERS);
    let desk = room.desk();
    assert_eq!(desk.drops(1000).unwrap().len(), LETTERS, "each key is one drop");
    assert!(desk.audit().unwrap().problems.is_empty());
}
