//! The door for programs, over real HTTP: a letter for each key, by the folder's rules.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use mailchute::domain::letter::Number;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::rigs::door::{Caller, OTHER_TOKEN, Sent, TOKEN, posted, queue, receiver, room, usual};
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;
use crate::rigs::running::Daemon;
use crate::rigs::service::pdf;

fn name_of(problem: &Value) -> &str {
    problem["type"].as_str().unwrap().strip_prefix("urn:mailchute:problem:").unwrap()
}

/// Waits until something lies in `Sent`.
async fn lies(room: &Mailroom, name: &str) {
    let path = room.path(&format!("{}/{name}", room.sent()));
    for _turn in 0..1000 {
        if path.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{} does not come: {:?}", path.display(), room.tree());
}

fn letters(room: &Mailroom) -> usize {
    room.desk().letters(None, None, 1000).unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_goes_by_the_folder_s_rules_once_for_its_key() {
    let room = usual().await;
    let daemon = Daemon::start(&room);
    let program = Caller::of(&daemon);
    let sent = Sent::new("invoice-1", "INV-000123.pdf", pdf(2));
    let (status, body) = program.post(&sent).await;
    assert_eq!((status, &body["state"], &body["letter"]), (201, &json!("admitted"), &json!(1)), "{body}");
    assert_eq!(program.post(&sent).await, (201, body.clone()), "the same answer");
    program.until(&body["id"], "confirmed").await;
    assert_eq!(program.post(&sent).await, (201, body.clone()), "for ever");
    let (_, metrics) = daemon.get("/metrics").await;
    assert!(metrics.contains("mailchute_queue_taken_total{queue=\"erp\"} 1\n"), "{metrics}");
    // In quotes, as the standard's draft writes it, the key is the same.
    let quoted = Sent { key: "\"invoice-1\"".to_owned(), ..sent.clone() };
    assert_eq!(program.post(&quoted).await, (201, body.clone()));
    // The sidecar's fields are those of the folder's sidecars.
    let named = Sent::new("invoice-2", "side.pdf", pdf(1)).to(&receiver());
    let (status, other) = program.post(&named).await;
    assert_eq!((status, &other["letter"]), (201, &json!(2)), "{other}");
    program.until(&other["id"], "confirmed").await;
    let (desk, id) = (room.desk(), other["id"].as_str().unwrap().to_owned());
    let order = desk.letter(desk.number_of(&id).unwrap().unwrap()).unwrap().unwrap().order;
    assert_eq!(order.receiver.address.name, "佐藤 花子");
    // What was posted can be read again.
    let path = format!("/v1/letters/{id}/pdf");
    let answer = program.request(Method::GET, &path).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/pdf");
    assert_eq!(answer.bytes().await.unwrap(), pdf(1));
    let (status, problem) = Caller::answer(program.request(Method::GET, &format!("{path}?document=2"))).await;
    assert_eq!((status, name_of(&problem)), (404, "unknown"));
    lies(&room, "side.txt").await;
    lies(&room, "side.pdf.json").await;
    drop(daemon);
    let shelved: Vec<String> = room.tree().into_iter().filter(|path| path.starts_with("Sent/")).collect();
    let sent_to = room.sent();
    let wanted = ["INV-000123.pdf", "INV-000123.txt", "side.pdf", "side.pdf.json", "side.txt"];
    assert_eq!(shelved, wanted.map(|name| format!("{sent_to}/{name}")));
    room.check().await;
    let config = room.dir.path().join("mailchute.yaml");
    let output = mailchute(&["list", "--config", config.to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("letters (erp)").count(), 2, "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_stands_for_one_letter() {
    let room = usual().await;
    let daemon = Daemon::start(&room);
    let program = Caller::of(&daemon);
    let first = Sent::new("k", "side.pdf", pdf(1)).to(&receiver());
    let (status, body) = program.post(&first).await;
    assert_eq!(status, 201, "{body}");
    let mut name = receiver();
    name["name"] = json!("鈴木 一郎");
    for other in [
        Sent::new("k", "side.pdf", pdf(2)).to(&receiver()),
        Sent::new("k", "side2.pdf", pdf(1)).to(&receiver()),
        Sent::new("k", "side.pdf", pdf(1)).to(&name),
        Sent::new("k", "side.pdf", pdf(1)),
    ] {
        let (status, problem) = program.post(&other).await;
        assert_eq!((status, name_of(&problem)), (409, "key-used"), "{problem}");
    }
    // The order of keys and the boundary are nothing that a program decides.
    let turned = json!({"receiver": {"name": "佐藤 花子", "address1": "北一条西1-1", "city": "札幌市中央区",
        "state": "北海道", "postal_code": "0600001"}});
    assert_eq!(program.post(&Sent { letter: Some(turned), ..first }).await, (201, body));
    // Another queue has keys of its own.
    drop(daemon);
    queue(&room, "crm", OTHER_TOKEN, "");
    let daemon = Daemon::start(&room);
    let other = Caller::of(&daemon).with(OTHER_TOKEN);
    let (status, body) = other.post(&Sent::new("k", "INV-000456.pdf", pdf(3))).await;
    assert_eq!(status, 201, "{body}");
    assert_eq!(letters(&room), 2);
    let (status, problem) = Caller::of(&daemon).get(&body["id"]).await;
    assert_eq!((status, name_of(&problem)), (404, "unknown"), "it is another queue's");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_with_one_key_are_one_letter() {
    let room = usual().await;
    let daemon = Daemon::start(&room);
    let program = Caller::of(&daemon);
    let sent = Sent::new("k", "INV-000123.pdf", pdf(1));
    let posts = (0..16).map(|_| {
        let (program, sent) = (program.clone(), sent.clone());
        tokio::spawn(async move { program.post(&sent).await })
    });
    let mut answers = BTreeSet::new();
    for post in posts.collect::<Vec<_>>() {
        let (status, body) = post.await.unwrap();
        answers.insert((status, body.to_string()));
    }
    assert_eq!((answers.len(), letters(&room)), (1, 1), "{answers:?}");
}

/// A queue's file counts until the next start, and it means a folder, not whatever has its name by now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_posts_into_its_folder_though_another_was_given_its_name() {
    let mut room = usual().await;
    room.start();
    room.settle().await;
    let program = Caller::of_room(&room).await;
    let folders = room.dir.path().join("folders");
    let rules = std::fs::read_to_string(folders.join("letters.yaml")).unwrap();
    std::fs::rename(folders.join("letters.yaml"), folders.join("old.yaml")).unwrap();
    std::fs::create_dir(room.dir.path().join("other")).unwrap();
    let others = rules.replace("../letters", "../other").replace("株式会社サンプル", "株式会社別名");
    std::fs::write(folders.join("letters.yaml"), others).unwrap();
    room.reload();
    room.settled().await;
    let (status, body) = posted(&mut room, &program, &Sent::new("k", "INV-000123.pdf", pdf(1))).await;
    assert!(status < 300, "{body}");
    room.settled().await;
    room.settled().await;
    let order = room.desk().letter(Number(1)).unwrap().unwrap().order;
    assert_eq!((order.source.as_str(), order.sender.name.as_str()), ("old", "株式会社サンプル"));
}

/// The answer to its program was that nothing was taken, so it may post it in another way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_what_could_not_be_recorded_no_copy_stays_that_a_later_start_would_take() {
    let room = usual().await;
    let daemon = Daemon::start(&room);
    let program = Caller::of(&daemon);
    let state = room.dir.path().join("state");
    let sql = |sql: &str| {
        rusqlite::Connection::open(state.join("mailchute.db")).unwrap().execute_batch(sql).unwrap();
    };
    let copies = || std::fs::read_dir(state.join("spool/incoming")).unwrap().count();
    sql("CREATE TRIGGER refused BEFORE INSERT ON incoming BEGIN SELECT RAISE(ABORT, 'refused'); END");
    let sent = Sent::new("k", "INV-000123.pdf", pdf(1));
    for _again in 0..3 {
        let (status, body) = program.post(&sent).await;
        assert_eq!((status >= 500, copies()), (true, 0), "{body}");
    }
    sql("DROP TRIGGER refused");
    let other = Sent { key: "another".to_owned(), ..sent };
    assert_eq!(program.post(&other).await.0, 201);
    drop(daemon);
    let daemon = Daemon::start(&room);
    assert_eq!(Caller::of(&daemon).post(&other).await.0, 201);
    assert_eq!((letters(&room), copies()), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mistakes_are_told_together_and_use_up_no_key() {
    let room = usual().await;
    let daemon = Daemon::start(&room);
    let program = Caller::of(&daemon);
    let wrong = json!({"receiver": {"postal_code": "060-0001", "state": "北海道", "city": "札幌市", "name": "x",
        "address1": ""}, "print": {"color": "blue"}, "shiping": {}});
    let sent = Sent { letter: Some(wrong), ..Sent::new("k", "side.pdf", pdf(1)) };
    let form =
        sent.form().part("more", Part::text("x")).part("document", Part::bytes(pdf(1)).file_name("b.pdf"));
    let request = program.request(Method::POST, "/v1/letters").header("Idempotency-Key", "k").multipart(form);
    let (status, problem) = Caller::answer(request).await;
    let pointers: BTreeSet<&str> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["pointer"].as_str().unwrap())
        .collect();
    let wanted = [
        "#/document/1",
        "#/letter/print/color",
        "#/letter/receiver/address1",
        "#/letter/receiver/postal_code",
        "#/letter/shiping",
        "#/more",
    ];
    assert_eq!((status, name_of(&problem)), (422, "fields"));
    assert_eq!(pointers, BTreeSet::from(wanted), "{problem:#}");
    // The folder's rules refuse it: no rule, a torn PDF, no receiver.
    for (name, bytes, why) in [
        ("other.pdf", pdf(1), "No rule"),
        ("INV-000123.pdf", pdf(1)[..300].to_vec(), "completely"),
        ("INV-999999.pdf", pdf(1), "999999"),
        ("side.pdf", pdf(1), "`letter`"),
    ] {
        let (status, problem) = program.post(&Sent::new("k", name, bytes)).await;
        assert_eq!((status, name_of(&problem)), (422, "refused"), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(why), "{problem}");
        assert!(!problem["detail"].as_str().unwrap().contains("into the folder"), "{problem}");
    }
    assert_eq!(letters(&room), 0);
    let (status, body) = program.post(&Sent::new("k", "INV-000123.pdf", pdf(1))).await;
    assert_eq!((status, letters(&room)), (201, 1), "{body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_letter_at_all_is_refused() {
    let room = usual().await;
    let daemon = Daemon::start(&room);
    let program = Caller::of(&daemon);
    let posting = || program.request(Method::POST, "/v1/letters");
    let keyed = || posting().header("Idempotency-Key", "k");
    let form = || Sent::new("k", "INV-000123.pdf", pdf(1)).form();
    let part = |bytes: usize| Part::bytes(vec![b'x'; bytes]).file_name("INV-000123.pdf");
    let many = (0..11).fold(Form::new(), |form, _| form.part("document", part(10)));
    for (request, status, name) in [
        (posting().multipart(form()), 400, "key-missing"),
        (posting().header("Idempotency-Key", "two words").multipart(form()), 400, "key-missing"),
        (posting().header("Idempotency-Key", "x".repeat(256)).multipart(form()), 400, "key-missing"),
        (keyed().header("Idempotency-Key", "l").multipart(form()), 400, "key-missing"),
        (keyed().body("x"), 415, "not-multipart"),
        (keyed().header("Content-Type", "multipart/form-data; boundary=x").body("--x\r\n"), 400, "malformed"),
        (keyed().multipart(Form::new()), 400, "malformed"),
        (keyed().multipart(Form::new().part("letter", Part::text("{}"))), 422, "fields"),
        (keyed().multipart(Form::new().part("document", part(0))), 422, "fields"),
        (keyed().multipart(Form::new().part("document", part(10_000_001))), 413, "too-large"),
        (keyed().multipart(many), 413, "too-large"),
        (keyed().multipart(form().part("letter", Part::text("{"))), 422, "fields"),
        (keyed().multipart(form().part("letter", Part::text(r#"{"pages":1,"pages":2}"#))), 422, "fields"),
        (keyed().multipart(form().part("letter", part(1_100_000))), 413, "too-large"),
        (program.request(Method::GET, "/v1/letters"), 405, "method"),
        (program.request(Method::GET, "/v1/letters/x"), 404, "unknown"),
        (program.request(Method::GET, "/v1/nothing"), 404, "unknown"),
        (program.request(Method::POST, "/v1/letters/x/cancel"), 404, "unknown"),
        (program.with("").request(Method::GET, "/v1/letters/x"), 401, "token"),
        (program.with(&TOKEN.to_lowercase()).request(Method::GET, "/v1/letters/x"), 401, "token"),
        (program.with(OTHER_TOKEN).request(Method::POST, "/v1/letters").multipart(form()), 401, "token"),
        (program.request(Method::POST, "/v1/letters/x/release"), 403, "right"),
    ] {
        let (found, problem) = Caller::answer(request).await;
        assert_eq!((found, name_of(&problem)), (status, name), "{problem}");
    }
    // A page from elsewhere, whose name somebody points here.
    let answer = keyed().header("Host", "evil.example").multipart(form()).send().await.unwrap();
    assert_eq!(answer.status(), 421);
    assert_eq!(
        (letters(&room), std::fs::read_dir(room.dir.path().join("state/spool/incoming")).unwrap().count()),
        (0, 0)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_held_waits_for_a_person_or_a_program_that_may_release() {
    let rules = format!("release: approval\n{RULES}");
    let room = room(&rules, ", rights: [post, release, cancel]").await;
    queue(&room, "crm", OTHER_TOKEN, ", rights: [post]");
    let daemon = Daemon::start(&room);
    let program = Caller::of(&daemon);
    let sent = Sent::new("k", "INV-000123.pdf", pdf(1));
    let (status, held) = program.post(&sent).await;
    assert_eq!((status, &held["state"], &held["letter"]), (202, &json!("held"), &json!(1)), "{held}");
    assert!(held["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    let (status, body) = program.order(&held["id"], "release").await;
    assert_eq!(status, 200, "{body}");
    program.until(&held["id"], "confirmed").await;
    assert_eq!(program.post(&sent).await, (202, held.clone()), "the same answer for ever");
    let (status, body) = program.order(&held["id"], "release").await;
    assert_eq!((status, name_of(&body)), (409, "not-now"), "{body}");
    let (status, body) = program.order(&held["id"], "cancel").await;
    assert_eq!(status, 200, "{body}");
    program.until(&held["id"], "cancelled").await;
    // One that only posts.
    let other = program.with(OTHER_TOKEN);
    let (status, held) = other.post(&Sent::new("k", "INV-000456.pdf", pdf(1))).await;
    assert_eq!(status, 202, "{held}");
    for order in ["release", "cancel"] {
        let (status, problem) = other.order(&held["id"], order).await;
        assert_eq!((status, name_of(&problem)), (403, "right"));
    }
    // A PDF in doubt is not a letter until a person has looked.
    let padded = [pdf(1), vec![0; 600]].concat();
    let (status, doubted) = program.post(&Sent::new("padded", "INV-000123.pdf", padded)).await;
    assert_eq!(
        (status, &doubted["state"], &doubted["reason"]),
        (202, &json!("held"), &json!("a PDF in doubt"))
    );
    let (status, problem) = program.order(&doubted["id"], "release").await;
    assert_eq!((status, name_of(&problem)), (409, "not-now"), "{problem}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_documents_are_one_letter_in_their_order() {
    let room = room(&RULES.replace("path:", "letter: subfolder\npath:"), "").await;
    let daemon = Daemon::start(&room);
    let program = Caller::of(&daemon);
    let documents = [("x cover.pdf", 1), ("10.pdf", 2), ("9.pdf", 3)];
    let documents = documents.map(|(name, pages)| (name.to_owned(), pdf(pages))).to_vec();
    let (status, body) = program.post(&Sent { documents, key: "k".to_owned(), letter: None }).await;
    assert_eq!(status, 201, "{body}");
    program.until(&body["id"], "confirmed").await;
    let desk = room.desk();
    let number = desk.number_of(body["id"].as_str().unwrap()).unwrap().unwrap();
    let order = desk.letter(number).unwrap().unwrap().order;
    let pages: Vec<u32> = order.documents.iter().map(|document| document.pages).collect();
    assert_eq!(pages, [1, 2, 3]);
    lies(&room, "x cover/01 x cover.pdf").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_takes_nothing_in_says_so() {
    let room = room(&RULES.replace("path:", "accept: no\npath:"), "").await;
    let daemon = Daemon::start(&room);
    let answer = Caller::of(&daemon)
        .request(Method::POST, "/v1/letters")
        .header("Idempotency-Key", "k")
        .multipart(Sent::new("k", "INV-000123.pdf", pdf(1)).form())
        .send()
        .await
        .unwrap();
    assert_eq!((answer.status().as_u16(), &answer.headers()["retry-after"]), (503, &"10".parse().unwrap()));
    let problem: Value = answer.json().await.unwrap();
    assert_eq!(name_of(&problem), "folder-closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_door_has_a_socket_of_its_own() {
    let room = room(RULES, ", socket: erp.socket").await;
    let daemon = Daemon::start(&room);
    let socket = room.dir.path().join("queues/erp.socket");
    // It listens there a moment later than where the status is.
    let began = Instant::now();
    while !socket.exists() {
        assert!(began.elapsed() < Duration::from_secs(30));
        tokio::task::yield_now().await;
    }
    let http = reqwest::Client::builder().unix_socket(socket).build().unwrap();
    let form = Sent::new("k", "INV-000123.pdf", pdf(1)).form();
    let request = http.post("http://door/v1/letters").bearer_auth(TOKEN).header("Idempotency-Key", "k");
    let (status, body) = Caller::answer(request.multipart(form)).await;
    assert_eq!(status, 201, "{body}");
    // Where the status is, there is no door.
    let (status, _) = daemon.get("/v1/openapi.json").await;
    assert_eq!(status, 404);
}

/// What no part begins in would all be in memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_in_which_no_part_begins_is_not_read_to_its_end() {
    let room = usual().await;
    let daemon = Daemon::start(&room);
    let program = Caller::of(&daemon);
    let begin = || program.request(Method::POST, "/v1/letters").header("Idempotency-Key", "k");
    let kind = "multipart/form-data; boundary=BB";
    // Nothing of it is left unread when it is refused, so that the answer is read.
    let endless = format!("--BB\r\nContent-Disposition: form-data; name=\"{}", "x".repeat((1 << 20) + 9));
    for body in ["x".repeat((1 << 20) + 9), endless] {
        let (status, problem) = Caller::answer(begin().header("Content-Type", kind).body(body)).await;
        assert_eq!(status, 400);
        // Read to its end, it would be incomplete.
        assert_eq!(problem["detail"], "Nothing was taken: failed to read stream.");
    }
    // A preamble of usual size, and many parts, are read.
    let part =
        "--BB\r\nContent-Disposition: form-data; name=\"document\"; filename=\"INV-000123.pdf\"\r\n\r\n";
    let body = [b"preamble\r\n", part.as_bytes(), &pdf(1), b"\r\n--BB--\r\n"].concat();
    let (status, body) = Caller::answer(begin().header("Content-Type", kind).body(body)).await;
    assert_eq!(status, 201, "{body}");
}
