//! Mails and a mail server that is away, slow, forgetful or unwilling: each arrives, none twice unless
//! the server lost its answer.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::mails::{room_with, ship};
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::postbox::{Got, Mood, Postbox, Security};
use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

/// A letter that has shipped to two people, whose mails meet these moods.
async fn shipped(security: Security, moods: &[Mood]) -> (Mailroom, Postbox) {
    let (mut room, postbox) = room_with(security, RULES, "").await;
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    postbox.next(moods.iter().copied());
    ship(&mut room).await;
    (room, postbox)
}

/// Each mail's name and how often it came.
fn times(got: &[Got]) -> Vec<usize> {
    let mut ids: Vec<&String> = got.iter().map(|got| &got.id).collect();
    ids.sort();
    ids.dedup();
    ids.iter().map(|id| got.iter().filter(|got| got.id == **id).count()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_for_now_comes_later_and_once() {
    for refusal in [
        Mood::Recipient("450 4.2.0 Greylisted"),
        Mood::Content("451 4.3.0 try again"),
        Mood::Content("452 full"),
    ] {
        let (mut room, postbox) = shipped(Security::Starttls, &[refusal]).await;
        room.pass(120).await;
        assert_eq!(times(&postbox.got()), [1, 1], "{refusal:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_refused_for_now_is_given_up_after_five_days_and_not_after_eight_attempts() {
    for (hours, taken) in [(48, true), (130, false)] {
        let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
        room.drop("INV-000123.pdf", 1);
        room.settled().await;
        // On whatever day it ships.
        while room.row_states() != ["shipped"] {
            room.pass(3600).await;
        }
        postbox.refuse("keiri@example.jp", "450 4.2.0 Greylisted");
        for _hour in 0..hours {
            room.pass(3600).await;
        }
        postbox.take_again();
        room.pass(3700).await;
        let expected: &[&str] = if taken { &["Shipped: INV-000123.pdf (#1)"] } else { &[] };
        assert_eq!(postbox.subjects("keiri@example.jp"), expected, "after {hours} hours");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_refused_for_good_is_an_alert_and_no_loop() {
    let refusal = Mood::Recipient("550 5.1.1 <keiri@example.jp>: no such user");
    let (mut room, postbox) = shipped(Security::Implicit, &[refusal]).await;
    room.pass(60).await;
    room.pass(86_400).await;
    let to: Vec<_> = postbox.got().into_iter().map(|got| (got.to, got.subject)).collect();
    assert_eq!(
        to,
        [
            ("soumu@example.jp".to_owned(), "Shipped: INV-000123.pdf (#1)".to_owned()),
            ("admin@example.jp".to_owned(), "[mailchute] The mail server refuses a recipient".to_owned()),
        ]
    );
    let alert = postbox.got().pop().unwrap();
    assert!(alert.text.contains("keiri@example.jp") && alert.text.contains("550 5.1.1"), "{}", alert.text);
    assert!(!alert.text.contains("no such user"), "only what is known to be harmless is repeated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_costs_nothing_but_time() {
    for mood in [Mood::CutInContent, Mood::Hang] {
        let (mut room, postbox) = shipped(Security::Plain, &[mood]).await;
        room.pass(60).await;
        room.pass(120).await;
        assert_eq!(times(&postbox.got()), [1, 1], "{mood:?}");
    }
    let (mut room, postbox) = shipped(Security::Plain, &[Mood::LoseAnswer]).await;
    room.pass(60).await;
    room.pass(120).await;
    let mut times = times(&postbox.got());
    times.sort_unstable();
    assert_eq!(times, [1, 2], "kept, its answer lost: the same once more under the same name");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_for_a_day_is_asked_seldom_and_then_gets_everything() {
    let (mut room, postbox) = room_with(Security::Starttls, RULES, "").await;
    room.drop("INV-000123.pdf", 1);
    room.drop("INV-000456.pdf", 2);
    room.settled().await;
    postbox.always(Mood::Closed);
    // On whatever day that is.
    while room.row_states() != ["shipped", "shipped"] {
        room.pass(3600).await;
    }
    let asked = postbox.connections();
    for _minute in 0..60 {
        room.pass(60).await;
    }
    assert!(postbox.connections() - asked <= 8, "{} times in an hour", postbox.connections() - asked);
    let asked = postbox.connections();
    for _quarter in 0..96 {
        room.pass(900).await;
    }
    assert!(postbox.connections() - asked <= 100, "{} times in a day", postbox.connections() - asked);
    assert_eq!(postbox.got(), vec![]);
    postbox.take_again();
    room.pass(900).await;
    assert_eq!(postbox.subjects("keiri@example.jp"), ["Shipped: 2 letters of letters"]);
    assert_eq!(times(&postbox.got()), [1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_in_the_clear_to_strangers_or_without_the_right_password() {
    // Says it can't do TLS.
    let (room, postbox) = shipped(Security::NoTls, &[]).await;
    assert_eq!(postbox.got(), vec![]);
    drop(room);
    // A certificate that nobody knows.
    let (mut room, postbox) = room_with(Security::Starttls, RULES, "").await;
    let other = Postbox::open(Security::Starttls).await;
    std::fs::write(room.dir.path().join("ca.pem"), &other.ca).unwrap();
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    ship(&mut room).await;
    assert!(postbox.got().is_empty() && postbox.connections() > 0);
    std::fs::write(room.dir.path().join("ca.pem"), &postbox.ca).unwrap();
    // A wrong password, then the right one: no mail is given up for it.
    std::fs::write(room.dir.path().join("mail.secret"), "wrong").unwrap();
    room.pass(86_400).await;
    assert!(postbox.got().is_empty());
    std::fs::write(room.dir.path().join("mail.secret"), crate::rigs::postbox::PASSWORD).unwrap();
    room.pass(86_400).await;
    assert_eq!(times(&postbox.got()), [1, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whether_the_mail_server_can_be_used_is_known_before_anything_depends_on_it() {
    let (room, postbox) = room_with(Security::Starttls, RULES, "").await;
    let config = room.dir.path().join("mailchute.yaml");
    let check = || {
        let output =
            mailchute(&["check", "--online", "--config", config.to_str().unwrap()]).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    };
    let (good, said) = check();
    assert!(good && said.contains("the mail server was reached; nothing was sent"), "{said}");
    std::fs::write(room.dir.path().join("mail.secret"), "wrong").unwrap();
    let (good, said) = check();
    assert!(!good && said.contains("can't be used: logging in is refused: 535"), "{said}");
    postbox.always(Mood::Closed);
    let (good, said) = check();
    assert!(!good && said.contains("can't be used: no connection"), "{said}");
    assert_eq!(postbox.got(), vec![]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_a_log_in_at_the_recipient_loses_nobodys_mail() {
    let (mut room, postbox) = room_with(Security::Starttls, RULES, "").await;
    let main = room.dir.path().join("mailchute.yaml");
    let text = std::fs::read_to_string(&main).unwrap();
    let without = text.replace(", user: mailchute, password: {file: mail.secret}", "");
    std::fs::write(&main, &without).unwrap();
    room.reload();
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    ship(&mut room).await;
    assert!(postbox.got().is_empty() && postbox.connections() > 0);
    std::fs::write(&main, text).unwrap();
    room.reload();
    room.pass(3600).await;
    assert_eq!(times(&postbox.got()), [1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_owed_outlives_the_process_and_a_database_that_is_damaged() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    postbox.always(Mood::Closed);
    ship(&mut room).await;
    room.stop();
    // A page in the middle of the database.
    let database = room.dir.path().join("state/mailchute.db");
    let mut bytes = std::fs::read(&database).unwrap();
    let page = 4096 * 2;
    bytes[page..page + 64].fill(0xee);
    std::fs::write(&database, bytes).unwrap();
    room.start();
    postbox.take_again();
    room.pass(3600).await;
    room.pass(3600).await;
    assert_eq!(times(&postbox.got()), [1, 1]);
}

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "waited in vain: {what}");
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_killed_between_shipping_and_sending_tells_everybody() {
    const LETTERS: usize = 12;
    let postbox = Postbox::open(Security::Plain).await;
    let quick =
        RULES.replace("{poll: 1s}", "{settle: 100ms, poll: 1s}").replace("path:", "first_start: take\npath:");
    let room = Mailroom::of_today(&format!("{quick}notify: {{shipped: [keiri@example.jp]}}\n")).await;
    room.add_to_main(&postbox.config(room.dir.path(), "none", "  together: 0s\n"));
    let config = room.dir.path().join("mailchute.yaml").to_str().unwrap().to_owned();
    let start = || {
        let mut command = mailchute(&["run", "--config", &config]);
        command.env("RUST_LOG", "error").stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap()
    };
    let mut alive = start();
    until("the folder is watched", || room.hot().join("Approve").is_dir());
    for n in 0..LETTERS {
        std::fs::write(room.path(&format!(".x{n}")), pdf(n + 1)).unwrap();
        std::fs::rename(room.path(&format!(".x{n}")), room.path(&format!("x{n}.pdf"))).unwrap();
    }
    until("all are posted", || {
        room.row_states().iter().filter(|state| *state == "confirmed").count() == LETTERS
    });
    room.service.advance("5days").await;
    let mut kills = 0;
    for n in 1..=LETTERS {
        // Once it hangs, once it loses its answer, and else later and later.
        postbox.next(match n % 4 {
            0 => vec![Mood::Hang],
            1 => vec![Mood::LoseAnswer],
            _other => vec![],
        });
        let letter = format!("(#{n})");
        let arrived = || postbox.got().iter().any(|got| got.subject.contains(&letter));
        // Each time a little later, until it is told.
        for time in 1.. {
            mailchute(&["retry", &n.to_string(), "--config", &config]).output().unwrap();
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(4 * time) && !arrived() {
                std::hint::spin_loop();
            }
            alive.kill().unwrap();
            alive.wait().unwrap();
            kills += 1;
            let done = arrived();
            if done {
                postbox.take_again();
                // After a lost answer it would wait for minutes.
                let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
                db.execute("UPDATE email SET due_at = 0 WHERE due_at IS NOT NULL", []).unwrap();
            }
            alive = start();
            if done {
                break;
            }
        }
        until("it is known to be told", || room.desk().totals(room.clock.now()).unwrap().owed == 0);
    }
    until("nothing is owed", || room.row_states().iter().all(|state| state == "shipped"));
    alive.kill().unwrap();
    alive.wait().unwrap();
    let times = times(&postbox.got());
    assert_eq!(times.len(), LETTERS, "one name for each mail, however often it came");
    println!("{kills} daemons killed between shipping and sending; the mails came {times:?} times");
}

/// Damage to one drop's row keeps nobody else waiting.
#[tokio::test(flavor = "multi_thread")]
async fn a_drop_whose_record_cannot_be_read_waits_and_the_others_go_on() {
    let mut room = Mailroom::with(RULES).await;
    room.drop("side.pdf", 1);
    room.settled().await;
    room.pass(700).await;
    assert_eq!(room.state("side.pdf"), "held", "its sidecar did not come");
    let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
    let changed =
        db.execute("UPDATE original SET undecided = '{\"gone\": 1}', due_at = 0 WHERE letter IS NULL", []);
    assert_eq!(changed.unwrap(), 1);
    drop(db);
    room.drop("x.pdf", 1);
    room.settled().await;
    room.pass(60).await;
    assert_eq!((room.state("x.pdf").as_str(), room.state("side.pdf").as_str()), ("confirmed", "held"));
    assert_eq!(room.desk().undecided().unwrap(), (0, 1));
}
