//! The checks are checked: each rule of the letter, of taking in and of queues is broken once in a copy of the package, and the
//! model check must find it. What it need not find is harmless, and says why.
//!
//! `MUTANT=3 cargo test --test long mutants -- --nocapture` tries the third alone, `MUTANT=23-36` some.

mod letter;
mod mutant;
mod queue;
mod taking_in;

use std::path::{Path, PathBuf};
use std::process::Command;

use mutant::{Mutant, caught};

/// The environment variable that names the size a mutant is tried with.
pub const SIZE: &str = "MODEL_SIZE";

pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Runs one size in the copy: the first line of what broke, if something did.
fn violated(package: &Path, size: &str) -> Option<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--quiet", "--test", "long", "one_small_size_holds", "--", "--nocapture"]);
    cargo.current_dir(package).env("CARGO_TARGET_DIR", package.join("target")).env(SIZE, size);
    // Most end early, so quick to build counts for more than quick to run.
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
    let output = cargo.env("RUSTFLAGS", "--cap-lints warn").env("RUST_BACKTRACE", "0").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    if output.status.success() {
        return None;
    }
    let line = text.lines().find(|line| line.contains("is violated after")).map(str::to_owned);
    Some(line.unwrap_or_else(|| panic!("a mutant does not compile or run:\n{text}")))
}

#[test]
fn mutants_are_noticed() {
    let all = [letter::MUTANTS, taking_in::MUTANTS, queue::MUTANTS].concat();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package: PathBuf = root.join("target/mutants");
    for dir in [".cargo", "src", "config", "tests", "benches", "systemd", "docs"] {
        let _ = std::fs::remove_dir_all(package.join(dir));
        copy(&root.join(dir), &package.join(dir));
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        std::fs::copy(root.join(file), package.join(file)).unwrap();
    }
    let wanted = std::env::var("MUTANT").unwrap_or_else(|_| format!("1-{}", all.len()));
    let (from, to) = wanted.split_once('-').unwrap_or((&wanted, &wanted));
    let wanted: std::ops::RangeInclusive<usize> = from.parse().unwrap()..=to.parse().unwrap();
    let mut wrong = Vec::new();
    for (index, mutant) in all.iter().enumerate() {
        let number = index + 1;
        if !wanted.contains(&number) {
            continue;
        }
        for (file, from, to) in mutant.edits {
            let text = std::fs::read_to_string(package.join(file)).unwrap();
            assert!(text.contains(from), "mutant {number}: {file} no longer has {from}");
            std::fs::write(package.join(file), text.replace(from, to)).unwrap();
        }
        let found = violated(&package, mutant.size);
        for (file, _, _) in mutant.edits {
            std::fs::copy(root.join(file), package.join(file)).unwrap();
        }
        let how = match (&found, mutant.harmless) {
            (Some(line), None) => line.split('`').nth(1).unwrap_or_default().to_owned(),
            (None, Some(why)) => format!("harmless: {why}"),
            (Some(line), Some(_)) => format!("NOT HARMLESS: {line}"),
            (None, None) => "NOT NOTICED".to_owned(),
        };
        if found.is_some() == mutant.harmless.is_some() {
            wrong.push(number);
        }
        println!("| {number} | {} | {} | {how} |", mutant.what, mutant.size);
    }
    assert!(wrong.is_empty(), "mutants {wrong:?}");
}
