//! The status as commands, probes and Prometheus get it from a running daemon.

#![expect(clippy::float_cmp, reason = "what is compared was counted")]

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use mailchute::daemon::status::{Delay, Facts, Live, LiveAccount, ask};
use mailchute::domain::letter::{Fact, Letter, Number, Reason};
use mailchute::domain::pause::{Cause, Pause};
use mailchute::outside::store::{LetterRow, PausedRow};
use serde_json::json;

use crate::proofs::model::{noon, order};
use crate::rigs::program::mailchute;
use crate::rigs::running::{Daemon, room};
use crate::rigs::service::pdf;

/// Reads the text format and is strict: each sample below the help and type of its family, none twice,
/// histograms that rise to their count.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    let name = regex::Regex::new(r"^[a-z_]+$").unwrap();
    let labels = regex::Regex::new(r#"^\{([a-z]+="([^"\\\n]|\\["\\n])*"(,|\}$))+$"#).unwrap();
    let (mut samples, mut families) = (BTreeMap::new(), Vec::new());
    let mut family = ("", "");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (of, help) = rest.split_once(' ').unwrap();
            assert!(help.ends_with('.') && !families.contains(&of), "{line}");
            families.push(of);
            family = (of, "");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (of, kind) = rest.split_once(' ').unwrap();
            assert!(of == family.0 && ["gauge", "counter", "histogram"].contains(&kind), "{line}");
            family.1 = kind;
        } else {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let at = sample.find('{').unwrap_or(sample.len());
            let ending = sample[..at].strip_prefix(family.0).unwrap();
            assert!(
                name.is_match(&sample[..at]) && (at == sample.len() || labels.is_match(&sample[at..])),
                "{line}"
            );
            assert!(
                ending.is_empty()
                    || (family.1 == "histogram" && ["_bucket", "_sum", "_count"].contains(&ending))
            );
            assert!(samples.insert(sample.to_owned(), value.parse().unwrap()).is_none(), "{line} twice");
        }
    }
    samples
}

impl Daemon {
    async fn metrics(&self) -> BTreeMap<String, f64> {
        let (status, text) = self.get("/metrics").await;
        assert_eq!(status, 200, "{text}");
        parsed(&text)
    }

    /// The metrics once one of them is as it should be.
    async fn until(&self, sample: &str, is_so: impl Fn(f64) -> bool) -> BTreeMap<String, f64> {
        let began = Instant::now();
        loop {
            let metrics = self.metrics().await;
            if metrics.get(sample).copied().is_some_and(&is_so) {
                return metrics;
            }
            assert!(began.elapsed() < Duration::from_secs(40), "{sample} in {metrics:#?}");
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_figure_moves_with_what_it_counts() {
    let room = room().await;
    let config = room.dir.path().join("mailchute.yaml");
    let command = |words: &[&str]| {
        let output = mailchute(&[words, &["--config", config.to_str().unwrap()]].concat()).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let slow = json!({"endpoint": "account", "fault": "delay", "delay_ms": 500});
    room.service.order(slow).await;
    let daemon = Daemon::start(&room);
    assert_eq!(daemon.get("/healthz").await.0, 503, "the account has not answered yet");
    assert_eq!(daemon.get("/healthz/live").await.0, 200);
    let at_first = daemon.until("mailchute_ready", |ready| ready > 0.0).await;
    assert_eq!(daemon.get("/healthz").await, (200, "ready\n".to_owned()));
    assert!(!at_first.contains_key("mailchute_letters{state=\"confirmed\",folder=\"letters\"}"));
    assert_eq!(at_first["mailchute_uploaded_bytes_total"], 0.0);
    assert_eq!(at_first["mailchute_folder_away{folder=\"letters\"}"], 0.0);
    assert_eq!(at_first["mailchute_build_info{version=\"0.1.0\"}"], 1.0);

    // One is posted; the same again is held; one is rejected; one waits for whom it goes to.
    std::fs::write(room.path("x.pdf"), pdf(1)).unwrap();
    daemon.until("mailchute_letters{state=\"confirmed\",folder=\"letters\"}", |letters| letters == 1.0).await;
    std::fs::write(room.path("x again.pdf"), pdf(1)).unwrap();
    std::fs::write(room.path("x broken.pdf"), "no PDF").unwrap();
    std::fs::write(room.path("side.pdf"), pdf(2)).unwrap();
    daemon.until("mailchute_letters{state=\"held\",folder=\"letters\"}", |letters| letters == 1.0).await;
    daemon.until("mailchute_drops{state=\"rejected\"}", |drops| drops == 1.0).await;
    let metrics = daemon.until("mailchute_oldest_held_seconds", |seconds| seconds >= 1.0).await;
    assert_eq!(metrics["mailchute_uploaded_bytes_total"].to_string(), pdf(1).len().to_string());
    for call in ["token", "account", "create", "upload", "read", "confirm"] {
        let labels = format!("{{call=\"{call}\",outcome=\"done\"");
        let count = metrics[&format!("mailchute_call_duration_seconds_count{labels}}}")];
        assert!(count >= 1.0 && metrics[&format!("mailchute_call_duration_seconds_sum{labels}}}")] > 0.0);
        let all = metrics[&format!("mailchute_call_duration_seconds_bucket{labels},le=\"+Inf\"}}")];
        let first = metrics[&format!("mailchute_call_duration_seconds_bucket{labels},le=\"0.05\"}}")];
        assert!(all == count && first <= all, "{call}");
    }
    for sample in ["mailchute_disk_free_bytes", "mailchute_disk_size_bytes", "mailchute_uptime_seconds"] {
        assert!(metrics[sample] > 0.0, "{sample}");
    }
    let said = command(&["status"]);
    for line in [
        "the daemon runs: 0.1.0",
        "account main: answers; its token",
        "letters: watched, posts immediately; last look",
        "1 confirmed",
        "1 held",
        "1 drop(s) rejected",
        "waits for a person since",
        "MB free",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_in_the_way_is_seen_as_long_as_it_is() {
    let room = room().await;
    let config = room.dir.path().join("mailchute.yaml");
    let command = |words: &[&str]| {
        let output = mailchute(&[words, &["--config", config.to_str().unwrap()]].concat()).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let daemon = Daemon::start(&room);
    daemon.until("mailchute_ready", |ready| ready == 1.0).await;
    // The account is paused, and a letter waits for it.
    command(&["account", "pause", "main"]);
    daemon.until("mailchute_account_paused{account=\"main\"}", |paused| paused == 1.0).await;
    std::fs::write(room.path("x.pdf"), pdf(1)).unwrap();
    daemon.until("mailchute_oldest_unposted_seconds", |seconds| seconds >= 1.0).await;
    daemon.until("mailchute_due", |due| due >= 1.0).await;
    assert!(command(&["status"]).contains("the oldest on its way is #1, admitted since"));
    command(&["account", "resume", "main"]);
    daemon.until("mailchute_letters{state=\"confirmed\",folder=\"letters\"}", |letters| letters == 1.0).await;

    // The folder goes away.
    std::fs::rename(room.hot(), room.dir.path().join("elsewhere")).unwrap();
    daemon.until("mailchute_folder_away{folder=\"letters\"}", |away| away == 1.0).await;
    daemon.until("mailchute_alarm{cause=\"folder letters\"}", |alarm| alarm == 1.0).await;
    daemon.until("mailchute_folder_looked_seconds{folder=\"letters\"}", |ago| ago >= 1.0).await;
    let said = command(&["status"]);
    assert!(said.contains("folder letters: AWAY: ") && said.contains("ALARM since"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_of_limits_what_is_followed_and_what_is_not_taken_in_yet_is_told() {
    let room = room().await;
    let rules = room.dir.path().join("folders/letters.yaml");
    let text = std::fs::read_to_string(&rules).unwrap();
    let limits = "release: automatic\nlimits: {letters_per_day: 5, sheets_per_day: 90}\nrules:";
    std::fs::write(&rules, text.replace("rules:", limits)).unwrap();
    let daemon = Daemon::start(&room);
    let at_first = daemon.until("mailchute_ready", |ready| ready == 1.0).await;
    let left = |of: &str| format!("mailchute_limit_left{{folder=\"letters\",of=\"{of}\"}}");
    assert_eq!((at_first[&left("letters")], at_first[&left("sheets")]), (5.0, 90.0));
    assert_eq!(at_first["mailchute_limit{folder=\"letters\",of=\"sheets\"}"], 90.0);
    assert_eq!((at_first["mailchute_submitted"], at_first["mailchute_oldest_followed_seconds"]), (0.0, 0.0));
    let looks = "mailchute_folder_looks_total{folder=\"letters\"}";
    daemon.until(looks, |now| now > at_first[looks]).await;
    daemon.until("mailchute_folder_look_seconds{folder=\"letters\"}", |took| took > 0.0 && took < 60.0).await;
    std::fs::write(room.path("x.pdf"), pdf(3)).unwrap();
    let metrics = daemon.until("mailchute_oldest_followed_seconds", |seconds| seconds >= 1.0).await;
    assert_eq!((metrics[&left("letters")], metrics[&left("sheets")]), (4.0, 88.0));
    let disk = rustix::fs::statvfs(room.dir.path()).unwrap();
    assert_eq!(metrics["mailchute_disk_size_bytes"].to_string(), (disk.f_blocks * disk.f_frsize).to_string());

    // While somebody has the records, what is submitted waits in the spool.
    let state = room.dir.path().join("state");
    let db = rusqlite::Connection::open(state.join("mailchute.db")).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let config = room.dir.path().join("mailchute.yaml");
    let said = |words: &[&str]| {
        let output = mailchute(&[words, &["--config", config.to_str().unwrap()]].concat()).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let file = room.dir.path().join("by hand.pdf");
    std::fs::write(&file, pdf(1)).unwrap();
    let to = room.dir.path().join("to.yaml");
    std::fs::write(&to, ADDRESS).unwrap();
    let words =
        ["submit", file.to_str().unwrap(), "--to", to.to_str().unwrap(), "--from", to.to_str().unwrap()];
    let submitted = said(&words);
    daemon.until("mailchute_submitted", |entries| entries == 1.0).await;
    assert!(said(&["status"]).contains("1 submitted, not taken in yet"), "{submitted}");
    db.execute_batch("ROLLBACK").unwrap();
    daemon.until("mailchute_submitted", |entries| entries == 0.0).await;
    assert!(said(&["status"]).contains("posts immediately; last look"));
}

const ADDRESS: &str = "postal_code: '0600001'\nstate: 北海道\ncity: 札幌市\naddress1: 1-1\nname: 山田 太郎\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_service_and_a_daemon_that_does_not_run_are_seen() {
    let room = room().await;
    let config = room.dir.path().join("mailchute.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let port = regex::Regex::new(r"127\.0\.0\.1:\d{2,}").unwrap();
    std::fs::write(&config, port.replace_all(&text, "127.0.0.1:9").as_ref()).unwrap();
    let daemon = Daemon::start(&room);
    let silent = "mailchute_account_silent_seconds{account=\"main\"}";
    let metrics = daemon.until(silent, |seconds| seconds >= 1.0).await;
    let lost = "mailchute_call_duration_seconds_count{call=\"token\",outcome=\"not sent\"}";
    assert!(metrics[lost] >= 1.0, "{metrics:?}");
    let state = room.dir.path().join("state");
    let facts: Facts = ask(&state).unwrap().unwrap();
    assert!(facts.runs.unwrap().accounts[0].silent_since.is_some());
    drop(daemon);
    // What is durable is known all the same.
    assert!(ask(&state).unwrap().is_none());
    let words = ["status", "--config", config.to_str().unwrap()];
    let output = mailchute(&words).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.starts_with("the daemon does not run") && said.contains("folder letters: not watched"),
        "{said}"
    );
    let db = rusqlite::Connection::open(state.join("mailchute.db")).unwrap();
    db.execute("INSERT INTO orders (account, command, asked_at) VALUES ('main', 'pause', 0)", []).unwrap();
    db.execute("INSERT INTO owed (subject, notice, about, owed_at) VALUES ('x', 'x', 'x', 0)", []).unwrap();
    drop(db);
    let output = mailchute(&[words.as_slice(), &["--json"]].concat()).output().unwrap();
    let facts: Facts = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((facts.orders, facts.owed, facts.runs.is_none()), (1, 1, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_somewhere_else_learns_nothing() {
    let room = room().await;
    let daemon = Daemon::start(&room);
    let http = reqwest::Client::new();
    for (host, status) in [("localhost", 200), ("127.0.0.1:80", 200), ("[::1]:1", 200), ("evil.example", 421)]
    {
        let url = format!("http://{}/metrics", daemon.address);
        let answer = http.get(url).header("host", host).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{host}");
    }
    let posted = http.post(format!("http://{}/healthz", daemon.address)).send().await.unwrap();
    assert_eq!(posted.status().as_u16(), 405, "it is there to be read");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_calls_and_says_nothing_takes_nothing_from_the_letters() {
    let room = room().await;
    let daemon = Daemon::start(&room);
    daemon.until("mailchute_ready", |ready| ready == 1.0).await;
    let mut silent = Vec::new();
    for _caller in 0..200 {
        silent.push(std::net::TcpStream::connect(&daemon.address).unwrap());
    }
    std::fs::write(room.path("x.pdf"), pdf(1)).unwrap();
    let began = Instant::now();
    while room.row_states() != ["confirmed"] {
        assert!(began.elapsed() < Duration::from_secs(30));
        tokio::task::yield_now().await;
    }
    let open = std::fs::read_dir(format!("/proc/{}/fd", daemon.child.id())).unwrap().count();
    assert!(open < 120, "{open} descriptors are open");
    // Commands ask by another door.
    assert!(ask(&room.dir.path().join("state")).unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_that_is_taken_keeps_no_command_from_asking() {
    let room = room().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let config = room.dir.path().join("mailchute.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let port = taken.local_addr().unwrap().to_string();
    std::fs::write(&config, text.replace("127.0.0.1:0'", &format!("{port}'"))).unwrap();
    let words = ["run", "--config", config.to_str().unwrap()];
    let mut child = mailchute(&words).env("RUST_LOG", "off").stdout(Stdio::null()).spawn().unwrap();
    let state = room.dir.path().join("state");
    let began = Instant::now();
    while !ask(&state).is_ok_and(|facts| facts.is_some()) {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // One that does not answer at all is told, with what the records say.
    std::fs::remove_file(state.join("status")).unwrap();
    let deaf = std::os::unix::net::UnixListener::bind(state.join("status")).unwrap();
    let deaf = std::thread::spawn(move || drop(deaf.accept()));
    let output = mailchute(&["status", "--config", config.to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("the daemon does not answer") && said.contains("MB free"), "{said}");
    deaf.join().unwrap();
}

#[test]
fn why_nothing_happens_to_a_letter_is_the_first_cause_that_is_so() {
    let (now, later) = (noon(), noon() + TimeDelta::hours(1));
    let row = |due_at| LetterRow {
        queue: None,
        letter: Number(1),
        state: "admitted".to_owned(),
        account: "main".to_owned(),
        source: "letters".to_owned(),
        admitted_at: now,
        changed_at: now,
        due_at,
        note: None,
        tracking: None,
    };
    let admitted = Fact::Admitted { entry: "E".into(), order: Arc::new(order(1)), queued: None };
    let fold = |facts: &[Fact]| {
        let facts: Vec<_> = facts.iter().map(|fact| (fact.clone(), now)).collect();
        Letter::fold(Number(1), facts).unwrap().unwrap()
    };
    let letter = fold(std::slice::from_ref(&admitted));
    let of = |account: &str| PausedRow {
        account: account.to_owned(),
        pause: Pause { cause: Cause::ByPerson, since: now, probe_at: None, probes: 0 },
    };
    let account = |name: &str, known, silent_since| LiveAccount {
        name: name.to_owned(),
        known,
        token_until: None,
        silent_since,
        silent_why: None,
        rests_until: None,
    };
    let live = |accounts: &[LiveAccount]| Live { accounts: accounts.to_vec(), ..Live::default() };
    let works = live(&[account("other", false, Some(now)), account("main", true, None)]);
    let delay = |letter: &Letter, paused: &[PausedRow], live: Option<&Live>| {
        format!("{:?}", Delay::of(&row(Some(now)), letter, paused, live, now))
    };
    let paused_since = |paused: &[PausedRow]| delay(&letter, paused, Some(&works));
    assert_eq!(paused_since(&[]), "None");
    assert_eq!(paused_since(&[of("other")]), "None", "another account's pause");
    assert!(paused_since(&[of("other"), of("main")]).starts_with("Some(Paused"));
    assert!(delay(&letter, &[of("main")], None).starts_with("Some(Paused"), "before anything else");
    assert_eq!(delay(&letter, &[], None), "Some(NotRunning)");
    assert_eq!(delay(&letter, &[], Some(&live(&[account("other", true, None)]))), "Some(UnknownAccount)");
    assert_eq!(delay(&letter, &[], Some(&live(&[account("main", false, None)]))), "Some(Unread)");
    let silent = delay(&letter, &[], Some(&live(&[account("main", false, Some(now))])));
    assert!(silent.starts_with("Some(Silent"), "{silent}");
    let waits = Letter { not_before: Some(later), ..letter.clone() };
    assert!(delay(&waits, &[], Some(&works)).starts_with("Some(Until"));
    let came = Letter { not_before: Some(now), ..letter.clone() };
    assert_eq!(delay(&came, &[], Some(&works)), "None", "its time has come");
    let held = fold(&[admitted, Fact::Held(Reason::ByPerson)]);
    assert_eq!(delay(&held, &[of("main")], None), "None", "it is held, and says why");
    assert_eq!(Delay::of(&row(None), &letter, &[of("main")], None, now), None, "nothing is due");
}
