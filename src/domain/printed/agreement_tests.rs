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
    compare(&Printed { pages: pages.to_vec() }, &envelope)
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
