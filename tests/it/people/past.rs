//! A clerk edits the rules and asks which letters of the past they would have treated otherwise.

use crate::mailroom::{Mailroom, RULES, SIDECAR};
use crate::program::mailchute;

fn against(room: &Mailroom, rules: &str) -> String {
    std::fs::write(room.dir.path().join("folders/letters.yaml"), rules).unwrap();
    let config = room.dir.path().join("mailchute.yaml");
    let words = ["check", "--against-history", "30d", "--config", config.to_str().unwrap()];
    let output = mailchute(&words).output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "what differs is no mistake: {said}");
    assert!(!said.contains("山田") && !said.contains("札幌"), "{said}");
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_that_new_rules_would_treat_otherwise_are_named_with_what_differs() {
    let mut room = Mailroom::with(RULES).await;
    room.drop("INV-000123 a.pdf", 2);
    room.settled().await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    room.drop("side.pdf", 3);
    room.settled().await;
    room.drop("x.pdf", 4);
    room.settled().await;
    room.pass(60).await;
    assert_eq!(room.row_states(), ["confirmed"; 3]);
    room.stop();
    let same = against(&room, RULES);
    assert!(same.contains("letters of the last 30days: 3; 0 would be treated otherwise"), "{same}");

    let differs = |from: &str, to: &str, expected: &[&str]| {
        assert!(RULES.contains(from), "{from}");
        let said = against(&room, &RULES.replace(from, to));
        let found: Vec<&str> = said.lines().filter(|line| line.starts_with("letter #")).collect();
        assert_eq!(found, expected, "{from} -> {to}: {said}");
    };
    differs(
        "{method: normal, options: [trackable]}",
        "{method: letterpack-lite}",
        &["letter #1 (INV-000123 a.pdf): posted letterpack-lite instead of normal trackable"],
    );
    differs(
        "book: '{customer}'",
        "book: '000456'",
        &["letter #1 (INV-000123 a.pdf): to another receiver or address"],
    );
    differs(
        "pages: ..8",
        "pages: ..1",
        &["letter #1 (INV-000123 a.pdf): would be rejected: No rule of this folder fits it."],
    );
    differs(
        "name: 株式会社サンプル",
        "name: 株式会社見本",
        &["letter #1 (INV-000123 a.pdf): from another sender", "letter #3 (x.pdf): from another sender"],
    );
    differs(
        "rules:",
        "limits: {letters_per_day: 2}\nrules:",
        &["letter #3 (x.pdf): would wait for a person: the folder's limit of 2 letters a day is reached"],
    );
    differs(
        "options: [trackable]}",
        "options: [trackable]}\n    print: {color: color}",
        &["letter #1 (INV-000123 a.pdf): printed otherwise"],
    );
    differs(
        "rules:",
        "cost_centre: sales\nrules:",
        &[
            "letter #1 (INV-000123 a.pdf): put down to sales instead of no cost centre",
            "letter #2 (side.pdf): put down to sales instead of no cost centre",
            "letter #3 (x.pdf): put down to sales instead of no cost centre",
        ],
    );
    let approval = against(&room, &RULES.replace("rules:", "release: approval\nrules:"));
    assert_eq!(approval.matches("would wait for a person: each letter of this folder waits").count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waited_once_and_would_not_any_more_is_named_too() {
    let rules = RULES.replace("rules:", "limits: {sheets_per_day: 1}\nrules:");
    let mut room = Mailroom::with(&rules).await;
    room.drop("x 1.pdf", 2);
    room.settled().await;
    room.drop("x 2.pdf", 3);
    room.settled().await;
    room.drop("x 2 again.pdf", 3);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed", "held", "held"]);
    room.stop();
    let said = against(&room, &rules);
    assert!(said.contains("3; 0 would be treated otherwise"), "{said}");
    let said = against(&room, RULES);
    assert!(said.contains("letter #2 (x 2.pdf): would not wait for a person; it did: "), "{said}");
    // The second of two that are the same waits all the same.
    assert!(!said.contains("letter #3"), "{said}");
    // Another folder's are not looked at.
    std::fs::rename(room.dir.path().join("folders/letters.yaml"), room.dir.path().join("folders/other.yaml"))
        .unwrap();
    let config = room.dir.path().join("mailchute.yaml");
    let output = mailchute(&["check", "--against-history", "1w", "--config", config.to_str().unwrap()])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("letters of the last 7days: 0") && said.contains("3 came from no folder"),
        "{said}"
    );
}
