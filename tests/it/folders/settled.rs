//! Nothing half-written decides: whatever decides over a drop is read only when it has settled, and counts
//! only if it did not change while it was read.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use mailchute::config::FilesOnDisk;
use mailchute::domain::letter::Number;

use crate::rigs::mailroom::{Mailroom, RULES, SIDECAR};

/// The sidecar's address as it is once the writer is done, and as it is half-way: of the same length.
const WHOLE: &str = "1-1-1204";
const HALF: &str = "1-1     ";

fn sidecar(address1: &str) -> String {
    SIDECAR.replace("address1: 1-1", &format!("address1: '{address1}'"))
}

/// A mailroom in which `script` runs once, when the first PDF has been read and its pages are counted.
/// `$in_claim` is the path of what was claimed, except for its name.
async fn interrupted(script: &str) -> Mailroom {
    let mut room = Mailroom::closed(RULES).await;
    let child = room.dir.path().join("child");
    let (done, hot) = (room.dir.path().join("done"), room.hot());
    let text = format!(
        "#!/bin/sh\nif [ ! -e {done} ]; then : > {done}; for in_claim in {hot}/.mailchute/claim/*; do\n\
         {script}\ndone; fi\nexec {program} \"$@\"\n",
        done = done.display(),
        hot = hot.display(),
        program = room.counts_pages.display(),
    );
    std::fs::write(&child, text).unwrap();
    std::fs::set_permissions(&child, PermissionsExt::from_mode(0o755)).unwrap();
    room.counts_pages = child;
    room.start();
    room.settle().await;
    room
}

#[tokio::test]
async fn a_sidecar_that_is_rewritten_after_the_claim_settles_again() {
    for mtime_is_set_back in [false, true] {
        let mut room =
            interrupted("cat half > $in_claim/side.pdf.yaml; touch -r time $in_claim/side.pdf.yaml").await;
        let beside = |name: &str| room.dir.path().join(name);
        let old = SystemTime::UNIX_EPOCH + Duration::from_hours(400_000);
        for (path, text) in [(room.path("side.pdf.yaml"), sidecar(WHOLE)), (beside("half"), sidecar(HALF))] {
            std::fs::write(&path, text).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        }
        let other = if mtime_is_set_back { old } else { old + Duration::from_secs(1) };
        File::create(beside("time")).unwrap().set_modified(other).unwrap();
        let child = std::fs::read_to_string(&room.counts_pages).unwrap();
        let dir = format!("cd {}\n", room.dir.path().display());
        std::fs::write(&room.counts_pages, child.replacen('\n', &format!("\n{dir}"), 1)).unwrap();
        room.drop("side.pdf", 1);
        room.pass(1).await;
        room.pass(5).await;
        let claim = std::fs::read_dir(room.path(".mailchute/claim")).unwrap().next().unwrap().unwrap().path();
        assert_eq!(std::fs::read_to_string(claim.join("side.pdf.yaml")).unwrap(), sidecar(HALF));
        assert!(
            room.row_states().is_empty(),
            "half of the address decided (mtime set back: {mtime_is_set_back})"
        );
        // The writer comes to its end; then it has to be still for the settle time.
        std::fs::write(claim.join("side.pdf.yaml"), sidecar(WHOLE)).unwrap();
        for _ in 0..4 {
            room.settled().await;
        }
        let letter = room.desk().letter(Number(1)).unwrap().unwrap();
        assert_eq!(letter.order.receiver.address.address1, WHOLE);
        assert_eq!(room.row_states(), ["confirmed"]);
        room.check().await;
    }
}

#[tokio::test]
async fn two_sidecars_of_one_name_are_refused_together_and_none_stays_for_the_next_drop() {
    let mut room = Mailroom::open().await;
    std::fs::write(room.path("side.pdf.yaml"), sidecar("1-1")).unwrap();
    std::fs::write(room.path("side.pdf.json"), r#"{"receiver": {"postal_code": "1000001"}}"#).unwrap();
    room.drop("side.pdf", 1);
    room.settled().await;
    assert_eq!(
        (room.state("side.pdf").as_str(), room.why("side.pdf").as_str()),
        ("rejected", "several sidecars")
    );
    let note = room.note("Rejected/side.txt");
    assert!(note.contains("side.pdf.json, side.pdf.yaml"), "{note}");
    assert_eq!(
        room.tree(),
        ["Rejected/side.pdf", "Rejected/side.pdf.json", "Rejected/side.pdf.yaml", "Rejected/side.txt"]
    );
    // The next drop of this name finds no address of the last one.
    room.drop("side.pdf", 1);
    room.settled().await;
    assert!(room.row_states().is_empty(), "{:?}", room.drops());
}

#[tokio::test]
async fn a_sidecar_that_is_still_being_written_keeps_the_drop_waiting() {
    let mut room = Mailroom::open().await;
    room.drop("side.pdf", 1);
    std::fs::write(room.path("side.pdf.yaml"), sidecar("1-1")).unwrap();
    std::fs::write(room.path("side.pdf.yml"), "").unwrap();
    for second in 0..8 {
        std::fs::write(room.path("side.pdf.yml"), format!("{}# {second}\n", sidecar("2-2"))).unwrap();
        room.pass(2).await;
        assert_eq!(room.state("side.pdf"), "not taken");
    }
    // Only one of them is left.
    std::fs::remove_file(room.path("side.pdf.yaml")).unwrap();
    room.settled().await;
    room.settled().await;
    let letter = room.desk().letter(Number(1)).unwrap().unwrap();
    assert_eq!(letter.order.receiver.address.address1, "2-2");
    room.check().await;
}

#[tokio::test]
async fn two_sidecars_within_a_subfolder_are_refused() {
    let rules = RULES.replace("watch:", "letter: subfolder\nwatch:");
    let mut room = Mailroom::with(&rules).await;
    let inside = room.path("side 1");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(inside.join("a.pdf"), crate::rigs::service::pdf(1)).unwrap();
    std::fs::write(inside.join("letter.yaml"), sidecar("1-1")).unwrap();
    std::fs::write(inside.join("letter.json"), "{}").unwrap();
    room.settled().await;
    room.settled().await;
    assert_eq!(room.why("side 1"), "several sidecars", "{:?}", room.drops());
    let note = room.note("Rejected/side 1.txt");
    assert!(note.contains("letter.json, letter.yaml"), "{note}");
}

#[tokio::test]
async fn while_a_rules_file_is_being_saved_its_drops_wait_where_they_were_dropped() {
    for file in ["folders/letters.yaml", "mailchute.yaml"] {
        let mut room = Mailroom::open().await;
        let path = room.dir.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        room.drop("x.pdf", 1);
        // The first half is there, and no event told of it.
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        for _ in 0..3 {
            room.settled().await;
        }
        assert_eq!(room.tree(), ["THESE FILES WAIT.txt", "x.pdf"], "{file}");
        // Now the whole file is in force, with an approval.
        std::fs::write(&path, &text).unwrap();
        let rules = room.dir.path().join("folders/letters.yaml");
        std::fs::write(&rules, format!("{RULES}release: approval\n")).unwrap();
        room.reload();
        for _ in 0..2 {
            room.settled().await;
        }
        assert_eq!(room.row_states(), ["held"], "{file}");
        // Back as it was: what is saved and then read again holds up nothing.
        std::fs::write(&rules, RULES).unwrap();
        room.reload();
        room.drop("x2.pdf", 2);
        room.settled().await;
        assert_eq!(room.state("x2.pdf"), "confirmed", "{file}");
        room.check().await;
    }
}

#[tokio::test]
async fn rules_that_change_while_a_drop_is_read_do_not_decide_over_it() {
    // While its pages are counted, half of the new rules are saved.
    let mut room = interrupted("echo '# half' >> $0.rules").await;
    let rules = room.dir.path().join("folders/letters.yaml");
    std::os::unix::fs::symlink(&rules, room.dir.path().join("child.rules")).unwrap();
    room.drop("x.pdf", 1);
    for _ in 0..3 {
        room.settled().await;
    }
    assert!(std::fs::read_to_string(&rules).unwrap().contains("# half"));
    assert!(room.row_states().is_empty(), "decided by rules that were being changed: {:?}", room.drops());
    std::fs::write(&rules, format!("{RULES}release: approval\n")).unwrap();
    room.reload();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["held"]);
    room.check().await;
}

/// The address book of [`RULES`], with this address for customer 000123.
fn book(room: &Mailroom, address1: &str) -> (std::path::PathBuf, String) {
    let path = room.dir.path().join("folders/customers.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = text.replace("北一条西1-1", address1);
    assert_ne!(text, changed);
    (path, changed)
}

fn receivers(room: &Mailroom) -> Vec<String> {
    let letters = room.desk().letters(None, None, 100).unwrap();
    let order = |number| room.desk().letter(number).unwrap().unwrap().order;
    letters.into_iter().map(|row| order(row.letter).receiver.address.address1.clone()).collect()
}

#[tokio::test]
async fn a_book_that_is_being_saved_in_place_is_waited_for_and_only_by_those_who_need_it() {
    let mut room = Mailroom::open().await;
    let (path, whole) = book(&room, "北一条西1-1-1204");
    let cut = whole.find("-1204").unwrap();
    // The first half of it is there, and then more of it, slowly.
    room.drop("x.pdf", 1);
    room.drop("side.pdf", 1);
    std::fs::write(room.path("side.pdf.yaml"), SIDECAR).unwrap();
    for end in [cut, cut + 2] {
        std::fs::write(&path, &whole.as_bytes()[..end]).unwrap();
        room.settled().await;
        room.settled().await;
    }
    assert_eq!(room.state("x.pdf"), "not taken", "half of the book decided");
    assert!(room.tree().contains(&"x.pdf".to_owned()), "it waits where it was dropped: {:?}", room.tree());
    assert_eq!(receivers(&room), ["1-1"], "the drop with an address of its own went on");
    std::fs::write(&path, &whole).unwrap();
    for _ in 0..3 {
        room.settled().await;
    }
    assert!(receivers(&room).contains(&"北一条西1-1-1204".to_owned()), "{:?}", receivers(&room));
    room.check().await;
}

#[tokio::test]
async fn a_book_without_the_end_of_its_last_line_or_without_a_file_counts_after_a_minute() {
    for (how, states) in [("cut", ["rejected"]), ("gone", ["held"])] {
        let mut room = Mailroom::open().await;
        let (path, whole) = book(&room, "x");
        match how {
            "cut" => std::fs::write(&path, &whole.as_bytes()[..whole.rfind("000456").unwrap() - 1]).unwrap(),
            _gone => std::fs::remove_file(&path).unwrap(),
        }
        room.drop("INV-000456.pdf", 1);
        for _ in 0..7 {
            room.settled().await;
        }
        assert_eq!(room.state("INV-000456.pdf"), "not taken", "{how}");
        for _ in 0..3 {
            room.settled().await;
        }
        assert_eq!([room.state("INV-000456.pdf").as_str()], states, "{how}");
    }
}

#[tokio::test]
async fn a_book_that_changes_while_a_drop_is_read_does_not_decide_over_it() {
    let mut room = interrupted("echo '000999,someone,,0600001,北海道,札幌市,9-9' >> $0.book").await;
    let (path, _) = book(&room, "x");
    std::os::unix::fs::symlink(&path, room.dir.path().join("child.book")).unwrap();
    room.pass(3).await;
    room.drop("x.pdf", 1);
    room.pass(1).await;
    room.pass(5).await;
    assert!(std::fs::read_to_string(&path).unwrap().contains("000999"));
    assert!(room.row_states().is_empty(), "{:?}", room.drops());
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed"]);
    room.check().await;
}

#[tokio::test]
async fn a_start_does_not_wait_for_a_book_that_was_in_force_and_one_that_never_settles_is_an_alarm() {
    let rules = RULES.replace("settle: 2s", "settle: 1h");
    let mut room = Mailroom::open().await;
    room.drop("x.pdf", 1);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
    std::fs::write(room.dir.path().join("folders/letters.yaml"), rules).unwrap();
    room.stop();
    room.start();
    room.drop("x2.pdf", 2);
    room.settled().await;
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed", "confirmed"], "it was in force before");
    // Another book, of which nobody knows whether it is whole.
    let (path, other) = book(&room, "9-9");
    std::fs::write(&path, other).unwrap();
    room.drop("x3.pdf", 3);
    for _ in 0..60 {
        room.pass(10).await;
    }
    assert_eq!(room.state("x3.pdf"), "not taken");
    let alarms = room.desk().alarms().unwrap();
    let told: Vec<_> = alarms.iter().map(|raised| (raised.alarm.to_string(), raised.told)).collect();
    assert_eq!(told, [("book letters".to_owned(), true)]);
}

#[tokio::test]
async fn rules_that_change_while_a_drop_is_read_do_not_refuse_it_either() {
    let mut room = interrupted("sed -i s/\\'^x\\'/\\'^[xy]\\'/ $0.rules").await;
    let rules = room.dir.path().join("folders/letters.yaml");
    let script = std::fs::read_to_string(&room.counts_pages).unwrap();
    std::fs::write(&room.counts_pages, script.replace("$0.rules", rules.to_str().unwrap())).unwrap();
    // No rule fits yet; the one that does is being saved.
    room.drop("y.pdf", 1);
    for _ in 0..2 {
        room.settled().await;
    }
    assert!(std::fs::read_to_string(&rules).unwrap().contains("^[xy]"));
    assert_eq!(room.state("y.pdf"), "not taken", "{:?}", room.drops());
    room.reload();
    for _ in 0..3 {
        room.settled().await;
    }
    assert_eq!(room.row_states(), ["confirmed"]);
    room.check().await;
}

#[test]
fn a_main_file_with_mistakes_holds_up_no_folder_whose_rules_it_does_not_lead_to() {
    let dir = tempfile::tempdir().unwrap();
    let (main, rules) = (dir.path().join("mailchute.yaml"), dir.path().join("elsewhere/a.yaml"));
    std::fs::create_dir(rules.parent().unwrap()).unwrap();
    std::fs::write(&rules, "path: x\n").unwrap();
    std::fs::write(&main, "accounts: [\n").unwrap();
    let broken = FilesOnDisk::look(&main);
    assert!(broken.is_unchanged(&rules), "drops would wait for as long as the mistake is there");
    std::fs::write(&main, "accounts: [[\n").unwrap();
    assert!(!broken.is_unchanged(&rules));
}

#[tokio::test]
async fn the_alarm_about_a_book_ends_when_it_settles_after_a_restart_and_when_no_book_is_configured() {
    for without_book in [false, true] {
        let mut room = Mailroom::open().await;
        let (path, whole) = book(&room, "9-9");
        room.drop("x.pdf", 1);
        for n in 0..40 {
            std::fs::write(&path, format!("{whole}00{n:04},someone,,0600001,北海道,札幌市,1\n")).unwrap();
            room.pass(1).await;
        }
        let alarms = |room: &Mailroom| -> Vec<String> {
            let raised = room.desk().alarms().unwrap();
            raised.iter().filter(|one| one.fine_since.is_none()).map(|one| one.alarm.to_string()).collect()
        };
        assert_eq!(alarms(&room), ["book letters"]);
        if without_book {
            let rules = room.dir.path().join("folders/letters.yaml");
            let sidecars = RULES.find("  - name: sidecars").unwrap();
            let head = &RULES[..RULES.find("address_book:").unwrap()];
            std::fs::write(&rules, format!("{head}rules:\n{}", &RULES[sidecars..])).unwrap();
        }
        room.stop();
        room.start();
        for _ in 0..3 {
            room.settled().await;
        }
        assert!(alarms(&room).is_empty(), "without a book: {without_book}, {:?}", alarms(&room));
        assert_eq!(room.row_states().len(), usize::from(!without_book));
    }
}

#[tokio::test]
async fn a_book_counts_as_soon_as_it_was_still_for_its_settle_time() {
    let mut room = Mailroom::open().await;
    let (path, changed) = book(&room, "北一条西1-2");
    room.drop("x.pdf", 1);
    room.pass(1).await;
    std::fs::write(&path, &changed).unwrap();
    room.pass(3).await;
    assert_eq!(room.state("x.pdf"), "not taken", "it was seen three seconds ago");
    // The drop has settled, and its book for `settle: 2s` to the moment.
    room.pass(2).await;
    assert_eq!(receivers(&room), ["北一条西1-2"]);
    room.check().await;
}
