//! Sample values with which every template is tried. They look like real ones.

use super::{Alert, Digest, DigestNote, DigestRow, EmailContent, EmailKind, Item, tracking_url};
use crate::words::texts::Language;

/// One e-mail of each kind, and for letters a second one with several letters.
pub fn samples(language: Language) -> Vec<(EmailKind, EmailContent)> {
    let one = item(language, 17, "請求書（再送）.pdf");
    let two = vec![one.clone(), item(language, 18, "納品書 11月.pdf")];
    let of = |items: Vec<Item>| {
        let place = Some(r"\\server\invoices".to_owned());
        EmailContent { folder: "invoices".to_owned(), place, items, ..EmailContent::default() }
    };
    let alert = |over: bool| EmailContent { alert: Some(alert(language, over)), ..EmailContent::default() };
    let note = DigestNote {
        folder: "invoices".to_owned(),
        letter: "#16".to_owned(),
        file: "見積書.pdf".to_owned(),
        note: match language {
            Language::En => "Page 2 is landscape.",
            Language::Ja => "2ページ目は横向きです。",
        }
        .to_owned(),
    };
    let digest = Digest {
        from: "2026-11-19 18:00".to_owned(),
        to: "2026-11-20 18:00".to_owned(),
        folders: vec![row("invoices", 12), row("送付状", 3)],
        total: row("", 15),
        waiting: two.clone(),
        more: 3,
        notes: vec![note],
        alarms: vec![self::alert(language, false)],
    };
    let drop = Item {
        number: None,
        letter: None,
        receiver: None,
        pages: None,
        posted: None,
        shipped: None,
        tracking: None,
        tracking_url: None,
        ..one.clone()
    };
    let mut samples = vec![
        (EmailKind::Shipped, of(vec![one.clone()])),
        (EmailKind::Shipped, EmailContent { more: 5, ..of(two.clone()) }),
    ];
    let pictured = Item { picture: Some("1.17@files.example.jp".to_owned()), ..one.clone() };
    samples.push((EmailKind::Held, of(vec![pictured])));
    for kind in [EmailKind::Held, EmailKind::Rejected, EmailKind::Cancelled] {
        samples.extend([(kind, of(vec![drop.clone()])), (kind, of(two.clone()))]);
    }
    let reply = EmailContent { folder: String::new(), place: None, held: true, ..of(two.clone()) };
    samples.extend([(EmailKind::Reply, of(vec![drop])), (EmailKind::Reply, reply)]);
    samples.extend([(EmailKind::Letters, of(vec![one])), (EmailKind::Letters, of(two))]);
    samples.extend([
        (EmailKind::CardDeclined, alert(false)),
        (EmailKind::Alert, alert(false)),
        (EmailKind::Alert, alert(true)),
    ]);
    let quiet =
        Digest { folders: vec![], waiting: vec![], more: 0, notes: vec![], alarms: vec![], ..digest.clone() };
    let of = |digest| EmailContent { digest: Some(digest), ..EmailContent::default() };
    samples.extend([(EmailKind::Digest, of(digest)), (EmailKind::Digest, of(quiet))]);
    samples
}

fn item(language: Language, number: u64, file: &str) -> Item {
    let (headline, cause, remedy) = match language {
        Language::En => (
            "ON HOLD",
            "The folder's limit of 200 letters a day is reached.",
            "To post it, move it into `Approve`.",
        ),
        Language::Ja => {
            ("【保留】", "一日の上限（200通）に達しました。", "郵送する場合は「承認する」に移してください。")
        }
    };
    let tracking = "123456789012";
    let text = |text: &str| Some(text.to_owned());
    Item {
        number: Some(number),
        letter: Some(format!("#{number}")),
        folder: "invoices".to_owned(),
        file: text(file),
        receiver: text("山田 太郎 様"),
        pages: Some(3),
        headline: headline.to_owned(),
        cause: text(cause),
        remedy: text(remedy),
        posted: text("2026-11-18 10:12"),
        shipped: text("2026-11-20 12:00"),
        tracking: text(tracking),
        tracking_url: Some(tracking_url(tracking)),
        ..Item::default()
    }
}

fn alert(language: Language, over: bool) -> Alert {
    let (title, cause, remedy) = match language {
        Language::En => (
            "The folder `invoices` can't be used",
            "Its share is not mounted.",
            "Mount it; nothing is lost meanwhile.",
        ),
        Language::Ja => (
            "フォルダー「invoices」を処理できません",
            "共有がマウントされていません。",
            "マウントしてください。",
        ),
    };
    let since = "2026-11-20 09:30".to_owned();
    Alert { over, title: title.to_owned(), cause: cause.to_owned(), remedy: remedy.to_owned(), since }
}

fn row(folder: &str, posted: u32) -> DigestRow {
    DigestRow {
        folder: folder.to_owned(),
        posted,
        sheets: posted * 2,
        shipped: 7,
        held: 2,
        rejected: 1,
        cancelled: 1,
    }
}
