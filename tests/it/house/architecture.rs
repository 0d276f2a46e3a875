//! Who may use whom. A room is a module of `src/`; any arrow that is not in the table of `arrows.rs` fails.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::house::arrows::{Room, SINGLE, WINGS};

/// What the pure rooms may not even name: I/O, a clock of their own, chance of their own.
const PURE: &[&str] = &[
    "src/words/texts",
    "src/words/message",
    "src/domain",
    "src/loops/intake/settle.rs",
    "src/loops/outbox/route.rs",
    "src/loops/originals/place.rs",
    "src/outside/store/union.rs",
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

fn rooms_of(wing: &str) -> &'static [Room] {
    WINGS.iter().find(|(name, _)| *name == wing).map_or(&[], |(_, rooms)| rooms)
}

/// The room of a place below `src`, and whether its wing is one. What stands in a wing itself belongs to the room
/// of the same name.
fn room_at<'a>(wing: &'a str, next: &'a str) -> Option<&'a str> {
    let rooms = rooms_of(wing);
    let named = rooms.iter().find(|(room, _)| *room == next).or(rooms.iter().find(|(room, _)| *room == wing));
    named.map(|(room, _)| *room)
}

/// The room a file stands in; none for what only lists them.
fn room(path: &Path) -> Option<String> {
    let mut parts = path.iter().skip(1).map(|part| part.to_str().unwrap().trim_end_matches(".rs"));
    let (wing, next) = (parts.next()?, parts.next().unwrap_or_default());
    let found = room_at(wing, next).map(str::to_owned);
    assert!(
        found.is_some() || next == "mod" || ["lib", "main"].contains(&wing),
        "{}: its room is not in the table",
        path.display()
    );
    found
}

/// The paths a source names below `crate`, each as its first two words and what follows.
fn named(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let word = |rest: &str| rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    text.split("crate::").skip(1).map(move |rest| {
        let (first, rest) = rest.split_at(word(rest));
        let next = rest.strip_prefix("::").unwrap_or_default();
        let (second, rest) = next.split_at(word(next));
        (first, second, rest)
    })
}

#[test]
fn rooms_use_only_the_rooms_they_may() {
    for (path, text) in sources("src") {
        let Some(room) = room(&path) else { continue };
        let allowed = WINGS.iter().flat_map(|(_, rooms)| *rooms).find(|(name, _)| *name == room).unwrap().1;
        for (wing, next, _) in named(&text) {
            let Some(name) = room_at(wing, next) else {
                panic!("{}: `crate::{wing}::{next}` is no room; name rooms one by one", path.display());
            };
            let fits = name == room || allowed.contains(&name);
            assert!(fits, "{}: `{room}` may not use `{name}`", path.display());
        }
    }
}

#[test]
fn arrows_lead_down_and_never_round() {
    let height = |room: &str| WINGS.iter().position(|(_, rooms)| rooms.iter().any(|(name, _)| *name == room));
    let mut left: Vec<&Room> = WINGS.iter().flat_map(|(_, rooms)| *rooms).collect();
    for (room, uses) in &left {
        for used in *uses {
            assert!(height(used).unwrap() <= height(room).unwrap(), "`{used}` is above `{room}`");
        }
    }
    while !left.is_empty() {
        let names: BTreeSet<&str> = left.iter().map(|(room, _)| *room).collect();
        let before = left.len();
        left.retain(|(_, uses)| uses.iter().any(|used| names.contains(used)));
        assert!(left.len() < before, "these rooms use each other: {names:?}");
    }
}

#[test]
fn the_sandbox_shares_nothing_with_the_client_but_the_words_of_the_line() {
    for (path, text) in sources("src/sandbox") {
        for (_, name, rest) in named(&text) {
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
fn the_maps_name_every_room_in_its_order() {
    let declared = |map: &str| -> Vec<String> {
        let map = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(map)).unwrap();
        let modules = map.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
        modules.map(str::to_owned).collect()
    };
    let wings: Vec<&str> = WINGS.iter().map(|(wing, _)| *wing).collect();
    assert_eq!(declared("src/lib.rs"), wings);
    for (wing, rooms) in WINGS.iter().filter(|(wing, _)| !SINGLE.contains(wing)) {
        let rooms: Vec<&str> = rooms.iter().map(|(room, _)| *room).filter(|room| room != wing).collect();
        assert_eq!(declared(&format!("src/{wing}/mod.rs")), rooms, "in {wing}");
    }
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
    ["src/outside/api/wire", "src/config/yaml", "src/sandbox"]
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
