//! Very many drops at once, and one on an idle daemon: how long, and how much memory.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mailchute::daemon::status::ask;
use mailchute::outside::store::Desk;

pub const PDF: &[u8] = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
    2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj\nxref\n0 4\n\
    0000000000 65535 f \n0000000009 00000 n \n0000000052 00000 n \n0000000101 00000 n \n\
    trailer<</Size 4/Root 1 0 R>>\nstartxref\n164\n%%EOF\n";

pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

pub fn mailchute(arguments: &[&str]) -> Command {
    program(Path::new(env!("CARGO_BIN_EXE_mailchute")), arguments)
}

/// The same from another place.
pub fn program(path: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(path);
    command.args(arguments).env("RUST_LOG", "error").envs(of_the_unit());
    command
}

/// What the unit gives it in its environment.
fn of_the_unit() -> impl Iterator<Item = (&'static str, &'static str)> {
    let unit = include_str!("../../systemd/mailchute.service");
    let lines = unit.lines().filter_map(|line| line.strip_prefix("Environment="));
    lines.flat_map(|line| line.split(' ').filter_map(|pair| pair.split_once('=')))
}

/// A sandbox and a daemon on the configuration that `init` writes, changed a little.
pub fn office(dir: &Path, change: &[(&str, &str)]) -> (Running, Running) {
    assert!(mailchute(&["init", dir.to_str().unwrap()]).output().unwrap().status.success());
    let secret = std::fs::read_to_string(dir.join("main.secret")).unwrap();
    let client = format!("trial:{}", secret.trim());
    let mut sandbox = mailchute(&["sandbox", "--listen", "127.0.0.1:0", "--client", &client]);
    let mut sandbox = sandbox.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(sandbox.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let welcome: serde_json::Value = serde_json::from_str(&line).unwrap();
    let edit = |file: &str, changes: &[(&str, &str)]| {
        let path = dir.join(file);
        let mut text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in changes {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        std::fs::write(path, text).unwrap();
    };
    edit("mailchute.yaml", &[("http://127.0.0.1:8460", welcome["base_url"].as_str().unwrap())]);
    edit("folders/invoices.yaml", change);
    let config = dir.join("mailchute.yaml");
    let daemon = mailchute(&["run", "--config", config.to_str().unwrap()]).spawn().unwrap();
    let running = (Running(sandbox), Running(daemon));
    until(|| dir.join("hot/invoices/Approve").is_dir());
    running
}

pub fn until(so: impl FnMut() -> bool) {
    until_every(Duration::from_millis(20), so);
}

/// The same with fewer questions, where they would be a part of what is measured.
fn until_every(pause: Duration, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_hours(1), "an hour is more than it ever needs");
        std::thread::park_timeout(pause);
    }
}

/// The most memory it ever had, in megabytes; none, if it has ended.
pub fn peak(process: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.0.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or(0, |line| line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024)
}

#[test]
fn flood() {
    let drops: usize = std::env::var("MAILCHUTE_DROPS").map_or(100_000, |drops| drops.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    // Pages are read by processes of their own, which would be what is measured.
    let change = [
        ("release: automatic  ", "release: approval   "),
        ("  # settle: 5s", "  settle: 1s"),
        ("check_page: hold", "check_page: off "),
    ];
    let (_sandbox, daemon) = office(dir.path(), &change);
    let hot = dir.path().join("hot/invoices");
    let begun = Instant::now();
    for n in 0..drops {
        std::fs::write(hot.join(format!("INV-000123-{n}.pdf")), PDF).unwrap();
    }
    let written = begun.elapsed();
    let count = || {
        let desk = Desk::open(&dir.path().join("state")).unwrap();
        let letters: u64 = desk.counts().unwrap().iter().map(|count| count.letters).sum();
        usize::try_from(letters).unwrap()
    };
    let (mut shown, mut longest) = (Instant::now(), 0.0_f64);
    until_every(Duration::from_millis(200), || {
        let taken = count();
        if let Some(live) = ask(&dir.path().join("state")).ok().flatten().and_then(|facts| facts.runs) {
            longest = live.folders.iter().map(|folder| folder.look_seconds).fold(longest, f64::max);
            assert!(live.busy.is_empty(), "no loop seems to hang: {:?}", live.busy);
        }
        if shown.elapsed() > Duration::from_secs(20) {
            shown = Instant::now();
            println!("{taken} of {drops} after {:.0?}, {} MB at most", begun.elapsed(), peak(&daemon));
        }
        taken == drops
    });
    let taken = begun.elapsed();
    until_every(Duration::from_secs(2), || {
        Desk::open(&dir.path().join("state"))
            .unwrap()
            .drops(u64::MAX >> 1)
            .unwrap()
            .iter()
            .all(|drop| !drop.moving)
    });
    println!(
        "{drops} drops: written in {written:.1?}, all taken in after {taken:.0?}, all on their shelf after {:.0?}, \
         {} MB at most, a look {longest:.2} s at most",
        begun.elapsed(),
        peak(&daemon)
    );
    assert!(peak(&daemon) < 100);
    assert!(longest > 0.0 && longest < 2.0, "the drops of another folder would wait longer");
}

#[test]
fn one_drop_on_an_idle_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let change = [
        ("  # settle: 5s", "  settle: 5s"),
        ("burst: 50 in 10m", "burst: 500 in 10m"),
        ("action: hold ", "action: allow"),
    ];
    let (_sandbox, _daemon) = office(dir.path(), &change);
    let hot = dir.path().join("hot/invoices");
    let mut over = Vec::new();
    for n in 0..=10 {
        let begun = Instant::now();
        std::fs::write(hot.join(format!("INV-000123-{n}.pdf")), PDF).unwrap();
        let confirmed = || {
            let desk = Desk::open(&dir.path().join("state")).unwrap();
            desk.letters(Some("confirmed"), None, 100).unwrap().len() > n
        };
        while !confirmed() {
            std::thread::park_timeout(Duration::from_millis(2));
        }
        over.push(begun.elapsed().saturating_sub(Duration::from_secs(5)));
    }
    // The first one waits for the address book, which was just written.
    over.remove(0);
    over.sort();
    println!("from drop to Confirmed, beyond the settle time of 5 s: {over:.0?}");
    assert!(over[over.len() / 2] < Duration::from_millis(300));
    assert!(over[over.len() - 1] < Duration::from_secs(1), "none waits for a look without a hint");
}
