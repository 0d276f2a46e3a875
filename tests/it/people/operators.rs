//! What operators and managers hear: one word for each cause, one when it is over, a digest each evening.

use chrono::{TimeDelta, Timelike as _};
use mailchute::base::clock::{Clock, Pace};
use reqwest::Method;
use serde_json::{Value, json};

use super::mails::{room_with, ship};
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::postbox::{Postbox, Security};
use crate::rigs::typeset::with_pages;

const ADMIN: &str = "admin@example.jp";

#[tokio::test(flavor = "multi_thread")]
async fn a_share_that_comes_and_goes_is_one_alarm_and_one_all_clear() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    let (here, away) = (room.hot(), room.dir.path().join("away"));
    // Away for a moment is nobody's business.
    std::fs::rename(&here, &away).unwrap();
    room.pass(20).await;
    std::fs::rename(&away, &here).unwrap();
    room.pass(20).await;
    room.pass(600).await;
    assert_eq!(postbox.subjects(ADMIN), Vec::<String>::new());
    for _time in 0..5 {
        std::fs::rename(&here, &away).unwrap();
        room.pass(20).await;
        room.pass(120).await;
        std::fs::rename(&away, &here).unwrap();
        room.pass(20).await;
        room.pass(60).await;
    }
    let alarm = "[mailchute] The folder letters can't be used";
    assert_eq!(postbox.subjects(ADMIN), [alarm]);
    room.stop();
    room.start();
    room.settle().await;
    room.pass(600).await;
    assert_eq!(postbox.subjects(ADMIN), [alarm, "[mailchute] Over: The folder letters can't be used"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_that_is_still_away_after_a_restart_is_not_called_back() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    let (here, away) = (room.hot(), room.dir.path().join("away"));
    std::fs::rename(&here, &away).unwrap();
    room.pass(20).await;
    room.pass(120).await;
    room.stop();
    room.start();
    room.settle().await;
    room.pass(900).await;
    assert_eq!(postbox.subjects(ADMIN), ["[mailchute] The folder letters can't be used"]);
    std::fs::rename(&away, &here).unwrap();
    room.pass(20).await;
    room.pass(600).await;
    assert_eq!(postbox.subjects(ADMIN).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_silent_for_a_quarter_of_an_hour_is_one_alarm() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    for endpoint in ["token", "account", "create", "read", "confirm"] {
        room.service.order(json!({"endpoint": endpoint, "fault": "cut", "times": 100_000})).await;
    }
    for n in 0..3 {
        room.drop(&format!("x{n}.pdf"), n + 1);
    }
    room.settled().await;
    for _minute in 0..14 {
        room.pass(60).await;
    }
    assert_eq!(postbox.subjects(ADMIN), Vec::<String>::new());
    for _minute in 0..60 {
        room.pass(60).await;
    }
    let alarm = "[mailchute] The service has not answered account main for 15 minutes";
    assert_eq!(postbox.subjects(ADMIN), [alarm]);
    room.service.control(reqwest::Method::DELETE, "faults", json!({})).await;
    for _minute in 0..20 {
        room.pass(60).await;
    }
    let over = "[mailchute] Over: The service has not answered account main for 15 minutes";
    assert_eq!(postbox.subjects(ADMIN), [alarm, over]);
    assert_eq!(room.row_states(), ["confirmed"; 3]);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_is_not_posted_for_an_hour_while_the_service_answers_is_mailed_each_day() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    let problem = r#"{"type":"x/mail_not_found","title":"","status":404,"code":"mail_not_found"}"#;
    let fault = json!({
        "endpoint": "read", "fault": "status", "times": 100_000, "status": 404, "body": problem,
        "content_type": "application/problem+json"
    });
    room.service.order(fault).await;
    room.drop("INV-000123.pdf", 2);
    room.settled().await;
    let about = |postbox: &Postbox| {
        let part = "It is not posted yet";
        postbox.got().into_iter().filter(|mail| mail.to == ADMIN && mail.text.contains(part)).count()
    };
    for _minute in 0..55 {
        room.pass(60).await;
    }
    assert_eq!(about(&postbox), 0, "{:?}", postbox.subjects(ADMIN));
    for _minute in 0..240 {
        room.pass(60).await;
    }
    assert_eq!(about(&postbox), 1, "{:?}", postbox.subjects(ADMIN));
    // Once a day, until it is posted.
    for _hour in 0..24 {
        room.pass(3600).await;
    }
    assert_eq!(about(&postbox), 2, "{:?}", postbox.subjects(ADMIN));
    room.service.control(Method::DELETE, "faults", json!({})).await;
    for _minute in 0..30 {
        room.pass(60).await;
    }
    assert_eq!(room.row_states(), ["confirmed"]);
    room.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_was_posted_under_former_credentials_is_said_to_be_posted() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    room.drop("INV-000123.pdf", 2);
    room.settled().await;
    assert_eq!(room.row_states(), ["confirmed"]);
    room.stop();
    let issued = room
        .service
        .control(Method::POST, "clients", json!({"name": "second", "agree_to_terms": true}))
        .await;
    let issued: Value = issued.json().await.unwrap();
    let main = room.dir.path().join("mailchute.yaml");
    let text = std::fs::read_to_string(&main).unwrap();
    let text = text.replace(room.service.welcome.client_id.as_str(), issued["client_id"].as_str().unwrap());
    std::fs::write(main, text).unwrap();
    std::fs::write(room.dir.path().join("main.secret"), issued["client_secret"].as_str().unwrap()).unwrap();
    room.start();
    room.pass(86_400).await;
    room.pass(600).await;
    let got: Vec<_> = postbox.got().into_iter().filter(|mail| mail.to == ADMIN).collect();
    assert_eq!(got.len(), 1, "{got:?}");
    let part = "It is posted, under other credentials than the present ones";
    assert!(got[0].text.contains(part) && got[0].text.contains("Do not send it again"), "{}", got[0].text);
    assert!(!got[0].text.contains("not known"), "{}", got[0].text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_is_kept_out_is_told_until_it_is_right() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    let wrong = "folders/letters.yaml:7:1: there is no key `recipient` here".to_owned();
    for _save in 0..3 {
        room.outbox().configuration(Some(wrong.clone())).await.unwrap();
        room.settle().await;
    }
    assert_eq!(postbox.subjects(ADMIN), ["[mailchute] The new configuration is not used"]);
    assert!(postbox.got()[0].text.contains("letters.yaml:7:1"));
    room.outbox().configuration(None).await.unwrap();
    room.settle().await;
    assert_eq!(postbox.subjects(ADMIN)[1..], ["[mailchute] Over: The new configuration is not used"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_digest_names_what_may_be_printed_otherwise_than_meant() {
    let digest = "  digest: {at: '0 18 * * *', to: [boss@example.jp]}\n";
    let (mut room, postbox) = room_with(Security::Plain, RULES, digest).await;
    let landscape = with_pages(&["0 g 9 9 9 9 re f".to_owned()], "/MediaBox[0 0 842 595]");
    std::fs::write(room.path("x wide.pdf"), landscape).unwrap();
    room.drop("x right.pdf", 1);
    room.settled().await;
    for _day in 0..2 {
        room.pass(86_400).await;
    }
    let got: Vec<_> =
        postbox.got().into_iter().filter(|got| got.subject.contains("Letters of the day")).collect();
    let note = " x wide.pdf\n    Page 1 is landscape.";
    let told = |text: &str| text.replace('\r', "").contains(note);
    assert_eq!(got.iter().map(|got| told(&got.text)).collect::<Vec<_>>(), [true, false], "{}", got[0].text);
    assert!(got[0].html.contains("Page 1 is landscape.") && !got[0].text.contains("x right.pdf"));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_evening_says_what_was_posted_and_what_waits() {
    let rules = RULES.replace("rules:", "limits: {letters_per_day: 2}\nrules:");
    let digest = "  digest: {at: '0 18 * * *', to: [boss@example.jp]}\n";
    let (mut room, postbox) = room_with(Security::Plain, &rules, digest).await;
    room.drop("x0.pdf", 1);
    room.drop("x1.pdf", 3);
    room.settled().await;
    room.drop("x2.pdf", 5);
    std::fs::write(room.path("broken.pdf"), "no PDF").unwrap();
    room.settled().await;
    room.pass(86_400).await;
    let digests = || {
        postbox.got().into_iter().filter(|got| got.subject.contains("Letters of the day")).collect::<Vec<_>>()
    };
    assert_eq!(digests().len(), 1);
    let first = digests().remove(0);
    assert_eq!(first.subject, "[mailchute] Letters of the day: 2 posted, 1 waiting");
    assert!(!first.text.contains("printed otherwise"), "{}", first.text);
    for said in ["posted: 2", "held: 1", "rejected: 1", "x2.pdf", "limit of 2 letters"] {
        assert!(first.text.contains(said), "{said}: {}", first.text);
    }
    room.pass(86_400).await;
    let second = digests().remove(1);
    assert!(
        second.text.contains("posted: 0") || second.text.contains("Nothing was posted."),
        "{}",
        second.text
    );
    assert!(second.text.contains("x2.pdf"), "it still waits: {}", second.text);
    // Days on which nothing ran are told in one.
    room.stop();
    room.clock.move_by(chrono::TimeDelta::days(3)).unwrap();
    room.service.advance("3days").await;
    room.start();
    room.settle().await;
    assert_eq!(digests().len(), 3);
    ship(&mut room).await;
    let shipped = digests().iter().filter(|digest| digest.text.contains("shipped: 2")).count();
    assert_eq!(shipped, 1, "each is told on one day");
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_of_ones_own_are_used_and_their_mistakes_are_the_configurations() {
    let (mut room, postbox) = room_with(Security::Plain, RULES, "").await;
    let templates = room.dir.path().join("templates");
    std::fs::create_dir(&templates).unwrap();
    // What an editor leaves there is no template.
    for left in [".rejected.txt.swp", "held.txt~"] {
        std::fs::write(templates.join(left), "{{ itms }}").unwrap();
    }
    std::fs::write(
        templates.join("rejected.txt"),
        "Subject: 再確認 {{ items[0].file }}\r\n\r\n{{ items[0].cause }}\r\n",
    )
    .unwrap();
    room.reload();
    std::fs::write(room.path("broken.pdf"), "no PDF").unwrap();
    room.settled().await;
    room.pass(60).await;
    assert_eq!(postbox.subjects("keiri@example.jp"), ["再確認 broken.pdf"]);
    std::fs::write(templates.join("held.html"), "<p>\n{{ itms }}").unwrap();
    let wrong =
        mailchute::config::Config::read(&room.dir.path().join("mailchute.yaml")).unwrap_err().to_string();
    assert!(wrong.contains("held.html:2") && wrong.contains("{{ itms }}"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_leaves_nothing_out_after_a_clock_that_was_ahead_is_set_back() {
    let digest = "  digest: {at: '0 18 * * *', to: [boss@example.jp]}\n";
    let (mut room, postbox) = room_with(Security::Plain, RULES, digest).await;
    let before = room.clock.now();
    // Two evenings further on by mistake: digests are sent.
    room.clock.move_by(TimeDelta::days(2)).unwrap();
    room.settle().await;
    room.stop();
    room.clock = Clock::starting_at(before, Pace::ByHand);
    room.start();
    room.settle().await;
    room.drop("x0.pdf", 1);
    room.settled().await;
    room.pass(86_400).await;
    room.pass(60).await;
    let told = postbox.got().iter().filter(|got| got.text.contains("posted: 1")).count();
    assert_eq!(told, 1, "{:?}", postbox.subjects("boss@example.jp"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_whose_time_stays_the_same_counts_from_when_the_clock_was_set_back() {
    let postbox = Postbox::open(Security::Plain).await;
    let mut room = Mailroom::closed(RULES).await;
    let before = room.clock.now();
    let due = (before + TimeDelta::hours(3)).with_timezone(&chrono_tz::Asia::Tokyo);
    let at = format!("{} {} * * *", due.minute(), due.hour());
    let digest = format!("  digest: {{at: '{at}', to: [boss@example.jp]}}\n");
    room.add_to_main(&postbox.config(room.dir.path(), "none", &digest));
    // It is first seen by a clock that is ahead.
    room.clock.move_by(TimeDelta::hours(2)).unwrap();
    room.start();
    room.settle().await;
    room.stop();
    room.clock = Clock::starting_at(before, Pace::ByHand);
    room.start();
    room.settle().await;
    room.drop("x0.pdf", 1);
    room.settled().await;
    room.pass(3 * 3600).await;
    room.pass(60).await;
    let got = postbox.got();
    assert!(got.len() == 1 && got[0].text.contains("posted: 1"), "{:?}", got.first().map(|got| &got.text));
}
