//! The pages of the sandbox in a real browser.

use std::path::Path;
use std::process::Command;

use mailchute::outside::pdf::Inspector;
use mailchute::sandbox::Options;
use serde_json::{Value, json};

use crate::rigs::browser::{Browser, skipped};
use crate::rigs::service::{Service, letter};

fn to(name: &str) -> Value {
    let mut body = letter();
    body["receiver_address"]["name"] = json!(name);
    body
}

async fn drawn() -> Service {
    let inspector = Inspector::of(Path::new(env!("CARGO_BIN_EXE_mailchute")));
    Service::with(Options { inspector: Some(inspector), ..Options::default() }).await
}

fn rows() -> &'static str {
    "document.querySelectorAll('#letters > li').length"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_come_in_without_taking_away_selection_focus_or_place() {
    let Some(mut browser) = Browser::start() else { return };
    let service = Service::start().await;
    let first = service.uploaded(&to("山田 太郎")).await;
    for n in 0..20 {
        service.create(&to(&format!("相手 {n}"))).await;
    }
    browser.is_like((1280, 700), "en", "light");
    browser.open(&format!("{}/inbox/{}", service.welcome.places.base_url, first.id));
    browser.run("getSelection().selectAllChildren(document.querySelector('#pane .title'))");
    browser.run("document.querySelector('#list').scrollTop = 300");
    let at = format!("Math.round(document.getElementById('row-{}').getBoundingClientRect().top)", first.id);
    let place = browser.run(&at);
    service.create(&to("鈴木 花子")).await;
    browser.until(&format!("{} === 22", rows()));
    assert!(browser.run("getSelection().toString()").as_str().unwrap().contains("山田 太郎"));
    assert_eq!(browser.run(&at), place, "the list moved");
    // What is selected changes when it is selected no more.
    assert_eq!(service.confirm(&first.id).await.status(), 204);
    browser.until(&format!("document.querySelector('#row-{} .confirmed')", first.id));
    assert!(browser.run("getSelection().toString()").as_str().unwrap().contains("山田 太郎"));
    browser.run("getSelection().removeAllRanges()");
    browser.run("document.querySelector('#q').focus()");
    browser.write("鈴木");
    browser.until(&format!("{} === 1", rows()));
    service.create(&to("鈴木 次郎")).await;
    browser.until(&format!("{} === 2", rows()));
    assert_eq!(
        browser.run("[document.activeElement.id, document.activeElement.value]"),
        json!(["q", "鈴木"])
    );
    browser.until("document.querySelector('#pane .hint')");
    // Back leads to the letter that was read, and the words go with it.
    browser.run("history.back()");
    browser.until(&format!(
        "location.pathname.endsWith({}) && document.querySelector('#q').value === ''",
        json!(first.id)
    ));
    browser.until(&format!("{} === 23", rows()));
    // A letter that is gone makes room for what comes after it.
    assert_eq!(service.control(reqwest::Method::POST, "reset", Value::Null).await.status(), 204);
    browser.until("location.pathname === '/inbox' && document.getElementById('waiting')");
    service.create(&to("次の人")).await;
    browser.until(&format!("{} === 1 && document.querySelector('#pane .hint')", rows()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_search_and_links_lead_to_letters() {
    let Some(mut browser) = Browser::start() else { return };
    let mut service = Service::start().await;
    let base = service.welcome.places.base_url.clone();
    let older = service.confirmed(&to("山田 太郎")).await;
    service.advance("10days").await;
    service.log_in().await;
    let newer = service.create(&to("佐藤 花子")).await;
    browser.is_like((1280, 700), "en", "light");
    browser.open(&format!("{base}/inbox"));
    let open = "document.getElementById('pane').dataset.letter";
    for (key, wanted) in [("j", &newer), ("j", &older), ("j", &older), ("k", &newer)] {
        browser.press(key);
        browser.until(&format!("{open} === {} && location.pathname.endsWith({open})", json!(wanted.id)));
    }
    browser.press("/");
    browser.write("1000001 ");
    browser.write("ﾔﾏﾀﾞ");
    browser.until(&format!("{} === 0", rows()));
    browser.run("document.querySelector('#q').select()");
    let number = service.read(&older.id).await.tracking_number.unwrap();
    browser.write(&format!("山田　{}-{}", &number[..4], &number[4..]));
    browser.until(&format!("{} === 1", rows()));
    let state = "const s = document.querySelector('[name=state]'); s.value = 'shipped'; s.dispatchEvent(new Event('input', {bubbles: true}))";
    browser.run(&format!("{{ {state} }}"));
    browser.until("location.search.includes('state=shipped')");
    browser.press("Escape");
    browser.press("j");
    browser.until(&format!("{open} === {}", json!(older.id)));
    // The address keeps what was looked for, for whoever opens it.
    let address = browser.run("location.href");
    browser.open(&format!("{base}/docs"));
    browser.open(address.as_str().unwrap());
    assert_eq!(browser.run(rows()), 1);
    assert_eq!(browser.run(open), older.id);
    browser.run("history.back()");
    browser.until("location.pathname === '/docs'");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_empty_inbox_posts_a_letter_and_the_controls_ship_it() {
    let Some(mut browser) = Browser::start() else { return };
    let service = drawn().await;
    let base = service.welcome.places.base_url.clone();
    browser.is_like((1280, 700), "en", "light");
    browser.open(&format!("{base}/inbox"));
    let block = browser.run("document.getElementById('block').textContent");
    let block = block.as_str().unwrap();
    assert!(block.contains(service.secret()));
    if Command::new("curl").arg("--version").output().is_err() {
        skipped("curl");
        return;
    }
    let done = tokio::task::block_in_place(|| Command::new("bash").args(["-euc", block]).output().unwrap());
    assert!(done.status.success() && done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    browser.until(&format!("{} === 1 && document.querySelector('#letters .confirmed')", rows()));
    browser.open(&format!("{base}/controls"));
    browser.run("[...document.querySelectorAll('button')].find((one) => one.textContent === 'To the next event').click()");
    browser.until("document.querySelector('#done')?.textContent.includes('next_event')");
    browser.open(&format!("{base}/inbox"));
    browser.until("document.querySelector('#letters .shipped')");
    browser.press("j");
    browser.until(
        "document.querySelector('#pane .bars') && document.querySelectorAll('#pane .call').length === 3",
    );
    browser.until("[...document.images].every((image) => image.complete && image.naturalWidth > 0)");
    // The line beside the form for faults says what the form says.
    browser.open(&format!("{base}/controls"));
    browser.run(
        "const form = document.getElementById('fault'); form.endpoint.value = 'read'; form.times.value = 7;
                 form.dispatchEvent(new Event('input'))",
    );
    let line = browser.run("document.querySelector('#fault .line code').textContent");
    let said = r#"'{"endpoint":"read","fault":"lose_reply","times":7}'"#;
    assert!(line.as_str().unwrap().contains(said), "{line}");
    // Also after the page was brought up to date.
    service.advance("1h").await;
    let clock =
        service.control(reqwest::Method::GET, "clock", Value::Null).await.json::<Value>().await.unwrap();
    let now = chrono::DateTime::parse_from_rfc3339(clock["now"].as_str().unwrap()).unwrap()
        + chrono::TimeDelta::hours(9);
    browser.until(&format!(
        "document.querySelector('#clock').textContent.includes('{}')",
        now.format("%H:%M:%S")
    ));
    let line = browser.run("document.querySelector('#fault .line code').textContent");
    assert!(line.as_str().unwrap().contains(said), "{line}");
    browser.run("document.querySelector('#fault button').click()");
    browser.until("document.querySelector('#waiting-faults')?.textContent.includes('× 7')");
    // The forms of the account are the page's own, too.
    browser.open(&format!("{base}/account"));
    browser.run(
        "window.isOld = true; document.querySelector('input[value=none]').click();
                 document.querySelector('form button').click()",
    );
    browser.until("!window.isOld && document.readyState === 'complete'");
    let card =
        service.control(reqwest::Method::GET, "accounts", Value::Null).await.json::<Value>().await.unwrap();
    assert_eq!(card["accounts"][0]["card"], "none");
}

/// Letters in many states. Gives one that has shipped, one that is confirmed, and one whose confirmation was refused.
async fn posted(service: &mut Service) -> [String; 3] {
    for (n, name) in ["山田 太郎", "佐藤 花子", "株式会社見本 経理部", "Jonathan Smith"].iter().enumerate()
    {
        let mut body = to(name);
        if n % 2 == 1 {
            body["shipping_method"] = json!("letterpack-plus");
            body.as_object_mut().unwrap().remove("shipping_options");
        }
        service.confirmed(&body).await;
    }
    service.advance("10days").await;
    service.log_in().await;
    let confirmed = service.confirmed(&to("鈴木 一郎")).await;
    assert_eq!(service.cancel(&service.confirmed(&to("高橋 美咲")).await.id).await.status(), 204);
    service.order(json!({"endpoint": "read", "fault": "cut"})).await;
    let letter = service.create(&to("渡辺 健")).await;
    assert_eq!(service.confirm(&letter.id).await.status(), 422);
    let shipped = service
        .control(reqwest::Method::GET, "letters?state=shipped&method=letterpack-plus", json!(null))
        .await;
    let shipped: Value = shipped.json().await.unwrap();
    let shipped = shipped["letters"][0]["id"].as_str().unwrap().to_owned();
    [shipped, confirmed.id, letter.id]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_can_be_used_by_everybody() {
    let Some(mut browser) = Browser::start() else { return };
    let mut service = drawn().await;
    let base = service.welcome.places.base_url.clone();
    let shown = |browser: &mut Browser, page: &str, picture: Option<&str>| {
        browser.everybody_can_use(&format!("{base}{page}"), picture);
    };
    shown(&mut browser, "/inbox", Some("sandbox-empty"));
    let [shipped, confirmed, refused] = posted(&mut service).await;
    shown(&mut browser, "/inbox", Some("sandbox-inbox"));
    shown(&mut browser, &format!("/inbox/{shipped}"), Some("sandbox-letter"));
    shown(&mut browser, "/controls", Some("sandbox-controls"));
    for page in
        ["/calls", "/account", "/docs", "/docs/problems/over_weight", "/docs/decisions", "/inbox?q=nothing"]
    {
        shown(&mut browser, page, None);
    }
    shown(&mut browser, &format!("/inbox/{confirmed}"), None);
    shown(&mut browser, &format!("/inbox/{refused}"), None);
}
