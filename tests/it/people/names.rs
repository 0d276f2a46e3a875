//! Names of files that are odd, foreign or hostile: right and harmless in folder, mail, page, command
//! and request.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use super::mails::{room_with, ship};
use crate::rigs::mailroom::RULES;
use crate::rigs::postbox::Security;
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

/// For everybody, whatever it is called.
fn rules() -> String {
    RULES.replace("when: {file_name: '^x'}", "when: {file_name: '(?s).'}")
}

/// As it is dropped, and what must be found of it where people read.
fn names() -> Vec<(Vec<u8>, &'static str)> {
    let mut names = vec![
        ("請求書（再送）.pdf".as_bytes().to_vec(), "請求書（再送）.pdf"),
        // From a Mac: the marks of kana apart.
        ("か\u{3099}くせい.pdf".as_bytes().to_vec(), "がくせい.pdf"),
        (b"two\nlines.pdf".to_vec(), "lines.pdf"),
        (b"\"quotes\" 'and' `ticks`.pdf".to_vec(), "`ticks`.pdf"),
        (b"-rf --help.pdf".to_vec(), "-rf --help.pdf"),
        (b"x..%2f..%2fetc%2fpasswd.pdf".to_vec(), "x..%2f..%2fetc%2fpasswd.pdf"),
        (b"<img src=x onerror=alert(1)>.pdf".to_vec(), "onerror=alert(1)"),
        (b"%0d%0aBcc: x@example.jp.pdf".to_vec(), "%0d%0aBcc: x@example.jp.pdf"),
        (b"{{ 7*7 }} {% raw %}.pdf".to_vec(), "{{ 7*7 }} {% raw %}.pdf"),
        ("\u{202e}fdp.exe.pdf".as_bytes().to_vec(), "fdp.exe.pdf"),
        (b"\xff\xfe not utf8.pdf".to_vec(), "not utf8.pdf"),
        (b"\x1b[31mred.pdf".to_vec(), "red.pdf"),
        (b"=cmd|' -C calc'!A0.pdf".to_vec(), "=cmd|"),
    ];
    names.push((format!("{}.pdf", "請".repeat(83)).into_bytes(), "請請請"));
    assert!(names.iter().all(|(name, _)| name.len() <= 255));
    names
}

/// What no line may carry to a reader: ends of lines, escapes, turns of direction.
fn is_harmless(text: &str) -> bool {
    !text.chars().any(|c| (c.is_control() && !"\r\n\t".contains(c)) || ('\u{202a}'..='\u{202e}').contains(&c))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_right_and_harmless_wherever_they_are_shown() {
    let (mut room, postbox) = room_with(Security::Plain, &rules(), "  together: 0s\n").await;
    let hot = room.hot();
    for (number, (name, _)) in names().iter().enumerate() {
        std::fs::write(hot.join(OsStr::from_bytes(name)), pdf(number + 1)).unwrap();
    }
    room.settled().await;
    room.pass(60).await;
    // The folder: each under its own name, byte for byte, with its text.
    for (name, shown) in names() {
        let path = hot.join(room.sent()).join(OsStr::from_bytes(&name));
        assert!(path.exists(), "{shown}");
    }
    let mut notes = 0;
    for path in std::fs::read_dir(hot.join(room.sent())).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_some_and(|ending| ending == "txt") {
            let note = std::fs::read_to_string(path).unwrap();
            assert!(is_harmless(note.trim_start_matches('\u{feff}')), "{note:?}");
            notes += 1;
        }
    }
    assert_eq!(notes, names().len());
    // The command.
    let config = room.dir.path().join("mailchute.yaml");
    for command in [vec!["list"], vec!["list", "--json"], vec!["show", "1"], vec!["status"]] {
        let output =
            mailchute(&[command.as_slice(), &["--config", config.to_str().unwrap()]].concat()).output();
        let said = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(is_harmless(&said) && !said.is_empty(), "{said:?}");
    }
    // The request and the service's page: names there are numbers, and so nobody's.
    let inbox = room
        .service
        .http
        .get(&room.service.welcome.places.inbox_url)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(!inbox.contains("onerror") && !inbox.contains("請求書"), "the service is told numbers");
    assert_eq!(room.desk().audit().unwrap().problems, Vec::<String>::new());
    // The mail.
    ship(&mut room).await;
    let mails: Vec<_> = postbox.got().into_iter().filter(|mail| mail.to == "keiri@example.jp").collect();
    assert_eq!(mails.len(), names().len());
    for (name, shown) in names() {
        let mail = mails.iter().find(|mail| mail.text.contains(shown));
        let mail = mail.unwrap_or_else(|| panic!("no mail of {}", String::from_utf8_lossy(&name)));
        assert!(mail.subject.starts_with("Shipped: ") && is_harmless(&mail.subject), "{:?}", mail.subject);
        assert!(is_harmless(&mail.text) && is_harmless(&mail.html), "{:?}", mail.text);
        assert!(!mail.html.contains("<img") && !mail.raw.contains("\nBcc:"), "{}", mail.html);
        assert_eq!(mail.raw.matches("\nTo: ").count() + usize::from(mail.raw.starts_with("To: ")), 1);
    }
}
