//! The status page as people read it: over HTTP, in both languages, with a long history behind it.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use regex::Regex;
use reqwest::header::{ACCEPT_LANGUAGE, CONTENT_SECURITY_POLICY};

use crate::rigs::mailroom::Mailroom;
use crate::rigs::past::copies;
use crate::rigs::running::{Daemon, room};

impl Daemon {
    async fn page(&self, path: &str, language: &str) -> String {
        let url = format!("http://{}{path}", self.address);
        let answer = reqwest::Client::new().get(url).header(ACCEPT_LANGUAGE, language).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let html = answer.text().await.unwrap();
        // What the policy would refuse, and what is somewhere else.
        let refused =
            Regex::new(r#"<script|<iframe| style=| on[a-z]+=|(src|href|action)="(https?:)?//"#).unwrap();
        assert!(refused.find(&html).is_none(), "{path}: {:?}", refused.find(&html));
        html
    }

    pub async fn until_page(&self, path: &str, says: &str) -> String {
        let began = Instant::now();
        loop {
            let html = self.page(path, "en").await;
            if html.contains(says) {
                return html;
            }
            assert!(began.elapsed() < Duration::from_secs(40), "{says} in {html}");
        }
    }
}

/// The numbers of the letters that a page lists, in their order.
fn numbers(html: &str) -> Vec<u64> {
    let link = Regex::new(r#"href="letters/(\d+)""#).unwrap();
    link.captures_iter(html).map(|found| found[1].parse().unwrap()).collect()
}

/// A room in which one letter was posted and has shipped, and which is closed.
async fn with_a_past(main: &str, count: u64) -> Mailroom {
    let mut room = room().await;
    if !main.is_empty() {
        let config = room.dir.path().join("mailchute.yaml");
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, text.replace("listen: '127.0.0.1:0'", main)).unwrap();
    }
    room.start();
    room.settle().await;
    room.drop("INV-000123 請求.pdf", 2);
    room.settled().await;
    for _day in 0..10 {
        room.pass(86_400).await;
    }
    assert_eq!(room.row_states(), ["shipped"]);
    room.stop();
    copies(&room.dir.path().join("state"), count);
    room
}

/// A drop that became no letter has no state, no folder's letters and no number.
async fn are_not_among(daemon: &Daemon, drop: &str) {
    for only in ["state=shipped", "folder=letters", "before=4"] {
        let some = daemon.page(&format!("/letters?{only}"), "en").await;
        assert!(!some.contains(drop), "{only}: {some}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_finds_a_letter_and_reads_what_happened() {
    let room = with_a_past("", 3).await;
    let daemon = Daemon::start(&room);
    let name = "x <b>\"&amp;' ひかり.pdf";
    std::fs::write(room.path(name), crate::rigs::service::pdf(1)).unwrap();
    std::fs::write(room.path("x torn.pdf"), "no PDF").unwrap();
    let found = daemon.until_page("/letters?q=%EF%BD%8B%E3%81%8B%E3%82%8A", "Nothing was found").await;
    assert_eq!(numbers(&found), Vec::<u64>::new());
    // However it is written; and a name is text, whatever it looks like.
    let found = daemon.until_page("/letters?q=%E3%81%B2%E3%81%8B%E3%82%8A.PDF", "letters/5").await;
    assert_eq!(numbers(&found), [5]);
    assert!(found.contains("x &lt;b&gt;&quot;&amp;amp;&#x27; ひかり.pdf"), "{found}");
    for (sought, letters) in [
        ("PAST-", vec![4, 3, 2]),
        ("past-1", vec![3]),
        ("%232", vec![2]),
        ("2", vec![2, 4, 1]),
        ("%E8%AB%8B%E6%B1%82", vec![1]),
        // Whom it went to stands nowhere unless it is wished for.
        ("%E5%B1%B1%E7%94%B0", vec![]),
    ] {
        let html = daemon.page(&format!("/letters?q={sought}"), "en").await;
        assert_eq!(numbers(&html), letters, "{sought}");
    }
    assert_eq!(numbers(&daemon.page("/letters?state=shipped&folder=letters", "en").await), [4, 3, 2, 1]);
    assert_eq!(numbers(&daemon.page("/letters?folder=others", "en").await), Vec::<u64>::new());
    // A sidecar with a name where a key should be tells it to whoever dropped it, not here.
    std::fs::write(room.path("side.pdf.yaml"), "山田花子 札幌市: {}\n").unwrap();
    std::fs::write(room.path("side.pdf"), crate::rigs::service::pdf(1)).unwrap();
    let all = daemon.until_page("/letters", "Its sidecar can't be used").await;
    assert!(all.contains("x torn.pdf") && all.contains("Rejected") && !all.contains("山田"), "{all}");
    are_not_among(&daemon, "x torn.pdf").await;

    let english = daemon.page("/letters/1", "en").await;
    for told in [
        "Letter #1",
        "INV-000123 請求.pdf",
        "Normal mail · trackable",
        "confirmed: it is posted",
        "shipped on",
    ] {
        assert!(english.contains(told), "{told}: {english}");
    }
    let japanese = daemon.page("/letters/1", "ja-JP,ja;q=0.9").await;
    for told in
        ["郵便 #1", "発送済み", "普通郵便 · 特定記録", "確定しました。郵送されます", "に発送されました"]
    {
        assert!(japanese.contains(told), "{told}: {japanese}");
    }
    assert!(!english.contains("山田") && !japanese.contains("札幌"));
    let front = daemon.page("/", "ja").await;
    for told in
        ["異常はありません", "<b>4</b><span class=\"chip shipped\">発送済み</span>", "監視中", "x torn.pdf"]
    {
        assert!(front.contains(told), "{told}: {front}");
    }
    assert!(front.contains("<title>") && front.matches("class=\"bar\"").count() == 30);
    for (path, status) in
        [("/letters/99", 404), ("/letters/x", 404), ("/nothing", 404), ("/letters?before=x", 200)]
    {
        assert_eq!(daemon.get(path).await.0, status, "{path}");
    }
    assert!(daemon.get("/style.css").await.1.contains("prefers-color-scheme"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_on_the_front_page_with_its_remedy() {
    let room = room().await;
    let daemon = Daemon::start(&room);
    std::fs::write(room.path("x.pdf"), crate::rigs::service::pdf(1)).unwrap();
    daemon.until_page("/", "Posted").await;
    std::fs::write(room.path("x again.pdf"), crate::rigs::service::pdf(1)).unwrap();
    let html = daemon.until_page("/", "letter #1 had the same documents and the same receiver").await;
    assert!(numbers(&html).contains(&2));
    assert!(daemon.page("/", "ja").await.contains("同じ書類・同じ宛先の郵便（#1）"));
    std::fs::rename(room.hot(), room.dir.path().join("elsewhere")).unwrap();
    let html = daemon.until_page("/", "The folder letters can&#x27;t be used").await;
    assert!(html.contains("Nothing is taken from it meanwhile"), "{html}");
    daemon.until_page("/", "<span class=\"chip bad\">Away</span>").await;
    // One letter's damage is its own.
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    db.execute_batch("DROP TRIGGER facts_never_change; UPDATE fact SET line_check = 'x' WHERE letter = 2")
        .unwrap();
    let html = daemon.page("/letters/2", "en").await;
    assert!(html.contains("is damaged. <code>mailchute audit</code>"), "{html}");
    assert_eq!(numbers(&daemon.page("/letters", "en").await), [2, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_that_waits_says_for_what() {
    let room = room().await;
    room.service.set_card("declining").await;
    let daemon = Daemon::start(&room);
    std::fs::write(room.path("x.pdf"), crate::rigs::service::pdf(1)).unwrap();
    daemon.until_page("/letters", "letters/1").await;
    let html = daemon.until_page("/letters/1", "is paused").await;
    assert!(html.contains("Register another card on the service"), "{html}");
    let html = daemon.page("/letters/1", "ja").await;
    assert!(html.contains("停止しました"), "{html}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_shown_to_a_proxy_that_was_given_them() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("page");
    let main = format!("listen: {}, show_names: true", socket.display());
    let room = with_a_past(&main, 1).await;
    // What an earlier run left there is in nobody's way; what another program listens on is left alone.
    let other = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let config = room.dir.path().join("mailchute.yaml");
    let words = ["run", "--config", config.to_str().unwrap()];
    let mut command = crate::rigs::program::mailchute(&words);
    let mut run = || command.env("RUST_LOG", "off").stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut child = run();
    let began = Instant::now();
    let state = room.dir.path().join("state");
    while !mailchute::daemon::status::ask(&state).is_ok_and(|facts| facts.is_some()) {
        assert!(began.elapsed() < Duration::from_secs(30));
        tokio::task::yield_now().await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(UnixStream::connect(&socket).is_ok(), "it is still the other's");
    drop(other);
    let mut child = run();
    let page = |path: &str| {
        let mut line = loop {
            match UnixStream::connect(&socket) {
                Ok(line) => break line,
                Err(error) => assert!(began.elapsed() < Duration::from_secs(30), "{error}"),
            }
        };
        write!(line, "GET {path} HTTP/1.0\r\nHost: mail.example.jp\r\n\r\n").unwrap();
        let mut answer = String::new();
        line.read_to_string(&mut answer).unwrap();
        answer
    };
    let found = page("/letters?q=%E5%B1%B1%E7%94%B0%E5%A4%AA%E9%83%8E");
    assert!(found.starts_with("HTTP/1.0 200") && found.contains("山田 太郎"), "{found}");
    assert_eq!(numbers(&found), [2, 1]);
    assert!(page("/letters/1").contains("山田 太郎"));
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o660);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_letters_are_found_at_once_and_paged_through_without_a_gap() {
    let room = with_a_past("", 9_999).await;
    let daemon = Daemon::start(&room);
    let further = Regex::new(r#"class="more" href="([^"]+)""#).unwrap();
    let (mut path, mut seen) = ("/letters".to_owned(), Vec::new());
    loop {
        let html = daemon.page(&path, "en").await;
        seen.extend(numbers(&html));
        let Some(next) = further.captures(&html) else { break };
        path = format!("/{}", next[1].replace("&amp;", "&"));
    }
    assert_eq!(seen, (1..=10_000).rev().collect::<Vec<_>>());
    let found = daemon.page("/letters?q=past-0.pdf", "en").await;
    assert_eq!(numbers(&found), [2], "the oldest but one");
    // A crowded machine answers late now and then, and not each time.
    for path in ["/", "/letters", "/letters?q=past-99", "/letters?state=held", "/letters/5000"] {
        let quickest = quickest(&daemon.address, path);
        assert!(quickest < Duration::from_millis(50), "{path}: {quickest:?}");
    }
}

/// How long the first byte takes, the best of some.
fn quickest(address: &str, path: &str) -> Duration {
    let once = |_| {
        let mut line = std::net::TcpStream::connect(address).unwrap();
        let began = Instant::now();
        write!(line, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
        let mut first = [0];
        line.read_exact(&mut first).unwrap();
        began.elapsed()
    };
    (0..10).map(once).min().unwrap()
}
