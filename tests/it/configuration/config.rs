//! The examples are true, and what is wrong is told like a compiler's message: `bad_config/` has one
//! directory for each mistake, with the exact words expected.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mailchute::config::{
    Config, FirstStart, LetterKind, Problem, WatchMode, read_address, read_receiver, schemas,
};
use mailchute::domain::letter::Retry;
use mailchute::outside::api::Patience;
use tempfile::TempDir;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_example_shows_the_defaults_and_the_addresses_beside_it_are_good() {
    let config = Config::read(&root().join("config/mailchute.yaml")).unwrap();
    assert_eq!(config.state, Path::new("/var/lib/mailchute"));
    assert_eq!((config.letters_at_once, config.retry), (8, Retry::default()));
    let usual = Patience::default();
    assert_eq!(
        (config.patience.connect, config.patience.call, config.patience.transfer),
        (usual.connect, usual.call, usual.transfer)
    );
    read_address(&root().join("config/sender.yaml")).unwrap();
    assert_eq!(read_receiver(&root().join("config/receiver.yaml")).unwrap().honorific, "様");
}

#[test]
fn the_example_of_a_folder_shows_every_default() {
    let config = Config::read(&root().join("config/mailchute.yaml")).unwrap();
    let folder = config.folder("invoices").unwrap();
    assert_eq!((folder.mode, folder.letter), (WatchMode::default(), LetterKind::default()));
    assert_eq!((folder.first_start, folder.settle, folder.poll), (FirstStart::default(), None, None));
    assert_eq!(folder.sidecar_within.as_secs(), 600);
    assert_eq!(folder.rules.rules.len(), 3);
    let (book, mistakes) = folder.book.as_ref().unwrap().read().unwrap();
    assert_eq!((book.len(), mistakes.len()), (2, 0));
    let sidecar = std::fs::read(root().join("config/sidecar.pdf.yaml")).unwrap();
    let sidecar = folder.sidecar("sidecar.pdf.yaml", sidecar).unwrap();
    assert_eq!((sidecar.pages, sidecar.receiver.honorific.as_str()), (Some(2), "様"));
}

#[test]
fn the_schemas_are_those_of_the_types() {
    for (name, text) in schemas() {
        let kept = std::fs::read_to_string(root().join("config/schema").join(name)).unwrap();
        assert_eq!(kept, text, "stale: run `mailchute schema --dir config/schema`");
    }
}

const MAIN: &str = "state: state
accounts:
  main:
    base_url: https://api.example.jp
    auth_url: https://auth.example.jp
    client_id: c
    client_secret: {env: HOME}
addresses:
  office:
    postal_code: \"1000001\"
    state: 東京都
    city: 千代田区
    address1: 千代田1-1
    name: 見本
";

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
        // Whoever cloned it may have let everybody write.
        open(&target, false);
    }
}

/// Whether everybody may write it.
fn open(path: &Path, to_all: bool) {
    let mode = std::fs::metadata(path).unwrap().permissions().mode();
    let mode = if to_all { mode | 0o002 } else { mode & !0o022 };
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// The examples, in a directory of their own.
fn examples() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    copy(&root().join("config"), dir.path());
    dir
}

#[test]
fn what_anybody_may_write_is_told() {
    let dir = examples();
    let main = dir.path().join("mailchute.yaml");
    for (name, is_dir) in [
        ("mailchute.yaml", false),
        ("folders/invoices.yaml", false),
        ("folders/customers.csv", false),
        ("folders", true),
        ("", true),
    ] {
        let path = dir.path().join(name);
        assert_eq!(path.is_dir(), is_dir);
        open(&path, true);
        let warnings = Config::read(&main).unwrap().warnings;
        let files: Vec<&Path> = warnings.iter().map(Problem::file).collect();
        assert_eq!(files, [path.as_path()]);
        let said = warnings[0].render(false);
        assert!(
            said.contains("anybody on this machine can write it") && said.contains("chmod o-w"),
            "{said}"
        );
        open(&path, false);
    }
    assert!(Config::read(&main).unwrap().warnings.is_empty());
}

#[test]
fn what_is_probably_a_mistake_is_told_with_its_place_and_remedy() {
    let warned = |files: &[(&str, &str)]| {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("folders")).unwrap();
        std::fs::write(dir.path().join("mailchute.yaml"), MAIN).unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let warnings = Config::read(&dir.path().join("mailchute.yaml")).unwrap().warnings;
        warnings.iter().map(|warning| warning.render(false)).collect::<Vec<_>>().join("\n")
    };
    let rule = |name: &str, when: &str| {
        format!("  - {{name: {name}, when: {when}, receiver: sidecar, shipping: {{method: normal}}}}\n")
    };
    let rules = |rules: &[String]| format!("path: hot\nsender: office\nrules:\n{}", rules.concat());
    let first = rules(&[rule("all", "{file_name: '.*'}"), rule("bills", "{pages: 2}")]);
    let said = warned(&[("folders/a.yaml", &first)]);
    assert!(
        said.contains("because the rule \"all\" before it fits everything")
            && said.contains("folders/a.yaml:5"),
        "{said}"
    );
    let last = rules(&[rule("bills", "{pages: 2}"), rule("all", "{}")]);
    assert_eq!(warned(&[("folders/a.yaml", &last)]), "");
    // A byte order mark is no mistake.
    assert_eq!(warned(&[("folders/a.yaml", &format!("\u{feff}{last}"))]), "");
    // Nothing is watched, and why.
    let said = warned(&[("folders/a.yml", &last)]);
    assert!(said.contains("no file matches `folders/*.yaml`, so no folder is watched"), "{said}");
    assert!(said.contains("folders/a.yml is there; rename it, or change the pattern"), "{said}");
    assert!(warned(&[]).contains("folders/letters.yaml"));
    // People are named, and no mail can reach them.
    let notified = format!("{last}notify: {{shipped: [c@example.jp]}}\n");
    let said = warned(&[("folders/a.yaml", &notified)]);
    assert!(
        said.contains("no e-mail is sent to them: mailchute.yaml has no `email`")
            && said.contains("add `email:` with the mail server"),
        "{said}"
    );
}

/// All that is said of a configuration, with paths as they are in it.
fn said(fixture: &Path) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("mailchute.yaml"), MAIN).unwrap();
    copy(fixture, dir.path());
    let config = Config::read(&dir.path().join("mailchute.yaml"));
    let credentials = |config: Config| config.accounts.iter().find_map(|account| account.credentials().err());
    let wrong = config.map_or_else(Some, credentials);
    let text = wrong.map_or_else(|| "nothing".to_owned(), |wrong| wrong.to_string());
    let inside = format!("{}/", dir.path().display());
    let real = format!("{}/", dir.path().canonicalize().unwrap().display());
    format!("{}\n", text.replace(&inside, "").replace(&real, ""))
}

#[test]
fn every_broken_configuration_is_told_in_the_words_expected() {
    let mut fixtures: Vec<PathBuf> = std::fs::read_dir(root().join("tests/it/configuration/bad_config"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    fixtures.sort();
    assert!(fixtures.len() >= 40);
    let mut wrong = Vec::new();
    for fixture in fixtures {
        let said = said(&fixture);
        assert!(!said.contains("hunter2"), "a secret is shown: {said}");
        let expected = std::fs::read_to_string(fixture.join("expected.txt")).unwrap_or_default();
        if said != expected {
            // What is said now, to be read and kept if it is right.
            let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad_config");
            let name = fixture.file_name().unwrap().to_str().unwrap().to_owned();
            std::fs::create_dir_all(&made).unwrap();
            std::fs::write(made.join(&name), &said).unwrap();
            wrong.push(format!("{name}:\n{said}instead of\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_secret_is_never_repeated_however_it_is_written() {
    for (from, to) in [
        ("{env: HOME}", "'hunter2'\nother: 1"),
        ("{env: HOME}", "{hunter2}"),
        ("{env: HOME}", "{value: hunter2}"),
        ("{env: HOME}", "{env: X, value: hunter2}"),
        (" {env: HOME}", "\n      hunter2"),
        (" {env: HOME}", " # note\n      hunter2"),
        ("{env: HOME}", "[hunter2]"),
        ("{env: HOME}", "{env: X}\n    hunter: hunter2"),
        ("{env: HOME}", "hunter2\n\tx: 1"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mailchute.yaml");
        std::fs::write(&file, MAIN.replace(from, to)).unwrap();
        let wrong = Config::read(&file).unwrap_err();
        let all = format!("{wrong} {wrong:?}");
        let lines: Vec<String> = wrong.problems.iter().map(mailchute::config::Problem::in_a_line).collect();
        assert!(
            !wrong.to_string().contains("hunter2") && !lines.join("").contains("hunter2"),
            "{to}: {wrong}"
        );
        assert!(!all.contains("hunter2"), "{to}: Debug shows it");
    }
}

#[test]
fn an_unquoted_postal_code_is_refused_with_the_remedy_and_never_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("to.yaml");
    let text = std::fs::read_to_string(root().join("config/receiver.yaml")).unwrap();
    for (written, remedy) in [("0600001", "write it in quotes"), ("０６００００１", "write 7 digits")]
    {
        std::fs::write(&path, text.replace("\"0600001\"", written)).unwrap();
        let said = read_receiver(&path).unwrap_err().to_string();
        assert!(said.contains(remedy), "{said}");
    }
}

#[test]
fn what_is_wrong_in_a_sidecar_is_told_in_one_line_with_an_end() {
    let main = root().join("config/mailchute.yaml");
    let folder = Config::read(&main).unwrap().folders.remove(0);
    let name = format!("no\u{1b}[2J such\n\n  sender {}", "長".repeat(2000));
    let receiver = serde_json::json!({
        "postal_code": "0600001", "state": "北海道", "city": "札幌市", "address1": "1", "name": "山田 太郎"
    });
    let sidecar = serde_json::json!({ "receiver": receiver, "sender": name }).to_string();
    let told = folder.sidecar("x.pdf.json", sidecar.into_bytes()).unwrap_err();
    assert!(told.contains("there is no address `no[2J such"), "{told}");
    assert!(!told.contains(char::is_control) && told.chars().count() < 500, "{told}");
    let keys: Vec<String> = (0..40).map(|n| format!("key{n}: 1\n")).collect();
    let told = folder.sidecar("x.pdf.yaml", keys.concat().into_bytes()).unwrap_err();
    assert!(told.ends_with("more") && !told.contains("key30"), "{told}");
}
