//! Who gets which mail: a real mail server on loopback, the sandbox, real folders.

use chrono::TimeDelta;

use crate::rigs::journal;
use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::postbox::{Mood, Postbox, Security};

const NOTIFY: &str = "notify: {shipped: [keiri@example.jp, soumu@example.jp], rejected: [keiri@example.jp], \
                      held: [boss@example.jp], cancelled: [keiri@example.jp], card_declined: [keiri@example.jp]}\n";

/// A room that tells people, with its mail server.
pub async fn room_with(security: Security, rules: &str, more: &str) -> (Mailroom, Postbox) {
    telling(Mailroom::closed(&format!("{rules}{NOTIFY}")).await, security, more).await
}

/// The same for the real program.
pub async fn room_of_today(security: Security, rules: &str, more: &str) -> (Mailroom, Postbox) {
    telling(Mailroom::of_today(&format!("{rules}{NOTIFY}")).await, security, more).await
}

async fn telling(mut room: Mailroom, security: Security, more: &str) -> (Mailroom, Postbox) {
    let postbox = Postbox::open(security).await;
    let tls = match security {
        Security::Plain => "none",
        Security::Starttls | Security::NoTls => "starttls",
        Security::Implicit => "implicit",
    };
    let section = postbox.config(room.dir.path(), tls, more);
    room.add_to_main(&section);
    room.start();
    room.settle().await;
    (room, postbox)
}

/// Until everything that was posted has shipped and is told.
pub async fn ship(room: &mut Mailroom) {
    for _day in 0..5 {
        room.pass(86_400).await;
    }
    room.pass(1200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asked_is_told_the_tracking_number() {
    for security in [Security::Starttls, Security::Implicit, Security::Plain] {
        let (mut room, postbox) = room_with(security, RULES, "").await;
        room.drop("INV-000123.pdf", 2);
        room.settled().await;
        assert_eq!(postbox.got(), vec![], "nobody is told that it is posted");
        ship(&mut room).await;
        let got = postbox.got();
        assert_eq!(got.len(), 2, "{got:?}");
        for (mail, to) in got.iter().zip(["keiri@example.jp", "soumu@example.jp"]) {
            assert_eq!((mail.to.as_str(), mail.subject.as_str()), (to, "Shipped: INV-000123.pdf (#1)"));
            let tracking = room.drops()["INV-000123.pdf"].tracking.clone().unwrap();
            for part in [&mail.text, &mail.html] {
                assert!(part.contains(&tracking) && part.contains("山田 太郎 様"), "{part}");
                assert!(
                    part.contains(&format!("reqCodeNo1={tracking}")) || part.contains("&#x2f;"),
                    "{part}"
                );
            }
            assert!(
                mail.raw.contains("Auto-Submitted: auto-generated") && mail.id.ends_with("@files.example.jp")
            );
        }
        assert_ne!(got[0].id, got[1].id);
        room.check().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_that_ship_together_are_told_together() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    for (pages, name) in ["INV-000123 a.pdf", "INV-000456 b.pdf", "INV-000123 c.pdf"].iter().enumerate() {
        room.drop(name, pages + 1);
    }
    room.settled().await;
    ship(&mut room).await;
    assert_eq!(postbox.subjects("keiri@example.jp"), ["Shipped: 3 letters of letters"]);
    let mail = postbox.got().remove(0);
    for name in ["INV-000123 a.pdf", "INV-000456 b.pdf", "INV-000123 c.pdf"] {
        assert!(mail.text.contains(name) && mail.html.contains(name), "{}", mail.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_rejected_held_or_cancelled_is_told_once_to_whom_it_concerns() {
    let place = r"shown_as: '\\server\invoices'";
    let rules = RULES.replace("rules:", &format!("{place}\nlimits: {{letters_per_day: 1}}\nrules:"));
    let (mut room, postbox) = room_with(Security::Starttls, &rules, "").await;
    std::fs::write(room.path("broken.pdf"), "no PDF").unwrap();
    std::fs::write(room.path("torn.pdf"), "neither").unwrap();
    room.drop("x one.pdf", 1);
    room.settled().await;
    room.drop("x two.pdf", 2);
    room.settled().await;
    room.pass(60).await;
    assert_eq!(postbox.subjects("keiri@example.jp"), ["Not posted: 2 drops in letters"]);
    assert_eq!(postbox.subjects("boss@example.jp"), ["On hold: x two.pdf"]);
    let held = postbox.got().into_iter().find(|got| got.to == "boss@example.jp").unwrap();
    for told in ["limit of 1 letters", "`Approve`", r"\\server\invoices", "山田 太郎 様"] {
        assert!(held.text.contains(told), "{told}: {}", held.text);
    }
    // What is posted is called back by dragging it.
    let sent = format!("{}/x one.pdf", room.sent());
    std::fs::rename(room.path(&sent), room.path("Cancel/x one.pdf")).unwrap();
    room.settled().await;
    room.pass(60).await;
    assert_eq!(
        postbox.subjects("keiri@example.jp"),
        ["Not posted: 2 drops in letters", "About cancelling x one.pdf"]
    );
    let cancelled = postbox.got().pop().unwrap();
    assert!(cancelled.text.contains("CANCELLED: nothing was posted"), "{}", cancelled.text);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mails_of_a_folder_whose_file_was_renamed_go_to_its_people() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
    // One is rejected and its file renamed, before any mail is decided and before the folder is opened again.
    std::fs::write(room.path("broken.pdf"), "no PDF").unwrap();
    for _ in 0..3 {
        room.clock.move_by(TimeDelta::seconds(130)).unwrap();
        room.turn(Loop::Intake).await;
    }
    assert_eq!(room.state("broken.pdf"), "rejected");
    let file = |name: &str| room.dir.path().join(format!("folders/{name}.yaml"));
    std::fs::rename(file("letters"), file("office")).unwrap();
    room.reload();
    room.turn(Loop::Mails).await;
    room.clock.move_by(TimeDelta::seconds(60)).unwrap();
    room.turn(Loop::Mails).await;
    let rejected = "Not posted: broken.pdf";
    assert_eq!(postbox.subjects("keiri@example.jp"), [rejected]);
    // The letter was taken in by the old name, and ships when the folder has the new one.
    ship(&mut room).await;
    assert_eq!(postbox.subjects("keiri@example.jp"), [rejected, "Shipped: INV-000123.pdf (#1)"]);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_was_lifted_before_its_mail_went_out_is_not_told() {
    let rules = RULES.replace("rules:", "release: approval\nrules:");
    let (mut room, postbox) = room_with(Security::Plain, &rules, "").await;
    postbox.always(Mood::Closed);
    room.drop("x.pdf", 1);
    room.settled().await;
    room.pass(60).await;
    std::fs::rename(room.path("Held/x.pdf"), room.path("Approve/x.pdf")).unwrap();
    room.settled().await;
    postbox.take_again();
    room.pass(3600).await;
    assert_eq!(room.state("x.pdf"), "confirmed");
    assert_eq!(postbox.got(), vec![]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_card_is_one_mail_to_each_however_many_letters_meet_it() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    room.service.set_card("declining").await;
    for n in 0..5 {
        room.drop(&format!("x {n}.pdf"), n + 1);
    }
    room.settled().await;
    room.pass(60).await;
    assert_eq!(postbox.subjects("keiri@example.jp"), ["Account main is paused: the card was declined"]);
    let alert = "[mailchute] Account main is paused: the card was declined";
    assert_eq!(postbox.subjects("admin@example.jp"), [alert]);
    room.service.set_card("ok").await;
    room.pass(3600).await;
    room.pass(3600).await;
    assert_eq!(postbox.subjects("admin@example.jp"), [alert, "[mailchute] Account main works"]);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_that_cannot_be_made_is_in_the_journal_and_holds_up_no_other() {
    journal::keep();
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    postbox.always(Mood::Closed);
    ship(&mut room).await;
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    let sql = "UPDATE email SET recipient = 'damaged' WHERE recipient LIKE 'keiri%'";
    assert_eq!(db.execute(sql, []).unwrap(), 1);
    drop(db);
    postbox.take_again();
    room.pass(900).await;
    let written = journal::written();
    assert!(written.contains("can't be made: its address can't be read; it is tried again"), "{written}");
    let got = postbox.got();
    assert_eq!(got.iter().map(|mail| mail.to.as_str()).collect::<Vec<_>>(), ["soumu@example.jp"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_taken_out_of_the_configuration_gets_nothing_of_what_waits() {
    journal::keep();
    let digest = "  digest: {at: '0 18 * * *', to: [boss@example.jp, chief@example.jp]}\n";
    let (mut room, postbox) = room_with(Security::Plain, RULES, digest).await;
    postbox.always(Mood::Closed);
    std::fs::write(room.path("broken.pdf"), "no PDF").unwrap();
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    ship(&mut room).await;
    let change = |file: &str, from: &str, to: &str| {
        let path = room.dir.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from));
        std::fs::write(path, text.replace(from, to)).unwrap();
    };
    // One has left, one has got a name, one hears of other things.
    change(
        "folders/letters.yaml",
        "shipped: [keiri@example.jp, soumu@example.jp], rejected: [keiri@example.jp]",
        "shipped: [経理 <keiri@example.jp>], rejected: [soumu@example.jp]",
    );
    change("mailchute.yaml", "to: [boss@example.jp, chief@example.jp]", "to: [chief@example.jp]");
    change("mailchute.yaml", "operators: [admin@example.jp]", "operators: [other@example.jp]");
    room.reload();
    postbox.take_again();
    room.pass(3600).await;
    assert_eq!(postbox.subjects("keiri@example.jp"), ["Shipped: INV-000123.pdf (#1)"]);
    for gone in ["soumu@example.jp", "boss@example.jp", "admin@example.jp"] {
        assert_eq!(postbox.subjects(gone), Vec::<String>::new(), "{gone}");
    }
    assert!(!postbox.subjects("chief@example.jp").is_empty());
    let written = journal::written();
    assert!(written.contains("(rejected) is not sent: its recipient is not configured"), "{written}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_got_an_email_is_forgotten_after_a_season() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    postbox.refuse("soumu@example.jp", "550 5.1.1 unknown");
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    ship(&mut room).await;
    assert_eq!(postbox.subjects("keiri@example.jp").len(), 1);
    let database = room.dir.path().join("state/mailchute.db");
    let addresses = || {
        let db = rusqlite::Connection::open(&database).unwrap();
        let sql = "SELECT (SELECT count(*) FROM email), (SELECT count(*) FROM owed WHERE subject LIKE '%@%')";
        db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    let (emails, unwanted): (i64, i64) = addresses();
    assert!(emails >= 3 && unwanted == 1, "{emails} {unwanted}");
    for _week in 0..13 {
        room.pass(7 * 86_400).await;
    }
    assert_eq!(addresses(), (0, 0));
    room.pass(86_400).await;
    assert_eq!(postbox.subjects("keiri@example.jp").len(), 1, "nothing is mailed again");
}
