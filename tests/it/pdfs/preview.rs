//! `mailchute preview` as a person types it.

use std::path::Path;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

/// Its exit status, and what it says on both.
fn preview(room: &Mailroom, words: &[&str]) -> (Option<i32>, String) {
    let config = room.dir.path().join("mailchute.yaml");
    let all = [&["preview", "--config", config.to_str().unwrap()], words].concat();
    let output = mailchute(&all).current_dir(room.dir.path()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

fn size_of_png(path: &Path) -> (u32, u32) {
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[tokio::test]
async fn a_file_is_drawn_as_it_would_be_posted() {
    let room = Mailroom::closed(RULES).await;
    let dir = room.dir.path();
    std::fs::write(dir.join("x.pdf"), pdf(3)).unwrap();
    let (status, said) = preview(&room, &["x.pdf"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("x.pdf.preview.png: 3 page(s) of 3, 2 sheet(s)"), "{said}");
    let (width, height) = size_of_png(&dir.join("x.pdf.preview.png"));
    // The envelope, and three pages of A4 with a line above each.
    assert_eq!(width, 827);
    assert!(height > 422 + 3 * 1169 && height < 430 + 3 * (1171 + 32), "{height}");
    assert_eq!(preview(&room, &["x.pdf", "-o", "x.out.pdf"]).0, Some(0));
    let (_, counted) = {
        let output = mailchute(&["inspect", dir.join("x.out.pdf").to_str().unwrap()]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert!(counted.contains("7 page"), "{counted}");
}

#[tokio::test]
async fn nothing_is_overwritten_and_nothing_is_dropped_by_it() {
    let room = Mailroom::closed(RULES).await;
    let dir = room.dir.path();
    std::fs::write(dir.join("x.pdf"), pdf(1)).unwrap();
    for (output, why) in [
        ("x.pdf", "it is there already"),
        ("letters/x.pdf", "it would be taken in"),
        ("letters/../letters/x.png", "it would be taken in"),
        ("x.jpg", "write NAME.png or NAME.pdf"),
    ] {
        let (status, said) = preview(&room, &["x.pdf", "-o", output]);
        assert!(status != Some(0) && said.contains(why), "{output}: {said}");
    }
    assert_eq!(std::fs::read(dir.join("x.pdf")).unwrap(), pdf(1));
    assert!(std::fs::read_dir(dir.join("letters")).unwrap().next().is_none());
    std::fs::write(dir.join("y.pdf"), "no PDF").unwrap();
    let (status, said) = preview(&room, &["y.pdf"]);
    assert!(status != Some(0) && said.contains("nothing would be posted"), "{said}");
}

#[tokio::test]
async fn a_letter_that_would_wait_is_drawn_and_says_why() {
    let room = Mailroom::closed(&RULES.replace("rules:\n", "check_page: {unreadable: hold}\nrules:\n")).await;
    std::fs::write(room.dir.path().join("x.pdf"), pdf(1)).unwrap();
    let (status, said) = preview(&room, &["x.pdf", "-o", "waits.png"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("held: ") && said.contains("1 page(s) of 1, 1 sheet(s)"), "{said}");
    // With its envelope.
    assert!(size_of_png(&room.dir.path().join("waits.png")).1 > 422 + 1169);
}
