//! A folder with unfinished letters is not taken out of force; one that is missing at a start has them held.

use mailchute::daemon;
use mailchute::domain::letter::Reason;
use mailchute::loops::intake::left_out;
use mailchute::outside::store::Store;

use crate::rigs::mailroom::{Mailroom, RULES};

fn approval() -> String {
    RULES.replace("rules:", "release: approval\nrules:")
}

/// A start that is asked to end at once.
async fn starts(room: &Mailroom) {
    daemon::run(room.config(), room.run(), std::future::ready(())).await.unwrap();
}

fn alarms(room: &Mailroom) -> Vec<(String, String)> {
    let raised = room.desk().alarms().unwrap().into_iter().filter(|one| one.fine_since.is_none());
    raised.map(|one| (one.alarm.to_string(), one.detail)).collect()
}

#[tokio::test]
async fn a_configuration_that_leaves_out_a_folder_with_unfinished_letters_is_refused() {
    let mut room = Mailroom::with(&approval()).await;
    let rules = room.dir.path().join("folders/letters.yaml");
    let refused = |room: &Mailroom| {
        let store = Store::open(&room.dir.path().join("state"), room.clock.now(), false).unwrap().0;
        left_out(&room.reach, &store, &["letters"], &room.config().folders).unwrap()
    };
    // Another folder, so that one is left.
    std::fs::create_dir(room.dir.path().join("others")).unwrap();
    std::fs::write(room.dir.path().join("folders/z.yaml"), RULES.replace("../letters", "../others")).unwrap();
    let aside = room.dir.path().join("letters.yaml");
    room.stop();
    std::fs::rename(&rules, &aside).unwrap();
    assert_eq!(refused(&room), Vec::<String>::new(), "nothing of it is unfinished");
    std::fs::rename(&aside, &rules).unwrap();
    room.start();
    room.drop("x1.pdf", 1);
    room.drop("nothing fits.pdf", 2);
    room.settled().await;
    room.stop();
    assert_eq!(refused(&room), Vec::<String>::new(), "it is there");
    std::fs::rename(&rules, &aside).unwrap();
    let why = refused(&room);
    assert_eq!(why.len(), 1, "{why:?}");
    assert!(
        why[0].contains("the folder `letters` is left out, and not finished of it: letter(s) #1."),
        "{why:?}"
    );
    assert!(why[0].contains("`accept: no`"), "{why:?}");
    // Under another name it is there, and so it is at another path.
    let renamed = room.dir.path().join("folders/office.yaml");
    std::fs::copy(&aside, &renamed).unwrap();
    assert_eq!(refused(&room), Vec::<String>::new());
    std::fs::write(&renamed, approval().replace("../letters", "../moved")).unwrap();
    std::fs::rename(room.hot(), room.dir.path().join("moved")).unwrap();
    assert_eq!(refused(&room), Vec::<String>::new());
    std::fs::remove_file(&renamed).unwrap();
    std::fs::remove_file(room.dir.path().join("folders/z.yaml")).unwrap();
    assert!(refused(&room)[0].starts_with("no folder is left"));
    std::fs::rename(room.dir.path().join("moved"), room.hot()).unwrap();
    // Taken from its claim by nobody yet, a drop is unfinished as well.
    std::fs::write(room.dir.path().join("folders/z.yaml"), RULES.replace("../letters", "../others")).unwrap();
    std::fs::create_dir(room.path(".mailchute/claim/01M800TXAJ9CV3E39N66156AZ0")).unwrap();
    assert!(refused(&room)[0].contains("letter(s) #1 and 1 drop(s) that wait"), "{:?}", refused(&room));
}

#[tokio::test]
async fn letters_of_a_folder_that_is_missing_at_a_start_are_held_with_an_alarm_until_it_is_back() {
    let mut room = Mailroom::with(RULES).await;
    room.service.order(serde_json::json!({"endpoint": "upload", "fault": "cut"})).await;
    room.drop("x1.pdf", 1);
    room.settled().await;
    assert_eq!(room.row_states(), ["created"]);
    room.stop();
    let (rules, aside) = (room.dir.path().join("folders/letters.yaml"), room.dir.path().join("letters.yaml"));
    std::fs::rename(&rules, &aside).unwrap();
    starts(&room).await;
    let letter = room.desk().letter(mailchute::domain::letter::Number(1)).unwrap().unwrap();
    assert_eq!(letter.state.hold(), Some(&Reason::NoFolder));
    let path = room.hot().canonicalize().unwrap();
    let expected = ("left-out letters".to_owned(), format!("letters ({}): letter(s) #1", path.display()));
    assert_eq!(alarms(&room), [expected]);
    std::fs::rename(&aside, &rules).unwrap();
    room.start();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(alarms(&room), []);
    // While it was missing its moves were put off.
    room.pass(300).await;
    let note = room.note("Held/x1.txt");
    assert!(note.contains("Its folder is not in the configuration any more"), "{note}");
    std::fs::rename(room.path("Held/x1.pdf"), room.path("Approve/x1.pdf")).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed"]);
    room.check().await;
}

#[tokio::test]
async fn a_folder_that_accepts_nothing_more_hears_what_people_say_of_its_letters() {
    let mut room = Mailroom::with(&approval()).await;
    room.drop("x1.pdf", 1);
    room.drop("x2.pdf", 2);
    room.settled().await;
    let rules = room.dir.path().join("folders/letters.yaml");
    std::fs::write(&rules, approval().replace("watch:", "accept: no\nwatch:")).unwrap();
    room.reload();
    room.drop("x3.pdf", 3);
    for (from, to) in [("Held/x1.pdf", "Approve/x1.pdf"), ("Held/x2.pdf", "Cancel/x2.pdf")] {
        std::fs::rename(room.path(from), room.path(to)).unwrap();
    }
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed", "withdrawn"]);
    assert!(room.path("x3.pdf").exists() && room.path(&format!("{}/x1.txt", room.sent())).exists());
    room.check().await;
    std::fs::write(&rules, approval().replace("watch:", "accept: true\nwatch:")).unwrap();
    room.reload();
    for _ in 0..2 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed", "withdrawn", "held"]);
}
