//! `GET …/contents/{contentId}/pdf` and the download target it gives.

use serde_json::json;

use crate::rigs::service::{Service, file, letter, letter_of, pdf, problem};
use mailchute::outside::api::wire::{CreatedMail, DownloadTarget};

fn path(mail: &CreatedMail, content: usize) -> String {
    format!("/v1/mails/{}/contents/{}/pdf", mail.id, mail.contents[content].id)
}

#[tokio::test]
async fn a_sealed_pdf_is_read_without_a_token_byte_for_byte() {
    let service = Service::start().await;
    let mail = service.confirmed(&letter_of(&[file("a.pdf", 1), file("請求書.pdf", 2)])).await;
    let target: DownloadTarget = service.get(&path(&mail, 1)).await.json().await.unwrap();
    let answer = service.http.get(&target.url).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/pdf");
    assert_eq!(answer.bytes().await.unwrap(), pdf(2));
}

#[tokio::test]
async fn a_download_address_lives_an_hour_and_can_be_had_again() {
    let mut service = Service::start().await;
    let mail = service.confirmed(&letter()).await;
    let target: DownloadTarget = service.get(&path(&mail, 0)).await.json().await.unwrap();
    let set = async |to: chrono::DateTime<chrono::Utc>| {
        let answer = service.control(reqwest::Method::POST, "clock", json!({"set": to})).await;
        assert_eq!(answer.status(), 200);
    };
    set(target.expires_at - chrono::TimeDelta::milliseconds(1)).await;
    assert_eq!(service.http.get(&target.url).send().await.unwrap().status(), 200);
    set(target.expires_at).await;
    let answer = service.http.get(&target.url).send().await.unwrap();
    assert_eq!(answer.status(), 403);
    let xml = answer.text().await.unwrap();
    assert!(
        xml.contains("<Code>AccessDenied</Code><Message>Request has expired</Message><X-Amz-Expires>3600<")
    );
    assert!(xml.contains("<Expires>2") && xml.contains("<ServerTime>2"), "{xml}");
    service.log_in().await;
    let again: DownloadTarget = service.get(&path(&mail, 0)).await.json().await.unwrap();
    assert_eq!(service.http.get(&again.url).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn an_altered_download_address_opens_nothing() {
    let service = Service::start().await;
    let mail = service.confirmed(&letter_of(&[file("a.pdf", 1), file("b.pdf", 1)])).await;
    let target: DownloadTarget = service.get(&path(&mail, 0)).await.json().await.unwrap();
    let other = target.url.replace(&mail.contents[0].id, &mail.contents[1].id);
    let longer = target.url.replace("X-Amz-Expires=3600", "X-Amz-Expires=999999");
    let bare = target.url.split_once('?').unwrap().0.to_owned();
    for url in [other, longer, bare] {
        let answer = service.http.get(&url).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{url}");
        assert_eq!(answer.headers()["content-type"], "application/xml");
    }
}

#[tokio::test]
async fn before_confirmation_there_is_no_pdf() {
    let service = Service::start().await;
    let mail = service.uploaded(&letter()).await;
    problem(service.get(&path(&mail, 0)).await, 409, "mail_not_confirmed").await;
}

#[tokio::test]
async fn content_and_mail_must_belong_together() {
    let service = Service::start().await;
    let (one, other) = (service.confirmed(&letter()).await, service.confirmed(&letter()).await);
    let mixed = format!("/v1/mails/{}/contents/{}/pdf", one.id, other.contents[0].id);
    problem(service.get(&mixed).await, 404, "mail_content_not_found").await;
    let nothing = format!("/v1/mails/nothing/contents/{}/pdf", one.contents[0].id);
    problem(service.get(&nothing).await, 404, "mail_not_found").await;
}

#[tokio::test]
async fn the_pdfs_of_a_cancelled_mail_stay_readable() {
    let service = Service::start().await;
    let mail = service.confirmed(&letter()).await;
    assert_eq!(service.cancel(&mail.id).await.status(), 204);
    assert_eq!(service.get(&path(&mail, 0)).await.status(), 200);
}
