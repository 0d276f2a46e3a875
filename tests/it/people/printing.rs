//! Letters that may be printed otherwise than meant: held or noted, as the folder wants it.

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;
use crate::rigs::typeset::{Line, shown, with_pages};

const TEXT: Line<'_> = (20.0, 40.0, "ご請求書");
const LETTER: &str = "/MediaBox[0 0 612 792]";
const LANDSCAPE: &str = "/MediaBox[0 0 842 595]";
const A4: &str = "/MediaBox[0 0 595 842]";

fn with(check: &str) -> String {
    RULES.replace("rules:\n", &format!("{check}\nrules:\n"))
}

fn put(room: &Mailroom, name: &str, contents: &[&str], page: &str) {
    let contents: Vec<String> = contents.iter().map(|content| (*content).to_owned()).collect();
    std::fs::write(room.path(name), with_pages(&contents, page)).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_are_not_a4_wait_for_a_person_and_landscape_is_noted() {
    let mut room = Mailroom::with(RULES).await;
    let text = shown(&TEXT);
    put(&room, "x letter.pdf", &[&text, &text], LETTER);
    put(&room, "x landscape.pdf", &[&text], LANDSCAPE);
    put(&room, "x a4.pdf", &[&text], A4);
    room.settled().await;
    let of = |room: &Mailroom| ["x letter.pdf", "x landscape.pdf", "x a4.pdf"].map(|name| room.state(name));
    assert_eq!(of(&room), ["held", "confirmed", "confirmed"]);
    let note = room.note("Held/x letter.txt");
    assert!(
        note.contains("Pages 1, 2 are not A4.\r\nIf it may be printed like this, move it into"),
        "{note}"
    );
    assert_eq!(room.why("x letter.pdf"), "it may be printed otherwise than meant");
    let sent = room.sent();
    let note = room.note(&format!("{sent}/x landscape.txt"));
    assert!(note.contains("Print: Page 1 is landscape."), "{note}");
    assert!(!room.note(&format!("{sent}/x a4.txt")).contains("Print:"));
    std::fs::rename(room.path("Held/x letter.pdf"), room.path("Approve/x letter.pdf")).unwrap();
    room.settled().await;
    room.pass(60).await;
    room.settled().await;
    assert_eq!(of(&room), ["confirmed", "confirmed", "confirmed"]);
    assert!(room.note(&format!("{sent}/x letter.txt")).contains("Print: Pages 1, 2 are not A4."));
    // Other bytes under the same name were not accepted.
    put(&room, "x letter.pdf", &[&text], LETTER);
    room.settled().await;
    assert_eq!(room.state("x letter.pdf"), "held");
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_is_held_noted_or_left_alone_as_the_folder_says() {
    let text = shown(&TEXT);
    let red = format!("1 0 0 rg {text}");
    for (check, told, state) in [
        ("check_print: {size: off}", None, "confirmed"),
        ("check_print: {size: note}", Some("Pages 1, 2, 3 are not A4."), "confirmed"),
        ("check_print: {size: off, blank: note}", Some("Page 2 is blank."), "confirmed"),
        (
            "check_print: {size: off, blank: hold, fonts: off}",
            Some("Page 2 is blank. Page 3 has colour and would be printed in grayscale."),
            "held",
        ),
        (
            "check_print: {size: hold, color: note, fonts: note}",
            Some(
                "Pages 1, 2, 3 are not A4. Page 2 is blank. Pages 1, 2, 3 use fonts that are not in the PDF, so it \
                 may look different. Page 3 has colour",
            ),
            "held",
        ),
    ] {
        let mut room = Mailroom::with(&with(check)).await;
        put(&room, "x.pdf", &[&text, "", &red], LETTER);
        room.settled().await;
        assert_eq!(room.state("x.pdf"), state, "{check}");
        let shelf = if state == "held" { "Held".to_owned() } else { room.sent() };
        let note = room.note(&format!("{shelf}/x.txt"));
        match told {
            Some(told) => assert!(note.contains(told), "{check}: {note}"),
            None => assert!(!note.contains("Print:"), "{check}: {note}"),
        }
    }
    // A rule that prints in colour.
    let rules = with("check_print: {color: hold}")
        .replace("method: normal}\n", "method: normal}\n    print: {color: color}\n");
    let mut room = Mailroom::with(&rules).await;
    put(&room, "x.pdf", &[&red], A4);
    room.settled().await;
    assert_eq!(room.state("x.pdf"), "confirmed");
}

#[tokio::test]
async fn explain_and_inspect_say_how_it_would_be_printed() {
    let room = Mailroom::closed(RULES).await;
    put(&room, "x landscape.pdf", &[&shown(&TEXT)], LANDSCAPE);
    put(&room, "x letter.pdf", &[&shown(&TEXT)], LETTER);
    std::fs::write(room.path("x a4.pdf"), pdf(1)).unwrap();
    let config = room.dir.path().join("mailchute.yaml");
    let said = |command: &str, name: &str| {
        let file = room.path(name);
        let file = file.to_str().unwrap();
        let output = match command {
            "explain" => mailchute(&["explain", "--config", config.to_str().unwrap(), file]).output(),
            _inspect => mailchute(&[command, file]).output(),
        };
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    for (command, name, told) in [
        ("explain", "x landscape.pdf", "print      Page 1 is landscape."),
        ("explain", "x letter.pdf", "held: Page 1 is not A4."),
        ("inspect", "x landscape.pdf", "; Page 1 is landscape."),
        ("inspect", "x letter.pdf", "; Page 1 is not A4."),
    ] {
        let said = said(command, name);
        assert!(said.contains(told), "{command} {name}: {said}");
    }
    assert!(!said("inspect", "x a4.pdf").contains(';'));
}
