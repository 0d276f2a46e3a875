//! The upload target: what it takes, and in which order and words it refuses.

use reqwest::multipart::{Form, Part};
use reqwest::{Response, StatusCode};

use crate::rigs::service::{Service, file, letter, letter_of, pdf};
use mailchute::outside::api::wire::UploadTarget;

type Fields = Vec<(String, String)>;

fn fields(target: &UploadTarget) -> Fields {
    target.fields.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn form(fields: &Fields) -> Form {
    fields.iter().fold(Form::new(), |form, (name, value)| form.text(name.clone(), value.clone()))
}

async fn refused(answer: Response, status: u16, code: &str) -> String {
    assert_eq!(answer.status(), status, "{code}");
    assert_eq!(answer.headers()["content-type"], "application/xml");
    let xml = answer.text().await.unwrap();
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>"), "{xml}");
    assert!(xml.contains(&format!("<Code>{code}</Code><Message>")), "{code} is not in {xml}");
    assert!(xml.ends_with("</Error>"));
    xml
}

async fn target(service: &Service) -> UploadTarget {
    service.create(&letter()).await.contents.remove(0).upload
}

#[tokio::test]
async fn a_file_is_taken_with_nothing_in_the_answer() {
    let service = Service::start().await;
    let target = target(&service).await;
    let answer = service.upload(&target, pdf(1)).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    assert!(!answer.headers().contains_key("content-type"));
    assert!(!answer.headers().contains_key("content-length"));
}

#[tokio::test]
async fn fields_before_the_file_may_come_in_any_order_and_case() {
    let service = Service::start().await;
    let target = target(&service).await;
    let mut fields = fields(&target);
    fields.reverse();
    for (name, _) in &mut fields {
        *name = name.to_uppercase();
    }
    let answer = service.send_form(&target.url, form(&fields).part("file", Part::bytes(pdf(1)))).await;
    assert_eq!(answer.status(), 204);
}

#[tokio::test]
async fn every_signed_field_must_be_there_unchanged_and_nothing_else() {
    let service = Service::start().await;
    let target = target(&service).await;
    let whole = fields(&target);
    let send =
        |fields: Fields| service.send_form(&target.url, form(&fields).part("file", Part::bytes(pdf(1))));
    for (index, (name, value)) in whole.iter().enumerate() {
        let mut changed = whole.clone();
        changed[index].1 = format!("{value}x");
        let xml = send(changed).await;
        let (status, code) = match name.as_str() {
            "policy" | "X-Amz-Signature" => (403, "SignatureDoesNotMatch"),
            _ => (403, "AccessDenied"),
        };
        let xml = refused(xml, status, code).await;
        if name == "Content-Type" {
            let words = "Invalid according to Policy: Policy Condition failed: [\"eq\", \"$Content-Type\", \"application/pdf\"]";
            assert!(xml.contains(words), "{xml}");
        }
        let mut lacking = whole.clone();
        lacking.remove(index);
        if name == "Content-Type" {
            refused(send(lacking).await, 403, "AccessDenied").await;
        } else {
            let xml = refused(send(lacking).await, 400, "InvalidArgument").await;
            let words = format!("Bucket POST must contain a field named '{name}'.  If it is specified");
            assert!(xml.contains(&words), "{xml}");
        }
        let mut twice = whole.clone();
        twice.push((name.clone(), value.clone()));
        refused(send(twice).await, 400, "InvalidArgument").await;
    }
    let mut more = whole.clone();
    more.push(("x-amz-meta-foo".into(), "bar".into()));
    let xml = refused(send(more).await, 403, "AccessDenied").await;
    assert!(xml.contains("Invalid according to Policy: Extra input fields: x-amz-meta-foo"));
    let unsigned = vec![whole[0].clone(), whole[1].clone()];
    assert!(refused(send(unsigned).await, 403, "AccessDenied").await.contains("<Message>Access Denied<"));
    let mut stranger = whole.clone();
    stranger[3].1 = stranger[3].1.replacen("SANDBOX", "STRANGE", 1);
    refused(send(stranger).await, 403, "InvalidAccessKeyId").await;
    // The target is as good as before.
    assert_eq!(send(whole).await.status(), 204);
}

#[tokio::test]
async fn the_refusal_of_a_signature_shows_what_was_compared() {
    let service = Service::start().await;
    let target = target(&service).await;
    let mut fields = fields(&target);
    fields.last_mut().unwrap().1 = "0".repeat(64);
    let answer = service.send_form(&target.url, form(&fields).part("file", Part::bytes(pdf(1)))).await;
    let xml = refused(answer, 403, "SignatureDoesNotMatch").await;
    for element in
        ["AWSAccessKeyId", "StringToSign", "SignatureProvided", "StringToSignBytes", "RequestId", "HostId"]
    {
        assert!(xml.contains(&format!("<{element}")), "{element} is not in {xml}");
    }
}

#[tokio::test]
async fn nothing_may_follow_the_file() {
    let service = Service::start().await;
    let target = target(&service).await;
    let whole = fields(&target);
    let after = form(&whole).part("file", Part::bytes(pdf(1))).text("x-amz-meta-foo", "bar");
    refused(service.send_form(&target.url, after).await, 400, "InvalidArgument").await;
    let two = form(&whole).part("file", Part::bytes(pdf(1))).part("file", Part::bytes(pdf(1)));
    refused(service.send_form(&target.url, two).await, 400, "InvalidArgument").await;
    let (signature, rest) = whole.split_last().unwrap();
    let late =
        form(&rest.to_vec()).part("file", Part::bytes(pdf(1))).text(signature.0.clone(), signature.1.clone());
    let xml = refused(service.send_form(&target.url, late).await, 400, "InvalidArgument").await;
    assert!(xml.contains("check the order of the fields"));
}

#[tokio::test]
async fn the_form_itself_must_be_one() {
    let service = Service::start().await;
    let target = target(&service).await;
    let no_file = service.send_form(&target.url, form(&fields(&target))).await;
    assert!(refused(no_file, 400, "InvalidArgument").await.contains("exactly one file upload"));
    let post = || service.http.post(&target.url);
    refused(post().body("x").send().await.unwrap(), 412, "PreconditionFailed").await;
    let no_boundary = post().header("content-type", "multipart/form-data").body("x");
    refused(no_boundary.send().await.unwrap(), 400, "MalformedPOSTRequest").await;
    let nameless = "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n";
    let nameless = post().header("content-type", "multipart/form-data; boundary=b").body(nameless);
    refused(nameless.send().await.unwrap(), 400, "MalformedPOSTRequest").await;
    let cut = post()
        .header("content-type", "multipart/form-data; boundary=b")
        .body("--b\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nva");
    refused(cut.send().await.unwrap(), 400, "MalformedPOSTRequest").await;
    let long = Form::new().text("key", "k".repeat(20_481));
    refused(service.send_form(&target.url, long).await, 400, "MaxPostPreDataLengthExceeded").await;
    // All fields together count, not each of them.
    let many = Form::new().text("key", "k".repeat(12_000)).text("policy", "p".repeat(12_000));
    refused(service.send_form(&target.url, many).await, 400, "MaxPostPreDataLengthExceeded").await;
    let chunked = Form::new().part("file", Part::stream(reqwest::Body::wrap_stream(Pieces(3))));
    refused(service.send_form(&target.url, chunked).await, 411, "MissingContentLength").await;
    refused(service.http.get(&target.url).send().await.unwrap(), 405, "MethodNotAllowed").await;
    let bell = Form::new().text("X-Amz-Credential", "\u{7}").text("key", "k").text("policy", "p");
    let bell = ["X-Amz-Algorithm", "X-Amz-Date", "X-Amz-Signature"]
        .iter()
        .fold(bell, |form, name| form.text(*name, "x"));
    let answer = service.send_form(&target.url, bell.part("file", Part::bytes(pdf(1)))).await;
    let xml = refused(answer, 403, "InvalidAccessKeyId").await;
    assert!(!xml.contains('\u{7}'), "a character that XML forbids");
}

/// A body of unknown length.
struct Pieces(u8);

impl futures_core::Stream for Pieces {
    type Item = Result<Vec<u8>, std::io::Error>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0 = self.0.saturating_sub(1);
        std::task::Poll::Ready((self.0 > 0).then(|| Ok(vec![self.0; 8])))
    }
}

#[tokio::test]
async fn sizes_are_limited_at_both_ends() {
    let service = Service::start().await;
    let target = target(&service).await;
    let xml = refused(service.upload(&target, Vec::new()).await, 400, "EntityTooSmall").await;
    assert!(xml.contains("<ProposedSize>0</ProposedSize><MinSizeAllowed>1</MinSizeAllowed>"));
    assert_eq!(service.upload(&target, vec![b'x'; 10_000_000]).await.status(), 204);
    let xml = refused(service.upload(&target, vec![b'x'; 10_000_001]).await, 400, "EntityTooLarge").await;
    assert!(xml.contains("<ProposedSize>10000001</ProposedSize><MaxSizeAllowed>10000000</MaxSizeAllowed>"));
}

#[tokio::test]
async fn a_target_lives_five_minutes() {
    let service = Service::start().await;
    let mail = service.create(&letter_of(&[file("a.pdf", 1), file("b.pdf", 1)])).await;
    service.advance("299s").await;
    assert_eq!(service.upload(&mail.contents[0].upload, pdf(1)).await.status(), 204);
    service.advance("1s").await;
    let late = service.upload(&mail.contents[1].upload, pdf(1)).await;
    let xml = refused(late, 403, "AccessDenied").await;
    assert!(xml.contains("Invalid according to Policy: Policy expired."));
}

#[tokio::test]
async fn the_last_upload_wins_until_the_mail_is_confirmed() {
    let service = Service::start().await;
    let mail = service.create(&letter()).await;
    let target = &mail.contents[0].upload;
    assert_eq!(service.upload(target, b"not a PDF".to_vec()).await.status(), 204);
    assert_eq!(service.upload(target, pdf(1)).await.status(), 204);
    assert_eq!(service.confirm(&mail.id).await.status(), 204);
    refused(service.upload(target, pdf(1)).await, 403, "AccessDenied").await;
    assert_eq!(service.events(&mail.id).await[..3], ["created", "uploaded", "uploaded"]);
}

#[tokio::test]
async fn a_target_opens_only_its_own_file() {
    let service = Service::start().await;
    let mail = service.create(&letter_of(&[file("a.pdf", 1), file("b.pdf", 2)])).await;
    let mut mixed = fields(&mail.contents[0].upload);
    mixed[1].1 = mail.contents[1].upload.fields["key"].clone();
    let answer =
        service.send_form(&mail.contents[0].upload.url, form(&mixed).part("file", Part::bytes(pdf(1)))).await;
    refused(answer, 403, "AccessDenied").await;
}
