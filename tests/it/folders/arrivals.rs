//! How files really arrive: each whole drop is taken in once and never early, each torn one never.
//! The system calls are those of the programs named.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::service::pdf;

fn append(room: &Mailroom, name: &str, bytes: &[u8]) {
    OpenOptions::new().append(true).create(true).open(room.path(name)).unwrap().write_all(bytes).unwrap();
}

/// It is posted, once, and lies where what was sent lies.
async fn posted(room: &mut Mailroom, name: &str) {
    room.settled().await;
    assert_eq!(room.state(name), "confirmed", "{:?}", room.drops());
    assert!(room.tree().contains(&format!("{}/{name}", room.sent())), "{:?}", room.tree());
    assert_eq!(room.desk().letters(None, None, 10).unwrap().len(), 1);
    room.check().await;
}

#[tokio::test]
async fn a_copy_a_move_and_a_download_are_taken_in_once_they_are_still() {
    // cp: created and written in one go.
    let mut room = Mailroom::open().await;
    room.drop("x.pdf", 2);
    room.pass(1).await;
    room.pass(4).await;
    assert_eq!(room.state("x.pdf"), "not taken", "too early");
    posted(&mut room, "x.pdf").await;
    // mv on the same disk: there at once, with an old time.
    let mut room = Mailroom::open().await;
    let elsewhere = room.dir.path().join("x.pdf");
    std::fs::write(&elsewhere, pdf(1)).unwrap();
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_hours(240_000);
    File::options().write(true).open(&elsewhere).unwrap().set_modified(old).unwrap();
    std::fs::rename(&elsewhere, room.path("x.pdf")).unwrap();
    posted(&mut room, "x.pdf").await;
    // Chromium: a hidden file, then `.crdownload`, renamed at the end.
    let mut room = Mailroom::open().await;
    std::fs::write(room.path(".org.chromium.Chromium.LRabVb"), b"%PDF").unwrap();
    room.settled().await;
    std::fs::rename(room.path(".org.chromium.Chromium.LRabVb"), room.path("x.pdf.crdownload")).unwrap();
    room.settled().await;
    assert!(room.drops().is_empty(), "{:?}", room.drops());
    std::fs::write(room.path("x.pdf.crdownload"), pdf(1)).unwrap();
    std::fs::rename(room.path("x.pdf.crdownload"), room.path("x.pdf")).unwrap();
    posted(&mut room, "x.pdf").await;
}

#[tokio::test]
async fn a_slow_writer_is_waited_for_however_it_opens_the_file() {
    for pieces in [2, 5] {
        let mut room = Mailroom::open().await;
        let whole = pdf(3);
        for piece in whole.chunks(whole.len().div_ceil(pieces)) {
            append(&room, "x.pdf", piece);
            // Pauses of 3 s, again and again.
            room.pass(3).await;
            assert_eq!(room.state("x.pdf"), "not taken");
        }
        posted(&mut room, "x.pdf").await;
    }
}

#[tokio::test]
async fn the_full_size_from_the_beginning_does_not_mislead() {
    // Explorer over SMB and fallocate: the size first, the bytes later, the old time at the end.
    let mut room = Mailroom::open().await;
    let whole = pdf(2);
    let file = File::create(room.path("x.pdf")).unwrap();
    file.set_len(whole.len() as u64).unwrap();
    room.pass(3).await;
    for (index, piece) in whole.chunks(100).enumerate() {
        file.write_all_at(piece, index as u64 * 100).unwrap();
        room.pass(3).await;
        assert_eq!(room.state("x.pdf"), "not taken");
    }
    drop(file);
    posted(&mut room, "x.pdf").await;
}

#[tokio::test]
async fn a_placeholder_of_no_bytes_is_waited_for_and_then_refused() {
    let mut room = Mailroom::open().await;
    File::create(room.path("x.pdf")).unwrap();
    room.pass(60).await;
    room.pass(60).await;
    append(&room, "x.pdf", &pdf(1));
    posted(&mut room, "x.pdf").await;
    File::create(room.path("x2.pdf")).unwrap();
    room.pass(1).await;
    room.pass(599).await;
    assert_eq!(room.state("x2.pdf"), "not taken");
    room.pass(2).await;
    room.pass(1).await;
    assert_eq!((room.state("x2.pdf").as_str(), room.why("x2.pdf").as_str()), ("rejected", "empty"));
}

#[tokio::test]
async fn a_link_counts_when_its_other_name_is_gone() {
    let mut room = Mailroom::open().await;
    let first = room.dir.path().join("tmp.pdf");
    std::fs::write(&first, pdf(1)).unwrap();
    std::fs::hard_link(&first, room.path("x.pdf")).unwrap();
    room.settled().await;
    assert_eq!(room.state("x.pdf"), "not taken");
    std::fs::remove_file(&first).unwrap();
    posted(&mut room, "x.pdf").await;
}

#[tokio::test]
async fn torn_copies_are_rejected_with_a_word_and_never_posted() {
    let whole = pdf(40);
    let half = whole.len() / 2;
    let zeros = [&whole[..half], &vec![0; whole.len() - half]].concat();
    for (how, bytes) in [
        ("sftp killed half-way, rsync --partial killed half-way", &whole[..half]),
        ("an SMB copy cut: full size, second half zeros", zeros.as_slice()),
        ("all but the last byte of the end mark", &whole[..whole.trim_ascii_end().len() - 1]),
    ] {
        let mut room = Mailroom::open().await;
        // rsync renames its hidden file; sftp writes under the name itself. What is left is the same.
        std::fs::write(room.path(".x.pdf.wmBdI3"), bytes).unwrap();
        std::fs::rename(room.path(".x.pdf.wmBdI3"), room.path("x.pdf")).unwrap();
        room.settled().await;
        room.pass(100).await;
        assert_eq!(room.tree(), ["x.pdf"], "{how}: its writer may rest");
        room.pass(30).await;
        room.pass(1).await;
        assert_eq!(
            (room.state("x.pdf").as_str(), room.why("x.pdf").as_str()),
            ("rejected", "a PDF in doubt"),
            "{how}"
        );
        assert_eq!(room.tree(), ["Rejected/x.pdf", "Rejected/x.txt"], "{how}");
        assert!(room.note("Rejected/x.txt").contains("not copied completely"), "{how}");
        assert!(room.desk().letters(None, None, 10).unwrap().is_empty());
        // The remedy works: copied once more, whole.
        std::fs::write(room.path("x.pdf"), &whole).unwrap();
        room.settled().await;
        assert!(room.tree().contains(&format!("{}/x.pdf", room.sent())), "{:?}", room.tree());
    }
}

#[tokio::test]
async fn what_was_there_before_the_first_start_is_still_held_if_a_restart_comes_before_it_settles() {
    let mut room = Mailroom::closed(RULES).await;
    room.drop("x old.pdf", 1);
    room.start();
    room.turn(Loop::Intake).await;
    assert_eq!(room.tree(), ["x old.pdf"], "it has not settled");
    room.stop();
    room.start();
    room.drop("x new.pdf", 2);
    room.settled().await;
    assert_eq!((room.state("x old.pdf").as_str(), room.state("x new.pdf").as_str()), ("held", "confirmed"));
    room.check().await;
}

#[tokio::test]
async fn a_scanner_that_rests_between_its_pages_is_waited_for() {
    let mut room = Mailroom::open().await;
    let whole = pdf(4);
    let mut file = File::create(room.path("x.pdf")).unwrap();
    for part in whole.chunks(whole.len() / 4 + 1) {
        assert_eq!(room.state("x.pdf"), "not taken", "{:?}", room.tree());
        file.write_all(part).unwrap();
        for _ in 0..3 {
            room.settled().await;
        }
    }
    drop(file);
    // It grew in three steps, and there may be one more.
    assert_eq!(room.state("x.pdf"), "not taken");
    room.pass(120).await;
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
    let letter = room.desk().letter(mailchute::domain::letter::Number(1)).unwrap().unwrap();
    assert_eq!(letter.order.documents[0].pages, 4);
    room.check().await;
}

#[tokio::test]
async fn a_subfolder_that_is_empty_or_has_a_pdf_without_an_end_is_waited_for() {
    let mut room = Mailroom::with(&RULES.replace("path:", "letter: subfolder\npath:")).await;
    let whole = pdf(2);
    let half = whole.len() / 2;
    // A person makes it, and goes to look for the PDFs.
    std::fs::create_dir(room.path("x")).unwrap();
    std::fs::write(room.path("x/Thumbs.db"), b"x").unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.state("x"), "not taken", "{:?}", room.drops());
    std::fs::write(room.path("x/a.pdf"), &whole).unwrap();
    let mut file = File::create(room.path("x/b.pdf")).unwrap();
    file.write_all(&whole[..half]).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.state("x"), "not taken", "{:?}", room.drops());
    file.write_all(&whole[half..]).unwrap();
    room.settled().await;
    assert_eq!(room.state("x"), "confirmed", "once all are whole it does not wait any longer");
    let letter = room.desk().letter(mailchute::domain::letter::Number(1)).unwrap().unwrap();
    assert_eq!(letter.order.documents.len(), 2);
    // A program has copied the first and is about to finish the second.
    for (number, half_made) in [(2_u8, "b.pdf.part"), (3, ".b.pdf.x7Yz1a")] {
        let name = format!("x{number}");
        std::fs::create_dir(room.path(&name)).unwrap();
        let [a, b, half_made] = ["a.pdf", "b.pdf", half_made].map(|inner| room.path(&name).join(inner));
        std::fs::write(a, pdf(3 + usize::from(number))).unwrap();
        std::fs::write(&half_made, pdf(4)).unwrap();
        for _ in 0..3 {
            room.settled().await;
        }
        assert_eq!(room.state(&name), "not taken", "{:?}", room.drops());
        std::fs::rename(half_made, b).unwrap();
        room.settled().await;
        assert_eq!(room.state(&name), "confirmed");
        let letter = room.desk().letter(mailchute::domain::letter::Number(number.into())).unwrap().unwrap();
        assert_eq!(letter.order.documents.len(), 2);
    }
    // What stays half is handed back.
    std::fs::create_dir(room.path("y")).unwrap();
    std::fs::write(room.path("y/a.pdf"), &whole[..half]).unwrap();
    room.settled().await;
    assert_eq!(room.state("y"), "not taken");
    room.pass(120).await;
    room.settled().await;
    assert_eq!(room.state("y"), "rejected");
    room.check().await;
}

#[tokio::test]
async fn a_pdf_that_grew_after_it_was_whole_is_waited_for_and_other_whole_ones_are_not() {
    let mut room = Mailroom::open().await;
    // After each page the scanner leaves a whole PDF: what it appends ends as a PDF does.
    let whole = pdf(1);
    let end = whole.windows(9).rposition(|word| word == b"startxref").unwrap();
    let more = [b"\n% more\n", &whole[end..]].concat();
    let mut file = File::create(room.path("x.pdf")).unwrap();
    file.write_all(&whole).unwrap();
    room.drop("x2.pdf", 2);
    room.pass(1).await;
    room.pass(3).await;
    file.write_all(&more).unwrap();
    for _ in 0..5 {
        room.settled().await;
    }
    assert_eq!((room.state("x.pdf").as_str(), room.state("x2.pdf").as_str()), ("not taken", "confirmed"));
    assert!(room.path("x.pdf").exists(), "its writer finds it under its name");
    file.write_all(&more).unwrap();
    room.pass(1).await;
    room.pass(60).await;
    room.pass(60).await;
    assert_eq!(room.state("x.pdf"), "not taken");
    room.pass(10).await;
    room.settled().await;
    assert_eq!(room.state("x.pdf"), "confirmed");
    room.check().await;
}

#[tokio::test]
async fn one_that_is_written_to_after_it_was_handed_back_is_whole_when_it_is_put_back() {
    let mut room = Mailroom::open().await;
    let whole = pdf(2);
    let mut file = File::create(room.path("x.pdf")).unwrap();
    file.write_all(&whole[..100]).unwrap();
    room.settled().await;
    room.pass(120).await;
    room.settled().await;
    // It was torn, so it was rejected; the rest comes through the handle and changes nothing.
    file.write_all(&whole[100..]).unwrap();
    room.settled().await;
    assert_eq!(room.state("x.pdf"), "rejected");
    // Put back into the folder it is whole now.
    std::fs::rename(room.path("Rejected/x.pdf"), room.path("x.pdf")).unwrap();
    room.settled().await;
    let letters = room.desk().letters(None, None, 10).unwrap();
    assert_eq!(letters.len(), 1);
    room.check().await;
}

#[tokio::test]
async fn litter_and_people_s_own_directories_are_left_alone() {
    let mut room = Mailroom::open().await;
    let litter = [
        ".~lock.doc.pdf#",
        "~$x.docx",
        "._x.pdf",
        "#10870787",
        "x.pdf.part",
        "x.pdf.partial",
        "lu1283.tmp",
        "x.pdf~",
        "Thumbs.db",
        "desktop.ini",
        ".DS_Store",
        "x.pdf.filepart",
    ];
    for name in litter {
        std::fs::write(room.path(name), pdf(1)).unwrap();
    }
    for name in ["@eaDir", "old letters", ".stfolder"] {
        std::fs::create_dir(room.path(name)).unwrap();
        std::fs::write(room.path(name).join("x.pdf"), pdf(1)).unwrap();
    }
    let before = room.tree();
    room.settled().await;
    assert!(room.drops().is_empty(), "{:?}", room.drops());
    assert_eq!(room.tree(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_taken_in_piece_by_piece_without_waiting_for_another_look() {
    let mut room = Mailroom::open().await;
    room.at_once = Some(1);
    room.stop();
    room.start();
    room.settle().await;
    // More than may wait for one worker.
    for n in 0..510 {
        std::fs::write(room.path(&format!("{n}.pdf")), b"no PDF").unwrap();
    }
    room.pass(1).await;
    room.pass(5).await;
    let count = |directory: &std::path::Path| {
        let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.as_encoded_bytes().ends_with(b".pdf")).count()
    };
    assert_eq!((count(&room.hot()), count(&room.path("Rejected"))), (0, 510));
}
