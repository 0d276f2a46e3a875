//! Records put back from a backup are recognised by the folders, which are further than they.

use mailchute::config::Config;
use mailchute::daemon;
use mailchute::outside::hot::{Hot, Keeper};
use mailchute::outside::store::Store;

use crate::rigs::files::{copy_tree, stands_here};
use crate::rigs::mailroom::Mailroom;

/// One letter was posted before the backup, one was in the middle of it, and one came after it.
async fn put_back() -> Mailroom {
    let mut room = Mailroom::open().await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    room.pass(1).await;
    room.service.order(serde_json::json!({"endpoint": "upload", "fault": "cut"})).await;
    room.drop("x2.pdf", 2);
    room.settled().await;
    assert_eq!(room.state("x2.pdf"), "created");
    let (state, backup) = (room.dir.path().join("state"), room.dir.path().join("backup"));
    room.stop();
    copy_tree(&state, &backup);
    room.start();
    room.settle().await;
    room.pass(60).await;
    room.drop("x3.pdf", 3);
    room.settled().await;
    room.pass(60).await;
    for drop in ["x1.pdf", "x2.pdf", "x3.pdf"] {
        assert_eq!(room.state(drop), "confirmed");
    }
    room.stop();
    std::fs::remove_dir_all(&state).unwrap();
    copy_tree(&backup, &room.dir.path().join("once more"));
    std::fs::rename(backup, &state).unwrap();
    // As a backup of the whole disk leaves it: nothing but the folders can tell.
    stands_here(&state);
    room
}

async fn authorized(room: &Mailroom) -> usize {
    let url = format!("{}/ledger?event=authorized", room.service.welcome.places.control_url);
    let ledger: serde_json::Value = room.service.http.get(url).send().await.unwrap().json().await.unwrap();
    ledger["entries"].as_array().unwrap().len()
}

async fn refused(room: &Mailroom) -> String {
    refused_with(room, room.config()).await
}

/// Why the daemon does not start. One that does is asked to end at once.
async fn refused_with(room: &Mailroom, config: Config) -> String {
    daemon::run(config, room.run(), std::future::ready(())).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_daemon_with_records_put_back_refuses_to_run_before_it_posts_anything() {
    let room = put_back().await;
    assert_eq!(
        refused(&room).await,
        "folder `letters` was used with later records than these: were these restored from a backup? \
         Start once with `mailchute run --after-restore`: every letter that is not finished is then held"
    );
    // A backup of a running database may be torn, and is then made anew from the old ledger.
    for ending in ["", "-wal", "-shm"] {
        drop(std::fs::remove_file(room.dir.path().join(format!("state/mailchute.db{ending}"))));
    }
    assert!(refused(&room).await.starts_with("folder `letters` was used with later records"));
    assert_eq!(authorized(&room).await, 3);
}

#[tokio::test]
async fn after_a_restore_nothing_is_posted_twice_and_the_folder_goes_on() {
    let mut room = put_back().await;
    room.start_with(true);
    room.settle().await;
    room.pass(3600).await;
    assert_eq!(authorized(&room).await, 3);
    assert_eq!(room.row_states(), ["confirmed", "held"], "of the third nothing is known any more");
    room.drop("x4.pdf", 4);
    room.settled().await;
    assert_eq!(room.state("x4.pdf"), "confirmed");
    // What the folder knows now is of these records.
    room.stop();
    room.start();
    room.settle().await;
    assert_eq!(authorized(&room).await, 4);
    // And the old name is remembered: the same backup once more is as old as before.
    room.stop();
    let state = room.dir.path().join("state");
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::rename(room.dir.path().join("once more"), &state).unwrap();
    stands_here(&state);
    assert!(refused(&room).await.starts_with("folder `letters` was used with later records"));
}

#[tokio::test]
async fn a_folder_that_was_away_at_the_start_is_asked_when_it_is_back() {
    let mut room = put_back().await;
    let away = room.dir.path().join("away");
    std::fs::rename(room.hot(), &away).unwrap();
    room.start();
    room.settle().await;
    std::fs::rename(&away, room.hot()).unwrap();
    room.drop("x5.pdf", 1);
    room.clock.move_by(chrono::TimeDelta::seconds(6)).unwrap();
    let error = room.refused().await;
    assert!(error.starts_with("folder `letters` was used with later records"), "{error}");
    assert_eq!(room.state("x5.pdf"), "not taken");
}

/// As after a clone of a whole machine, whose records no file tells apart.
fn twin(room: &Mailroom) -> Config {
    let (state, twin) = (room.dir.path().join("state"), room.dir.path().join("twin"));
    copy_tree(&state, &twin);
    stands_here(&twin);
    Config { state: twin, ..room.config() }
}

#[tokio::test]
async fn a_twin_of_records_that_work_on_a_folder_does_not_start() {
    let mut room = Mailroom::open().await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    let config = twin(&room);
    let state = room.dir.path().join("state");
    assert_eq!(
        refused_with(&room, config).await,
        format!(
            "a running mailchute uses folder `letters` with a copy of these records, in {}: two would \
             post letters twice. Stop one of them; if the copy is to continue, start it once with `mailchute run \
             --after-restore`",
            state.display()
        )
    );
    assert_eq!(authorized(&room).await, 1);
}

#[tokio::test]
async fn a_folder_that_a_twin_works_on_is_away_and_says_whose_records_these_are() {
    let mut room = Mailroom::open().await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    let state = room.dir.path().join("state");
    let other = room.dir.path().join("other");
    // The folder is free for a moment, and then another has it with the same records.
    let known = room.desk().folders().unwrap();
    room.stop();
    let (twin, _) = Store::open(&twin(&room).state, room.clock.now(), false).unwrap();
    let (records, run) = twin.names().unwrap();
    let keeper = Keeper {
        records: records.to_string(),
        run: run.to_string(),
        state: other.clone(),
        ..Keeper::default()
    };
    let hot = Hot::open(&room.hot(), true, &keeper).unwrap();
    assert!(state.exists() && known[0].trouble.is_none());
    room.start();
    room.drop("x2.pdf", 2);
    room.settled().await;
    assert_eq!(room.state("x2.pdf"), "not taken");
    let trouble = room.desk().folders().unwrap().remove(0).trouble.unwrap();
    let expected =
        format!("with a copy of these records, in {}: two would post letters twice", other.display());
    assert!(trouble.contains(&expected), "{trouble}");
    assert_eq!(room.desk().alarms().unwrap().len(), 1);
    drop(hot);
    room.settled().await;
    room.pass(60).await;
    assert_eq!(room.desk().folders().unwrap().remove(0).trouble, None);
    assert_eq!((authorized(&room).await, room.state("x2.pdf").as_str()), (1, "held"), "it was there before");
}
