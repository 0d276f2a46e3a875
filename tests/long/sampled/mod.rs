//! Do the ordinary tests notice a small change? A sample of all changes outside the letter is tried, each alone.
//!
//! `cargo test --test long sampled -- --nocapture`; `ROOM=src/loops/intake` tries one room, `SAMPLE=50` so many,
//! `SEED=2` others. To end sooner: `SKIP=100` leaves out the first so many, `SLOWEST=10` leaves out tests that take
//! more seconds, which notices at most less. Of 200 at least nine in ten must be noticed, and `survivors.txt` says
//! why each of the others is not.

mod package;
#[expect(clippy::wildcard_enum_match_arm, reason = "of Rust's syntax only some has a change")]
mod sites;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use package::{ON, Package, REACHED};
use sites::Site;

/// Two cores are what the smallest machine has on which this is run.
const AT_ONCE: usize = 2;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Test {
    /// Quick ones are asked first.
    takes: Duration,
    binary: PathBuf,
    name: String,
}

fn variable<T: std::str::FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Those with the smallest hashes: a change elsewhere does not change the sample.
fn sample(sites: Vec<Site>, seed: u64, wanted: usize) -> Vec<Site> {
    let hash = |site: &Site| {
        let text = format!("{seed} {}", site.name);
        text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            let hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            hash ^ (hash >> 29)
        })
    };
    let mut sites: Vec<(u64, Site)> = sites.into_iter().map(|site| (hash(&site), site)).collect();
    sites.sort_by_key(|(hash, _)| *hash);
    let mut chosen: Vec<Site> = Vec::new();
    for (_, site) in sites {
        let meets = |other: &Site| {
            other.file == site.file && (other.at.start < site.at.end && site.at.start < other.at.end)
        };
        if chosen.len() < wanted && !chosen.iter().any(meets) {
            chosen.push(site);
        }
    }
    chosen
}

fn start(package: &Package, test: &Test, variable: (&str, &str)) -> Child {
    let mut command = Command::new(&test.binary);
    command.args(["--exact", &test.name]).current_dir(&package.root).env(variable.0, variable.1);
    command.env("CARGO_MANIFEST_DIR", &package.root);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Whether it passes in time.
fn passes(mut child: Child, patience: Duration) -> bool {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.success();
        }
        if begun.elapsed() > patience {
            child.kill().unwrap();
            child.wait().unwrap();
            return false;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Does the work on several threads, in order.
fn each<T: Sync>(work: &[T], act: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(one) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    act(one);
                }
            });
        }
    });
}

/// Which tests reach which mutants. A test that fails without any is left out: it reads the sources.
fn reached(package: &Package) -> BTreeMap<usize, BTreeSet<Test>> {
    let mut tests = Vec::new();
    for binary in &package.binaries {
        let list = Command::new(binary).arg("--list").current_dir(&package.root).output().unwrap();
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        let names = list.lines().filter_map(|line| line.strip_suffix(": test"));
        tests.extend(names.map(|name| (binary.clone(), name.to_owned())));
    }
    let reached = Mutex::new(BTreeMap::<usize, BTreeSet<Test>>::new());
    let lists = tempfile::tempdir().unwrap();
    each(&tests, |(binary, name)| {
        let list = lists.path().join(format!("{}{name}", binary.file_name().unwrap().display()));
        let test = Test { takes: Duration::ZERO, binary: binary.clone(), name: name.clone() };
        let begun = Instant::now();
        let child = start(package, &test, (REACHED, list.to_str().unwrap()));
        if !passes(child, Duration::from_mins(5)) {
            println!("{name} is left out: it fails without a mutant");
            return;
        }
        let test = Test { takes: begun.elapsed(), ..test };
        let numbers = std::fs::read_to_string(&list).unwrap_or_default();
        let mut reached = reached.lock().unwrap();
        for number in numbers.lines().filter_map(|line| line.parse().ok()) {
            reached.entry(number).or_default().insert(test.clone());
        }
    });
    reached.into_inner().unwrap()
}

/// The test that notices a mutant.
fn noticed_by(package: &Package, number: usize, tests: &BTreeSet<Test>) -> Option<String> {
    let on = number.to_string();
    let fails = |test: &&Test| {
        let patience = Duration::from_secs(15) + test.takes * 5;
        !passes(start(package, test, (ON, &on)), patience)
    };
    tests.iter().find(fails).map(|test| test.name.clone())
}

/// The survivors that are known, with their reasons.
fn explained() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("survivors.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" | ")).collect()
}

#[test]
fn a_sample_of_small_changes_is_noticed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (seed, wanted) = (variable("SEED", 1), variable("SAMPLE", 240));
    let under = variable("ROOM", "src".to_owned());
    let all = package::all_sites(root, &under);
    let sites = all.len();
    let chosen = sample(all, seed, wanted).split_off(variable("SKIP", 0));
    let package = Package::build(root, &chosen);
    println!("{} of {sites} mutants, seed {seed}", package.mutants.len());
    let mut reached = reached(&package);
    let slowest = Duration::from_secs(variable("SLOWEST", 600));
    for tests in reached.values_mut() {
        tests.retain(|test| test.takes <= slowest);
    }
    let survivors = Mutex::new(BTreeMap::new());
    let rooms = Mutex::new(BTreeMap::<String, (u32, u32)>::new());
    each(&package.mutants, |(number, site)| {
        let tests = reached.get(number).cloned().unwrap_or_default();
        let by = noticed_by(&package, *number, &tests);
        let name = site.file.split('/').skip(1).take(2).collect::<Vec<_>>().join("/");
        let mut rooms = rooms.lock().unwrap();
        let tried = rooms.entry(name).or_default();
        tried.0 += 1;
        if let Some(test) = by {
            tried.1 += 1;
            println!("noticed | {} | {test}", site.name);
        } else {
            println!("SURVIVES | {} | reached by {} tests", site.name, tests.len());
            survivors.lock().unwrap().insert(site.name.clone(), tests.len());
        }
    });
    let survivors = survivors.into_inner().unwrap();
    println!("\n| room | mutants | noticed |\n|---|---|---|");
    for (room, (many, noticed)) in rooms.into_inner().unwrap() {
        println!("| {room} | {many} | {noticed} |");
    }
    let explained = explained();
    println!("\nsurvivors:");
    let mut unknown = 0;
    for (name, tests) in &survivors {
        let why = explained.get(name.as_str());
        unknown += usize::from(why.is_none());
        println!(
            "{name} | {}",
            why.map_or_else(|| format!("NO REASON, {tests} tests reach it"), |why| (*why).to_owned())
        );
    }
    let (many, survive) = (package.mutants.len(), survivors.len());
    println!("{} of {many} are noticed", many - survive);
    assert!(survive * 10 <= many, "fewer than nine in ten are noticed");
    assert_eq!(unknown, 0, "give each survivor a test, or a reason in survivors.txt");
}
