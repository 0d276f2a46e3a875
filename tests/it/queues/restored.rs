//! Queues whose records were lost, restored, moved or renamed.

use serde_json::{Value, json};

use crate::rigs::door::{Caller, OTHER_TOKEN, Sent, TOKEN, posted, queue};
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

async fn open() -> Mailroom {
    let mut room = Mailroom::closed(RULES).await;
    room.add_to_main("status: {listen: '127.0.0.1:0'}\n");
    queue(&room, "erp", TOKEN, "");
    room.start();
    room.settle().await;
    room.settled().await;
    room
}

/// A room in which a letter was posted with the key `a`, and the answer; its daemon has ended.
async fn posted_and_ended() -> (Mailroom, Value) {
    let mut room = open().await;
    let caller = Caller::of_room(&room).await;
    let (_, answer) = posted(&mut room, &caller, &sent("a")).await;
    room.settled().await;
    drop(caller);
    room.crash().await;
    (room, answer)
}

fn sent(key: &str) -> Sent {
    Sent::new(key, "x.pdf", pdf(key.len()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_restore_only_what_the_records_know_is_answered_and_the_rest_is_held() {
    let mut room = open().await;
    let caller = Caller::of_room(&room).await;
    let (status, before) = posted(&mut room, &caller, &sent("a")).await;
    assert_eq!(status, 201);
    drop(caller);
    room.crash().await;
    let (state, backup) = (room.dir.path().join("state"), room.dir.path().join("backup"));
    copy(&state, &backup);
    room.start();
    room.settle().await;
    let caller = Caller::of_room(&room).await;
    assert_eq!(posted(&mut room, &caller, &sent("bb")).await.0, 201);
    room.settled().await;
    drop(caller);
    room.crash().await;
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::rename(&backup, &state).unwrap();
    room.start_with(true);
    room.settle().await;
    let caller = Caller::of_room(&room).await;
    assert_eq!(posted(&mut room, &caller, &sent("a")).await, (201, before), "a known key");
    let (status, held) = posted(&mut room, &caller, &sent("bb")).await;
    let why = json!("it may have been posted before the records were lost");
    assert_eq!((status, &held["state"], &held["reason"]), (202, &json!("held"), &why), "{held}");
    assert_eq!(posted(&mut room, &caller, &sent("bb")).await, (202, held));
    room.settled().await;
    let note = room.note("Held/x.txt");
    assert!(note.contains("`erp`") && note.contains("posted already"), "{note}");
    // It is so at the next start too, until somebody says what is known.
    drop(caller);
    room.crash().await;
    room.start();
    room.settle().await;
    let caller = Caller::of_room(&room).await;
    assert_eq!(posted(&mut room, &caller, &sent("ccc")).await.0, 202);
    assert!(!room.desk().queues().unwrap()[0].open);
    let config = room.dir.path().join("mailchute.yaml");
    let status = mailchute(&["status", "--config", config.to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8(status.stdout).unwrap();
    assert!(text.contains("queue erp: CLOSED") && text.contains("mailchute queue open erp"), "{text}");
    assert!(room.desk().open_queue("erp").unwrap());
    let (status, body) = posted(&mut room, &caller, &sent("dddd")).await;
    assert_eq!(status, 201, "{body}");
    // A person has looked: the held one may go.
    room.settled().await;
    std::fs::rename(room.path("Held/x.pdf"), room.path("Approve/x.pdf")).unwrap();
    room.settled().await;
    room.settled().await;
    assert_eq!(
        room.row_states().iter().filter(|state| *state == "confirmed").count(),
        3,
        "{:?}",
        room.row_states()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_made_anew_knows_the_keys_of_letters() {
    let (mut room, before) = posted_and_ended().await;
    for name in ["mailchute.db", "mailchute.db-wal", "mailchute.db-shm"] {
        let _ = std::fs::remove_file(room.dir.path().join("state").join(name));
    }
    room.start();
    room.settle().await;
    room.settled().await;
    let caller = Caller::of_room(&room).await;
    let (status, again) = posted(&mut room, &caller, &sent("a")).await;
    assert_eq!((status, &again["id"]), (201, &before["id"]), "{again}");
    assert_eq!(room.row_states().len(), 1);
    // What was no letter is in no ledger.
    let (status, body) = posted(&mut room, &caller, &sent("bb")).await;
    assert_eq!((status, &body["state"]), (202, &json!("held")), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_or_a_folder_that_is_renamed_keeps_its_keys() {
    let (mut room, before) = posted_and_ended().await;
    let dir = room.dir.path().to_owned();
    std::fs::remove_file(dir.join("queues/erp.yaml")).unwrap();
    queue(&room, "billing", TOKEN, "");
    std::fs::rename(dir.join("folders/letters.yaml"), dir.join("folders/bills.yaml")).unwrap();
    let text = std::fs::read_to_string(dir.join("queues/billing.yaml")).unwrap();
    std::fs::write(dir.join("queues/billing.yaml"), text.replace("into: letters", "into: bills")).unwrap();
    room.start();
    room.settle().await;
    let caller = Caller::of_room(&room).await;
    assert_eq!(posted(&mut room, &caller, &sent("a")).await, (201, before));
    // Another program that gets the old name has keys of its own.
    queue(&room, "erp", OTHER_TOKEN, "");
    let erp = std::fs::read_to_string(dir.join("queues/erp.yaml")).unwrap();
    std::fs::write(dir.join("queues/erp.yaml"), erp.replace("into: letters", "into: bills")).unwrap();
    drop(caller);
    room.crash().await;
    room.start();
    room.settle().await;
    let caller = Caller::of_room(&room).await.with(OTHER_TOKEN);
    let (status, body) = posted(&mut room, &caller, &Sent::new("a", "INV-000456.pdf", pdf(2))).await;
    assert_eq!((status, room.row_states().len()), (201, 2), "{body}");
}

/// Whoever has the token has the keys and the letters, whatever name the queue has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_another_queue_takes_over_has_not_its_letters() {
    let mut room = open().await;
    queue(&room, "crm", OTHER_TOKEN, "");
    room.crash().await;
    room.start();
    room.settle().await;
    room.settled().await;
    let caller = Caller::of_room(&room).await;
    let (status, erp) = posted(&mut room, &caller, &sent("a")).await;
    assert_eq!(status, 201);
    // It is held, because it is the same letter to the folder.
    let (status, crm) = posted(&mut room, &caller.with(OTHER_TOKEN), &sent("a")).await;
    assert_eq!(status, 202);
    drop(caller);
    room.crash().await;
    // They change names; then one name is another program's; then the first comes back under a third name.
    let third = "T".repeat(40);
    for (files, crm_is_there) in [
        (vec![("erp", OTHER_TOKEN), ("crm", TOKEN)], true),
        (vec![("sales", TOKEN), ("crm", third.as_str())], false),
        (vec![("erp", third.as_str()), ("crm", TOKEN), ("last", OTHER_TOKEN)], true),
    ] {
        std::fs::remove_dir_all(room.dir.path().join("queues")).unwrap();
        for (name, token) in &files {
            queue(&room, name, token, "");
        }
        room.start();
        room.settle().await;
        let caller = Caller::of_room(&room).await;
        assert_eq!(posted(&mut room, &caller, &sent("a")).await, (201, erp.clone()), "{files:?}");
        assert_eq!(caller.get(&erp["id"]).await.0, 200);
        assert_eq!(caller.get(&crm["id"]).await.0, 404);
        let other = caller.with(OTHER_TOKEN);
        if crm_is_there {
            assert_eq!(posted(&mut room, &other, &sent("a")).await, (202, crm.clone()), "{files:?}");
            assert_eq!(other.get(&erp["id"]).await.0, 404);
        } else {
            assert_eq!(caller.with(&third).get(&crm["id"]).await.0, 404, "{files:?}");
        }
        assert_eq!(room.row_states().len(), 2);
        drop((caller, other));
        room.crash().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_outlives_the_names_of_its_letter_and_no_record_has_either() {
    let mut room = open().await;
    let caller = Caller::of_room(&room).await;
    let secret = "kundennummer-4711-herr-mueller";
    let (_, before) = posted(&mut room, &caller, &sent(secret)).await;
    room.settled().await;
    let rules = std::fs::read_to_string(room.dir.path().join("folders/letters.yaml")).unwrap();
    let keep = "keep: {spool: 1d, originals: 1d, history: 2d}\n";
    std::fs::write(room.dir.path().join("folders/letters.yaml"), format!("{rules}{keep}")).unwrap();
    room.reload();
    crate::people::mails::ship(&mut room).await;
    for _day in 0..12 {
        room.pass(86_400).await;
    }
    let desk = room.desk();
    let number = desk.number_of(before["id"].as_str().unwrap()).unwrap().unwrap();
    assert!(desk.letter(number).unwrap().unwrap().order.is_anonymous(), "its names are removed");
    assert_eq!(posted(&mut room, &caller, &sent(secret)).await, (201, before));
    drop(caller);
    room.crash().await;
    let mut waiting = vec![room.dir.path().join("state")];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            for hidden in [secret, TOKEN] {
                let found = bytes.windows(hidden.len()).any(|window| window == hidden.as_bytes());
                assert!(!found, "{hidden} in {}", path.display());
            }
        }
    }
}
