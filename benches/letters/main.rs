//! A burst of letters, from drop to confirmed: mailchute beside the script that one would write instead
//! (`naive.sh`) and beside bare clients that do the same four calls and nothing else, each on a sandbox of
//! its own, all in one run.
//!
//! They take turns, and what counts is the median of all rounds, since a machine is not the same from one minute
//! to the next; those whose calls are made slow have one round. `cargo bench --bench letters` (`-- 200 5` for fewer letters
//! and more rounds; `--dir DIR` writes there; `--on ext4`, `xfs` or `btrfs` makes such a file system on a loop device,
//! as root). Writes
//! `target/letters.json` and `target/letters.svg`. The script takes part if inotifywait, qpdf, curl, jq and
//! sqlite3 are there.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench tells, and a panic is its message")]

mod floor;
mod ground;
mod picture;
mod place;
mod tell;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use floor::Floor;
use place::{Office, Pages, Sandbox, Setting, cpu_of, document};
use tempfile::TempDir;

/// How a contestant did in one round.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Run {
    pub who: &'static str,
    pub round: usize,
    pub letters: usize,
    pub seconds: f64,
    pub letters_per_second: f64,
    /// Without the sandbox's.
    pub cpu_ms_per_letter: f64,
}

impl Run {
    fn new(who: &'static str, letters: usize, took: Duration, cpu: Duration) -> Self {
        let count = f64::from(u32::try_from(letters).unwrap());
        Self {
            who,
            round: 0,
            letters,
            seconds: took.as_secs_f64(),
            letters_per_second: count / took.as_secs_f64(),
            cpu_ms_per_letter: cpu.as_secs_f64() * 1000.0 / count,
        }
    }
}

/// All at once into the hot folder, by rename, as a file server's users do.
fn mailchute(
    who: &'static str,
    letters: usize,
    setting: Setting,
    delay: Option<u32>,
    kept: &mut Vec<TempDir>,
) -> Run {
    let office = Office::open(letters, setting);
    let before = office.cpu();
    office.sandbox.slow(delay, letters);
    let began = Instant::now();
    office.drop_all();
    // What it waits for before it takes anything is no work.
    let settled = began + Office::SETTLE;
    office.sandbox.until_confirmed(Office::BEFORE + letters);
    let took = settled.elapsed();
    // Children are counted when they have ended.
    std::thread::park_timeout(Duration::from_secs(3));
    let run = Run::new(who, letters, took, office.cpu().saturating_sub(before));
    kept.push(office.close());
    run
}

fn floor(who: &'static str, letters: usize, floor: &Floor, delay: Option<u32>) -> Run {
    let sandbox = Sandbox::start();
    let documents: Vec<Vec<u8>> = (0..letters).map(document).collect();
    sandbox.slow(delay, letters);
    let before = cpu_of("self");
    let began = Instant::now();
    floor.post(&sandbox, documents);
    let took = began.elapsed();
    Run::new(who, letters, took, cpu_of("self").saturating_sub(before))
}

fn naive(letters: usize, kept: &mut Vec<TempDir>) -> Option<Run> {
    let is_there = |tool: &&str| {
        Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let lacks: Vec<&str> =
        ["inotifywait", "qpdf", "curl", "jq", "sqlite3"].into_iter().filter(|tool| !is_there(tool)).collect();
    if !lacks.is_empty() {
        println!("naive.sh does not take part: there is no {}", lacks.join(", "));
        return None;
    }
    let sandbox = Sandbox::start();
    let dir = ground::new_dir();
    let (hot, written) = (dir.path().join("hot"), dir.path().join("written"));
    for made in [&hot, &written] {
        std::fs::create_dir(made).unwrap();
    }
    for n in 0..letters {
        std::fs::write(written.join(format!("{n}.pdf")), document(n)).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/naive.sh");
    let before = cpu_of("self");
    let mut script = Command::new(script);
    script.arg(&hot).arg(letters.to_string()).args([
        &sandbox.base,
        &sandbox.auth,
        &sandbox.client,
        &sandbox.secret,
    ]);
    let mut script = script.arg(dir.path().join("db")).spawn().unwrap();
    place::until_watched(&script);
    let began = Instant::now();
    for n in 0..letters {
        let name = format!("{n}.pdf");
        std::fs::rename(written.join(&name), hot.join(&name)).unwrap();
    }
    assert!(script.wait().unwrap().success());
    let took = began.elapsed();
    sandbox.until_confirmed(letters);
    kept.push(dir);
    Some(Run::new("naive.sh", letters, took, cpu_of("self").saturating_sub(before)))
}

/// How many letters of a provider who is far away are in calls at the same time.
const VERY_MANY: usize = 64;

/// One round; what needs long is done in the first only.
fn round(round: usize, letters: usize, kept: &mut Vec<TempDir>) -> Vec<Run> {
    let durable = Floor { at_once: 8, durable: true };
    let bare = |at_once| Floor { at_once, durable: false };
    let mut runs = vec![
        floor("floor, one at a time", letters, &bare(1), None),
        floor("floor, eight at once", letters, &bare(8), None),
        floor("durable floor, eight at once", letters, &durable, None),
        mailchute("mailchute", letters, Setting::USUAL, None, kept),
        floor("sandbox, asked by 32", letters * 4, &bare(32), None),
    ];
    if round == 0 {
        let slow = Some(100);
        runs.push(floor("durable floor, each call 100 ms slower", letters, &durable, slow));
        runs.push(mailchute("mailchute, each call 100 ms slower", letters, Setting::USUAL, slow, kept));
        let very_many = Floor { at_once: VERY_MANY, durable: true };
        runs.push(floor("durable floor, 64 at once, the same", letters, &very_many, slow));
        let very_many = Setting { at_once: VERY_MANY, ..Setting::USUAL };
        runs.push(mailchute("mailchute, 64 at once, the same", letters, very_many, slow, kept));
        let compared = Setting { pages: Pages::Compared, ..Setting::USUAL };
        runs.push(mailchute("mailchute, pages compared", letters, compared, None, kept));
    }
    runs.extend(naive(letters.min(100), kept));
    runs.into_iter().map(|run| Run { round, ..run }).collect()
}

fn main() {
    mailchute::outside::api::install_tls();
    let arguments: Vec<String> = std::env::args().collect();
    ground::on(&arguments, || race(&arguments));
}

fn race(arguments: &[String]) {
    let mut numbers = arguments.iter().filter_map(|word| word.parse().ok());
    let (letters, rounds) = (numbers.next().unwrap_or(500), numbers.next().unwrap_or(3));
    // A filesystem that has just forgotten many files is slow to make new ones: nothing is removed before the
    // end.
    let mut kept = Vec::new();
    let runs: Vec<Run> = (0..rounds).flat_map(|number| round(number, letters, &mut kept)).collect();
    let medians = tell::medians(&runs);
    tell::table(&medians, &runs);
    tell::ratios(&runs);
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    std::fs::write(target.join("letters.json"), serde_json::to_vec_pretty(&runs).unwrap()).unwrap();
    std::fs::write(target.join("letters.svg"), picture::bars(&medians)).unwrap();
}
