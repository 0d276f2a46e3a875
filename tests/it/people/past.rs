//! A clerk edits the rules and asks which letters of the past they would have treated otherwise.

use chrono::TimeDelta;
use chrono_tz::Asia::Tokyo;
use mailchute::base::clock::{Clock, day_begins};
use mailchute::domain::letter::{Command, Number};
use mailchute::sandbox::{Options, Scenario};

use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::program::mailchute;
use crate::rigs::service::Service;

/// The command looks back from now. Yesterday's noon is past, and its day does not end meanwhile.
async fn of_yesterday(rules: &str) -> Mailroom {
    let today = Clock::system().now().with_timezone(&Tokyo).date_naive();
    let now = Some(day_begins(today, Tokyo) - TimeDelta::hours(12));
    let options = Options { scenario: Scenario { now, ..Scenario::default() }, ..Options::default() };
    let service = Service::with(options).await;
    let mut room = Mailroom::at(service, tempfile::tempdir().unwrap(), rules).await;
    room.start();
    room.settle().await;
    room
}

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

/// Letters by the book, by a sidecar, and by a rule for everybody; the room is closed.
async fn three_posted() -> Mailroom {
    let mut room = of_yesterday(RULES).await;
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
    room
}

/// Exactly these letters are treated otherwise once this is edited.
fn differs(room: &Mailroom, from: &str, to: &str, expected: &[&str]) {
    assert!(RULES.contains(from), "{from}");
    let said = against(room, &RULES.replace(from, to));
    let found: Vec<&str> = said.lines().filter(|line| line.starts_with("letter #")).collect();
    assert_eq!(found, expected, "{from} -> {to}: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_that_new_rules_would_treat_otherwise_are_named_with_what_differs() {
    let room = three_posted().await;
    let same = against(&room, RULES);
    assert!(same.contains("letters of the last 30days: 3; 0 would be treated differently"), "{same}");

    differs(
        &room,
        "{method: normal, options: [trackable]}",
        "{method: letterpack-lite}",
        &["letter #1 (INV-000123 a.pdf): posted letterpack-lite instead of normal trackable"],
    );
    differs(
        &room,
        "book: '{customer}'",
        "book: '000456'",
        &["letter #1 (INV-000123 a.pdf): to another receiver or address"],
    );
    differs(
        &room,
        "pages: ..8",
        "pages: ..1",
        &["letter #1 (INV-000123 a.pdf): would be rejected: No rule of this folder fits it."],
    );
    differs(
        &room,
        "name: 株式会社サンプル",
        "name: 株式会社見本",
        &["letter #1 (INV-000123 a.pdf): from another sender", "letter #3 (x.pdf): from another sender"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_a_sidecar_may_have_said_is_not_claimed_and_terms_are_looked_at_too() {
    let room = three_posted().await;
    let sidecars = RULES.replace(
        "receiver: sidecar\n    shipping: {method: normal}",
        "receiver: sidecar\n    shipping: {method: letterpack-plus}",
    );
    let said = against(&room, &sidecars);
    assert!(
        said.contains("3; 0 would be treated differently")
            && said.contains("1 need a sidecar by these rules"),
        "{said}"
    );
    let said = against(&room, &RULES.replace("rules:", "release: '0 9 * * sat'\nrules:"));
    assert!(said.matches("instead of immediately").count() == 3, "{said}");
    differs(
        &room,
        "rules:",
        "limits: {letters_per_day: 2}\nrules:",
        &["letter #3 (x.pdf): would wait for a person: the folder's limit of 2 letters a day is reached"],
    );
    differs(
        &room,
        "options: [trackable]}",
        "options: [trackable]}\n    print: {color: color}",
        &["letter #1 (INV-000123 a.pdf): printed otherwise"],
    );
    differs(
        &room,
        "rules:",
        "cost_centre: sales\nrules:",
        &[
            "letter #1 (INV-000123 a.pdf): cost centre sales instead of no cost centre",
            "letter #2 (side.pdf): cost centre sales instead of no cost centre",
            "letter #3 (x.pdf): cost centre sales instead of no cost centre",
        ],
    );
    let approval = against(&room, &RULES.replace("rules:", "release: approval\nrules:"));
    assert_eq!(approval.matches("would wait for a person: each letter of this folder waits").count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waited_once_and_would_not_any_more_is_named_too() {
    let rules = RULES.replace("rules:", "limits: {sheets_per_day: 1}\nrules:");
    let mut room = of_yesterday(&rules).await;
    room.drop("x 1.pdf", 2);
    room.settled().await;
    room.drop("x 2.pdf", 3);
    room.settled().await;
    room.drop("x 2 again.pdf", 3);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed", "held", "held"]);
    room.stop();
    let said = against(&room, &rules);
    assert!(said.contains("3; 0 would be treated differently"), "{said}");
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

/// With nothing edited nothing differs, whatever became of the letters meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn rules_that_are_the_same_treat_no_letter_otherwise() {
    let rules = RULES.replace("rules:", "limits: {letters_per_day: 3}\nrules:");
    let mut room = of_yesterday(&rules).await;
    let order = |room: &Mailroom, letter, command| {
        room.desk().order(Number(letter), command, room.clock.now()).unwrap();
    };
    room.drop("x 1.pdf", 1);
    room.settled().await;
    // Called back, and sent again.
    order(&room, 1, Command::Cancel);
    room.settle().await;
    room.drop("x 1 again.pdf", 1);
    room.settled().await;
    // Held as the same, and let go.
    room.drop("x 1 once more.pdf", 1);
    room.settled().await;
    order(&room, 3, Command::Release);
    room.settle().await;
    room.pass(60).await;
    room.drop("x 1 a last time.pdf", 1);
    room.settled().await;
    // The fourth that goes on this day is one too many.
    room.drop("x 2.pdf", 2);
    room.settled().await;
    room.drop("x 3.pdf", 3);
    room.settled().await;
    assert_eq!(room.row_states(), ["cancelled", "confirmed", "confirmed", "held", "confirmed", "held"]);
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    room.stop();
    let said = against(&room, &rules);
    assert!(said.contains("letters of the last 30days: 6; 0 would be treated differently"), "{said}");
    // One that can't be read is passed over, and told.
    db.execute_batch("DROP TRIGGER facts_never_change; UPDATE fact SET line_check = 'x' WHERE letter = 2")
        .unwrap();
    drop(db);
    let said = against(&room, &rules);
    assert!(said.contains("30days: 5;") && said.contains("1 can't be read"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_the_pages_would_tell_is_not_claimed() {
    let room = three_posted().await;
    // Nothing is read of past letters, so nothing is said of what a check of their pages would have found.
    let checked = RULES.replace("rules:", "check_page: {unreadable: hold}\nrules:");
    let said = against(&room, &checked);
    assert!(said.contains("3; 0 would be treated differently"), "{said}");
    let by_page = RULES.replace("{file_name: '^x'}", "{file_name: '^x', page: '請求'}");
    let said = against(&room, &by_page);
    assert!(said.contains("3; 0 would be treated differently"), "{said}");
    assert!(said.contains("1 can't be compared: a rule depends on the text of their pages"), "{said}");
}
