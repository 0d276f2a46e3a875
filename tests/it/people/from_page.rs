//! Letters whose receiver is read from their first page.

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;
use crate::rigs::running::Daemon;
use crate::rigs::typeset::{Line, typeset};

const YAMADA: [Line<'_>; 3] =
    [(20.0, 40.0, "〒060-0001"), (20.0, 46.0, "北海道札幌市中央区北一条西1-1"), (20.0, 52.0, "山田 太郎 様")];
const YAMAMOTO: [Line<'_>; 3] = [
    (20.0, 40.0, "〒530-0001"),
    (20.0, 46.0, "大阪府大阪市北区梅田1-1"),
    (20.0, 52.0, "山本商事株式会社 御中"),
];
/// Its code is Sapporo's and its address Osaka's.
const MISTAKEN: [Line<'_>; 3] = [
    (20.0, 40.0, "〒060-0001"),
    (20.0, 46.0, "大阪府大阪市北区梅田1-1"),
    (20.0, 52.0, "山本商事株式会社 御中"),
];
const SENDER: [Line<'_>; 3] = [
    (130.0, 20.0, "〒100-0001"),
    (130.0, 26.0, "東京都千代田区千代田1-1"),
    (130.0, 32.0, "株式会社サンプル"),
];

fn rules(receiver: &str) -> String {
    with_receiver(RULES, receiver)
}

/// The folder's file with one rule, for everything.
fn with_receiver(folder: &str, receiver: &str) -> String {
    let (before, _) = folder.split_once("rules:\n").unwrap();
    format!(
        "{before}rules:\n  - name: as printed\n    receiver: {receiver}\n    shipping: {{method: normal}}\n"
    )
}

fn put(room: &Mailroom, name: &str, lines: &[&[Line<'_>]]) {
    let lines: Vec<Line<'_>> = lines.concat();
    std::fs::write(room.path(name), typeset(&[&lines])).unwrap();
}

async fn approve(room: &mut Mailroom, name: &str) {
    let [held, approve] = ["Held", "Approve"].map(|place| room.path(&format!("{place}/{name}")));
    std::fs::rename(held, approve).unwrap();
    room.settled().await;
    room.pass(60).await;
    room.settled().await;
}

/// Whom the service has a letter for.
fn receivers(room: &Mailroom) -> Vec<String> {
    let letters = room.desk().letters(None, None, 10).unwrap();
    let mut found = Vec::new();
    for row in letters.iter().rev() {
        let letter = room.desk().letter(row.letter).unwrap().unwrap();
        let address = &letter.order.receiver.address;
        found.push(format!("{} {} {}", address.postal_code, address.city, address.name));
    }
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_who_was_never_written_to_waits_for_a_person_and_then_goes_by_itself() {
    let mut room = Mailroom::with(&rules("page")).await;
    put(&room, "scan1.pdf", &[&YAMADA, &SENDER]);
    room.settled().await;
    assert_eq!(room.state("scan1.pdf"), "held");
    assert_eq!(room.why("scan1.pdf"), "the folder never posted to the receiver on its page");
    let note = room.note("Held/scan1.txt");
    let who = "Nothing was posted to the receiver on page 1 before: 〒060-0001 北海道札幌市中央区北一条西1-1 山田 太郎 様.";
    assert!(note.contains(who), "{note}");
    approve(&mut room, "scan1.pdf").await;
    assert_eq!(room.state("scan1.pdf"), "confirmed");
    assert_eq!(receivers(&room), ["0600001 札幌市中央区 山田 太郎"]);
    // From now on the receiver is known, and somebody else is not.
    put(&room, "scan2.pdf", &[&[(20.0, 90.0, "二通目")], &YAMADA]);
    put(&room, "scan3.pdf", &[&YAMAMOTO]);
    // Another person at the same address, and the same one at another.
    put(&room, "scan4.pdf", &[&[YAMADA[0], YAMADA[1], (20.0, 52.0, "山田 花子 様")]]);
    put(&room, "scan5.pdf", &[&[YAMADA[0], (20.0, 46.0, "北海道札幌市中央区北一条西2-2"), YAMADA[2]]]);
    room.settled().await;
    let names = ["scan2.pdf", "scan3.pdf", "scan4.pdf", "scan5.pdf"];
    assert_eq!(names.map(|name| room.state(name)), ["confirmed", "held", "held", "held"]);
    // Nobody's name is in what is not the folder's own text.
    let list = format!("{:?}", room.drops());
    assert!(!list.contains("山本") && !list.contains("梅田"), "{list}");
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_in_one_way_only_waits_until_a_person_writes_it_down() {
    let mut room = Mailroom::with(&rules("{page: {first_time: send}}")).await;
    put(&room, "right.pdf", &[&YAMAMOTO, &SENDER]);
    put(&room, "mistaken.pdf", &[&MISTAKEN]);
    let below: Vec<Line<'_>> = YAMADA.iter().map(|(left, top, text)| (*left, top + 100.0, *text)).collect();
    put(&room, "two.pdf", &[&YAMAMOTO, &below]);
    put(&room, "nobody.pdf", &[&[(20.0, 40.0, "ご請求書")]]);
    room.settled().await;
    let names = ["right.pdf", "mistaken.pdf", "two.pdf", "nobody.pdf"];
    assert_eq!(names.map(|name| room.state(name)), ["confirmed", "held", "held", "held"]);
    for (name, told) in [
        (
            "mistaken",
            "the address on page 1 is not in the city of its postal code. What was read: 〒060-0001 / 大阪府",
        ),
        ("two", "there are several addresses on page 1"),
        ("nobody", "there is no address with a postal code and a name on page 1"),
    ] {
        let note = room.note(&format!("Held/{name}.txt"));
        assert!(note.contains(told) && note.contains(".yaml"), "{note}");
    }
    // Approving alone does not help.
    approve(&mut room, "mistaken.pdf").await;
    assert_eq!(room.state("mistaken.pdf"), "held");
    std::fs::write(room.path("Held/mistaken.pdf.yaml"), crate::rigs::mailroom::SIDECAR).unwrap();
    approve(&mut room, "mistaken.pdf").await;
    assert_eq!(room.state("mistaken.pdf"), "confirmed");
    assert_eq!(receivers(&room), ["0600001 札幌市 佐藤", "5300001 大阪市北区 山本商事株式会社"]);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_an_area_one_of_several_addresses_is_meant() {
    let area = "{page: {first_time: send, area: {left: 10mm, top: 130mm, width: 100mm, height: 40mm}}}";
    let mut room = Mailroom::with(&rules(area)).await;
    let below: Vec<Line<'_>> = YAMADA.iter().map(|(left, top, text)| (*left, top + 100.0, *text)).collect();
    put(&room, "two.pdf", &[&YAMAMOTO, &below]);
    room.settled().await;
    assert_eq!(room.state("two.pdf"), "confirmed");
    assert_eq!(receivers(&room), ["0600001 札幌市中央区 山田 太郎"]);
}

#[tokio::test]
async fn explain_says_whom_page_1_names() {
    let room = Mailroom::closed(&rules("page")).await;
    put(&room, "x.pdf", &[&YAMADA]);
    let config = room.dir.path().join("mailchute.yaml");
    let explain = || {
        let file = room.path("x.pdf");
        let words = ["explain", "--config", config.to_str().unwrap(), file.to_str().unwrap()];
        String::from_utf8(mailchute(&words).output().unwrap().stdout).unwrap()
    };
    let said = explain();
    assert!(said.contains("held: Nothing was posted to the receiver on page 1 before: 〒060-0001"), "{said}");
    std::fs::write(room.dir.path().join("folders/letters.yaml"), rules("{page: {first_time: send}}"))
        .unwrap();
    let said = explain();
    assert!(said.contains("山田 太郎 様   from page 1"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_page_says_why_it_is_on_hold_and_names_nobody() {
    let room = crate::rigs::running::room().await;
    let file = room.dir.path().join("folders/letters.yaml");
    let quick = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, with_receiver(&quick, "page")).unwrap();
    let daemon = Daemon::start(&room);
    put(&room, "new.pdf", &[&YAMADA]);
    put(&room, "mistaken.pdf", &[&MISTAKEN]);
    for why in ["Nothing was posted to the receiver on page 1 before.", "not in the city of its postal code."]
    {
        let html = daemon.until_page("/letters", why).await;
        assert!(!html.contains("山田") && !html.contains("山本") && !html.contains("梅田"), "{html}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_that_may_be_another_receivers_is_used_for_nobody() {
    let page = "'^INV-(?<customer>\\d{6})', page: 'No (?<customer>\\d{6})', pages: ..8";
    let mut room = Mailroom::with(&RULES.replace("'^INV-(?<customer>\\d{6})', pages: ..8", page)).await;
    let printed = |text: &'static str| [(20.0, 40.0, text)];
    put(&room, "INV-000123.pdf", &[&printed("No 000456")]);
    put(&room, "INV-0001234.pdf", &[&printed("No 000123")]);
    put(&room, "INV-000123 2.pdf", &[&printed("No 0001239")]);
    put(&room, "INV-000123 ok.pdf", &[&printed("No 000123")]);
    room.settled().await;
    assert_eq!(receivers(&room), ["0600001 札幌市中央区 山田 太郎"]);
    assert_eq!(room.state("INV-000123 ok.pdf"), "confirmed");
    for (name, why) in [
        ("INV-000123.pdf", "finds two numbers for its receiver: `000123` and `000456`"),
        ("INV-0001234.pdf", "Right beside the number `000123` there is another digit"),
        ("INV-000123 2.pdf", "Right beside the number `000123` there is another digit"),
    ] {
        let text = std::fs::read_to_string(
            room.path(&format!("Rejected/{}.txt", name.strip_suffix(".pdf").unwrap())),
        )
        .unwrap();
        assert!(text.contains(why), "{name}: {text}");
    }
    room.check().await;
}
