//! A list of postal codes that an administrator gave: who waits because of it, and what people read of it.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use mailchute::domain::address::PREFECTURES;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::service::pdf;

const DAY: Duration = Duration::from_hours(24);

/// One row for each prefecture, and two towns.
fn list() -> String {
    let row = |code: &str, prefecture: &str, city: &str, town: &str| {
        format!(
            "01101,\"060  \",\"{code}\",\"ホ\",\"サ\",\"イ\",\"{prefecture}\",\"{city}\",\"{town}\",0,0,0,0,0,0\n"
        )
    };
    let whole = "以下に掲載がない場合";
    let every = PREFECTURES.iter().enumerate();
    every
        .map(|(number, prefecture)| row(&format!("9990{number:03}"), prefecture, "見本市", whole))
        .collect::<String>()
        + &row("0600001", "北海道", "札幌市中央区", "北一条西（１～１９丁目）")
        + &row("0690841", "北海道", "江別市", "大麻元町")
}

/// Puts a list there that is so many days old, as a new file.
fn put(room: &Mailroom, text: &str, days: u32) {
    let (part, place) = (room.dir.path().join("list.part"), room.dir.path().join("utf_ken_all.csv"));
    std::fs::write(&part, text).unwrap();
    let made = SystemTime::from(room.clock.now()) - DAY * days;
    File::options().write(true).open(&part).unwrap().set_times(FileTimes::new().set_modified(made)).unwrap();
    std::fs::rename(part, place).unwrap();
}

async fn room(text: &str, days: u32) -> Mailroom {
    let mut room = Mailroom::closed(RULES).await;
    room.add_to_main("postal_data: utf_ken_all.csv\n");
    put(&room, text, days);
    room.start();
    room.settle().await;
    room
}

/// The text beside a letter that was posted.
fn sent(room: &Mailroom, name: &str) -> String {
    room.note(&format!("{}/{name}.txt", room.sent()))
}

/// Drops a letter to this place with its sidecar, and waits until it is decided.
async fn drop_to(room: &mut Mailroom, name: &str, place: &str) {
    let sidecar = format!("receiver: {{{place}, name: 佐藤}}\n");
    std::fs::write(room.path(&format!("{name}.pdf.yaml")), sidecar).unwrap();
    // Each has another number of pages, so none is a duplicate.
    let pages = name.bytes().last().map_or(1, |letter| usize::from(letter - b'a') + 1);
    std::fs::write(room.path(&format!("{name}.pdf")), pdf(pages)).unwrap();
    room.settled().await;
}

const OTHER_CITY: &str = "postal_code: '0690841', state: 北海道, city: 札幌市北区, address1: 北十条西3";
const UNKNOWN: &str = "postal_code: '0600002', state: 北海道, city: 札幌市中央区, address1: 北二条西1";
const OTHER_TOWN: &str = "postal_code: '0600001', state: 北海道, city: 札幌市中央区, address1: 南三条西1";
const RIGHT: &str = "postal_code: '0690841', state: 北海道, city: 江別市, address1: 大麻元町1-1";
/// Of a company by its form, so a list of towns need not have it.
const COMPANY: &str = "postal_code: '0608501', state: 北海道, city: 札幌市中央区, address1: 北一条西2";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_a_recent_list_a_code_of_another_city_waits_and_says_which() {
    let mut room = room(&list(), 30).await;
    for (name, place) in [("side a", RIGHT), ("side b", COMPANY), ("side c", OTHER_TOWN)] {
        drop_to(&mut room, name, place).await;
    }
    assert_eq!(room.row_states(), ["confirmed"; 3]);
    let text = sent(&room, "side c");
    assert!(text.contains("Postal code: The receiver's postal code is that of 北一条西"), "{text}");
    assert!(!sent(&room, "side a").contains("Postal code"));
    drop_to(&mut room, "side d", OTHER_CITY).await;
    drop_to(&mut room, "side e", UNKNOWN).await;
    assert_eq!(room.row_states(), ["confirmed", "confirmed", "confirmed", "held", "held"]);
    let held = |name: &str| std::fs::read_to_string(room.path(&format!("Held/{name}.txt"))).unwrap();
    assert!(held("side d").contains("postal code belongs to 江別市, and the address names another city"));
    assert!(held("side d").contains("`Approve`"), "{}", held("side d"));
    assert!(held("side e").contains("The receiver's postal code is unknown"), "{}", held("side e"));
    let [from, to] = ["Held", "Approve"].map(|place| room.path(&format!("{place}/side d.pdf")));
    std::fs::rename(from, to).unwrap();
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed", "confirmed", "confirmed", "confirmed", "held"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_list_and_the_one_built_in_only_note_it() {
    let mut old = room(&list(), 200).await;
    let mut none = Mailroom::open().await;
    for room in [&mut old, &mut none] {
        drop_to(room, "side d", OTHER_CITY).await;
        assert_eq!(room.row_states(), ["confirmed"]);
        let text = sent(room, "side d");
        assert!(text.contains("postal code belongs to 江別市, and the address names another city"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_is_not_whole_changes_nothing_until_it_is() {
    let mut room = room(&list(), 1).await;
    drop_to(&mut room, "side a", OTHER_CITY).await;
    let whole = list();
    put(&room, whole.lines().next().unwrap(), 0);
    drop_to(&mut room, "side b", OTHER_CITY).await;
    assert_eq!(room.row_states(), ["held", "held"], "the last good list stays in force");
    put(&room, &whole.replace("江別市", "札幌市北区").replace("大麻元町", "北十条西"), 0);
    drop_to(&mut room, "side c", OTHER_CITY).await;
    assert_eq!(room.row_states(), ["held", "held", "confirmed"]);
    std::fs::remove_file(room.dir.path().join("utf_ken_all.csv")).unwrap();
    drop_to(&mut room, "side d", RIGHT).await;
    assert_eq!(
        room.row_states(),
        ["held", "held", "confirmed", "held"],
        "it is missing, and the last one counts"
    );
}
