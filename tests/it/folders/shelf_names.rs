//! Other names for the shelves, or another language: what an older text says to do still works.

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;

fn approval() -> String {
    RULES.replace("rules:", "release: approval\nrules:")
}

fn set_language(room: &Mailroom, language: &str) {
    let main = room.dir.path().join("mailchute.yaml");
    let text = std::fs::read_to_string(&main).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with("language:")).collect();
    std::fs::write(main, format!("{}\nlanguage: {language}\n", kept.join("\n"))).unwrap();
}

fn set_shelves(room: &Mailroom, shelves: &str) {
    let rules = room.dir.path().join("folders/letters.yaml");
    std::fs::write(rules, format!("{}shelf: {{{shelves}}}\n", approval())).unwrap();
}

async fn rests(room: &mut Mailroom) {
    for _ in 0..3 {
        room.settled().await;
    }
}

#[tokio::test]
async fn another_language_moves_and_rewrites_what_waits_and_old_names_are_heard() {
    for restarts in [false, true] {
        let mut room = Mailroom::with(&approval()).await;
        for n in 1..=5 {
            room.drop(&format!("x{n}.pdf"), n);
        }
        room.settled().await;
        std::fs::rename(room.path("Held/x5.pdf"), room.path("Approve/x5.pdf")).unwrap();
        rests(&mut room).await;
        assert_eq!(room.row_states(), ["held", "held", "held", "held", "confirmed"]);
        let sent = room.sent();
        set_language(&room, "ja");
        if restarts {
            room.stop();
        }
        // Who has the old text before the eyes does what it says, at this very moment.
        std::fs::rename(room.path("Held/x1.pdf"), room.path("Cancel/x1.pdf")).unwrap();
        std::fs::rename(room.path("Held/x2.pdf"), room.path("Approve/x2.pdf")).unwrap();
        if restarts {
            room.start();
        } else {
            room.reload();
        }
        rests(&mut room).await;
        assert_eq!(room.row_states(), ["withdrawn", "confirmed", "held", "held", "confirmed"], "{restarts}");
        let sent_ja = sent.replace("Sent", "送付済み");
        let tree = room.tree();
        for there in ["保留/x3.pdf", "保留/x3.txt", &format!("{sent_ja}/x5.pdf"), "取消済み/x1.pdf"] {
            assert!(tree.contains(&there.to_owned()), "{there}: {tree:?}");
        }
        assert!(!tree.iter().any(|path| path.starts_with("Held/")), "no old text is left: {tree:?}");
        assert!(room.note("保留/x3.txt").contains("「承認する」"));
        // Hours later, before anything can ship, by the old name and by the new one.
        room.pass(8 * 3_600).await;
        std::fs::rename(room.path("保留/x3.pdf"), room.path("Cancel/x3.pdf")).unwrap();
        std::fs::copy(room.path("保留/x4.pdf"), room.path("取り消す/x4.pdf")).unwrap();
        rests(&mut room).await;
        assert_eq!(room.row_states(), ["withdrawn", "confirmed", "withdrawn", "withdrawn", "confirmed"]);
        room.check().await;
    }
}

#[tokio::test]
async fn a_name_that_meant_another_shelf_is_refused_while_something_lies_there() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    set_shelves(&room, "approve: Held, held: Waits");
    let check = || {
        let config = room.dir.path().join("mailchute.yaml");
        let done = mailchute(&["check", "--config", config.to_str().unwrap()]).output().unwrap();
        (done.status.success(), String::from_utf8(done.stderr).unwrap())
    };
    let (good, said) = check();
    assert!(
        !good && said.contains("`Held` was the name of another shelf, and something lies there"),
        "{said}"
    );
    let reused = mailchute::loops::intake::reused_names(
        &room.reach,
        room.desk().shelf_names("letters").unwrap().as_deref(),
        &room.config().folders[0],
    );
    assert_eq!(reused.len(), 1, "a reload refuses it: {reused:?}");
    // A start does not work on the folder with it: what lies in `Held` would be approved.
    room.stop();
    room.start();
    rests(&mut room).await;
    assert_eq!(room.row_states(), ["held"]);
    let trouble = room.desk().folders().unwrap()[0].trouble.clone().unwrap();
    assert!(trouble.contains("was the name of another shelf"), "{trouble}");
    let config = room.dir.path().join("mailchute.yaml");
    let audited = mailchute(&["audit", "--config", config.to_str().unwrap()]).output().unwrap();
    let audited = String::from_utf8(audited.stdout).unwrap();
    assert!(audited.contains("folder letters is away for the daemon: "), "{audited}");
    // Other names of one's own are no trouble, and nothing is taken for a drop that is a shelf.
    set_shelves(&room, "approve: Go, held: Waits");
    room.reload();
    rests(&mut room).await;
    assert!(room.path("Waits/x1.pdf").exists(), "{:?}", room.tree());
    std::fs::rename(room.path("Waits/x1.pdf"), room.path("Approve/x1.pdf")).unwrap();
    rests(&mut room).await;
    assert_eq!(room.row_states(), ["confirmed"]);
    room.check().await;
}
