//! A long history: how long a start takes, `mailchute status`, the page; and what an idle daemon needs.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mailchute::daemon::status::{ask, socket};
use mailchute::outside::store::Desk;

use super::flood::{PDF, Running, mailchute, office, peak, program, until};
use crate::rigs::past::copies;

/// Starts a daemon, as it is installed: a file that was copied. What the linker has just written lies otherwise
/// in the system's cache, and more of it is in a process's memory. Gives how long until it says that it is ready.
fn start(config: &str, state: &Path) -> (Running, Duration) {
    let installed = state.with_file_name("installed");
    if !installed.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_mailchute"), &installed).unwrap();
    }
    let began = Instant::now();
    let daemon = Running(program(&installed, &["run", "--config", config]).spawn().unwrap());
    let is_ready = || {
        let facts = ask(state).ok().flatten();
        facts.and_then(|facts| facts.runs).is_some_and(|live| live.ready)
    };
    until(is_ready);
    (daemon, began.elapsed())
}

fn number(of: &str, key: &str) -> u64 {
    let line = of.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Memory in KB, how much of it is its own and no page of a file, and how often its threads have slept and
/// woken.
fn needs(daemon: &Running) -> (u64, u64, u64) {
    let process = format!("/proc/{}", daemon.0.id());
    let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
    let threads = std::fs::read_dir(format!("{process}/task")).unwrap().flatten();
    let wakes = threads.map(|thread| {
        number(&std::fs::read_to_string(thread.path().join("status")).unwrap(), "voluntary_ctxt_switches:")
    });
    (number(&status, "VmRSS:"), number(&status, "RssAnon:"), wakes.sum())
}

/// So many letters more that the ledger's last file, which each start reads, is about as long as they get.
fn lengthen(state: &Path, letters: u64) -> u64 {
    let files = std::fs::read_dir(state.join("spool/ledger")).unwrap().map(|file| file.unwrap());
    let files = files.filter(|file| file.path().extension().is_some_and(|ending| ending == "log"));
    let sizes: BTreeMap<_, _> =
        files.map(|file| (file.file_name(), file.metadata().unwrap().len())).collect();
    let (longest, last) = (sizes.values().max().unwrap(), sizes.values().next_back().unwrap());
    // Not quite: they are written a thousand lines at a time.
    let more = (longest - last) * 9 / 10 * letters / sizes.values().sum::<u64>();
    copies(state, more);
    more
}

/// Among them searches for an old letter, the oldest, none, and two characters.
const PAGES: [&str; 7] = [
    "/",
    "/letters",
    "/letters/7",
    "/letters?q=past-99999.pdf",
    "/letters?q=past-3.pdf",
    "/letters?q=nobody",
    "/letters?q=zz",
];

/// Waits until the index of names has every fact. Returns how long that took, and its size in MB.
fn indexed(state: &Path) -> (Duration, u64) {
    let began = Instant::now();
    let one = |file: &str, sql: &str| {
        let db = rusqlite::Connection::open(state.join(file)).unwrap();
        db.busy_timeout(Duration::from_secs(5)).unwrap();
        db.query_row(sql, [], |row| row.get::<_, i64>(0)).ok()
    };
    until(|| {
        let followed = one("search.db", "SELECT seq FROM followed");
        followed.is_some() && followed == one("mailchute.db", "SELECT max(seq) FROM fact")
    });
    (began.elapsed(), state.join("search.db").metadata().unwrap().len() >> 20)
}

/// An office with so many letters behind it, and no daemon at work; gives its sandbox.
fn history(dir: &Path, letters: u64) -> Running {
    let (config, state) = (dir.join("mailchute.yaml"), dir.join("state"));
    let config = config.to_str().unwrap();
    let (sandbox, daemon) = office(dir, &[("  # settle: 5s", "  settle: 1s")]);
    std::fs::write(dir.join("hot/invoices/INV-000123.pdf"), PDF).unwrap();
    let is = |word: &'static str| {
        let state = state.clone();
        move || !Desk::open(&state).unwrap().letters(Some(word), None, 1).unwrap().is_empty()
    };
    until(is("confirmed"));
    // A schedule has wake-ups of its own.
    let text = std::fs::read_to_string(config).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("digest:")).collect();
    std::fs::write(config, kept.join("\n")).unwrap();
    assert!(mailchute(&["cancel", "1", "--config", config]).output().unwrap().status.success());
    until(is("cancelled"));
    drop(daemon);
    copies(&state, letters - 1);
    sandbox
}

#[test]
fn a_long_past_is_no_burden() {
    let letters: u64 = std::env::var("MAILCHUTE_LETTERS").map_or(100_000, |letters| letters.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let (config, state) = (dir.path().join("mailchute.yaml"), dir.path().join("state"));
    let config = config.to_str().unwrap();
    let _sandbox = history(dir.path(), letters);
    // The first start makes the ledger whole, and so does the next.
    drop(start(config, &state));
    let letters = letters + lengthen(&state, letters);
    drop(start(config, &state));
    let mut starts = Vec::new();
    for _ in 0..5 {
        starts.push(start(config, &state).1);
    }
    let (daemon, _) = start(config, &state);
    let mut looks = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        assert!(mailchute(&["status", "--config", config]).output().unwrap().status.success());
        looks.push(began.elapsed());
    }
    let (took, size) = indexed(&state);
    println!("the index of names was complete {took:.1?} after that: {size} MB");
    let mut pages = Vec::new();
    for path in PAGES {
        let best = (0..5).map(|_| page(&state, path)).min().unwrap();
        println!("{path}: first byte after {best:.1?}");
        pages.push(best);
    }
    // What the start and the questions began comes to its end first.
    let calm = Instant::now();
    until(|| calm.elapsed() > Duration::from_secs(30));
    let (_, _, before) = needs(&daemon);
    let began = Instant::now();
    until(|| began.elapsed() > Duration::from_secs(30));
    let (memory, own, after) = needs(&daemon);
    println!(
        "{letters} letters: started in {starts:.2?}, `status` in {looks:.2?}; idle: {memory} KB ({own} its own), {} wake-ups in 30 s",
        after - before
    );
    assert!(*starts.iter().min().unwrap() < Duration::from_secs(1));
    assert!(*looks.iter().min().unwrap() < Duration::from_millis(100));
    assert!(after - before <= 30, "at most one wake-up a second");
    assert!(cfg!(debug_assertions) || memory <= 20 * 1024, "at most 20 MB");

    let (took, most) = audited(config);
    println!("all was looked through in {took:.1?}, {most} MB at most");
    assert!(most <= 150, "the ledger is not whole in memory");

    // A page of the large database goes bad: it is found, and made anew at the next start.
    drop(daemon);
    drop(start(config, &state).0);
    let database = state.join("mailchute.db");
    let middle = database.metadata().unwrap().len() / 2 / 4096 * 4096;
    let file = std::fs::File::options().write(true).open(&database).unwrap();
    file.write_all_at(&[0xee; 4096], middle).unwrap();
    let mut daemon = mailchute(&["run", "--config", config]).spawn().unwrap();
    let began = Instant::now();
    assert!(!daemon.wait().unwrap().success());
    println!("the damage was found after {:.1?}", began.elapsed());
    let (daemon, took) = start(config, &state);
    let peak = peak(&daemon);
    println!("made anew in {took:.1?}, {peak} MB at most");
    assert!(peak <= 150, "letters are not all in memory at once");
    let desk = Desk::open(&state).unwrap();
    assert_eq!(desk.counts().unwrap().iter().map(|count| count.letters).sum::<u64>(), letters);
}

/// All is as it should be; how long it takes to find out, and how many megabytes at most.
fn audited(config: &str) -> (Duration, u64) {
    let audit = mailchute(&["audit", "--config", config]).stdout(Stdio::null()).spawn();
    let (mut audit, began, mut most) = (Running(audit.unwrap()), Instant::now(), 0);
    until(|| {
        most = most.max(peak(&audit));
        audit.0.try_wait().unwrap().is_some_and(|ended| {
            assert!(ended.success());
            true
        })
    });
    (began.elapsed(), most)
}

fn page(state: &Path, path: &str) -> Duration {
    let mut line = UnixStream::connect(socket(state)).unwrap();
    let began = Instant::now();
    write!(line, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
    line.read_exact(&mut [0]).unwrap();
    began.elapsed()
}
