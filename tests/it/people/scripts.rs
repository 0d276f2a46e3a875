//! For scripts: what they wait for and what they read.

use std::process::{Child, Output, Stdio};

use mailchute::outside::store::Bell;
use serde_json::Value;

use super::mails::ship;
use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

/// `mailchute submit --folder letters` in a process of its own.
fn submit(room: &Mailroom, name: &str, bytes: &[u8], wait: &str) -> Child {
    let outside = room.dir.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    let file = outside.join(name);
    std::fs::write(&file, bytes).unwrap();
    let config = room.dir.path().join("mailchute.yaml");
    let (config, file) = (config.to_str().unwrap(), file.to_str().unwrap());
    let mut command = mailchute(&["submit", "--config", config, "--folder", "letters", wait, file]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Lets the office work, a second at a time, until the process has ended.
async fn ended(room: &mut Mailroom, mut child: Child) -> (String, Output) {
    while child.try_wait().unwrap().is_none() {
        room.pass(1).await;
    }
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout.clone()).unwrap(), output)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_waits_for_the_number_or_for_the_end() {
    let mut room = Mailroom::open_today(RULES).await;
    let home = room.desk().home().clone();
    // What is dropped from now on came after what a command says is now.
    room.pass(3600).await;
    let child = submit(&room, "x nobody.pdf", &pdf(1), "--wait");
    let output = child.wait_with_output().unwrap();
    let why = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && why.contains("the daemon does not run"), "{why}");
    std::fs::remove_file(room.path("x nobody.pdf")).unwrap();

    let _bell = Bell::hang(&home).unwrap();
    let child = submit(&room, "x.pdf", &pdf(1), "--wait");
    let (said, output) = ended(&mut room, child).await;
    assert!(said.contains("\nletter #1\n") && output.status.success(), "{said}");

    let child = submit(&room, "x broken.pdf", b"no PDF", "--wait=shipped");
    let (said, output) = ended(&mut room, child).await;
    assert!(said.contains("no letter: rejected (") && !output.status.success(), "{said}");

    let child = submit(&room, "INV-000123.pdf", &pdf(2), "--wait=shipped");
    for _second in 0..60 {
        room.pass(1).await;
    }
    ship(&mut room).await;
    let (said, output) = ended(&mut room, child).await;
    let tracking = room.drops()["INV-000123.pdf"].tracking.clone().unwrap();
    let end = format!("letter #2: shipped, tracking number {tracking}\n");
    assert!(said.ends_with(&end) && output.status.success(), "{said}");
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_scripts_read_keeps_its_keys() {
    let mut room = Mailroom::open_today(RULES).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    ship(&mut room).await;
    let config = room.dir.path().join("mailchute.yaml");
    let output = mailchute(&["list", "--config", config.to_str().unwrap(), "--json"]).output().unwrap();
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
    let documented =
        ["account", "admitted_at", "changed_at", "due_at", "letter", "note", "source", "state", "tracking"];
    assert!(documented.iter().all(|key| keys.iter().any(|found| found == key)), "{keys:?}");
    assert_eq!(row["state"], "shipped");
    assert_eq!(
        (&row["letter"], &row["source"], &row["due_at"]),
        (&1.into(), &"letters".into(), &Value::Null)
    );
    row["admitted_at"].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_made_at_work_is_put_back_and_nothing_is_posted_twice() {
    let mut room = Mailroom::open_today(RULES).await;
    room.drop("x.pdf", 1);
    room.settled().await;
    let config = room.dir.path().join("mailchute.yaml");
    let copy = room.dir.path().join("copy.db");
    let words = ["backup", "--config", config.to_str().unwrap(), copy.to_str().unwrap()];
    let output = mailchute(&words).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.ends_with("copy.db: 1 letter(s)\n"), "{said}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&copy.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let again = mailchute(&words).output().unwrap();
    assert!(!again.status.success() && String::from_utf8(again.stderr).unwrap().contains("exists already"));
    // What is posted after it, and what is on its way, stands in the ledger.
    room.drop("x later.pdf", 2);
    room.settled().await;
    room.stop();
    let state = room.dir.path().join("state");
    std::fs::rename(copy, state.join("mailchute.db")).unwrap();
    for old in ["mailchute.db-wal", "mailchute.db-shm"] {
        drop(std::fs::remove_file(state.join(old)));
    }
    room.start_with(true);
    room.settle().await;
    room.pass(7200).await;
    assert_eq!(room.row_states().len(), 2);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_files_for_a_folder_of_subfolders_become_one_letter() {
    let rules = RULES.replace("path:", "letter: subfolder\npath:");
    let mut room = Mailroom::open_today(&rules).await;
    let outside = room.dir.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    for (name, pages) in [("x cover.pdf", 1), ("x terms.pdf", 2)] {
        std::fs::write(outside.join(name), pdf(pages)).unwrap();
    }
    let config = room.dir.path().join("mailchute.yaml");
    let submit = |files: &[&str]| {
        let words = ["submit", "--config", config.to_str().unwrap(), "--folder", "letters"];
        mailchute(&[&words, files].concat()).current_dir(&outside).output().unwrap()
    };
    let output = submit(&["x cover.pdf", "x terms.pdf"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(room.tree().iter().filter(|path| path.contains("x cover/")).count(), 2, "{:?}", room.tree());
    let again = submit(&["x cover.pdf"]);
    let why = String::from_utf8(again.stderr).unwrap();
    assert!(!again.status.success() && why.contains("can't be dropped"), "nothing is replaced: {why}");
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"], "{:?}", room.tree());
    let letter = room.desk().letter(mailchute::domain::letter::Number(1)).unwrap().unwrap();
    assert_eq!(letter.order.documents.iter().map(|one| one.pages).collect::<Vec<_>>(), [1, 2]);
    assert!(!room.tree().iter().any(|path| path.contains(".part")), "{:?}", room.tree());
}

/// Runs `mailchute submit --folder letters` with these files of a directory outside the folder.
fn drops(room: &Mailroom, files: &[&str], more: &[&str]) -> (i32, String, String) {
    let outside = room.dir.path().join("outside");
    let config = room.dir.path().join("mailchute.yaml");
    let words = ["submit", "--config", config.to_str().unwrap(), "--folder", "letters"];
    let output = mailchute(&[&words, more, files].concat()).current_dir(&outside).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_files_none_is_dropped_if_one_cannot_be() {
    let room = Mailroom::open_today(RULES).await;
    let outside = room.dir.path().join("outside");
    std::fs::create_dir_all(outside.join("feb")).unwrap();
    for name in ["a.pdf", "b.pdf", "feb/a.pdf", "~c.pdf"] {
        std::fs::write(outside.join(name), pdf(1)).unwrap();
    }
    std::fs::write(room.path("b.pdf"), pdf(2)).unwrap();
    let to = "postal_code: '0600001'\nstate: 北海道\ncity: 札幌市\naddress1: 1-1\nname: 佐藤\n";
    std::fs::write(outside.join("to.yaml"), to).unwrap();
    let before = room.tree();
    for (files, code, why) in [
        (["a.pdf", "missing.pdf"], 1, "nothing was dropped: failed to open file `missing.pdf`"),
        (["a.pdf", "b.pdf"], 1, "b.pdf exists already; nothing was dropped"),
        (["a.pdf", "feb/a.pdf"], 2, "two of the files are called a.pdf"),
        (["a.pdf", "~c.pdf"], 2, "the folder ignores what is called ~c.pdf"),
    ] {
        for more in [&[] as &[&str], &["--to", "to.yaml"]] {
            let (found, said, told) = drops(&room, &files, more);
            assert!(found == code && told.contains(why) && said.is_empty(), "{files:?}: {found} {told}");
            assert_eq!(room.tree(), before, "{files:?}");
        }
    }
    let (code, _, why) = drops(&room, &["a.pdf"], &["--method", "letterpack-plus"]);
    assert!(code == 2 && why.contains("cannot be used with"), "{why}");
    let (code, said, _) = drops(&room, &["a.pdf"], &["--to", "to.yaml"]);
    assert!(code == 0 && said.starts_with("dropped: ") && said.ends_with("a.pdf\n"), "{said}");
    assert!(room.path("a.pdf").exists() && room.path("a.pdf.yaml").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_of_one_letter_keep_the_order_in_which_they_are_named() {
    let rules = RULES.replace("path:", "letter: subfolder\npath:");
    let mut room = Mailroom::open_today(&rules).await;
    let outside = room.dir.path().join("outside");
    for (month, pages) in [("feb", 3), ("jan", 1)] {
        std::fs::create_dir_all(outside.join(month)).unwrap();
        std::fs::write(outside.join(month).join("x bill.pdf"), pdf(pages)).unwrap();
    }
    std::fs::write(outside.join("x.pdf"), pdf(2)).unwrap();
    let (code, _, why) = drops(&room, &["feb/x bill.pdf", "jan/x bill.pdf", "x.pdf"], &[]);
    assert_eq!((code, why.as_str()), (0, ""));
    room.settled().await;
    let letter = room.desk().letter(mailchute::domain::letter::Number(1)).unwrap().unwrap();
    assert_eq!(letter.order.documents.iter().map(|one| one.pages).collect::<Vec<_>>(), [3, 1, 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_cannot_wait_hears_that_it_must_not_submit_again() {
    let room = Mailroom::closed(RULES).await;
    let outside = room.dir.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("x.pdf"), pdf(1)).unwrap();
    std::fs::create_dir_all(room.dir.path().join("letters")).unwrap();
    let (code, said, why) = drops(&room, &["x.pdf"], &["--wait"]);
    assert!(code == 3 && said.starts_with("dropped: "), "{said}");
    assert!(why.contains("do not submit it again") && why.contains("`mailchute run` makes them"), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_document_of_one_letter_is_left_out_and_its_address_is_no_document() {
    let rules = RULES
        .replace("path:", "letter: subfolder\npath:")
        .replace("{poll: 1s}", "{poll: 1s, ignore: ['*_copy.pdf']}");
    let mut room = Mailroom::open_today(&rules).await;
    let outside = room.dir.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    for name in ["side b.pdf", "a_copy.pdf", "a.pdf"] {
        std::fs::write(outside.join(name), pdf(1)).unwrap();
    }
    std::fs::write(outside.join("letter.yaml"), SIDECAR).unwrap();
    let (code, _, why) = drops(&room, &["side b.pdf", "a_copy.pdf"], &[]);
    assert!(code == 2 && why.contains("ignores what is called a_copy.pdf"), "{why}");
    assert_eq!(room.tree(), [""; 0]);
    let (code, _, why) = drops(&room, &["letter.yaml", "side b.pdf", "a.pdf"], &[]);
    assert_eq!((code, why.as_str()), (0, ""));
    room.settled().await;
    let letter = room.desk().letter(mailchute::domain::letter::Number(1)).unwrap().unwrap();
    assert_eq!((letter.order.documents.len(), letter.order.receiver.address.name.as_str()), (2, "佐藤"));
}
