//! A folder is its marker and its directory: its file may get another name, its directory another path, and
//! whoever says something in it is heard. A copy of it is a folder of its own.

use std::path::Path;

use crate::rigs::files::copy_tree;
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::service::pdf;

fn approval() -> String {
    RULES.replace("rules:", "release: approval\nrules:")
}

fn rename_rules(room: &Mailroom, from: &str, to: &str) {
    let file = |name: &str| room.dir.path().join(format!("folders/{name}.yaml"));
    std::fs::rename(file(from), file(to)).unwrap();
}

/// Rules for another directory beside the first one.
fn rules_for(room: &Mailroom, name: &str, directory: &str, rules: &str) {
    let text = rules.replace("../letters", &format!("../{directory}"));
    std::fs::write(room.dir.path().join(format!("folders/{name}.yaml")), text).unwrap();
}

async fn says(room: &mut Mailroom, from: &str, to: &str) {
    std::fs::rename(room.path(from), room.path(to)).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
}

fn alarms(room: &Mailroom) -> Vec<String> {
    let raised = room.desk().alarms().unwrap();
    raised.into_iter().filter(|one| one.fine_since.is_none()).map(|one| one.alarm.to_string()).collect()
}

#[tokio::test]
async fn who_says_something_in_a_folder_whose_file_was_renamed_is_heard() {
    for restarts in [false, true] {
        let mut room = Mailroom::with(&approval()).await;
        for n in 1..=3 {
            room.drop(&format!("x{n}.pdf"), n);
        }
        room.settled().await;
        assert_eq!(room.row_states(), ["held"; 3]);
        // One is half taken in at that moment.
        room.drop("x4.pdf", 4);
        room.pass(1).await;
        rename_rules(&room, "letters", "office");
        if restarts {
            room.stop();
            room.start();
        } else {
            room.reload();
        }
        for _ in 0..3 {
            room.settled().await;
        }
        assert_eq!(room.row_states(), ["held"; 4], "restarts: {restarts}, {:?}", room.drops());
        says(&mut room, "Held/x1.pdf", "Cancel/x1.pdf").await;
        says(&mut room, "Held/x2.pdf", "Approve/x2.pdf").await;
        assert_eq!(room.row_states(), ["withdrawn", "confirmed", "held", "held"], "restarts: {restarts}");
        assert!(room.path("Cancelled/x1.pdf").exists());
        assert!(room.path(&format!("{}/x2.txt", room.sent())).exists());
        assert_eq!(room.desk().folders().unwrap().len(), 1);
        // What it had by its old name, it has by every name it gets.
        rename_rules(&room, "office", "bureau");
        room.reload();
        room.settled().await;
        says(&mut room, "Held/x4.pdf", "Cancel/x4.pdf").await;
        assert_eq!(room.state("x4.pdf"), "withdrawn");
        rename_rules(&room, "bureau", "letters");
        room.reload();
        room.settled().await;
        says(&mut room, "Held/x3.pdf", "Cancel/x3.pdf").await;
        assert_eq!(room.state("x3.pdf"), "withdrawn");
        assert_eq!(alarms(&room), Vec::<String>::new());
        room.check().await;
    }
}

#[tokio::test]
async fn a_folder_that_was_moved_to_another_path_is_the_same_and_its_limits_count_on() {
    let rules = RULES.replace("rules:", "limits: {letters_per_day: 2}\nrules:");
    let mut room = Mailroom::with(&rules).await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    let (old, new) = (room.hot(), room.dir.path().join("moved"));
    std::fs::rename(&old, &new).unwrap();
    std::fs::remove_file(room.dir.path().join("folders/letters.yaml")).unwrap();
    rules_for(&room, "office", "moved", &rules);
    // While nobody looked.
    std::fs::write(new.join("x2.pdf"), pdf(2)).unwrap();
    room.reload();
    for _ in 0..3 {
        room.settled().await;
    }
    std::fs::write(new.join("x3.pdf"), pdf(3)).unwrap();
    for _ in 0..2 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed", "confirmed", "held"], "{:?}", room.drops());
    assert!(!old.exists(), "nothing is made at the old path");
    std::fs::rename(new.join("Held/x3.pdf"), new.join("Cancel/x3.pdf")).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.state("x3.pdf"), "withdrawn");
}

#[tokio::test]
async fn what_lies_in_a_copy_is_held_also_where_the_first_start_takes() {
    let rules = RULES.replace("path:", "first_start: take\npath:");
    let mut room = Mailroom::closed(&rules).await;
    room.drop("x1.pdf", 1);
    room.start();
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
    let copy = room.dir.path().join("copy");
    room.drop("x2.pdf", 2);
    copy_tree(&room.hot(), &copy);
    rules_for(&room, "copy", "copy", &rules);
    room.reload();
    for _ in 0..4 {
        room.settled().await;
    }
    assert!(copy.join("Held/x2.pdf").exists(), "it may be posted already");
    assert_eq!(room.row_states(), ["confirmed", "confirmed"]);
    std::fs::write(copy.join("x3.pdf"), pdf(3)).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed"; 3]);
}

#[tokio::test]
async fn what_may_be_posted_already_is_held_after_another_start_and_after_it_was_away() {
    for (away, again) in [(false, true), (true, false), (true, true)] {
        let rules = RULES
            .replace("path:", "first_start: take\npath:")
            .replace("{poll: 1s}", "{settle: 1h, poll: 1s}");
        let mut room = Mailroom::closed(&rules).await;
        std::fs::create_dir(room.path(".mailchute")).unwrap();
        std::fs::write(room.path(".mailchute/folder"), "01").unwrap();
        room.drop("x1.pdf", 1);
        room.start();
        room.settled().await;
        if away {
            std::fs::rename(room.hot(), room.dir.path().join("away")).unwrap();
            room.settled().await;
            std::fs::rename(room.dir.path().join("away"), room.hot()).unwrap();
            room.settled().await;
        }
        if again {
            room.crash().await;
            room.start();
            room.settled().await;
        }
        room.drop("x2.pdf", 2);
        assert!(room.path("x1.pdf").exists(), "it has not settled");
        room.settled().await;
        room.pass(4000).await;
        for _ in 0..3 {
            room.settled().await;
        }
        assert_eq!(
            (room.state("x1.pdf").as_str(), room.state("x2.pdf").as_str()),
            ("held", "confirmed"),
            "{away} {again}"
        );
    }
}

#[tokio::test]
async fn a_copy_of_a_folder_is_a_folder_of_its_own_in_which_everything_is_held() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    room.drop("x2.pdf", 2);
    room.pass(1).await;
    // In its claim at that moment.
    let claim = room.path(".mailchute/claim/01M800TXAJ9CV3E39N66156AZ0");
    std::fs::create_dir(&claim).unwrap();
    std::fs::write(claim.join("x9.pdf"), pdf(9)).unwrap();
    let copy = room.dir.path().join("copy");
    copy_tree(&room.hot(), &copy);
    std::fs::remove_dir_all(&claim).unwrap();
    rules_for(&room, "copy", "copy", &approval());
    room.reload();
    for _ in 0..4 {
        room.settled().await;
    }
    assert_eq!(alarms(&room), ["copy copy"]);
    let there = |name: &str| copy.join(name).exists();
    assert!(there("Held/x2.pdf") && there("Held/x9.pdf"), "what lay in it is held");
    assert_eq!(room.row_states(), ["held", "held"], "and is no letter");
    // Who approves in the copy says nothing about the letters of the folder.
    std::fs::rename(copy.join("Held/x1.pdf"), copy.join("Approve/x1.pdf")).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["held", "held"]);
    says(&mut room, "Held/x1.pdf", "Approve/x1.pdf").await;
    assert_eq!(room.row_states(), ["confirmed", "held"]);
    // At the next start it is a folder like any other.
    room.stop();
    room.start();
    room.settled().await;
    assert_eq!(alarms(&room), Vec::<String>::new());
    std::fs::write(copy.join("x5.pdf"), pdf(5)).unwrap();
    for _ in 0..2 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed", "held", "held"]);
    room.check().await;
}

#[tokio::test]
async fn two_folders_that_change_their_names_keep_their_letters_apart() {
    let mut room = Mailroom::closed(&approval()).await;
    std::fs::create_dir(room.dir.path().join("bills")).unwrap();
    rules_for(&room, "bills", "bills", &approval());
    room.start();
    room.settle().await;
    room.drop("x1.pdf", 1);
    let bill = |path: &str| room.dir.path().join("bills").join(path);
    std::fs::write(bill("x1.pdf"), pdf(2)).unwrap();
    let (held, cancel) = (bill("Held/x1.pdf"), bill("Cancel/x1.pdf"));
    room.settled().await;
    assert_eq!(room.row_states(), ["held", "held"]);
    let folder_of = |room: &Mailroom, letter: usize| {
        let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
        let sql = "SELECT folder FROM original WHERE letter = ?1";
        db.query_row(sql, [i64::try_from(letter).unwrap()], |row| row.get::<_, String>(0)).unwrap()
    };
    let bills = if folder_of(&room, 1) == "bills" { 1 } else { 2 };
    for (from, to) in [("letters", "aside"), ("bills", "letters"), ("aside", "bills")] {
        rename_rules(&room, from, to);
    }
    room.reload();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(
        (folder_of(&room, bills).as_str(), folder_of(&room, 3 - bills).as_str()),
        ("letters", "bills")
    );
    std::fs::rename(held, cancel).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    let states = room.row_states();
    assert_eq!((states[bills - 1].as_str(), states[2 - bills].as_str()), ("withdrawn", "held"));
    assert_eq!(alarms(&room), Vec::<String>::new());
    room.check().await;
}

#[tokio::test]
async fn a_folder_whose_corner_was_emptied_on_purpose_still_hears_what_is_said_of_its_letters() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x1.pdf", 1);
    room.drop("x2.pdf", 2);
    room.settled().await;
    room.stop();
    std::fs::remove_dir_all(room.path(".mailchute")).unwrap();
    std::fs::create_dir(room.path(".mailchute")).unwrap();
    room.start();
    room.settled().await;
    says(&mut room, "Held/x1.pdf", "Cancel/x1.pdf").await;
    says(&mut room, "Held/x2.pdf", "Approve/x2.pdf").await;
    assert_eq!(room.row_states(), ["withdrawn", "confirmed"]);
    room.check().await;
}

#[tokio::test]
async fn what_lies_in_a_folder_whose_corner_was_emptied_is_held_also_where_the_first_start_takes() {
    let mut room = Mailroom::closed(&RULES.replace("path:", "first_start: take\npath:")).await;
    room.start();
    room.settled().await;
    room.stop();
    std::fs::remove_dir_all(room.path(".mailchute")).unwrap();
    std::fs::create_dir(room.path(".mailchute")).unwrap();
    room.drop("x1.pdf", 1);
    room.start();
    room.settled().await;
    assert_eq!(room.state("x1.pdf"), "held", "as the text of the alarm says");
}

#[tokio::test]
async fn what_lies_in_a_folder_that_was_put_back_is_held_and_who_says_something_there_is_heard() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    room.drop("x2.pdf", 2);
    let backup = room.dir.path().join("backup");
    copy_tree(&room.hot(), &backup);
    room.settled().await;
    assert_eq!(room.row_states(), ["held", "held"]);
    room.stop();
    std::fs::remove_dir_all(room.hot()).unwrap();
    copy_tree(&backup, Path::new(&room.hot()));
    room.start();
    for _ in 0..3 {
        room.settled().await;
    }
    // The second was taken in after the backup: its file is there once more, and no letter comes of it.
    assert_eq!(room.row_states(), ["held", "held"]);
    let store = room.desk().drops(10).unwrap();
    assert!(store.iter().any(|row| row.state == "held" && row.why.as_deref() == Some("it was there before")));
    says(&mut room, "Held/x1.pdf", "Cancel/x1.pdf").await;
    assert_eq!(room.row_states()[0], "withdrawn");
}

#[tokio::test]
async fn of_two_folders_with_one_marker_neither_is_worked_on_if_nobody_can_tell_them_apart() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    assert_eq!(room.row_states(), ["held"]);
    room.stop();
    // It was copied to two places, and what was copied is gone.
    let [one, other] = ["one", "other"].map(|name| room.dir.path().join(name));
    copy_tree(&room.hot(), &one);
    copy_tree(&room.hot(), &other);
    std::fs::remove_dir_all(room.hot()).unwrap();
    rules_for(&room, "letters", "one", &approval());
    rules_for(&room, "other", "other", &approval());
    room.start();
    std::fs::rename(one.join("Held/x1.pdf"), one.join("Approve/x1.pdf")).unwrap();
    std::fs::write(other.join("x2.pdf"), pdf(2)).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!((room.row_states(), room.state("x2.pdf").as_str()), (vec!["held".to_owned()], "not taken"));
    let folders = room.desk().folders().unwrap();
    let trouble = folders.iter().find_map(|folder| folder.trouble.clone()).unwrap();
    assert!(trouble.contains("has the same marker as the folder"), "{trouble}");
    assert_eq!(alarms(&room), ["folder letters", "folder other"]);
    // One of them is left: it is the folder that was moved.
    std::fs::remove_file(room.dir.path().join("folders/other.yaml")).unwrap();
    room.reload();
    for _ in 0..4 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed"], "what was said there is heard");
}
