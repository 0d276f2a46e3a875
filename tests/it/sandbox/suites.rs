//! What test suites use: letters as values, waiting for them, a fresh start, scenarios, parts of a PDF.

use std::time::Duration;

use mailchute::sandbox::{Options, Scenario};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::rigs::program::{Program, mailchute};
use crate::rigs::service::{Service, address, file, letter, letter_of, pdf, problem};

async fn control(service: &Service, path: &str) -> (StatusCode, Value) {
    let answer = service.control(Method::GET, path, Value::Null).await;
    (answer.status(), answer.json().await.unwrap())
}

async fn reset(service: &Service) {
    assert_eq!(service.control(Method::POST, "reset", Value::Null).await.status(), 204);
}

fn ids(found: &Value) -> Vec<&str> {
    found["letters"].as_array().unwrap().iter().map(|letter| letter["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn letters_are_found_with_everything_that_a_test_asks_about() {
    let mut service = Service::start().await;
    let mut body = letter_of(&[file("請求書.pdf", 2), file("b.pdf", 1)]);
    body["shipping_method"] = json!("letterpack-plus");
    body.as_object_mut().unwrap().remove("shipping_options");
    body["reply_letterpack"] = json!({"address": address("返送先")});
    let first = service.confirmed(&body).await;
    let mut other = letter();
    other["receiver_address"]["name"] = json!("鈴木 花子");
    let second = service.create(&other).await;
    for (query, wanted) in [
        ("", vec![&second, &first]),
        ("q=山田", vec![&first]),
        ("q=ﾔﾏﾀﾞ", vec![]),
        ("q=鈴木 100-0001", vec![&second]),
        ("q=１０００００１ 東京都千代田区千代田1-1", vec![&second, &first]),
        ("q=請求書", vec![&first]),
        ("q=LETTER.PDF", vec![&second]),
        ("q=千代田1-1", vec![&second, &first]),
        ("q=1-1", vec![&second, &first]),
        ("q=〒100−0001", vec![&second, &first]),
        ("q=鈴木花子", vec![&second]),
        ("q=返送先", vec![&first]),
        ("q=00", vec![&second, &first]),
        ("q=0000000", vec![]),
        (&format!("q={}", first.id), vec![&first]),
        ("state=pending", vec![&second]),
        ("state=confirmed&method=letterpack-plus", vec![&first]),
        ("state=confirmed&method=normal", vec![]),
        (&format!("before={}", second.id), vec![&first]),
    ] {
        let (status, found) = control(&service, &format!("letters?{query}")).await;
        assert_eq!(status, 200, "{query}: {found}");
        let wanted: Vec<&str> = wanted.iter().map(|mail| mail.id.as_str()).collect();
        assert_eq!((ids(&found), &found["older"]), (wanted, &Value::Null), "{query}");
    }
    let (_, one) = control(&service, "letters?limit=1").await;
    assert_eq!((ids(&one), one["older"].as_str()), (vec![second.id.as_str()], Some(second.id.as_str())));
    let (_, found) = control(&service, "letters?state=confirmed").await;
    let seen = &found["letters"][0];
    assert_eq!(seen["receiver_address"], body["receiver_address"]);
    assert_eq!((&seen["sheets"], &seen["cancellable"]), (&json!(2), &json!(true)));
    let (_, ledger) = control(&service, "ledger?event=authorized").await;
    assert_eq!(seen["amount"], ledger["entries"][0]["amount"]);
    let document = &seen["documents"][0];
    assert_eq!((&document["file_name"], &document["pages"]), (&json!("請求書.pdf"), &json!(2)));
    assert_eq!(document["bytes"], pdf(2).len());
    let bytes =
        service.http.get(document["url"].as_str().unwrap()).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(bytes, pdf(2));
    service.advance("10days").await;
    service.log_in().await;
    let number = service.read(&first.id).await.tracking_number.unwrap();
    let (_, found) =
        control(&service, &format!("letters?state=shipped&q={}-{}", &number[..4], &number[4..])).await;
    assert_eq!(
        (ids(&found), &found["letters"][0]["tracking_number"]),
        (vec![first.id.as_str()], &json!(number))
    );
}

#[tokio::test]
async fn a_question_that_is_not_understood_is_refused_in_words() {
    let service = Service::start().await;
    for (wrong, said) in [
        ("letters?state=lost", "packing, shipped"),
        ("letters?method=pigeon", "letterpack-lite"),
        ("letters?limit=0", "from 1 to 1000"),
        ("letters?color=red", "unknown field"),
        ("wait?count=0", "`count`"),
        ("wait?timeout=2h", "at most a minute"),
    ] {
        let (status, answer) = control(&service, wrong).await;
        assert!(status == 400 && answer["error"].as_str().unwrap().contains(said), "{wrong}: {answer}");
    }
}

#[tokio::test]
async fn a_test_waits_for_letters_and_not_for_time() {
    let service = Service::start().await;
    let mail = service.uploaded(&letter()).await;
    let (waited, ()) = tokio::join!(control(&service, "wait?state=confirmed&timeout=20s"), async {
        assert_eq!(service.confirm(&mail.id).await.status(), 204);
    });
    assert_eq!((waited.0.as_u16(), ids(&waited.1)), (200, vec![mail.id.as_str()]));
    // It is there already.
    let (status, _) = control(&service, "wait?state=confirmed&timeout=0s").await;
    assert_eq!(status, 200);
    let (status, answer) = control(&service, "wait?count=2&timeout=20ms").await;
    assert_eq!((status.as_u16(), &answer["error"]), (404, &json!("1 of 2 such letters came within 20ms")));
    assert_eq!(ids(&answer), [mail.id.as_str()]);
    // Who waits does not hold up the end.
    let http = service.http.clone();
    let url = format!("{}/wait?count=9&timeout=1m", service.welcome.places.control_url);
    let waits = tokio::spawn(async move { http.get(url).send().await.map(|answer| answer.status()) });
    let heard = service.plain(Method::GET, "/events").send().await.unwrap();
    assert_eq!(heard.headers()["content-type"], "text/event-stream");
    tokio::time::timeout(Duration::from_secs(4), service.stop()).await.unwrap();
    drop(waits.await);
    assert!(heard.text().await.unwrap_or_default().starts_with("data: "));
}

#[tokio::test]
async fn a_reset_brings_the_start_back() {
    let dir = tempfile::tempdir().unwrap();
    let faults = serde_json::from_value(json!([{"endpoint": "read", "fault": "cut", "times": 5}])).unwrap();
    let options = |faults| Options {
        data: Some(dir.path().to_owned()),
        scenario: Scenario { faults, ..Scenario::default() },
        ..Options::default()
    };
    let service = Service::with(options(faults)).await;
    let mail = service.confirmed(&letter()).await;
    service.set_card("declining").await;
    service.order(json!({"endpoint": "confirm", "fault": "cut"})).await;
    service.advance("20m").await;
    let added =
        json!({"name": "second", "agree_to_terms": true, "client_id": "second", "client_secret": "x"});
    assert_eq!(service.control(Method::POST, "clients", added).await.status(), 201);
    let id = service.welcome.client_id.to_string();
    let reissued = service.control(Method::POST, &format!("clients/{id}/secret"), Value::Null).await;
    assert_eq!(reissued.status(), 201);
    let (_, clock) = control(&service, "clock").await;
    reset(&service).await;

    assert_eq!(control(&service, "clock").await.1, clock, "time does not go back");
    assert_eq!(control(&service, "letters").await.1["letters"], json!([]));
    assert_eq!(control(&service, "ledger").await.1["entries"], json!([]));
    let (_, faults) = control(&service, "faults").await;
    assert_eq!(
        (faults["waiting"].as_array().unwrap().len(), &faults["waiting"][0]["endpoint"]),
        (1, &json!("read"))
    );
    assert_eq!(std::fs::read_dir(dir.path().join("pdf")).unwrap().count(), 0);
    let (_, accounts) = control(&service, "accounts").await;
    assert_eq!(
        (&accounts["accounts"][0]["clients"], &accounts["accounts"][0]["card"]),
        (&json!([id]), &json!("ok"))
    );
    assert_eq!(service.ask_token("second", "x", "mails:read").await.status(), 401);
    assert_eq!(service.ask_token(&id, service.secret(), "mails:read").await.status(), 200);
    // The old token opens, the old letter is gone, and a new one has the first entries.
    assert_eq!(service.control(Method::DELETE, "faults", Value::Null).await.status(), 204);
    problem(service.get(&format!("/v1/mails/{}", mail.id)).await, 404, "mail_not_found").await;
    let second = service.confirmed(&letter()).await;
    let (_, ledger) = control(&service, "ledger?event=created").await;
    assert_eq!(
        (&ledger["entries"][0]["mail"], ledger["entries"].as_array().unwrap().len()),
        (&json!(second.id), 1)
    );
    // The same after a restart.
    service.stop().await;
    let service = Service::with(options(Vec::new())).await;
    assert_eq!(ids(&control(&service, "letters").await.1), [second.id.as_str()]);
    let entries = control(&service, "ledger").await.1["entries"].as_array().unwrap().len();
    service.create(&letter()).await;
    let (_, ledger) = control(&service, &format!("ledger?after={entries}&event=created")).await;
    assert_eq!(ledger["entries"].as_array().unwrap().len(), 1, "{ledger}");
}

#[tokio::test]
async fn the_clock_moves_to_what_happens_next_and_changes_its_pace() {
    let mut service = Service::start().await;
    let nothing = service.control(Method::POST, "clock", json!("next_event")).await;
    assert_eq!(nothing.status(), 400);
    let mail = service.confirmed(&letter()).await;
    assert_eq!(service.control(Method::POST, "clock", json!("next_event")).await.status(), 200);
    assert_eq!(service.events(&mail.id).await.last().unwrap(), "shipped");
    assert_eq!(service.control(Method::POST, "clock", json!("next_event")).await.status(), 200);
    assert_eq!(service.events(&mail.id).await.last().unwrap(), "charged");
    // The clock runs by itself from now on: a letter that nobody confirms is deleted.
    service.log_in().await;
    let draft = service.create(&letter()).await;
    let answer = service.control(Method::POST, "clock", json!({"pace": "x3600"})).await;
    assert_eq!(answer.json::<Value>().await.unwrap()["clock"], "x3600");
    let (status, found) = control(&service, "wait?state=expired&timeout=20s").await;
    assert_eq!((status.as_u16(), ids(&found)), (200, vec![draft.id.as_str()]));
    let wrong = service.control(Method::POST, "clock", json!({"pace": "fast"})).await;
    assert_eq!(wrong.status(), 400);
}

#[tokio::test]
async fn a_scenario_is_played_at_the_start_or_by_a_control() {
    mailchute::outside::api::install_tls();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("scenario.yaml");
    let text = "card: declining\nclock: manual\nnow: 2100-01-01T00:00:00Z\nfaults:\n- {endpoint: token, fault: status, status: 503}\n";
    std::fs::write(&path, text).unwrap();
    let file = path.to_str().unwrap();
    let (_program, welcome) = Program::sandbox(&["--scenario", file]);
    let http = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
    let ask = async |path: &str| {
        let url = format!("{}/{path}", welcome["control_url"].as_str().unwrap());
        http.get(url).send().await.unwrap().json::<Value>().await.unwrap()
    };
    assert_eq!(ask("clock").await, json!({"now": "2100-01-01T00:00:00.000Z", "clock": "manual"}));
    assert_eq!(ask("accounts").await["accounts"][0]["card"], "declining");
    assert_eq!(ask("faults").await["waiting"][0]["status"], 503);
    // What is said beside the file counts more.
    // Started again, it is past the scenario's time already.
    let data = dir.path().join("data");
    let kept = ["--scenario", file, "--data", data.to_str().unwrap()];
    for _ in 0..2 {
        let (mut program, welcome) = Program::sandbox(&kept);
        let clock = format!("{}/clock", welcome["control_url"].as_str().unwrap());
        let moved = http.post(clock).json(&json!({"advance": "1day"})).send().await.unwrap();
        assert_eq!(moved.status(), 200);
        program.signal("TERM");
        assert!(program.wait().success());
    }
    let (_program, welcome) = Program::sandbox(&["--scenario", file, "--card", "none", "--clock", "x60"]);
    let url = format!("{}/accounts", welcome["control_url"].as_str().unwrap());
    let accounts: Value = http.get(url).send().await.unwrap().json().await.unwrap();
    assert_eq!(accounts["accounts"][0]["card"], "none");
    for (text, code, said) in [
        ("crad: ok\n", 2, "unknown field `crad`"),
        ("faults: [{endpoint: read, fault: decline}]\n", 2, "orders a fault that can't be"),
        ("clock: fast\n", 2, "x1000000"),
        ("clock: manual\nnow: 1969-12-31T23:59:59Z\n", 1, "a clock begins in 1970 at the earliest"),
        ("clock: manual\nnow: 9999-01-01T00:00:00Z\n", 1, "the latest time of a clock, the year 9990"),
    ] {
        std::fs::write(&path, text).unwrap();
        let output = mailchute(&["sandbox", "--scenario", file]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(code) && error.contains(said), "{text}: {error}");
    }
    let service = Service::start().await;
    let played = json!({"card": "none", "faults": [{"endpoint": "confirm", "fault": "lose_reply"}]});
    assert_eq!(service.control(Method::POST, "scenario", played).await.status(), 204);
    assert_eq!(service.try_create(&letter()).await.status(), 402);
    let wrong = service.control(Method::POST, "scenario", json!({"now": "2100-01-01T00:00:00Z"})).await;
    assert_eq!(wrong.status(), 400);
}

/// A suite that names a date gives the same results when that date has passed.
#[tokio::test]
async fn the_manual_clock_of_a_new_sandbox_begins_at_its_scenarios_time() {
    mailchute::outside::api::install_tls();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("scenario.yaml");
    std::fs::write(&path, "clock: manual\nnow: 2020-02-28T12:00:00Z\n").unwrap();
    let data = dir.path().join("data");
    let http = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
    for (clock, begins, later) in [
        ("manual", "2020-02-28T12:00:00.000Z", "2020-02-29T12:00:00.000Z"),
        ("manual", "2020-02-29T12:00:00.000Z", "2020-03-01T12:00:00.000Z"),
        ("x60", "", ""),
    ] {
        let options =
            ["--scenario", path.to_str().unwrap(), "--data", data.to_str().unwrap(), "--clock", clock];
        let (mut program, welcome) = Program::sandbox(&options);
        let url = format!("{}/clock", welcome["control_url"].as_str().unwrap());
        let shown: Value = http.get(&url).send().await.unwrap().json().await.unwrap();
        let moved = http.post(&url).json(&json!({"advance": "1day"})).send().await.unwrap();
        let moved: Value = moved.json().await.unwrap();
        let [shown, moved] = [&shown, &moved].map(|answer| answer["now"].as_str().unwrap());
        assert!(shown.starts_with(begins) && moved.starts_with(later), "{clock}: {shown}, {moved}");
        // Another clock follows the system's, which is later.
        assert_eq!(shown < "2021", clock == "manual", "{shown}");
        program.signal("TERM");
        assert!(program.wait().success());
    }
}

#[tokio::test]
async fn a_part_of_a_pdf_is_given_where_it_is_asked_for() {
    let service = Service::start().await;
    let mail = service.confirmed(&letter()).await;
    let path = format!("/v1/mails/{}/contents/{}/pdf", mail.id, mail.contents[0].id);
    let target: Value = service.get(&path).await.json().await.unwrap();
    let whole = pdf(1);
    for url in
        [target["url"].as_str().unwrap(), &format!("{}/inbox/{}/1", service.welcome.places.base_url, mail.id)]
    {
        let part = async |range: &str| service.http.get(url).header("range", range).send().await.unwrap();
        let answer = part("bytes=5-9").await;
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["accept-ranges"]),
            (206, &"bytes".parse().unwrap())
        );
        assert_eq!(answer.headers()["content-range"], format!("bytes 5-9/{}", whole.len()));
        assert_eq!(answer.bytes().await.unwrap(), whole[5..10]);
        assert_eq!(part("bytes=-6").await.bytes().await.unwrap(), whole[whole.len() - 6..]);
        let behind = part("bytes=99999-").await;
        assert_eq!(
            (behind.status().as_u16(), behind.headers()["content-range"].to_str().unwrap()),
            (416, format!("bytes */{}", whole.len()).as_str())
        );
        assert_eq!(part("bytes=0-1,4-5").await.bytes().await.unwrap(), whole);
    }
}
