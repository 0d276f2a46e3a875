//! A copy of the package in which every mutant of the sample can be switched on by its number.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::sites::{Site, sites};
use crate::mutants::copy;

/// Names the mutant that is on.
pub const ON: &str = "MAILCHUTE_MUTANT";
/// Names the file to which each process writes the mutants that it reaches.
pub const REACHED: &str = "MAILCHUTE_REACHED";

/// What the copy has in addition.
const SWITCH: &str = r#"
static REACHED: [std::sync::atomic::AtomicBool; 4096] =
    [const { std::sync::atomic::AtomicBool::new(false) }; 4096];
static ON: std::sync::LazyLock<Option<usize>> =
    std::sync::LazyLock::new(|| std::env::var("MAILCHUTE_MUTANT").ok()?.parse().ok());
static LIST: std::sync::LazyLock<Option<std::ffi::OsString>> =
    std::sync::LazyLock::new(|| std::env::var_os("MAILCHUTE_REACHED"));

#[doc(hidden)]
pub fn is_mutant(number: usize) -> bool {
    if let Some(list) = &*LIST
        && !REACHED[number].swap(true, std::sync::atomic::Ordering::Relaxed)
    {
        use std::io::Write as _;
        let file = std::fs::OpenOptions::new().append(true).create(true).open(list);
        let _ = file.and_then(|mut file| file.write_all(format!("{number}\n").as_bytes()));
    }
    *ON == Some(number)
}
"#;

/// All sites of the rooms under a path, but those of the letter, which has mutants of its own.
pub fn all_sites(root: &Path, under: &str) -> Vec<Site> {
    let (mut dirs, mut files) = (vec![root.join("src")], Vec::new());
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() { dirs.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut found = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let file = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let is_left = file.starts_with("src/domain/letter/") || file == "src/main.rs" || file == "src/lib.rs";
        if file.starts_with(under) && !is_left {
            found.extend(sites(&file, &std::fs::read_to_string(path).unwrap()));
        }
    }
    found
}

/// The test binaries of the copy: each with the sites that can be switched on, by number.
pub struct Package {
    pub root: PathBuf,
    pub binaries: Vec<PathBuf>,
    pub mutants: Vec<(usize, Site)>,
}

impl Package {
    /// Makes the copy and builds it. What does not compile is left out.
    pub fn build(root: &Path, sample: &[Site]) -> Self {
        let package = root.join("target/sampled");
        for dir in ["src", "config", "tests", "benches", "systemd", "docs"] {
            let _ = std::fs::remove_dir_all(package.join(dir));
            copy(&root.join(dir), &package.join(dir));
        }
        for entry in std::fs::read_dir(root).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), package.join(entry.file_name())).unwrap();
            }
        }
        let library = package.join("src/lib.rs");
        let text = std::fs::read_to_string(&library).unwrap();
        std::fs::write(&library, text + SWITCH).unwrap();
        let starts_the_child = "src/outside/pdf/alive.rs";
        let text = text_of(root, starts_the_child);
        assert!(!text.contains(CLEARING));
        std::fs::write(package.join(starts_the_child), text).unwrap();
        let mut left_out = BTreeSet::new();
        loop {
            let lines = write(root, &package, sample, &left_out);
            match compile(&package) {
                Ok(binaries) => {
                    let mutants = sample.iter().cloned().enumerate();
                    let mutants = mutants.filter(|(number, _)| !left_out.contains(number)).collect();
                    return Self { root: package, binaries, mutants };
                }
                Err(errors) => {
                    let wrong: BTreeSet<usize> = lines
                        .iter()
                        .filter(|(_, file, at)| {
                            let meets = |line: &Range<usize>| line.start < at.end && at.start < line.end;
                            errors.iter().any(|(other, line)| other == file && meets(line))
                        })
                        .map(|(number, _, _)| *number)
                        .collect();
                    assert!(!wrong.is_empty(), "the copy does not compile: {errors:?}");
                    println!("{} that do not compile are left out", wrong.len());
                    left_out.extend(wrong);
                }
            }
        }
    }
}

/// The process that counts pages starts without variables, and must see the switch too.
const CLEARING: &str = ".env_clear()";

fn text_of(root: &Path, file: &str) -> String {
    let text = std::fs::read_to_string(root.join(file)).unwrap();
    text.replace(CLEARING, &" ".repeat(CLEARING.len()))
}

/// Writes the files with their switches. Returns in which lines each mutant stands.
fn write(
    root: &Path,
    package: &Path,
    sample: &[Site],
    left_out: &BTreeSet<usize>,
) -> Vec<(usize, String, Range<usize>)> {
    let mut lines = Vec::new();
    let files: BTreeSet<&str> = sample.iter().map(|site| site.file.as_str()).collect();
    for file in files {
        let mut here: Vec<(usize, &Site)> = sample.iter().enumerate().collect();
        here.retain(|(number, site)| site.file == file && !left_out.contains(number));
        here.sort_by_key(|(_, site)| site.at.start);
        let text = text_of(root, file);
        let (mut written, mut at) = (String::new(), 0);
        for (number, site) in here {
            written.push_str(&text[at..site.at.start]);
            let first = written.lines().count();
            written.push_str(&site.switched(number));
            lines.push((number, file.to_owned(), first..written.lines().count() + 1));
            at = site.at.end;
        }
        written.push_str(&text[at..]);
        let target = package.join(file);
        // An unchanged file is not compiled again.
        if std::fs::read_to_string(&target).unwrap() != written {
            std::fs::write(target, written).unwrap();
        }
    }
    lines
}

/// The test binaries, or the lines of the errors.
fn compile(package: &Path) -> Result<Vec<PathBuf>, Vec<(String, Range<usize>)>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--no-run", "--lib", "--bins", "--test", "it", "--message-format", "json"]);
    cargo.current_dir(package).env("CARGO_TARGET_DIR", package.join("target"));
    let output = cargo.env("RUSTFLAGS", "--cap-lints warn").output().unwrap();
    let (mut binaries, mut errors) = (Vec::new(), Vec::new());
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(told) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        if let Some(binary) = told["executable"].as_str().filter(|_| told["profile"]["test"] == true) {
            binaries.push(PathBuf::from(binary));
        }
        if told["message"]["level"] == "error" {
            for span in told["message"]["spans"].as_array().into_iter().flatten() {
                let line = |key: &str| usize::try_from(span[key].as_u64().unwrap()).unwrap();
                let file = span["file_name"].as_str().unwrap().to_owned();
                errors.push((file, line("line_start")..line("line_end") + 1));
            }
        }
    }
    if output.status.success() {
        Ok(binaries)
    } else {
        assert!(!errors.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        Err(errors)
    }
}
