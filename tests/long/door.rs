//! Many programs post through a door, repeat what had no answer and some of what had one, and the daemon is killed
//! again and again. `DOOR_LETTERS` and `DOOR_KILLS` set the numbers.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::Value;

use crate::rigs::door::{Caller, Sent, room};
use crate::rigs::mailroom::RULES;
use crate::rigs::running::Daemon;
use crate::rigs::service::pdf;

const CLIENTS: usize = 16;

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// What all programs share.
struct Shared {
    address: Mutex<String>,
    next: AtomicUsize,
    done: AtomicUsize,
    repeated: AtomicUsize,
    unanswered: AtomicUsize,
    ids: Mutex<BTreeSet<String>>,
}

async fn program(shared: Arc<Shared>, caller: Caller, letters: usize) {
    loop {
        let n = shared.next.fetch_add(1, Ordering::Relaxed);
        if n >= letters {
            return;
        }
        let sent = Sent::new(&format!("key-{n}"), "INV-000123.pdf", pdf(1 + n % 3));
        let mut first: Option<Value> = None;
        loop {
            let address = shared.address.lock().unwrap().clone();
            let Some((status, body)) = caller.to(&address).try_post(&sent).await else {
                shared.unanswered.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            };
            if status == 503 || body["state"] == "taken_in" {
                continue;
            }
            assert_eq!(status, 201, "{body}");
            match &first {
                // One of ten is repeated although it was answered.
                None if n.is_multiple_of(10) => {
                    shared.repeated.fetch_add(1, Ordering::Relaxed);
                    first = Some(body);
                }
                None => {
                    first = Some(body);
                    break;
                }
                Some(before) => {
                    assert_eq!(*before, body, "the same answer");
                    break;
                }
            }
        }
        let id = first.unwrap()["id"].as_str().unwrap().to_owned();
        assert!(shared.ids.lock().unwrap().insert(id), "two keys have one letter");
        shared.done.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_key_is_one_letter_whatever_is_killed() {
    let (letters, kills) = (number("DOOR_LETTERS", 10_000), number("DOOR_KILLS", 30));
    let room = room(&format!("duplicates: {{action: allow}}\n{RULES}"), "").await;
    let mut daemon = Daemon::start(&room);
    let caller = Caller::of(&daemon);
    let shared = Arc::new(Shared {
        address: Mutex::new(daemon.address.clone()),
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        repeated: AtomicUsize::new(0),
        unanswered: AtomicUsize::new(0),
        ids: Mutex::default(),
    });
    let begun = Instant::now();
    let programs = (0..CLIENTS).map(|_| tokio::spawn(program(Arc::clone(&shared), caller.clone(), letters)));
    let programs: Vec<_> = programs.collect();
    for kill in 1..=kills {
        while shared.done.load(Ordering::Relaxed) < letters * kill / (kills + 1) {
            assert!(
                programs.iter().all(|program| !program.is_finished()) || letters < 100,
                "a program failed"
            );
            tokio::time::sleep(Duration::from_millis(7)).await;
        }
        drop(daemon);
        daemon = Daemon::start(&room);
        shared.address.lock().unwrap().clone_from(&daemon.address);
    }
    for program in programs {
        program.await.unwrap();
    }
    let took = begun.elapsed();
    let ids = shared.ids.lock().unwrap().clone();
    assert_eq!(ids.len(), letters);
    // Everything is posted once.
    let desk = room.desk();
    let posted = || desk.letters(Some("confirmed"), None, 1_000_000).unwrap().len();
    while posted() < letters {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    drop(daemon);
    assert_eq!(desk.drops(1_000_000).unwrap().len(), letters, "each key is one drop");
    assert_eq!(desk.audit().unwrap().problems, Vec::<String>::new());
    let url = format!("{}/ledger?event=authorized", room.service.welcome.places.control_url);
    let ledger: Value =
        room.service.http.request(Method::GET, url).send().await.unwrap().json().await.unwrap();
    let mails: Vec<&str> =
        ledger["entries"].as_array().unwrap().iter().map(|entry| entry["mail"].as_str().unwrap()).collect();
    let once: BTreeSet<&&str> = mails.iter().collect();
    assert_eq!((mails.len(), once.len()), (letters, letters), "each is authorized once");
    println!(
        "{letters} letters by {CLIENTS} programs, {kills} kills: {:.1} s, {} repeated though answered, {} without an answer",
        took.as_secs_f64(),
        shared.repeated.load(Ordering::Relaxed),
        shared.unanswered.load(Ordering::Relaxed)
    );
}
