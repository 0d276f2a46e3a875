//! A sandbox of its own for one test, and a client that speaks to it as any program would.

use std::io::Write as _;
use std::sync::{Mutex, Once};
use std::thread::{Thread, current};

use mailchute::base::clock::{Clock, Pace, Time};
use mailchute::outside::api::wire::{CreatedMail, Mail, Problem, UploadTarget};
use mailchute::sandbox::{self, Options, Running, Welcome};
use reqwest::{Client, Method, RequestBuilder, Response, multipart};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::rigs::nasty::Nasty;

pub const ALL_SCOPES: &str = "account:read mails:read mails:write";

/// What a clock by hand shows first: noon in Japan on a Tuesday. No test may depend on the day on which it runs.
const FIRST: &str = "2026-12-08T03:00:00Z";

/// With the clock by hand, from the same time on each day.
fn by_hand(mut options: Options) -> Options {
    options.pace = Pace::ByHand;
    options.scenario.now.get_or_insert_with(|| FIRST.parse().unwrap());
    options
}

/// A running sandbox with its clock by hand. It ends when this is dropped.
pub struct Service {
    pub welcome: Welcome,
    pub http: Client,
    pub token: String,
    running: Option<Running>,
    stop: Option<oneshot::Sender<()>>,
}

impl Service {
    pub async fn start() -> Self {
        Self::with(Options::default()).await
    }

    /// For the real program, whose clock is the system's. What it shows first is the time of that one.
    pub async fn of_today(mut options: Options) -> Self {
        options.scenario.now = Some(Clock::system().now());
        Self::with(options).await
    }

    pub async fn with(options: Options) -> Self {
        Self::with_own_pace(by_hand(options)).await
    }

    /// Reached only through what stands before it.
    pub async fn behind(nasty: &Nasty) -> Self {
        Self::behind_with(nasty, Options::default()).await
    }

    pub async fn behind_with(nasty: &Nasty, options: Options) -> Self {
        let origin = Some(format!("http://{}", nasty.address));
        let mut service = Self::unknown(by_hand(Options { origin, ..options })).await;
        nasty.leads_to(service.running.as_ref().unwrap().address);
        service.log_in().await;
        service
    }

    pub async fn with_own_pace(options: Options) -> Self {
        let mut service = Self::unknown(options).await;
        service.log_in().await;
        service
    }

    async fn unknown(options: Options) -> Self {
        count_panics();
        mailchute::outside::api::install_tls();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = sandbox::start(options, async { drop(stopped.await) }).await.unwrap();
        // It never speaks TLS, so it need not read whom this machine trusts.
        let http = Client::builder().tls_certs_only([]).redirect(reqwest::redirect::Policy::none());
        let http = http.build().unwrap();
        let welcome = running.welcome.clone();
        Self { welcome, http, token: String::new(), running: Some(running), stop: Some(stop) }
    }

    /// Ends the sandbox and waits until it has.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        self.running.take().unwrap().wait().await.unwrap();
    }

    /// How the sandbox ended by itself.
    pub async fn ended(mut self) -> Result<(), sandbox::Halted> {
        self.running.take().unwrap().wait().await
    }

    pub fn secret(&self) -> &str {
        self.welcome.client_secret.as_ref().unwrap().expose()
    }

    pub async fn ask_token(&self, id: &str, secret: &str, scope: &str) -> Response {
        let form = [("grant_type", "client_credentials"), ("scope", scope)];
        let url = format!("{}/token", self.welcome.places.auth_url);
        self.http.post(url).basic_auth(id, Some(secret)).form(&form).send().await.unwrap()
    }

    pub async fn token_for(&self, id: &str, secret: &str, scope: &str) -> String {
        let answer = self.ask_token(id, secret, scope).await;
        assert_eq!(answer.status(), 200);
        let body: Value = answer.json().await.unwrap();
        body["access_token"].as_str().unwrap().to_owned()
    }

    /// A new token for everything.
    pub async fn log_in(&mut self) {
        let id = self.welcome.client_id.to_string();
        self.token = self.token_for(&id, self.secret(), ALL_SCOPES).await;
    }

    pub fn plain(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.welcome.places.base_url))
    }

    pub fn api(&self, method: Method, path: &str) -> RequestBuilder {
        self.plain(method, path).bearer_auth(&self.token)
    }

    pub async fn get(&self, path: &str) -> Response {
        self.api(Method::GET, path).send().await.unwrap()
    }

    pub async fn post(&self, path: &str) -> Response {
        self.api(Method::POST, path).send().await.unwrap()
    }

    pub async fn try_create(&self, body: &Value) -> Response {
        self.api(Method::POST, "/v1/mails").json(body).send().await.unwrap()
    }

    pub async fn create(&self, body: &Value) -> CreatedMail {
        let answer = self.try_create(body).await;
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
        answer.json().await.unwrap()
    }

    pub async fn upload(&self, target: &UploadTarget, bytes: Vec<u8>) -> Response {
        let fields = target.fields.iter();
        let form =
            fields.fold(multipart::Form::new(), |form, (name, value)| form.text(name.clone(), value.clone()));
        self.send_form(&target.url, form.part("file", multipart::Part::bytes(bytes))).await
    }

    pub async fn send_form(&self, url: &str, form: multipart::Form) -> Response {
        self.http.post(url).multipart(form).send().await.unwrap()
    }

    pub async fn confirm(&self, mail: &str) -> Response {
        self.post(&format!("/v1/mails/{mail}/confirm")).await
    }

    pub async fn cancel(&self, mail: &str) -> Response {
        self.post(&format!("/v1/mails/{mail}/cancel")).await
    }

    pub async fn read(&self, mail: &str) -> Mail {
        let answer = self.get(&format!("/v1/mails/{mail}")).await;
        assert_eq!(answer.status(), 200);
        answer.json().await.unwrap()
    }

    /// Created and every file uploaded with the pages it declares.
    pub async fn uploaded(&self, body: &Value) -> CreatedMail {
        let mail = self.create(body).await;
        for (content, file) in mail.contents.iter().zip(body["files"].as_array().unwrap()) {
            let pages = usize::try_from(file["page_count"].as_u64().unwrap()).unwrap();
            let answer = self.upload(&content.upload, pdf(pages)).await;
            assert_eq!(answer.status(), 204, "{}", answer.text().await.unwrap());
        }
        mail
    }

    pub async fn confirmed(&self, body: &Value) -> CreatedMail {
        let mail = self.uploaded(body).await;
        assert_eq!(self.confirm(&mail.id).await.status(), 204);
        mail
    }

    pub async fn control(&self, method: Method, path: &str, body: Value) -> Response {
        let url = format!("{}/{path}", self.welcome.places.control_url);
        self.http.request(method, url).json(&body).send().await.unwrap()
    }

    /// Lets time pass, such as `30m`.
    pub async fn advance(&self, step: &str) {
        let answer = self.control(Method::POST, "clock", json!({"advance": step})).await;
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    }

    /// It is this time there now; what was granted may have ended.
    pub async fn set_clock(&self, to: Time) {
        let answer = self.control(Method::POST, "clock", json!({"set": to})).await;
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    }

    pub async fn order(&self, fault: Value) {
        let answer = self.control(Method::POST, "faults", fault).await;
        assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
    }

    pub async fn set_card(&self, card: &str) {
        assert_eq!(self.control(Method::POST, "card", json!({"card": card})).await.status(), 204);
    }

    /// The events of a mail in their order, as `name` or `name:outcome`.
    pub async fn events(&self, mail: &str) -> Vec<String> {
        let url = format!("{}/ledger?mail={mail}", self.welcome.places.control_url);
        let ledger: Value = self.http.get(url).send().await.unwrap().json().await.unwrap();
        let entries = ledger["entries"].as_array().unwrap().iter();
        entries
            .map(|entry| {
                let event = entry["event"].as_str().unwrap();
                entry["outcome"]
                    .as_str()
                    .map_or_else(|| event.to_owned(), |outcome| format!("{event}:{outcome}"))
            })
            .collect()
    }
}

/// The threads that panicked.
static PANICS: Mutex<Vec<Thread>> = Mutex::new(Vec::new());

/// A handler that panics closes its connection without a word; only this tells it from a caller's fault.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.lock().unwrap().push(current());
            usual(panic);
        }));
    });
}

/// How many panics there have been in this test's thread, where its sandbox runs, and in those that have
/// no test's name: the threads for what takes long, of whichever test.
pub fn panics() -> usize {
    let is_ours = |thread: &&Thread| {
        thread.id() == current().id() || !thread.name().is_some_and(|name| name.contains("::"))
    };
    PANICS.lock().unwrap().iter().filter(is_ours).count()
}

/// Asserts a problem+json of this status and code, and gives it.
pub async fn problem(answer: Response, status: u16, code: &str) -> Problem {
    assert_eq!(answer.status(), status, "{code} was expected");
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    let closes = answer.headers().get("connection").is_some_and(|connection| connection == "close");
    assert_eq!(closes, code == "request_timeout", "the connection serves the next request");
    let problem: Problem = answer.json().await.unwrap();
    assert_eq!((problem.status, problem.code.as_str()), (status, code));
    assert!(problem.kind.ends_with(&format!("/docs/problems/{code}")), "{}", problem.kind);
    assert!(!problem.title.is_empty());
    problem
}

/// Asserts the body and status of what token validation refuses.
pub async fn unauthorized(answer: Response, status: u16) {
    assert_eq!(answer.status(), status);
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(answer.json::<Value>().await.unwrap(), json!({"message": "Unauthorized"}));
}

/// A valid create request with one file of one page.
pub fn letter() -> Value {
    json!({
        "shipping_method": "normal",
        "shipping_options": ["trackable"],
        "sender_address": address("株式会社サンプル"),
        "receiver_address": receiver(),
        "files": [file("letter.pdf", 1)],
    })
}

pub fn letter_of(files: &[Value]) -> Value {
    let mut letter = letter();
    letter["files"] = Value::from(files.to_vec());
    letter
}

pub fn file(name: &str, pages: usize) -> Value {
    json!({"file_name": name, "page_count": pages, "color": "grayscale", "duplex": "double"})
}

pub fn address(name: &str) -> Value {
    json!({
        "postal_code": "1000001", "state": "東京都", "city": "千代田区", "address1": "千代田1-1", "name": name,
    })
}

pub fn receiver() -> Value {
    let mut receiver = address("山田 太郎");
    receiver["honorific"] = json!("様");
    receiver
}

/// A whole PDF with this number of empty pages.
pub fn pdf(pages: usize) -> Vec<u8> {
    let kids: Vec<String> = (0..pages).map(|page| format!("{} 0 R", page + 3)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Kids[{}]/Count {pages}>>", kids.join(" ")),
    ];
    objects.extend((0..pages).map(|_| "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>".to_owned()));
    pdf_of(&objects)
}

/// So many pages, and other bytes than every other one, up to 4,096 of them.
pub fn unique(number: usize, pages: usize) -> Vec<u8> {
    let marks = (0..12).map(|bit| if number >> bit & 1 == 1 { b' ' } else { b'\n' });
    pdf(pages).into_iter().chain(marks).collect()
}

/// A PDF of these objects; the first is its catalog.
pub fn pdf_of(objects: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(bytes.len());
        let object = object.as_ref();
        bytes.extend([format!("{} 0 obj", index + 1).as_bytes(), object, b"endobj\n"].concat());
    }
    let table = bytes.len();
    write!(bytes, "xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1).unwrap();
    for offset in &offsets {
        writeln!(bytes, "{offset:010} 00000 n ").unwrap();
    }
    write!(bytes, "trailer<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n", offsets.len() + 1).unwrap();
    bytes
}
