//! What a page shows of the calls that concerned a letter.

use reqwest::Method;
use serde_json::json;

use crate::rigs::nasty::Nasty;
use crate::rigs::service::{Service, file, letter, letter_of, pdf};

async fn page(service: &Service, path: &str) -> String {
    let answer = service.plain(Method::GET, path).header("accept-language", "en").send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    answer.text().await.unwrap().replace("&#x2f;", "/").replace("&quot;", "\"")
}

/// The first lines of the calls, newest first.
fn summaries(page: &str) -> Vec<String> {
    let parts = page.split("<summary>").skip(1).map(|part| part.split("</summary>").next().unwrap());
    let plain = |part: &str| {
        let words = part.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
        words.collect::<Vec<_>>().concat().split_whitespace().skip(3).collect::<Vec<_>>().join(" ")
    };
    parts.map(plain).collect()
}

#[tokio::test]
async fn every_call_that_concerned_a_letter_is_shown_with_what_was_refused_and_why() {
    let service = Service::start().await;
    let other = service.create(&letter()).await;
    let mail = service.create(&letter()).await;
    let id = mail.id.as_str();
    assert_eq!(service.confirm(id).await.status(), 422);
    service.order(json!({"endpoint": "upload", "fault": "status", "status": 503, "after_work": true})).await;
    assert_eq!(service.upload(&mail.contents[0].upload, pdf(1)).await.status(), 503);
    service.order(json!({"endpoint": "confirm", "fault": "lose_reply"})).await;
    let lost = service.api(Method::POST, &format!("/v1/mails/{id}/confirm")).send().await;
    assert!(lost.is_err());
    service.order(json!({"endpoint": "read", "fault": "truncate_reply"})).await;
    drop(service.api(Method::GET, &format!("/v1/mails/{id}")).send().await);
    let content = &mail.contents[0].id;
    let target = service.get(&format!("/v1/mails/{id}/contents/{content}/pdf")).await;
    let url = target.json::<serde_json::Value>().await.unwrap()["url"].as_str().unwrap().to_owned();
    assert_eq!(service.http.get(&url).send().await.unwrap().status(), 200);

    let shown = page(&service, &format!("/inbox/{id}")).await;
    let expected = [
        "GET /download/… 200".to_owned(),
        format!("GET /v1/mails/{id}/contents/{content}/pdf 200"),
        format!("GET /v1/mails/{id} 200 ordered fault: the answer is cut"),
        format!("POST /v1/mails/{id}/confirm closed without an answer ordered fault: the answer is lost"),
        "POST /upload 503 ordered fault: answers with a status".to_owned(),
        format!("POST /v1/mails/{id}/confirm 422 file_not_uploaded"),
        "POST /v1/mails 201".to_owned(),
    ];
    assert_eq!(summaries(&shown), expected);
    assert!(
        shown.contains("/docs/problems/file_not_uploaded")
            && shown.contains("\"shipping_method\": \"normal\"")
    );
    // Nothing that opens anything is shown, on the page of all calls, too.
    service.ask_token("nobody", "my secret", "mails:read").await;
    let mut wrong = letter();
    wrong["shipping_method"] = json!("pigeon");
    assert_eq!(service.try_create(&wrong).await.status(), 400);
    assert_eq!(service.get("/v1/nothing").await.status(), 404);
    let all = page(&service, "/calls").await;
    assert_eq!(
        summaries(&all)[..3],
        ["GET /v1/nothing 404 not_found", "POST /v1/mails 400 invalid_request", "POST /auth/token 401"]
    );
    assert!(all.contains("not in the contract: a decision of this sandbox"));
    let fields = mail.contents[0]
        .upload
        .fields
        .iter()
        .filter(|(name, _)| name.starts_with("X-Amz-S") || *name == "policy");
    let signatures = url.split("X-Amz-Signature=").nth(1).unwrap().to_owned();
    for secret in fields.map(|(_, value)| value.clone()).chain([
        service.token.clone(),
        signatures,
        "my secret".to_owned(),
    ]) {
        assert!(!all.contains(&secret) && !shown.contains(&secret), "{secret}");
    }
    // Another letter has only its own.
    assert_eq!(summaries(&page(&service, &format!("/inbox/{}", other.id)).await), ["POST /v1/mails 201"]);
}

#[tokio::test]
async fn the_empty_inbox_shows_the_secret_only_where_it_is_valid_and_at_home() {
    let service = Service::start().await;
    let shown = page(&service, "/inbox").await.replace("&#43;", "+");
    assert!(shown.contains(service.secret()) && shown.contains("Waiting for your first letter"));
    let id = service.welcome.client_id.to_string();
    assert_eq!(service.control(Method::POST, &format!("clients/{id}/secret"), json!({})).await.status(), 201);
    let shown = page(&service, "/inbox").await.replace("&#43;", "+");
    assert!(
        !shown.contains(service.secret())
            && shown.contains("not known any more")
            && shown.contains("CLIENT_SECRET")
    );
    // Other machines can reach this one.
    let listen = "0.0.0.0:0".parse().unwrap();
    let service = Service::with(mailchute::sandbox::Options { listen, ..Default::default() }).await;
    let shown = page(&service, "/inbox").await.replace("&#43;", "+");
    assert!(!shown.contains(service.secret()) && shown.contains("Other machines can reach this address"));
}

#[tokio::test]
async fn a_control_on_the_page_does_what_its_line_does() {
    let service = Service::start().await;
    let press = async |form: &[(&str, &str)]| {
        let answer = service.plain(Method::POST, "/controls").form(form).send().await.unwrap();
        (
            answer.status().as_u16(),
            answer
                .text()
                .await
                .unwrap()
                .replace("&#x2f;", "/")
                .replace("&quot;", "\"")
                .replace("&#x27;", "'"),
        )
    };
    let base = &service.welcome.places.control_url;
    for (form, line) in [
        (
            vec![("do", "advance"), ("advance", "1h")],
            format!("curl -d '{{\"advance\":\"1h\"}}' {base}/clock"),
        ),
        (vec![("do", "pace"), ("pace", "x60")], format!("curl -d '{{\"pace\":\"x60\"}}' {base}/clock")),
        (
            vec![("do", "card"), ("card", "declining")],
            format!("curl -d '{{\"card\":\"declining\"}}' {base}/card"),
        ),
        (
            vec![("do", "fault"), ("endpoint", "read"), ("fault", "status"), ("status", "500"), ("skip", "")],
            format!("curl -d '{{\"endpoint\":\"read\",\"fault\":\"status\",\"status\":500}}' {base}/faults"),
        ),
        (vec![("do", "forget_faults")], format!("curl -X DELETE {base}/faults")),
        (
            vec![("do", "scenario"), ("name", "declined")],
            format!("curl -d '{{\"card\":\"declining\"}}' {base}/scenario"),
        ),
        (vec![("do", "reset")], format!("curl -X POST {base}/reset")),
    ] {
        let (status, shown) = press(&form).await;
        assert!(status == 200 && shown.contains(&line), "{form:?}: {status} {shown}");
    }
}

#[tokio::test]
async fn a_control_that_cannot_be_is_refused_and_a_letter_is_packed_from_its_own_page() {
    let service = Service::start().await;
    let press = async |form: &[(&str, &str)]| {
        service.plain(Method::POST, "/controls").form(form).send().await.unwrap().status().as_u16()
    };
    for (form, status) in [
        (vec![("do", "fly")], 400),
        (vec![], 400),
        (vec![("do", "card"), ("card", "gold")], 400),
        (vec![("do", "next_event")], 400),
        (vec![("do", "packing"), ("mail", "none")], 404),
        (vec![("do", "fault"), ("endpoint", "read"), ("fault", "decline")], 400),
    ] {
        assert_eq!(press(&form).await, status, "{form:?}");
    }
    let mail = service.confirmed(&letter()).await;
    let back = format!("/inbox/{}?state=packing", mail.id);
    let form = [("do", "packing"), ("mail", mail.id.as_str()), ("back", back.as_str())];
    let answer = service.plain(Method::POST, "/controls").form(&form).send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), answer.headers()["location"].to_str().unwrap()),
        (303, back.as_str())
    );
    assert!(page(&service, &back).await.contains("Packing since"));
    let foreign =
        service.plain(Method::POST, "/controls").header("origin", "http://evil.example").form(&form);
    assert_eq!(foreign.send().await.unwrap().status(), 403);
}

#[tokio::test]
async fn nothing_that_opens_anything_is_shown_however_it_is_sent() {
    let service = Service::start().await;
    // The answer is long: each of ten files has its own signature.
    let files: Vec<_> = (0..10).map(|n| file(&format!("{n}{}.pdf", "請".repeat(240)), 1)).collect();
    let mail = service.create(&letter_of(&files)).await;
    let upload = &mail.contents[0].upload;
    // A form whose boundary looks like another kind.
    let mut form = upload.fields.iter().fold(String::new(), |form, (name, value)| {
        form + &format!("--xjsonx\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    });
    form += "--xjsonx--\r\n";
    let kind = "multipart/form-data; boundary=xjsonx";
    let sent = service.http.post(&upload.url).header("content-type", kind).body(form);
    assert_eq!(sent.send().await.unwrap().status(), 400);
    for body in [
        "{\"client_secret\":\"hidden-1\",}".to_owned(),
        json!({"Client_Secret": "hidden-2", "x": ["Bearer hidden-3"], "API-Token": {"a": "hidden-4"}})
            .to_string(),
        json!({"uploadUrl": "https://x.example/u?sig=hidden-5", "Authorization": "hidden-6"}).to_string(),
        json!({"padding": "x".repeat(70_000), "y": "hidden-7"}).to_string(),
    ] {
        let sent =
            service.api(Method::POST, "/v1/mails").header("content-type", "application/json").body(body);
        assert_eq!(sent.send().await.unwrap().status(), 400);
    }
    let shown = page(&service, "/calls").await + &page(&service, &format!("/inbox/{}", mail.id)).await;
    for content in &mail.contents {
        for name in ["policy", "X-Amz-Signature"] {
            assert!(!shown.contains(&content.upload.fields[name]), "{name}");
        }
    }
    assert!(shown.contains("\"policy\": \"…\"") && shown.contains("too long to be kept"));
    assert!(!shown.contains("hidden-"), "{}", &shown[shown.find("hidden-").unwrap_or(0)..][..40]);
}

#[tokio::test]
async fn what_the_empty_inbox_says_to_paste_runs_nothing_else() {
    let client =
        Some(("a' ; touch PWN ; '".to_owned(), mailchute::base::secret::Secret::new("b'$(touch PWN)\"")));
    let service = Service::with_own_pace(mailchute::sandbox::Options { client, ..Default::default() }).await;
    let shown = page(&service, "/inbox").await.replace("&#x27;", "'");
    assert!(shown.contains(r#"-u 'a'\'' ; touch PWN ; '\'':b'\''$(touch PWN)"' -d"#), "{shown}");
    // Behind another address, others may see it.
    let nasty = Nasty::open().await;
    let service = Service::behind(&nasty).await;
    assert!(!page(&service, "/inbox").await.replace("&#43;", "+").contains(service.secret()));
}
