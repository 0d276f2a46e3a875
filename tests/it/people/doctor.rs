//! Broken installations, and whether the doctor names what is wrong and what mends it.

use std::os::unix::fs::PermissionsExt as _;

use super::mails::room_of_today;
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::postbox::{Mood, Postbox, Security};
use crate::rigs::program::mailchute;

/// What the doctor says of an office in which something was broken.
async fn doctor(broken: impl AsyncFnOnce(&Mailroom, &Postbox)) -> (bool, String) {
    let (mut room, postbox) = room_of_today(Security::Starttls, RULES, "").await;
    room.stop();
    broken(&room, &postbox).await;
    let config = room.dir.path().join("mailchute.yaml");
    let words = ["doctor", "--config", config.to_str().unwrap()].map(str::to_owned);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = mailchute(&words).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

/// Exactly one thing is wrong, in these words, and this mends it.
async fn is_found(what: &str, remedy: &str, broken: impl AsyncFnOnce(&Mailroom, &Postbox)) {
    let (well, said) = doctor(broken).await;
    let mut lines = said.lines().skip_while(|line| !line.starts_with("WRONG  "));
    let (found, help) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    assert!(!well && found.contains(what) && help.contains(remedy), "{what}: {said}");
    assert_eq!(said.matches("WRONG  ").count(), 1, "{said}");
}

fn write(room: &Mailroom, name: &str, text: &str) {
    std::fs::write(room.dir.path().join(name), text).unwrap();
}

fn instead(room: &Mailroom, from: &str, to: &str) {
    let main = std::fs::read_to_string(room.dir.path().join("mailchute.yaml")).unwrap();
    write(room, "mailchute.yaml", &regex::Regex::new(from).unwrap().replace_all(&main, to));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_wrong_with_what_is_well() {
    let (well, said) = doctor(async |_, _| {}).await;
    assert!(well && !said.contains("WRONG") && said.contains("good   account main: logged in"), "{said}");
    let on_a_file_system = regex::Regex::new(r"\): on [a-z0-9._-]+, (watched|polled)").unwrap();
    assert!(on_a_file_system.is_match(&said), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_records_and_folders_is_named() {
    is_found("state", "local disk", async |room, _| instead(room, "state: state", "state: main.secret"))
        .await;
    is_found("version 99", "install that version", async |room, _| {
        let db = rusqlite::Connection::open(room.dir.path().join("state/mailchute.db")).unwrap();
        db.pragma_update(None, "user_version", 99).unwrap();
    })
    .await;
    is_found("records", "made anew from the ledger", async |room, _| {
        let database = room.dir.path().join("state/mailchute.db");
        let mut bytes = std::fs::read(&database).unwrap();
        bytes[4096..].fill(0xee);
        std::fs::write(&database, bytes).unwrap();
    })
    .await;
    is_found("does not exist", "mount its share", async |room, _| {
        std::fs::remove_dir_all(room.hot()).unwrap();
    })
    .await;
    is_found("is not a directory", "create it", async |room, _| {
        std::fs::remove_dir_all(room.hot()).unwrap();
        std::fs::write(room.hot(), "").unwrap();
    })
    .await;
    // Nobody, not even root, can make a file there.
    is_found("no file can be made", "add it to the folder's group", async |room, _| {
        let rules = std::fs::read_to_string(room.dir.path().join("folders/letters.yaml")).unwrap();
        let elsewhere =
            regex::Regex::new("path: .*").unwrap().replace(&rules, "path: /proc/self").into_owned();
        write(room, "folders/letters.yaml", &elsewhere);
    })
    .await;
    is_found("its address book", "wait", async |room, _| {
        std::fs::remove_file(room.dir.path().join("folders/customers.csv")).unwrap();
    })
    .await;
    is_found("1 mistakes", "row and column", async |room, _| {
        write(
            room,
            "folders/customers.csv",
            "customer,name,postal_code,state,city,address1\n1,x,1,東京都,x,x\n",
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_accounts_and_mail_is_named() {
    let secret = |room: &Mailroom| room.dir.path().join("main.secret");
    is_found("its secret can't be read", "readable by the service's user", async |room, _| {
        std::fs::remove_file(secret(room)).unwrap();
    })
    .await;
    is_found("others can read", "readable by the service's user", async |room, _| {
        std::fs::set_permissions(secret(room), std::fs::Permissions::from_mode(0o644)).unwrap();
    })
    .await;
    is_found("account main", "on the account's page", async |room, _| write(room, "main.secret", "wrong"))
        .await;
    is_found("account main", "a firewall is between", async |room, _| {
        instead(room, r"_url: http://127\.0\.0\.1:\d+", "_url: http://127.0.0.1:9");
    })
    .await;
    is_found("s behind the service's", "timedatectl", async |room, _| {
        room.service.advance("2h").await;
    })
    .await;
    is_found("no connection", "email.smtp", async |_, postbox| postbox.always(Mood::Closed)).await;
    is_found("logging in is refused", "email.smtp", async |room, _| write(room, "mail.secret", "wrong"))
        .await;
    is_found("mail.secret can't be read", "readable by the service's user", async |room, _| {
        std::fs::remove_file(room.dir.path().join("mail.secret")).unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_of_queues_and_of_notified_programs_that_cannot_be_read_are_named() {
    is_found("erp.token can't be read", "readable by the service's user", async |room, _| {
        room.add_to_main("status: {listen: '127.0.0.1:0'}\n");
        std::fs::create_dir(room.dir.path().join("queues")).unwrap();
        write(room, "queues/erp.yaml", "into: letters\nhttp: {token: {file: erp.token}}\n");
    })
    .await;
    is_found("hook.secret can't be read", "readable by the service's user", async |room, _| {
        let hook = "shipped: [{hook: 'https://example.jp/x', secret: {file: hook.secret}}, ";
        let rules = std::fs::read_to_string(room.dir.path().join("folders/letters.yaml")).unwrap();
        write(room, "folders/letters.yaml", &rules.replacen("shipped: [", hook, 1));
    })
    .await;
}
