//! What is read of mails: documents with names in every encoding, and 40 hostile ones.

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use mailchute::outside::imap::MailMessage;
use mailchute::outside::pdf::Inspector;

use crate::rigs::imap::{ALL, MailServer};
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::mails::{PROVED, RECEIVED, TARO, attached, mail, part, queue, usual};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

/// The names of the PDFs, and whether something else is in it that somebody may believe is posted.
fn found(parts: &[String]) -> (Vec<String>, bool) {
    let read = MailMessage::read(mail(&[PROVED, RECEIVED], TARO, "x", parts).as_bytes());
    (read.pdfs.iter().map(|pdf| pdf.name.clone()).collect(), read.unfit.is_some())
}

fn named(header: &str) -> Vec<String> {
    let (names, is_unfit) = found(&[part(header, &pdf(1))]);
    assert!(!is_unfit, "{header}");
    names
}

#[test]
fn pdfs_are_found_under_every_name() {
    for (header, name) in [
        ("Content-Type: application/pdf; name=a.pdf", "a.pdf"),
        ("Content-Type: application/pdf", "document.pdf"),
        ("Content-Type: application/octet-stream; name=\"a b.PDF\"", "a b.PDF"),
        ("Content-Type: application/pdf\nContent-Disposition: inline; filename=in.pdf", "in.pdf"),
        (
            "Content-Type: text/plain; name=text.pdf\nContent-Disposition: attachment; filename=text.pdf",
            "text.pdf",
        ),
        ("Content-Type: application/x-pdf\nContent-Disposition: attachment", "document.pdf"),
        // RFC 2231, in one part and in several; RFC 2047, in UTF-8 and as Japanese mail programs write it.
        (
            "Content-Type: application/pdf\nContent-Disposition: attachment; filename*=UTF-8''%E8%AB%8B.pdf",
            "請.pdf",
        ),
        (
            "Content-Type: application/pdf\nContent-Disposition: attachment;\n filename*0*=UTF-8''%E8%AB;\n filename*1*=%8B%E6%B1%82.pdf",
            "請求.pdf",
        ),
        ("Content-Type: application/octet-stream; name=\"=?UTF-8?B?6KuL5rGC5pu4LnBkZg==?=\"", "請求書.pdf"),
        ("Content-Type: application/pdf; name=\"=?ISO-2022-JP?B?GyRCQEE1YRsoQi5wZGY=?=\"", "請求.pdf"),
        ("Content-Type: application/pdf; name=\"=?Shift_JIS?B?kL+LgS5wZGY=?=\"", "請求.pdf"),
    ] {
        assert_eq!(named(header), [name], "{header}");
    }
    let read = MailMessage::read(mail(&[], TARO, "x", &[attached("a.pdf", &pdf(3))]).as_bytes());
    assert_eq!(read.pdfs[0].bytes, pdf(3));
}

#[test]
fn what_is_not_a_pdf_and_may_be_meant_is_named() {
    for header in [
        "Content-Type: application/zip; name=a.zip",
        "Content-Type: application/octet-stream; name=a.zip",
        "Content-Type: application/octet-stream; name=\"=?UTF-8?B?6KuLLnppcA==?=\"",
        "Content-Type: application/vnd.openxmlformats-officedocument.wordprocessingml.document; name=a.docx",
        "Content-Type: image/tiff; name=scan.tif",
        "Content-Type: application/ms-tnef; name=winmail.dat",
        "Content-Type: application/pkcs7-mime; name=smime.p7m",
    ] {
        let (names, is_unfit) = found(&[attached("a.pdf", &pdf(1)), part(header, b"PK")]);
        assert!(is_unfit && names == ["a.pdf"], "{header}");
    }
    for inner in
        [attached("b.pdf", &pdf(1)), part("Content-Type: application/octet-stream; name=a.docx", b"PK")]
    {
        let forwarded = mail(&[], TARO, "inner", &[inner]);
        let forwarded = format!("Content-Type: message/rfc822\n\n{forwarded}");
        assert!(found(&[attached("a.pdf", &pdf(1)), forwarded]).1);
    }
    // What mail programs add does not count.
    for header in [
        "Content-Type: image/png; name=logo.png",
        "Content-Type: text/calendar; name=a.ics",
        "Content-Type: text/x-vcard; name=a.vcf",
        "Content-Type: application/pgp-signature; name=a.asc",
        "Content-Type: application/pkcs7-signature; name=smime.p7s",
    ] {
        assert_eq!(
            found(&[attached("a.pdf", &pdf(1)), part(header, b"x")]),
            (vec!["a.pdf".to_owned()], false)
        );
    }
}

/// Mails that somebody made to confuse, each with the number of PDFs that are in it.
fn hostile() -> Vec<(String, usize)> {
    let document = attached("a.pdf", &pdf(1));
    let plain = |header: &str, body: &str| format!("From: {TARO}\nSubject: x\n{header}\n\n{body}");
    let multipart = |kind: &str, body: &str| plain(&format!("MIME-Version: 1.0\nContent-Type: {kind}"), body);
    let nested = |depth: usize| {
        let mut inner = document.clone();
        for n in 0..depth {
            inner = format!("Content-Type: multipart/mixed; boundary=n{n}\n\n--n{n}\n{inner}\n--n{n}--");
        }
        mail(&[], TARO, "x", &[inner])
    };
    let mut all = vec![
        (String::new(), 0),
        ("\n".to_owned(), 0),
        ("\0\0\0".to_owned(), 0),
        ("From".to_owned(), 0),
        (":\n:\n:".to_owned(), 0),
        (plain("", ""), 0),
        (plain("Content-Type: application/pdf\nContent-Transfer-Encoding: base64", "JVBERi0="), 1),
        (plain("Content-Type: application/pdf\nContent-Transfer-Encoding: base64", "!!!!"), 1),
        (plain("Content-Type: application/pdf\nContent-Transfer-Encoding: unknown", "%PDF"), 1),
        (plain("Content-Type: application/pdf\nContent-Transfer-Encoding: quoted-printable", "=PDF=ZZ="), 1),
        (plain("Content-Type: application/pdf; name=\"", "x"), 1),
        (plain("Content-Type: application/pdf; name*=UTF-8''%", "x"), 1),
        (plain("Content-Type: application/pdf; name*=no-such-charset''%ff.pdf", "x"), 1),
        (plain("Content-Type: application/pdf; name*99999999999*=x", "x"), 1),
        (plain("Content-Type: application/pdf; name==?utf-8?B?////?=", "x"), 1),
        (plain("Content-Type: application/pdf\nContent-Type: text/plain", "x"), 0),
        (plain("Content-Type: text/plain\nContent-Type: application/pdf", "x"), 1),
        (multipart("multipart/mixed", "--b\nx"), 0),
        (multipart("multipart/mixed; boundary=", "--\nx"), 0),
        (multipart("multipart/mixed; boundary=b", ""), 0),
        (multipart("multipart/mixed; boundary=b", &format!("--b\n{document}")), 1),
        (multipart("multipart/mixed; boundary=b", &format!("--b--\n--b\n{document}\n--b--")), 1),
        (multipart("multipart/mixed; boundary=\"b\"; boundary=\"c\"", &format!("--b\n{document}\n--b--")), 1),
        (
            multipart(
                "multipart/alternative; boundary=b",
                &format!("--b\n{document}\n--b\n{document}\n--b--"),
            ),
            2,
        ),
        (multipart("multipart/digest; boundary=b", &format!("--b\n{document}\n--b--")), 1),
        (multipart("multipart/related; boundary=b", &format!("--b\n{document}\n--b--")), 1),
        (multipart("message/rfc822", &mail(&[], TARO, "inner", std::slice::from_ref(&document))), 0),
        (nested(20), 1),
        (mail(&[], TARO, &"x".repeat(100_000), std::slice::from_ref(&document)), 1),
        (mail(&[&format!("X: {}", "y".repeat(1 << 20))], TARO, "x", std::slice::from_ref(&document)), 1),
        (mail(&["X-\u{0}: \u{1}"], TARO, "x", std::slice::from_ref(&document)), 1),
        (mail(&[], "\u{feff}\u{202e}<a@b>", "x", std::slice::from_ref(&document)), 1),
        (mail(&[], TARO, "=?utf-8?Q?=00=0A=0D?=", std::slice::from_ref(&document)), 1),
        (mail(&[], TARO, "x", &[attached("../../etc/passwd.pdf", &pdf(1))]), 1),
        (mail(&[], TARO, "x", &[attached("a\u{0}b\u{202e}fdp.pdf", &pdf(1))]), 1),
        (mail(&[], TARO, "x", &[attached(&format!("{}.pdf", "n".repeat(100_000)), &pdf(1))]), 1),
        (mail(&[], TARO, "x", &[attached("", &pdf(1))]), 1),
        (mail(&[], TARO, "x", &vec![document.clone(); 60]), 60),
        (mail(&[], TARO, "x", std::slice::from_ref(&document)).replace('\n', "\r"), 0),
    ];
    // Each multipart counts the parts of all: a mail with a thousand of them is refused.
    all.push((mail(&[], TARO, "x", &vec!["Content-Type: text/plain\n\nx".to_owned(); 2000]), 0));
    all
}

#[test]
fn forty_hostile_mails_are_read_and_nothing_more_is_in_them() {
    let hostile = hostile();
    assert_eq!(hostile.len(), 40);
    for (n, (raw, pdfs)) in hostile.iter().enumerate() {
        let read = MailMessage::read(raw.as_bytes());
        assert_eq!(read.pdfs.len(), *pdfs, "mail {n}: {}", raw.chars().take(200).collect::<String>());
    }
    // As deep as a parser may go: whatever is found, it ends.
    let mut deep = attached("a.pdf", &pdf(1));
    for n in 0..5_000 {
        deep = format!("Content-Type: multipart/mixed; boundary=n{n}\n\n--n{n}\n{deep}\n--n{n}--");
    }
    assert!(MailMessage::read(mail(&[], TARO, "x", &[deep]).as_bytes()).pdfs.len() <= 1);
    let mut inside = mail(&[], TARO, "x", &[attached("a.pdf", &pdf(1))]);
    for _ in 0..500 {
        inside = format!("From: {TARO}\nSubject: x\nContent-Type: message/rfc822\n\n{inside}");
    }
    assert_eq!(MailMessage::read(inside.as_bytes()).pdfs, vec![]);
}

#[tokio::test]
async fn a_mail_over_which_its_reader_dies_is_refused_by_its_header() {
    let inspector = Inspector::of(Path::new(env!("CARGO_BIN_EXE_mailchute")));
    let top = format!("From: {TARO}\nSubject: x\n");
    let nested = "Content-Type: message/rfc822\n\n".repeat(100_000);
    // A reader of headers takes a space before a name for nothing.
    let indented = format!(
        "{top}Content-Type: message/rfc822\n\n{}",
        " Content-Type: message/rfc822\n\n".repeat(100_000)
    );
    let encoded = format!(
        "{top}Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{}\n",
        BASE64_STANDARD.encode(&nested)
    );
    let parts =
        format!("{top}Content-Type: multipart/mixed; boundary=b\n\n{}", "--b\n\n\n".repeat(1_000_000));
    for raw in [format!("{top}{nested}"), indented, encoded, parts] {
        let read = MailMessage::read_apart(&inspector, raw.as_bytes()).await.unwrap();
        assert!(read.unfit.is_some() && read.pdfs.is_empty());
        // Its sender is answered.
        assert_eq!(read.sender.as_deref(), Some("taro@office.example.jp"));
        assert_eq!(read.header.first().map(|field| field.name.as_str()), Some("from"));
    }
    // What a child reads is the same as what is read here.
    let raw =
        mail(&[PROVED, RECEIVED], TARO, "件名", &[attached("a.pdf", &pdf(3)), attached("b.pdf", &pdf(1))]);
    let apart = MailMessage::read_apart(&inspector, raw.as_bytes()).await.unwrap();
    assert!(apart == MailMessage::read(raw.as_bytes()) && apart.pdfs.len() == 2);
}

#[test]
fn a_pdf_is_one_by_its_first_bytes_whatever_it_is_called() {
    let scan = attached("scan", &pdf(1)).replace("application/pdf", "application/octet-stream");
    let unnamed = scan.replace("scan", "");
    let read = MailMessage::read(mail(&[], TARO, "x", &[scan, unnamed]).as_bytes());
    let names: Vec<_> = read.pdfs.iter().map(|pdf| pdf.name.as_str()).collect();
    assert_eq!((names, read.unfit), (vec!["scan", "document.pdf"], None));
}

#[test]
fn whom_a_mail_is_for_is_what_its_server_says_beside_what_it_says_itself() {
    let above = ["Delivered-To: <Post+Express@example.jp>", "X-Original-To: all@example.jp", RECEIVED];
    let below = ["Delivered-To: forged@example.jp", "Cc: Copy <copy@example.jp>"];
    let raw = mail(&[above, [below[0], below[1], "X: y"]].concat(), TARO, "x", &[]);
    let wanted = ["all@example.jp", "copy@example.jp", "post+express@example.jp", "post@example.jp"];
    assert_eq!(MailMessage::read(raw.as_bytes()).to, wanted);
}

#[test]
fn a_sender_is_one_address_in_one_field() {
    let sender = |from: &str| MailMessage::read(mail(&[], from, "x", &[]).as_bytes()).sender;
    assert_eq!(sender("Taro <Taro@Office.example.jp>").as_deref(), Some("taro@office.example.jp"));
    assert_eq!(sender("taro@office.example.jp").as_deref(), Some("taro@office.example.jp"));
    for from in [
        "a@x.example, b@y.example",
        "office: a@x.example, b@y.example;",
        "",
        "nobody",
        "<a@x.example> <b@y.example>",
        "a@x.example\nFrom: b@y.example",
        "a@x.example\nFROM : b@y.example",
        "\"a@office.example.jp <x\"@y example",
    ] {
        assert_eq!(sender(from), None, "{from:?}");
    }
    let shown = format!("{:?}", MailMessage::read(usual("山田", &pdf(1)).as_bytes()));
    assert!(!shown.contains("山田") && !shown.contains("taro") && !shown.contains("INV"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn explain_says_what_becomes_of_a_saved_mail() {
    let server = MailServer::open(ALL).await;
    let room = Mailroom::closed(RULES).await;
    queue(&room, &server, "");
    let explained = |raw: String| {
        let file = room.dir.path().join("mail.eml");
        std::fs::write(&file, raw).unwrap();
        let config = room.dir.path().join("mailchute.yaml");
        let arguments = ["explain", "--config", config.to_str().unwrap(), file.to_str().unwrap()];
        String::from_utf8(mailchute(&arguments).output().unwrap().stdout).unwrap()
    };
    let proved = explained(usual("x", &pdf(1)));
    assert!(
        proved.contains("sender is proved: yes") && proved.contains("INV-000123.pdf: folder letters"),
        "{proved}"
    );
    let forged = explained(mail(&[RECEIVED, PROVED], TARO, "x", &[attached("INV-000123.pdf", &pdf(1))]));
    assert!(forged.contains("sender is proved: no") && forged.contains("waits for approval"), "{forged}");
    let empty = explained(mail(&[PROVED, RECEIVED], TARO, "x", &[]));
    assert!(empty.contains("rejected: The mail has no PDF."), "{empty}");
    // A letter in a folder of subfolders has no ending, as the one that the queue makes of it.
    let rules = RULES.replace("path:", "letter: subfolder\npath:");
    std::fs::write(room.dir.path().join("folders/letters.yaml"), rules).unwrap();
    let together = explained(usual("x", &pdf(1)));
    assert!(together.contains("here: INV-000123\n"), "{together}");
}
