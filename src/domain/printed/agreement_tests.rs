//! The verdicts, page by page.

use super::super::{PrintedLine, PrintedPage};
use super::*;
use crate::domain::address_book::Columns;

/// Lines four millimetres high, of characters as wide.
fn page(lines: &[(f32, f32, &str)]) -> PrintedPage {
    let lines = lines.iter().map(|(left, top, text)| {
        let width = text.chars().map(|c| if c.is_ascii() { 2.0 } else { 4.0 }).sum::<f32>();
        PrintedLine {
            text: (*text).to_owned(),
            left: *left,
            top: *top,
            right: left + width,
            bottom: top + 4.0,
        }
    });
    PrintedPage { width: 210.0, height: 297.0, lines: lines.collect(), ..PrintedPage::default() }
}

fn address(postal_code: &str, name: &str) -> Address {
    let [state, city, address1] = ["北海道", "札幌市", "北一条西1-1"].map(str::to_owned);
    Address { postal_code: postal_code.to_owned(), state, city, address1, name: name.to_owned() }
}

fn compared(pages: &[PrintedPage], receiver: &Receiver) -> PageAgreement {
    let columns = ["key", "postal_code", "state", "city", "address1", "name", "honorific"].map(str::to_owned);
    let [key, postal_code, state, city, address1, name, honorific] = columns;
    let columns = Columns { key, postal_code, state, city, address1, name, honorific };
    let csv = "key,postal_code,state,city,address1,name,honorific\n\
               K-10001,0600001,北海道,札幌市,北一条西1-1,山田 太郎,様\n\
               K-10002,5300001,大阪府,大阪市北区,梅田1-1,山本商事,御中\n\
               12,9000015,沖縄県,那覇市,久茂地1,林 一,様\n";
    let (book, _) = AddressBook::read(csv.as_bytes(), &columns).unwrap();
    let sender = address("1000001", "株式会社サンプル");
    let envelope = PaperEnvelope { receiver, sender: &sender, book: Some(&book), area: None };
    compare(&Printed { pages: pages.to_vec(), count: 0 }, &envelope)
}

fn yamada() -> Receiver {
    Receiver { address: address("0600001", "山田 太郎"), honorific: "様".to_owned() }
}

fn of_first(lines: &[(f32, f32, &str)]) -> PageAgreement {
    compared(&[page(lines)], &yamada())
}

fn contradicts(page: u32, postal_code: Option<&str>, name: &str) -> PageAgreement {
    let addressee = Addressee { postal_code: postal_code.map(str::to_owned), name: name.to_owned() };
    PageAgreement::Contradicts(PageContradiction { page, addressee })
}

#[test]
fn the_block_of_the_receiver_agrees_however_it_is_written() {
    let at = |rows: &[&'static str]| -> Vec<(f32, f32, &'static str)> {
        let places = [40.0, 46.0, 52.0, 58.0];
        rows.iter().zip(places).map(|(text, top)| (20.0, top, *text)).collect()
    };
    for rows in [
        &["〒060-0001", "北海道札幌市北一条西1-1", "山田 太郎 様"][..],
        &["060-0001", "北海道札幌市北一条西1-1", "山田太郎様"],
        &["〒060-0001 北海道札幌市北一条西1-1", "山田 太郎 様"],
        &["〒0600001", "北海道札幌市", "北一条西1-1", "山田太郎 殿"],
        &["山田 太郎 様", "〒060-0001", "北海道札幌市北一条西1-1"],
    ] {
        assert_eq!(of_first(&at(rows)), PageAgreement::Agrees, "{rows:?}");
    }
    // The honorific far to the right of its name.
    let apart = [(20.0, 40.0, "〒060-0001"), (20.0, 46.0, "山田 太郎"), (90.0, 46.0, "様")];
    assert_eq!(of_first(&apart), PageAgreement::Agrees);
}

#[test]
fn a_block_of_somebody_else_contradicts_even_if_the_receiver_is_on_the_page() {
    let block = [
        (20.0, 40.0, "〒530-0001"),
        (20.0, 46.0, "大阪府大阪市北区梅田1-1"),
        (20.0, 52.0, "山本商事 御中"),
        (20.0, 200.0, "納品先 〒060-0001 山田 太郎"),
    ];
    assert_eq!(of_first(&block), contradicts(1, Some("5300001"), "山本商事 御中"));
    // The same name at another place is another person, as far as anybody can tell.
    let moved = [(20.0, 40.0, "〒530-0001"), (20.0, 46.0, "山田 太郎 様")];
    assert_eq!(of_first(&moved), contradicts(1, Some("5300001"), "山田 太郎 様"));
    let same_place = [(20.0, 40.0, "〒060-0001"), (20.0, 46.0, "佐藤 花子 様")];
    assert_eq!(of_first(&same_place), contradicts(1, Some("0600001"), "佐藤 花子 様"));
    let name_only = [(20.0, 40.0, "佐藤 花子 様"), (20.0, 100.0, "ご請求額 1,000円")];
    assert_eq!(of_first(&name_only), contradicts(1, None, "佐藤 花子 様"));
}

#[test]
fn the_sender_a_bank_and_nobody_in_particular_are_not_the_addressee() {
    let lines = [
        (120.0, 30.0, "〒100-0001"),
        (120.0, 36.0, "東京都千代田区千代田1-1"),
        (120.0, 42.0, "株式会社サンプル 御中"),
        (20.0, 60.0, "〒060-0001"),
        (20.0, 66.0, "山田 太郎 様"),
        (20.0, 100.0, "お客様"),
        (20.0, 106.0, "担当者 様"),
        (20.0, 250.0, "みずほ銀行 〒100-0005 東京都千代田区丸の内1-1"),
    ];
    assert_eq!(of_first(&lines), PageAgreement::Agrees);
}

#[test]
fn without_a_block_the_receiver_or_another_of_the_book_decides() {
    let own = [(20.0, 100.0, "060-0001 北海道札幌市北一条西1-1"), (20.0, 106.0, "山田太郎")];
    assert_eq!(of_first(&own), PageAgreement::Agrees);
    let other = [(20.0, 100.0, "530-0001 大阪市北区梅田1-1"), (20.0, 106.0, "山本商事")];
    assert_eq!(of_first(&other), contradicts(1, Some("5300001"), "山本商事 御中"));
    let key = [(20.0, 100.0, "お客様番号 K-10002")];
    assert_eq!(of_first(&key), contradicts(1, None, "山本商事 御中"));
    let neither = [(20.0, 100.0, "12 林一 ご案内")];
    assert_eq!(of_first(&neither), PageAgreement::CannotTell(Unclear::NobodyFound), "too short to count");
    let partly = [(20.0, 100.0, "山田太郎"), (20.0, 106.0, "K-10002")];
    assert_eq!(of_first(&partly), PageAgreement::CannotTell(Unclear::Partly));
}

#[test]
fn a_page_that_nobody_can_read_is_told_as_that() {
    assert_eq!(compared(&[], &yamada()), PageAgreement::CannotTell(Unclear::Unreadable));
    assert_eq!(of_first(&[]), PageAgreement::CannotTell(Unclear::Unreadable));
    let mut mostly = page(&[(20.0, 40.0, "1-1")]);
    mostly.unknown = 40;
    assert_eq!(compared(&[mostly], &yamada()), PageAgreement::CannotTell(Unclear::Unreadable));
}

#[test]
fn another_letter_behind_the_first_is_found() {
    let own = page(&[(20.0, 40.0, "〒060-0001"), (20.0, 46.0, "山田 太郎 様")]);
    let body = page(&[(20.0, 40.0, "明細"), (20.0, 150.0, "紹介者 佐藤 花子 様")]);
    let other = page(&[(20.0, 40.0, "〒530-0001"), (20.0, 46.0, "山本商事 御中")]);
    let pages = |third: &PrintedPage| compared(&[own.clone(), body.clone(), third.clone()], &yamada());
    assert_eq!(pages(&body), PageAgreement::Agrees);
    assert_eq!(pages(&own), PageAgreement::Agrees);
    assert_eq!(pages(&other), contradicts(3, Some("5300001"), "山本商事 御中"));
    // Without a postal code, only at the place where the first page has its block.
    let named = page(&[(20.0, 46.0, "佐藤 花子 様")]);
    assert_eq!(pages(&named), contradicts(3, None, "佐藤 花子 様"));
    let elsewhere = page(&[(120.0, 250.0, "佐藤 花子 様")]);
    assert_eq!(pages(&elsewhere), PageAgreement::Agrees);
}

#[test]
fn a_company_and_a_person_in_one_block_are_one_addressee() {
    let address = address("0600001", "株式会社北海建設 山田 太郎");
    let receiver = Receiver { address, honorific: "様".to_owned() };
    let both = [
        (20.0, 40.0, "〒060-0001"),
        (20.0, 46.0, "(株)北海建設 御中"),
        (20.0, 52.0, "営業部"),
        (20.0, 58.0, "山田 太郎 様"),
    ];
    assert_eq!(compared(&[page(&both)], &receiver), PageAgreement::Agrees);
}

#[test]
fn a_part_of_a_longer_name_is_not_the_name() {
    for name in ["山田 太郎吉 様", "小山田 太郎 様", "山田太郎吉様", "小山田太郎様"] {
        let block = [(20.0, 40.0, "〒060-0001"), (20.0, 46.0, name)];
        let found = of_first(&block);
        assert!(matches!(found, PageAgreement::Contradicts(_)), "{name}: {found:?}");
    }
    for name in ["営業部 山田 太郎 様", "営業部長山田太郎様", "佐藤様方 山田 太郎 様", "山　田　太　郎　様"]
    {
        let block = [(20.0, 40.0, "〒060-0001"), (20.0, 46.0, name)];
        assert_eq!(of_first(&block), PageAgreement::Agrees, "{name}");
    }
    let firm = |name: &str| Receiver { address: address("0600001", name), honorific: "御中".to_owned() };
    for (receiver, printed, agrees) in [
        ("株式会社山本", "株式会社山本商事 御中", false),
        ("山本商事", "株式会社山本商事 御中", true),
        ("山本商事", "山本商事株式会社 御中", true),
        ("山本商事", "新山本商事 御中", false),
    ] {
        let block = page(&[(20.0, 40.0, "〒060-0001"), (20.0, 46.0, printed)]);
        let found = compared(&[block], &firm(receiver));
        assert_eq!(found == PageAgreement::Agrees, agrees, "{receiver} {printed}: {found:?}");
    }
}

/// A block of these rows at the top left.
fn block(rows: &[&'static str]) -> Vec<(f32, f32, &'static str)> {
    rows.iter().zip([40.0, 46.0, 52.0, 58.0, 64.0]).map(|(text, top)| (20.0, top, *text)).collect()
}

#[test]
fn somebody_elses_name_above_the_receiver_is_whom_the_page_is_for() {
    let delivery = [
        (20.0, 90.0, "納品先 〒060-0001"),
        (20.0, 96.0, "北海道札幌市北一条西1-1"),
        (20.0, 102.0, "山田 太郎 様"),
    ];
    for (top, expected) in [
        ("鈴木 三郎 様", contradicts(1, None, "鈴木 三郎 様")),
        ("田中物産 御中", contradicts(1, None, "田中物産 御中")),
        // A salutation, and the receiver twice.
        ("山田 様", PageAgreement::Agrees),
        ("山田 太郎 様", PageAgreement::Agrees),
        ("お客様", PageAgreement::Agrees),
    ] {
        let lines: Vec<_> = block(&[top]).into_iter().chain(delivery).collect();
        assert_eq!(of_first(&lines), expected, "{top}");
    }
    // Below the receiver it is whom the letter is about.
    let mut below = block(&["〒060-0001", "北海道札幌市北一条西1-1", "山田 太郎 様"]);
    below.push((20.0, 90.0, "ご利用者 佐藤 花子 様"));
    assert_eq!(of_first(&below), PageAgreement::Agrees);
}

#[test]
fn words_of_a_name_that_stand_apart_are_not_the_name() {
    for rows in [
        &["〒060-0001", "山田 花子 様", "佐藤 太郎 様"][..],
        &["〒060-0001", "山田 次郎 様方", "鈴木 太郎 様"],
        &["〒060-0001", "山田 ビル 3F", "鈴木 太郎 様"],
        // At the receiver's, and for somebody else.
        &["〒060-0001", "山田 太郎 様方", "佐藤 次郎 様"],
        &["〒060-0001", "山田 太郎 方", "佐藤 次郎 様"],
        &["〒060-0001", "山田 太郎 気付", "佐藤 次郎 様"],
        &["〒060-0001", "故 山田 太郎 様", "ご遺族 佐藤 次郎 様"],
        // Written apart.
        &["〒060-0001", "小 山 田 太 郎 様"],
        &["〒060-0001", "山 田 太 郎 吉 様"],
    ] {
        let found = of_first(&block(rows));
        assert!(matches!(found, PageAgreement::Contradicts(_)), "{rows:?}: {found:?}");
    }
    for rows in [
        &["〒060-0001", "山 田 太 郎 様"][..],
        &["〒060-0001", "山田", "太郎 様"],
        &["〒060-0001", "様式1 山田 太郎 様"],
        &["〒060-0001", "内田 花子 様方", "山田 太郎 様"],
    ] {
        assert_eq!(of_first(&block(rows)), PageAgreement::Agrees, "{rows:?}");
    }
    // After an organisation's or an office's name a person's may follow on another line, in this order.
    let address = address("0600001", "株式会社見本 営業部 佐藤 花子");
    let receiver = Receiver { address, honorific: "様".to_owned() };
    for (rows, agrees) in [
        (&["〒060-0001", "株式会社見本", "営業部", "佐藤 花子 様"][..], true),
        (&["〒060-0001", "株式会社見本", "本社ビル3階", "営業部 第一課", "佐藤 花子 様"], true),
        (&["〒060-0001", "株式会社見本", "営業部", "佐藤 次郎 様", "中村 花子 様"], false),
        (&["〒060-0001", "佐藤 花子 様", "株式会社見本", "営業部 御中"], false),
    ] {
        let found = compared(&[page(&block(rows))], &receiver);
        assert_eq!(found == PageAgreement::Agrees, agrees, "{rows:?}: {found:?}");
    }
}

#[test]
fn a_mention_of_the_receiver_does_not_make_somebody_elses_block_agree() {
    let mention = (20.0, 150.0, "被保険者 山田 太郎");
    for (rows, expected) in [
        (&["〒060-0001", "山田 花子 様"][..], contradicts(1, Some("0600001"), "山田 花子 様")),
        (&["伊藤 六郎 殿"], contradicts(1, None, "伊藤 六郎 殿")),
        // The sender's name stands above it, as on a payslip.
        (&["株式会社サンプル", "伊藤 六郎 殿"], contradicts(1, None, "伊藤 六郎 殿")),
    ] {
        let lines: Vec<_> = block(rows).into_iter().chain([mention]).collect();
        assert_eq!(of_first(&lines), expected, "{rows:?}");
    }
    let own = [
        &["〒530-8799", "大阪府大阪市北区大淀", "株式会社サンプル 事務センター 御中"][..],
        &["株式会社サンプル", "経理部 御中"],
        &["〒100-0001", "東京都千代田区千代田1-1", "株式会社サンプル", "総務部 御中"],
    ];
    for label in own {
        let right = page(&block(&["〒060-0001", "北海道札幌市北一条西1-1", "山田 太郎 様"]));
        let found = compared(&[right, page(&block(label))], &yamada());
        assert_eq!(found, PageAgreement::Agrees, "a return label of the sender: {label:?}");
    }
}

#[test]
fn later_pages_are_looked_at_even_if_the_first_cannot_be_read() {
    let other = page(&block(&["〒530-0001", "大阪府大阪市北区梅田1-1", "山本商事 御中"]));
    let scan = PrintedPage { lines: Vec::new(), ..other.clone() };
    assert_eq!(compared(&[scan, other], &yamada()), contradicts(2, Some("5300001"), "山本商事 御中"));
}

#[test]
fn forms_behind_the_first_page_are_no_letters() {
    let own = page(&block(&["〒060-0001", "北海道札幌市北一条西1-1", "山田 太郎 様"]));
    for (name, expected) in [
        ("札幌市長 殿", PageAgreement::Agrees),
        ("税務署長 殿", PageAgreement::Agrees),
        ("ご利用者 佐藤 花子 様", PageAgreement::Agrees),
        ("佐藤 花子 様", contradicts(2, None, "佐藤 花子 様")),
    ] {
        let form = page(&[(20.0, 46.0, name)]);
        assert_eq!(compared(&[own.clone(), form], &yamada()), expected, "{name}");
    }
}

#[test]
fn an_amount_is_no_key() {
    for (text, contradicts) in [("お客様番号 K-10002", true), ("K-10002 円", false), ("K-10002 個", false)]
    {
        let found = of_first(&[(20.0, 100.0, text)]);
        assert_eq!(matches!(found, PageAgreement::Contradicts(_)), contradicts, "{text}");
    }
}

#[test]
fn in_the_configured_area_the_receivers_code_is_the_one_nearest_to_the_name() {
    let area = Area { left: 15.0, top: 30.0, width: 110.0, height: 45.0 };
    let in_area = |pages: &[PrintedPage]| {
        let (receiver, sender) = (yamada(), address("1000001", "株式会社サンプル"));
        let envelope = PaperEnvelope { receiver: &receiver, sender: &sender, book: None, area: Some(area) };
        compare(&Printed { pages: pages.to_vec(), count: 0 }, &envelope)
    };
    let window = block(&[
        "〒100-0001 東京都千代田区千代田1-1 株式会社サンプル",
        "〒060-0001",
        "北海道札幌市北一条西1-1",
        "山田 太郎 様",
    ]);
    let first = page(&window);
    assert_eq!(in_area(std::slice::from_ref(&first)), PageAgreement::Agrees);
    // Text that goes on there is no address.
    let text = page(&block(&["第8条 お客様は次の事項を承諾します", "1. 作業範囲", "2. 料金"]));
    assert_eq!(in_area(&[first.clone(), text]), PageAgreement::Agrees);
    let other = page(&block(&["〒530-0001", "大阪府大阪市北区梅田1-1", "山本商事 御中"]));
    assert_eq!(in_area(&[first, other]), contradicts(2, Some("5300001"), "山本商事 御中"));
}
