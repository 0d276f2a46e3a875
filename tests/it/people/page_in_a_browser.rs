//! The status page in a real browser.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use mailchute::outside::store::Desk;
use tokio::net::{TcpListener, UnixStream};

use crate::rigs::browser::Browser;
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::past::copies;
use crate::rigs::program::mailchute;

/// With text on it, so that its picture shows something.
const LETTER: &[u8] = include_bytes!("../../../src/sandbox/pages/templates/letter.pdf");

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What stands before the page's socket, as a proxy does: its address.
async fn before(socket: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let socket = socket.clone();
            tokio::spawn(async move {
                let Ok(mut far) = UnixStream::connect(socket).await else { return };
                drop(tokio::io::copy_bidirectional(&mut near, &mut far).await);
            });
        }
    });
    address
}

/// A room with letters of some weeks behind it, which are not those of one day.
async fn with_a_past(count: u64) -> Mailroom {
    let rules = RULES.replace("{poll: 1s}", "{settle: 100ms, poll: 1s}");
    let rules = rules.replace("path:", "first_start: take\nshown_as: '\\\\files\\post\\invoices'\npath:");
    let mut room = Mailroom::of_today(&rules).await;
    let socket = room.dir.path().join("page");
    room.add_to_main(&format!(
        "status: {{listen: {}, show_names: true, show_pages: true}}\nnetwork: {{quickest_retry: 100ms, slowest_retry: 1s}}\n",
        socket.display()
    ));
    room.start();
    room.settle().await;
    room.drop("INV-000123.pdf", 2);
    room.settled().await;
    for _day in 0..10 {
        room.pass(86_400).await;
    }
    room.stop();
    let state = room.dir.path().join("state");
    copies(&state, count);
    let db = rusqlite::Connection::open(state.join("mailchute.db")).unwrap();
    let sql = "UPDATE letter SET admitted_at = admitted_at - (number * number % 29) * 86400000,
                   changed_at = changed_at - (number * number % 29) * 86400000 WHERE number > 1";
    db.execute(sql, []).unwrap();
    room
}

fn until(state: &Path, is: impl Fn(&Desk) -> bool) {
    let began = Instant::now();
    while !Desk::open(state).is_ok_and(|desk| is(&desk)) {
        assert!(began.elapsed() < Duration::from_secs(40));
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_status_page_can_be_used_by_everybody_and_says_what_to_do() {
    let Some(mut browser) = Browser::start() else { return };
    let room = with_a_past(150).await;
    let (dir, state) = (room.dir.path(), room.dir.path().join("state"));
    let config = dir.join("mailchute.yaml");
    let mut command = mailchute(&["run", "--config", config.to_str().unwrap()]);
    let _running = Running(command.env("RUST_LOG", "off").stdout(Stdio::null()).spawn().unwrap());
    let base = before(dir.join("page")).await;
    std::fs::write(room.path("INV-000456.pdf"), LETTER).unwrap();
    until(&state, |desk| desk.counts().unwrap().iter().any(|count| count.state == "confirmed"));
    std::fs::write(room.path("INV-000456 copy.pdf"), LETTER).unwrap();
    std::fs::write(room.path("torn.pdf"), "no PDF").unwrap();
    until(&state, |desk| desk.held().unwrap().len() == 1 && desk.lying("", 5).unwrap().len() == 1);
    let number = Desk::open(&state).unwrap().held().unwrap()[0].letter.0;
    browser.everybody_can_use(&format!("{base}/"), Some("status-front"));
    browser.everybody_can_use(&format!("{base}/letters"), None);
    browser.everybody_can_use(&format!("{base}/letters/{number}"), Some("status-letter"));
    browser.everybody_can_use(&format!("{base}/nothing"), None);

    browser.is_like((1280, 1600), "en", "light");
    browser.open(&format!("{base}/"));
    let text = browser.run("document.querySelector('main').innerText");
    let text = text.as_str().unwrap();
    for said in [
        "INV-000456 copy.pdf to 株式会社見本 御中",
        "Letter #152 had the same documents and the same receiver.",
        "To post it, move it into Approve.",
        "It lies in \\\\files\\post\\invoices\\Held",
        "torn.pdf",
        "It lies in \\\\files\\post\\invoices\\Rejected",
        "Asked whether it has shipped",
        "until it was posted",
        "This month:",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // The first page of what waits is beside it.
    browser.run("document.querySelector('.seen img').scrollIntoView()");
    browser.until("document.querySelector('.seen img').naturalWidth > 100");
    // Values can be read from the chart, and from a table.
    assert!(browser.run("document.querySelectorAll('.chart line').length").as_u64().unwrap() >= 3);
    browser.run("document.querySelector('details > summary').click()");
    browser.until("document.querySelectorAll('details[open] tr').length > 10");
}
