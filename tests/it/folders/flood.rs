//! More was dropped than can be taken in soon: nothing else waits until all of it is.

use chrono::TimeDelta;

use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::service::pdf;

/// One worker, and more finished drops than it takes in soon.
async fn flooded(room: &mut Mailroom, folder: &str) {
    room.stop();
    room.at_once = Some(1);
    room.start();
    for n in 0..20 {
        std::fs::write(room.dir.path().join(folder).join(format!("x{n:02}.pdf")), pdf(n % 8 + 1)).unwrap();
    }
    // Seen once, and then finished.
    room.turn(Loop::Intake).await;
    room.clock.move_by(TimeDelta::seconds(6)).unwrap();
}

/// How many were copied and judged.
fn taken(room: &Mailroom) -> usize {
    std::fs::read_dir(room.dir.path().join("state/spool/new")).unwrap().count()
}

fn left(room: &Mailroom, folder: &str) -> usize {
    let found = std::fs::read_dir(room.dir.path().join(folder)).unwrap();
    found.filter(|one| one.as_ref().unwrap().file_name().to_string_lossy().starts_with('x')).count()
}

#[tokio::test]
async fn a_letter_is_cancelled_while_finished_drops_wait_for_a_worker() {
    let mut room = Mailroom::with(&RULES.replace("rules:", "release: approval\nrules:")).await;
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    assert_eq!(room.row_states(), ["held"], "{:?}", room.tree());
    flooded(&mut room, "letters").await;
    room.takes_one().await;
    assert_eq!((left(&room, "letters"), taken(&room)), (4, 0), "16 are claimed: {:?}", room.tree());
    std::fs::rename(room.path("Held/INV-000123.pdf"), room.path("Cancel/INV-000123.pdf")).unwrap();
    for _second in 0..6 {
        room.clock.move_by(TimeDelta::seconds(1)).unwrap();
        room.takes_one().await;
    }
    assert!(!room.path("Cancel/INV-000123.pdf").exists(), "{:?}", room.tree());
    assert_eq!(taken(&room), 6, "{:?}", room.tree());
    room.settled().await;
    room.settled().await;
    assert_eq!(room.row_states()[0], "withdrawn", "{:?}", room.tree());
    assert_eq!(left(&room, "letters"), 0, "{:?}", room.tree());
    room.check().await;
}

#[tokio::test]
async fn a_folder_has_its_turn_while_another_is_flooded() {
    let mut room = Mailroom::open().await;
    std::fs::create_dir(room.dir.path().join("second")).unwrap();
    let second = RULES.replace("../letters", "../second");
    std::fs::write(room.dir.path().join("folders/second.yaml"), second).unwrap();
    room.reload();
    room.settled().await;
    std::fs::write(room.dir.path().join("second/x.pdf"), pdf(9)).unwrap();
    flooded(&mut room, "letters").await;
    for _turn in 0..2 {
        room.takes_one().await;
    }
    assert_eq!((left(&room, "letters"), left(&room, "second")), (4, 0), "{:?}", room.tree());
    assert_eq!(taken(&room), 1, "none of the others was: {:?}", room.tree());
}
