//! A letter whose page and envelope are for different people is not posted, and people are told both sides.

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::running::Daemon;
use crate::rigs::typeset::{Line, typeset};

const YAMADA: [Line<'_>; 3] =
    [(20.0, 40.0, "〒060-0001"), (20.0, 46.0, "北海道札幌市北一条西1-1"), (20.0, 52.0, "山田 太郎 様")];
const YAMAMOTO: [Line<'_>; 3] =
    [(20.0, 40.0, "〒530-0001"), (20.0, 46.0, "大阪府大阪市北区梅田1-1"), (20.0, 52.0, "山本商事 御中")];
const BODY: [Line<'_>; 2] = [(20.0, 100.0, "ご請求書"), (20.0, 110.0, "金額 1,000円")];

fn checked(check: &str) -> String {
    RULES.replace("rules:\n", &format!("check_page: {check}\nrules:\n"))
}

fn held(room: &Mailroom, name: &str) -> String {
    std::fs::read_to_string(room.path(&format!("Held/{name}.txt"))).unwrap_or_default()
}

/// Moves it as its text says. It is decided anew after that.
async fn approve(room: &mut Mailroom, name: &str) {
    let [held, approve] = ["Held", "Approve"].map(|place| room.path(&format!("{place}/{name}.pdf")));
    std::fs::rename(held, approve).unwrap();
    room.settled().await;
    room.pass(60).await;
    room.settled().await;
}

/// Drops a PDF of these bytes, and waits until all is decided.
async fn put(room: &mut Mailroom, name: &str, pages: &[&[Line<'_>]]) {
    std::fs::write(room.path(name), typeset(pages)).unwrap();
    room.settled().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_for_somebody_else_waits_until_a_person_accepts_these_bytes() {
    let mut room = Mailroom::with(&checked("hold")).await;
    put(&mut room, "x right.pdf", &[&YAMADA, &BODY]).await;
    assert_eq!(room.row_states(), ["confirmed"]);
    put(&mut room, "x wrong.pdf", &[&YAMAMOTO, &BODY]).await;
    assert_eq!(room.row_states(), ["confirmed"], "nothing is posted");
    let text = held(&room, "x wrong");
    assert!(text.contains("Page 1 is for 〒530-0001 … 山本商事 御中"), "{text}");
    assert!(text.contains("the envelope would be for 〒060-0001 … 山田 太郎 様"), "{text}");
    let journal = room.desk().lying("", 9).unwrap();
    assert!(!format!("{journal:?}").contains("山"), "{journal:?}");
    // Other bytes under its name are not accepted with it.
    std::fs::write(room.path("Held/x wrong.pdf"), typeset(&[&YAMAMOTO, &BODY, &BODY])).unwrap();
    approve(&mut room, "x wrong").await;
    assert_eq!(room.row_states(), ["confirmed"]);
    put(&mut room, "x meant.pdf", &[&YAMAMOTO]).await;
    approve(&mut room, "x meant").await;
    assert_eq!(room.row_states(), ["confirmed", "confirmed"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_customers_letter_behind_the_first_is_found() {
    let mut room = Mailroom::with(&checked("hold")).await;
    put(&mut room, "x merged.pdf", &[&YAMADA, &BODY, &YAMAMOTO]).await;
    assert_eq!(room.row_states(), Vec::<String>::new());
    let text = held(&room, "x merged");
    assert!(text.contains("Page 3 begins a letter to 〒530-0001 … 山本商事 御中"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_can_tell_goes_on_unless_the_folder_holds_it() {
    for (check, posted) in [("hold", 1), ("{unreadable: hold}", 0), ("off", 1)] {
        let mut room = Mailroom::with(&checked(check)).await;
        put(&mut room, "x plain.pdf", &[&BODY]).await;
        assert_eq!(room.row_states().len(), posted, "{check}");
        if posted == 0 {
            let text = held(&room, "x plain");
            assert!(text.contains("There is no address on page 1"), "{text}");
            approve(&mut room, "x plain").await;
            assert_eq!(room.row_states(), ["confirmed"]);
        }
    }
    let mut room = Mailroom::with(&checked("off")).await;
    put(&mut room, "x other.pdf", &[&YAMAMOTO]).await;
    assert_eq!(room.row_states(), ["confirmed"], "nobody asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_accepted_before_stays_accepted() {
    let mut room = Mailroom::with(&checked("hold")).await;
    // In doubt because of what follows its end, and for somebody else.
    let padded = [typeset(&[&YAMAMOTO]), vec![0; 100]].concat();
    std::fs::write(room.path("x both.pdf"), padded).unwrap();
    room.settled().await;
    for say in ["It would be posted with 1 page(s)", "Page 1 is for"] {
        let text = held(&room, "x both");
        assert!(text.contains(say), "{say}: {text}");
        approve(&mut room, "x both").await;
    }
    assert_eq!(room.row_states(), ["confirmed"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_finds_its_customer_on_the_page() {
    let rule = "rules:\n  - name: by number\n    when: {page: '請求番号\\s*(?<no>\\d{6})', page_area: {left: 100mm, \
                top: 10mm, width: 100mm, height: 30mm}}\n    receiver: {book: '{no}'}\n    \
                shipping: {method: normal}\n";
    let mut room = Mailroom::with(&checked("hold").replace("rules:\n", rule)).await;
    let numbered: Vec<Line<'_>> = [YAMADA.as_slice(), &[(120.0, 20.0, "請求番号 000123")]].concat();
    put(&mut room, "scan0001.pdf", &[&numbered]).await;
    assert_eq!(room.row_states(), ["confirmed"]);
    // Elsewhere on the page it does not count, and nothing else fits the name.
    let elsewhere: Vec<Line<'_>> = [YAMADA.as_slice(), &[(20.0, 200.0, "請求番号 000123")]].concat();
    put(&mut room, "scan0002.pdf", &[&elsewhere]).await;
    assert_eq!(room.row_states(), ["confirmed"]);
    let text = std::fs::read_to_string(room.path("Rejected/scan0002.txt")).unwrap();
    assert!(text.contains("No rule"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_page_names_nobody() {
    let room = crate::rigs::running::room().await;
    let rules = room.dir.path().join("folders/letters.yaml");
    let text = std::fs::read_to_string(&rules).unwrap();
    std::fs::write(&rules, text.replace("rules:\n", "check_page: hold\nrules:\n")).unwrap();
    let daemon = Daemon::start(&room);
    std::fs::write(room.path("x wrong.pdf"), typeset(&[&YAMAMOTO])).unwrap();
    let html = daemon.until_page("/letters", "is for somebody else than the envelope").await;
    assert!(!html.contains("山本") && !html.contains("山田"), "{html}");
}

#[tokio::test]
async fn explain_says_what_was_found_on_the_page() {
    let room = Mailroom::closed(&checked("hold")).await;
    for (name, lines, told) in [
        ("x right.pdf", &YAMADA[..], "printed    document 1: page 1 is for the receiver"),
        ("x wrong.pdf", &YAMAMOTO, "printed    document 1: page 1 is for 〒530-0001 … 山本商事 御中"),
        ("x plain.pdf", &BODY, "printed    document 1: cannot tell: no address was found on page 1"),
    ] {
        std::fs::write(room.path(name), typeset(&[lines])).unwrap();
        let config = room.dir.path().join("mailchute.yaml");
        let file = room.path(name);
        let arguments = ["explain", "--config", config.to_str().unwrap(), file.to_str().unwrap()];
        let done = crate::rigs::program::mailchute(&arguments).output().unwrap();
        let out = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success() && out.contains(told), "{told}: {out}");
        let condition = format!("here: {name}");
        assert!(out.contains(&condition), "{condition}: {out}");
    }
}
