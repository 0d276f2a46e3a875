//! Programs that are notified: signed requests over real HTTP, checked by somebody else's implementation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::{Ready, ready};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use chrono::TimeDelta;
use mailchute::base::clock::Clock;
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::net::TcpListener;

use crate::people::mails::ship;
use crate::rigs::journal;
use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::postbox::{Postbox, Security};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request as the program got it.
#[derive(Debug, Clone)]
struct Heard {
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl Heard {
    fn id(&self) -> String {
        self.header("webhook-id").to_owned()
    }

    fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    /// What it says. Its signature must be right.
    fn said(&self) -> Value {
        let (id, at) = (self.header("webhook-id"), self.header("webhook-timestamp").parse().unwrap());
        let signature = Webhook::new(SECRET).unwrap().sign(id, at, &self.body).unwrap();
        assert_eq!(self.header("webhook-signature"), signature);
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Clone, Default)]
struct Program {
    port: u16,
    heard: Arc<Mutex<Vec<Heard>>>,
    answers: Arc<Mutex<VecDeque<u16>>>,
    /// Answers to requests of these ids.
    refuses: Arc<Mutex<BTreeMap<String, u16>>>,
    /// Each request takes four seconds by this clock.
    slow_by: Arc<Mutex<Option<Clock>>>,
}

impl Program {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let program = Self { port: listener.local_addr().unwrap().port(), ..Self::default() };
        let router = Router::new().fallback(Self::hear).with_state(program.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        program
    }

    fn hear(State(program): State<Self>, uri: Uri, headers: HeaderMap, body: Bytes) -> Ready<Response> {
        let heard = Heard { uri, headers, body };
        let refused = program.refuses.lock().unwrap().get(&heard.id()).copied();
        program.heard.lock().unwrap().push(heard);
        if let Some(clock) = &*program.slow_by.lock().unwrap() {
            clock.move_by(TimeDelta::seconds(4)).unwrap();
        }
        let next = || program.answers.lock().unwrap().pop_front();
        let answer = refused.or_else(next).unwrap_or(204);
        let place = format!("http://127.0.0.1:{}/elsewhere", program.port);
        let status = StatusCode::from_u16(answer).unwrap();
        ready(match answer {
            302 => (status, [(header::LOCATION, place)]).into_response(),
            429 => (status, [(header::RETRY_AFTER, "7200")]).into_response(),
            _other => status.into_response(),
        })
    }

    /// What it will answer, in this order. After that it takes everything.
    fn answers(&self, answers: impl IntoIterator<Item = u16>) {
        self.answers.lock().unwrap().extend(answers);
    }

    fn refuses(&self, id: &str, answer: u16) {
        self.refuses.lock().unwrap().insert(id.to_owned(), answer);
    }

    fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    fn types(&self) -> Vec<String> {
        self.heard().iter().map(|heard| heard.said()["type"].as_str().unwrap().to_owned()).collect()
    }
}

/// A folder that notifies the program of these things.
async fn room(program: &Program, events: &[&str], more: &str) -> Mailroom {
    let address = format!("http://127.0.0.1:{}/mail?key=k3y", program.port);
    let hook = format!("{{hook: '{address}', secret: {{file: hook.secret}}, private: true{more}}}");
    let lists: Vec<String> = events.iter().map(|event| format!("{event}: [{hook}]")).collect();
    let room = Mailroom::closed(&format!("{RULES}notify: {{{}}}\n", lists.join(", "))).await;
    let secret = room.dir.path().join("folders/hook.secret");
    std::fs::write(&secret, SECRET).unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    room
}

async fn begin(room: &mut Mailroom) {
    room.start();
    room.settle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_hears_once_of_what_ships_and_what_does_not_without_names() {
    let program = Program::start().await;
    let mut room = room(&program, &["shipped", "rejected"], "").await;
    begin(&mut room).await;
    room.drop("INV-000123.pdf", 1);
    std::fs::write(room.path("山田.pdf"), "no PDF").unwrap();
    room.settled().await;
    assert_eq!(program.types(), ["drop.rejected"]);
    ship(&mut room).await;
    assert_eq!(program.types(), ["drop.rejected", "letter.shipped"]);
    let heard = program.heard();
    let (rejected, shipped) = (heard[0].said(), heard[1].said());
    let tracking = room.drops()["INV-000123.pdf"].tracking.clone().unwrap();
    assert_eq!(shipped["data"]["tracking"], tracking);
    assert_eq!((&shipped["data"]["letter"], &shipped["data"]["state"]), (&1.into(), &"shipped".into()));
    assert!(shipped["data"]["fact"].as_u64().unwrap() > 3 && shipped["data"]["folder"] == "letters");
    assert_eq!(rejected["data"]["state"], "rejected");
    for heard in &heard {
        let text = String::from_utf8_lossy(&heard.body);
        assert!(!text.contains("INV-") && !text.contains("山田") && heard.uri.path() == "/mail", "{text}");
    }
    room.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_names_it_hears_the_file_and_the_receiver() {
    let program = Program::start().await;
    let mut room = room(&program, &["shipped"], ", names: true").await;
    begin(&mut room).await;
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    ship(&mut room).await;
    let data = &program.heard()[0].said()["data"];
    assert_eq!((&data["file"], &data["receiver"]), (&"INV-000123.pdf".into(), &"山田 太郎 様".into()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_taken_is_sent_again_under_its_id_and_holds_up_no_mail() {
    let program = Program::start().await;
    program.answers([500, 302, 429]);
    let mut room = room(&program, &["rejected"], "").await;
    let postbox = Postbox::open(Security::Plain).await;
    room.add_to_main(&postbox.config(room.dir.path(), "none", ""));
    begin(&mut room).await;
    for name in ["one.pdf", "two.pdf"] {
        std::fs::write(room.path(name), "no PDF").unwrap();
    }
    room.settled().await;
    assert_eq!(program.heard().len(), 1, "it is left alone, the second one waits too");
    room.pass(90).await;
    assert_eq!(program.heard().len(), 2, "a redirect is not followed");
    room.pass(600).await;
    assert_eq!(program.heard().len(), 3);
    room.pass(3000).await;
    assert_eq!(program.heard().len(), 3, "it asked for an hour");
    room.pass(1200).await;
    let ids: Vec<String> = program.heard().iter().map(Heard::id).collect();
    let mut different = ids.clone();
    different.dedup();
    different.sort();
    different.dedup();
    assert!(ids.len() == 5 && different.len() == 2, "{ids:?}");
    assert!(program.heard().iter().all(|heard| heard.uri.path() == "/mail"));
    room.pass(86_400).await;
    assert_eq!(program.heard().len(), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_never_taken_holds_up_no_other() {
    for answer in [400, 500] {
        let program = Program::start().await;
        let mut room = room(&program, &["rejected"], "").await;
        begin(&mut room).await;
        std::fs::write(room.path("bad.pdf"), "no PDF").unwrap();
        program.answers([answer]);
        room.settled().await;
        let bad = program.heard()[0].id();
        program.refuses(&bad, answer);
        for name in ["one.pdf", "two.pdf", "three.pdf"] {
            std::fs::write(room.path(name), "no PDF").unwrap();
            room.settled().await;
            room.pass(600).await;
        }
        let taken: BTreeSet<String> = program.heard().iter().map(Heard::id).filter(|id| *id != bad).collect();
        assert_eq!(taken.len(), 3, "{answer}");
        assert!(program.heard().iter().filter(|heard| heard.id() == bad).count() > 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_program_does_not_keep_the_round_from_its_end() {
    let program = Program::start().await;
    let mut room = room(&program, &["rejected"], "").await;
    begin(&mut room).await;
    *program.slow_by.lock().unwrap() = Some(room.clock.clone());
    for n in 0..8 {
        std::fs::write(room.path(&format!("bad{n}.pdf")), "no PDF").unwrap();
    }
    for _ in 0..3 {
        room.clock.move_by(TimeDelta::seconds(40)).unwrap();
        room.turn(Loop::Intake).await;
    }
    for heard in [3, 6, 8] {
        let next = room.turn(Loop::Mails).await;
        assert_eq!(program.heard().len(), heard);
        assert_eq!(next.is_some_and(|next| next <= room.clock.now()), heard < 8, "{next:?}");
    }
}

#[tokio::test]
async fn the_journal_says_where_a_program_is_and_not_its_key() {
    let program = Program::start().await;
    program.answers([500]);
    let mut room = room(&program, &["rejected"], "").await;
    journal::keep();
    begin(&mut room).await;
    std::fs::write(room.path("one.pdf"), "no PDF").unwrap();
    room.settled().await;
    room.pass(600).await;
    let written = journal::written();
    let place = format!("http://127.0.0.1:{}", program.port);
    for said in ["does not take requests: it answers 500", "was taken by", "programs called: 1", &place] {
        assert!(written.contains(said), "{said}: {written}");
    }
    assert!(!written.contains("k3y") && !written.contains(SECRET), "{written}");
    assert!(!format!("{:?}", room.config()).contains("k3y"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_gone_is_given_up_and_operators_hear_where_but_not_its_key() {
    for (answers, days) in [(vec![410], 0), (vec![503; 400], 6)] {
        let program = Program::start().await;
        program.answers(answers);
        let mut room = room(&program, &["rejected"], "").await;
        let postbox = Postbox::open(Security::Plain).await;
        room.add_to_main(&postbox.config(room.dir.path(), "none", ""));
        begin(&mut room).await;
        std::fs::write(room.path("one.pdf"), "no PDF").unwrap();
        room.settled().await;
        for _hour in 0..days * 24 {
            room.pass(3600).await;
        }
        room.pass(60).await;
        let calls = program.heard().len();
        room.pass(7200).await;
        assert_eq!(program.heard().len(), calls, "it is not sent again");
        let told: Vec<String> = postbox.got().into_iter().map(|mail| mail.text).collect();
        let place = format!("http://127.0.0.1:{}", program.port);
        assert!(told.iter().any(|text| text.contains(&place)), "{told:?}");
        assert!(told.iter().all(|text| !text.contains("k3y")), "{told:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_was_taken_out_is_not_called_and_a_key_that_is_wrong_costs_nothing() {
    let program = Program::start().await;
    program.answers([500]);
    let mut room = room(&program, &["rejected", "shipped"], "").await;
    begin(&mut room).await;
    std::fs::write(room.path("one.pdf"), "no PDF").unwrap();
    room.settled().await;
    let rules = room.dir.path().join("folders/letters.yaml");
    let written = std::fs::read_to_string(&rules).unwrap();
    std::fs::write(&rules, written.replace("rejected: ", "held: ")).unwrap();
    room.reload();
    room.pass(7200).await;
    assert_eq!(program.heard().len(), 1);
    let secret = room.dir.path().join("folders/hook.secret");
    std::fs::write(&secret, "too short").unwrap();
    room.drop("INV-000123.pdf", 1);
    room.settled().await;
    ship(&mut room).await;
    assert_eq!(program.heard().len(), 1);
    std::fs::write(&secret, SECRET).unwrap();
    room.pass(7200).await;
    assert_eq!(program.types(), ["drop.rejected", "letter.shipped"]);
}
