//! A letter's way through the sandbox, shown step by step: what `mailchute demo` prints.
//!
//! It speaks plain HTTP as any client would, loses an answer on purpose to show that a second
//! confirmation posts nothing, and moves the sandbox's clock instead of waiting for days.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;

use anyhow::{Context as _, ensure};
use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use reqwest::{Method, RequestBuilder, Response, StatusCode, multipart};
use serde::Deserialize;
use serde_json::json;

use crate::api::wire::{CreatedMail, Mail, Problem, Status, Token};
use crate::sandbox::{self, Options, Places, Running, Welcome};

const JAPAN_SECONDS: i32 = 9 * 3600;
const SCOPES: &str = "account:read mails:read mails:write";

/// Runs the demo; with `once` it returns when the letter has shipped, else when `stop` does.
pub async fn run(
    once: bool,
    stop: impl Future<Output = ()> + Send + 'static,
    say: impl Fn(&str) -> io::Result<()>,
) -> anyhow::Result<()> {
    let running = sandbox::start(Options::default(), stop).await.context("the sandbox can't start")?;
    say("A rehearsal of print-and-post: nothing is printed, posted or charged.\n")?;
    show(&running, &say).await?;
    if !once {
        invite(&running.welcome, &say)?;
        running.wait().await?;
    }
    Ok(())
}

async fn show(running: &Running, say: &impl Fn(&str) -> io::Result<()>) -> anyhow::Result<()> {
    let step = |name: &str, what: &str| say(&format!("  {name:<9} {what}"));
    let places = &running.welcome.places;
    step("service", &places.base_url)?;

    let caller = Caller::log_in(&running.welcome).await?;
    step("token", "granted for an hour")?;
    let pdf = sample_letter().context("the sample PDF can't be made")?;
    let mail = caller.create().await?;
    step("create", &format!("{}, ships on {}", mail.id, in_japan(mail.scheduled_to_ship_at)))?;
    let size = pdf.len();
    caller.upload(&mail, pdf).await?;
    step("upload", &format!("{}, {size} bytes", mail.contents[0].file_name))?;

    caller.order_lost_reply().await?;
    ensure!(caller.confirm(&mail.id).await.is_err(), "the answer that was to be lost arrived");
    step("confirm", "sent, but the connection broke before the answer (a fault on order)")?;
    let again = caller.confirm(&mail.id).await?;
    let code = again.json::<Problem>().await?.code;
    ensure!(code == "mail_already_confirmed", "the second confirmation was answered with {code}");
    step("confirm", &format!("sent again on the same id: {code}, so it is posted once"))?;

    caller.move_clock(mail.scheduled_to_ship_at + TimeDelta::hours(1)).await?;
    step("clock", "moved to the hour after the ship date")?;
    let caller = Caller::log_in(&running.welcome).await?;
    let shipped = caller.read(&mail.id).await?;
    let number = shipped.tracking_number.context("the letter has no tracking number")?;
    ensure!(shipped.status == Status::Shipped, "the letter is {:?}", shipped.status);
    step("shipped", &format!("tracking number {number}"))?;
    let ledger = caller.ledger(&mail.id).await?;
    let count = |event: &str| ledger.get(event).copied().unwrap_or_default();
    let (created, authorized, charged) = (count("created"), count("authorized"), count("charged"));
    step("ledger", &format!("{created} created, {authorized} authorized, {charged} charged"))?;
    ensure!((created, authorized, charged) == (1, 1, 1), "the ledger does not show one letter, posted once");
    Ok(())
}

fn invite(welcome: &Welcome, say: &impl Fn(&str) -> io::Result<()>) -> io::Result<()> {
    let Places { inbox_url, account_url, docs_url, .. } = &welcome.places;
    say(&format!("\nSee the letter:      {inbox_url}"))?;
    say(&format!("Clients and card:    {account_url}"))?;
    say(&format!("What errors mean:    {docs_url}"))?;
    say("\nThe addresses and credentials for your own client, as `mailchute sandbox` prints them:")?;
    say(&welcome.to_json().map_err(io::Error::other)?)?;
    say("\nCtrl-C ends it.")
}

/// A client with a token.
struct Caller<'a> {
    http: reqwest::Client,
    places: &'a Places,
    token: String,
}

impl<'a> Caller<'a> {
    async fn log_in(welcome: &'a Welcome) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
        let places = &welcome.places;
        let secret =
            welcome.client_secret.as_ref().context("the sandbox knows no secret of its first client")?;
        let answer = http
            .post(format!("{}/token", places.auth_url))
            .basic_auth(form_encoded(welcome.client_id.as_str()), Some(form_encoded(secret.expose())))
            .form(&[("grant_type", "client_credentials"), ("scope", SCOPES)])
            .send();
        let token: Token = expect(answer.await?, StatusCode::OK).await?.json().await?;
        Ok(Self { http, places, token: token.access_token })
    }

    fn api(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.places.base_url)).bearer_auth(&self.token)
    }

    async fn create(&self) -> anyhow::Result<CreatedMail> {
        let body = json!({
            "shipping_method": "letterpack-lite",
            "sender_address": {
                "postal_code": "1000001", "state": "東京都", "city": "千代田区", "address1": "千代田1-1",
                "name": "株式会社サンプル",
            },
            "receiver_address": {
                "postal_code": "0600001", "state": "北海道", "city": "札幌市中央区",
                "address1": "北一条西1-1", "name": "山田 太郎", "honorific": "様",
            },
            "files": [{
                "file_name": "letter.pdf", "page_count": 1, "color": "grayscale", "duplex": "double",
            }],
        });
        let answer = self.api(Method::POST, "/v1/mails").json(&body).send().await?;
        Ok(expect(answer, StatusCode::CREATED).await?.json().await?)
    }

    /// To the object store, which gets the signed fields and no token.
    async fn upload(&self, mail: &CreatedMail, pdf: Vec<u8>) -> anyhow::Result<()> {
        let target = &mail.contents[0].upload;
        let signed = target.fields.iter();
        let form =
            signed.fold(multipart::Form::new(), |form, (name, value)| form.text(name.clone(), value.clone()));
        let file = multipart::Part::bytes(pdf).file_name("letter.pdf").mime_str("application/pdf")?;
        let answer = self.http.post(&target.url).multipart(form.part("file", file)).send().await?;
        expect(answer, StatusCode::NO_CONTENT).await.map(drop)
    }

    async fn confirm(&self, mail: &str) -> reqwest::Result<Response> {
        self.api(Method::POST, &format!("/v1/mails/{mail}/confirm")).send().await
    }

    async fn read(&self, mail: &str) -> anyhow::Result<Mail> {
        let answer = self.api(Method::GET, &format!("/v1/mails/{mail}")).send().await?;
        Ok(expect(answer, StatusCode::OK).await?.json().await?)
    }

    async fn order_lost_reply(&self) -> anyhow::Result<()> {
        let order = json!({"endpoint": "confirm", "fault": "lose_reply"});
        let answer =
            self.http.post(format!("{}/faults", self.places.control_url)).json(&order).send().await?;
        expect(answer, StatusCode::CREATED).await.map(drop)
    }

    async fn move_clock(&self, to: DateTime<Utc>) -> anyhow::Result<()> {
        let answer = self.http.post(format!("{}/clock", self.places.control_url)).json(&json!({"set": to}));
        expect(answer.send().await?, StatusCode::OK).await.map(drop)
    }

    /// How often each thing happened to a mail.
    async fn ledger(&self, mail: &str) -> anyhow::Result<BTreeMap<String, usize>> {
        #[derive(Deserialize)]
        struct Ledger {
            entries: Vec<Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            event: String,
        }
        let answer = self.http.get(format!("{}/ledger?mail={mail}", self.places.control_url)).send().await?;
        let ledger: Ledger = expect(answer, StatusCode::OK).await?.json().await?;
        let mut counts = BTreeMap::new();
        for entry in ledger.entries {
            *counts.entry(entry.event).or_default() += 1;
        }
        Ok(counts)
    }
}

async fn expect(answer: Response, wanted: StatusCode) -> anyhow::Result<Response> {
    let status = answer.status();
    if status == wanted {
        return Ok(answer);
    }
    let said = answer.text().await.unwrap_or_default();
    anyhow::bail!("the sandbox answered {status} where {wanted} was expected: {said}")
}

/// Id and secret are form-encoded before they go into a Basic header (RFC 6749 2.3.1).
fn form_encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn in_japan(time: DateTime<Utc>) -> String {
    FixedOffset::east_opt(JAPAN_SECONDS).map_or_else(
        || time.to_rfc3339(),
        |japan| time.with_timezone(&japan).format("%Y-%m-%d %H:%M JST").to_string(),
    )
}

/// One A4 page with a few lines of text.
fn sample_letter() -> anyhow::Result<Vec<u8>> {
    use lopdf::content::{Content, Operation};
    use lopdf::{Document, Object, Stream, dictionary};

    let mut pdf = Document::with_version("1.5");
    let pages = pdf.new_object_id();
    let font =
        pdf.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica" });
    let resources = pdf.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let mut operations = vec![
        Operation::new("BT", vec![]),
        Operation::new("Tf", vec!["F1".into(), 14.into()]),
        Operation::new("Td", vec![72.into(), 760.into()]),
        Operation::new("TL", vec![20.into()]),
    ];
    for line in
        ["A sample letter", "", "This page would have been printed, folded and posted.", "It was not."]
    {
        operations.push(Operation::new("Tj", vec![Object::string_literal(line)]));
        operations.push(Operation::new("T*", vec![]));
    }
    operations.push(Operation::new("ET", vec![]));
    let content = pdf.add_object(Stream::new(dictionary! {}, Content { operations }.encode()?));
    let page = pdf.add_object(dictionary! {
        "Type" => "Page", "Parent" => pages, "Contents" => content, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
    });
    let tree = dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 };
    pdf.objects.insert(pages, Object::Dictionary(tree));
    let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    pdf.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    pdf.save_to(&mut bytes)?;
    Ok(bytes)
}
