//! The service manager, played: what it is told of a daemon that starts, reloads, hangs and ends.

use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

/// A daemon and the socket on which it tells its manager.
struct Service {
    child: Child,
    socket: UnixDatagram,
}

impl Service {
    fn start(room: &Mailroom, alter: impl FnOnce(&mut Command)) -> Self {
        let path = room.dir.path().join("notify");
        drop(std::fs::remove_file(&path));
        let socket = UnixDatagram::bind(&path).unwrap();
        let config = room.dir.path().join("mailchute.yaml");
        let mut command = mailchute(&["run", "--config", config.to_str().unwrap()]);
        command.env("NOTIFY_SOCKET", &path).env("RUST_LOG", "off").stdout(Stdio::null());
        alter(&mut command);
        Self { child: command.spawn().unwrap(), socket }
    }

    /// The next message, if one comes in time.
    fn next(&self, within: Duration) -> Option<String> {
        let mut buffer = [0; 4096];
        self.socket.set_read_timeout(Some(within)).unwrap();
        self.socket.recv(&mut buffer).ok().map(|size| String::from_utf8(buffer[..size].to_vec()).unwrap())
    }

    /// Messages up to the first that begins so.
    fn until(&self, beginning: &str) -> Vec<String> {
        let began = Instant::now();
        let mut heard = Vec::new();
        while began.elapsed() < Duration::from_secs(30) {
            heard.extend(self.next(Duration::from_secs(1)));
            if heard.last().is_some_and(|last| last.starts_with(beginning)) {
                return heard;
            }
        }
        panic!("{beginning} was never told, but {heard:?}");
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    /// Asks it to end; whether it did so in order, and how long that took.
    fn end(mut self) -> (bool, Duration) {
        let began = Instant::now();
        self.signal("TERM");
        self.until("STOPPING=1");
        (self.child.wait().unwrap().success(), began.elapsed())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Takes what lies in its folder, quickly.
async fn room() -> Mailroom {
    let quick =
        RULES.replace("{poll: 1s}", "{settle: 100ms, poll: 1s}").replace("path:", "first_start: take\npath:");
    Mailroom::of_today(&quick).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_ready_when_folders_are_watched_and_the_account_answered_or_is_known_not_to() {
    let room = room().await;
    let slow = json!({"endpoint": "account", "fault": "delay", "delay_ms": 4500});
    room.service.order(slow).await;
    let began = Instant::now();
    let service = Service::start(&room, |_| {});
    // Its files were saved just before, so they are read once more meanwhile: that is no reload.
    let told = service.until("READY=1");
    assert!(began.elapsed() >= Duration::from_millis(4500), "the account had not answered");
    assert!(!told.iter().any(|told| told.starts_with("RELOADING")), "{told:?}");
    assert!(room.hot().join("Approve").is_dir(), "the folder is not watched");
    assert!(service.end().0);
    // Nobody is there.
    let main = room.dir.path().join("mailchute.yaml");
    let text = std::fs::read_to_string(&main).unwrap();
    let port = regex::Regex::new(r"127\.0\.0\.1:\d+").unwrap();
    std::fs::write(&main, port.replace_all(&text, "127.0.0.1:9").as_ref()).unwrap();
    let service = Service::start(&room, |_| {});
    service.until("READY=1");
    assert!(service.end().0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reload_is_told_from_its_beginning_to_its_end_whatever_comes_of_it() {
    let room = room().await;
    let service = Service::start(&room, |_| {});
    service.until("READY=1");
    let rules = room.dir.path().join("folders/letters.yaml");
    let good = std::fs::read_to_string(&rules).unwrap();
    for text in [format!("{good}# the same\n"), "nonsense: [".to_owned(), good] {
        std::fs::write(&rules, text).unwrap();
        service.signal("HUP");
        let told = service.until("RELOADING=1").pop().unwrap();
        let at = told.lines().find_map(|line| line.strip_prefix("MONOTONIC_USEC=")).unwrap();
        assert!(at.parse::<u64>().unwrap() > 0);
        service.until("READY=1");
    }
    assert!(service.end().0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_watchdog_is_fed_only_as_long_as_something_gets_on() {
    let room = room().await;
    let service = Service::start(&room, |command| {
        command.env("WATCHDOG_USEC", "2000000");
    });
    service.until("READY=1");
    service.until("WATCHDOG=1");
    service.until("WATCHDOG=1");
    // Whoever has the database hangs, and with it every letter.
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    let mut last = Duration::ZERO;
    while began.elapsed() < Duration::from_secs(4) {
        if service.next(Duration::from_millis(100)).is_some_and(|told| told.starts_with("WATCHDOG")) {
            last = began.elapsed();
        }
    }
    assert!(last < Duration::from_secs(1), "fed {last:?} after nothing could be written any more");
    db.execute_batch("ROLLBACK").unwrap();
    service.until("WATCHDOG=1");
    assert!(service.end().0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_ends_in_time_with_letters_in_flight_and_says_how_things_stand() {
    let room = room().await;
    // Confirmed in effect, and its answer comes after nobody waits for it any more.
    let slow = json!({"endpoint": "confirm", "fault": "delay", "delay_ms": 60_000});
    room.service.order(slow).await;
    std::fs::write(room.path("x.pdf"), pdf(1)).unwrap();
    let service = Service::start(&room, |_| {});
    service.until("READY=1");
    let stands = service.until("STATUS=1 being posted").pop().unwrap();
    assert_eq!(stands.trim(), "STATUS=1 being posted, 0 followed until they ship, 0 wait for a person");
    let began = Instant::now();
    while room.row_states() != ["confirming"] {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::yield_now();
    }
    let (in_order, took) = service.end();
    assert!(in_order && took < Duration::from_secs(15), "{took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_secrets_come_from_the_manager() {
    let room = room().await;
    let main = room.dir.path().join("mailchute.yaml");
    let text = std::fs::read_to_string(&main).unwrap();
    std::fs::write(&main, text.replace("{file: main.secret}", "{credential: secrets_main}")).unwrap();
    let given = room.dir.path().join("given");
    std::fs::create_dir(&given).unwrap();
    std::fs::rename(room.dir.path().join("main.secret"), given.join("secrets_main")).unwrap();
    std::fs::write(room.path("x.pdf"), pdf(1)).unwrap();
    let service = Service::start(&room, |command| {
        command.env("CREDENTIALS_DIRECTORY", &given);
    });
    service.until("STATUS=0 being posted, 1 followed");
    assert!(service.end().0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_status_begins_with_what_is_wrong() {
    let room = room().await;
    let service = Service::start(&room, |_| {});
    service.until("READY=1");
    let rules = room.dir.path().join("folders/letters.yaml");
    let good = std::fs::read_to_string(&rules).unwrap();
    std::fs::write(&rules, "nonsense: [\nmore: {").unwrap();
    service.signal("HUP");
    let status = service.until("STATUS=The new configuration is not used: ").pop().unwrap();
    assert!(status.contains("letters.yaml:") && status.trim_end().lines().count() == 1, "{status}");
    assert!(status.contains("; 0 being posted"), "{status}");
    std::fs::write(&rules, good).unwrap();
    service.signal("HUP");
    service.until("STATUS=0 being posted");
    assert!(service.end().0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_three_short_lives_it_waits_and_can_be_asked_to_end_meanwhile() {
    let room = room().await;
    for _ in 0..3 {
        let service = Service::start(&room, |_| {});
        service.until("READY=1");
        service.signal("KILL");
    }
    let mut service = Service::start(&room, |_| {});
    service.until("STATUS=waits for 2 minutes");
    service.signal("TERM");
    assert!(service.child.wait().unwrap().success());
    // Whoever starts it by hand does not wait.
    let config = room.dir.path().join("mailchute.yaml");
    let mut command = mailchute(&["run", "--config", config.to_str().unwrap()]);
    let mut child = command.env("RUST_LOG", "off").stdout(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while std::os::unix::net::UnixStream::connect(room.dir.path().join("state/status")).is_err() {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
