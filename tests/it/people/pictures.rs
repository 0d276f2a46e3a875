//! Envelopes and first pages on the status page, for a proxy that has a log-in.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use mailchute::domain::letter::Number;
use mailchute::outside::spool::Spool;
use mailchute::outside::store::Desk;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;

struct Running {
    child: Child,
    state: PathBuf,
    socket: PathBuf,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// A daemon with one letter that waits for approval.
    async fn with_a_letter(more: &str) -> (Self, Mailroom) {
        let rules = RULES.replace("{poll: 1s}", "{settle: 100ms, poll: 1s}");
        let rules = rules.replace("path:", "first_start: take\nrelease: approval\npath:");
        let room = Mailroom::of_today(&rules).await;
        let socket = room.dir.path().join("page");
        room.add_to_main(&format!("status: {{listen: {}{more}}}\n", socket.display()));
        room.drop("x 請求.pdf", 2);
        let config = room.dir.path().join("mailchute.yaml");
        let mut command = mailchute(&["run", "--config", config.to_str().unwrap()]);
        let child = command.env("RUST_LOG", "off").stdout(Stdio::null()).spawn().unwrap();
        let state = room.dir.path().join("state");
        let running = Self { child, state, socket };
        let began = Instant::now();
        while !running.has_letter() {
            assert!(began.elapsed() < Duration::from_secs(40));
            tokio::task::yield_now().await;
        }
        (running, room)
    }

    fn has_letter(&self) -> bool {
        self.socket.exists()
            && Desk::open(&self.state).is_ok_and(|desk| desk.numbers().is_ok_and(|found| !found.is_empty()))
    }

    /// The first line of the answer, and its content.
    fn get(&self, path: &str) -> (String, Vec<u8>) {
        let mut line = UnixStream::connect(&self.socket).unwrap();
        write!(line, "GET {path} HTTP/1.0\r\nHost: mail.example.jp\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        line.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
        let first = String::from_utf8_lossy(&answer[..head]).lines().next().unwrap_or_default().to_owned();
        (first, answer[head + 4..].to_vec())
    }
}

fn is_png(answer: &(String, Vec<u8>)) -> bool {
    answer.0.contains("200") && answer.1.starts_with(b"\x89PNG\r\n\x1a\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letters_envelope_and_first_page_are_shown_as_long_as_its_copy_is_kept() {
    let (running, _room) = Running::with_a_letter(", show_pages: true").await;
    let html = String::from_utf8(running.get("/letters/1").1).unwrap();
    assert!(html.contains(r#"src="1/envelope.png""#) && html.contains(r#"src="1/page.png""#), "{html}");
    let (envelope, page) = (running.get("/letters/1/envelope.png"), running.get("/letters/1/page.png"));
    assert!(is_png(&envelope) && is_png(&page) && envelope.1 != page.1);
    assert_eq!(running.get("/letters/1/page.png").1, page.1, "made once");
    for path in ["/letters/2/page.png", "/letters/1/other.png", "/letters/x/page.png"] {
        assert!(!running.get(path).0.contains("200"), "{path}");
    }
    let desk = Desk::open(&running.state).unwrap();
    let entry = desk.letter(Number(1)).unwrap().unwrap().entry.parse().unwrap();
    Spool::open(&desk.home().spool()).unwrap().discard(&entry).unwrap();
    for path in ["/letters/1/page.png", "/letters/1/envelope.png"] {
        assert!(running.get(path).0.contains("404"), "{path}: its copy is gone");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_shown_without_the_key() {
    let (running, _room) = Running::with_a_letter("").await;
    let html = String::from_utf8(running.get("/letters/1").1).unwrap();
    assert!(!html.contains(".png"), "{html}");
    assert!(running.get("/letters/1/page.png").0.contains("404"));
}
