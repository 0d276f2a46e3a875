//! The daemon's own binary, killed with SIGKILL again and again while it posts: before a request
//! leaves, before its answer arrives, and in the writing after it.
//!
//! `MAILCHUTE_KILLS=435 cargo test --test it kill -- --nocapture` kills it more often.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mailchute::domain::letter::{Command, Number};
use mailchute::outside::store::Bell;
use mailchute::sandbox::Options;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::rigs::office::Office;
use crate::rigs::program::mailchute;

/// Between daemon and service: kills the daemon at the n-th piece that passes.
#[derive(Default)]
struct Gate {
    daemon: Mutex<Option<Child>>,
    passed: AtomicUsize,
    at: AtomicUsize,
    /// Whether the piece is let through first, and how long the daemon lives after it.
    after: Mutex<Option<Duration>>,
}

impl Gate {
    fn kill(&self) -> bool {
        let Some(mut daemon) = self.daemon.lock().unwrap().take() else { return false };
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        true
    }

    /// Passes one direction on.
    async fn pump(
        self: Arc<Self>,
        mut from: tokio::net::tcp::OwnedReadHalf,
        mut to: tokio::net::tcp::OwnedWriteHalf,
    ) {
        let mut piece = vec![0; 1 << 16];
        while let Ok(size @ 1..) = from.read(&mut piece).await {
            let here = self.passed.fetch_add(1, Ordering::SeqCst) == self.at.load(Ordering::SeqCst);
            let after = *self.after.lock().unwrap();
            if here && after.is_none() {
                self.kill();
            }
            if to.write_all(&piece[..size]).await.is_err() {
                return;
            }
            if let Some(after) = after.filter(|_| here) {
                // Not a wait for something to happen: the moment of death itself.
                tokio::time::sleep(after).await;
                self.kill();
            }
        }
    }

    async fn serve(self: Arc<Self>, listener: TcpListener, service: SocketAddr) {
        while let Ok((client, _)) = listener.accept().await {
            let Ok(server) = TcpStream::connect(service).await else { continue };
            let ((from_client, to_client), (from_server, to_server)) =
                (client.into_split(), server.into_split());
            tokio::spawn(Arc::clone(&self).pump(from_client, to_server));
            tokio::spawn(Arc::clone(&self).pump(from_server, to_client));
        }
    }
}

fn configure(office: &Office, dir: &Path) {
    let places = &office.service.welcome.places;
    let text = format!(
        "state: {}\naccounts:\n  main:\n    base_url: {}\n    auth_url: {}\n    client_id: \"{}\"\n    \
         client_secret: {{env: TEST_SECRET}}\nnetwork: {{quickest_retry: 20ms, slowest_retry: 100ms}}\n",
        office.dir.path().display(),
        places.base_url,
        places.auth_url,
        office.credentials.0,
    );
    std::fs::write(dir.join("mailchute.yaml"), text).unwrap();
}

fn start(office: &Office, config: &Path) -> Child {
    let mut command = mailchute(&["run", "--config", config.join("mailchute.yaml").to_str().unwrap()]);
    command.env("TEST_SECRET", &office.credentials.1).env("RUST_LOG", "error");
    command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap()
}

/// Looks until it is so; a minute is more than it ever needs.
async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_killed_at_every_point_posts_each_letter_exactly_once() {
    let kills: usize = std::env::var("MAILCHUTE_KILLS").map_or(145, |kills| kills.parse().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gate = Arc::new(Gate { at: AtomicUsize::new(usize::MAX), ..Gate::default() });
    tokio::spawn(Arc::clone(&gate).serve(listener, free));
    let options = Options { origin: Some(origin), listen: free, ..Options::default() };
    let mut office = Office::of_today(options).await;
    office.stop();
    let config = tempfile::tempdir().unwrap();
    configure(&office, config.path());

    let (mut letters, mut killed) = (0, 0);
    for round in 0..kills {
        // Two letters for each daemon, and a death further on each time.
        letters += 2;
        office.submit(&[1]);
        office.submit(&[1, 2]);
        gate.passed.store(0, Ordering::SeqCst);
        gate.at.store(4 + round % 29, Ordering::SeqCst);
        let after = [None, Some(0), Some(300), Some(900), Some(2000)][round / 29 % 5];
        *gate.after.lock().unwrap() = after.map(Duration::from_micros);
        *gate.daemon.lock().unwrap() = Some(start(&office, config.path()));
        let dead = || gate.daemon.lock().unwrap().is_none();
        let done = || {
            let states = office.dir.path().join("mailchute.db").exists().then(|| office.states());
            states.is_some_and(|states| states.get("confirmed") == Some(&letters))
        };
        until("a kill, or all confirmed", || dead() || done()).await;
        killed += usize::from(!gate.kill());
    }
    assert!(killed * 10 >= kills * 8, "only {killed} of {kills} daemons were killed at their point");

    gate.at.store(usize::MAX, Ordering::SeqCst);
    let mut last = start(&office, config.path());
    until("all confirmed", || office.states().get("confirmed") == Some(&letters)).await;
    // Days later each is looked at once more.
    office.service.advance("12d").await;
    let now = chrono::Utc::now();
    let desk = office.desk();
    for number in 1..=letters as u64 {
        desk.order(Number(number), Command::Retry, now).unwrap();
    }
    assert!(Bell::ring(desk.home()));
    until("all shipped", || office.states().get("shipped") == Some(&letters)).await;
    let id = last.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(last.wait().unwrap().success());

    let posted = office.mails().await.into_values().filter(|(_, events)| events.contains_key("authorized"));
    let mut posted: Vec<_> = posted.map(|(letter, events)| (letter, events["authorized"])).collect();
    posted.sort_unstable();
    assert_eq!(posted, (1..=letters as u64).map(|letter| (letter, 1)).collect::<Vec<_>>());
    office.check().await;
    println!(
        "{killed} of {kills} daemons killed at a point of their own, {letters} letters posted once each"
    );
}
