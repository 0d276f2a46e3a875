//! The commands as a person types them, beside a running daemon and without one.

use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use mailchute::sandbox::Options;
use serde_json::{Value, json};

use crate::rigs::office::Office;
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

const ADDRESS: &str =
    "postal_code: \"0600001\"\nstate: 北海道\ncity: 札幌市\naddress1: 北一条西1-1\nname: 山田 太郎\n";

/// A directory as somebody would set it up, with a service to speak to.
struct Desk {
    office: Office,
    dir: tempfile::TempDir,
}

impl Desk {
    async fn new() -> Self {
        let mut office = Office::of_today(Options::default()).await;
        office.stop();
        let dir = tempfile::tempdir().unwrap();
        let places = &office.service.welcome.places;
        let config = format!(
            "state: state\naccounts:\n  main:\n    base_url: {}\n    auth_url: {}\n    client_id: \"{}\"\n    \
             client_secret: {{file: {}/secret}}\nnetwork: {{quickest_retry: 20ms, slowest_retry: 100ms}}\n",
            places.base_url,
            places.auth_url,
            office.credentials.0,
            dir.path().display(),
        );
        let write = |name: &str, text: &[u8]| std::fs::write(dir.path().join(name), text).unwrap();
        write("mailchute.yaml", config.as_bytes());
        write("secret", format!("{}\n", office.credentials.1).as_bytes());
        write("to.yaml", format!("{ADDRESS}honorific: 御中\n").as_bytes());
        write("from.yaml", ADDRESS.as_bytes());
        write("a.pdf", &pdf(2));
        let desk = Self { office, dir };
        desk.chmod("600");
        desk
    }

    fn chmod(&self, mode: &str) {
        let secret = self.dir.path().join("secret");
        assert!(std::process::Command::new("chmod").arg(mode).arg(secret).status().unwrap().success());
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        mailchute(arguments).current_dir(self.path()).output().unwrap()
    }

    /// What a command that succeeds prints.
    fn say(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// Exit status and what is said of a command that does not.
    fn fails(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(text).unwrap())
    }

    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        self.say(arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn daemon(&self) -> Daemon {
        let mut command = mailchute(&["run"]);
        command.current_dir(self.path()).stderr(Stdio::piped());
        let daemon = Daemon(command.spawn().unwrap());
        until("the daemon runs", || self.run(&["status"]).stdout.starts_with(b"the daemon runs"));
        daemon
    }

    fn until_state(&self, letter: usize, state: &str) {
        until(state, || self.json(&["list", "--json"])[letter - 1]["state"] == state);
    }
}

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain: {what}");
    }
}

struct Daemon(Child);

impl Daemon {
    fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        assert!(std::process::Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// How it ended, and what it wrote into the journal.
    fn end(mut self) -> (Option<i32>, String) {
        let mut journal = String::new();
        std::io::Read::read_to_string(self.0.stderr.as_mut().unwrap(), &mut journal).unwrap();
        (self.0.wait().unwrap().code(), journal)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const SUBMIT: [&str; 7] = ["submit", "a.pdf", "--to", "to.yaml", "--from", "from.yaml", "--option=trackable"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_from_submit_to_its_tracking_number() {
    let desk = Desk::new().await;
    assert!(desk.say(&SUBMIT).contains("gets its number when"));
    let (code, text) = desk.fails(&["list"]);
    assert!(code == 1 && text.contains("`mailchute run` makes them"), "{text}");
    let daemon = desk.daemon();
    assert_eq!(desk.say(&SUBMIT), "letter #2\n");
    desk.until_state(2, "confirmed");
    assert!(desk.say(&["show", "2"]).contains("mail 1 confirmed: it is posted"));
    let shown = &desk.json(&["show", "#2", "--json"])[0];
    assert_eq!((&shown["state"], &shown["documents"][0]["pages"]), (&json!("confirmed"), &json!(2)));
    assert!(desk.say(&["pdf", "2"]).contains("2-1.pdf"));
    assert_eq!(std::fs::read(desk.path().join("2-1.pdf")).unwrap(), pdf(2));
    assert!(desk.fails(&["pdf", "2"]).1.contains("not overwritten"));
    let (code, text) = desk.fails(&["hold", "2"]);
    assert!(code == 1 && text.contains("#2: refused: it is posted"), "{text}");
    assert!(desk.say(&["cancel", "1"]).contains("asked to cancel"));
    desk.until_state(1, "cancelled");
    desk.office.service.advance("12d").await;
    desk.say(&["retry", "2"]);
    desk.until_state(2, "shipped");
    let row = &desk.json(&["list", "--state", "shipped", "--json"])[0];
    let tracking = row["tracking"].as_str().unwrap();
    assert!(desk.say(&["list"]).contains(&format!("tracking number {tracking}")));
    assert!(desk.say(&["audit"]).starts_with("2 letter(s)"));
    assert!(desk.json(&["status", "--json"])[0]["runs"].is_object());
    assert!(desk.say(&["account"]).contains("main     works"));
    assert!(desk.say(&["account", "pause", "main"]).contains("paused"));
    assert!(desk.say(&["account"]).contains("a person paused it"));
    assert!(desk.say(&["account", "resume", "main"]).contains("resumed"));
    daemon.signal("-TERM");
    let (code, journal) = daemon.end();
    assert_eq!(code, Some(0));
    // I20: numbers only.
    for word in ["山田", "札幌", "北海道", "Bearer", desk.office.credentials.1.as_str(), "X-Amz", "policy"]
    {
        assert!(!journal.contains(word), "the journal says {word}: {journal}");
    }
    assert!(journal.contains("stopped") && journal.contains("shipped on"), "{journal}");
    assert!(desk.say(&["hold", "1"]).contains("recorded; it is carried out when"));
    assert!(!desk.path().join("state/mailchute.db-wal").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_signal_ends_after_what_is_under_way_and_a_second_at_once() {
    let desk = Desk::new().await;
    let slow = |delay| json!({"endpoint": "confirm", "fault": "delay", "delay_ms": delay});
    desk.office.service.order(slow(1500)).await;
    let daemon = desk.daemon();
    desk.say(&SUBMIT);
    desk.until_state(1, "confirming");
    let begun = Instant::now();
    daemon.signal("-INT");
    assert_eq!(daemon.end().0, Some(0));
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(desk.json(&["list", "--json"])[0]["state"], "confirmed");
    let ledger = format!("{}/ledger", desk.office.service.welcome.places.control_url);
    let text = desk.office.service.http.get(ledger).send().await.unwrap().text().await.unwrap();
    assert!(text.contains("token_revoked"));

    desk.office.service.order(slow(60_000)).await;
    let daemon = desk.daemon();
    desk.say(&SUBMIT);
    desk.until_state(2, "confirming");
    let begun = Instant::now();
    daemon.signal("-TERM");
    daemon.signal("-TERM");
    until("it has ended", || {
        // The same signal twice may count as one as long as the first is not taken.
        daemon.signal_if_there("-TERM")
    });
    assert_eq!(daemon.end().0, Some(128 + 15));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

fn make_two_calls_at_once(desk: &Desk) {
    let file = desk.path().join("mailchute.yaml");
    let config = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, config.replace("network: {", "network: {letters_at_once: 2, ")).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_that_waits_for_slow_calls_of_others_is_cancelled_meanwhile() {
    let desk = Desk::new().await;
    make_two_calls_at_once(&desk);
    let slow = json!({"endpoint": "create", "fault": "delay", "delay_ms": 50_000, "times": 2});
    desk.office.service.order(slow).await;
    let _daemon = desk.daemon();
    for _letter in 0..2 {
        desk.say(&SUBMIT);
    }
    let faults = format!("{}/faults", desk.office.service.welcome.places.control_url);
    let begun = Instant::now();
    loop {
        let left = desk.office.service.http.get(&faults).send().await.unwrap().text().await.unwrap();
        if !left.contains("delay") {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "both make their call: {left}");
    }
    desk.say(&SUBMIT);
    desk.until_state(3, "admitted");
    desk.say(&["cancel", "3"]);
    desk.until_state(3, "withdrawn");
    let states: Vec<Value> =
        desk.json(&["list", "--json"]).into_iter().map(|letter| letter["state"].clone()).collect();
    assert_eq!(states, ["admitted", "admitted", "withdrawn"], "the calls of the others go on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_that_is_cancelled_during_its_call_does_not_wait_for_slow_calls_of_others() {
    let desk = Desk::new().await;
    make_two_calls_at_once(&desk);
    for (delay, times) in [(2_000, 1), (50_000, 2)] {
        let slow = json!({"endpoint": "create", "fault": "delay", "delay_ms": delay, "times": times});
        desk.office.service.order(slow).await;
    }
    let _daemon = desk.daemon();
    desk.say(&SUBMIT);
    desk.until_state(1, "admitted");
    for _other in 0..2 {
        desk.say(&SUBMIT);
    }
    desk.say(&["cancel", "1"]);
    desk.until_state(1, "withdrawn");
    for other in [2, 3] {
        desk.until_state(other, "admitted");
    }
}

impl Daemon {
    /// Whether it is gone; signals it if not.
    fn signal_if_there(&self, name: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap_or_default();
        let gone = stat.contains(") Z ") || stat.is_empty();
        if !gone {
            self.signal(name);
        }
        gone
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_told_with_its_remedy_and_nothing_is_taken_in() {
    let desk = Desk::new().await;
    let write = |name: &str, bytes: &[u8]| std::fs::write(desk.path().join(name), bytes).unwrap();
    let whole = pdf(40);
    write("cut.pdf", &whole[..whole.len() / 2]);
    write("text.pdf", b"not a PDF");
    write("bad.yaml", ADDRESS.replace("0600001", "060-0001").as_bytes());
    write("double.yaml", format!("{ADDRESS}name: x\n").as_bytes());
    write("unknown.yaml", format!("{ADDRESS}adress: x\n").as_bytes());
    write("tab.yaml", b"\tname: x\n");
    let submit = |file: &str, to: &str| desk.fails(&["submit", file, "--to", to, "--from", "from.yaml"]);
    for (file, to, text) in [
        ("cut.pdf", "to.yaml", "cut.pdf: It was not copied completely"),
        ("text.pdf", "to.yaml", "It is not a PDF"),
        ("a.pdf", "bad.yaml", "write 7 digits without a hyphen"),
        ("a.pdf", "double.yaml", "for the second time"),
        ("a.pdf", "unknown.yaml", "did you mean"),
        ("a.pdf", "tab.yaml", "indented with a tab"),
    ] {
        let (code, said) = submit(file, to);
        assert!(code == 2 && said.contains(text), "{file} {to}: {code} {said}");
        assert!(!said.contains("山田") || to == "double.yaml" || to == "unknown.yaml", "{said}");
    }
    assert_eq!(submit("missing.pdf", "to.yaml").0, 1);
    assert!(!desk.path().join("state/spool/new").exists());
    desk.chmod("644");
    let (code, said) = desk.fails(&["run"]);
    assert!(code == 2 && said.contains("chmod 600"), "{code} {said}");
    write("mailchute.yaml", b"state: x\naccounts: {main: {base_url: 'http://api.example.jp'}}\n");
    let (code, said) = desk.fails(&["run"]);
    assert!(code == 2 && said.contains("mailchute.yaml"), "{code} {said}");
}
