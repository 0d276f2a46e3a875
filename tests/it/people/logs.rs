//! What a whole scenario writes: each event with its fields, nothing secret, nobody's name.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

/// Something of everything that can go wrong with a letter, told in every detail.
async fn scenario(format: &str) -> (Mailroom, String, String) {
    let quick = RULES
        .replace("{poll: 1s}", "{settle: 100ms, poll: 1s}")
        .replace("path:", "first_start: take\nkeep: {sealed_pdf: true}\npath:");
    let room = Mailroom::of_today(&quick).await;
    for fault in [
        json!({"endpoint": "token", "fault": "status", "status": 503}),
        json!({"endpoint": "upload", "fault": "lose_reply"}),
        json!({"endpoint": "upload", "fault": "status", "status": 403}),
        json!({"endpoint": "create", "fault": "lose_reply"}),
        json!({"endpoint": "confirm", "fault": "status", "status": 500}),
    ] {
        room.service.order(fault).await;
    }
    std::fs::write(room.path("x 山田太郎様.pdf"), pdf(1)).unwrap();
    std::fs::write(room.path("INV-000999.pdf"), pdf(2)).unwrap();
    std::fs::write(room.path("x broken 山田太郎様.pdf"), "no PDF").unwrap();
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    std::fs::write(room.path("side.pdf"), pdf(3)).unwrap();
    let config = room.dir.path().join("mailchute.yaml");
    let (err, files) = (room.dir.path().join("err"), room.dir.path().join("logs"));
    let arguments = ["run", "--config", config.to_str().unwrap(), "--log", format, "--log-files"];
    let mut command = mailchute(&[arguments.as_slice(), &[files.to_str().unwrap()]].concat());
    command.env("RUST_LOG", "trace").stdout(Stdio::null()).stderr(std::fs::File::create(&err).unwrap());
    let mut daemon = command.spawn().unwrap();
    let began = Instant::now();
    let watched = room.hot().join("Approve");
    let sealed = || {
        everything_in(&room.hot())
            .iter()
            .filter(|file| file.to_string_lossy().ends_with(".sealed.pdf"))
            .count()
    };
    while !watched.exists() || room.drops().len() < 4 || room.row_states() != ["confirmed"; 2] || sealed() < 2
    {
        assert!(began.elapsed() < Duration::from_mins(1), "{:?}: {}", room.row_states(), read(&err));
        std::thread::yield_now();
    }
    // What the commands say is written too.
    for words in
        [["status", "--json"], ["list", "--json"], ["show", "1"], ["audit", "--online"], ["report", "--csv"]]
    {
        let said = mailchute(&[words.as_slice(), &["--config", config.to_str().unwrap()]].concat())
            .output()
            .unwrap();
        assert!(!said.stdout.is_empty(), "{words:?}: {said:?}");
        std::fs::write(room.dir.path().join(words[0]), [said.stdout, said.stderr].concat()).unwrap();
    }
    let id = daemon.id().to_string();
    assert!(std::process::Command::new("kill").arg(&id).status().unwrap().success());
    assert!(daemon.wait().unwrap().success());
    // There are two if the day ended meanwhile.
    let mut files = everything_in(&files);
    files.sort();
    let is_ours = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().starts_with("mailchute.");
    assert!(files.iter().all(is_ours), "{files:?}");
    let written = files.iter().map(|file| read(file)).collect();
    (room, read(&err), written)
}

/// Each file below a directory.
fn everything_in(dir: &Path) -> Vec<PathBuf> {
    // A directory may be gone by now.
    let below = std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
    below
        .flat_map(|path| if path.is_dir() { everything_in(&path) } else { vec![path] })
        .filter(|path| path.is_file())
        .collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_secret_and_nobodys_name_is_told_even_in_every_detail() {
    let (room, json, file) = scenario("json").await;
    let secret = room.service.secret();
    // Tokens, signatures, policies, identifiers of uploads: whatever is drawn is long.
    let drawn = regex::Regex::new("[A-Za-z0-9_+=-]{32,}").unwrap();
    // Records, folders, shelves, logs and what commands said: none has what would let in.
    let lets_in =
        regex::bytes::Regex::new(&format!("{}|at_[0-9a-f]{{32}}|(?i)x-amz-|bearer ", regex::escape(secret)))
            .unwrap();
    let written = everything_in(room.dir.path());
    for file in written.iter().filter(|file| !file.ends_with("main.secret")) {
        assert!(!lets_in.is_match(&std::fs::read(file).unwrap()), "{}", file.display());
    }
    for kind in ["mailchute.db", "ledger", ".sealed.pdf", "logs", "show"] {
        assert!(
            written.iter().any(|file| file.iter().any(|part| part.to_string_lossy().contains(kind))),
            "{kind}"
        );
    }
    for text in [&json, &file] {
        assert!(text.lines().count() > 20, "{text}");
        for word in
            [secret, "山田", "佐藤", "札幌", "060-0001", "0600001", "X-Amz", "policy", "Bearer", "Basic "]
        {
            assert!(!text.contains(word), "{word} in {text}");
        }
        // The service's names of mails may be told.
        let mut drawn = drawn.find_iter(text).map(|found| found.as_str());
        assert_eq!(drawn.find(|found| !found.starts_with("m01")), None, "{text}");
    }
    let events: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let confirmed = |event: &&Value| event["message"].as_str().unwrap().contains("confirmed: it is posted");
    let posted: Vec<&Value> = events.iter().filter(confirmed).collect();
    assert_eq!(posted.len(), 2, "{json}");
    for event in posted {
        assert!(event["letter"].is_u64() && event["mail"].is_u64() && event["level"] == "INFO", "{event}");
        assert_eq!(event["folder"], "letters");
    }
    assert!(file.contains("confirmed: it is posted") && !file.contains("\u{1b}["), "text, without colours");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_can_not_be_written_is_said_before_anything_begins() {
    let room = Mailroom::closed(RULES).await;
    let config = room.dir.path().join("mailchute.yaml");
    let config = config.to_str().unwrap();
    let output = mailchute(&["run", "--config", config, "--log-files", config]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("no log can be written into"), "{said}");
    assert!(!room.dir.path().join("state").exists());
}
