//! The real program, ended or told of a failure at each moment at which it changes something outside of
//! itself; then started again. Nothing is lost, nothing is posted twice, and the records agree.
//!
//! `cargo test --test long sweep_every -- --nocapture`; `MAILCHUTE_SWEEP=7` takes each seventh moment only,
//! `MAILCHUTE_SWEEP_ONLY="Drop 212 fail1"` one, `MAILCHUTE_SWEEP_ONLY=Drop` those of one scenario. What there
//! is at a moment is said by `moments.c`, which is loaded before the C library; a compiler for C is all it needs.

mod disk;
mod guard;
mod power;
mod scenario;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::rigs::mailroom::Mailroom;
use crate::rigs::program::mailchute;
use scenario::Scenario;

/// Most of a run is waiting for a folder or an address book to settle.
const AT_ONCE: usize = 24;
const PATIENCE: Duration = Duration::from_mins(1);
/// What failed may rest longer than this, if it says so; a new start resumes it immediately.
const RESTS: Duration = Duration::from_secs(12);

/// What happens at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    Before,
    After,
    /// The call fails, in one of the ways in which it may.
    Fail(usize),
}

impl How {
    fn word(self) -> String {
        match self {
            Self::Before => "before".to_owned(),
            Self::After => "after".to_owned(),
            Self::Fail(n) => format!("fail{n}"),
        }
    }
}

/// The library, built once.
fn library() -> &'static Path {
    static BUILT: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    BUILT.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/long/sweep/moments.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("moments.so");
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut built = Command::new(compiler);
        built.args(["-Wall", "-shared", "-fPIC", "-O2", "-pthread"]).arg(source).arg("-o").arg(&library);
        assert!(built.status().unwrap().success());
        library
    })
}

/// A program whose moments are counted.
pub struct Counted {
    pub child: Child,
    journal: PathBuf,
    may_fail: bool,
}

/// What is to happen to it: nothing, if no moment is given.
fn counted(room: &Mailroom, arguments: &[&str], point: Option<(usize, How)>, tape: Option<&Path>) -> Counted {
    let dir = room.dir.path();
    let journal = dir.join("journal");
    let config = dir.join("mailchute.yaml");
    let mut command = mailchute(arguments);
    command.args(["--config", config.to_str().unwrap()]).env("RUST_LOG", "info");
    command.env("LD_PRELOAD", library()).env("SWEEP_ROOT", dir).env("SWEEP_SAID", dir.join("said"));
    if let Some((at, how)) = point {
        command.env("SWEEP_AT", at.to_string()).env("SWEEP_HOW", how.word());
    }
    if let Some(tape) = tape {
        command.env("SWEEP_TAPE", tape);
    }
    let out = std::fs::File::options().create(true).append(true).open(&journal).unwrap();
    let child = command.stdout(Stdio::null()).stderr(out).spawn().unwrap();
    Counted { child, journal, may_fail: matches!(point, Some((_, How::Fail(_)))) }
}

impl Counted {
    /// Looks until it is so, or the program has ended, or rests after a failure and said why.
    pub async fn until(&mut self, what: &str, mut so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !so() && self.child.try_wait().unwrap().is_none() {
            let told = || [" ERROR ", " WARN "].iter().any(|word| self.said().contains(word));
            if self.may_fail && begun.elapsed() > RESTS && told() {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}\n{}", self.said());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.journal).unwrap_or_default()
    }

    /// Asked to end, if it has not; how it ended.
    pub async fn end(&mut self) -> ExitStatus {
        if self.child.try_wait().unwrap().is_none() {
            let id = self.child.id().to_string();
            assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        }
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What was at a point: the call, to what it was done, and the place in our code.
type Named = (String, String, String);

fn said(dir: &Path) -> Vec<Named> {
    let text = std::fs::read_to_string(dir.join("said")).unwrap_or_default();
    let field = |fields: &[&str], n: usize| fields.get(n).copied().unwrap_or_default().to_owned();
    text.lines()
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let what = field(&fields, 2);
            let what = what.strip_prefix(dir.to_str().unwrap()).unwrap_or(&what).to_owned();
            (field(&fields, 1), what, field(&fields, 3))
        })
        .collect()
}

async fn point(scenario: Scenario, at: usize, how: How) -> Option<Named> {
    let room = scenario.prepare().await;
    scenario.run(&room, Some((at, how))).await;
    let named = said(room.dir.path()).pop();
    // Whatever happened, it is started again, and all is well.
    scenario.run(&room, None).await;
    scenario.judge(&room).await;
    named
}

/// The lines of our code by the addresses that `moments.c` tells, each as the first of `src/`.
fn places(addresses: &[String]) -> Vec<String> {
    let program = env!("CARGO_BIN_EXE_mailchute");
    let mut told = Vec::new();
    for some in addresses.chunks(200) {
        let all: Vec<String> = some
            .iter()
            .flat_map(|one| one.split(' ').filter(|address| !address.is_empty()).chain(["0"]))
            .map(str::to_owned)
            .collect();
        let Ok(output) = Command::new("addr2line").args(["-a", "-i", "-e", program]).args(&all).output()
        else {
            return vec![String::new(); addresses.len()];
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut first = String::new();
        for line in text.lines() {
            if let Some(address) = line.strip_prefix("0x") {
                // The nought after each point's addresses.
                if address.bytes().all(|digit| digit == b'0') {
                    told.push(std::mem::take(&mut first));
                }
            } else if first.is_empty()
                && let Some((_, ours)) =
                    line.split_once("/src/").filter(|_| line.starts_with(env!("CARGO_MANIFEST_DIR")))
            {
                first = format!("src/{}", ours.split(' ').next().unwrap_or(ours));
            }
        }
    }
    told
}

fn every(scenario: Scenario) -> usize {
    let asked: usize = std::env::var("MAILCHUTE_SWEEP").map_or(1, |every| every.parse().unwrap());
    asked * scenario.step()
}

/// How many there are when nothing goes wrong.
async fn moments(scenario: Scenario) -> usize {
    let room = scenario.prepare().await;
    scenario.run(&room, None).await;
    scenario.judge(&room).await;
    let moments = said(room.dir.path()).len();
    assert!(moments >= 10, "the library counts nothing: {moments} moments");
    moments
}

async fn sweep(scenario: Scenario) -> (usize, usize, usize, Vec<(usize, How, Named)>) {
    let moments = moments(scenario).await;
    let (turns, mut points) = (Arc::new(Semaphore::new(AT_ONCE)), JoinSet::new());
    for at in (1..=moments).step_by(every(scenario)) {
        for how in [How::Before, How::After, How::Fail(at)] {
            let turns = Arc::clone(&turns);
            points.spawn(async move {
                let _turn = turns.acquire_owned().await.unwrap();
                let run = tokio::spawn(point(scenario, at, how));
                let named =
                    run.await.unwrap_or_else(|error| panic!("{scenario:?} {at} {}: {error}", how.word()));
                (at, how, named)
            });
        }
    }
    let mut found = Vec::new();
    let mut reached = 0;
    while let Some(point) = points.join_next().await {
        let (at, how, named) = point.unwrap();
        reached += usize::from(named.is_some());
        found.extend(named.map(|named| (at, how, named)));
    }
    let asked = 3 * moments.div_ceil(every(scenario));
    assert!(reached * 100 >= asked * scenario.reached(), "{reached} of {asked} points were reached");
    let kills = found.iter().filter(|(_, how, _)| !matches!(how, How::Fail(_))).count();
    (moments, kills, reached - kills, found)
}

/// What is asked for by name: scenarios, and one point.
fn only() -> (Vec<Scenario>, Option<(usize, How)>) {
    let wanted = std::env::var("MAILCHUTE_SWEEP_ONLY").unwrap_or_default();
    let words: Vec<&str> = wanted.split_whitespace().collect();
    let is_wanted = |scenario: &Scenario| words.is_empty() || format!("{scenario:?}") == words[0];
    let scenarios: Vec<Scenario> = Scenario::ALL.into_iter().filter(is_wanted).collect();
    assert!(!scenarios.is_empty(), "there is no scenario {wanted}");
    let point = words.get(1).zip(words.get(2)).map(|(at, how)| {
        let how = match *how {
            "before" => How::Before,
            "after" => How::After,
            fail => How::Fail(fail.trim_start_matches("fail").parse().unwrap()),
        };
        (at.parse().unwrap(), how)
    });
    (scenarios, point)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sweep_every_moment_of_the_real_program() {
    let (scenarios, one) = only();
    if let Some((at, how)) = one {
        println!("{:?}", point(scenarios[0], at, how).await);
        return;
    }
    let table: Mutex<Vec<String>> = Mutex::default();
    for scenario in scenarios {
        let begun = Instant::now();
        let (moments, kills, failures, found) = sweep(scenario).await;
        let took = begun.elapsed().as_secs_f64();
        println!("{scenario:?}: {moments} moments, {kills} kills, {failures} failures, {took:.0} s");
        let addresses: Vec<String> = found.iter().map(|(_, _, named)| named.2.trim().to_owned()).collect();
        let mut lines: BTreeMap<(String, String), usize> = BTreeMap::new();
        for ((_, _, (call, ..)), place) in found.iter().zip(places(&addresses)) {
            *lines.entry((place, call.clone())).or_default() += 1;
        }
        let mut table = table.lock().unwrap();
        table.push(format!("{scenario:?}: {moments} moments, {kills} kills, {failures} failures"));
        table.extend(lines.iter().map(|((place, call), times)| format!("  {times:>5} {call:<9} {place}")));
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sweep.txt");
    std::fs::write(&file, table.lock().unwrap().join("\n") + "\n").unwrap();
    println!("each by its line of our code: {}", file.display());
}
