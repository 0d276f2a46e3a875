//! A burst of letters, from drop to confirmed: mailchute beside the script that one would write instead
//! (`naive.sh`) and beside bare clients that do the same four calls and nothing else, each on a sandbox of
//! its own, all in one run.
//!
//! `cargo bench --bench letters` (`-- 200` for fewer letters). Writes `target/letters.json` and
//! `target/letters.svg`. The script takes part if inotifywait, qpdf, curl, jq and sqlite3 are there.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench tells, and a panic is its message")]

mod floor;
mod picture;
mod place;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use floor::Floor;
use place::{Office, Sandbox, cpu_of, document};
use tempfile::TempDir;

/// How a contestant did.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Run {
    pub who: &'static str,
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
            letters,
            seconds: took.as_secs_f64(),
            letters_per_second: count / took.as_secs_f64(),
            cpu_ms_per_letter: cpu.as_secs_f64() * 1000.0 / count,
        }
    }
}

/// All at once into the hot folder, by rename, as a file server's users do.
fn mailchute(who: &'static str, letters: usize, delay: Option<u32>, kept: &mut Vec<TempDir>) -> Run {
    let office = Office::open(letters);
    let before = office.cpu();
    office.sandbox.slow(delay, letters);
    let began = Instant::now();
    office.drop_all();
    // What it waits for before it takes anything is no work.
    let settled = began + Office::SETTLE;
    office.sandbox.until_confirmed(letters);
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

fn naive(letters: usize) -> Option<Run> {
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
    let dir = tempfile::tempdir().unwrap();
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
    Some(Run::new("naive.sh", letters, took, cpu_of("self").saturating_sub(before)))
}

fn table(runs: &[Run]) {
    println!("| | letters | letters/s | CPU ms a letter |\n|---|---|---|---|");
    for run in runs {
        println!(
            "| {} | {} | {:.1} | {:.2} |",
            run.who, run.letters, run.letters_per_second, run.cpu_ms_per_letter
        );
    }
}

/// A figure of two contestants against what it must reach.
fn ratio(runs: &[Run], what: &str, one: (&str, fn(&Run) -> f64), other: &str, to_reach: f64) {
    let find = |who: &str| runs.iter().find(|run| run.who == who);
    let (Some(a), Some(b)) = (find(one.0), find(other)) else { return };
    let found = one.1(a) / one.1(b);
    let found = if found < 1.0 && to_reach > 1.0 { 1.0 / found } else { found };
    let verdict = if found >= to_reach { "reached" } else { "NOT REACHED" };
    println!("{what}: {found:.2}, to reach {to_reach}: {verdict}");
}

fn main() {
    mailchute::api::install_tls();
    let letters = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(500);
    let slow = Some(100);
    let durable = Floor { at_once: 8, durable: true };
    // A filesystem that has just forgotten many files is slow to make new ones: nothing is removed before the
    // end.
    let mut kept = Vec::new();
    let mut runs = vec![
        floor("floor, one at a time", letters, &Floor { at_once: 1, durable: false }, None),
        floor("floor, eight at once", letters, &Floor { at_once: 8, durable: false }, None),
        floor("durable floor, eight at once", letters, &durable, None),
        mailchute("mailchute", letters, None, &mut kept),
        floor("durable floor, each call 100 ms slower", letters, &durable, slow),
        mailchute("mailchute, each call 100 ms slower", letters, slow, &mut kept),
        floor("sandbox, asked by 32", letters * 4, &Floor { at_once: 32, durable: false }, None),
    ];
    runs.extend(naive(letters.min(200)));
    table(&runs);
    let rate: fn(&Run) -> f64 = |run| run.letters_per_second;
    let cpu: fn(&Run) -> f64 = |run| run.cpu_ms_per_letter;
    ratio(&runs, "rate, times the script's", ("mailchute", rate), "naive.sh", 40.0);
    ratio(&runs, "CPU a letter, one so much of the script's", ("mailchute", cpu), "naive.sh", 30.0);
    ratio(&runs, "rate, of the durable floor's", ("mailchute", rate), "durable floor, eight at once", 0.3);
    let (ours, bare) = ("mailchute, each call 100 ms slower", "durable floor, each call 100 ms slower");
    ratio(&runs, "the same, each call 100 ms slower", (ours, rate), bare, 0.9);
    ratio(&runs, "the sandbox's rate, times mailchute's", ("sandbox, asked by 32", rate), "mailchute", 3.0);
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    std::fs::write(target.join("letters.json"), serde_json::to_vec_pretty(&runs).unwrap()).unwrap();
    std::fs::write(target.join("letters.svg"), picture::bars(&runs)).unwrap();
}
