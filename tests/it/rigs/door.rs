//! A mailroom whose folder is reached by a queue, and a program that posts to it.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use mailchute::daemon::doors::Doors;
use mailchute::daemon::taking::Inside;
use mailchute::outside::pdf::Inspector;
use mailchute::outside::spool::Spool;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::running::Daemon;

pub const TOKEN: &str = "q3E5pF0aS8vKz1LxW9cYb7NnRtUu2HhJ";
pub const OTHER_TOKEN: &str = "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp";

/// A mailroom with the queue `erp` into the folder `letters`, not started yet. `more` are more lines of the
/// queue's `http`.
pub async fn room(rules: &str, more: &str) -> Mailroom {
    let quick =
        rules.replace("{poll: 1s}", "{settle: 100ms, poll: 1s}").replace("path:", "first_start: take\npath:");
    let room = Mailroom::of_today(&quick).await;
    room.add_to_main(
        "status: {listen: '127.0.0.1:0'}\nnetwork: {quickest_retry: 100ms, slowest_retry: 1s}\n",
    );
    queue(&room, "erp", TOKEN, more);
    room
}

/// Writes a queue's file and its token.
pub fn queue(room: &Mailroom, name: &str, token: &str, more: &str) {
    let dir = room.dir.path().join("queues");
    std::fs::create_dir_all(&dir).unwrap();
    let secret = dir.join(format!("{name}.token"));
    std::fs::write(&secret, token).unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    let text = format!("into: letters\nhttp: {{token: {{file: {name}.token}}{more}}}\n");
    std::fs::write(dir.join(format!("{name}.yaml")), text).unwrap();
}

pub async fn usual() -> Mailroom {
    room(RULES, "").await
}

impl Mailroom {
    /// What a door of this mailroom uses.
    pub fn inside(&self) -> Inside {
        let up = self.up.as_ref().unwrap();
        let (store, registry, bells) = (&up.store, &up.registry, &up.bells);
        Inside {
            store: Arc::clone(store),
            spool: Spool::open(&store.home().spool()).unwrap(),
            registry: Arc::clone(registry),
            clock: self.clock.clone(),
            bells: bells.clone(),
            state: store.home().dir().to_owned(),
            inspector: Inspector::of(&self.counts_pages),
        }
    }
}

/// A letter as a program sends it.
#[derive(Debug, Clone)]
pub struct Sent {
    pub key: String,
    pub documents: Vec<(String, Vec<u8>)>,
    pub letter: Option<Value>,
}

impl Sent {
    pub fn new(key: &str, name: &str, bytes: Vec<u8>) -> Self {
        Self { key: key.to_owned(), documents: vec![(name.to_owned(), bytes)], letter: None }
    }

    pub fn to(mut self, receiver: &Value) -> Self {
        self.letter = Some(json!({ "receiver": receiver }));
        self
    }

    pub fn form(&self) -> Form {
        let mut form = Form::new();
        for (name, bytes) in &self.documents {
            form = form.part("document", Part::bytes(bytes.clone()).file_name(name.clone()));
        }
        match &self.letter {
            Some(letter) => {
                form.part("letter", Part::text(letter.to_string()).mime_str("application/json").unwrap())
            }
            None => form,
        }
    }
}

pub fn receiver() -> Value {
    json!({"postal_code": "0600001", "state": "北海道", "city": "札幌市中央区", "address1": "北一条西1-1", "name": "佐藤 花子"})
}

/// A door in this process, which is closed when nobody calls it any more.
struct Serving(JoinHandle<()>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A program that posts to a door.
#[derive(Clone)]
pub struct Caller {
    http: Client,
    _serving: Option<Arc<Serving>>,
    pub address: String,
    pub token: String,
}

impl Caller {
    pub fn of(daemon: &Daemon) -> Self {
        Self::at(daemon.address.clone())
    }

    fn at(address: String) -> Self {
        let http = Client::builder().timeout(Duration::from_secs(30)).build().unwrap();
        Self { http, _serving: None, address, token: TOKEN.to_owned() }
    }

    /// Calls a door of a mailroom in this process, whose loops are driven by [`driven`].
    pub async fn of_room(room: &Mailroom) -> Self {
        let mut doors = Doors::of(&room.inside(), room.config().queues).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let caller = Self::at(listener.local_addr().unwrap().to_string());
        let routes = doors.beside_status().unwrap();
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { _serving: Some(Arc::new(Serving(serving))), ..caller }
    }

    pub fn with(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    /// The same program, when the daemon listens at another address.
    pub fn to(&self, address: &str) -> Self {
        Self { address: address.to_owned(), ..self.clone() }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("http://{}{path}", self.address)).bearer_auth(&self.token)
    }

    /// The status and the body of an answer.
    pub async fn answer(request: RequestBuilder) -> (u16, Value) {
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
        let is_problem = kind == "application/problem+json";
        assert_eq!(is_problem, status >= 400, "{status} {kind}");
        let body: Value = answer.json().await.unwrap();
        if is_problem {
            assert_eq!(body["status"], status);
        }
        (status, body)
    }

    pub async fn post(&self, sent: &Sent) -> (u16, Value) {
        let request = self.request(Method::POST, "/v1/letters").header("Idempotency-Key", &sent.key);
        Self::answer(request.multipart(sent.form())).await
    }

    /// `None` if there is no answer, because the daemon is gone.
    pub async fn try_post(&self, sent: &Sent) -> Option<(u16, Value)> {
        let request = self.request(Method::POST, "/v1/letters").header("Idempotency-Key", &sent.key);
        let answer = request.multipart(sent.form()).send().await.ok()?;
        Some((answer.status().as_u16(), answer.json().await.ok()?))
    }

    pub async fn get(&self, id: &Value) -> (u16, Value) {
        Self::answer(self.request(Method::GET, &format!("/v1/letters/{}", id.as_str().unwrap()))).await
    }

    pub async fn order(&self, id: &Value, order: &str) -> (u16, Value) {
        let path = format!("/v1/letters/{}/{order}", id.as_str().unwrap());
        Self::answer(self.request(Method::POST, &path)).await
    }

    /// Asks until the letter is in this state.
    pub async fn until(&self, id: &Value, state: &str) -> Value {
        for _turn in 0..2000 {
            let (status, body) = self.get(id).await;
            assert_eq!(status, 200, "{body}");
            if body["state"] == state {
                return body;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("it never is {state}: {}", self.get(id).await.1);
    }
}

/// Drives a mailroom's loops until this is done.
pub async fn driven<T: Send + 'static>(
    room: &mut Mailroom,
    work: impl Future<Output = T> + Send + 'static,
) -> T {
    let work = tokio::spawn(work);
    while !work.is_finished() {
        room.settle().await;
        tokio::task::yield_now().await;
    }
    work.await.unwrap()
}

/// Posts to a mailroom in this process.
pub async fn posted(room: &mut Mailroom, caller: &Caller, sent: &Sent) -> (u16, Value) {
    let (caller, sent) = (caller.clone(), sent.clone());
    driven(room, async move { caller.post(&sent).await }).await
}
