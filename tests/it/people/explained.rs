//! What `mailchute explain` says of what the folder never takes.

use std::process::Command;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::service::pdf;

const MAILCHUTE: &str = env!("CARGO_BIN_EXE_mailchute");

fn explained(room: &Mailroom, name: &str) -> String {
    let config = room.dir.path().join("mailchute.yaml");
    let mut command = Command::new(MAILCHUTE);
    let output = command.arg("explain").arg("--config").arg(config).arg(room.path(name)).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[tokio::test]
async fn a_pdf_without_its_ending_is_said_to_be_rejected() {
    let room = Mailroom::closed(RULES).await;
    std::fs::write(room.path("x.docx"), pdf(1)).unwrap();
    std::fs::write(room.path("x.pdf"), pdf(1)).unwrap();
    std::fs::create_dir(room.path("x folder")).unwrap();
    assert!(explained(&room, "x.docx").contains("rejected: It is not a PDF."));
    assert!(!explained(&room, "x.pdf").contains("rejected"));
    assert!(explained(&room, "x folder").contains("left where it is: it is a folder"));
    std::fs::create_dir(room.path("x folder.pdf")).unwrap();
    assert!(explained(&room, "x folder.pdf").contains("rejected: It is a folder, not a file."));
}

#[tokio::test]
async fn a_subfolder_is_said_to_be_rejected_for_what_is_in_it() {
    let room = Mailroom::closed(&RULES.replace("path:", "letter: subfolder\npath:")).await;
    std::fs::write(room.path("x.pdf"), pdf(1)).unwrap();
    assert!(explained(&room, "x.pdf").contains("rejected: In this folder a letter is a subfolder"));
    std::fs::create_dir(room.path("x")).unwrap();
    std::fs::write(room.path("x/Thumbs.db"), "ignored").unwrap();
    assert!(explained(&room, "x").contains("rejected: There is no PDF"));
    std::fs::write(room.path("x/1.pdf"), pdf(1)).unwrap();
    let fits = explained(&room, "x");
    assert!(fits.contains("fits") && !fits.contains("rejected"), "{fits}");
    std::fs::write(room.path("x/note.txt"), "unfit").unwrap();
    assert!(explained(&room, "x").contains("rejected: `note.txt` in the subfolder is not a PDF."));
}

#[tokio::test]
async fn what_is_not_taken_in_is_said_to_be_left() {
    let room = Mailroom::closed(&RULES.replace("{poll: 1s}", "{poll: 1s, ignore: ['draft-*']}")).await;
    for ignored in [".x.pdf", "draft-1.pdf", "x.pdf.part", "Approve"] {
        std::fs::write(room.path(ignored), pdf(1)).unwrap_or_default();
        let said = explained(&room, ignored);
        assert!(said.contains("left where it is: its name"), "{ignored}: {said}");
    }
    std::fs::write(room.path("x.pdf.yaml"), "").unwrap();
    assert!(explained(&room, "x.pdf.yaml").contains("left where it is: it is a sidecar"));
}

#[tokio::test]
async fn links_are_said_to_be_rejected_and_hidden_documents_are_not_counted() {
    let room = Mailroom::closed(RULES).await;
    std::fs::write(room.path("x.pdf"), pdf(1)).unwrap();
    std::os::unix::fs::symlink(room.path("x.pdf"), room.path("link.pdf")).unwrap();
    assert!(explained(&room, "link.pdf").contains("rejected: It is a link to another file, not a file."));
    std::fs::hard_link(room.path("x.pdf"), room.path("twice.pdf")).unwrap();
    assert!(explained(&room, "twice.pdf").contains("rejected: The file has a second name"));

    let room = Mailroom::closed(&RULES.replace("path:", "letter: subfolder\npath:")).await;
    std::fs::create_dir(room.path("x")).unwrap();
    std::fs::write(room.path("x/1.pdf"), pdf(1)).unwrap();
    std::fs::write(room.path("x/._1.pdf"), "what a Mac leaves behind").unwrap();
    let fits = explained(&room, "x");
    assert!(fits.contains("1 sheet(s)") && !fits.contains("rejected"), "{fits}");
    std::os::unix::fs::symlink("1.pdf", room.path("x/2.pdf")).unwrap();
    assert!(explained(&room, "x").contains("rejected: `2.pdf` in the subfolder is not a PDF."));
}

#[tokio::test]
async fn a_link_is_of_the_folder_in_which_it_lies_and_a_dot_is_the_subfolder() {
    let subfolders = RULES.replace("path:", "letter: subfolder\npath:");
    let room = Mailroom::closed(&subfolders).await;
    let other = subfolders.replace("../letters", "../other");
    std::fs::write(room.dir.path().join("folders/other.yaml"), other).unwrap();
    std::fs::create_dir(room.dir.path().join("other")).unwrap();
    std::fs::create_dir(room.path("x")).unwrap();
    std::fs::write(room.path("x/1.pdf"), pdf(1)).unwrap();
    std::os::unix::fs::symlink(room.path("x"), room.dir.path().join("other/link")).unwrap();
    let config = room.dir.path().join("mailchute.yaml");
    for (from, file, expected) in [
        (room.path("x"), ".", "1 sheet(s)"),
        (room.path("x"), "./", "1 sheet(s)"),
        (room.path("x"), "../x", "1 sheet(s)"),
        (
            room.dir.path().to_owned(),
            "other/link",
            "other/link: folder other\n  rejected: It is a link to another file",
        ),
    ] {
        let mut command = Command::new(MAILCHUTE);
        command.current_dir(from).arg("explain").arg("--config").arg(&config).arg(file);
        let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(said.contains(expected), "{file}: {said}");
    }
}

#[tokio::test]
async fn two_sidecars_are_said_to_be_rejected() {
    let room = Mailroom::closed(RULES).await;
    std::fs::write(room.path("x.pdf"), pdf(1)).unwrap();
    for sidecar in ["x.pdf.yaml", "x.pdf.json"] {
        std::fs::write(room.path(sidecar), "{}").unwrap();
    }
    let said = explained(&room, "x.pdf");
    assert!(
        said.contains("rejected") && said.contains("x.pdf.json") && said.contains("x.pdf.yaml"),
        "{said}"
    );
}
