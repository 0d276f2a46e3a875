//! The pages as a browser gets them: content, languages, forms, and who may send those.

use std::path::Path;

use reqwest::{Method, Response};
use serde_json::json;

use crate::rigs::service::{ALL_SCOPES, Service, file, letter, letter_of, pdf};
use crate::rigs::typeset::with_contents;
use mailchute::outside::pdf::{DrawWish, Inspector};
use mailchute::sandbox::Options;
use mailchute::sandbox::world::Code;

async fn page(service: &Service, path: &str, language: &str) -> String {
    let answer = service.plain(Method::GET, path).header("accept-language", language).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    assert!(answer.headers()["content-security-policy"].to_str().unwrap().contains("default-src 'none'"));
    answer.text().await.unwrap()
}

#[tokio::test]
async fn the_inbox_shows_letters_newest_first() {
    let mut service = Service::start().await;
    assert!(page(&service, "/inbox", "en").await.contains("No letter yet"));
    let first = service.confirmed(&letter()).await;
    let mut body = letter();
    body["receiver_address"]["name"] = json!("<script>alert(1)</script>");
    let second = service.create(&body).await;
    let inbox = page(&service, "/inbox", "ja").await;
    for text in
        ["東京都千代田区", "山田 太郎 様", "letter.pdf", "確定待ち", "確定済み", "特定記録", "普通郵便"]
    {
        assert!(inbox.contains(text), "{text}");
    }
    assert!(!inbox.contains("<script>alert") && inbox.contains("&lt;script&gt;alert"));
    assert!(inbox.find(&second.id).unwrap() < inbox.find(&first.id).unwrap());
    service.advance("10days").await;
    service.log_in().await;
    let number = service.read(&first.id).await.tracking_number.unwrap();
    let inbox = page(&service, "/inbox", "en").await;
    assert!(inbox.contains("Shipped") && inbox.contains(&number));
    let empty = service.plain(Method::GET, "/").send().await.unwrap();
    assert_eq!((empty.status().as_u16(), empty.headers()["location"].to_str().unwrap()), (303, "/inbox"));
}

#[tokio::test]
async fn a_long_inbox_is_turned_page_by_page() {
    let service = Service::start().await;
    let mut ids = Vec::new();
    for _ in 0..53 {
        ids.push(service.create(&letter()).await.id);
    }
    let newest = page(&service, "/inbox", "en").await;
    assert!(
        newest.contains("50+ letters")
            && newest.contains(&ids[52])
            && newest.contains(&ids[3])
            && !newest.contains(&ids[2])
    );
    let link = format!("/inbox?before={}", ids[3]);
    assert!(newest.contains(&link));
    let older = page(&service, &link, "en").await;
    assert!(older.contains(&ids[2]) && older.contains(&ids[0]) && !older.contains(&ids[3]));
    assert!(!older.contains("before="));
}

#[tokio::test]
async fn a_letters_page_shows_its_documents_and_timeline_and_opens_its_pdfs() {
    let service = Service::start().await;
    let mail = service.confirmed(&letter_of(&[file("請求書.pdf", 2), file("b.pdf", 1)])).await;
    let shown = page(&service, &format!("/inbox/{}", mail.id), "ja").await;
    for text in ["請求書.pdf", "2 ページ", "白黒", "両面", "封印済み", "カードの承認", "confirmed"]
    {
        assert!(shown.contains(text), "{text}");
    }
    let document = service.plain(Method::GET, &format!("/inbox/{}/1", mail.id)).send().await.unwrap();
    assert_eq!(document.headers()["content-type"], "application/pdf");
    assert!(!document.headers().contains_key("content-security-policy"), "it would blind the viewer");
    let disposition = document.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert_eq!(disposition, "inline; filename*=UTF-8''%E8%AB%8B%E6%B1%82%E6%9B%B8%2Epdf");
    assert_eq!(document.bytes().await.unwrap(), pdf(2));
    for missing in [
        "/inbox/nothing",
        "/inbox/%ff",
        "/inbox/nothing/1",
        "/inbox/x/abc",
        &format!("/inbox/{}/3", mail.id),
        "/nowhere",
    ] {
        let answer = service.plain(Method::GET, missing).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{missing}");
        assert!(answer.text().await.unwrap().contains("Nothing here"), "{missing}");
    }
}

#[tokio::test]
async fn a_letters_page_shows_its_envelope_and_its_pages_as_they_would_be_printed() {
    let inspector = Inspector::of(Path::new(env!("CARGO_BIN_EXE_mailchute")));
    let mut service =
        Service::with(Options { inspector: Some(inspector.clone()), ..Options::default() }).await;
    let mut body = letter_of(&[file("a.pdf", 2)]);
    body["receiver_address"]["address1"] = json!("<b>一番町一丁目一番一号</b>".repeat(3));
    body["files"][0]["staple"] = json!("top-left");
    let mail = service.create(&body).await;
    let red = with_contents(&vec!["1 0 0 rg 0 742 100 100 re f".to_owned(); 2]);
    assert_eq!(service.upload(&mail.contents[0].upload, red.clone()).await.status(), 204);
    assert_eq!(service.confirm(&mail.id).await.status(), 204);
    let path = format!("/inbox/{}", mail.id);
    let shown = page(&service, &path, "en").await;
    let envelope = {
        let paper = &shown[shown.find("<svg class=\"paper").unwrap()..];
        &paper[..paper.find("</svg>").unwrap()]
    };
    for text in [">〒100-0001<", "山田 太郎 様", "料金別納", "特定記録"] {
        assert!(envelope.contains(text), "{text}: {envelope}");
    }
    assert!(!envelope.contains("<b>") && !envelope.contains("速達") && !envelope.contains("postmark"));
    assert!(shown.contains(&format!("{path}/1/2.png")) && !shown.contains("3.png"), "{shown}");
    let picture = async |path: &str| {
        let answer = service.plain(Method::GET, path).send().await.unwrap();
        (answer.status().as_u16(), answer.bytes().await.unwrap())
    };
    for (page, staple) in [(0, true), (1, false)] {
        let wish = DrawWish { page, width: 620, grayscale: true, staple, ..DrawWish::default() };
        let drawn = inspector.drawn(&red, None, &wish).await.unwrap().unwrap().png();
        let (status, png) = picture(&format!("{path}/1/{}.png", page + 1)).await;
        assert!(status == 200 && png == drawn, "page {page} is not as it would be printed");
    }
    for (missing, status) in [
        ("1/3.png", 422),
        ("1/0.png", 404),
        ("1/51.png", 404),
        ("2/1.png", 404),
        ("1/x.png", 404),
        ("1/1", 404),
    ] {
        assert_eq!(picture(&format!("{path}/{missing}")).await.0, status, "{missing}");
    }
    service.advance("10days").await;
    service.log_in().await;
    let shown = page(&service, &path, "ja").await;
    let number = service.read(&mail.id).await.tracking_number.unwrap();
    assert!(shown.contains("postmark") && shown.contains(&format!(">{number}</text>")), "{shown}");
}

#[tokio::test]
async fn every_problem_has_a_page_that_explains_it_in_both_languages() {
    let service = Service::start().await;
    let (english, japanese) = (page(&service, "/docs", "en").await, page(&service, "/docs", "ja").await);
    for code in Code::ALL {
        let path = format!("/docs/problems/{}", code.as_str());
        assert!(english.contains(&path) && japanese.contains(&path));
        let (en, ja) = (page(&service, &path, "en").await, page(&service, &path, "ja").await);
        assert!(en.contains("What to do") && ja.contains("対処方法"), "{path}");
        assert_ne!(en, ja);
        assert!(en.contains(&code.status().to_string()));
    }
    let unknown = service.plain(Method::GET, "/docs/problems/nothing").send().await.unwrap();
    assert_eq!(unknown.status(), 404);
}

#[tokio::test]
async fn the_contract_and_the_decisions_can_be_read_by_programs_and_people() {
    let service = Service::start().await;
    let places = &service.welcome.places;
    for (path, url) in
        [("/docs/openapi.json", &places.base_url), ("/_sandbox/openapi.json", &places.control_url)]
    {
        let answer = service.plain(Method::GET, path).send().await.unwrap();
        let document: serde_json::Value = answer.json().await.unwrap();
        assert_eq!((&document["openapi"], &document["servers"][0]["url"]), (&json!("3.1.0"), &json!(url)));
        // Each operation is one: it answers, and not that there is none.
        for (path, methods) in document["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys() {
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                let path = path.replace(['{', '}'], "") + if path == "/wait" { "?timeout=0s" } else { "" };
                let asked =
                    service.http.request(method.clone(), format!("{url}{path}")).bearer_auth(&service.token);
                let answer = asked.body("x").send().await.unwrap();
                let (status, text) = (answer.status(), answer.text().await.unwrap());
                let is_known =
                    status != 405 && !text.contains("\"not_found\"") && !text.contains("no such control");
                assert!(is_known, "{method} {path}: {status} {text}");
            }
        }
    }
    let decisions = page(&service, "/docs/decisions", "en").await;
    assert!(decisions.contains("which fields are required") && decisions.contains("<code>top-left</code>"));
    assert!(!decisions.contains("the document does not show"));
}

#[tokio::test]
async fn pages_answer_head_as_they_answer_get() {
    let service = Service::start().await;
    for path in [
        "/inbox",
        "/account",
        "/docs",
        "/docs/problems/over_weight",
        "/style.css",
        "/sandbox.js",
        "/controls",
        "/calls",
        "/letter.pdf",
    ] {
        let get = service.plain(Method::GET, path).send().await.unwrap();
        let head = service.plain(Method::HEAD, path).send().await.unwrap();
        assert_eq!(
            (head.status(), &head.headers()["content-type"]),
            (get.status(), &get.headers()["content-type"])
        );
        assert_eq!(head.headers()["content-length"], get.headers()["content-length"], "{path}");
        assert!(head.bytes().await.unwrap().is_empty());
    }
    let post = service.plain(Method::POST, "/inbox").send().await.unwrap();
    assert_eq!(post.status(), 405);
}

async fn submit(service: &Service, path: &str, form: &[(&str, &str)]) -> Response {
    service.plain(Method::POST, path).form(form).send().await.unwrap()
}

/// The account page's address of the first form that contains `what`.
async fn action(service: &Service, what: &str) -> String {
    let html = page(service, "/account", "en").await;
    let actions = html.split("action=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    actions.map(str::to_owned).find(|action| action.contains(what)).unwrap()
}

#[tokio::test]
async fn clients_are_managed_on_the_account_page() {
    let service = Service::start().await;
    let issue = action(&service, "/clients").await.split("/clients").next().unwrap().to_owned() + "/clients";
    let refused = submit(&service, &issue, &[("name", "経理")]).await;
    assert_eq!(refused.status(), 409);
    assert!(refused.text().await.unwrap().contains("terms of use must be agreed to"));
    let issued = submit(&service, &issue, &[("name", "経理"), ("agree", "yes")]).await;
    assert_eq!(
        (issued.status().as_u16(), &issued.headers()["cache-control"]),
        (200, &"no-store".parse().unwrap())
    );
    let html = issued.text().await.unwrap();
    let shown: Vec<&str> =
        html.split("<dd><code>").skip(1).map(|rest| rest.split("</code>").next().unwrap()).collect();
    let secret = shown[1].replace("&#x2f;", "/").replace("&#43;", "+");
    assert_eq!(service.ask_token(shown[0], &secret, ALL_SCOPES).await.status(), 200);
    // Shown once.
    let later = page(&service, "/account", "en").await;
    assert!(later.contains("経理") && later.contains(shown[0]) && !later.contains(shown[1]));
    let reissue = action(&service, "/secret").await;
    // One click without the tick changes nothing.
    let unsure = submit(&service, &reissue, &[]).await;
    assert_eq!(unsure.status(), 409);
    assert_eq!(service.ask_token(shown[0], &secret, ALL_SCOPES).await.status(), 200);
    let again = submit(&service, &reissue, &[("sure", "yes")]).await;
    assert!(again.text().await.unwrap().contains("client_secret"));
}

#[tokio::test]
async fn the_card_is_set_on_the_account_page() {
    let service = Service::start().await;
    let card = action(&service, "/card").await;
    assert_eq!(submit(&service, &card, &[("card", "none")]).await.status(), 303);
    assert_eq!(service.try_create(&letter()).await.status(), 402);
    assert_eq!(submit(&service, &card, &[("card", "gold")]).await.status(), 400);
    assert_eq!(submit(&service, "/account/nobody/card", &[("card", "ok")]).await.status(), 409);
}

#[tokio::test]
async fn other_sites_can_send_nothing_here() {
    let service = Service::start().await;
    let card = action(&service, "/card").await;
    for path in [card.as_str(), "/_sandbox/clock"] {
        let foreign = service.plain(Method::POST, path).header("origin", "http://evil.example").body("x");
        assert_eq!(foreign.send().await.unwrap().status(), 403, "{path}");
    }
    // Otherwise browsers send the page's own forms without their origin.
    let own = service.plain(Method::GET, "/account").send().await.unwrap();
    assert_eq!(own.headers()["referrer-policy"], "same-origin");
    let rebound = service.plain(Method::GET, "/inbox").header("host", "evil.example");
    assert_eq!(rebound.send().await.unwrap().status(), 403);
    let own = service.plain(Method::POST, &card).header("origin", &service.welcome.places.base_url);
    assert_eq!(own.form(&[("card", "ok")]).send().await.unwrap().status(), 303);
}

#[tokio::test]
async fn until_when_a_letter_can_be_cancelled_is_shown_while_it_can_be() {
    let service = Service::start().await;
    let shown = async |service: &Service, id: &str| {
        page(service, &format!("/inbox/{id}"), "en").await.contains("Cancel until")
    };
    let pending = service.create(&letter()).await;
    assert!(!shown(&service, &pending.id).await, "it was not confirmed");
    let mail = service.confirmed(&letter()).await;
    assert!(shown(&service, &mail.id).await);
    service.advance("10days").await;
    assert!(!shown(&service, &mail.id).await, "it has shipped");
}
