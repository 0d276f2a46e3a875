//! Who may use whom. A room is a module of `src/`; any arrow that is not in the table fails.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A room and the rooms it may name, in the reading order of `lib.rs`.
const ARROWS: &[(&str, &[&str])] = &[
    ("letter", &["backoff", "address", "clock"]),
    ("address", &[]),
    ("drop", &["letter"]),
    ("address_book", &["address"]),
    ("rules", &["address", "address_book", "drop", "letter"]),
    ("texts", &["address", "clock", "drop", "guard", "letter"]),
    ("message", &["texts"]),
    ("page", &["texts"]),
    ("guard", &["backoff", "clock", "letter"]),
    ("clock", &[]),
    ("backoff", &[]),
    ("bells", &[]),
    ("secret", &[]),
    ("sync", &[]),
    ("disk", &[]),
    ("store", &["clock", "disk", "drop", "guard", "letter", "spool"]),
    ("spool", &["clock", "drop", "guard", "letter", "sync"]),
    ("api", &["address", "clock", "letter", "secret"]),
    ("pdf", &["drop", "letter"]),
    ("journal", &["clock", "drop", "letter", "spool", "store"]),
    (
        "config",
        &[
            "address",
            "address_book",
            "api",
            "clock",
            "disk",
            "drop",
            "guard",
            "letter",
            "message",
            "rules",
            "secret",
            "texts",
        ],
    ),
    ("hot", &["clock", "config", "disk", "drop", "spool", "sync"]),
    (
        "shelf",
        &[
            "bells", "backoff", "clock", "config", "drop", "hot", "journal", "letter", "spool", "store",
            "texts",
        ],
    ),
    (
        "intake",
        &[
            "address_book",
            "clock",
            "config",
            "drop",
            "guard",
            "hot",
            "journal",
            "letter",
            "pdf",
            "rules",
            "spool",
            "store",
            "texts",
        ],
    ),
    ("dispatch", &["bells", "api", "clock", "guard", "journal", "letter", "spool", "store"]),
    (
        "owed",
        &[
            "clock", "config", "drop", "guard", "hot", "journal", "letter", "message", "spool", "store",
            "texts",
        ],
    ),
    ("keep", &["backoff", "api", "clock", "drop", "hot", "journal", "letter", "spool", "store"]),
    ("schedule", &["clock"]),
    (
        "status",
        &["api", "clock", "config", "drop", "guard", "journal", "letter", "page", "spool", "store", "texts"],
    ),
    ("systemd", &[]),
    (
        "daemon",
        &[
            "api", "clock", "config", "dispatch", "guard", "hot", "intake", "journal", "keep", "owed", "pdf",
            "schedule", "shelf", "spool", "status", "store", "systemd",
        ],
    ),
    ("sandbox", &["api", "clock", "page", "secret", "texts"]),
    ("demo", &["clock", "config", "daemon", "pdf", "sandbox", "store", "systemd"]),
    (
        "cli",
        &[
            "address",
            "address_book",
            "api",
            "clock",
            "config",
            "daemon",
            "demo",
            "disk",
            "drop",
            "guard",
            "hot",
            "intake",
            "letter",
            "message",
            "owed",
            "pdf",
            "rules",
            "sandbox",
            "secret",
            "shelf",
            "spool",
            "status",
            "store",
            "systemd",
            "texts",
        ],
    ),
];

/// What the pure rooms may not even name: I/O, a clock of their own, chance of their own.
const PURE: &[&str] = &[
    "src/letter",
    "src/address.rs",
    "src/address_book.rs",
    "src/drop",
    "src/rules",
    "src/texts",
    "src/message",
    "src/guard",
    "src/intake/settle.rs",
    "src/owed/route.rs",
    "src/shelf/place.rs",
    "src/store/union.rs",
    "src/sandbox/world",
];
const IMPURE: &[&str] = &[
    "tokio",
    "axum",
    "hyper",
    "reqwest",
    "rusqlite",
    "std::fs",
    "fs_err",
    "std::net",
    "std::io",
    "std::thread",
    "std::process",
    "std::env",
    "getrandom",
    "Utc::now",
    "Local::now",
    "Instant::now",
    "SystemTime",
    "tracing",
];

pub fn sources(dir: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut waiting = vec![root.join(dir)];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path.strip_prefix(root).unwrap().to_owned(), text));
        }
    }
    found.sort();
    found
}

/// The room a file stands in.
fn room(path: &Path) -> String {
    let first = path.components().nth(1).unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// The rooms a source names, each with what follows the name.
fn named(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.split_at(end)
    })
}

#[test]
fn rooms_use_only_the_rooms_they_may() {
    let rooms: BTreeSet<&str> = ARROWS.iter().map(|(room, _)| *room).collect();
    for (path, text) in sources("src") {
        let room = room(&path);
        if room == "lib" || room == "main" {
            continue;
        }
        let allowed = ARROWS.iter().find(|(name, _)| *name == room).map(|(_, allowed)| *allowed);
        let allowed =
            allowed.unwrap_or_else(|| panic!("{}: the room `{room}` is not in the table", path.display()));
        for (name, _) in named(&text) {
            let fits = name == room || allowed.contains(&name);
            assert!(
                rooms.contains(name),
                "{}: `crate::{name}` is no room; name rooms one by one",
                path.display()
            );
            assert!(fits, "{}: `{room}` may not use `{name}`", path.display());
        }
    }
}

#[test]
fn the_sandbox_shares_nothing_with_the_client_but_the_words_of_the_line() {
    for (path, text) in sources("src/sandbox") {
        for (name, rest) in named(&text) {
            if name == "api" {
                assert!(rest.starts_with("::wire"), "{}: api{}", path.display(), &rest[..20.min(rest.len())]);
            }
        }
    }
}

#[test]
fn the_pure_rooms_are_pure() {
    for dir in PURE {
        let files = sources(dir);
        assert!(!files.is_empty(), "{dir} is gone");
        for (path, text) in files {
            for word in IMPURE {
                assert!(!text.contains(word), "{} names {word}", path.display());
            }
        }
    }
}

#[test]
fn the_map_names_every_room_in_its_order() {
    let map = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let declared: Vec<&str> =
        map.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let expected: Vec<&str> = ARROWS.iter().map(|(room, _)| *room).collect();
    assert_eq!(declared, expected);
}

/// What a source declares for others to name.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let public = line.trim_start().strip_prefix("pub")?;
        let public = if public.starts_with('(') { public.split_once(')')?.1 } else { public };
        let kinds = ["struct ", "enum ", "trait ", "type "];
        let name = kinds.iter().find_map(|kind| public.trim_start().strip_prefix(kind))?;
        name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
    })
}

/// Mirrors may name things as their format does: the lines to the service, YAML, and the sandbox, which is
/// another reading of the same contract.
fn is_mirror(path: &Path) -> bool {
    ["src/api/wire", "src/config/yaml", "src/sandbox"]
        .iter()
        .any(|mirror| path.to_str().unwrap().starts_with(mirror))
}

#[test]
fn no_type_has_the_name_of_another_rooms_type() {
    let mut owners = std::collections::BTreeMap::<String, PathBuf>::new();
    for (path, text) in sources("src").into_iter().filter(|(path, _)| !is_mirror(path)) {
        for name in declared(&text) {
            let owner = owners.entry(name.to_owned()).or_insert_with(|| path.clone());
            assert_eq!(room(owner), room(&path), "{name} is declared in {owner:?} and in {path:?}");
        }
    }
    assert!(owners.len() > 300, "only {} types were found", owners.len());
}
