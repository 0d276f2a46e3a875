//! What people do with files in a folder, and what they find there.

use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};
use crate::rigs::service::pdf;

#[tokio::test]
async fn the_text_beside_an_original_follows_its_letter_to_the_tracking_number() {
    let mut room = Mailroom::open().await;
    room.drop("INV-000123.pdf", 3);
    room.settled().await;
    let sent = room.sent();
    let note = room.note(&format!("{sent}/INV-000123.txt"));
    for line in
        ["POSTED", "Letter: #1", "Receiver: 山田 太郎 様", "Pages: 3", "Ships on:", "Can be cancelled until:"]
    {
        assert!(note.contains(line), "{note}");
    }
    for _ in 0..10 {
        room.pass(86_400).await;
    }
    let note = room.note(&format!("{sent}/INV-000123.txt"));
    assert!(
        note.contains("SHIPPED\r\n") && note.contains("Tracking number: ") && note.contains("Shipped:"),
        "{note}"
    );
    assert_eq!(room.tree().len(), 2, "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn names_never_collide() {
    let mut room = Mailroom::open().await;
    for pages in 1..=3 {
        room.drop("x.pdf", pages);
        room.settled().await;
    }
    let sent = room.sent();
    let expected = ["x (2).pdf", "x (2).txt", "x (3).pdf", "x (3).txt", "x.pdf", "x.txt"]
        .map(|name| format!("{sent}/{name}"));
    assert_eq!(room.tree(), expected);
    room.check().await;
}

#[tokio::test]
async fn what_waits_is_released_and_withdrawn_by_moving_it() {
    let mut room = Mailroom::with(&RULES.replace("path:", "release: approval\npath:")).await;
    room.drop("x1.pdf", 1);
    room.drop("x2.pdf", 2);
    room.settled().await;
    assert_eq!((room.state("x1.pdf"), room.state("x2.pdf")), ("held".to_owned(), "held".to_owned()));
    assert!(room.note("Held/x1.txt").contains("move it into `Approve`"));
    std::fs::rename(room.path("Held/x1.pdf"), room.path("Approve/x1.pdf")).unwrap();
    std::fs::rename(room.path("Held/x2.pdf"), room.path("Cancel/x2.pdf")).unwrap();
    room.settled().await;
    let sent = room.sent();
    let expected =
        ["Cancelled/x2.pdf", "Cancelled/x2.txt", &format!("{sent}/x1.pdf"), &format!("{sent}/x1.txt")]
            .map(str::to_owned);
    assert_eq!(room.tree(), expected);
    assert_eq!(
        (room.state("x1.pdf"), room.state("x2.pdf")),
        ("confirmed".to_owned(), "withdrawn".to_owned())
    );
    // While the service allows it, what was sent is called back the same way.
    std::fs::rename(room.path(&expected[2]), room.path("Cancel/x1.pdf")).unwrap();
    room.settled().await;
    assert_eq!(room.state("x1.pdf"), "cancelled");
    assert!(room.note("Cancelled/x1.txt").contains("nothing was posted"));
    room.check().await;
}

#[tokio::test]
async fn too_late_to_cancel_puts_it_back_with_the_reason() {
    let mut room = Mailroom::open().await;
    room.drop("x.pdf", 1);
    room.settled().await;
    room.pass(3600).await;
    let sent = format!("{}/x.pdf", room.sent());
    std::fs::rename(room.path(&sent), room.path("Cancel/x.pdf")).unwrap();
    for _ in 0..4 {
        room.settled().await;
    }
    assert!(room.tree().contains(&sent), "{:?}", room.tree());
    assert!(
        room.note(&sent.replace(".pdf", ".txt")).contains("could not be cancelled"),
        "{}",
        room.note(&sent.replace(".pdf", ".txt"))
    );
    room.check().await;
}

#[tokio::test]
async fn what_nobody_waits_for_is_handed_back() {
    let mut room = Mailroom::open().await;
    std::fs::write(room.path("Approve/new.pdf"), pdf(1)).unwrap();
    room.settled().await;
    assert_eq!(room.tree(), ["Approve/new.pdf"], "it may be being written");
    room.pass(120).await;
    assert_eq!(room.why("new.pdf"), "nothing waits under its name");
    assert_eq!(room.tree(), ["Rejected/new.pdf", "Rejected/new.txt"]);
    assert!(room.desk().letters(None, None, 10).unwrap().is_empty());
}

#[tokio::test]
async fn the_same_letter_twice_is_held_and_names_the_first() {
    let mut room = Mailroom::open().await;
    room.drop("x.pdf", 2);
    room.settled().await;
    room.drop("x again.pdf", 2);
    room.settled().await;
    assert_eq!(room.state("x again.pdf"), "held");
    assert!(room.note("Held/x again.txt").contains("Letter #1 had the same documents"));
    // To somebody else it is another letter.
    room.drop("INV-000456.pdf", 2);
    room.settled().await;
    assert_eq!(room.state("INV-000456.pdf"), "confirmed");
    room.check().await;
}

#[tokio::test]
async fn more_than_a_folder_sends_on_a_day_waits() {
    let rules = RULES.replace("path:", "limits: {letters_per_day: 2}\npath:");
    let mut room = Mailroom::with(&rules).await;
    for pages in 1..=4 {
        room.drop(&format!("x{pages}.pdf"), pages);
        room.settled().await;
    }
    let states = ["x1.pdf", "x2.pdf", "x3.pdf", "x4.pdf"].map(|name| room.state(name));
    assert_eq!(states, ["confirmed", "confirmed", "held", "held"]);
    assert!(room.note("Held/x3.txt").contains("limit of 2 letters a day"));
    room.pass(86_400).await;
    room.drop("x5.pdf", 5);
    room.settled().await;
    assert_eq!(room.state("x5.pdf"), "confirmed", "the next day");
    room.check().await;
}

#[tokio::test]
async fn a_sidecar_comes_before_or_after_its_pdf_and_is_waited_for() {
    let mut room = Mailroom::open().await;
    std::fs::write(room.path("side1.pdf.yaml"), SIDECAR).unwrap();
    room.settled().await;
    assert!(room.drops().is_empty(), "a sidecar alone waits for its PDF");
    room.drop("side1.pdf", 1);
    room.drop("side2.pdf", 2);
    room.settled().await;
    assert_eq!(
        (room.state("side1.pdf").as_str(), room.state("side2.pdf").as_str()),
        ("confirmed", "not taken")
    );
    std::fs::write(room.path("side2.pdf.yml"), SIDECAR).unwrap();
    room.settled().await;
    assert_eq!(room.state("side2.pdf"), "confirmed");
    let sent = room.sent();
    assert!(room.tree().contains(&format!("{sent}/side2.pdf.yml")), "{:?}", room.tree());
    // One that never comes.
    room.drop("side3.pdf", 3);
    room.settled().await;
    room.pass(600).await;
    room.settled().await;
    assert_eq!(
        (room.state("side3.pdf").as_str(), room.why("side3.pdf").as_str()),
        ("held", "no sidecar came")
    );
    // It comes after all: beside the PDF, which is approved.
    std::fs::write(room.path("Held/side3.pdf.yaml"), SIDECAR).unwrap();
    std::fs::rename(room.path("Held/side3.pdf"), room.path("Approve/side3.pdf")).unwrap();
    room.settled().await;
    room.settled().await;
    assert_eq!(room.state("side3.pdf"), "confirmed", "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn a_sidecar_with_a_mistake_or_another_page_count_is_handed_back_with_its_place() {
    let mut room = Mailroom::open().await;
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR.replace("'0600001'", "060-0001")).unwrap();
    room.drop("side.pdf", 1);
    std::fs::write(room.path("side2.pdf.yaml"), format!("{SIDECAR}pages: 7\n")).unwrap();
    room.drop("side2.pdf", 2);
    std::fs::write(room.path("x.pdf.yaml"), SIDECAR).unwrap();
    room.drop("x.pdf", 3);
    room.settled().await;
    let note = room.note("Rejected/side.txt");
    assert!(note.contains("side.pdf.yaml:1:"), "{note}");
    assert!(room.note("Rejected/side2.txt").contains("should have 7 pages but has 2"));
    assert!(room.note("Rejected/x.txt").contains("has one of its own"));
    assert!(room.tree().contains(&"Rejected/side.pdf.yaml".to_owned()), "{:?}", room.tree());
    assert!(room.desk().letters(None, None, 10).unwrap().is_empty());
}

#[tokio::test]
async fn a_subfolder_is_one_letter_in_the_order_in_which_people_count() {
    let mut room = Mailroom::with(&RULES.replace("path:", "letter: subfolder\npath:")).await;
    let build = room.dir.path().join("x-contract");
    std::fs::create_dir(&build).unwrap();
    for (name, pages) in [("10 end.pdf", 1), ("2 terms.pdf", 2), ("1 cover.pdf", 3)] {
        std::fs::write(build.join(name), pdf(pages)).unwrap();
    }
    std::fs::write(build.join("Thumbs.db"), b"x").unwrap();
    std::fs::rename(&build, room.path("x-contract")).unwrap();
    room.drop("x.pdf", 1);
    room.settled().await;
    assert_eq!(room.state("x-contract"), "confirmed", "{:?}", room.drops());
    let letter = room.desk().letter(mailchute::domain::letter::Number(1)).unwrap().unwrap();
    let names: Vec<_> = letter.order.documents.iter().map(|document| document.name.as_str()).collect();
    assert_eq!(names, ["1 cover.pdf", "2 terms.pdf", "10 end.pdf"]);
    assert!(room.note("Rejected/x.txt").contains("a letter is a subfolder"));
    // One that is still being filled is not taken.
    std::fs::create_dir(room.path("x2")).unwrap();
    std::fs::write(room.path("x2/a.pdf"), pdf(4)).unwrap();
    room.pass(1).await;
    room.pass(4).await;
    std::fs::write(room.path("x2/b.pdf"), pdf(5)).unwrap();
    room.pass(4).await;
    assert_eq!(room.state("x2"), "not taken");
    room.settled().await;
    assert_eq!(room.state("x2"), "confirmed");
    // What is none.
    std::fs::create_dir_all(room.path("x3/inner")).unwrap();
    std::fs::create_dir(room.path("x4")).unwrap();
    std::fs::create_dir(room.path("x5")).unwrap();
    for n in 0..11 {
        std::fs::write(room.path(&format!("x5/{n}.pdf")), pdf(1)).unwrap();
    }
    room.settled().await;
    assert_eq!(room.state("x4"), "not taken", "its documents may be still to come");
    room.pass(120).await;
    room.settled().await;
    assert_eq!(
        ["x3", "x4", "x5"].map(|name| room.why(name)),
        ["a file that is not a PDF among the documents", "no documents", "too many documents"]
    );
    room.check().await;
}

#[tokio::test]
async fn japanese_names_from_any_machine_are_matched_and_kept() {
    let rules = RULES.replace("'^x'", "'^請求書（.*が.*）'");
    let mut room = Mailroom::with(&rules.replace("path:", "shelf: {sent: 送付済み}\npath:")).await;
    // As a Mac writes it: が in two characters.
    let nfd = "請求書（再送か\u{3099}）.pdf";
    room.drop(nfd, 1);
    room.settled().await;
    assert_eq!(room.drops().len(), 1);
    assert_eq!(room.drops().values().next().unwrap().state, "confirmed");
    assert!(
        room.tree().iter().any(|path| path.ends_with(nfd)),
        "its bytes are as they were: {:?}",
        room.tree()
    );
    room.check().await;
}

#[tokio::test]
async fn another_pdf_of_its_name_is_not_taken_for_a_drop_that_waits() {
    let mut room = Mailroom::open().await;
    let padded = [pdf(1), vec![0; 2]].concat();
    std::fs::write(room.path("x.pdf"), &padded).unwrap();
    room.settled().await;
    assert_eq!(room.tree(), ["Held/x.pdf", "Held/x.txt"], "nobody knows whether it is whole");
    room.drop("x.pdf", 2);
    room.settled().await;
    let sent = format!("{}/x.pdf", room.sent());
    // One is cancelled; before that is heard a copy of the other is laid where one approves.
    std::fs::rename(room.path("Held/x.pdf"), room.path("Cancel/x.pdf")).unwrap();
    std::fs::copy(room.path(&sent), room.path("Approve/x.pdf")).unwrap();
    room.settled().await;
    assert_eq!(std::fs::read(room.path("Cancelled/x.pdf")).unwrap(), padded, "{:?}", room.tree());
    assert!(room.note("Rejected/x.txt").contains("This is letter #1, which is posted"), "{:?}", room.tree());
    assert_eq!(room.row_states(), ["confirmed"]);
    room.check().await;
}

#[tokio::test]
async fn a_pdf_that_is_changed_where_it_waits_is_not_the_one_that_waits() {
    for is_copy in [false, true] {
        let mut room = Mailroom::open().await;
        std::fs::write(room.path("x.pdf"), [pdf(1), vec![0; 2]].concat()).unwrap();
        room.settled().await;
        assert_eq!(room.tree(), ["Held/x.pdf", "Held/x.txt"]);
        std::fs::write(room.path("Approve/x.pdf"), pdf(3)).unwrap();
        if !is_copy {
            std::fs::remove_file(room.path("Held/x.pdf")).unwrap();
        }
        room.settled().await;
        room.pass(121).await;
        room.settled().await;
        assert_eq!(room.why("x.pdf"), "not the PDF that waits", "{:?}", room.tree());
        assert_eq!(std::fs::read(room.path("Rejected/x.pdf")).unwrap(), pdf(3));
        assert_eq!(room.path("Held/x.pdf").exists(), is_copy);
        assert!(room.desk().letters(None, None, 10).unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_copy_says_something_of_its_letter_though_a_refused_pdf_of_its_name_was_deleted() {
    let mut room = Mailroom::open().await;
    std::fs::write(room.path("x.pdf"), "no PDF").unwrap();
    room.pass(121).await;
    room.settled().await;
    assert_eq!(room.tree(), ["Rejected/x.pdf", "Rejected/x.txt"]);
    std::fs::remove_file(room.path("Rejected/x.pdf")).unwrap();
    room.drop("x.pdf", 2);
    room.settled().await;
    let sent = format!("{}/x.pdf", room.sent());
    std::fs::copy(room.path(&sent), room.path("Cancel/x.pdf")).unwrap();
    room.settled().await;
    assert_eq!(room.row_states(), ["cancelled"], "{:?}", room.tree());
    room.check().await;
}
