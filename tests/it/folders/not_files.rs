//! What stands in a folder and is no file, or may be somebody else's: each harmless, each with its word.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::rigs::mailroom::Mailroom;
use crate::rigs::service::pdf;

#[tokio::test]
async fn each_is_rejected_with_its_word_and_nothing_is_posted_or_opened() {
    let mut room = Mailroom::open().await;
    let private = room.dir.path().join("private.pdf");
    std::fs::write(&private, pdf(1)).unwrap();
    symlink(&private, room.path("x1.pdf")).unwrap();
    std::fs::hard_link(&private, room.path("x2.pdf")).unwrap();
    mknodat(CWD, room.path("x3.pdf"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _listener = UnixListener::bind(room.path("x4.pdf")).unwrap();
    std::fs::create_dir(room.path("x5.pdf")).unwrap();
    std::fs::write(room.path("x6.docx"), b"PK").unwrap();
    symlink("/nowhere", room.path("x7.pdf")).unwrap();
    symlink("..", room.path("x8.pdf")).unwrap();
    std::fs::write(room.path("x9.pdf"), vec![b'%'; 10_000_001]).unwrap();
    let device =
        mknodat(CWD, room.path("xdev.pdf"), FileType::CharacterDevice, Mode::RUSR, rustix::fs::makedev(1, 3));
    room.settled().await;
    // The hard link is waited for a minute: whoever writes by linking unlinks the first name.
    room.pass(60).await;
    room.pass(1).await;
    let mut expected = vec![
        ("x1.pdf", "no file", "It is a link to another file"),
        ("x2.pdf", "a file with several hard links", "a second name somewhere else"),
        ("x3.pdf", "no file", "It is a pipe"),
        ("x4.pdf", "no file", "It is a socket"),
        ("x5.pdf", "no file", "It is a folder"),
        ("x6.docx", "a name that is not that of a PDF", "It is not a PDF"),
        ("x7.pdf", "no file", "It is a link to another file"),
        ("x8.pdf", "no file", "It is a link to another file"),
        ("x9.pdf", "too large", "has 10000001 bytes"),
    ];
    if device.is_ok() {
        // Only root can make one.
        expected.push(("xdev.pdf", "no file", "It is a device"));
    }
    for (name, why, text) in expected {
        assert_eq!((room.state(name).as_str(), room.why(name).as_str()), ("rejected", why), "{name}");
        let note = format!("Rejected/{}.txt", name.split('.').next().unwrap());
        assert!(room.note(&note).contains(text), "{}", room.note(&note));
        assert!(std::fs::symlink_metadata(room.path("Rejected").join(name)).is_ok(), "{name} is kept");
    }
    assert!(room.desk().letters(None, None, 10).unwrap().is_empty());
    assert_eq!(std::fs::read(&private).unwrap(), pdf(1), "what a link led to is as it was");
}

#[tokio::test]
async fn what_can_t_be_read_at_first_is_read_later() {
    let mut room = Mailroom::open().await;
    room.drop("x.pdf", 1);
    let rights =
        |mode| std::fs::set_permissions(room.path("x.pdf"), std::fs::Permissions::from_mode(mode)).unwrap();
    rights(0o000);
    if std::fs::read(room.path("x.pdf")).is_ok() {
        // Root reads everything, so there is nothing to wait for.
        rights(0o644);
    } else {
        room.settled().await;
        assert_eq!(room.state("x.pdf"), "not taken");
    }
    std::fs::set_permissions(room.path("x.pdf"), std::fs::Permissions::from_mode(0o644)).unwrap();
    room.settled().await;
    assert_eq!(room.state("x.pdf"), "confirmed");
    room.check().await;
}

#[tokio::test]
async fn what_is_replaced_after_it_was_looked_at_settles_anew() {
    let mut room = Mailroom::open().await;
    let outside = room.dir.path().join("private.pdf");
    std::fs::write(&outside, pdf(5)).unwrap();
    room.drop("x.pdf", 1);
    room.pass(1).await;
    room.pass(4).await;
    // In the last moment another file comes under the name, and then a link to a private one.
    std::fs::rename(&outside, room.path("x.pdf")).unwrap();
    room.pass(1).await;
    assert_eq!(room.state("x.pdf"), "not taken", "it is another file, so it is new");
    std::fs::remove_file(room.path("x.pdf")).unwrap();
    symlink("/etc/passwd", room.path("x.pdf")).unwrap();
    room.settled().await;
    assert_eq!(room.why("x.pdf"), "no file");
    assert!(room.desk().letters(None, None, 10).unwrap().is_empty());
}
